# SPDX-License-Identifier: MIT
"""The short table of ci/gpu.sh: own CUDA variants beside cuBLAS and PyTorch.

    python3 gpu_table.py FOLDER

reads the records that `harness run --json` wrote there (measure-*.json, anchors-*.json) and what
gpu_torch.py wrote (torch-*.json), prints a line for each size and arithmetic, and writes the same
as table.json. Beside each stands what was predicted before it was measured (gpu_predictions.json). Ratios are their time over ours: above 1 we are faster. They compare medians over
everything that was measured in this folder; the history has the samples.

Exit status: 0; 1 if a result was WRONG or FAILED; 2 for a file that cannot be read.
"""
import glob
import json
import math
import os
import statistics
import sys


class Broken(Exception):
    """A file that is cut, or of something else."""


def each(pattern, use):
    for path in sorted(glob.glob(pattern)):
        try:
            with open(path, encoding="utf-8") as file:
                use(json.load(file))
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise Broken(f"{path} cannot be read, it is cut or of something else: "
                         f"{type(error).__name__}: {error}") from error


def parts_of(key):
    """gemm/linear/cuda_simt/fp32/batch=1,.../cuda/warm, where the kernel has slashes itself."""
    kernel, variant, arithmetic, dims, device, cache = key.rsplit("/", 5)
    return kernel, variant, arithmetic, dims, device, cache


class Case:
    """One kernel at one size, arithmetic and cache state: times in ns by who took them."""

    def __init__(self):
        self.ours, self.vendor, self.torch, self.flops, self.bytes = {}, {}, {}, 0, 0

    def add(self, group, name, ns):
        group.setdefault(name, []).append(ns)

    @staticmethod
    def best(group):
        """(name, median) of the fastest; (None, None) where there is none."""
        times = {name: statistics.median(ns) for name, ns in group.items()}
        return min(times.items(), key=lambda item: item[1]) if times else (None, None)


def add_ours(cases, bad, records):
    for m in (m for run in records["runs"] for m in run["measurements"]):
        if m["outcome"] in ("WRONG", "FAILED"):
            bad[m["key"]] = f"{m['outcome']} {m['key']}: {m.get('message', '')}"
        if m["outcome"] != "OK" or not m.get("samples_ns"):
            continue
        kernel, variant, arithmetic, dims, device, cache = parts_of(m["key"])
        case = cases.setdefault((kernel, arithmetic, dims, cache), Case())
        case.flops, case.bytes = m["flops"], m["bytes"]
        name = variant + (" graph" if device.endswith("-graph") else "")
        ns = statistics.median(m["samples_ns"]) / m["batch"]
        case.add(case.vendor if m.get("vendor") else case.ours, name, ns)


def add_torch(cases, record):
    for r in record["results"]:
        dims = ",".join(f"{name}={value}" for name, value in r["dims"].items())
        case = cases.get((r["kernel"], r["math"], dims, "warm"))
        if case:
            case.add(case.torch, r["mode"], r["median_ns"])


def add_all(cases, bad, folder):
    for stage in ("measure", "anchors"):
        each(os.path.join(folder, f"{stage}-*.json"), lambda records: add_ours(cases, bad, records))
    each(os.path.join(folder, "torch-*.json"), lambda record: add_torch(cases, record))


def predictions():
    """Microseconds by (kernel, math, dims), of the caches as they are."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu_predictions.json")
    with open(path, encoding="utf-8") as file:
        return {(r["kernel"], r["math"], r["dims"]): r["us"] for r in json.load(file)["rows"]}


def rate(case, ns):
    """What tells most: TFLOP/s where there is arithmetic to speak of, else GB/s."""
    if case.flops > 8 * case.bytes:
        return f"{case.flops / ns / 1e3:.1f} TFLOP/s"
    return f"{case.bytes / ns:.0f} GB/s"


def row_of(key, case, predicted):
    kernel, arithmetic, dims, cache = key
    variant, ns = case.best(case.ours)
    row = {"kernel": kernel, "math": arithmetic, "dims": dims, "cache": cache, "variant": variant,
           "us": ns / 1e3, "rate": rate(case, ns),
           "predicted_us": predicted.get((kernel, arithmetic, dims)) if cache == "warm" else None}
    for label, group in (("vendor", case.vendor), ("torch", case.torch)):
        name, theirs = case.best(group)
        row[label] = name
        row[label + "_ratio"] = theirs / ns if name else None
    for label, group in (("ours", case.ours), ("vendors", case.vendor), ("torchs", case.torch)):
        row[f"{label}_us"] = {name: statistics.median(ns) / 1e3 for name, ns in group.items()}
    return row


def ratio_text(row, label):
    ratio = row[label + "_ratio"]
    return f"{ratio:.2f} ({row[label]})" if ratio else "-"


def predicted_text(row):
    us = row["predicted_us"]
    return f"{us:.1f} ({us / row['us']:.2f})" if us else "-"


def print_table(rows):
    lines = [("what", "best", "us", "rate", "predicted", "cuBLAS/ours", "PyTorch/ours")]
    for r in rows:
        cold = " cold" if r["cache"] == "cold" else ""
        lines.append((f"{r['kernel']} {r['math']} {r['dims']}{cold}", r["variant"],
                      f"{r['us']:.1f}", r["rate"], predicted_text(r), ratio_text(r, "vendor"),
                      ratio_text(r, "torch")))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())


def print_means(rows):
    for label, name in (("vendor", "cuBLAS"), ("torch", "PyTorch")):
        ratios = [r[label + "_ratio"] for r in rows if r[label + "_ratio"]]
        if ratios:
            mean = math.exp(statistics.fmean(math.log(x) for x in ratios))
            print(f"{name}/ours: geometric mean {mean:.2f} over {len(ratios)} rows")


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    cases, bad = {}, {}
    try:
        add_all(cases, bad, sys.argv[1])
    except Broken as error:
        print(f"gpu_table.py: {error}", file=sys.stderr)
        return 2
    predicted = predictions()
    rows = [row_of(key, case, predicted) for key, case in sorted(cases.items()) if case.ours]
    print_table(rows)
    print_means(rows)
    for line in bad.values():
        print(line)
    with open(os.path.join(sys.argv[1], "table.json"), "w", encoding="utf-8") as file:
        json.dump({"schema_version": 1, "rows": rows, "not_right": sorted(bad)}, file, indent=1)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
