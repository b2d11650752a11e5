#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""links.py SOURCE-TREE: every link of every page leads to a file that is there, and to a heading that
it has, some page leads to each, and none is too long to be read; sources name pages that are there."""
import os
import pathlib
import re
import subprocess
import sys

WORDS_MAX = 2500


def without_code(text):
    """Links in code are no links."""
    text = re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "`code`", text)


def slug(heading, taken):
    """The anchor that a forge makes of a heading."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
    number = taken.get(name, 0)
    taken[name] = number + 1
    return f"{name}-{number}" if number else name


def anchors(page):
    text = re.sub(r"^( *)```.*?^\1```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    taken = {}
    return {slug(heading, taken) for heading in re.findall(r"^#+ (.*)$", text, flags=re.M)}


def links(page):
    """Yields (path of the file, anchor) of each link to a file."""
    text = without_code(page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        if not re.match(r"[a-z]+:", target):
            yield (page.parent / path).resolve() if path else page.resolve(), anchor


def link_errors(page, tree):
    for to, anchor in links(page):
        if not to.exists():
            yield f"there is no {os.path.relpath(to, tree)}"
        elif anchor and (to.suffix != ".md" or anchor not in anchors(to)):
            yield f"{os.path.relpath(to, tree)} has no heading #{anchor}"


def page_errors(page, linked):
    words = len(page.read_text(encoding="utf-8").split())
    if words > WORDS_MAX:
        yield f"{words} words, more than {WORDS_MAX}"
    if page not in linked:
        yield "no page leads to it"


def named_pages(tree):
    """Pages that sources name, by file."""
    listed = subprocess.run(["git", "grep", "-IoE", r"docs/[a-z0-9/_-]+\.md", "--", "harness", "kernels",
                             "models", "plots", "baselines", "ci", "cmake", "tests", "CMakeLists.txt"],
                            cwd=tree, capture_output=True, text=True, check=False)
    return {tuple(line.split(":", 1)) for line in listed.stdout.splitlines()}


def main(tree):
    tree = pathlib.Path(tree).resolve()
    read = sorted(page for page in (tree / "docs").rglob("*.md") if page.parent.name != "decisions")
    pages = [tree / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    pages += read + sorted((tree / "docs/decisions").glob("*.md"))
    linked = {to for page in pages for to, _ in links(page) if to != page}
    errors = [f"{page.relative_to(tree)}: {what}" for page in pages for what in link_errors(page, tree)]
    errors += [f"{page.relative_to(tree)}: {what}" for page in pages[:2] + read
               for what in page_errors(page, linked | {tree / "README.md"})]
    errors += [f"{source}: there is no {page}" for source, page in named_pages(tree)
               if not (tree / page).exists()]
    print("\n".join(sorted(errors)) or f"{len(pages)} pages, and every link leads somewhere")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
