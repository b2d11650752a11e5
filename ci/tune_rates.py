#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How good `harness tune` is on this machine's own times, for the CPU kernels of this tree.

    ci/tune_rates.py [--repeats N] [--launches N] [--device DEVICE] [--param NAME=LIST]... [--shape DIMS]...

For each shape of gemm/nn all settings of `simd` are measured in every one of N fresh processes
(40), each as long as a race does: who tries all does that, and knows the best by it. Then
`harness tune` races N times (20), each for a third of that time at most.

Prints Markdown, a line a shape: how much a setting differs from round to round (noise), how many
winners are within 1 % of the best, how many of them by what was measured, how far the worst of them
is behind it, with its 95 % interval over the launches, the time of a race over that of trying all,
and over that of a plan of as many rounds as the promise needs with this noise (docs/tuning.md). A
winner counts as worse where its whole interval is above 1 %; by what was measured, where the middle
of the interval is.

Half an hour to an hour, all shapes together; --shape takes single ones. Nothing else should run.
Exit status: 0 as wanted, 1 not, 2 failed, 77 cannot tell: an interval is wider than 0.5 % to either
side, so the machine is too noisy, or the launches are too few. HARNESS names a program to take
instead of the built one.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Good and bad settings, each of which cuts its product in another way (kernels/gemm/gemm_simd.c): a
# race cannot tell apart what is the same code. So no depth is cut away by k, and no height by m.
CUTS = ("depth=64,128,256,512,1024", "height=0,2,8")
SHAPES = {
    "batch=1,seq=64,n=512,k=2048": ("depth=64,128,256,512,1024,2048", "height=0,2"),
    "batch=1,seq=128,n=256,k=4096": CUTS,
    "batch=2,seq=64,n=768,k=768": CUTS,
    "batch=1,seq=256,n=1024,k=1024": CUTS,
}
# As `harness tune` samples, whatever a run does by itself.
SAMPLING = {"min_time": "10ms", "max_time": "100ms", "warmup": "10ms", "max_samples": 1000}
# What is wanted: winners within 1 % of the best in all repeats, in a third of the time; and how well
# that has to be known.
WITHIN, SHARE, KNOWN = 0.01, 1 / 3, 0.005
LEAST_LAUNCHES = 10
UNDECIDED = 77
NORMAL = statistics.NormalDist()


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


def dims_of(shape):
    """{name: value} of "batch=1,seq=64"."""
    return dict(pair.split("=") for pair in shape.split(","))


def suite_of(shape):
    """What tries all."""
    dims = {name: [int(value)] for name, value in dims_of(shape).items()}
    return {"name": "tune-rates", "sampling": SAMPLING,
            "select": [{"filters": ["gemm/nn/simd:*"], "dims": dims}]}


def shape_options(shape):
    """The same for a race."""
    dims = dims_of(shape)
    own = [f"--{name}={dims.pop(name)}" for name in ("batch", "seq")]
    return own + [f"--dim={name}={value}" for name, value in dims.items()]


def logs_of(run):
    """{setting: logs of its ns, launch by launch} of a run's records, of what was right in all.
    The name gemm/nn/simd:depth=64:height=8/... has the setting."""
    times = {}
    for m in run["measurements"]:
        setting = ",".join(m["key"].split("/")[2].split(":")[1:])
        if m["outcome"] == "OK" and setting:
            ns = statistics.median(m["samples_ns"]) / m["batch"]
            times.setdefault(setting, {})[m["launch"]] = math.log(ns)
    launches = sorted({m["launch"] for m in run["measurements"]})
    return {s: [t[i] for i in launches] for s, t in times.items() if len(t) == len(launches)}


def t_bound(df):
    """Student's t that 2.5 % exceed, from the normal one (Abramowitz and Stegun 26.7.5)."""
    z = NORMAL.inv_cdf(0.975)
    return (z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)
            + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * df**3))


def distance(logs, setting, best):
    """How much slower than the best, and half of that interval: what a launch does to both cancels."""
    differences = [a - b for a, b in zip(logs[setting], logs[best])]
    half = t_bound(len(differences) - 1) * statistics.stdev(differences) / math.sqrt(len(differences))
    return statistics.mean(differences), half


def noise_of(logs):
    """sd of a setting in a launch, without what all settings of the launch have in common."""
    levels = {s: statistics.mean(values) for s, values in logs.items()}
    launches = [statistics.mean(values) for values in zip(*logs.values())]
    middle = statistics.mean(launches)
    squares = sum((x - levels[s] - launches[i] + middle) ** 2
                  for s, values in logs.items() for i, x in enumerate(values))
    return math.sqrt(squares / ((len(logs) - 1) * (len(launches) - 1)))


def plan_rounds(settings, noise):
    """Rounds for every setting that keep a race's promise, as tests/statistics/statistics_race.c has
    it: each told from the best to within the tolerance, nine times in ten."""
    reach = NORMAL.inv_cdf(1 - 0.05 / (settings - 1)) + NORMAL.inv_cdf(0.9)
    return max(3, math.ceil((reach * math.sqrt(2) * noise / math.log1p(WITHIN)) ** 2))


def judge(logs, winners):
    """What the winners are beside the best: how many are within 1 %, and how many by the point value,
    the worst one's distance and half of its interval, and whether any interval is too wide to tell;
    also that of the second best, by which the best is known to be it."""
    order = sorted(logs, key=lambda s: statistics.mean(logs[s]))
    behind = {s: distance(logs, s, order[0]) for s in {*winners, order[1]} - {order[0]}}
    out = {s for s, (mean, half) in behind.items() if mean - half > math.log1p(WITHIN)}
    behind[order[0]] = (0, 0)
    worst, half = max(behind[w] for w in winners)
    return {"good": sum(w not in out for w in winners), "worst": worst, "half": half,
            "near": sum(behind[w][0] <= math.log1p(WITHIN) for w in winners),
            "unclear": any(half > KNOWN for s, (_, half) in behind.items() if s not in out)}


def status_of(judged, repeats, share):
    """0 as wanted, 1 not, 77 cannot tell."""
    if judged["good"] < repeats or share > SHARE:
        return 1
    return UNDECIDED if judged["unclear"] else 0


def try_all(harness, shape, common, options, folder):
    """The logs of all settings, and s that it took."""
    suite = folder / "suite.json"
    suite.write_text(json.dumps(suite_of(shape)), encoding="utf-8")
    run = call(harness, ["run", "--suite", suite, *common, "--launches", str(options.launches),
                         "--no-repeat", "--json"])["runs"][0]
    logs = logs_of(run)
    if len(logs) < 2:
        fail(f"{shape}: fewer than two settings are right in all launches")
    return logs, (run["ended_ms"] - run["started_ms"]) / 1000


def race_all(harness, shape, common, options, seconds):
    """What each race says. One may take a third of the seconds, of which the round that is going on
    when they are spent takes the last."""
    budget = seconds * (SHARE - 1 / options.launches)
    return [call(harness, ["tune", "gemm/nn/simd", *shape_options(shape), *common, "--rounds",
                           str(options.launches), "--budget", f"{budget:.3f}s", "--seed", str(seed), "--json"],
                 (0, UNDECIDED)) for seed in range(1, options.repeats + 1)]


def row_of(harness, shape, options, folder):
    """A line of the table, and the status."""
    params = options.param or SHAPES.get(shape, CUTS)
    common = [*(f"--param={p}" for p in params), "--device", options.device, "--db", folder / "history.db"]
    logs, seconds = try_all(harness, shape, common, options, folder)
    races = race_all(harness, shape, common, options, seconds)
    winners = [told["races"][0]["setting"] for told in races]
    for winner in set(winners) - set(logs):
        fail(f"{shape}: {winner} has won, and was not right in every launch of all")
    judged, noise = judge(logs, winners), noise_of(logs)
    share = statistics.mean(told["seconds"] for told in races) / seconds
    planned = share * options.launches / plan_rounds(len(logs), noise)
    undecided = sum(not told["races"][0]["decided"] for told in races)
    line = (f"| {shape} | {len(logs)} | {100 * noise:.1f} % | {judged['good']} of {len(winners)} | "
            f"{judged['near']} | {100 * judged['worst']:.1f} ± {100 * judged['half']:.1f} % | {100 * share:.0f} % | "
            f"{100 * planned:.0f} % | {undecided} |")
    return line, status_of(judged, len(winners), share)


def options_given():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--launches", type=int, default=40)
    parser.add_argument("--device", default="cpu:1")
    parser.add_argument("--param", action="append", metavar="NAME=LIST")
    parser.add_argument("--shape", action="append", metavar="DIMS")
    options = parser.parse_args()
    for shape in options.shape or ():
        if [pair.split("=")[0] for pair in shape.split(",")] != ["batch", "seq", "n", "k"]:
            fail(f"--shape {shape}: give batch=N,seq=N,n=N,k=N")
    if options.launches < LEAST_LAUNCHES or options.repeats < 1:
        fail(f"--launches is {LEAST_LAUNCHES} or more, and --repeats 1 or more")
    return options


def main():
    options = options_given()
    harness = os.environ.get("HARNESS") or ROOT / "build/release/harness"
    if not pathlib.Path(harness).exists():
        fail(f"no program {harness}: build it, or set HARNESS")
    found = set()
    print("| shape | settings | noise | within 1 % of the best | by the point value | worst | "
          "time of trying all | of the plan's | not decided |\n|---|---|---|---|---|---|---|---|---|")
    for shape in options.shape or SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            line, status = row_of(harness, shape, options, pathlib.Path(folder))
        print(line, flush=True)
        found.add(status)
    says = {0: "yes", 1: "no", UNDECIDED: "cannot tell, the machine is too noisy or the launches are too few"}
    worst = next(status for status in (1, UNDECIDED, 0) if status in found)
    print(f"\nWanted: all within 1 %, in {100 * SHARE:.0f} % of the time at most: {says[worst]}")
    return worst


if __name__ == "__main__":
    sys.exit(main())
