#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CTest ci.check_tiles: what ci/tile_tables.py makes of races, and that table, page and kept races of
this tree are of one another.

    tests/ci/check_tiles.py HARNESS SOURCE_FOLDER
"""
import contextlib
import io
import json
import os
import pathlib
import shutil
import sys
import tempfile
import types

sys.dont_write_bytecode = True
FORMULA = "depth=0,height=0"
ZEN4, ZEN5 = {"isa": "avx512", "l1": 32, "l2": 1024}, {"isa": "avx512", "l1": 48, "l2": 1024}


def raced(rows, k, costs, **more):
    """A kept race of gemm/linear: {setting: how far behind}."""
    return {"kernel": "gemm/linear/simd", "threads": 1, "dims": {"batch": 1, "seq": rows, "n": 8, "k": k},
            "decided": True, "rounds": 9, "winner": min(costs, key=costs.get),
            "settings": {s: [behind, None, None] for s, behind in costs.items()}, **more}


def record(*races, **machine):
    """One of a Zen 4, or of what is said."""
    return {"schema_version": 1, **ZEN4, **machine, "races": list(races)}


A, B = "depth=256,height=0", "depth=512,height=8"
GOOD, BAD = {FORMULA: 0.009, A: 0}, {FORMULA: 0.03, A: 0, B: 0.008}
OTHER = {FORMULA: 0.03, A: 0.02, B: 0}
ROW = ("AVX512", 32, 1024, False)

# Kept races, and the rows that they make.
TABLES = [
    ([], []),
    ([record(raced(64, 768, GOOD))], []),
    ([record(raced(64, 768, BAD))], [(*ROW, 64, 64, 768, 768, 256, 0)]),
    ([record(raced(64, 768, BAD, decided=False))], []),
    ([record(raced(64, 768, BAD, kernel="gemm/linear/simd_int8"))], []),
    ([record(raced(64, 768, BAD, kernel="gemm/nn/simd"))], [(*ROW[:3], True, 64, 64, 768, 768, 256, 0)]),
    # Two of the same winner and what lies between, but nothing that it is not good for.
    ([record(raced(64, 768, BAD), raced(128, 768, GOOD), raced(256, 1024, BAD))],
     [(*ROW, 64, 256, 768, 1024, 256, 0)]),
    ([record(raced(64, 768, BAD), raced(128, 768, OTHER), raced(256, 768, BAD))],
     [(*ROW, 64, 64, 768, 768, 256, 0), (*ROW, 128, 256, 768, 768, 512, 8)]),
    # One setting for all threads, which is as good as one can be.
    ([record(raced(64, 768, BAD), raced(64, 768, OTHER, threads=2))], [(*ROW, 64, 64, 768, 768, 512, 8)]),
    ([record(raced(64, 768, {FORMULA: 0.05, A: 0, B: 0.03}),
             raced(64, 768, {FORMULA: 0.05, A: 0.02, B: 0}, threads=2))],
     [(*ROW, 64, 64, 768, 768, 256, 0)]),
    # What was not raced with the formula, as a table was there already, stays in the table.
    ([record(raced(64, 768, {A: 0, B: 0.02}))], [(*ROW, 64, 64, 768, 768, 256, 0)]),
    ([record(raced(64, 768, BAD)), record(raced(64, 768, OTHER), **ZEN5)],
     [(*ROW, 64, 64, 768, 768, 256, 0), ("AVX512", 48, 1024, False, 64, 64, 768, 768, 512, 8)]),
    ([record(raced(64, 768, BAD, settings={**raced(1, 1, BAD)["settings"], A: [None] * 3, B: [None] * 3}))], []),
]


def cases_of_tables(tiles):
    return [(tiles.rows_of(dict(enumerate(records))), rows) for records, rows in TABLES]


def cases_of_words(tiles):
    told = {"races": [{"setting": "depth=256", "decided": True, "rounds": 5, "settings": [
        {"setting": "depth=256", "state": "leads", "behind": 0, "interval": {"low": 0, "high": 0}},
        {"setting": "depth=0", "state": "slower", "behind": 0.0312345, "interval": {"low": 0.02, "high": None}},
        {"setting": "depth=9", "state": "out"}]}]}
    kept = tiles.race_of(told, "gemm/nn/simd", 2, tiles.dims_of("batch=1,seq=64,n=8,k=512"))
    row = (*ROW[:3], True, 64, 64, 512, 512, 128, 2)
    avx2 = {"machine": {"isa": "avx2", "l1d": 32768, "l2": 1 << 20}}
    before = tiles.without_table(kept, [row], ZEN4)
    led = tiles.without_table({**kept, "winner": FORMULA}, [row], ZEN4)
    return [
        (kept["settings"], {A: [0, 0, 0], FORMULA: [0.03123, 0.02, None]}),
        (tiles.line_of(kept),
         f"| gemm/nn/simd | batch=1,seq=64,n=8,k=512 | 2 | {A} | +3.1 % (+2.0 % to ?) | 2 | 5 | yes |"),
        (tiles.without_table(kept, [], ZEN4), kept),
        (before["settings"], {A: [0, 0, 0], "depth=128,height=2": [0.03123, 0.02, None]}),
        ((led["winner"], led["settings"]["depth=128,height=2"]), ("depth=128,height=2", [0, 0, 0])),
        (tiles.cuts(tiles.dims_of("batch=1,seq=64,n=8,k=768")), ["depth=0,64,128,256,512", "height=0,2"]),
        (tiles.cuts(tiles.dims_of("batch=1,seq=1,n=8,k=3072")), ["depth=0,64,128,256,512,1024,2048,4096"]),
        (tiles.cuts(tiles.dims_of("batch=4,seq=64,n=8,k=48")), ["height=0,2,8"]),
        (tiles.place_of({"isa": "avx512_bf16", "l1": 1, "l2": 2}), ("AVX512", 1, 2)),
        (tiles.machine_of(avx2), {"isa": "avx2", "l1": 32, "l2": 1024}),
    ]


def copy_of(source, tiles, folder):
    """The files that are written, in a folder of their own."""
    for name in (tiles.HEADER, tiles.PAGE):
        (folder / name).parent.mkdir(parents=True)
        shutil.copy(source / name, folder / name)


def cases_of_files(tiles, source, folder):
    """A record makes the header's rows and the page's table, which are then right; and gone again."""
    copy_of(source, tiles, folder)
    kept = folder / tiles.RECORDS / "zen4.json"
    kept.parent.mkdir(parents=True)
    yield tiles.read_rows(folder) == tiles.read_rows(source), True
    kept.write_text(tiles.record_text(record(raced(64, 768, BAD), raced(8, 64, GOOD))), encoding="utf-8")
    yield tiles.bring_up_to_date(folder, True), 1
    yield tiles.bring_up_to_date(folder, False), 0
    yield tiles.bring_up_to_date(folder, True), 0
    yield tiles.read_rows(folder), [(*ROW, 64, 64, 768, 768, 256, 0)]
    line = "| zen4 | gemm/linear/simd | 2 | 2 | 2 | +0.9 % | batch=1,seq=8,n=8,k=64, threads: 1 |\n"
    yield line in (folder / tiles.PAGE).read_text(encoding="utf-8"), True
    kept.unlink()
    tiles.bring_up_to_date(folder, False)
    yield tiles.NONE_KEPT in (folder / tiles.PAGE).read_text(encoding="utf-8"), True
    yield tiles.read_rows(folder), []


def cases_of_races(tiles, harness, folder):
    """The program knows all kernels and parameters: each races at a small size."""
    small = {True: "batch=1,seq=17,n=24,k=72", False: "batch=1,seq=8,width=64"}
    tiles.KERNELS = {kernel: ((small[kernel.startswith("gemm/")],), params)
                     for kernel, (_, params) in tiles.KERNELS.items()}
    os.environ["HARNESS"] = harness
    options = types.SimpleNamespace(keep=folder / "kept/here.json", kernel=None, threads=[1], rounds=2, budget="1ms")
    yield tiles.race_and_keep(options), 0
    kept = json.loads(options.keep.read_text(encoding="utf-8"))
    yield [race["kernel"] for race in kept["races"]], list(tiles.KERNELS)
    yield all(len(race["settings"]) > 1 and race["winner"] in race["settings"] for race in kept["races"]), True
    yield kept["l1"] >= 0 and kept["isa"] != "" and len(kept["about"]) == 1, True


def main():
    source = pathlib.Path(sys.argv[2])
    sys.path.insert(0, str(source / "ci"))
    import tile_tables as tiles

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        folder = pathlib.Path(folder)
        cases = [*cases_of_tables(tiles), *cases_of_words(tiles), *cases_of_files(tiles, source, folder),
                 (tiles.bring_up_to_date(source, True), 0), *cases_of_races(tiles, sys.argv[1], folder)]
    wrong = [f"{given} instead of {wanted}" for given, wanted in cases if given != wanted]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
