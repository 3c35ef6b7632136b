#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the site of the course; ./workshop docs calls it, with the packages there that it needs.
set -u
cd "$(dirname -- "$(readlink -f -- "$0")")/../.." || exit 3

if [ $# != 1 ] || [ "${1#-}" != "$1" ]; then
  echo "usage: docs/tools/build_docs.sh FOLDER        the site is FOLDER/html" >&2
  exit 2
fi

say() { printf '%s\n' "$*" >&2; }
fail() {  # fail SENTENCE
  say "docs: $1"
  exit 3
}

share=${WORKSHOP_SHARE:-/usr/share}
export WORKSHOP_THEME="$share/doxygen-awesome-css"
katex=$share/javascript/katex
[ -e "$WORKSHOP_THEME/doxygen-awesome.css" ] || fail "there is no theme in $WORKSHOP_THEME: install the \
package doxygen-awesome-css, or name the folder that holds doxygen-awesome-css/ by WORKSHOP_SHARE."
[ -e "$katex/katex.min.js" ] || fail "there is no KaTeX in $katex: install the package libjs-katex, or \
name the folder that holds javascript/katex/ by WORKSHOP_SHARE."

mkdir -p "$1" && folder=$(cd "$1" && pwd) || fail "the folder $1 cannot be made."
export WORKSHOP_SITE="$folder/html"
rm -rf "$WORKSHOP_SITE" && mkdir "$WORKSHOP_SITE" || fail "the folder $WORKSHOP_SITE cannot be emptied."

# The pages in the order in which they are read, which is their order in the sidebar; then the rest.
pages() {
  {
    printf '%s\n' README.md docs/cuda_primer.md
    for stage in stage[1-9]_*; do ls "$stage"/README.md "$stage"/step[1-9]*/README.md 2>/dev/null; done
    printf '%s\n' trace/README.md docs/glossary.md docs/design/README.md docs/results/README.md
    find docs common CONTRIBUTING.md -name '*.md' | sort
  } | awk '!seen[$0]++'
}

# Doxygen with settings beside those of the Doxyfile; a warning is a failure.
doxygen_with() {  # doxygen_with SETTING...
  { cat docs/site/Doxyfile && printf '%s\n' "$@"; } | doxygen -
}

say "[1/4] looking for types without documentation"
undocumented=$(doxygen_with "INPUT = common trace" "FILE_PATTERNS = *.hpp" "GENERATE_HTML = NO" \
  "EXTRACT_ALL = NO" 2>&1 | grep -E '(Compound (workshop|simt)::|\(enumeration\)).* is not documented')
[ -z "$undocumented" ] || fail "each type needs a sentence in front of it, as in '/// ...', and these have none:
$undocumented"

say "[2/4] writing the pages"
doxygen -w html "$folder/header.html" "$folder/footer.html" "$folder/style.css" docs/site/Doxyfile >&2 &&
  sed -i -e '/<\/head>/{' -e 'r docs/site/head.html' -e 'N' -e '}' "$folder/header.html" ||
  fail "doxygen did not write its header."
# shellcheck disable=SC2046  # no page has a blank in its name
doxygen_with "INPUT = $(echo $(pages)) common $(echo stage[1-9]_*) trace" \
  "HTML_HEADER = $folder/header.html" >&2 || fail "doxygen's messages above say what is wrong."

say "[3/4] taking in KaTeX, for the formulas"
mkdir "$WORKSHOP_SITE/katex" &&
  cp -RL "$katex/katex.min.css" "$katex/katex.min.js" "$katex/fonts" "$WORKSHOP_SITE/katex/" &&
  cp "$share/doc/libjs-katex/copyright" "$WORKSHOP_SITE/katex/" ||
  fail "KaTeX could not be copied."

say "[4/4] checking links and images"
docs/tools/check_site.py "$WORKSHOP_SITE" || fail "the links above lead nowhere."
echo "$WORKSHOP_SITE/index.html"
