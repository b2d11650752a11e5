#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""reference.py HARNESS SOURCE-TREE: tables of the reference have a row for each thing that the program
knows, and no other: commands and their exit statuses, rules of run names, fields of conditions, keys
of presets, metrics with a floor of their own, members of a measurement."""
import json
import pathlib
import re
import subprocess
import sys


def rows(tree, page, heading):
    """What stands between ` in the first column of the first table below a heading."""
    text = (tree / "docs" / page).read_text(encoding="utf-8")
    section = re.split(rf"^#+ {re.escape(heading)}$", text, flags=re.M)[1]
    table = re.search(r"(?:^\|.*\n)+", section, flags=re.M).group(0).splitlines()[2:]
    return [name for row in table for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])]


def initials(tree, source, array):
    """The first texts of a table in C: { "name", ... }."""
    text = (tree / "harness" / source).read_text(encoding="utf-8")
    body = re.search(rf"\b{array}\[[^\]]*\] = \{{\n(.*?)^\}};", text, flags=re.M | re.S).group(1)
    return re.findall(r'^ *\{ "([^"]+)"', body, flags=re.M)


def commands(harness):
    printed = subprocess.run([harness, "help"], check=True, capture_output=True, text=True).stdout
    return re.findall(r"^  (\w+) ", printed.split("\ncommands:\n")[1], flags=re.M)


def floors(harness):
    command = [harness, "list", "metrics", "--json", "--db", "/nonexistent"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [metric["name"] for metric in json.loads(printed)["metrics"] if "floor" in metric]


def schema(tree, path, *members):
    value = json.loads((tree / path).read_text(encoding="utf-8"))
    for member in members:
        value = value[member]
    return [name for name in value if name != "$schema"]


def main(harness, tree):
    tree = pathlib.Path(tree)
    statuses = {name.split()[0] for name in rows(tree, "exit-status.md", "By command")}
    measurement = schema(tree, "docs/schema/records.schema.json", "$defs", "measurement", "properties")
    pairs = [
        ("commands", commands(harness), statuses),
        ("rules of run names", initials(tree, "query/ref_rules.c", "ref_rules"),
         rows(tree, "run-names.md", "What a name means")),
        ("fields of conditions", initials(tree, "query/query_term.c", "fields"),
         [name for name in rows(tree, "filters.md", "Conditions") if name not in ("batch", "seq", "m")]),
        ("keys of presets", schema(tree, "plots/schema/preset.schema.json", "properties"),
         rows(tree, "formats/settings.md", "A preset")),
        ("metrics with a floor", floors(harness),
         rows(tree, "metrics.md", "Judged by a floor of their own")),
        ("members of a measurement", measurement, rows(tree, "formats/run.md", "A measurement")),
    ]
    errors = []
    for what, known, told in pairs:
        errors += [f"{what}: the reference has no {name}" for name in sorted(set(known) - set(told))]
        errors += [f"{what}: the program has no {name}" for name in sorted(set(told) - set(known))]
        errors += [f"{what}: none was found"] if not known else []
    print("\n".join(errors) or f"{len(pairs)} tables of the reference are those of the program")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
