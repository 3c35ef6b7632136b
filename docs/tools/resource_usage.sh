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
stages="stage1_single_tile stage2_online_softmax stage3_masking"
architectures="sm_75 sm_80 sm_90a"
head_dims="16 32 64"
block_m=16
block_n=32

fail() {
  echo "resource_usage.sh: $1" >&2
  exit 3
}

command -v "$nvcc" > /dev/null || fail "no $nvcc found: put the CUDA toolkit's bin folder on PATH"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# q and k padded by a column, v, probs padded by 8 columns: all FP32. The pages state this formula.
shared_bytes() {
  echo $((4 * (block_m * ($1 + 1) + block_n * ($1 + 1) + block_n * $1 + block_m * (block_n + 8))))
}

# The stage, followed by what has to be true of the shared bytes printed below.
write_source() {
  echo "#include \"$1/attention.cu\""
  for d in $head_dims; do
    echo "static_assert(sizeof($1::SharedTiles<$1::TileShape<$d>>) == $(shared_bytes "$d"),"
    echo "              \"the formula for the shared memory is out of date\");"
  done
}

# From the words of ptxas: a line "type D registers spilled_bytes" a kernel.
read_ptxas() {
  awk '
    /Compiling entry function/ {
      type = /workshop4Half/ ? "fp16" : "bf16"
      match($0, /TileShapeILi[0-9]+/)
      d = substr($0, RSTART + 12, RLENGTH - 12)
    }
    /bytes spill stores/ { match($0, /[0-9]+ bytes spill stores/); spilled = substr($0, RSTART) + 0 }
    /Used [0-9]+ registers/ {
      match($0, /Used [0-9]+/)
      print type, d, substr($0, RSTART + 5, RLENGTH - 5), spilled
    }'
}

for stage in $stages; do
  write_source "$stage" > "$scratch/$stage.cu"
  for arch in $architectures; do
    "$nvcc" -std=c++20 -lineinfo --expt-relaxed-constexpr -I . -arch="$arch" -cubin -Xptxas -v \
        -o "$scratch/kernel.cubin" "$scratch/$stage.cu" 2> "$scratch/ptxas" \
      || fail "$stage does not compile for $arch: $(cat "$scratch/ptxas")"
    read_ptxas < "$scratch/ptxas" > "$scratch/$stage.$arch"
    [ "$(wc -l < "$scratch/$stage.$arch")" -eq 6 ] || fail "$stage, $arch: not 6 kernels in ptxas' report"
  done
done

# One number of one kernel: stage, architecture, type, D, field.
number() {
  awk -v type="$3" -v d="$4" -v field="$5" '$1 == type && $2 == d { print $field }' "$scratch/$1.$2"
}

cat << END
# Registers and shared memory of the kernels

Written by \`docs/tools/resource_usage.sh\`; nothing here was measured on a GPU.
Compiler: CUDA $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p'), \`-std=c++20 -lineinfo\`. A block has 128 threads.

 * Registers and spills are of one thread, as \`ptxas -v\` counts them. Another toolkit may count a few more or fewer.
 * "Spilled" are bytes that did not fit into registers, the sum over the three architectures.
 * Shared bytes are of one block: \`sizeof(SharedTiles)\`, the size that each stage launches with. All of it is dynamic shared memory.

| stage | type | D | registers, sm_75 | sm_80 | sm_90a | spilled | shared bytes |
|:--|:--|--:|--:|--:|--:|--:|--:|
END
for stage in $stages; do
  for type in fp16 bf16; do
    for d in $head_dims; do
      row="| $stage | $type | $d |"
      spilled=0
      for arch in $architectures; do
        row="$row $(number "$stage" "$arch" "$type" "$d" 3) |"
        spilled=$((spilled + $(number "$stage" "$arch" "$type" "$d" 4)))
      done
      echo "$row $spilled | $(shared_bytes "$d") |"
    done
  done
done
