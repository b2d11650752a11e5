#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CTest ci.check_gpu: what ci/gpu.sh measures is what was predicted, and its table says both.

    tests/ci/check_gpu.py HARNESS SOURCE_FOLDER

Each row of ci/gpu_predictions.json is a case of suite `gpu`, by a variant of that arithmetic; what
gpu_table.py prints of some records has the best of ours, the prediction, and ratios; rows and roofs
have a reason each, and the folder's own predictions go over those beside the script. U-02.
"""
import fnmatch
import json
import pathlib
import subprocess
import sys
import tempfile


def fits(select, row, variants):
    """Whether a selection of the suite has the row's size, by a variant of the row's arithmetic."""
    sizes = (pair.split("=") for pair in row["dims"].split(","))
    if any(int(size) not in select["dims"].get(name, [int(size)]) for name, size in sizes):
        return False
    names = [v["name"] for v in variants if v["math"] == row["math"] and v["name"].startswith(row["kernel"] + "/")]
    # Globs of the command line have ! for "none of", as those of Python.
    return any(fnmatch.fnmatchcase(name, f) or name.startswith(f + "/") for name in names for f in select["filters"])


def unmeasured(harness, source):
    """Predictions that the suite does not measure; None where this build lacks CUDA variants: all, or,
    as on the host layer, those of sm_90a."""
    told = subprocess.run([harness, "list", "variants", "--json"], capture_output=True, text=True, check=True).stdout
    variants = [v for v in json.loads(told)["variants"] if v.get("device") == "cuda" and not v.get("vendor")]
    if not any("/cuda_wgmma" in v["name"] for v in variants):
        return None
    suite = json.loads((source / "harness/launch/suites/gpu.json").read_text())
    rows = json.loads((source / "ci/gpu_predictions.json").read_text())["rows"]
    return [f"{row['kernel']} {row['math']} {row['dims']}" for row in rows
            if not any(fits(select, row, variants) for select in suite["select"])]


SIZE = "batch=1,seq=4096,heads=16,headdim=64"


def measurement(variant, math, us, kernel="attention/causal", **more):
    key = f"{kernel}/{variant}/{math}/{SIZE}/cuda/warm"
    return dict({"key": key, "outcome": "OK", "samples_ns": [us * 2000, us * 2000, us * 9000], "batch": 2,
                 "flops": 34359738368, "bytes": 33554432}, **more)


# One line for each size and arithmetic: the best of ours, what was predicted and its share.
WANTED = [f"attention/causal bf16 {SIZE} cuda_wgmma_bf16 80.0 429.5 TFLOP/s 90.4 (1.13) 1.25 (cublas_bf16) 1.50 (eager)",
          f"attention/causal fp8 {SIZE} cuda_wgmma_fp8 100.0 343.6 TFLOP/s 98.0 (0.98) - -",
          f"attention/full bf16 {SIZE} cuda_wgmma_bf16 160.0 214.7 TFLOP/s 184.0 (1.15) later - -",
          "cuBLAS/ours: geometric mean 1.25 over 1 rows",
          "PyTorch/ours: geometric mean 1.50 over 1 rows",
          "roof wgmma.fp8: 1.584e+15 FLOP/s, 0.90 of the predicted 1.76e+15 FLOP/s"]
# What a folder has of its own goes over these.
OWN = {"rows": [{"kernel": "attention/causal", "math": "bf16", "dims": SIZE, "us": 40}],
       "roofs": [{"name": "wgmma.tf32", "unit": "FLOP/s", "value": 2}]}
WANTED_OF_OWN = ["80.0 429.5 TFLOP/s 40.0 (0.50) 1.25", "100.0 343.6 TFLOP/s - - -",
                 "160.0 214.7 TFLOP/s - - -", "", "",
                 "roof wgmma.tf32: not measured here; the predicted 2 FLOP/s"]


def unexplained(source):
    """What is predicted without a reason, or twice."""
    found = json.loads((source / "ci/gpu_predictions.json").read_text())
    rows = [(r["kernel"], r["math"], r["dims"]) for r in found["rows"]]
    return [f"predicted twice: {row}" for row in set(rows) if rows.count(row) > 1] + \
        [f"predicted without a reason: {each}" for each in found["rows"] + found["roofs"] if not each.get("why")]


def table(source, *wrong, own=None):
    """(exit status, lines without the width of columns)."""
    rows = [measurement("cuda_wgmma_bf16", "bf16", 80), measurement("cuda_flash_bf16", "bf16", 95),
            measurement("cublas_bf16", "bf16", 100, vendor=True), measurement("cuda_wgmma_fp8", "fp8", 100),
            measurement("cuda_wgmma_bf16", "bf16", 160, kernel="attention/full"), *wrong]
    ceilings = [{"name": "wgmma.fp8", "device": "cuda", "value": 1.584e15}]
    dims = dict((name, int(size)) for name, size in (pair.split("=") for pair in SIZE.split(",")))
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "measure-stream.json").write_text(
            json.dumps({"runs": [{"measurements": rows}], "ceilings": ceilings}))
        if own:
            pathlib.Path(folder, "gpu_predictions.json").write_text(json.dumps(own))
        pathlib.Path(folder, "torch-eager.json").write_text(json.dumps({"results": [
            {"kernel": "attention/causal", "math": "bf16", "dims": dims, "mode": "eager", "median_ns": 120000}]}))
        told = subprocess.run([sys.executable, source / "ci/gpu_table.py", folder], capture_output=True, text=True)
        kept = json.loads(pathlib.Path(folder, "table.json").read_text())
    if len(kept["rows"]) != 3 or len(kept["not_right"]) != len(wrong):
        print(f"table.json has {len(kept['rows'])} rows and {kept['not_right']}")
    return told.returncode, [" ".join(line.split()) for line in told.stdout.splitlines()[1:]]


def broken(source, text):
    """(exit status, complaint) where a file has that in place of records."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "measure-stream.json").write_text(text)
        told = subprocess.run([sys.executable, source / "ci/gpu_table.py", folder], capture_output=True, text=True)
    return told.returncode, told.stderr


def main():
    harness, source = sys.argv[1], pathlib.Path(sys.argv[2])
    bad = unmeasured(harness, source)
    if bad is None:
        print("no CUDA variants of sm_90a here: predictions are not held against the suite")
    bad = [f"predicted, and suite gpu does not measure it: {row}" for row in bad or []] + unexplained(source)
    status, lines = table(source)
    if (status, lines) != (0, WANTED):
        bad += [f"the table ends with {status} and says", *lines]
    status, lines = table(source, own=OWN)
    if status != 0 or not all(want in line for want, line in zip(WANTED_OF_OWN, lines, strict=True)):
        bad += [f"with predictions of its own the table ends with {status} and says", *lines]
    status, lines = table(source, measurement("cuda_naive", "fp32", 1, outcome="WRONG", message="off by 3"))
    if status != 1 or not any(line.startswith("WRONG attention/causal/cuda_naive/") for line in lines):
        bad += [f"a variant that is wrong ends the table with {status}", *lines]
    for text in ('{"runs": [', '{"runs": 3}', "[]"):
        status, said = broken(source, text)
        if status != 2 or "measure-stream.json cannot be read" not in said or "Traceback" in said:
            bad += [f"a file with {text} ends the table with {status} and says", said]
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
