# SPDX-License-Identifier: MIT
"""Functions of PyTorch for y = x W^T that are right, whatever else they do: none may be refused."""
import threading

import torch

harness_framework = "torch"


def matmul(x, w, out):
    torch.matmul(x, w.T, out=out)


def returned(x, w):
    return torch.nn.functional.linear(x, w)


def copied(x, w, y):
    y.copy_(x @ w.T)


def in_float64(x, w):
    return (x.double() @ w.double().T).float()


def in_pieces(x, w, y):
    for rows, result in zip(x.split(2), y.split(2)):
        torch.mm(rows, w.T, out=result)


def _rows(x, w, y):
    torch.mm(x, w.T, out=y)


def joined(x, w, y):
    half = x.shape[0] // 2
    thread = threading.Thread(target=_rows, args=(x[half:], w, y[half:]))
    thread.start()
    _rows(x[:half], w, y[:half])
    thread.join()


@torch.jit.script
def _scripted(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.matmul(x, w.t())


def scripted(x, w):
    return _scripted(x, w)


_packed = {}


def packed_weights(x, w):
    """Weights stay as they are for the life of a process."""
    if w.data_ptr() not in _packed:
        _packed[w.data_ptr()] = w.T.contiguous()
    return x @ _packed[w.data_ptr()]
