#!/bin/sh
# SPDX-License-Identifier: MIT
# Every relative link and image in the pages leads to a file or folder of the repository. Links to the
# web and to a place in the same page are not followed.
set -u
cd "$(dirname -- "$(readlink -f -- "$0")")/../.." || exit 2

# The targets of [text](target) and of src="target" in a page, outside code blocks and code words.
targets() {
  # shellcheck disable=SC2016
  awk '/^ *(```|~~~)/ { code = !code; next } !code' "$1" | sed 's/`[^`]*`//g' |
    grep -oE '\]\([^) ]+|src="[^"]+' | sed -E 's/^(\]\(|src=")//; s/#.*//'
}

broken=0
pages=0
for page in $(git ls-files --cached --others --exclude-standard '*.md'); do
  pages=$((pages + 1))
  for target in $(targets "$page"); do
    case $target in
      *://* | mailto:*) continue ;;
    esac
    if [ ! -e "$(dirname "$page")/$target" ]; then
      echo "$page: no such file: $target"
      broken=$((broken + 1))
    fi
  done
done
echo "$pages pages, $broken broken links"
[ "$broken" = 0 ]
