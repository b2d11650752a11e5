#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CTest ci.check_methods: what the scripts that are run by hand make of numbers.

    tests/ci/check_methods.py HARNESS SOURCE_FOLDER

ci/nvbench_method.py holds means against each other, ci/tune_rates.py winners against the best.
"""
import pathlib
import sys

sys.dont_write_bytecode = True
SUMMARY = {"benchmarks": [
    {"name": "gemm/nn/simd:depth=64:height=8/fp32/batch=1/cpu-1t/warm", "outcome": "OK", "timing": {"median": 2.0}},
    {"name": "gemm/nn/simd:depth=0:height=8/fp32/batch=1/cpu-1t/warm", "outcome": "OK", "timing": {"median": 1.0}},
    {"name": "gemm/nn/simd:depth=9:height=8/fp32/batch=1/cpu-1t/warm", "outcome": "WRONG"},
    {"name": "gemm/nn/simd/fp32/batch=1/cpu-1t/warm", "outcome": "OK", "timing": {"median": 0.5}},
]}
COPIES = {"benchmarks": [{"name": "method/copy/plain/fp32/rows=1,columns=1/cuda/cold", "timing": {"mean": 0.002}},
                         {"name": "method/copy/plain/fp32/rows=1,columns=1/cuda/warm", "timing": {"mean": 0.001}}]}


def cases(method, rates):
    """(what it gives, what it should)."""
    times = rates.medians_of(SUMMARY)
    ours = method.means_of(COPIES)
    theirs = {case: ns * factor for (case, ns), factor in zip(ours.items(), (1.005, 1.02))}
    return [
        (times, {"depth=64,height=8": 2.0, "depth=0,height=8": 1.0}),
        (rates.judge(times, ["depth=0,height=8"] * 3), (3, 0)),
        (rates.judge(times, ["depth=0,height=8", "depth=64,height=8"]), (1, 1)),
        (rates.judge({"a": 1.0, "b": 1.009}, ["b"])[0], 1),
        (rates.options_of("batch=1,seq=2,n=3", ["depth=0,1"], "cpu:1", "x.db"),
         ["--batch=1", "--seq=2", "--dim=n=3", "--param=depth=0,1", "--device", "cpu:1", "--db", "x.db"]),
        (ours, {(1, 1, "cold"): 2000.0, (1, 1, "warm"): 1000.0}),
        ([row["within"] for row in method.compare([ours] * 3, [theirs] * 3, 1)], [True, False]),
        ([row["within"] for row in method.compare([ours] * 3, [theirs] * 3, 3)], [True, True]),
    ]


def main():
    sys.path.insert(0, str(pathlib.Path(sys.argv[2]) / "ci"))
    import nvbench_method
    import tune_rates

    wrong = [f"{given} instead of {wanted}" for given, wanted in cases(nvbench_method, tune_rates) if given != wanted]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
