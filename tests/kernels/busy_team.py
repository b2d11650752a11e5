#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a team of two threads takes over one thread, beside a process that never sleeps.

    busy_team.py [--launches N] [BENCHMARK...]

A shell that counts is bound to one processor, in a session and a scheduling group of its own, then to
the other one, then to none; beside each `harness run` measures every benchmark (the passes of nano and
tile-large, and nano's decode step) with one thread and with two, N fresh processes (8) of each in an
order by lot, and repeats nothing that was disturbed, since that is what it is about. Prints Markdown:
the time of two threads over that of one, by the launches' medians and, as steps are shorter than a time
slice, by their means. Nothing else should run. HARNESS names a program to take instead of the built
one. Exit status: 0, 2 if something failed, 77 with fewer than two processors.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCHMARKS = ("gpt/nano/prefill/simd/fp32/batch=4,seq=64", "gpt/tile-large/prefill/simd/fp32/batch=4,seq=64",
              "gpt/nano/decode/simd/fp32/batch=1,seq=64")
UNDECIDED = 77


@contextlib.contextmanager
def busy(processor):
    """A process that never sleeps, bound there; None: there is none."""
    if processor is None:
        yield
        return
    with subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, {processor})) as process:
        try:
            yield
        finally:
            process.kill()


def dims_of(benchmark):
    return dict(pair.split("=") for pair in benchmark.rsplit("/", 1)[1].split(","))


def measure(harness, benchmark, launches, history):
    """{threads: times of the launches, each a (median, mean)}."""
    dims = dims_of(benchmark)
    command = [harness, "run", benchmark, "--batch", dims["batch"], "--seq", dims["seq"], "--device", "cpu:1,cpu:2",
               "--launches", str(launches), "--no-repeat", "--min-time", "400ms", "--max-time", "800ms",
               "--db", history, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, UNDECIDED):
        sys.exit(f"busy_team.py: {' '.join(command)} ended with {done.returncode}: {done.stderr[-500:]}")
    times = {1: [], 2: []}
    for m in json.loads(done.stdout)["runs"][0]["measurements"]:
        if m["outcome"] == "OK":
            samples = [s / m["batch"] for s in m["samples_ns"]]
            times[1 if "/cpu-1t/" in m["key"] else 2].append((statistics.median(samples),
                                                              statistics.mean(samples)))
    return times


def ratio(times, which):
    one, two = (statistics.mean(t[which] for t in times[threads]) for threads in (1, 2))
    return f"{two / one:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launches", type=int, default=8)
    parser.add_argument("benchmarks", nargs="*", default=BENCHMARKS, metavar="BENCHMARK")
    asked = parser.parse_args()
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < 2:
        print("skipped: there is one processor")
        sys.exit(UNDECIDED)
    harness = os.environ.get("HARNESS") or str(ROOT / "build/release/harness")
    states = [("none taken", None), *((f"processor {p} taken", p) for p in processors[:2])]
    print("| benchmark | " + " | ".join(f"{name}: medians, means" for name, _ in states) + " |")
    print("|---|" + "---|" * len(states))
    with tempfile.TemporaryDirectory() as folder:
        for benchmark in asked.benchmarks:
            cells = []
            for _, processor in states:
                with busy(processor):
                    times = measure(harness, benchmark, asked.launches, f"{folder}/history.db")
                cells.append(f"{ratio(times, 0)}, {ratio(times, 1)}")
            print(f"| {benchmark} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
