#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times of a null kernel and of a copy by harness, beside those by NVBench's method, on a device.

    ci/nvbench_method.py [--rounds N] [--within PERCENT]

device_method measures as NVBench documents it, `harness run --plugin method_plugin.so` the same
kernel, in turn, so that drift hits both: cold beside --cache cold, a batch beside --cache warm.
Each is the median of its rounds. Prints JSON. HARNESS names the program if it is not found.
Exit status: 0 all within PERCENT (1) of each other, 1 not, 2 failure, 77 no device.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NO_DEVICE = 77
# What the second method calls it, and harness.
STATES = {"cold_mean_ns": "cold", "batch_mean_ns": "warm"}


def fail(words):
    """Ends with what is wrong."""
    print(f"nvbench_method.py: {words}", file=sys.stderr)
    sys.exit(2)


def find(names):
    """The first of these that is there; in a build tree and in a package they lie elsewhere."""
    for name in names:
        if name and pathlib.Path(name).exists():
            return pathlib.Path(name).resolve()
    fail(f"there is none of {', '.join(str(n) for n in names if n)}")


def find_parts():
    """harness, the second method and the plugin."""
    builds = [HERE.parent / "build" / name for name in ("release", "cuda", "dev")]
    harness = find([os.environ.get("HARNESS"), HERE.parents[2] / "bin/harness"] + [b / "harness" for b in builds])
    folders = [HERE.parents[2] / "libexec/harness/device", harness.parent / "tests/cuda"]
    return harness, find([f / "device_method" for f in folders]), find([f / "method_plugin.so" for f in folders])


def by_second_method(program):
    """{(rows, columns, state): ns}, and what the device is called."""
    told = subprocess.run([program], capture_output=True, text=True, check=False)
    if told.returncode == NO_DEVICE:
        print(f"nvbench_method.py: {told.stdout.strip()}")
        sys.exit(NO_DEVICE)
    if told.returncode:
        fail(f"{program} ended with {told.returncode}: {told.stdout.strip()[-300:]}")
    result = json.loads(told.stdout)
    return {(r["rows"], r["columns"], state): r[key] for r in result["results"] for key, state in STATES.items()}, \
        result["device"]


def by_harness(harness, plugin, folder):
    """The same of a run of one launch."""
    told = subprocess.run(
        [harness, "run", "--plugin", plugin, "--device", "cuda", "--cache", "cold,warm", "--launches", "1",
         "--warm-up", "3s", "--db", folder / "history.db", "--format", "summary-json"],
        capture_output=True, text=True, check=False)
    if told.returncode:
        fail(f"harness run ended with {told.returncode}: {(told.stderr or told.stdout)[-500:]}")
    return means_of(json.loads(told.stdout))


def means_of(summary):
    """{(rows, columns, state): ns} of what harness tells of a run."""
    means = {}
    for b in summary["benchmarks"]:
        dims, _, state = b["name"].split("/")[-3:]
        sizes = dict(pair.split("=") for pair in dims.split(","))
        means[int(sizes["rows"]), int(sizes["columns"]), state] = b["timing"]["mean"] * 1e6
    return means


def compare(ours, theirs, within):
    """A row for each case, from the rounds of both."""
    rows = []
    for case in theirs[0]:
        a, b = (statistics.median(r[case] for r in rounds) for rounds in (ours, theirs))
        rows.append({"rows": case[0], "columns": case[1], "cache": case[2], "harness_ns": a, "nvbench_method_ns": b,
                     "differ_percent": 100 * (a / b - 1), "within": abs(a / b - 1) <= within / 100})
    return rows


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--within", type=float, default=1, metavar="PERCENT")
    options = options.parse_args()
    harness, program, plugin = find_parts()
    ours, theirs, device = [], [], ""
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            means, device = by_second_method(program)
            theirs.append(means)
            ours.append(by_harness(harness, plugin, pathlib.Path(folder)))
    rows = compare(ours, theirs, options.within)
    print(json.dumps({"device": device, "rounds": options.rounds, "results": rows}, indent=1))
    return 0 if all(row["within"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
