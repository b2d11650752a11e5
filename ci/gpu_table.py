# SPDX-License-Identifier: MIT
"""The short table of ci/gpu.sh: own CUDA variants beside cuBLAS and PyTorch.

    python3 gpu_table.py FOLDER

reads the records that `harness run --json` wrote there (measure-*.json, anchors-*.json) and what
gpu_torch.py wrote (torch-*.json), prints a line for each size and arithmetic, and writes the same
as table.json. Beside each stands what was predicted (gpu_predictions.json, of the folder if it is
there, else beside this script): before it was measured, or "later", where that was derived when a
measurement was known. Roofs that were predicted have a line each. Ratios are their time over ours:
above 1 we are faster. They compare medians over everything that was measured in this folder; the
history has the samples.

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


def add_roofs(roofs, records):
    roofs.update({r["name"]: r["value"] for r in records.get("ceilings", []) if r["device"] == "cuda"})


def add_torch(cases, record):
    for r in record["results"]:
        dims = ",".join(f"{name}={value}" for name, value in r["dims"].items())
        case = cases.get((r["kernel"], r["math"], dims, "warm"))
        if case:
            case.add(case.torch, r["mode"], r["median_ns"])


def add_all(cases, bad, roofs, folder):
    def use(records):
        add_ours(cases, bad, records)
        add_roofs(roofs, records)
    for stage in ("measure", "anchors"):
        each(os.path.join(folder, f"{stage}-*.json"), use)
    each(os.path.join(folder, "torch-*.json"), lambda record: add_torch(cases, record))


def predictions(folder):
    """What is predicted: rows by (kernel, math, dims), of the caches as they are; and roofs by name."""
    name = "gpu_predictions.json"
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    rows, roofs = {}, {}

    def use(found):
        rows.update({(r["kernel"], r["math"], r["dims"]): r for r in found["rows"]})
        roofs.update({r["name"]: r for r in found.get("roofs", [])})
    each(path, use)
    return rows, roofs


def rate(case, ns):
    """What tells most: TFLOP/s where there is arithmetic to speak of, else GB/s."""
    if case.flops > 8 * case.bytes:
        return f"{case.flops / ns / 1e3:.1f} TFLOP/s"
    return f"{case.bytes / ns:.0f} GB/s"


def row_of(key, case, predicted):
    kernel, arithmetic, dims, cache = key
    variant, ns = case.best(case.ours)
    expected = predicted.get((kernel, arithmetic, dims), {}) if cache == "warm" else {}
    row = {"kernel": kernel, "math": arithmetic, "dims": dims, "cache": cache, "variant": variant,
           "us": ns / 1e3, "rate": rate(case, ns),
           "predicted_us": expected.get("us"), "predicted_later": expected.get("later", False)}
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
    return f"{us:.1f} ({us / row['us']:.2f})" + " later" * row["predicted_later"] if us else "-"


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


def roofs_of(measured, predicted):
    return [{"name": name, "unit": p["unit"], "measured": measured.get(name), "predicted": p["value"]}
            for name, p in predicted.items()]


def print_roofs(roofs):
    for r in roofs:
        got = r["measured"]
        text = f"{got:.4g} {r['unit']}, {got / r['predicted']:.2f} of" if got else "not measured here;"
        print(f"roof {r['name']}: {text} the predicted {r['predicted']:.4g} {r['unit']}")


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    cases, bad, measured = {}, {}, {}
    try:
        add_all(cases, bad, measured, sys.argv[1])
        predicted, roofs = predictions(sys.argv[1])
    except Broken as error:
        print(f"gpu_table.py: {error}", file=sys.stderr)
        return 2
    rows = [row_of(key, case, predicted) for key, case in sorted(cases.items()) if case.ours]
    print_table(rows)
    print_means(rows)
    roofs = roofs_of(measured, roofs)
    print_roofs(roofs)
    for line in bad.values():
        print(line)
    with open(os.path.join(sys.argv[1], "table.json"), "w", encoding="utf-8") as file:
        json.dump({"schema_version": 1, "rows": rows, "roofs": roofs, "not_right": sorted(bad)}, file,
                  indent=1)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
