#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CTest ci.check_methods: what the scripts that are run by hand make of numbers.

    tests/ci/check_methods.py HARNESS SOURCE_FOLDER

ci/nvbench_method.py holds means against each other.
"""
import pathlib
import sys

sys.dont_write_bytecode = True
COPIES = {"benchmarks": [{"name": "method/copy/plain/fp32/rows=1,columns=1/cuda/cold", "timing": {"mean": 0.002}},
                         {"name": "method/copy/plain/fp32/rows=1,columns=1/cuda/warm", "timing": {"mean": 0.001}}]}


def cases(method):
    """(what it gives, what it should)."""
    ours = method.means_of(COPIES)
    theirs = {case: ns * factor for (case, ns), factor in zip(ours.items(), (1.005, 1.02))}
    return [
        (ours, {(1, 1, "cold"): 2000.0, (1, 1, "warm"): 1000.0}),
        ([row["within"] for row in method.compare([ours] * 3, [theirs] * 3, 1)], [True, False]),
        ([row["within"] for row in method.compare([ours] * 3, [theirs] * 3, 3)], [True, True]),
    ]


def main():
    sys.path.insert(0, str(pathlib.Path(sys.argv[2]) / "ci"))
    import nvbench_method

    wrong = [f"{given} instead of {wanted}" for given, wanted in cases(nvbench_method) if given != wanted]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
