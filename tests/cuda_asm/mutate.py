#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs programs that were built with mutants.py once for each mutant, and prints the table.

    mutate.py PROGRAM... LIST [--sample N] [--only N,N...] [--reasons FILE] [--limit SECONDS] [--seeds N]
              [--else PROGRAM]...

Programs of one list run forms of one kernel. A mutant is killed where a program ends with anything
but 0, or takes more processor time than the limit and than ten times what it takes without: waits
poll, so that one without an end takes it all; time on the wall is the machine's. Each program that reaches it is
to kill it; one that does not is run again in N other orders of threads and arrivals (CUDA_HOST_SEED) before the mutant survives.
The PROGRAMs of --else are of forms that take long, and run where none of the others reaches the mutant. Ends with 1 where one survives that FILE does not explain (lines: file, kind, text as in
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


def run(program, number, limit, seed=None):
    environment = dict(os.environ, CUDA_ASM_MUTANT=str(number))
    if seed is not None:
        environment["CUDA_HOST_SEED"] = str(seed)

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


def killed(one):
    return one[0]


class Programs:
    """What is run, each with its limit; a seed is used where the program without a mutant is right by it."""

    def __init__(self, programs, limit, seeds):
        self.limits, self.right = {}, {}
        self.seeds = range(2, 2 + seeds) # 1 is what runs without CUDA_HOST_SEED have
        for program in programs:
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            if killed(run(program, 0, 3600)):
                sys.exit(f"{program} fails without a mutant")
            took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            self.limits[program] = int(max(limit, 10 * took))

    def check_seed(self, program, seed):
        if (program, seed) not in self.right:
            self.right[program, seed] = not killed(run(program, 0, 3600, seed))
        if not self.right[program, seed]:
            sys.exit(f"CUDA_HOST_SEED={seed} {program} fails without a mutant")

    def play(self, program, number):
        """As run(), by other seeds too where the program reaches the mutant and nothing finds it."""
        first = run(program, number, self.limits[program])
        if killed(first) or not first[1]:
            return first
        for seed in self.seeds:
            self.check_seed(program, seed)
            one = run(program, number, self.limits[program], seed)
            if killed(one):
                return (*one[:2], f"by seed {seed}: {why(one[2])}")
        return first


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="+")
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--reasons", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--else", dest="others", action="append", default=[])
    options = parser.parse_args()
    reasons = {}
    if options.reasons:
        for line in options.reasons.read_text().splitlines():
            if line and not line.startswith("#"):
                file, kind, text, reason = line.split("\t")
                reasons[file, kind, text] = reason
    programs = Programs(options.programs + options.others, options.limit, options.seeds)
    found, explained, bad = 0, 0, 0
    for row in options.list.read_text().splitlines()[::options.sample]:
        number, file, line, kind, text = row.split("\t")
        if options.only and number not in options.only:
            continue
        before = time.monotonic()
        runs = [programs.play(program, number) for program in options.programs]
        if not any(one[1] for one in runs):
            runs += [programs.play(program, number) for program in options.others]
        seconds = time.monotonic() - before
        reason = reasons.get((file, kind, text))
        reached = [one for one in runs if one[1]]
        dead = all(killed(one) for one in reached) and bool(reached)
        verdict = "killed" if dead else "survives" if reached else "is not reached"
        if dead and reason is None:
            found += 1
        elif not dead and reason is not None:
            explained += 1
        else:
            bad += 1
        told = [why(one[2]) if killed(one) else "-" if not one[1] else reason or "NOT EXPLAINED" for one in runs]
        print(f"{number:>4} {verdict:14} {pathlib.Path(file).name}:{line} {kind} {text[:60]}: {' | '.join(told)} ({seconds:.1f} s)",
              flush=True)
    print(f"{found} killed, {explained} explained, {bad} not as expected")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
