#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CTest ci.check_methods: what the scripts that are run by hand make of numbers.

    tests/ci/check_methods.py HARNESS SOURCE_FOLDER

ci/nvbench_method.py holds means against each other, ci/tune_rates.py winners against the best,
ci/gpu_races.py plans against winners.
"""
import itertools
import math
import pathlib
import sys

sys.dont_write_bytecode = True
COPIES = {"benchmarks": [{"name": "method/copy/plain/fp32/rows=1,columns=1/cuda/cold", "timing": {"mean": 0.002}},
                         {"name": "method/copy/plain/fp32/rows=1,columns=1/cuda/warm", "timing": {"mean": 0.001}}]}


def measured(variant, launch, samples, outcome="OK"):
    """A measurement of a run."""
    return {"key": f"gemm/nn/{variant}/fp32/batch=1/cpu-1t/warm", "outcome": outcome, "launch": launch,
            "batch": 2, "samples_ns": samples}


# A launch that was disturbed has more samples, and counts as the others do.
RUN = {"measurements": [
    measured("simd:depth=64:height=8", 0, [4, 4, 4]), measured("simd:depth=64:height=8", 1, [8] * 9),
    measured("simd:depth=9:height=8", 0, [2]), measured("simd:depth=9:height=8", 1, [2], "WRONG"),
    measured("simd:depth=8:height=8", 0, [2]), measured("simd", 0, [2]), measured("simd", 1, [2]),
]}


def logs(noise, **levels):
    """{setting: logs of 40 launches}: a launch hits all alike, and the settings differ by the noise."""
    return {name: [level + 0.1 * (i % 3) + noise * ((-1) ** (i // (1 + at))) for i in range(40)]
            for at, (name, level) in enumerate(levels.items())}


def judged(rates, noise, levels, winners, share=0.3):
    """How many are good, how many by the point value, and the status."""
    found = rates.judge(logs(noise, **levels), winners)
    return found["good"], found["near"], rates.status_of(found, len(winners), share)


def ceil_div(a, b):
    return -(-a // b)


def codes_of(shape, params, l1, l2, rows):
    """How many different codes the settings of a shape are, by terms_of() and cut_of() of
    kernels/gemm/gemm_simd.c with caches of so many KiB and tiles of so many rows, one thread."""
    dims = {name: int(value) for name, value in (pair.split("=") for pair in shape.split(","))}
    values = [[int(v) for v in p.split("=")[1].split(",")] for p in params]
    k, tiles, codes, nr = dims["k"], ceil_div(dims["batch"] * dims["seq"], rows), set(), 0
    for depth, height in itertools.product(*values):
        most = depth or l1 * 256 // rows
        terms = k if k <= most else ceil_div(ceil_div(k, ceil_div(k, most)), 16) * 16
        codes.add((terms, ceil_div(tiles, height or max(1, 2 * l2 * 256 // (rows * terms)))))
        nr += 1
    return nr, len(codes)


def cases_of_grids(rates):
    """Each setting is a code of its own, on whatever machine."""
    for shape, params in rates.SHAPES.items():
        for l1, l2, rows in itertools.product((32, 48, 64), (512, 1024, 2048), (6, 8)):
            nr, codes = codes_of(shape, params, l1, l2, rows)
            yield codes, nr
    # As it was: heights above all tiles, and depths above k.
    yield codes_of("batch=1,seq=64,n=512,k=2048", ("depth=0,128,256,512,1024", "height=0,8,128"), 32, 1024, 8), (15, 4)


def cases_of_rates(rates):
    quiet, near, far = 0.002, {"a": 0, "b": 0.009, "c": 0.3}, {"a": 0, "b": 0.02, "c": 0.3}
    return [
        ({s: [round(math.exp(x), 9) for x in t] for s, t in rates.logs_of(RUN).items()}, {"depth=64,height=8": [2, 4]}),
        (rates.shape_options("batch=1,seq=2,n=3,k=4"), ["--batch=1", "--seq=2", "--dim=n=3", "--dim=k=4"]),
        (rates.suite_of("batch=1,seq=2,n=3,k=4")["select"][0]["dims"], {"batch": [1], "seq": [2], "n": [3], "k": [4]}),
        ([round(rates.t_bound(df), 2) for df in (9, 39)], [2.26, 2.02]),
        ([rates.plan_rounds(15, sigma) for sigma in (0.003, 0.01, 0.02)], [3, 32, 128]),
        (round(rates.noise_of(logs(0.01, a=0, b=0, c=1, d=2)), 3), 0.01),
        (judged(rates, quiet, near, ["a"] * 20), (20, 20, 0)),
        (judged(rates, quiet, near, ["a"] * 20, share=0.4), (20, 20, 1)),
        (judged(rates, quiet, near, ["a", "b"]), (2, 2, 0)),
        (judged(rates, quiet, far, ["a", "b", "b"]), (1, 1, 1)),
        # In noise, what is 2 % behind may be within 1 %; what is 30 % behind is not.
        (judged(rates, 0.03, far, ["a", "b"]), (2, 1, rates.UNDECIDED)),
        (judged(rates, 0.03, far, ["a", "a"]), (2, 2, rates.UNDECIDED)),
        (judged(rates, 0.03, far, ["a", "c"]), (1, 1, 1)),
        (judged(rates, 0.03, {"a": 0, "b": 0.3}, ["a"]), (1, 1, 0)),
    ]


def cases_of_method(method):
    ours = method.means_of(COPIES)
    theirs = {case: ns * factor for (case, ns), factor in zip(ours.items(), (1.005, 1.02))}
    return [
        (ours, {(1, 1, "cold"): 2000.0, (1, 1, "warm"): 1000.0}),
        ([row["within"] for row in method.compare([ours] * 3, [theirs] * 3, 1)], [True, False]),
        ([row["within"] for row in method.compare([ours] * 3, [theirs] * 3, 3)], [True, True]),
    ]


def raced(winner, decided=True, **settings):
    """A race of `harness tune --json`: of each setting, as tile_0_split_0, what it is."""
    words = {"state": "slower", "outcome": "OK"}
    return {"key": "KEY", "setting": winner, "decided": decided, "settings": [
        {**words, "setting": name.replace("_0", "=0").replace("_1", "=1").replace("_split", ",split"), **told}
        for name, told in settings.items()]}


def cases_of_races(races):
    behind = {"behind": 0.031, "interval": {"low": 0.02, "high": None}}
    best, out = {"state": "leads"}, {"state": "out", "outcome": "WRONG", "message": "off by 3"}
    return [
        (races.line_of(raced("tile=1", tile_0=behind, tile_1=best)),
         (True, "BEHIND KEY: the plan is +3.1 % (+2.0 % to ?) behind tile=1")),
        (races.line_of(raced("tile=1,split=0", False, tile_0_split_0={"behind": 0.01}, tile_1_split_0=best)),
         (False, "KEY: the plan is +1.0 % (? to ?) behind tile=1,split=0, not decided")),
        (races.line_of(raced("tile=0", tile_0=best, tile_1=behind)),
         (False, "KEY: the plan is the fastest")),
        (races.line_of(raced("tile=1", tile_0=out, tile_1=best)), (None, "KEY: the plan is ? (? to ?) behind tile=1")),
        (races.line_of({"key": "KEY", "decided": False, "settings": []}), (None, "KEY: no setting is supported here")),
        (races.wrong_of(raced("tile=1", tile_0=out, tile_1=best)), ["WRONG KEY tile=0: off by 3"]),
    ]


def main():
    sys.path.insert(0, str(pathlib.Path(sys.argv[2]) / "ci"))
    import gpu_races
    import nvbench_method
    import tune_rates

    cases = [*cases_of_rates(tune_rates), *cases_of_grids(tune_rates), *cases_of_method(nvbench_method),
             *cases_of_races(gpu_races)]
    wrong = [f"{given} instead of {wanted}" for given, wanted in cases if given != wanted]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
