#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""figures.py HARNESS PAGE...: each figure that the program draws has its place on one of the pages,
with a picture that is there and a word on what a bad sign is; and the pages have no other."""
import json
import pathlib
import re
import subprocess
import sys


def sections(text):
    """{figure: text of its section}; a heading names one or more figures."""
    found = {}
    for part in re.split(r"^(?=##+ )", text, flags=re.M):
        heading = re.match(r"### (.*)\n", part)
        for name in heading.group(1).split(", ") if heading else []:
            found[name] = part
    return found


def complaints(section, folder):
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", section)
    if not pictures and "```" not in section:
        yield "neither picture nor sketch"
    for picture in pictures:
        if not (folder / picture).is_file():
            yield f"there is no {picture}"
    if "**Bad sign:**" not in section:
        yield "not a word on a bad sign"


def told_on(pages):
    """({figure: what is wrong with its section}, complaints about figures that two pages tell of)"""
    told, twice = {}, []
    for page in pages:
        for name, section in sections(page.read_text(encoding="utf-8")).items():
            if name in told:
                twice.append(f"{name}: {page.name} tells of it, and so does another page")
            told[name] = list(complaints(section, page.parent))
    return told, twice


def main(harness, *names):
    listed = json.loads(subprocess.run([harness, "list", "figures", "--json"], check=True,
                                       capture_output=True, text=True).stdout)["figures"]
    drawn = {figure["name"] for figure in listed}
    told, errors = told_on([pathlib.Path(name) for name in names])
    errors += [f"{name}: the program draws it, no page tells of it" for name in drawn - told.keys()]
    errors += [f"{name}: a page tells of it, the program has none" for name in told.keys() - drawn]
    errors += [f"{name}: {what}" for name in drawn & told.keys() for what in told[name]]
    print("\n".join(sorted(errors)) or f"{len(drawn)} figures, each with its place on {len(names)} pages")
    return 1 if errors or not drawn else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
