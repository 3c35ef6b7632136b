#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: docs/tools/sanitize.sh BUILD_FOLDER
# Runs every GPU program of a build under the four tools of compute-sanitizer, on ragged and full
# lengths, both types and both masks as far as the stage promises them. Needs a GPU.
set -u
export bin=$1/bin

cases() {  # PROGRAM OPTION...
  for type in fp16 bf16; do
    for stage in stage1_single_tile stage2_online_softmax; do
      echo "$stage --n 32 --d 16 --dtype $type"
      echo "$stage --n 128 --d 64 --dtype $type"
    done
    for n in 1 33 150; do
      echo "stage3_masking --n $n --d 32 --dtype $type"
      echo "stage3_masking --n $n --d 64 --dtype $type --causal"
      for step in "$bin"/stage4_tuning_step[1-9]; do
        for width in 32 64; do
          echo "${step##*/} --n $n --d 32 --dtype $type --block-n $width"
          echo "${step##*/} --n $n --d 64 --dtype $type --block-n $width --causal"
        done
      done
    done
  done
}

check() {  # check TOOL PROGRAM OPTION...
  local output status=0
  output=$(compute-sanitizer --tool "$1" --error-exitcode 9 "$bin/$2" "${@:3}" 2>&1) || status=$?
  local verdict=clean
  [ "$status" = 0 ] || verdict="FAILED (status $status)"$'\n'$(tail -n 20 <<<"$output")
  printf '%-9s  %-24s %-48s %s\n' "$1" "$2" "${*:3}" "$verdict"
  return "$status"
}
export -f check

# Several at once, each with memory of its own on the GPU; xargs ends with 123 if one of them failed.
for tool in memcheck racecheck initcheck synccheck; do
  cases | sed "s/^/$tool /"
done | xargs -P 8 -L 1 bash -c 'check "$@"' _
