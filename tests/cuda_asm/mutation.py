#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of mutants of the kernels of sm_90a: each thing of mutants.py once wrong, and what finds it.

    mutation.py BUILD_FOLDER [--jobs N] [--keep] [KERNEL...]

BUILD_FOLDER: of preset cuda-host. KERNEL: one or more of the lists below, or all; without, the first three.
Minutes a list, so it is no part of CI. Ends with 1 where a mutant survives that survivors.txt does not explain.

    --jobs N    so many lists at the same time, for as many processors
    --keep      the numbers of all lists that have been run go into README.md

What a list came to is kept in BUILD_FOLDER/tests/cuda_asm/KERNEL/table. It is not run again as long as its
sources and its reasons are the same, so that a run that was ended goes on with the next list.
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LISTS = ["gemm", "head", "attention", "decode", "cluster", "layernorm", "mma", "flash", "flash32", "simt", "tiled",
         "cache", "naive"]
FORMS = {"attention": ["attention", "attention_fp8"]} # programs that one list is for
SOURCES = {"flash32": "flash", "tiled": "simt"} # drive_*.cc that is of two lists
OTHERS = {"cluster": ["cluster_wide"]} # those that take long, for what the list's own do not reach
LONG = ["attention", "gemm", "cluster", "decode", "head", "mma"] # begun first
SUMMARY = re.compile(r"(\d+) killed\b.*\b(\d+) explained\b.*\b(\d+) not as expected")


def programs(kernel):
    return [f"drive_{form}_mutants" for form in FORMS.get(kernel, [kernel])]


def others(kernel):
    return [f"drive_{form}_mutants" for form in OTHERS.get(kernel, [])]


class List:
    """A kernel's mutants, and what was found of them."""

    def __init__(self, folder, kernel):
        self.kernel, self.folder, self.tree = kernel, folder, folder / kernel
        self.table = self.tree / "table"

    def mutants(self):
        return (self.tree / "list").read_text().splitlines()

    def state(self):
        """Of all that the numbers come from: kernels with their mutants, program, models of the device, reasons."""
        digest = hashlib.sha256()
        drive = SOURCES.get(self.kernel, self.kernel)
        tests = [p for room in ("cuda_asm", "cuda_host") for p in (HERE.parent / room).rglob("*")
                 if p.suffix in (".h", ".cc") and not re.match("test_|drive_.*[.]cc|drive_model", p.name)]
        tests += [p for p in (HERE / f"drive_{drive}.cc", *(HERE.parent / "cuda").glob(f"device_{drive}*")) if p.exists()]
        tree = [p for room in ("kernels", "models") for p in (self.tree / room).rglob("*") if p.is_file()]
        for path in sorted(tests) + sorted(tree) + [HERE / "mutate.py"]:
            digest.update(path.name.encode() + path.read_bytes())
        files = {row.split("\t")[1] for row in self.mutants()}
        for line in (HERE / "survivors.txt").read_text().splitlines():
            if line.split("\t")[0] in files:
                digest.update(line.encode())
        return digest.hexdigest()

    def found(self):
        """(killed, explained, not as expected, seconds) of what is there now, or None."""
        lines = self.table.read_text().splitlines() if self.table.exists() else []
        if len(lines) < 3 or lines[0] != self.state() or not SUMMARY.match(lines[-1]):
            return None
        return (*map(int, SUMMARY.match(lines[-1]).groups()), float(lines[1]))

    def run(self):
        """What there is to print; True where all is as expected."""
        before = self.found()
        if before is None:
            print(f"{self.kernel}: {self.tree}/table.part grows", flush=True)
            with open(self.tree / "table.part", "w") as part:
                child = subprocess.Popen([HERE / "mutate.py", *(self.folder / p for p in programs(self.kernel)),
                                          self.tree / "list", "--reasons", HERE / "survivors.txt",
                                          *(f"--else={self.folder / p}" for p in others(self.kernel))],
                                         stdout=part, stderr=subprocess.STDOUT)
                _, _, usage = os.wait4(child.pid, 0)
            text = (self.tree / "table.part").read_text()
            if not SUMMARY.match(text.splitlines()[-1] if text else ""):
                return f"== {self.kernel}: came to no end\n{text}", False
            self.table.write_text(f"{self.state()}\n{usage.ru_utime + usage.ru_stime:.0f}\n{text}")
        lines = self.table.read_text().splitlines(True)[2:]
        text = f"== {self.kernel}\n{''.join(lines)}" if before is None else f"== {self.kernel}, as before: {lines[-1]}"
        return text, self.found()[2] == 0


def markdown(folder):
    """Of each list that has been run and has not changed since."""
    at = subprocess.run(["git", "-C", HERE, "log", "-1", "--format=%h (%cs)"], capture_output=True, text=True).stdout
    lines = [f"At {at.strip()}; seconds are of a processor.", "",
             "| list | mutants | killed | explained | not as expected | seconds |", "|---|---|---|---|---|---|"]
    sums = [0] * 5
    for each in (List(folder, kernel) for kernel in LISTS):
        found = each.found() if (each.tree / "list").exists() else None
        if found:
            row = [len(each.mutants()), *found]
            sums = [a + b for a, b in zip(sums, row)]
            lines.append(f"| {each.kernel} | {' | '.join(f'{n:.0f}' for n in row)} |")
    return "\n".join(lines + [f"| all | {' | '.join(f'{n:.0f}' for n in sums)} |"]) + "\n"


def keep(text):
    readme = HERE / "README.md"
    parts = re.split(r"(?<=<!-- mutants -->\n)|(?=<!-- /mutants -->)", readme.read_text())
    if len(parts) != 3:
        sys.exit("README.md has no place for the table")
    readme.write_text(parts[0] + text + parts[2])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    options = parser.parse_intermixed_args()
    wrong = set(options.kernels) - {*LISTS, "all"}
    if wrong:
        parser.error(f"no list: {', '.join(sorted(wrong))}; there are {', '.join(LISTS)} and all")
    kernels = LISTS if "all" in options.kernels else options.kernels or LISTS[:3]
    kernels = sorted(kernels, key=lambda k: LONG.index(k) if k in LONG else len(LONG))
    folder = options.build / "tests" / "cuda_asm"
    subprocess.run(["cmake", "--build", options.build, "--target", *(p for k in kernels for p in programs(k) + others(k))],
                   check=True)
    right = True
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(List(folder, k).run) for k in kernels]):
            text, well = done.result()
            right = right and well
            print(text, end="", flush=True)
    table = markdown(folder)
    print(table, end="")
    if options.keep:
        keep(table)
    return not right


if __name__ == "__main__":
    sys.exit(main())
