#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What a kernel takes of a multiprocessor: registers and spills of a thread as ptxas counts them,
# shared memory of a block as the compiler confirms it. Needs nvcc, no GPU. From anywhere:
#
#     docs/tools/resource_usage.sh > docs/results/resource_usage.md
#
# NVCC names another compiler than the nvcc on PATH. Exit status: 0, or 3 if something fails.

set -eu
cd "$(dirname "$0")/../.."

nvcc=${NVCC:-nvcc}
folders=$(find stage[1-9]_* -name attention.cu | sort | xargs -n 1 dirname)
architectures="sm_75 sm_80 sm_90a"
head_dims="16 32 64"
block_m=16

fail() {
  echo "resource_usage.sh: $1" >&2
  exit 3
}

command -v "$nvcc" > /dev/null || fail "no $nvcc found: put the CUDA toolkit's bin folder on PATH"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# As the pages state it.
shared_bytes() {  # shared_bytes STAGE D BLOCK_N
  case $1 in
    *_step3) echo $((2 * 2 * $3 * ($2 + 8))) ;; # k, v of 16-bit elements, padded by 8
    *_step4) echo $((2 * 2 * 2 * $3 * $2)) ;;   # two of each, swizzled
    *) echo $((4 * (block_m * ($2 + 1) + $3 * ($2 + 1) + $3 * $2 + block_m * ($3 + 8)))) ;; # q, k, v, p
  esac
}

# The name of a folder's namespace, which is that of its program.
name_of() { sed -n 's/^namespace \([a-z0-9_]*\) {$/\1/p' "$1/attention.cu"; }

# The tile widths of a folder: a parameter of its tiles, or the one there is.
widths_of() {
  if grep -q 'template <int HeadDim, int BlockN>' "$1/attention.cu"; then echo 32 64; else echo 32; fi
}

# What a folder's kernels can run on: those with tensor cores need 8.0.
architectures_of() {
  if grep -q require_compute_capability "$1/attention.cu"; then echo "${architectures#sm_75 }"
  else echo "$architectures"; fi
}

# The stage, followed by what has to be true of the shared bytes printed below.
write_source() {
  name=$(name_of "$1")
  type=
  ! grep -q 'SharedTiles<Tile, Element>' "$1/attention.cu" || type=', workshop::Half'
  echo "#include \"$1/attention.cu\""
  for n in $(widths_of "$1"); do
    for d in $head_dims; do
      shape="$d"
      [ "$(widths_of "$1")" = 32 ] || shape="$d, $n"
      echo "static_assert(sizeof($name::SharedTiles<$name::TileShape<$shape>$type>) == $(shared_bytes "$name" "$d" "$n"),"
      echo "              \"the formula for the shared memory is out of date\");"
    done
  done
}

# From the words of ptxas: a line "type D block_n registers spilled_bytes" a kernel.
read_ptxas() {
  awk '
    /Compiling entry function/ {
      type = /workshop4Half/ ? "fp16" : "bf16"
      match($0, /TileShapeILi[0-9]+E(Li[0-9]+)?/)
      split(substr($0, RSTART + 12, RLENGTH - 12), shape, "ELi|E")
      d = shape[1]
      n = shape[2] ? shape[2] : 32
    }
    /bytes spill stores/ { match($0, /[0-9]+ bytes spill stores/); spilled = substr($0, RSTART) + 0 }
    /Used [0-9]+ registers/ {
      match($0, /Used [0-9]+/)
      print type, d, n, substr($0, RSTART + 5, RLENGTH - 5), spilled
    }'
}

for folder in $folders; do
  stage=$(name_of "$folder")
  write_source "$folder" > "$scratch/$stage.cu"
  kernels=$((6 * $(widths_of "$folder" | wc -w)))
  for arch in $(architectures_of "$folder"); do
    "$nvcc" -std=c++20 -lineinfo --expt-relaxed-constexpr -I . -arch="$arch" -cubin -Xptxas -v \
        -I "$folder" -o "$scratch/kernel.cubin" "$scratch/$stage.cu" 2> "$scratch/ptxas" \
      || fail "$stage does not compile for $arch: $(cat "$scratch/ptxas")"
    read_ptxas < "$scratch/ptxas" > "$scratch/$stage.$arch"
    [ "$(wc -l < "$scratch/$stage.$arch")" -eq "$kernels" ] ||
      fail "$stage, $arch: not $kernels kernels in ptxas' report"
  done
done

# One number of one kernel: stage, architecture, type, D, block_n, field.
number() {
  [ -e "$scratch/$1.$2" ] || { echo -; return; }
  awk -v type="$3" -v d="$4" -v n="$5" -v field="$6" \
    '$1 == type && $2 == d && $3 == n { print $field }' "$scratch/$1.$2"
}

cat << END
# Registers and shared memory of the kernels

Written by \`docs/tools/resource_usage.sh\`; nothing here was measured on a GPU.
Compiler: CUDA $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p'), \`-std=c++20 -lineinfo\`. A block has 128 threads.

 * Registers and spills are of one thread, as \`ptxas -v\` counts them. Another toolkit may count a few more or fewer.
 * Steps that use tensor cores need compute capability 8.0: they have no kernel for sm_75.
 * "Spilled" are bytes that did not fit into registers, the sum over the three architectures.
 * Shared bytes are of one block: \`sizeof(SharedTiles)\`, the size that each stage launches with. All of it is dynamic shared memory.

| stage | type | D | block_n | registers, sm_75 | sm_80 | sm_90a | spilled | shared bytes |
|:--|:--|--:|--:|--:|--:|--:|--:|--:|
END
print_rows() {  # print_rows STAGE BLOCK_N
  for type in fp16 bf16; do
    for d in $head_dims; do
      row="| $1 | $type | $d | $2 |"
      spilled=0
      for arch in $architectures; do
        row="$row $(number "$1" "$arch" "$type" "$d" "$2" 4) |"
        spilled=$((spilled + $(number "$1" "$arch" "$type" "$d" "$2" 5 | tr - 0)))
      done
      echo "$row $spilled | $(shared_bytes "$1" "$d" "$2") |"
    done
  done
}
for folder in $folders; do
  for n in $(widths_of "$folder"); do print_rows "$(name_of "$folder")" "$n"; done
done
