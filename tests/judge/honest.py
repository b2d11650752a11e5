# SPDX-License-Identifier: MIT
"""Functions for y = x W^T that are right, whatever else they do: none of them may be refused."""
import os
import sys
import tempfile
import threading
import time

import numpy as np

# What many modules do as they are imported; nobody cleans up in a process that is killed.
_scratch = tempfile.TemporaryDirectory()
os.mkdir(os.path.join(_scratch.name, "cache"))
with open(os.path.join(_scratch.name, "cache", "entry"), "w") as _file:
    _file.write("kept")


def matmul(x, w, y):
    np.matmul(x, w.T, out=y)


def returned(x, w):
    return x @ w.T


def loops(x, w, y):
    rows, columns = [list(map(float, r)) for r in x], [list(map(float, r)) for r in w]
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            y[i, j] = sum(a * b for a, b in zip(row, column))


def joined(x, w, y):
    half = x.shape[0] // 2
    thread = threading.Thread(target=np.matmul, args=(x[half:], w.T), kwargs={"out": y[half:]})
    thread.start()
    np.matmul(x[:half], w.T, out=y[:half])
    thread.join()


_memory = {}


def memo_of_all(x, w):
    key = x.tobytes() + w.tobytes()
    if key not in _memory:
        _memory.clear()
        _memory[key] = x @ w.T
    return _memory[key]


def other_clock(x, w):
    """A clock that stands still gains nothing."""
    sleep, time.sleep = time.sleep, lambda seconds: None
    for name in ("time", "perf_counter_ns", "monotonic_ns", "clock_gettime_ns"):
        setattr(time, name, lambda *of: 0)
    sleep(0.002)
    time.sleep = sleep
    return x @ w.T


def slow_to_begin(x, w, y):
    """Of a window the first launch takes nearly all: hardly a moment lies between two of them."""
    if sys._getframe(1).f_locals["i"] == 0:
        time.sleep(0.005)
    np.matmul(x, w.T, out=y)
