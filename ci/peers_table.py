#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of ci/peers.sh: own CPU kernels and forwards beside the peers, as Markdown.

    peers_table.py FOLDER

reads the records that `harness run --json` wrote there (run-*.json) and the peers' versions
(versions.txt), prints the targets, our data types and then every size, and writes the same as
table.json, and as page.md the tables in the form of docs/performance-cpu-records.md. A time is
the median over launches of each launch's median, without those of a disturbed machine where others
are left; a ratio is their time over ours, so above 1 we are faster. Roofs are those that the harness
measured on the same machine.

Exit status: 0, also where a target is missed; 1 if a result was WRONG or FAILED; 2 for bad input.
"""
import glob
import json
import os
import statistics
import sys
from datetime import datetime, timezone

from peers_page import target_lines, type_lines
from peers_targets import TARGETS, is_attention, is_decode, rows_of

OURS = "simd"
NARROW = {"bf16": "simd_bf16", "int8": "simd_int8"}
# Peers that compute in a type of NARROW, as far as a library has it; none has int8 weights beside
# fp32 activations.
NARROW_PEERS = {"bf16": {"onednn_bf16": "oneDNN's bf16", "ggml_bf16": "ggml's bf16",
                         "torch_bf16": "PyTorch's bf16"}, "int8": {}}
BLAS = ("openblas", "blis", "onednn")
# On a virtual machine two processors may be one core for a minute, at all of their processor time.
# The probe, fixed work of as many threads beside each measurement, tells: so many times what it took
# in the quiet tenth of the run.
DISTURBED = 1.25


def is_narrow(variant):
    return variant in NARROW.values() or any(variant in peers for peers in NARROW_PEERS.values())


def threads_of(device):
    return int(device.removeprefix("cpu-").removesuffix("t"))


def probe_of(m):
    telemetry = m.get("telemetry", {})
    return telemetry.get("machine_ns", telemetry.get("probe_ns"))


def quiet_limit(measurements):
    """ns of the probe, above which a measurement of this run is disturbed."""
    probes = sorted(filter(None, map(probe_of, measurements)))
    return DISTURBED * probes[len(probes) // 10] if probes else float("inf")


class Case:
    """One kernel at one size on one device: a time in ns by variant."""

    def __init__(self, kernel, dims, device):
        self.kernel, self.device = kernel, device
        self.dims = {name: int(value) for name, value in (d.split("=") for d in dims.split(","))}
        self.launches, self.disturbed, self.work, self.cpu = {}, {}, {}, []

    def add(self, variant, m, disturbed):
        if variant == OURS:
            self.cpu.append(m.get("telemetry", {}).get("cpu_seconds_per_second"))
        launches = self.disturbed if disturbed else self.launches
        launches.setdefault(variant, []).append(statistics.median(m["samples_ns"]) / m["batch"])
        # Narrower types have fewer bytes; floors and levels are fp32's.
        if not is_narrow(variant) or not self.work:
            self.work = {"flops": m["flops"], "bytes": m["bytes"], "footprint": m["footprint"]}

    def time(self, variant):
        launches = self.launches.get(variant) or self.disturbed.get(variant)
        return statistics.median(launches) if launches else None

    def ratio(self, peers):
        """The fastest of the peers over ours; None where one side is missing."""
        theirs = [t for t in map(self.time, peers) if t]
        ours = self.time(OURS)
        return min(theirs) / ours if theirs and ours else None

    def narrow_ratio(self, dtype, other=OURS):
        """The time of our fp32, or of another variant, over our own in that type."""
        narrow, theirs = self.time(NARROW[dtype]), self.time(other)
        return theirs / narrow if narrow and theirs else None

    def best_blas_ratio(self):
        return self.ratio(BLAS)

    def size(self):
        d = self.dims
        if self.kernel.startswith("gemm"):
            return f"{d['batch'] * d['seq']}×{d['n']}×{d['k']}"
        short = {"batch": "B", "seq": "S", "heads": "H", "headdim": "D", "width": "C"}
        return " ".join(f"{short.get(name, name)}={value}" for name, value in d.items())

    def name(self):
        return f"{self.kernel} {self.size()}"


class Results:
    """Cases, roofs by device, and what was not right."""

    def __init__(self):
        self.cases, self.roofs, self.bad, self.absent = {}, {}, {}, {}
        self.machine, self.build, self.launches, self.probed = {}, {}, {}, {}
        self.day, self.suites = "", []

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            records = json.load(file)
        for run in records["runs"]:
            self.machine, self.build = run["machine"], run["build"]
            if run.get("suite") and run["suite"] not in self.suites:
                self.suites.append(run["suite"])
            if run.get("started_ms"):
                started = datetime.fromtimestamp(run["started_ms"] / 1000, timezone.utc)
                self.day = max(self.day, started.date().isoformat())
            limit = quiet_limit(run["measurements"])
            for m in run["measurements"]:
                self.take(m, limit)
                if m["outcome"] == "OK":
                    self.launches.setdefault(m["key"], set()).add((run["uuid"], m.get("launch", 0)))
        for roof in records["ceilings"]:
            roofs = self.roofs.setdefault(roof["device"], {})
            known = roofs.get(roof["name"])
            if not known or roof["measured_ms"] > known["measured_ms"]:
                roofs[roof["name"]] = roof

    def take(self, m, limit):
        # gemm/linear/simd/fp32/batch=1,.../cpu-1t/warm, where the kernel has slashes itself
        kernel, variant, _, dims, device, _ = m["key"].rsplit("/", 5)
        if m["outcome"] in ("WRONG", "FAILED"):
            self.bad[m["key"]] = f"{m['outcome']} {m['key']}: {m.get('message', '')}"
        if m["outcome"] == "UNSUPPORTED":
            self.absent.setdefault((variant, m.get("message", "")), []).append(m["key"])
        if m["outcome"] == "OK" and m.get("samples_ns"):
            key, probe = (kernel, dims, device), probe_of(m)
            disturbed = probe is not None and probe > limit
            self.cases.setdefault(key, Case(*key)).add(variant, m, disturbed)
            if probe is not None:
                self.probed.setdefault(device, []).append(disturbed)

    def roof(self, device, name):
        return self.roofs.get(device, {}).get(name, {}).get("value")

    def exceeds_l1(self, case):
        """Whether all that a launch touches is more than the L1 of its threads together."""
        return case.work["footprint"] > self.machine.get("l1d", 0) * threads_of(case.device)

    def exceeds_l2(self, case):
        """Whether the weights of a decode step, in fp32, are more than the L2 of its threads
        together. Of the bytes that a step of one sequence moves more than half are weights: the
        cache is 2 S / (12 C + V / L) of them, a sixth at most, and the logits 1 / C of the head."""
        l2 = self.machine.get("l2", 0) * threads_of(case.device)
        return case.dims["batch"] == 1 and 0 < 2 * l2 < case.work["bytes"]

    def level(self, case):
        """Where what a launch touches lies when it is warm."""
        for level in ("l2", "l3"):
            if 0 < case.work["footprint"] <= self.machine.get(level, 0):
                return level.upper()
        return "dram"

    def of_fma(self, case):
        return self.of_flops(case, OURS, "fp32")

    def of_narrow_roof(self, case, dtype):
        """Ours in that type, of the roof of its products (docs/measuring/roofs.md)."""
        return self.of_flops(case, NARROW[dtype], dtype)

    def of_flops(self, case, variant, dtype):
        time, roof = case.time(variant), self.roof(case.device, "flops." + dtype)
        return case.work["flops"] / time / roof * 1e9 if time and roof else None

    def of_copy(self, case):
        return self.of_moving(case, "copy")

    def of_reading(self, case):
        return self.of_moving(case, "read")

    def of_moving(self, case, move):
        time, roof = case.time(OURS), self.roof(case.device, f"{move}.{self.level(case)}")
        return case.work["bytes"] / time / roof * 1e9 if time and roof else None

    def floor(self, case, with_flops, move="bandwidth"):
        """ns: FLOPs over the FMA roof plus weights and logits over the bandwidth of their level."""
        bandwidth = self.roof(case.device, f"{move}.{self.level(case)}")
        peak = self.roof(case.device, "flops.fp32")
        if not bandwidth or not peak:
            return None
        flops = case.work["flops"] / peak if with_flops else 0
        return (flops + case.work["bytes"] / bandwidth) * 1e9

    def over_floor(self, case, with_flops=True, move="bandwidth"):
        floor, time = self.floor(case, with_flops, move), case.time(OURS)
        return time / floor if floor and time else None

    def over_read_floor(self, case):
        """A decode step's: it reads nearly all that it moves."""
        return self.over_floor(case, with_flops=False, move="read")

    def causal_share(self, case):
        """Causal over full time at the same size."""
        dims = ",".join(f"{name}={value}" for name, value in case.dims.items())
        full = self.cases.get(("attention/full", dims, case.device))
        ours = case.time(OURS)
        return ours / full.time(OURS) if full and ours and full.time(OURS) else None

    def cpu_share(self, device):
        """CPU time over what our threads could have used, as a median; None where nobody tells."""
        shares = [x for c in self.cases.values() if c.device == device for x in c.cpu if x]
        return statistics.median(shares) / threads_of(device) if shares else None


def print_row(cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def print_head(*names):
    print_row(names)
    print_row(["---"] * len(names))


def print_targets(rows):
    print_head("what", "against", "device", "sizes", "geometric mean", "worst, and where", "target",
               "reached")
    for r in rows:
        if r["reached"] is None:
            print_row([r["what"], r["against"], r["device"], 0, "-", "-", r["target"],
                       "not measured"])
            continue
        mean, worst = r["mean_text"], f"{r['worst_text']} {r['worst_at']}"
        bold = [f"**{mean}**", worst] if r["counts"] == "mean" else [mean, f"**{worst}**"]
        print_row([r["what"], r["against"], r["device"], r["sizes"], *bold, r["target"],
                   "yes" if r["reached"] else "no"])


KINDS = (("products of one row", lambda c: c.kernel.startswith("gemm/") and rows_of(c) == 1),
         ("products of more rows", lambda c: c.kernel.startswith("gemm/") and rows_of(c) > 1),
         ("attention", is_attention),
         ("layernorm", lambda c: c.kernel.startswith("layernorm/")),
         ("forward", lambda c: c.kernel.endswith("/prefill")),
         ("decode step", is_decode))


def kind_row(results, device, select, dtype, other):
    """Mean and worst of one kind, or nothing where no size has both."""
    found = [(r, c) for c in results.cases.values() if c.device == device and select(c)
             for r in [c.narrow_ratio(dtype, other)] if r]
    if not found:
        return {}
    worst, where = min(found, key=lambda pair: pair[0])
    return {"device": device, "sizes": len(found),
            "mean": statistics.geometric_mean(r for r, _ in found), "worst": worst,
            "worst_at": where.name()}


def kind_rows(results, devices):
    """Type by type what of ours takes less time in it than our fp32, or than others in that type."""
    for dtype in NARROW:
        for what, select in KINDS:
            for other, against in ({OURS: "our fp32"} | NARROW_PEERS[dtype]).items():
                for device in devices:
                    row = kind_row(results, device, select, dtype, other)
                    if row:
                        yield {"what": what, "dtype": dtype, "against": against, **row}


def print_kinds(rows):
    if not rows:
        return
    for dtype in NARROW:
        print(f"\n### {dtype}: the other's time over that of ours in {dtype}\n")
        print_head("what", "against", "device", "sizes", "geometric mean", "worst, and where")
        for r in (r for r in rows if r["dtype"] == dtype):
            print_row([r["what"], r["against"], r["device"], r["sizes"], f"{r['mean']:.2f}×",
                       f"{r['worst']:.2f}× {r['worst_at']}"])


def print_narrow_sizes(results):
    cases = [c for c in results.cases.values() if any(map(c.narrow_ratio, NARROW))]
    if not cases:
        return
    print("\n### Each size in our data types: GFLOP/s, layernorm GB/s, forwards and decodes ms\n")
    peers = [name for names in NARROW_PEERS.values() for name in names]
    print_head("size", "device", "fp32", *NARROW, *(f"fp32's time ÷ {dtype}'s" for dtype in NARROW),
               *peers)
    for c in sorted(cases, key=lambda c: (c.kernel, sorted(c.dims.items()), c.device)):
        print_row([c.name(), c.device, rate_text(c, c.time(OURS)),
                   *(rate_text(c, c.time(variant)) for variant in NARROW.values()),
                   *(ratio_text(c.narrow_ratio(dtype)) for dtype in NARROW),
                   *(rate_text(c, c.time(peer)) for peer in peers)])


def rate_text(case, time):
    """What tells most of this kind of kernel."""
    if not time:
        return "-"
    if case.kernel.startswith(("gemm", "attention")):
        return f"{case.work['flops'] / time:.1f}"
    if case.kernel.startswith("layernorm"):
        return f"{case.work['bytes'] / time:.1f}"
    return f"{time * 1e-6:.2f}"


def ratio_text(ratio):
    return f"{ratio:.2f}" if ratio else "-"


def percent_text(share):
    return f"{100 * share:.0f} %" if share else "-"


def own_bound(results, case):
    if case.kernel.startswith(("gemm", "attention")):
        return percent_text(results.of_fma(case)) + " of FMA"
    if case.kernel.startswith("layernorm"):
        return f"{percent_text(results.of_copy(case))} of copy in {results.level(case)}"
    over = results.over_read_floor(case) if is_decode(case) else results.over_floor(case)
    return f"{ratio_text(over)} × its floor ({results.level(case)})"


SECTIONS = (("gemm/", "Matrix products, GFLOP/s", (*BLAS, "ggml")),
            ("attention/", "Attention, GFLOP/s", ("openblas", "torch")),
            ("layernorm/", "Layernorm, GB/s", ("torch",)),
            ("gpt/", "Forwards and decode steps, ms", ("torch", "torch_alloc")))


def print_sizes(results):
    for prefix, title, peers in SECTIONS:
        cases = [c for c in results.cases.values() if c.kernel.startswith(prefix)]
        if not cases:
            continue
        print(f"\n### {title}\n")
        print_head("size", "device", "ours", *peers, "ours against", *(f"÷ {p}" for p in peers))
        for c in sorted(cases, key=lambda c: (c.kernel, sorted(c.dims.items()), c.device)):
            print_row([c.name(), c.device, rate_text(c, c.time(OURS)),
                       *(rate_text(c, c.time(p)) for p in peers), own_bound(results, c),
                       *(ratio_text(c.ratio((p,))) for p in peers)])


def launches_text(results):
    """Of what, and how often: a process that goes on behind a dead one has a number of its own, so
    that each size's launches are counted."""
    suites = f"Suite{'s' if len(results.suites) > 1 else ''} {', '.join(results.suites)}, "
    launches = statistics.median_low(map(len, results.launches.values())) if results.launches else 0
    return f"{suites if results.suites else ''}{launches} launches a size"


def machine_text(results):
    m, b = results.machine, results.build
    return (f"{m.get('cpu', '?')}, {m.get('cores', '?')} cores, {m.get('isa', '?')}, "
            f"L2 {m.get('l2', 0) >> 10} KiB, L3 {m.get('l3', 0) >> 20} MiB. "
            f"Build: {b.get('commit', '')[:12]}{' with changes' if b.get('dirty') else ''}, "
            f"{b.get('compiler', '')}. {launches_text(results)}"
            f"{', ' + results.day if results.day else ''}.")


def roofs_text(results, device):
    roofs = [f"FMA {results.roof(device, 'flops.fp32') or 0:.4g} FLOP/s"]
    if results.roof(device, "flops.bf16"):
        roofs.append(f"bf16 {results.roof(device, 'flops.bf16'):.4g} FLOP/s")
    for level in ("L2", "L3", "dram"):
        read, copy = (results.roof(device, f"{k}.{level}") for k in ("read", "copy"))
        if read and copy:
            roofs.append(f"{level} {read * 1e-9:.3g} GB/s reading, {copy * 1e-9:.3g} copying")
    return f"roofs of {device}: " + "; ".join(roofs)


def device_notes(results, device):
    yield roofs_text(results, device)
    share, probed = results.cpu_share(device), results.probed.get(device, [])
    if share:
        busy = "" if share > 0.9 else ": something else ran too, measure again"
        yield f"CPU time that ours got on {device}: {100 * share:.0f} %{busy}"
    if any(probed):
        yield (f"disturbed on {device}: {sum(probed)} of {len(probed)} measurements, beside which "
               f"fixed work took over {DISTURBED} times as long as in quiet; they count where no "
               "launch of their size was quiet")


def about(results, folder):
    """Where and how it was measured: the machine, and notes."""
    yield machine_text(results)
    for device in sorted(results.roofs):
        yield from device_notes(results, device)
    path = os.path.join(folder, "versions.txt")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            yield "peers: " + "; ".join(line.strip() for line in file if line.strip())
    for (variant, why), keys in sorted(results.absent.items()):
        yield f"{variant} is absent in {len(set(keys))} sizes: {why}"


def print_machine(lines):
    machine, *notes = lines
    print(f"Machine: {machine}\n")
    for note in notes:
        print(f"- {note}")
    print()


def rows_json(results):
    for (kernel, dims, device), c in sorted(results.cases.items()):
        yield {"kernel": kernel, "dims": dims, "device": device, **c.work,
               "ns": {name: c.time(name) for name in c.launches},
               "launches": {name: len(times) for name, times in c.launches.items()}}


def write_record(folder, record):
    with open(os.path.join(folder, "table.json"), "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1)
    page = [*target_lines([("", record)]), "", *type_lines([("", record)])]
    with open(os.path.join(folder, "page.md"), "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in page)


def read_all(paths):
    """What all of them say; None, and a message, where one is cut or of something else."""
    results = Results()
    for path in paths:
        try:
            results.read(path)
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            print(f"peers_table.py: {path} cannot be read, it is cut or of something else: "
                  f"{type(error).__name__}: {error}", file=sys.stderr)
            return None
    return results


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    folder = sys.argv[1]
    paths = sorted(glob.glob(os.path.join(folder, "run-*.json")))
    if not paths:
        print(f"peers_table.py: no run-*.json in {folder}", file=sys.stderr)
        return 2
    results = read_all(paths)
    if not results:
        return 2
    devices = sorted({c.device for c in results.cases.values()})
    rows = [target.row(results, device) for target in TARGETS for device in devices]
    kinds = list(kind_rows(results, devices))
    lines = list(about(results, folder))
    print_machine(lines)
    print_targets(rows)
    print_kinds(kinds)
    print_sizes(results)
    print_narrow_sizes(results)
    for line in results.bad.values():
        print(f"\n{line}")
    record = {"schema_version": 1, "about": lines, "targets": rows, "data_types": kinds,
              "sizes": list(rows_json(results)), "not_right": sorted(results.bad)}
    write_record(folder, record)
    return 1 if results.bad else 0


if __name__ == "__main__":
    sys.exit(main())
