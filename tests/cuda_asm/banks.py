#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a drive_* and holds the bank conflicts of its kernels against a table.

    banks.py DRIVE TABLE [--table]

The drive counts (tests/cuda_host/include/cuda_host_banks.h); addr2line tells in which function of the
kernels' source an access is. One without conflicts needs no row. A row of TABLE:

    DRIVE FILE FUNCTION BYTES WORST AVERAGE  # why

BYTES a lane; WORST passes of one access of the function, and AVERAGE of all of them, at most. A row that
says more than was counted is a fault, too: the worst is reached in each run, which is always the same.
--table prints what was counted, as rows. Exit status 0, or 1 for a fault, or the drive's own.
"""

import collections
import functools
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import typing

# One access by itself, for many: who calls them is told.
HELPERS = ('kernels/cuda/vector.h', 'kernels/cuda/async.h', 'kernels/cuda/cluster.h')


class Where(typing.NamedTuple):
    file: str
    function: str
    size: int


class Counted:
    def __init__(self):
        self.times = self.passes = self.worst = 0

    def add(self, times, passes, worst):
        self.times += times
        self.passes += passes
        self.worst = max(self.worst, worst)

    @property
    def average(self):
        return self.passes / self.times


def run(drive):
    """[(place, bytes, times, passes, worst)] of the drive's file; ends the program where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / 'banks'
        done = subprocess.run([drive], env={**os.environ, 'CUDA_HOST_BANKS': str(out)})
        if done.returncode:
            sys.exit(done.returncode if done.returncode > 0 else 1)
        rows = [line.rsplit(' ', 5) for line in out.read_text().splitlines()]
    return [(int(place, 16), *map(int, numbers)) for file, place, *numbers in rows
            if pathlib.Path(file).name == pathlib.Path(drive).name]


def frames_of(drive, places):
    """{place: [(function, file)] from the innermost one that is inlined there outwards}"""
    asked = '\n'.join(f'{place - 1:#x}' for place in places)
    told = subprocess.run(['addr2line', '-a', '-f', '-i', '-C', '-e', drive], input=asked, text=True,
                          capture_output=True, check=True).stdout.splitlines()
    frames, at = {}, 0
    for line in told:
        if re.fullmatch(r'0x[0-9a-f]+', line):
            at = frames[int(line, 16) + 1] = []
        else:
            at.append(line)
    return {place: list(zip(lines[::2], lines[1::2])) for place, lines in frames.items()}


def where(frames, size, folder):
    """Of an access; None: it is in no kernel of the source. The trees lie beside the drive, in `folder`: what
    ccache kept names the one where it was compiled."""
    for function, place in frames:
        found = re.match(r'.*/([^/]+/((?:kernels|models)/[^:]*)):(\d+)', place)
        if found and found[2] not in HELPERS:
            path, file, line = found.groups()
            name, written = plain(function), function_at(folder / path, int(line))
            return Where(file, name if name.split('::')[-1] == written else written, size)
    return None


@functools.cache
def lines_of(path):
    return path.read_text().splitlines()


def function_at(path, line):
    """The function that the line is in, by its source: at -O0 gcc gives blocks of a function that is inlined
    to the one around it. A brace alone in a line begins one here."""
    lines = lines_of(path)
    brace = next((at for at in range(line - 1, 0, -1) if lines[at].strip() == '{'), 0)
    start = next((at + 1 for at in range(brace - 1, -1, -1) if re.search(r'(^|[;}/])$', lines[at].strip())), 0)
    head = ' '.join(lines[start:brace]).replace('__launch_bounds__(', '')
    found = re.search(r'(\w+)\(', head)
    return found[1] if found else '?'


def plain(function):
    """wgmma_put of "void (anonymous namespace)::wgmma_put<float>(unsigned int, float const*)"."""
    while re.search(r'<[^<>]*>', function):
        function = re.sub(r'<[^<>]*>', '', function)
    function = re.sub(r'\(anonymous namespace\)::', '', function)
    return re.sub(r'\(.*', '', function).split()[-1]


def counted(drive):
    accesses = run(drive)
    frames = frames_of(drive, [place for place, *_ in accesses])
    found = collections.defaultdict(Counted)
    for place, size, *numbers in accesses:
        at = where(frames[place], size, pathlib.Path(drive).parent)
        if at:
            found[at].add(*numbers)
    return found


def read_table(text, name):
    """{where: (worst, average)} of a drive."""
    rows = {}
    for line in text.splitlines():
        words = line.split('#')[0].split()
        if words:
            drive, file, function, size, worst, average = words
            if drive == name:
                rows[Where(file, function, int(size))] = int(worst), float(average)
    return rows


def faults(found, rows):
    for at, c in sorted(found.items()):
        worst, average = rows.get(at, (1, 1.0))
        what = f'{at.file} {at.function}, {at.size} bytes a lane'
        if c.worst > worst:
            yield f'{what}: {c.worst} passes for one access, {worst} are known'
        elif c.average > average:
            yield f'{what}: {c.average:.3f} passes on the average, {average:g} are known'
        elif c.worst < worst:
            yield f'{what}: the table knows {worst} passes, and {c.worst} are the most'
    yield from (f'{at.file} {at.function}: a row for what nobody does' for at in rows if at not in found)


def main():
    drive, table = sys.argv[1:3]
    name = re.sub(r'^drive_|_banks$', '', pathlib.Path(drive).name)
    found = counted(drive)
    if '--table' in sys.argv:
        for at, c in sorted(found.items()):
            print(name, *at, c.worst, f'{math.ceil(1000 * c.average) / 1000:.3f}', f'# of {c.times}')
        return 0
    bad = list(faults(found, read_table(pathlib.Path(table).read_text(), name)))
    for fault in bad:
        print(fault)
    print(f'{len(found)} functions of {name} access shared memory, {sum(c.times for c in found.values())} times, '
          f'{len(bad)} faults')
    return 1 if bad or not found else 0


if __name__ == '__main__':
    sys.exit(main())
