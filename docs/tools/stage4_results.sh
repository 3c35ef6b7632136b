#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: docs/tools/stage4_results.sh BUILD_FOLDER > docs/results/stage4_NAME.md
# Times stage 3 and the steps of stage 4 on a GPU, N = 2048, FP16. A time is the median over rounds of
# what a program reports, itself the median of 5 launches after a warm-up; each round runs all programs,
# so that none of them has the card at a better moment.
set -eu -o pipefail
bin=$1/bin
rounds=5

cases() {
  for d in 16 64; do
    for mask in none causal; do
      echo "stage3_masking $d $mask 32"
      for step in "$bin"/stage4_tuning_step[1-9]; do
        echo "${step##*/} $d $mask 32"
        echo "${step##*/} $d $mask 64"
      done
    done
  done
}

# "PROGRAM D MASK WIDTH MILLISECONDS"
times() {
  for _ in $(seq "$rounds"); do
    cases | while read -r program d mask width; do
      options=(--n 2048 --d "$d" --block-n "$width")
      [ "$mask" = none ] || options+=(--causal)
      row=$("$bin/$program" "${options[@]}" | grep ' pass$')
      echo "$program $d $mask $width $(sed -E 's/.* ([0-9.e+-]+) ms .*/\1/' <<<"$row")"
    done
  done
}

card=$(nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader | head -n 1)
cat <<END
# Stage 3 and the steps of stage 4 on a GPU

Written by \`docs/tools/stage4_results.sh\`. N = 2048, FP16, one head; device time of a launch in
microseconds, by CUDA events: the median of $rounds rounds, with the smallest and the largest.

* card, driver, clocks before the runs (SM, memory): $card
* commit: ${WORKSHOP_COMMIT:-$(git describe --always --dirty --abbrev=12 --exclude='*')}

| program | D | mask | kBlockN | median | smallest | largest |
|:--|--:|:--|--:|--:|--:|--:|
END
times | sort -k1,4 -k5,5g | awk -v rounds="$rounds" '
  { key = $1 " | " $2 " | " $3 " | " $4; time[++n] = 1000 * $5 }
  n == rounds { printf "| %s | %.1f | %.1f | %.1f |\n", key, time[int((rounds + 1) / 2)], time[1], time[rounds]; n = 0 }'
