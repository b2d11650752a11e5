# SPDX-License-Identifier: MIT
"""What a function's tensors come as, and how what it returns gets where the kernel's outputs are.

It is the first part of the program that guest.py goes on with; cuda_tensors.py, between the two,
has the same of a GPU.
"""
import functools
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


def map_file(file, whole):
    """A file of harness's memory, whose descriptor is not needed then."""
    memory = mmap.mmap(file, whole)
    try:
        memory.madvise(mmap.MADV_HUGEPAGE)
    except (AttributeError, OSError, ValueError):
        pass  # small pages then
    os.close(file)
    return memory


def map_tensor(t):
    """The tensor's memory, flat."""
    return part_of(map_file(t["file"], t["whole"]), t["offset"], t)


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


# ---- DLPack ----


@functools.lru_cache(None)
def dlpack():
    """Made when somebody asks: most never do."""
    return DLPack()


class DLPack:
    """Tensors as dlpack.h describes them, by ctypes, since NumPy's DLPack has no bfloat16.

    What is lent is never released: a tensor is there as long as its process, so its description is
    made once, stays, and has no deleter, as dlpack.h allows. So nothing of ours runs while somebody
    releases memory, on a thread without the interpreter's lock or beside an exception. Of what is
    returned the capsule is looked into and not taken: the end of the capsule releases it.
    """

    NAME, CPU, BFLOAT16 = b"dltensor", 1, (4, 16)
    KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}

    def __init__(self):
        import ctypes

        class Tensor(ctypes.Structure):  # DLManagedTensor, which begins with a DLTensor
            _fields_ = [
                ("data", ctypes.c_void_p),
                ("device", ctypes.c_int32),
                ("device_index", ctypes.c_int32),
                ("rank", ctypes.c_int32),
                ("kind", ctypes.c_uint8),
                ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64),
                ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p),
            ]

        api = ctypes.PyDLL(None)  # not ctypes.pythonapi, whose functions others describe, too
        self.c, self.Tensor, self.lent = ctypes, Tensor, []
        self.make, self.find = api.PyCapsule_New, api.PyCapsule_GetPointer
        self.make.restype = ctypes.py_object
        self.make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.find.restype = ctypes.c_void_p
        self.find.argtypes = [ctypes.py_object, ctypes.c_char_p]

    def lend(self, flat, t):
        """A description of memory that holds bf16, for capsule()."""
        place = (self.c.c_char * flat.nbytes).from_buffer(flat)
        self.lent.append(place)
        return self.describe(self.c.addressof(place), (self.CPU, 0), self.BFLOAT16, t["extents"])

    def describe(self, at, device, kind, extents):
        """The same of elements of a kind, by its number and bits, that lie anywhere."""
        numbers = self.c.c_int64 * len(extents)
        shape, strides = numbers(*extents), numbers(*row_major(extents))
        one = self.Tensor(at, *device, len(extents), *kind, 1, shape, strides, 0, None, None)
        self.lent.append(one)
        return self.c.addressof(one)

    def capsule(self, described):
        return self.make(described, self.NAME, None)

    def look(self, capsule):
        """Its tensor: good as long as the capsule is."""
        return self.Tensor.from_address(self.find(capsule, self.NAME))

    def shape(self, tensor):
        return tuple(tensor.shape[i] for i in range(tensor.rank))

    def strides(self, tensor):
        """In elements."""
        given = tensor.strides
        shape = self.shape(tensor)
        return [given[i] for i in range(tensor.rank)] if given else row_major(shape)

    def element_name(self, tensor):
        lanes = f"x{tensor.lanes}" if tensor.lanes != 1 else ""
        return f"{self.KINDS.get(tensor.kind, '?')}{tensor.bits}{lanes}"

    def as_numpy(self, tensor, dtype):
        """Its memory, of whatever strides."""
        import numpy

        shape, strides = self.shape(tensor), self.strides(tensor)
        reach = [(n - 1) * s for n, s in zip(shape, strides)]
        first, last = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
        each = tensor.bits // 8
        at = tensor.data + tensor.byte_offset + first * each
        memory = (self.c.c_char * ((last - first + 1) * each)).from_address(at)
        return numpy.ndarray(shape, dtype, memory, -first * each, [s * each for s in strides])


def row_major(extents):
    return [math.prod(extents[i + 1 :]) for i in range(len(extents))]


@functools.lru_cache(None)
def bfloat_class():
    import numpy

    class BFloat(numpy.ndarray):
        """bf16 as its bits, which says by DLPack what they are. Parts of it are bits alone."""

        described = None

        def __dlpack__(self, *args, **wishes):
            if self.described is None:
                return super().__dlpack__(*args, **wishes)
            return dlpack().capsule(self.described)

        def __dlpack_device__(self):
            return DLPack.CPU, 0

    return BFloat


def as_lent(flat, t):
    """NumPy's array, for a function that makes another framework's tensor of it."""
    array = as_numpy(flat, t)
    if t["dtype"] == "bf16":
        array = array.view(bfloat_class())
        array.described = dlpack().lend(flat, t)
    return array


# ---- which of them ----


def has_module(name):
    return importlib.util.find_spec(name) is not None


def annotated_torch(parameters):
    """Does the function say that it takes torch.Tensor?"""
    for a in (p.annotation for p in parameters):
        of_torch = str(getattr(a, "__module__", "")).split(".")[0] == "torch"
        if a == "torch.Tensor" or (of_torch and getattr(a, "__name__", "") == "Tensor"):
            return True
    return False


def choose_framework(module, parameters, home):
    """What tensors come as: a name and what makes one of flat memory and its description."""
    wish = getattr(module, "harness_framework", None)
    if callable(wish):
        return "own", home.maker_by(wish)
    if wish is None and annotated_torch(parameters):
        wish = "torch"
    if wish is None:
        wish = home.usual()
    if wish not in home.MAKERS:
        names = ", ".join(f'"{name}"' for name in home.MAKERS)
        raise Misfit(f"harness_framework is {wish!r}{home.WHERE}: {names}, or a function")
    if wish != home.PLAIN and not has_module(wish):
        raise Unsupported(f"{sys.executable} has no module {wish}")
    return wish, home.MAKERS[wish]


# ---- results that are returned ----


def element_name(array):
    """float32, torch.float32 as float32, and of a buffer its format."""
    return str(getattr(array, "dtype", getattr(array, "format", "?"))).split(".")[-1]


def is_array(part):
    """Is it one for NumPy, or a buffer?"""
    if hasattr(part, "__array__"):
        return True
    try:
        return memoryview(part) is not None
    except TypeError:
        return False


def comes_by_dlpack(part, output):
    """Where nothing else tells what it is: NumPy asks a bfloat16 of PyTorch or JAX in vain."""
    if not hasattr(part, "__dlpack__"):
        return False
    if element_name(part) == "bfloat16":
        return element_name(output) != "bfloat16"
    return not is_array(part)


class Returned:
    """Puts what a function returns where the kernel's outputs are.

    An array of NumPy, and a tensor of PyTorch on the CPU, is there when it is returned: that it is
    copied is not its function's work. Anything else may be work that was put off, and is copied in
    the timed part. `outputs` are the kernel's, as framework's arrays and flat.
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

    def check(self, shape, kind, wanted, t):
        if tuple(shape) != tuple(t["extents"]):
            raise Misfit(f"{self.name} returns shape {shape}, {t['name']} is {tuple(t['extents'])}")
        if kind != wanted:
            bits = ", the bits of bf16" if t["dtype"] == "bf16" and wanted == "uint16" else ""
            raise Misfit(f"{self.name} returns {kind}, {t['name']} is {wanted}{bits}")

    def put_by_dlpack(self, part, flat, t):
        capsule = part.__dlpack__()
        tensor = dlpack().look(capsule)
        if tensor.device != DLPack.CPU:
            raise Misfit(f"{self.name} returns a tensor on another device than the CPU")
        wanted = ELEMENTS[t["dtype"]][2]
        self.check(dlpack().shape(tensor), dlpack().element_name(tensor), wanted, t)
        as_numpy(flat, t)[...] = dlpack().as_numpy(tensor, ELEMENTS[t["dtype"]][1])

    def put_one(self, part, place, t):
        output, flat = place
        if comes_by_dlpack(part, output):
            return self.put_by_dlpack(part, flat, t)
        part = memoryview(part) if isinstance(output, memoryview) else part
        self.check(tuple(getattr(part, "shape", ())), element_name(part), element_name(output), t)
        if isinstance(output, memoryview):
            output.cast("B")[:] = memoryview(part).cast("B")
        else:
            output[...] = part

    def put(self, result):
        for part, place, t in zip(self.parts(result), self.outputs, self.described):
            if part is None:
                raise Misfit(
                    f"{self.name} returns None: it takes the inputs alone, so it has to return "
                    f"{t['name']}, or take that as a parameter"
                )
            self.put_one(part, place, t)

    def look(self, result):
        """The first one decides how the others come."""
        late = all(self.is_there(part) for part in self.parts(result))
        if self.late is None:
            self.late = late
        elif self.late and not late:
            raise Misfit(f"{self.name} returned an array before, now {type(result).__name__}")


# ---- where they are ----


class Host:
    """Memory of the host: files of harness's, which come with the interpreter or later, in `files`.

    What a function has to do there is done when it returns.
    """

    MAKERS = {"numpy": as_numpy, "torch": as_torch, "buffer": as_buffer}
    PLAIN, WHERE = "buffer", ""  # what needs no module; for messages
    put_away = Returned
    goes_on = False

    def __init__(self, files=None):
        self.files = files

    def tensors(self, described):
        return [map_tensor(t) for t in described]

    def block(self, whole):
        """A file that has come beside what was said, for part()."""
        memory = map_file(self.files.pop(), whole)
        memory[:: mmap.PAGESIZE]  # here, so that no timed call is the first to touch a page
        return memory

    part = staticmethod(part_of)

    def usual(self):
        return "numpy" if has_module("numpy") else "buffer"

    def maker_by(self, wish):
        if not has_module("numpy"):
            raise Unsupported("this Python has no module numpy, which harness_framework takes from")
        return lambda flat, t: wish(as_lent(flat, t))

    # What a result is copied to, where the function's tensors are of its own framework.
    own_output = staticmethod(as_numpy)
