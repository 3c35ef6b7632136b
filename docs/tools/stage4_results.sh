#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: docs/tools/stage4_results.sh BUILD_FOLDER BENCH.json > docs/results/stage4_NAME.md
# What the pages of stage 4 quote: the rows of N = 2048, FP16, out of a file that
# `./workshop bench --output BENCH.json` wrote; what Nsight Compute counts; and the times of the last two
# steps with other numbers of warps in a block, for which it builds copies of the tree. Needs a GPU.
set -eu -o pipefail
tools=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "$1")
bench=$2
name=stage4_tuning_step

python3 - "$bench" <<'END'
import json, sys

results = json.load(open(sys.argv[1]))
device, build = results["devices"][0], results["build"]
print(f"""# Stage 4 on a GPU

Written by `docs/tools/stage4_results.sh` out of [a benchmark]({sys.argv[1].split("/")[-1]}), which has more rows. N = 2048, FP16, one head;
microseconds of a launch, the median of {results["rows"][0]["repeats"]} repetitions, with the smallest and the largest.

* {device["name"]}: {device["description"]}
* right after the runs, {device["nvidia_smi"]["query"]}: {device["nvidia_smi"]["answer"]}
* {build["compiler"]}, CUDA {build["cuda"]}, commit {build["commit"]}

| program | D | mask | kBlockN | median | smallest | largest | TFLOP/s |
|:--|--:|:--|--:|--:|--:|--:|--:|""")
rows = [row for row in results["rows"] if row["n"] == 2048 and row["type"] == "fp16"]
for row in sorted(rows, key=lambda row: (row["stage"], row["d"], row["mask"] == "causal", row["block_n"])):
    times = [1000 * row["time_ms_" + which] for which in ("median", "smallest", "largest")]
    print("|", " | ".join([row["stage"], str(row["d"]), row["mask"], str(row["block_n"])]
                          + [f"{time:.1f}" for time in times] + [f"{row['flop_per_s'] / 1e12:.2f}"]), "|")
END

cat <<END

## Counters

N = 2048, D = 64, FP16, no mask, as \`docs/tools/counters.py\` read them right after: for each program and kBlockN.
What "warps that wait, per issue" are says the [glossary](../glossary.md#terms).

END
"$tools/counters.py" "$build" ${name}1:32 ${name}1:64 ${name}2:64 ${name}3:32 ${name}3:64 ${name}4:32 ${name}4:64

cat <<END

## Warps a block

The two steps with tensor cores, N = 2048, D = 64, FP16, no mask, with other values of \`kWarps\`; microseconds, median.

| kWarps | blocks | step 3, 32 | step 3, 64 | step 4, 32 | step 4, 64 |
|--:|--:|--:|--:|--:|--:|
END
cd "$tools/../.."
tree=(CMakeLists.txt CMakePresets.json cmake common trace stage[1-9]_*)
trees=$(mktemp -d)
trap 'rm -rf "$trees"' EXIT
variants="1 2 4 8"
for warps in $variants; do
  mkdir "$trees/$warps"
  cp -r "${tree[@]}" "$trees/$warps"
  sed -i "s/kWarps = 4;/kWarps = $warps;/" "$trees/$warps"/stage4_tuning/step[34]_*/attention.cu
  [ "$(cat "$trees/$warps"/stage4_tuning/step[34]_*/attention.cu | grep -c "kWarps = $warps;")" = 2 ]
  { cmake -S "$trees/$warps" -B "$trees/$warps/build" -G Ninja -DWORKSHOP_CUDA=ON -DBUILD_TESTING=OFF \
      -DWORKSHOP_BENCHMARKS=ON -DCMAKE_CUDA_ARCHITECTURES=native
    cmake --build "$trees/$warps/build" --target ${name}3_bench ${name}4_bench; } > "$trees/$warps.log" 2>&1 &
done
failed=0
for job in $(jobs -p); do wait "$job" || failed=1; done
[ "$failed" = 0 ] || { tail -n 20 "$trees"/*.log >&2; exit 1; }
for warps in $variants; do
  medians=$(for step in 3 4; do
    "$trees/$warps/build/bin/$name${step}_bench" --n 2048 --d 64 --dtype fp16 --mask none || exit
  done | awk '/_median/ { printf " %s |", $2 }')  # of Google Benchmark's own table
  echo "| $warps | $((2048 / (16 * warps))) |$medians"
done
