#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What commands print on terminals of several widths.

terminal.py strangers FILE FACTOR   a file of another tool, its benchmarks with long names
terminal.py try HARNESS             each case below in each width; "yes: " or "NO: " for each
"""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata

WIDTHS = (60, 80, 120, 200)
KERNELS = ("BM_transform<std::vector<double>, parallel_unsequenced_policy>",
           "BM_transform<std::vector<float>, parallel_unsequenced_policy>",
           "BM_reduce_by_key_with_hash<uint64_t>")
NAMES = [f"{kernel}/rows:{rows}/{order}/threads:{threads}" for kernel in KERNELS
         for rows in (1024, 65536) for order in ("sorted", "random") for threads in (1, 8)]

FAKE = ["null/copy/right", "--device", "fake:base=2000,seed=3,sd=0.01", "--seed", "1", "--launches", "2"]
SECTIONS = ("kernels", "variants", "models", "suites", "metrics", "figures", "devices", "machines")

# Words, and for tables: the title of the names, one of a column that every row fills in its first
# line (their own, where none is), and how many names there are, no two alike; None: it depends on the machine.
CASES = [
    (["help"], None),
    (["help", "environment"], None),
    *((["list", section], (section, section, None)) for section in SECTIONS),
    (["run", *FAKE, "--batch", "1,16", "--seq", "1024,2048,4096"], ("benchmark", "p50", 6)),
    (["run", *FAKE, "null/copy/wrong", "--batch", "1"], None),
    (["compare", "--baseline", "old", "--head", "new", "--all"], ("benchmark", "verdict", len(NAMES))),
    (["compare", "--baseline", "nosuch"], None),
    (["compare", "--runs", "3", "--", "true", "--versus", "sleep", "0.001", "--versus", "false"], None),
    (["trend", "--all"], None),
    (["trend", "--all", "null"], ("benchmark", "points", 2)),
    (["history", "list", "--limit", "7"], ("run", "results", 7)),
    (["history", "prune", "--keep-runs", "3", "--dry-run"], None),
    (["history", "annotate", "latest", "a note that is much longer than any terminal of sixty columns is wide"],
     None),
    (["history", "backup", "kept.db"], None),
    (["history", "merge", "kept.db"], None),
    (["history", "salvage", "kept.db", "saved.db"], None),
    (["history", "move", "moved.db", "--db", "kept.db"], None),
    (["history", "restore", "moved.db"], None),
    (["history", "system"], None),
    (["history", "verdicts"], None),
    (["history", "verify"], None),
    (["doctor"], ("check", "state", None)),
    (["baseline", "list"], ("baseline", "saved", 2)),
    (["baseline", "accepted"], None),
    (["baseline", "show", "main"], None),
    (["list"], None),
    (["model", "list"], ("model", "parameters", 7)),
    (["history", "verdicts", "1"], None),
    (["detect", "series.json"], None),
    (["selftest", "null/copy/right", "--aa", "1", "--iterations", "5", "--launches", "3", *FAKE[1:3]], None),
    (["runn"], None),
]


def strangers(path, factor):
    """Times in a file of Google Benchmark's form."""
    rows = [{"name": name, "run_name": name, "run_type": "iteration", "repetitions": 5,
             "repetition_index": i, "threads": 1, "iterations": 1000, "time_unit": "ns",
             "real_time": (100 + 10 * number + i) * factor, "cpu_time": (100 + 10 * number + i) * factor}
            for number, name in enumerate(NAMES) for i in range(5)]
    context = {"date": "2026-01-02T03:04:05+00:00", "host_name": "host", "num_cpus": 4,
               "mhz_per_cpu": 3000, "library_build_type": "release"}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"context": context, "benchmarks": rows}, file)


def on_terminal(words, width, **variables):
    """Everything that a command writes to a terminal of so many columns; 0: one that does not say."""
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40 if width else 0, width, 0, 0))
        os.execve(words[0], words, {**os.environ, "TERM": "xterm", **variables})
    pieces = []
    while True:
        try:
            piece = os.read(fd, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(fd)
    os.waitpid(pid, 0)
    return b"".join(pieces).decode("utf-8", "replace")


def columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def lines_of(text):
    """Whatever stood in one line of the terminal at any time."""
    return re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text))


def too_wide(text, width):
    """A single long word, as a path in a deep folder, stays whole."""
    for line in lines_of(text):
        if columns(line) > width and len(line.split()) > 1:
            return f"{columns(line)} columns in {width}: {line}"
    return None


def names_shown(lines, title, mark, count):
    """Each row's name, put together again where it goes on below."""
    start = next((i for i, line in enumerate(lines)
                  if re.search(rf"(^|  ){title}(  |$)", line) and mark in line), None)
    if start is None:
        return None
    begin = lines[start].index(title)
    filled = slice(lines[start].index(mark), lines[start].index(mark) + len(mark))
    names = []
    for line in lines[start + 1:]:
        if not line or line.startswith(("(", "*")):
            break
        text = line[begin:]
        name = re.split(r"\s{2,}", text.lstrip())[0] if text[:len(title)].strip() else ""
        if line[filled].strip() and len(names) == count:
            break
        if line[filled].strip():
            names.append(name)
        elif names:
            names[-1] += name
    return names


def names_wrong(text, table):
    title, mark, count = table
    names = names_shown(lines_of(text), title, mark, count)
    if names is None:
        return f"no column of names: {text}"
    if not names or "" in names or (count and not len(set(names)) == len(names) == count):
        return f"{len(names)} rows, {len(set(names))} names of {count}: {names}"
    return None


def faults(harness, words, table):
    for width in WIDTHS:
        text = on_terminal([harness, *words], width)
        fault = too_wide(text, width) or (table and names_wrong(text, table))
        if fault:
            return fault
    return None


def tell(what, fault):
    print(f"NO: {what}: {fault}" if fault else f"yes: {what}")


def progress_fault(text, width):
    if "\r\x1b[K" not in text:
        return f"nothing is rewritten: {text}"
    drawn = [columns(part) for part in re.findall(r"\r\x1b\[K([^\r\n]*)", text)]
    return f"{max(drawn)} columns in {width}" if max(drawn) >= width else too_wide(text, width)


def commands_of(harness):
    """As its help lists them."""
    listed = subprocess.run([harness, "help"], stdout=subprocess.PIPE, check=True, text=True).stdout
    return re.findall(r"^  ([a-z]+) ", listed.split("\ncommands:\n")[1].split("\n\n")[0], re.M)


def try_all(harness):
    for words, table in [*CASES, *((["help", command], None) for command in commands_of(harness))]:
        tell(" ".join(words), faults(harness, words, table))
    run = [harness, "run", *FAKE, "--batch", "1,16", "--seq", "1024"]
    for width in (40, *WIDTHS):
        tell(f"progress in {width} columns", progress_fault(on_terminal(run, width), width))
    for term in ("dumb", ""):
        text = on_terminal(run, 80, TERM=term)
        tell(f"TERM={term}", "escape codes" if "\x1b" in text else too_wide(text, 80))
    text = on_terminal([harness, "help", "run"], 0, COLUMNS="70")
    tell("a terminal that does not say its width", too_wide(text, 70))
    wide = max(map(columns, lines_of(on_terminal([harness, "help", "run"], 0))))
    tell("and nobody else does", None if wide > 70 else f"{wide} columns")


if __name__ == "__main__":
    if sys.argv[1] == "strangers":
        strangers(sys.argv[2], float(sys.argv[3]))
    else:
        try_all(sys.argv[2])
