#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plants a mistake in each asm statement that a program executes, one a run, and prints what finds it.

    plants.py PROGRAM [--file NAME,NAME...] [--sample N] [--limit SECONDS]

--file: in the statements of these files alone. drive_primitives and drive_wrappers execute those of
kernels/cuda; what a kernel has of its own, and the order that its launches need, its own drive does.

    swap        operands 0 and 1 change places
    qualifier   the instruction lacks the last one it has
    clobber     the statement does not say "memory"
    volatile    it is not volatile

Ends with 1 where a mistake is found by nothing, but for what is none: a clobber that was not there,
statements of registers alone that need not be volatile.
"""
import argparse
import os
import re
import subprocess
import sys

# Instructions of registers alone.
PURE = re.compile(r"(@!?\w+ )?(mov|cvt|ex2|rcp|prmt|setp|selp)\b|\.reg\b")
# Hints: the "memory" that they say orders nothing.
HINT = re.compile(r"^(prefetch\.global|cp\.async\.bulk\.prefetch|setmaxnreg)")


def pure(text):
    return all(PURE.match(part.strip()) for part in text.strip("{} ").split(";") if part.strip(" }"))


def run(program, plant, limit):
    try:
        done = subprocess.run([program], env=dict(os.environ, CUDA_ASM_PLANT=plant), capture_output=True, text=True,
                              timeout=limit, errors="replace")
    except subprocess.TimeoutExpired:
        return 1, "runs for ever"
    return done.returncode, done.stdout


# Of a matrix whose columns are the same, the sums of two columns are.
SAME = re.compile(r"^mma\.sync\..*\{%8, %8\}")
# Without its last qualifier a wait or a fence does more than it has to.
MORE = re.compile(r"^(cp\.async\.bulk\.wait_group\.read|fence\.proxy\.async\.shared::cta)")


def none(statement, kind):
    """Whether the mistake is none in this statement, or cannot be told from it."""
    says, text = statement
    if kind == "qualifier" and MORE.match(text):
        return True
    if kind == "swap":
        return not re.search(r"%0(?!\d).*%1(?!\d)|%1(?!\d).*%0(?!\d)", text) or bool(SAME.match(text))
    if kind == "qualifier":
        return "." not in text.split(";")[0]
    if kind == "clobber":
        return "m" not in says or not text or bool(HINT.match(text))
    return "v" not in says or pure(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--file", type=lambda text: text.split(","))
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60)
    options = parser.parse_args()
    code, told = run(options.program, "list", options.limit)
    statements = {}
    for line in told.splitlines():
        if line.startswith("asm "):
            file, number, says, text = line[4:].split(":", 3)
            if not options.file or file in options.file:
                statements[f"{file}:{number}"] = says, text
    if code or not statements:
        sys.exit("the program fails without a mistake, or executes no such statement")
    plants = [(place, kind) for place in sorted(statements) for kind in ("swap", "qualifier", "clobber", "volatile")
              if not none(statements[place], kind)][::options.sample]
    lost = 0
    for place, kind in plants:
        found = run(options.program, f"{place}:{kind}", options.limit)[0] != 0
        lost += not found
        print(f"{'found' if found else 'NOT FOUND':9} {place} {kind}: {statements[place][1][:90]}", flush=True)
    print(f"{len(plants) - lost} of {len(plants)} mistakes found in {len(statements)} statements")
    return lost > 0


if __name__ == "__main__":
    sys.exit(main())
