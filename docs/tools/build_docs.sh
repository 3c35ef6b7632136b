#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the site of the course: pages, types and sources, to be read from disk or from a server.
# Prints the path of its first page. ./workshop docs has installed what this needs.
set -u
root=$(readlink -f -- "$(dirname -- "$0")/../..")

help() {
  cat <<'HELP'
Builds the pages of the course, with the types and sources they speak of, as a site for a browser.

  ./workshop docs

The last line is the path of its first page. The site loads nothing from elsewhere, so it can be
read from disk. A broken link or image and a warning of Doxygen fail.
HELP
}

say() { printf '%s\n' "$*" >&2; }
stop() {  # stop STATUS SENTENCE
  say "workshop: $2"
  exit "$1"
}

case ${1-} in
  -h | --help)
    help
    exit 0
    ;;
esac
[ $# = 0 ] || stop 2 "docs takes no argument and was given '$1'."

folder=$(readlink -m -- "${WORKSHOP_BUILD:-$root/build}/docs")
export PYTHONUTF8=1
export WORKSHOP_SITE="$folder/html"
export WORKSHOP_THEME=/usr/share/doxygen-awesome-css
katex=/usr/share/javascript/katex
[ -e "$WORKSHOP_THEME/doxygen-awesome.css" ] ||
  stop 3 "$WORKSHOP_THEME has no theme: install the package doxygen-awesome-css, or put that project's \
files there."
[ -e "$katex/katex.min.js" ] ||
  stop 3 "$katex has no KaTeX: install the package libjs-katex, or put that project's files there."

# The pages in the order in which they are read, which is their order in the sidebar; then the rest.
pages() {
  {
    printf '%s\n' README.md docs/cuda_primer.md
    find stage[1-9]_* -name README.md | sort
    printf '%s\n' trace/README.md docs/glossary.md docs/design/README.md docs/benchmarks.md docs/results/README.md
    find docs common CONTRIBUTING.md -name '*.md' | sort
  } | awk '!seen[$0]++' | tr '\n' ' '
}

doxygen_with() {  # doxygen_with SETTING...: beside those of the Doxyfile
  { cat docs/site/Doxyfile && printf '%s\n' "$@"; } | doxygen -
}

# From 1.12 on a README would be what is said of its folder, and no page.
readme_is_a_page() { doxygen -g - | sed -n 's/^IMPLICIT_DIR_DOCS .*/IMPLICIT_DIR_DOCS = NO/p'; }

check_types() {
  undocumented=$(
    doxygen_with "INPUT = common trace" "FILE_PATTERNS = *.hpp" "GENERATE_HTML = NO" "EXTRACT_ALL = NO" \
      2>&1 | grep -E '(Compound (workshop|simt)::|\(enumeration\)).* is not documented'
  )
  [ -z "$undocumented" ] ||
    stop 3 "each type needs a sentence in front of it, as in '/// One head.', and these have none:
$undocumented"
}

# Doxygen's own header, whose form depends on its version, with our lines at its end.
write_header() {
  (cd "$folder" && doxygen -w html head.html foot.html style.css "$root/docs/site/Doxyfile" >&2) &&
    awk '/<\/head>/ { while ((getline line < "docs/site/head.html") > 0) print line } { print }' \
      "$folder/head.html" >"$folder/header.html"
}

write_pages() {
  write_header &&
    doxygen_with "INPUT = $(pages) common $(find stage[1-9]_* -prune | sort | tr '\n' ' ') trace" \
      "HTML_HEADER = $folder/header.html" "$(readme_is_a_page)" >&2
}

copy_katex() {
  mkdir "$WORKSHOP_SITE/katex" &&
    cp -RL "$katex/katex.min.css" "$katex/katex.min.js" "$katex/fonts" "$WORKSHOP_SITE/katex" &&
    cp /usr/share/doc/libjs-katex/copyright "$WORKSHOP_SITE/katex/"
}

# Empties the folder of the site, which must be one that we made.
make_folder() {
  mark=$WORKSHOP_SITE/.tiled_attention_workshop
  [ ! -e "$WORKSHOP_SITE" ] || [ -e "$mark" ] ||
    stop 3 "$WORKSHOP_SITE is there and is not ours: name another place by WORKSHOP_BUILD."
  rm -rf -- "$WORKSHOP_SITE"
  { mkdir -p -- "$WORKSHOP_SITE" && : >"$mark"; } ||
    stop 3 "the folder $WORKSHOP_SITE cannot be made: name another place by WORKSHOP_BUILD."
}

cd "$root" || exit 3
make_folder
say "[1/4] looking for types without documentation"
check_types
say "[2/4] writing the pages"
write_pages || stop 3 "the pages are not right: Doxygen's messages above say why."
say "[3/4] taking in KaTeX, which sets the formulas"
copy_katex || stop 3 "KaTeX could not be copied to $WORKSHOP_SITE."
say "[4/4] checking links and images"
docs/tools/check_site.py "$WORKSHOP_SITE" || stop 3 "links lead nowhere: the lines above name them."
echo "$WORKSHOP_SITE/index.html"
