#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a program that was built with mutants.py once for each mutant, and prints the table.

    mutate.py PROGRAM LIST [--sample N] [--reasons FILE] [--limit SECONDS]

A mutant is killed where the program ends with anything but 0 or runs into the limit. Ends with 1
where one survives that FILE does not explain (lines: file, kind, text as in LIST, reason; tabs), or
where FILE explains one that is killed. --sample: every so many'th of the list, for a quick look.
"""
import argparse
import os
import pathlib
import subprocess
import sys


def run(program, number, limit):
    environment = dict(os.environ, CUDA_ASM_MUTANT=str(number))
    try:
        done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=limit, errors="replace")
    except subprocess.TimeoutExpired:
        return True, True, "runs for ever"
    told = [line for line in done.stdout.splitlines() if "WRONG" in line or ", want " in line]
    reached = "is reached" in done.stdout
    return done.returncode != 0, reached, told[0] if told else f"ends with {done.returncode}"


def why(message):
    """What killed it, without the launch and the thread that met it."""
    if "thread (" in message:
        message = message.split("thread (", 1)[1].split("): ", 1)[-1]
    return message[:100]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--reasons", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=60)
    options = parser.parse_args()
    reasons = {}
    if options.reasons:
        for line in options.reasons.read_text().splitlines():
            if line and not line.startswith("#"):
                file, kind, text, reason = line.split("\t")
                reasons[file, kind, text] = reason
    if run(options.program, 0, options.limit)[0]:
        sys.exit("the program fails without a mutant")
    killed, explained, bad = 0, 0, 0
    for row in options.list.read_text().splitlines()[::options.sample]:
        number, file, line, kind, text = row.split("\t")
        dead, reached, message = run(options.program, number, options.limit)
        reason = reasons.get((file, kind, text))
        verdict = "killed" if dead else "survives" if reached else "is not reached"
        if dead and reason is None:
            killed += 1
        elif not dead and reason is not None:
            explained += 1
        else:
            bad += 1
        told = why(message) if dead else reason or "NOT EXPLAINED"
        print(f"{number:>4} {verdict:14} {pathlib.Path(file).name}:{line} {kind} {text[:60]}: {told}", flush=True)
    print(f"{killed} killed, {explained} explained, {bad} not as expected")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
