#!/bin/sh
# SPDX-License-Identifier: MIT
# What a stage adds to another: the diff of their attention.cu, without white space, empty lines and
# the namespace's name. `./workshop diff` is this script.
#
#   docs/tools/stage_diff.sh --check           lines added and removed from stage to stage; fails if a
#                                              one adds more than its budget, or if other structures
#                                              and functions come and go than those it teaches
set -u
root=$(readlink -f -- "$(dirname -- "$0")/../..")

help() {
  cat <<'HELP'
What a stage adds to another: the difference of their kernels, without changes of white space alone.

  ./workshop diff 1 2              from stage 1 to stage 2
  ./workshop diff 3 4.1            from stage 3 to the first step of stage 4
  ./workshop diff stage2 stage3    by name, as ./workshop run takes them

It is coloured on a terminal, unless NO_COLOR is set.
HELP
}

refuse() {  # refuse SENTENCE
  printf 'workshop: %s\n' "$1" >&2
  exit 2
}

# The folders of stages and steps, in the order in which they are read.
folders() { (cd "$root" && find stage[1-9]_* -name attention.cu | sort | sed 's|/attention.cu$||'); }

# "2" of stage2_online_softmax, "4.1" of stage4_tuning/step1_tile_width.
number_of() { printf '%s\n' "$1" | sed -E 's|^stage([0-9]+)[^/]*|\1|; s|/step([0-9]+).*|.\1|'; }

# The folder of a stage: by its number, or by any name that ./workshop run takes. Of one with steps it
# is the last step.
folder_named() {
  found=
  allowed=
  for folder in $(folders); do
    stage=${folder%%/*}
    number=$(number_of "$folder")
    allowed="$allowed${allowed:+, }$number or $folder"
    case ${1%/} in
      "$number" | "$folder" | "${folder##*/}" | "${stage}_step${number#*.}") found=$folder ;;
      "${number%.*}" | "stage${number%.*}" | "$stage") found=$folder ;;
    esac
  done
  [ -n "$found" ] || refuse "stage '$1'; allowed: $allowed."
  printf '%s\n' "$found"
}

kernel_file() { printf '%s\n' "$root/$(folder_named "$1")/attention.cu"; }

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

in_colours() {
  if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then
    escape=$(printf '\033')
    sed -e "s/^-.*/${escape}[31m&${escape}[m/" -e "s/^+.*/${escape}[32m&${escape}[m/" \
      -e "s/^@.*/${escape}[36m&${escape}[m/"
  else
    cat
  fi
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
  check 4.3 4.4 80 '+swizzled_col' || status=1
  exit "$status"
fi
case ${1-} in
  -h | --help)
    help
    exit 0
    ;;
esac
[ $# = 2 ] || refuse "diff takes two stages and was given $#: as in ./workshop diff 1 2."
old=$(folder_named "$1") && new=$(folder_named "$2") || exit
changes=$(show "$root/$old/attention.cu" "$root/$new/attention.cu")
[ $? -le 1 ] || exit 3
if [ -n "$changes" ]; then printf '%s\n' "$changes" | in_colours; fi
echo "Read next: $new/README.md" >&2
