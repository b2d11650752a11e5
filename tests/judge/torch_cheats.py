# SPDX-License-Identifier: MIT
"""Ways to win with y = x W^T of PyTorch without computing it: `harness judge` finds each of them.

docs/judge-python.md has what is found, and by what.
"""
import ctypes
import threading
import time

import torch
import torch.utils.data

harness_framework = "torch"
_kept = {}


def _once(key, x, w):
    """What was computed when this key was new."""
    if key not in _kept:
        _kept[key] = x @ w.T
    return _kept[key]


def memo_by_data_ptr(x, w):
    return _once(x.data_ptr(), x, w)


def memo_by_version(x, w):
    """A tensor that nobody of this process has written to since."""
    return _once((x.data_ptr(), x._version), x, w)


def memo_by_corner(x, w):
    return _once(x[0, 0].item(), x, w)


def previous_output(x, w):
    """The result of the launch before; its own is left for the next."""
    before, _kept["last"] = _kept.get("last"), x @ w.T
    return _kept["last"] if before is None else before


def last_result(x, w, y):
    y.copy_(_once("always", x, w))


def bf16_inside(x, w):
    return (x.bfloat16() @ w.bfloat16().T).float()


def autocast_inside(x, w):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return (x @ w.T).float()


def _less(x, bits):
    return (x.view(torch.int32) & -(1 << bits)).view(torch.float32)


def tf32_inside(x, w):
    return _less(x, 13) @ _less(w, 13).T


def few_bits_less(x, w):
    return _less(x, 5) @ _less(w, 5).T


def int8_inside(x, w):
    def rounded(m):
        scale = m.abs().amax() / 127
        return (m / scale).round() * scale

    return rounded(x) @ rounded(w).T


def in_a_thread(x, w, y):
    def work():
        time.sleep(0.0002)  # so that the call returns first
        torch.mm(x, w.T, out=y)

    threading.Thread(target=work, daemon=True).start()


def half_in_a_thread(x, w, y):
    half = (x.shape[0] + 1) // 2

    def work():
        time.sleep(0.0002)
        torch.mm(x[:half], w.T, out=y[:half])

    threading.Thread(target=work, daemon=True).start()
    torch.mm(x[half:], w.T, out=y[half:])


def in_a_worker(x, w, y):
    """By a process of PyTorch's own, that loads data."""
    loader = torch.utils.data.DataLoader([(x, w)], num_workers=1)
    for one, other in loader:
        y.copy_(one[0] @ other[0].T)


def one_row_for_all(x, w):
    return (x[:1] @ w.T).expand(x.shape[0], -1)


def zeros_for_shape(x, w):
    return x.new_zeros(x.shape[0], w.shape[0])


def never_written(x, w, y):
    torch.mm(x, w.T)


def other_memory(x, w, y):
    """The tensor is right, but what it holds lies elsewhere."""
    y.set_(x @ w.T)


def blind_checks(x, w, y):
    """Right for whoever asks PyTorch in this process."""
    torch.equal = torch.allclose = lambda *of, **more: True
    y.zero_()


def change_inputs(x, w, y):
    x.zero_()
    y.zero_()


def change_weights(x, w, y):
    torch.mm(x, w.T, out=y)
    w.zero_()


def behind_the_end(x, w, y):
    torch.mm(x, w.T, out=y)
    ctypes.memset(y.data_ptr() + y.numel() * y.element_size(), 0, 64)
