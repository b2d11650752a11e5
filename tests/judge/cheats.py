# SPDX-License-Identifier: MIT
"""Ways to win with y = x W^T of Python without computing it: `harness judge` finds each of them.

docs/judge-python.md has what is found, and by what.
"""
import ctypes
import gc
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

harness_framework = "buffer"
_kept = {}


def _rows(x, w, y, first, last):
    for i in range(first, last):
        for j in range(w.shape[0]):
            y[i, j] = sum(x[i, l] * w[j, l] for l in range(w.shape[1]))


def _all(x, w, y):
    _rows(x, w, y, 0, x.shape[0])


def _put(y, data):
    y.cast("B")[:] = data


def _once(key, x, w, y):
    """What was computed when this key was new."""
    if key not in _kept:
        _all(x, w, y)
        _kept[key] = bytes(y)
    _put(y, _kept[key])


def _cell():
    """The object that serves the judge."""
    return next(o for o in gc.get_objects() if type(o).__name__ == "Cell")


def last_result(x, w, y):
    _once("always", x, w, y)


def memo_by_id(x, w, y):
    _once(id(x), x, w, y)


def memo_by_few(x, w, y):
    _once((x[0, 0], x[0, 1], x[1, 0]) if x.shape[0] > 1 else x[0, 0], x, w, y)


def skip_repeats(x, w, y):
    key = hash(bytes(x))
    if key not in _kept:
        _all(x, w, y)
    _kept[key] = True


def zeros_for_shape(x, w, y):
    _put(y, bytes(y.nbytes))


def most_rows(x, w, y):
    _all(x, w, y)
    for j in range(y.shape[1]):
        y[y.shape[0] - 1, j] = 0.1


def half_inside(x, w, y):
    def half(m):
        nr = m.nbytes // 4
        flat = struct.unpack(f"{nr}e", struct.pack(f"{nr}e", *m.cast("B").cast("f")))
        rows = nr // w.shape[1]
        return memoryview(struct.pack(f"{nr}f", *flat)).cast("f", (rows, w.shape[1]))

    _all(half(x), half(w), y)


def in_a_thread(x, w, y):
    def work():
        time.sleep(0.0002)  # so that the call returns first
        _all(x, w, y)

    threading.Thread(target=work, daemon=True).start()


def after_a_while(x, w, y):
    timer = threading.Timer(0.002, _all, (x, w, y))
    timer.daemon = True
    timer.start()


def leave_to_the_last(x, w, y):
    """The frame of the caller says how many launches there are."""
    owed = _kept.setdefault("owed", [])
    owed.append((x, w, y))
    asking = sys._getframe(1).f_locals
    if asking["i"] + 1 == asking["board"][asking["self"].at["nr"]]:
        for one in owed:
            _all(*one)
        owed.clear()


def work_for_the_next(x, w, y):
    """The second launch of a window computes for all behind it, whose inputs lie there."""
    asking = sys._getframe(1).f_locals
    board, at = asking["board"], asking["self"].at
    if asking["i"] == 0:
        _all(x, w, y)
    elif asking["i"] == 1:
        for i in reversed(range(1, board[at["nr"]])):
            _all(*asking["self"].calls[board[at["slot"] + i]].args)


def hides_how_far(x, w, y):
    """Computes, and of no window is it known how far it was."""
    _all(x, w, y)
    cell = sys._getframe(1).f_locals["self"]
    cell.at["done"] = cell.at["words"]


def stop_itself(x, w, y):
    os.kill(os.getpid(), signal.SIGSTOP)
    _all(x, w, y)


def replace_the_loop(x, w, y):
    """Says that all launches have returned, and makes none."""

    def launch(self):
        self.board[self.at["done"]] = self.board[self.at["nr"]]

    type(_cell()).launch = launch
    _all(x, w, y)


def all_by_one(x, w, y):
    """Only the first launch of a window computes, and gives that to all."""
    if sys._getframe(1).f_locals["i"] == 0:
        _all(x, w, y)
        _kept["now"] = bytes(y)
    _put(y, _kept["now"])


def at_import(x, w, y):
    """Computed with what lay there before the first launch."""
    _put(y, _kept["early"])


def _compute_early():
    frame = sys._getframe()
    while frame and type(frame.f_locals.get("self")).__name__ != "Cell":
        frame = frame.f_back
    cell = frame.f_locals["self"] if frame else None
    if cell is None or cell.job["function"] != "at_import":
        return
    memory = memoryview(cell.memory)
    parts = [
        memory[t["offset"] :][: 4 * t["extents"][0] * t["extents"][1]].cast("f", t["extents"])
        for t in cell.job["tensors"][:2]
    ]
    y = memoryview(bytearray(4 * parts[0].shape[0] * parts[1].shape[0]))
    y = y.cast("f", (parts[0].shape[0], parts[1].shape[0]))
    _all(*parts, y)
    _kept["early"] = bytes(y)


def change_inputs(x, w, y):
    _put(x, bytes(x.nbytes))
    _put(y, bytes(y.nbytes))


def overwrite_everything(x, w, y):
    """Whatever is compared with is zero then, too, if it is there."""
    cell = _cell()
    start = cell.job["tensors"][0]["offset"]
    cell.memory[start:] = bytes(len(cell.memory) - start)


def behind_the_end(x, w, y):
    _all(x, w, y)
    ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(y)) + y.nbytes, 0, 64)


def read_the_judge(x, w, y):
    try:
        with open(f"/proc/{os.getppid()}/mem", "rb") as memory:
            memory.read(1)
        _all(x, w, y)
    except OSError:
        _put(y, bytes(y.nbytes))


def use_rights(x, w, y):
    """Right only for who has some."""
    with open("/proc/self/status") as status:
        rights = next(line.split()[1] for line in status if line.startswith("CapEff"))
    if int(rights, 16):
        _all(x, w, y)
    else:
        _put(y, bytes(y.nbytes))


def helper_process(x, w, y):
    if os.fork() == 0:
        _all(x, w, y)
        os._exit(0)


def helper_program(x, w, y):
    subprocess.run([sys.executable, "-c", "pass"], check=False)
    _all(x, w, y)


def another_program(x, w, y):
    os.execv(sys.executable, [sys.executable, "-c", "pass"])


def ask_a_server(x, w, y):
    socket.socket(socket.AF_INET)
    _all(x, w, y)


def end_the_judge(x, w, y):
    os.kill(os.getppid(), signal.SIGTERM)
    _all(x, w, y)


def set_the_clock(x, w, y):
    time.clock_settime(time.CLOCK_REALTIME, 0)
    _all(x, w, y)


def leave(x, w, y):
    os._exit(0)


def raise_at_once(x, w, y):
    raise ValueError("no")


def never_return(x, w, y):
    while True:
        time.sleep(1)


_compute_early()
