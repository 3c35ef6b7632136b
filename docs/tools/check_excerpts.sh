#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Compares the code on the pages with the sources. A fenced block that follows the comment
#
#     <!-- excerpt: stage2_online_softmax/attention.cu update_row_stats -->
#
# must hold what stands in that file between the two lines `// [update_row_stats]`, other tag lines
# left out. Without a tag its lines must stand in the file somewhere, together and in this order.
# File names start at the root of the repository.
#
#     docs/tools/check_excerpts.sh [PAGE...]      without pages: every Markdown file
#
# Exit status: 0 if all agree, 1 with a diff for each that does not.

set -eu
if [ $# -eq 0 ]; then
  cd "$(dirname "$0")/../.."
  # shellcheck disable=SC2046  # no page has a blank in its name
  set -- $(find . -name '.?*' -prune -o -name build -prune -o -name '*.md' -print | sort)
  root=.
else
  root=$(dirname "$0")/../..
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Writes each marked block of a page to $scratch/N.page and prints "N LINE FILE TAG". What stands in
# other fenced blocks is no mark.
split_page() {
  awk -v scratch="$scratch" '
    /^```/ {
      match($0, /^`+/)
      if (!fence) {
        fence = RLENGTH
        next
      }
      if (RLENGTH >= fence && $0 ~ /^`+ *$/) {
        fence = 0
        marked = 0
        next
      }
    }
    !fence && /^<!-- excerpt: / {
      page = scratch "/" ++number ".page"
      printf "" > page
      close(page)
      print number, NR, $3, ($4 == "-->" ? "-" : $4)
      marked = 1
      next
    }
    fence && marked { print >> page }
    !fence && NF { marked = 0 }' "$1"
}

# The lines of the file in $1 between the two tag lines $2; fails if the tag does not stand there twice.
region() {
  awk -v tag="// [$2]" '
    { line = $0; sub(/^ */, "", line) }
    line == tag { ++seen; next }
    line ~ /^\/\/ \[[a-z0-9_]+\]$/ { next }
    seen == 1 { print }
    END { exit seen != 2 }' "$1"
}

# Whether the lines of $1 stand together in the file $2.
stands_in() {
  awk '
    NR == FNR { wanted[++count] = $0; next }
    { line[++lines] = $0 }
    END {
      for (first = 0; first + count <= lines; ++first) {
        for (i = 1; i <= count && line[first + i] == wanted[i]; ++i) {}
        if (i > count) exit 0
      }
      exit 1
    }' "$1" "$2"
}

wrong=0
count=0
for page in "$@"; do
  split_page "$page" > "$scratch/list"
  while read -r number line file tag; do
    count=$((count + 1))
    where="$page:$line: excerpt '$tag' of $file"
    if ! [ -f "$root/$file" ]; then
      echo "$where: there is no such file"
      wrong=$((wrong + 1))
    elif ! [ -s "$scratch/$number.page" ]; then
      echo "$where: no fenced block follows"
      wrong=$((wrong + 1))
    elif [ "$tag" = - ]; then
      stands_in "$scratch/$number.page" "$root/$file" && continue
      echo "$where: these lines do not stand there together"
      wrong=$((wrong + 1))
    elif ! region "$root/$file" "$tag" > "$scratch/source"; then
      echo "$where: the file does not hold the line '// [$tag]' twice"
      wrong=$((wrong + 1))
    elif ! diff "$scratch/$number.page" "$scratch/source" > "$scratch/diff"; then
      echo "$where: page (<) and source (>) differ"
      cat "$scratch/diff"
      wrong=$((wrong + 1))
    fi
  done < "$scratch/list"
done
echo "$count excerpts compared, $wrong differ"
[ "$wrong" -eq 0 ]
