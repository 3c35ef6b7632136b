#!/bin/sh
# SPDX-License-Identifier: MIT
# What a stage adds to the one before it: the diff of their attention.cu, without white space, empty
# lines and the namespace's name.
#
#   docs/tools/stage_diff.sh 1 2               the diff between two stages
#   docs/tools/stage_diff.sh 3 4.1             the diff between a stage and a step of stage 4
#   docs/tools/stage_diff.sh old.cu new.cu     the diff between two files
#   docs/tools/stage_diff.sh --check           lines added and removed from stage to stage; fails if a
#                                              one adds more than its budget, or if other structures
#                                              and functions come and go than those it teaches
set -u
root=$(readlink -f -- "$(dirname -- "$0")/../..")

kernel_file() {  # kernel_file STAGE-NUMBER-OR-FILE
  case $1 in
    [1-9]) printf '%s\n' "$root"/stage"$1"_*/attention.cu ;;
    [1-9].[1-9]) printf '%s\n' "$root"/stage"${1%.*}"_*/step"${1#*.}"_*/attention.cu ;;
    *) printf '%s\n' "$1" ;;
  esac
}

same_namespace() {
  sed -E 's/^(namespace|}  \/\/ namespace) stage[0-9]_[a-z0-9_]+/\1 stage/' "$1"
}

show() {  # show FILE FILE; the status is that of diff
  scratch=$(mktemp -d) || exit 2
  same_namespace "$1" >"$scratch/old" && same_namespace "$2" >"$scratch/new" || exit 2
  diff --unified --ignore-all-space --ignore-blank-lines \
    --label "${1#"$root/"}" --label "${2#"$root/"}" "$scratch/old" "$scratch/new"
  status=$?
  rm -r "$scratch"
  return "$status"
}

# The names of the structures and functions of a file, in order.
symbols() {
  sed -nE 's/^(struct|__device__ [a-z]+|void) ([A-Za-z_]+).*/\2/p; s/^ +(attention_kernel)\(.*/\1/p' "$1"
}

check() {  # check STAGE STAGE BUDGET TAUGHT: which symbols come (+) and go (-)
  changes=$(show "$(kernel_file "$1")" "$(kernel_file "$2")")
  [ $? -le 1 ] || return 1
  added=$(printf '%s\n' "$changes" | grep -c '^+[^+]')
  removed=$(printf '%s\n' "$changes" | grep -c '^-[^-]')
  echo "stage $1 to $2: $added lines added, $removed removed (at most $3 may be added)"
  scratch=$(mktemp -d) || exit 2
  symbols "$(kernel_file "$1")" >"$scratch/old"
  symbols "$(kernel_file "$2")" >"$scratch/new"
  moved=$(diff "$scratch/old" "$scratch/new" | sed -n 's/^> /+/p; s/^< /-/p' | xargs)
  rm -r "$scratch"
  [ "$moved" = "$4" ] || echo "stage $1 to $2: the symbols that come and go are '$moved', not '$4'"
  [ "$added" -le "$3" ] && [ "$moved" = "$4" ]
}

if [ "$*" = --check ]; then
  status=0
  check 1 2 60 '-update_row_max -update_row_sum +update_row_stats +rescale_output' || status=1
  check 2 3 60 '+mask_scores' || status=1
  check 3 4.1 30 '' || status=1
  check 4.1 4.2 30 '+count_n_blocks' || status=1
  check 4.2 4.3 180 '+load_queries -store_probs +pack_probs' || status=1
  check 4.3 4.4 100 '+SwizzledTile' || status=1
  exit "$status"
elif [ $# = 2 ]; then
  show "$(kernel_file "$1")" "$(kernel_file "$2")"
  [ $? -le 1 ]
else
  echo "usage: docs/tools/stage_diff.sh 1 2 | FILE FILE | --check" >&2
  exit 2
fi
