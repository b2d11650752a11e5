#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the digest of a CUDA variant is made of, compared with what the compiler and the linker need:

    tests/cuda/variant_sources.py BUILD

Every header of kernels/ and models/ that the compiler read for a variant's objects (Ninja's record of
dependencies) is among the files of generated/variant_sources.txt, and its .cu files are those whose
functions the variant needs, by the symbols of the objects. 77 where there is no such record.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OURS = ("kernels/", "models/")


def lines(*command, cwd=None):
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True,
                          text=True).stdout.splitlines()


def rows(build):
    """Of each variant: its name, the .cu files that it begins with, all files."""
    with open(f"{build}/generated/variant_sources.txt", encoding="utf-8") as file:
        for line in file:
            words, files = line.split(" : ")
            name, _, *roots = words.split()
            yield name, roots, files.split()


def dependencies(build):
    """Of each object of a .cu file the files of the repository that the compiler read for it."""
    read, at = {}, None
    for line in lines("ninja", "-t", "deps", cwd=build):
        start = re.match(r"(\S+\.cu\.o): #deps", line)
        if start:
            at = read.setdefault(f"{build}/{start[1]}", set())
        elif not line.startswith(" "):
            at = None
        elif at is not None:
            path = os.path.realpath(os.path.join(build, line.strip()))
            at.add(os.path.relpath(path, ROOT))
    return {o: {f for f in files if f.startswith(OURS)} for o, files in read.items()}


def symbols(path):
    """Functions that an object defines for all, and those that it needs."""
    defined, needed = set(), set()
    for line in lines("nm", "--extern-only", path):
        kind, name = line.split()[-2:]
        if kind == "U":
            needed.add(name)
        elif kind in "TDRB":
            defined.add(name)
    return defined, needed


def linked(source, symbols_of):
    """The .cu files whose functions `source` needs, transitively, and itself."""
    found, open_ = set(), {source}
    while open_:
        now = open_.pop()
        found.add(now)
        needed = symbols_of[now][1]
        open_ |= {o for o, (defined, _) in symbols_of.items() if defined & needed} - found
    return found


def main(build):
    read = dependencies(build) if os.path.exists(f"{build}/.ninja_deps") else {}
    objects = {}
    for path in read:
        source = re.sub(r"CMakeFiles/[^/]*\.dir/", "", os.path.relpath(path, build))[:-len(".o")]
        if source.startswith(OURS) and os.path.exists(path):
            objects[source] = path
    if not objects:
        print(f"no objects of CUDA kernels by Ninja in {build}")
        return 77
    symbols_of = {source: symbols(path) for source, path in objects.items()}
    wrong = checked = 0
    for name, roots, files in rows(build):
        if any(r not in objects for r in roots[:1]):
            continue
        checked += 1
        absent = set().union(*(read[objects[r]] for r in roots if r in objects)) - set(files)
        need = linked(roots[0], symbols_of)
        have = {f for f in files if f.endswith(".cu")}
        for what, which in (("read by the compiler and not in its digest", absent),
                            ("needed by the linker and not in its digest", need - have),
                            ("in its digest and not needed", {h for h in have - need
                                                              if h in objects})):
            for file in sorted(which):
                print(f"{name}: {file} is {what}")
                wrong += 1
    print(f"{checked} variants, {wrong} files wrong")
    return wrong > 0 or checked == 0


if __name__ == "__main__":
    sys.exit(main(os.path.realpath(sys.argv[1])))
