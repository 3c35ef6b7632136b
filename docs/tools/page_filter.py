#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Doxygen's input filter for the pages: turns the Markdown that GitHub shows into what Doxygen
shows alike. Prints one line for each line read, so that a warning names the right one.

    page_filter.py PAGE        WORKSHOP_SITE names the folder that the site is written to
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(os.environ["WORKSHOP_SITE"])
PAGE = Path(sys.argv[1]).resolve().relative_to(ROOT)
FRONT_PAGE = Path("README.md")
SOURCES = {".cu", ".cuh", ".hpp"}  # what has a page of its own: FILE_PATTERNS of docs/site/Doxyfile
subpages = set()


def html(text):
    """A block of HTML that Doxygen hands through as it is."""
    return f"@htmlonly[block]{text}@endhtmlonly"


def literal(text):
    """Text inside of html(): escaped, and on one line."""
    return re.sub(r"[^A-Za-z0-9 ]", lambda one: f"&#{ord(one[0])};", text)


def wide(tex):
    """TeX for site.js, in full-width characters, of which neither Doxygen nor its Markdown knows any.
    (@htmlonly would not do inside a line: Doxygen 1.9.4 puts a blank in front of it.)"""
    return re.sub(r"[!-~]", lambda one: chr(ord(one[0]) + 0xFEE0), tex).replace(" ", "\u3000")


def math(match):
    code, display, inline = match.groups()
    if code:
        return code
    if display:
        return f'<div class="math">{wide(display)}</div>'
    return f'<span class="math">{wide(inline)}</span>'


def label(path):
    """Doxygen's name for a page: its path, or that of the folder whose README it is."""
    if path == FRONT_PAGE:
        return "index"
    path = path.parent if path.name == "README.md" else path.with_suffix("")
    return re.sub(r"\W", "_", str(path))


def anchor(path, heading):
    """Doxygen's name for a heading, from its text or from GitHub's anchor of it."""
    return label(path) + "__" + re.sub(r"[ -]", "_", re.sub(r"[^\w -]", "", heading.lower()))


def in_site(path):
    """Takes a file into the site. One that is missing is found when links are checked."""
    if (ROOT / path).is_file():
        (SITE / "files" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, SITE / "files" / path)
    return f"files/{path}"


def page_link(text, path, place):
    if place:
        return f"[{text}](@ref {anchor(path, place)})"
    # A folder's README is the parent of the pages below it, and the first link says so.
    parent = PAGE.name == "README.md" and PAGE != FRONT_PAGE and PAGE.parent in path.parents
    if parent and path not in subpages:
        subpages.add(path)
        return f'@subpage {label(path)} "{text}"'
    return f"[{text}](@ref {label(path)})"


def link(match):
    code, image, text, target = match.groups()
    if code or "://" in target:
        return match[0]
    target, _, place = target.partition("#")
    path = Path(os.path.relpath(ROOT / PAGE.parent / target, ROOT)) if target else PAGE
    if image:
        return html(f'<figure><img src="{in_site(path)}" alt="{literal(text)}"></figure>')
    if path.suffix == ".md":
        return page_link(text, path, place)
    if path.suffix in SOURCES:
        return f'[{text}](@ref {path})'
    return f"[{text}]({in_site(path)})"


def prose(line):
    """A line outside of code blocks, with its math, links and images, but code words as they are."""
    line = re.sub(r"(`[^`]*`)|\$\$(.+?)\$\$|\$(.+?)\$", math, line)
    return re.sub(r"(`[^`]*`)|(!?)\[((?:`[^`]*`|[^]`])*)\]\(([^) ]+)\)", link, line)


def diff(old, new):
    """What one stage adds to another: all on one line of the page, a line of the diff in a span."""
    command = [ROOT / "docs/tools/stage_diff.sh", old, new]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    kinds = {"+": "added", "-": "removed", "@": "place", " ": "same"}
    spans = (f'<span class="{kinds[line[0]]}">{literal(line)}</span>' for line in lines[2:])
    return html(f'<pre class="diff">{"".join(spans)}</pre>')


def outside_code(number, line):
    if mark := re.match(r"<!-- excerpt: (\S+)", line):
        return f'<div class="excerpt">[{mark[1]}](@ref {mark[1]})</div>'
    if mark := re.match(r"<!-- diff: (\S+) (\S+) -->", line):
        return diff(mark[1], mark[2])
    if re.match(r"</?(details|summary)>", line):
        return html(line)
    if heading := re.match(r"(#+) (.*)", line):
        title = "mainpage" if PAGE == FRONT_PAGE else label(PAGE)
        name = title if heading[1] == "#" else anchor(PAGE, heading[2])
        return f"{prose(line)} {{#{name}}}"
    return "[TOC]" if number == 1 and not line else prose(line)


def filtered(lines):
    fence = in_math = None
    for number, line in enumerate(lines):
        mark = re.match(r"(`{3,})(\w*)$", line)
        if fence is None and mark:
            fence, in_math = mark[1], mark[2] == "math"
            yield '<div class="math">' if in_math else line
        elif fence is None:
            yield outside_code(number, line)
        elif line.rstrip() == fence:
            yield "</div>" if in_math else line
            fence = None
        else:
            yield wide(line) if in_math else line


try:
    for line in filtered((ROOT / PAGE).read_text().splitlines()):
        print(line)
except Exception as error:  # Doxygen does not mind if a filter fails, but it does mind this command
    print(f"{PAGE}: {getattr(error, 'stderr', error)}", file=sys.stderr)
    print("@filter_failed")
