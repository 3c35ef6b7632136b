#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the built site: what a page links to or shows must be there, places in pages too, and no page
may load anything from another host.

    check_site.py FOLDER       exit status: 0, or 1 with a line for each thing that is wrong
"""
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

# Doxygen's own, with links to what some of its versions do not write.
DOXYGENS_STYLE = "doxygen.css"
DOXYGENS_INDICES = ("functions", "globals", "namespacemembers")
LOADS = {"link", "script", "img", "object", "iframe", "source"}  # a link in <a> is only offered


class Page(HTMLParser):
    def __init__(self, file):
        super().__init__()
        self.places = set()
        self.targets = []  # (target, whether showing the page loads it)
        self.feed(file.read_text(errors="replace"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.places.add(value)
            elif name in ("href", "src", "data") and value:
                self.targets.append((value, tag in LOADS))


def fault(file, target, loads):
    """What is wrong with a target, or None."""
    if re.match(r"([a-z]+:)?//", target):
        return "loaded from another host" if loads else None
    if re.match(r"(mailto|javascript|data):", target):
        return None
    name, _, place = target.partition("#")
    path = (file.parent / unquote(name)).resolve() if name else file
    if not path.exists():
        return None if file.name == DOXYGENS_STYLE else "no such file"
    if path.name.startswith(DOXYGENS_INDICES):
        return None
    if place and path in pages and unquote(place) not in pages[path].places:
        return "no such place"
    return None


site = Path(sys.argv[1]).resolve()
pages = {file: Page(file) for file in site.rglob("*.html")}
targets = [(file, *target) for file, page in pages.items() for target in page.targets]
for file in site.rglob("*.css"):
    urls = re.findall(r"""url\(["']?([^"')]+)|@import\s+["']([^"']+)""", file.read_text())
    targets += [(file, url or imported, True) for url, imported in urls]

faults = sorted({f"{file.relative_to(site)}: {wrong}: {target}"
                 for file, target, loads in targets if (wrong := fault(file, target, loads))})
for one in faults:
    print(one, file=sys.stderr)
print(f"{len(pages)} pages, {len(targets)} links, {len(faults)} of them broken", file=sys.stderr)
sys.exit(1 if faults or not pages else 0)
