#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Chooses the tiles of our own CPU kernels by `harness tune`, and keeps what it was chosen by.

    ci/tile_tables.py [--keep FILE] [--kernel KERNEL]... [--threads N,N] [--rounds N] [--budget TIME]
    ci/tile_tables.py --write | --check [--root FOLDER]

The first form races what each kernel does by itself (value 0) against all its other settings, at the
sizes of GPT's layers and at squares, with one and two threads. Prints Markdown, a line a race: the
winner, and what the built-in choice costs beside it, with the race's interval. --keep writes the
races to FILE (docs/performance/tiles/NAME.json), a line a race. It takes an hour or so; --kernel takes
single ones. Nothing else should run.

The second form makes of all that is kept the rows of kernels/gemm/gemm_simd_choice.h, and the table of
docs/tuning.md. A product has a row where the caches' sizes alone were more than 1 % behind, at any
number of threads; products between two of the same winner have it, too. A race that was not decided
counts for nothing there. --check only compares; its exit status is 1 where something differs.

Exit status: 0, 2 where something failed. HARNESS names a program to take instead of the built one;
HARNESS_ISA another instruction set.
"""
import argparse
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
UNDECIDED = 77
# As good as the winner.
WITHIN = 0.01

# Of layers of nano, mini, tile-large and gpt2: prompts, and steps of a decode.
PRODUCTS = ("batch=4,seq=64,n=144,k=48", "batch=4,seq=64,n=768,k=256", "batch=4,seq=64,n=192,k=768",
            "batch=4,seq=64,n=256,k=1024", "batch=1,seq=128,n=2304,k=768", "batch=1,seq=128,n=768,k=3072",
            "batch=1,seq=1,n=3072,k=768", "batch=1,seq=1,n=768,k=3072")
SQUARES = ("batch=1,seq=256,n=256,k=256", "batch=1,seq=512,n=512,k=512", "batch=1,seq=1024,n=1024,k=1024",
           "batch=4,seq=64,n=256,k=1024", "batch=1,seq=128,n=768,k=3072", "batch=1,seq=64,n=512,k=2048")
# In L1, L2, L3 and memory, as a layer's outputs are.
ELEMENTS = ("batch=1,seq=64,width=192", "batch=4,seq=64,width=768", "batch=4,seq=64,width=3072",
            "batch=4,seq=1024,width=3072")
ROWS = ("batch=4,seq=64,width=192", "batch=4,seq=64,width=256", "batch=1,seq=128,width=768",
        "batch=4,seq=64,width=2048", "batch=4,seq=1024,width=768")
DEPTHS, HEIGHTS = (64, 128, 256, 512, 1024, 2048, 4096), (2, 8, 32)
# Up to this depth no L1 is too small for what a tile has of x, so nothing is cut by itself.
WHOLE = 1024
TILE_ROWS = 8
BLOCKS, PIECES, FLOATS = (64, 128, 512, 1024), (1024, 2048, 4096, 16384), (768, 1536, 3072, 12288)
FORMULA = "depth=0,height=0"

BEGIN, END = "tile_tables.py: rows */\n", "    /* tile_tables.py: end */\n"
PAGE_BEGIN, PAGE_END = "<!-- tile_tables.py: races -->\n", "<!-- end -->\n"
HEADER, PAGE, RECORDS = "kernels/gemm/gemm_simd_choice.h", "docs/tuning.md", "docs/performance/tiles"
NONE_KEPT = "No race is kept yet, so the caches' sizes choose everywhere.\n"


def fail(words):
    """Ends with what is wrong."""
    print(f"tile_tables.py: {words}", file=sys.stderr)
    sys.exit(2)


# ---- what races ----

def dims_of(shape):
    """{name: value} of "batch=1,seq=64"."""
    return {name: int(value) for name, value in (pair.split("=") for pair in shape.split(","))}


def values(name, others):
    """A --param: what the kernel does by itself, and these."""
    return f"{name}=" + ",".join(map(str, (0, *others)))


def cuts(dims):
    """What cuts this product in another way than the caches' sizes do: a race cannot tell apart what is
    the same code. Of more terms than that some more are not cut at all."""
    rows, k = dims["batch"] * dims["seq"], dims["k"]
    depths = [d for d in DEPTHS if d < k]
    if k > WHOLE:
        depths += [d for d in DEPTHS if d >= k][:1]
    heights = [h for h in HEIGHTS if h * TILE_ROWS < rows]
    return [values(name, some) for name, some in (("depth", depths), ("height", heights)) if some]


def fixed(name, others):
    """Of a kernel whose settings are others at every size."""
    return lambda dims: [values(name, others)]


KERNELS = {
    "gemm/linear/simd": (PRODUCTS, cuts),
    "gemm/nn/simd": (SQUARES, cuts),
    "gemm/linear/simd_int8": (PRODUCTS, fixed("block", BLOCKS)),
    "pointwise/gelu/simd": (ELEMENTS, fixed("piece", PIECES)),
    "pointwise/residual/simd": (ELEMENTS, fixed("piece", PIECES)),
    "layernorm/plain/simd": (ROWS, fixed("block", FLOATS)),
    "layernorm/residual/simd": (ROWS, fixed("block", FLOATS)),
    "layernorm/plain/simd_bf16": (ROWS, fixed("block", FLOATS)),
    "layernorm/residual/simd_bf16": (ROWS, fixed("block", FLOATS)),
}


def shape_options(dims):
    """Of a race."""
    own = [f"--{name}={dims[name]}" for name in ("batch", "seq")]
    return own + [f"--dim={name}={value}" for name, value in dims.items() if name not in ("batch", "seq")]


def call(harness, *arguments, status=(0,)):
    """The JSON that it prints."""
    told = subprocess.run([harness, *map(str, arguments)], capture_output=True, text=True, check=False)
    if told.returncode not in status:
        fail(f"harness {' '.join(map(str, arguments))} ended with {told.returncode}: {told.stderr.strip()[-500:]}")
    return json.loads(told.stdout)


def whole(setting, kernel):
    """A setting of products with both its numbers: what was not raced is 0."""
    if kernel.endswith("/simd") and kernel.startswith("gemm/"):
        given = dims_of(setting)
        return ",".join(f"{name}={given.get(name, 0)}" for name in ("depth", "height"))
    return setting


def built_in(setting):
    """Is it what the kernel does by itself?"""
    return all(value == 0 for value in dims_of(setting).values())


def beside(setting, winner):
    """[behind, low, high] of a setting beside the winner, each None where it is not known."""
    if setting["setting"] == winner:
        return [0, 0, 0]
    interval = setting.get("interval") or {}
    known = (setting.get("behind"), interval.get("low"), interval.get("high"))
    return [None if number is None else round(number, 5) for number in known]


def race_of(told, kernel, threads, dims):
    """What is kept of a race that `harness tune --json` tells of."""
    race = told["races"][0]
    if "setting" not in race:
        fail(f"{kernel} {dims}: no setting is right")
    settings = {whole(s["setting"], kernel): beside(s, race["setting"])
                for s in race["settings"] if s["state"] != "out"}
    return {"kernel": kernel, "threads": threads, "dims": dims, "decided": race["decided"], "rounds": race["rounds"],
            "winner": whole(race["setting"], kernel), "settings": settings}


def shape_of(race):
    """As dims_of() reads it."""
    return ",".join(f"{name}={value}" for name, value in race["dims"].items())


def percent(fraction):
    """"+1.2 %", or what is not known."""
    return "?" if fraction is None else f"{100 * fraction:+.1f} %"


def line_of(race):
    """Of the table that is printed."""
    mine = next((s for s in race["settings"] if built_in(s)), None)
    behind, low, high = race["settings"].get(mine, [None] * 3)
    costs = "it is that" if mine == race["winner"] else f"{percent(behind)} ({percent(low)} to {percent(high)})"
    return (f"| {race['kernel']} | {shape_of(race)} | {race['threads']} | {race['winner']} | {costs} | "
            f"{len(race['settings'])} | {race['rounds']} | {'yes' if race['decided'] else 'no'} |")


# ---- what is kept ----

def machine_of(run):
    """What a table's rows are for, of a run of `harness history system --json`."""
    machine = run["machine"]
    isa = os.environ.get("HARNESS_ISA") or machine.get("isa", "")
    return {"isa": isa, "l1": machine.get("l1d", 0) >> 10, "l2": machine.get("l2", 0) >> 10}


def about(run, rounds, budget):
    """Words for people."""
    machine, build = run["machine"], run.get("build", {})
    return [f"{machine.get('cpu', '?')}, {machine.get('cores', '?')} cores, {machine.get('isa', '?')}. Build: "
            f"{build.get('commit', '?')[:12]}, {build.get('compiler', '?')}. Races of {rounds} rounds, {budget} each."]


def without_table(race, rows, machine):
    """The race as if there were no table: what a row of it chose, where nothing was set, goes by that
    row's setting, so that the formula is always what depth=0,height=0 means."""
    chosen = chosen_of(race, rows, machine)
    if chosen == FORMULA or FORMULA not in race["settings"]:
        return race
    settings = {s: costs for s, costs in race["settings"].items() if s != FORMULA}
    settings.setdefault(chosen, race["settings"][FORMULA])
    if race["winner"] == FORMULA:
        settings[chosen] = [0, 0, 0]
    return {**race, "settings": settings, "winner": chosen if race["winner"] == FORMULA else race["winner"]}


def record_text(record):
    """JSON with a line a race, so that a difference between two versions can be read."""
    head = "".join(f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)},\n"
                   for name, value in record.items() if name != "races")
    return "{\n" + head + ' "races": [' + ",".join("\n  " + json.dumps(race) for race in record["races"]) + "\n ]\n}\n"


def read_records(root):
    """{name: record} of all that are kept."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted((root / RECORDS).glob("*.json"))}


# ---- rows of the table ----

def is_product(race):
    """Is it of a kernel that the table is for?"""
    return race["kernel"].startswith("gemm/") and race["kernel"].endswith("/simd")


def place_of(record):
    """(instruction set of the code, KiB, KiB): all sets with AVX-512 have the same code."""
    isa = record["isa"]
    known = "AVX512" if isa.startswith("avx512") else "AVX2" if isa == "avx2" else "PORTABLE"
    return known, record["l1"], record["l2"]


def point_of(race):
    """(rows, k)"""
    dims = race["dims"]
    return dims["batch"] * dims["seq"], dims["k"]


def losses(races):
    """{setting: how far it is behind, in the worst of races of one product}, of what all of them have."""
    common = set.intersection(*(set(race["settings"]) for race in races))
    behind = {s: [race["settings"][s][0] for race in races] for s in common}
    return {s: max(all_of) for s, all_of in behind.items() if None not in all_of}


def good_of(races):
    """{setting: its loss} of those that are as good as the winners, or as good as one setting can be in
    all of these races; the best is first."""
    costs = losses(races)
    most = max(WITHIN, min(costs.values(), default=0))
    return {s: costs[s] for s in sorted(costs, key=lambda s: (costs[s], s)) if costs[s] <= most}


def inside(box, point):
    """Boxes are (first, last) of points, with both."""
    return all(first <= at <= last for first, at, last in zip(box[0], point, box[1]))


def grown(box, point):
    """The box with the point."""
    return tuple(map(min, box[0], point)), tuple(map(max, box[1], point))


def boxes_of(points):
    """[(box, setting)] of {point: good settings}: each point that the formula is not good for is in a box,
    and the setting of a box is good for all points inside."""
    wanting, found = sorted(point for point, good in points.items() if good and FORMULA not in good), []
    while wanting:
        box, setting = (wanting[0], wanting[0]), next(iter(points[wanting[0]]))
        for other in wanting[1:]:
            more = grown(box, other)
            if all(setting in good for point, good in points.items() if inside(more, point)):
                box = more
        found.append((box, setting))
        wanting = [point for point in wanting if not inside(box, point)]
    return found


def rows_of(records):
    """The rows of the table: (instruction set, L1, L2, nn, rows from, to, k from, to, depth, height)."""
    races = {}
    for record in records.values():
        for race in filter(is_product, record["races"]):
            if race["decided"]:
                group = races.setdefault((*place_of(record), race["kernel"] == "gemm/nn/simd"), {})
                group.setdefault(point_of(race), []).append(race)
    return [(*group, box[0][0], box[1][0], box[0][1], box[1][1], *dims_of(setting).values())
            for group, points in sorted(races.items())
            for box, setting in boxes_of({point: good_of(some) for point, some in points.items()})]


def row_text(row):
    """As the header has it."""
    isa, l1, l2, nn, rows, to_rows, k, to_k, depth, height = row
    return (f"    {{ SIMD_{isa}, {'true' if nn else 'false'}, {l1}, {l2}, {{ {rows}, {to_rows} }}, "
            f"{{ {k}, {to_k} }}, {{ {depth}, {height} }} }},\n")


def part_of(text, begin, end, name):
    """(before, between, behind) two marks."""
    found = re.fullmatch(f"(.*{re.escape(begin)})(.*?)({re.escape(end)}.*)", text, re.DOTALL)
    if not found:
        fail(f"{name} has no part between {begin.strip()} and {end.strip()}")
    return found.groups()


def read_rows(root):
    """The rows that the header has."""
    text = part_of((root / HEADER).read_text(encoding="utf-8"), BEGIN, END, HEADER)[1]
    read = re.findall(r"SIMD_(\w+), (true|false), (\d+), (\d+), \{ (\d+), (\d+) \}, \{ (\d+), (\d+) \}, "
                      r"\{ (\d+), (\d+) \}", text)
    return [(isa, int(l1), int(l2), nn == "true", *map(int, rest)) for isa, nn, l1, l2, *rest in read]


def chosen_of(race, rows, machine):
    """What is chosen where nothing is set: by the first row that fits; else the kernel by itself."""
    if not is_product(race):
        return next((s for s in race["settings"] if built_in(s)), None)
    place, nn = place_of(machine), race["kernel"] == "gemm/nn/simd"
    for *of, rows_from, rows_to, k_from, k_to, depth, height in rows:
        if (*place, nn) == tuple(of) and inside(((rows_from, k_from), (rows_to, k_to)), point_of(race)):
            return f"depth={depth},height={height}"
    return FORMULA


# ---- the page ----

def page_line(name, kernel, races, rows, record):
    """How far what is chosen now is behind the winners of a kernel's races."""
    behind = [(race["settings"].get(chosen_of(race, rows, record), [None])[0], race) for race in races]
    known = [(costs, race) for costs, race in behind if costs is not None and race["decided"]]
    worst, race = max(known, key=lambda pair: pair[0], default=(None, None))
    there = "-" if race is None else f"{shape_of(race)}, threads: {race['threads']}"
    return (f"| {name} | {kernel} | {len(races)} | {sum(race['decided'] for race in races)} | "
            f"{sum(costs <= WITHIN for costs, _ in known)} | {percent(worst)} | {there} |\n")


def page_text(records, rows):
    """The table of the page."""
    if not records:
        return NONE_KEPT
    text = ("| machine | kernel | races | decided | what is chosen is within 1 % | furthest behind | there |\n"
            "|---|---|---|---|---|---|---|\n")
    for name, record in records.items():
        by_kernel = itertools.groupby(record["races"], key=lambda race: race["kernel"])
        text += "".join(page_line(name, kernel, list(races), rows, record) for kernel, races in by_kernel)
    return text


def texts_of(root):
    """{file: what it should have}."""
    records = read_records(root)
    rows = rows_of(records)
    parts = {HEADER: (BEGIN, END, "".join(map(row_text, rows))),
             PAGE: (PAGE_BEGIN, PAGE_END, "\n" + page_text(records, rows) + "\n")}
    texts = {}
    for name, (begin, end, wanted) in parts.items():
        before, _, behind = part_of((root / name).read_text(encoding="utf-8"), begin, end, name)
        texts[name] = before + wanted + behind
    return texts


def bring_up_to_date(root, check):
    """Writes what differs, or says so; the exit status."""
    late = [name for name, text in texts_of(root).items() if (root / name).read_text(encoding="utf-8") != text]
    for name, text in texts_of(root).items():
        if name in late and not check:
            (root / name).write_text(text, encoding="utf-8")
    for name in late:
        print(f"{name}: " + ("not what is kept; run ci/tile_tables.py --write" if check else "written"))
    return 1 if late and check else 0


# ---- races ----

def race_all(harness, options, folder):
    """Yields each race, and the run that it was."""
    common = ["--db", folder / "history.db", "--rounds", options.rounds, "--budget", options.budget, "--seed", 1]
    for kernel in options.kernel or KERNELS:
        shapes, params = KERNELS[kernel]
        for shape, threads in itertools.product(shapes, options.threads):
            dims = dims_of(shape)
            given = [f"--param={param}" for param in params(dims)]
            told = call(harness, "tune", kernel, *shape_options(dims), *given, "--device", f"cpu:{threads}", *common,
                        "--json", status=(0, UNDECIDED))
            run = call(harness, "history", "system", told["run"], "--db", folder / "history.db", "--json")[0]
            yield race_of(told, kernel, threads, dims), run


def race_and_keep(options):
    """The first form."""
    harness = os.environ.get("HARNESS") or ROOT / "build/release/harness"
    if not pathlib.Path(harness).exists():
        fail(f"no program {harness}: build it, or set HARNESS")
    rows, kept = read_rows(ROOT), {"schema_version": 1}
    print("| kernel | size | threads | winner | built-in choice beside it | settings | rounds | decided |\n"
          "|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for raced, run in race_all(harness, options, pathlib.Path(folder)):
            print(line_of(raced), flush=True)
            machine = machine_of(run)
            kept = {"schema_version": 1, "about": about(run, options.rounds, options.budget), **machine,
                    "races": [*kept.get("races", ()), without_table(raced, rows, machine)]}
            if options.keep:
                options.keep.parent.mkdir(parents=True, exist_ok=True)
                options.keep.write_text(record_text(kept), encoding="utf-8")
    return 0


def options_given():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--kernel", action="append", choices=KERNELS, metavar="KERNEL")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2], metavar="N,N")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--budget", default="60s", metavar="TIME")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, metavar="FOLDER")
    return parser.parse_args()


def main():
    options = options_given()
    if options.write or options.check:
        return bring_up_to_date(options.root, options.check)
    return race_and_keep(options)


if __name__ == "__main__":
    sys.exit(main())
