# SPDX-License-Identifier: MIT
"""What a function's tensors come as, and how what it returns gets where the kernel's outputs are.

It is the first part of the program that guest.py goes on with.
"""
import importlib.util
import math
import mmap
import os
import sys

# The type of an element: for struct and memoryview, of NumPy, of PyTorch. NumPy has no bfloat16:
# its bits come as they are.
ELEMENTS = {
    "fp32": ("f", "float32", "float32"),
    "fp64": ("d", "float64", "float64"),
    "fp16": ("H", "float16", "float16"),
    "bf16": ("H", "uint16", "bfloat16"),
    "int32": ("i", "int32", "int32"),
}


class Unsupported(Exception):
    """It cannot be measured here, through no fault of the function."""


class Misfit(Exception):
    """The function does not go with the kernel."""


# ---- tensors ----


def map_tensor(t):
    """The tensor's memory, flat."""
    memory = mmap.mmap(t["file"], t["whole"])
    try:
        memory.madvise(mmap.MADV_HUGEPAGE)
    except (AttributeError, OSError, ValueError):
        pass  # small pages then
    os.close(t["file"])
    return part_of(memory, t["offset"], t)


def part_of(memory, start, t):
    """A tensor that begins there, flat."""
    nr = math.prod(t["extents"])
    code = ELEMENTS[t["dtype"]][0]
    bytes_each = memoryview(bytes(8)).cast(code).itemsize
    return memoryview(memory)[start : start + nr * bytes_each].cast(code)


def as_buffer(flat, t):
    return flat.cast("B").cast(flat.format, t["extents"])


def as_numpy(flat, t):
    import numpy

    array = numpy.frombuffer(flat, dtype=ELEMENTS[t["dtype"]][1])
    return array.reshape(t["extents"])


def as_torch(flat, t):
    import torch
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensor = torch.frombuffer(flat, dtype=getattr(torch, ELEMENTS[t["dtype"]][2]))
    return tensor.view(t["extents"])


MAKERS = {"numpy": as_numpy, "torch": as_torch, "buffer": as_buffer}


def has_module(name):
    return importlib.util.find_spec(name) is not None


def annotated_torch(parameters):
    """Does the function say that it takes torch.Tensor?"""
    for a in (p.annotation for p in parameters):
        of_torch = str(getattr(a, "__module__", "")).split(".")[0] == "torch"
        if a == "torch.Tensor" or (of_torch and getattr(a, "__name__", "") == "Tensor"):
            return True
    return False


def choose_framework(module, parameters):
    """What tensors come as: a name and what makes one of flat memory and its description."""
    wish = getattr(module, "harness_framework", None)
    if callable(wish):
        if not has_module("numpy"):
            raise Unsupported("this Python has no module numpy, which harness_framework takes from")
        return "own", lambda flat, t: wish(as_numpy(flat, t))
    if wish is None and annotated_torch(parameters):
        wish = "torch"
    if wish is None:
        wish = "numpy" if has_module("numpy") else "buffer"
    if wish not in MAKERS:
        raise Misfit(f'harness_framework is {wish!r}: "numpy", "torch", "buffer", or a function')
    if wish != "buffer" and not has_module(wish):
        raise Unsupported(f"{sys.executable} has no module {wish}")
    return wish, MAKERS[wish]


# ---- results that are returned ----


def element_name(array):
    """float32, torch.float32 as float32, and of a buffer its format."""
    return str(getattr(array, "dtype", getattr(array, "format", "?"))).split(".")[-1]


class Returned:
    """Puts what a function returns where the kernel's outputs are.

    An array of NumPy, and a tensor of PyTorch on the CPU, is there when it is returned: that it is
    copied is not its function's work. Anything else may be work that was put off, and is copied in
    the timed part.
    """

    def __init__(self, outputs, described, name):
        self.outputs, self.described, self.name = outputs, described, name
        self.late = None  # is it copied behind the timed part? Known from the first result on

    def parts(self, result):
        parts = result if isinstance(result, (tuple, list)) and len(self.outputs) > 1 else (result,)
        if len(parts) != len(self.outputs):
            names = ", ".join(t["name"] for t in self.described)
            raise Misfit(f"{self.name} returns {len(parts)} arrays, the outputs are {names}")
        return parts

    def is_there(self, part):
        numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
        if numpy and type(part) is numpy.ndarray:
            return True
        return bool(torch) and type(part) is torch.Tensor and part.device.type == "cpu"

    def put_one(self, part, output, t):
        if part is None:
            raise Misfit(
                f"{self.name} returns None: it takes the inputs alone, so it has to return "
                f"{t['name']}, or take that as a parameter"
            )
        part = memoryview(part) if isinstance(output, memoryview) else part
        shape = tuple(getattr(part, "shape", ()))
        if shape != tuple(t["extents"]):
            raise Misfit(f"{self.name} returns shape {shape}, {t['name']} is {tuple(t['extents'])}")
        kind, wanted = element_name(part), element_name(output)
        if kind != wanted:
            raise Misfit(f"{self.name} returns {kind}, {t['name']} is {wanted}")
        if isinstance(output, memoryview):
            output.cast("B")[:] = memoryview(part).cast("B")
        else:
            output[...] = part

    def put(self, result):
        for part, output, t in zip(self.parts(result), self.outputs, self.described):
            self.put_one(part, output, t)

    def look(self, result):
        """The first one decides how the others come."""
        late = all(self.is_there(part) for part in self.parts(result))
        if self.late is None:
            self.late = late
        elif self.late and not late:
            raise Misfit(f"{self.name} returned an array before, now {type(result).__name__}")
