#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs programs that were built with mutants.py once for each mutant, and prints the table.

    mutate.py PROGRAM... LIST [--sample N] [--only N,N...] [--reasons FILE] [--limit SECONDS]

Programs of one list run forms of one kernel. A mutant is killed where a program ends with anything
but 0, or takes more processor time than the limit and than ten times what it takes without: waits
poll, so that one without an end takes it all; time on the wall is the machine's. Each program that reaches it is
to kill it. Ends with 1 where one survives that FILE does not explain (lines: file, kind, text as in
LIST, reason; tabs), or no program reaches, or where FILE explains one that each kills. --sample: every
so many'th of the list, for a quick look.
"""
import argparse
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time


def run(program, number, limit):
    environment = dict(os.environ, CUDA_ASM_MUTANT=str(number))

    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    done = subprocess.run([program], env=environment, capture_output=True, text=True, preexec_fn=limited, errors="replace")
    if done.returncode == -signal.SIGKILL:
        return True, True, "runs for ever"
    told = [line for line in done.stdout.splitlines() if "WRONG" in line or ", want " in line]
    told += [line for line in done.stdout.splitlines() if "is reached" not in line and " matrices " not in line][-1:]
    told += [line for line in done.stderr.splitlines() if "ERROR" in line][:1]
    reached = "is reached" in done.stdout
    return done.returncode != 0, reached or done.returncode != 0, told[0] if told else f"ends with {done.returncode}"


def why(message):
    """What killed it, without the launch and the thread that met it."""
    if "thread (" in message:
        message = message.split("thread (", 1)[1].split("): ", 1)[-1]
    return message[:100]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="+")
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--reasons", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=60)
    options = parser.parse_args()
    reasons = {}
    if options.reasons:
        for line in options.reasons.read_text().splitlines():
            if line and not line.startswith("#"):
                file, kind, text, reason = line.split("\t")
                reasons[file, kind, text] = reason
    limits = {}
    for program in options.programs:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        if run(program, 0, 3600)[0]:
            sys.exit(f"{program} fails without a mutant")
        took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        limits[program] = int(max(options.limit, 10 * took))
    killed, explained, bad = 0, 0, 0
    for row in options.list.read_text().splitlines()[::options.sample]:
        number, file, line, kind, text = row.split("\t")
        if options.only and number not in options.only:
            continue
        before = time.monotonic()
        runs = [run(program, number, limits[program]) for program in options.programs]
        seconds = time.monotonic() - before
        reason = reasons.get((file, kind, text))
        reached = [one for one in runs if one[1]]
        dead = all(one[0] for one in reached) and bool(reached)
        verdict = "killed" if dead else "survives" if reached else "is not reached"
        if dead and reason is None:
            killed += 1
        elif not dead and reason is not None:
            explained += 1
        else:
            bad += 1
        told = [why(one[2]) if one[0] else "-" if not one[1] else reason or "NOT EXPLAINED" for one in runs]
        print(f"{number:>4} {verdict:14} {pathlib.Path(file).name}:{line} {kind} {text[:60]}: {' | '.join(told)} ({seconds:.1f} s)",
              flush=True)
    print(f"{killed} killed, {explained} explained, {bad} not as expected")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
