#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How good `harness tune` is on this machine's own times, for the CPU kernels of this tree.

    ci/tune_rates.py [--repeats N] [--launches N] [--device DEVICE] [--param NAME=LIST]... [--shape DIMS]...

For each shape of gemm/nn all settings of `simd` are measured in every one of N fresh processes
(40): who tries all does that, and knows the best by it. Then `harness tune` races N times (20).
Prints Markdown: how many winners are the best or within 1 % of it, the worst of them, and how many
measurements a race has taken of those of trying all in as many rounds, beside what is wanted. With
20 repeats of all settings it takes hours: run it on a machine without anything else.
Exit status: 0 as wanted, 1 not, 2 failed. HARNESS names a program to take instead of the built one.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHAPES = ("batch=1,seq=64,n=512,k=2048", "batch=1,seq=256,n=256,k=4096", "batch=4,seq=64,n=768,k=768",
          "batch=1,seq=512,n=1024,k=1024")
PARAMS = ("depth=0,128,256,512,1024", "height=0,8,128")
# What is wanted: winners within 1 % of the best in all repeats, by a third of the measurements.
WITHIN, SHARE = 0.01, 1 / 3
UNDECIDED = 77


def fail(words):
    """Ends with what is wrong."""
    print(f"tune_rates.py: {words}", file=sys.stderr)
    sys.exit(2)


def call(harness, arguments, status=(0,)):
    """The JSON that it prints."""
    told = subprocess.run([harness, *arguments], capture_output=True, text=True, check=False)
    if told.returncode not in status:
        fail(f"harness {' '.join(map(str, arguments))} ended with {told.returncode}: "
                 f"{told.stderr.strip()[-500:]}")
    return json.loads(told.stdout)


def options_of(shape, params, device, database):
    """What races and runs have in common."""
    dims = dict(pair.split("=") for pair in shape.split(","))
    own = [f"--{name}={dims.pop(name)}" for name in ("batch", "seq")]
    return own + [f"--dim={name}={value}" for name, value in dims.items()] + [f"--param={p}" for p in params] + \
        ["--device", device, "--db", database]


def medians_of(summary):
    """{setting: ms} of what harness tells of a run: the name gemm/nn/simd:depth=64:height=8/... has it."""
    result = {}
    for b in summary["benchmarks"]:
        variant = b["name"].split("/")[2]
        if b["outcome"] == "OK" and ":" in variant:
            result[",".join(variant.split(":")[1:])] = b["timing"]["median"]
    return result


def judge(times, winners):
    """(how many winners are as good as the best, the worst one's distance)."""
    best = min(times.values())
    behind = [times[w] / best - 1 for w in winners]
    return sum(b <= WITHIN for b in behind), max(behind)


def row_of(harness, shape, options, database):
    """A line of the table, and whether all is as wanted."""
    common = options_of(shape, options.param or PARAMS, options.device, database)
    summary = call(harness, ["run", "gemm/nn/simd:*", *common, "--launches", str(options.launches),
                             "--format", "summary-json"])
    times, winners, measured, undecided = medians_of(summary), [], 0, 0
    for seed in range(1, options.repeats + 1):
        told = call(harness, ["tune", "gemm/nn/simd", *common, "--rounds", str(options.launches), "--seed",
                              str(seed), "--json"], (0, UNDECIDED))
        winners.append(told["races"][0]["setting"])
        undecided += not told["races"][0]["decided"]
        measured += told["measured"]
    good, worst = judge(times, winners)
    share = measured / (options.repeats * options.launches * len(times))
    line = (f"| {shape} | {len(times)} | {good} of {len(winners)} | {100 * worst:.1f} % | {100 * share:.0f} % | "
            f"{undecided} |")
    return line, good == len(winners) and share <= SHARE


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--launches", type=int, default=40)
    parser.add_argument("--device", default="cpu:1")
    parser.add_argument("--param", action="append", metavar="NAME=LIST")
    parser.add_argument("--shape", action="append", metavar="DIMS")
    options = parser.parse_args()
    harness = os.environ.get("HARNESS") or ROOT / "build/release/harness"
    if not pathlib.Path(harness).exists():
        fail(f"no program {harness}: build it, or set HARNESS")
    wanted = True
    print("| shape | settings | within 1 % of the best | worst | of trying all | not decided |\n"
          "|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for i, shape in enumerate(options.shape or SHAPES):
            line, good = row_of(harness, shape, options, pathlib.Path(folder) / f"{i}.db")
            print(line, flush=True)
            wanted &= good
    print(f"\nWanted: all within 1 %, in {100 * SHARE:.0f} % of the measurements at most: {'yes' if wanted else 'no'}")
    return 0 if wanted else 1


if __name__ == "__main__":
    sys.exit(main())
