#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The commands of a Markdown page, and what it says they print.

  guide.py steps PAGE FOLDER [--section HEADING]
      Writes each command of the page's blocks ```sh and ```console to FOLDER/NNN.sh, in order, with
      NNN.shown, the output that the page shows (console alone), and NNN.allowed, exit statuses.
  guide.py check FOLDER
      Compares what run.sh has caught (NNN.out, NNN.err) with what is shown. Exit status 1 where it
      differs.
  guide.py update PAGE FOLDER
      Puts what was printed into the page where it differs: then read it.
  guide.py commands PAGE [--section HEADING]
      Prints the commands as a script.
  guide.py lint ROOT PAGE...
      PAGEs are those that some test executes: any other page below ROOT with commands is an error,
      and so is a command in a block of no language.

A block ```console has lines `$ command`, each with what it prints: all of its standard output, with
its standard error or without; of a command that prints nothing there, its standard error. Words of
digits stand for any such word (1.25 for 310.7, a hash for a hash), units of time and size for each
other; the exit status that `echo $?` prints is exact. "…" in a word is anything, as a word any words,
as a line any lines. A block ```sh shows nothing.

A command may span lines. Its exit status must be 0, unless it has a comment such as "# exit status 1"
or "# exit 0, 1 or 77", the next command is `echo $?`, or what is shown begins with "harness: ", as
complaints do.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ELLIPSIS = ("…", "...")
UNITS = {"ns", "µs", "us", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "kB", "MB", "GB"}


class Step:
    """A command with what the page says of it. shown is None where it shows nothing."""

    def __init__(self, line, command, shown=None):
        self.line, self.command, self.shown = line, command, shown
        self.last = line  # of what is shown
        self.allowed = allowed_statuses(command)


def allowed_statuses(command):
    comment = re.search(r"\s#[^#]*\bexit(?: status)?\b([^#]*)$", command)
    return re.findall(r"\d+", comment.group(1)) if comment else ["0"]


def blocks(text, section=None):
    """Yields (language, number of the first line, lines) of each fenced block."""
    language, first, lines, heading, indent = None, 0, [], section is None, ""
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"( *)```(\S*)", line)
        if language is None:
            if section is not None and re.match(r"## ", line):
                heading = line[3:].strip() == section
            if fence:
                indent, language = fence.groups()
                first, lines = number + 1, []
        elif fence and not fence.group(2):
            if heading:
                yield language, first, lines
            language = None
        else:
            lines.append(line.removeprefix(indent))


def is_complete(command):
    """Whether bash would run it, and not wait for more lines."""
    if command.endswith("\\"):
        return False
    result = subprocess.run(["bash", "-n"], input=command + "\n", capture_output=True, text=True)
    return result.returncode == 0 and "here-document" not in result.stderr


def whole_commands(lines, first):
    """Splits the lines of a block of shell into commands."""
    pending, start = [], first
    for number, line in enumerate(lines, first):
        if not pending and (not line.strip() or line.lstrip().startswith("#")):
            continue
        if not pending:
            start = number
        pending.append(line)
        if is_complete("\n".join(pending)):
            yield Step(start, "\n".join(pending))
            pending = []
    if pending:
        raise SystemExit(f"line {start}: this is no whole command: {pending[0]}")


def console_commands(lines, first):
    """Splits a block of a terminal: commands behind "$ ", their output up to the next."""
    number = 0
    while number < len(lines):
        if not lines[number].startswith("$ "):
            raise SystemExit(f"line {first + number}: a block of console begins with \"$ command\"")
        start, command = first + number, lines[number][2:]
        number += 1
        while number < len(lines) and not is_complete(command):
            command += "\n" + lines[number].removeprefix("> ")
            number += 1
        step = Step(start, command, [])
        step.first = step.last = first + number
        while number < len(lines) and not lines[number].startswith("$ "):
            step.shown.append(lines[number])
            number += 1
        step.last = first + number
        yield step


def steps_of(page, section=None):
    steps = []
    for language, first, lines in blocks(page.read_text(encoding="utf-8"), section):
        if language == "sh":
            steps += whole_commands(lines, first)
        elif language == "console":
            steps += console_commands(lines, first)
    for step, following in zip(steps, steps[1:] + [None]):
        if following and following.command == "echo $?":
            step.allowed = [str(status) for status in range(256)]
        elif step.shown and step.shown[0].startswith("harness: "):
            step.allowed = ["2", "77"]
    return steps


# -- What is shown, and what was printed


def masked(word):
    """A word without what differs from machine to machine and from day to day."""
    word = re.sub(r"(?<=[\dnsm])[*!]$", "", word)
    word = re.sub(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,}(-[0-9a-f]{4,})*\b", "#", word)
    word = re.sub(r"^[-+−±~<>≤≥]+(?=[\d.])", "", word)
    word = re.sub(r"\d+([.,:]\d+)*(e[-+]?\d+)?", "0", word)
    return "unit" if word in UNITS else word


def word_matches(shown, printed):
    if "…" not in shown:
        return shown == printed or masked(shown) == masked(printed)
    pattern = ".*".join(re.escape(masked(part)) for part in shown.split("…"))
    return re.fullmatch(pattern, masked(printed)) is not None


def words_match(shown, printed):
    if not shown:
        return not printed
    if shown[0] in ELLIPSIS:
        return any(words_match(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    if not printed:
        return False
    return word_matches(shown[0], printed[0]) and words_match(shown[1:], printed[1:])


def lines_match(shown, printed):
    """By the longest common way through both; "…" alone is any number of lines."""
    states = {0}
    for line in shown:
        if line.strip() in ELLIPSIS:
            states = set(range(min(states), len(printed) + 1)) if states else set()
        else:
            words = line.split()
            states = {i + 1 for i in states
                      if i < len(printed) and words_match(words, printed[i].split())}
    return len(printed) in states


def read(path):
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    return [line.rstrip() for line in text.splitlines()]


def without_edges(lines):
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def printed_by(step):
    """The ways in which output may be shown, the likeliest first. What is said on standard error need
    not be shown: it may be progress. Where there is nothing else, it may be."""
    out, err = read(step.with_suffix(".out")), read(step.with_suffix(".err"))
    ways = (out, out + err, err + out) if any(out) else (err, [])
    return [without_edges(lines) for lines in ways]


def differs(step):
    """None, or what was printed instead of what is shown."""
    ways = printed_by(step)
    if step.with_suffix(".sh").read_text().strip() == "echo $?":
        return None if read(step.with_suffix(".shown")) == ways[0] else ways[0]
    if any(lines_match(without_edges(read(step.with_suffix(".shown"))), way) for way in ways):
        return None
    return ways[0]


def caught(folder):
    """The steps that show something and were run."""
    for shown in sorted(folder.glob("*.shown")):
        if shown.with_suffix(".status").exists():
            yield shown.with_suffix("")


# -- Commands of this program


def write_steps(args):
    args.folder.mkdir(parents=True, exist_ok=True)
    steps = steps_of(args.page, args.section)
    for number, step in enumerate(steps, 1):
        stem = args.folder / f"{number:03d}"
        stem.with_suffix(".sh").write_text(step.command + "\n", encoding="utf-8")
        stem.with_suffix(".allowed").write_text(" ".join(step.allowed) + "\n", encoding="utf-8")
        stem.with_suffix(".line").write_text(f"{step.line}\n", encoding="utf-8")
        if step.shown is not None:
            stem.with_suffix(".shown").write_text("\n".join(step.shown) + "\n", encoding="utf-8")
            place = json.dumps([step.first, step.last])
            stem.with_suffix(".place").write_text(place, encoding="utf-8")
    return 0 if steps else "the page has no commands"


def check(args):
    status = 0
    for step in caught(args.folder):
        printed = differs(step)
        if printed is None:
            continue
        status = 1
        print(f"line {read(step.with_suffix('.line'))[0]}: {step.with_suffix('.sh').read_text().strip()}")
        for line in read(step.with_suffix(".shown")):
            print(f"  shown    {line}")
        for line in printed:
            print(f"  printed  {line}")
    return status


def update(args):
    lines = args.page.read_text(encoding="utf-8").splitlines()
    for step in reversed(list(caught(args.folder))):
        printed = differs(step)
        if printed is not None:
            first, last = json.loads(step.with_suffix(".place").read_text())
            lines[first - 1:last - 1] = printed
    args.page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


def print_commands(args):
    for step in steps_of(args.page, args.section):
        print(step.command)
    return 0


def pages_below(root):
    pages = [root / name for name in ("README.md", "CONTRIBUTING.md")]
    return pages + sorted((root / "docs").rglob("*.md"))


def lint(args):
    errors = []
    for page in pages_below(args.root):
        name = str(page.relative_to(args.root))
        languages = list(blocks(page.read_text(encoding="utf-8")))
        for language, first, lines in languages:
            if language == "" and any(re.match(r"(\$|harness|ci/\S+\.sh) ", line) for line in lines):
                errors.append(f"{name}:{first}: commands in a block of no language")
        if any(language in ("sh", "console") for language, _, _ in languages) != (name in args.pages):
            errors.append(f"{name}: has commands that no test executes, or none any more")
    errors += [f"{name}: there is no such page" for name in args.pages if not (args.root / name).exists()]
    print("\n".join(errors) or f"{len(args.pages)} pages have commands, and each has its test")
    return 1 if errors else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = parser.add_subparsers(required=True)

    def kind(name, function, *arguments):
        sub = kinds.add_parser(name)
        for argument in arguments:
            sub.add_argument(argument, type=pathlib.Path)
        sub.set_defaults(function=function)
        return sub

    kind("steps", write_steps, "page", "folder").add_argument("--section")
    kind("check", check, "folder")
    kind("update", update, "page", "folder")
    kind("commands", print_commands, "page").add_argument("--section")
    kind("lint", lint, "root").add_argument("pages", nargs="*")
    args = parser.parse_args()
    return args.function(args)


if __name__ == "__main__":
    sys.exit(main())
