#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: docs/tools/sanitize.sh BUILD_FOLDER
# Runs every GPU program of a build under the four tools of compute-sanitizer, on ragged and full
# lengths, both types and both masks as far as the stage promises them. Needs a GPU.
set -u
bin=$1/bin
status=0

check() {  # check PROGRAM OPTION...
  for tool in memcheck racecheck initcheck synccheck; do
    if compute-sanitizer --tool "$tool" --error-exitcode 9 "$bin/$1" "${@:2}" >"$log" 2>&1; then
      verdict=clean
    else
      verdict="FAILED (status $?)"
      tail -n 20 "$log"
      status=1
    fi
    printf '%-9s  %-24s %-36s %s\n' "$tool" "$1" "${*:2}" "$verdict"
  done
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
for type in fp16 bf16; do
  for stage in stage1_single_tile stage2_online_softmax; do
    check "$stage" --n 32 --d 16 --dtype "$type"
    check "$stage" --n 128 --d 64 --dtype "$type"
  done
  for n in 1 33 150; do
    check stage3_masking --n "$n" --d 32 --dtype "$type"
    check stage3_masking --n "$n" --d 64 --dtype "$type" --causal
    for step in "$bin"/stage4_tuning_step[1-9]; do
      for width in 32 64; do
        check "${step##*/}" --n "$n" --d 32 --dtype "$type" --block-n "$width"
        check "${step##*/}" --n "$n" --d 64 --dtype "$type" --block-n "$width" --causal
      done
    done
  done
done
exit "$status"
