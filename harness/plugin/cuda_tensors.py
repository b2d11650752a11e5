# SPDX-License-Identifier: MIT
"""The same where tensors are in a GPU's memory: harness lends it, and the interpreter opens it.

It stands between tensors.py and guest.py in one program. By the CUDA driver alone, through ctypes:
no package is needed, and what frameworks do is done in the same context, the device's primary one.
"""
import collections

# The type of an element: of DLPack by its number and bits, of the CUDA array interface, which has
# no bfloat16.
CUDA_ELEMENTS = {
    "fp32": ((2, 32), "<f4"),
    "fp64": ((2, 64), "<f8"),
    "fp16": ((2, 16), "<f2"),
    "bf16": ((4, 16), None),
    "int32": ((0, 32), "<i4"),
}


class CudaError(Misfit):
    """A call of the driver failed, or work of the function did, which such a call is told."""


class Driver:
    """The driver's calls, by name."""

    def __init__(self):
        import ctypes

        self.c = ctypes
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as why:
            raise Unsupported(f"{sys.executable} finds no CUDA driver: {why}") from None

    def words(self, code):
        text = self.c.c_char_p()
        self.library.cuGetErrorString(code, self.c.byref(text))
        return text.value.decode("utf-8", "replace") if text.value else f"CUDA error {code}"

    def look(self, name, code):
        if code:
            raise CudaError(f"{name}: {self.words(code)}")

    def do(self, name, *arguments):
        self.look(name, getattr(self.library, name)(*arguments))


# ---- tensors ----


class DeviceTensor:
    """A tensor in a GPU's memory for whoever takes such, row by row. It speaks DLPack and, but for
    bf16, the CUDA array interface; kernels of Triton take it as it is (data_ptr() and dtype)."""

    def __init__(self, index, at, t):
        kind, self.typestr = CUDA_ELEMENTS[t["dtype"]]
        self.index, self.at = index, at
        self.shape, self.dtype = tuple(t["extents"]), ELEMENTS[t["dtype"]][2]
        self.nbytes = math.prod(self.shape) * kind[1] // 8
        self.described = dlpack().describe(at, (Cuda.DLPACK, index), kind, t["extents"])

    def data_ptr(self):
        return self.at

    def __dlpack_device__(self):
        return Cuda.DLPACK, self.index

    def __dlpack__(self, *args, copy=None, **wishes):
        """What it holds is there, whatever stream asks: harness waits before it has a call made."""
        if copy:
            raise BufferError("this tensor is lent: there is no copy of it")
        return dlpack().capsule(self.described)

    @property
    def __cuda_array_interface__(self):
        if self.typestr is None:
            raise AttributeError(
                f"the CUDA array interface has no {self.dtype}: take it by DLPack, as "
                "torch.from_dlpack does"
            )
        return {
            "shape": self.shape,
            "typestr": self.typestr,
            "data": (self.at, False),
            "strides": None,
            "stream": None,
            "version": 3,
        }

    def __repr__(self):
        return f"DeviceTensor({self.dtype} {list(self.shape)} on cuda:{self.index})"


def as_device_tensor(tensor, t):
    return tensor


def as_cuda_torch(tensor, t):
    import torch

    if not torch.cuda.is_available():
        raise Unsupported(f"the PyTorch of {sys.executable} has no CUDA here")
    return torch.from_dlpack(tensor)


def as_cupy(tensor, t):
    import cupy

    return cupy.from_dlpack(tensor)


# ---- results that are returned ----

# Where elements are, how many, their distances in elements and what they are; what keeps them.
Given = collections.namedtuple("Given", "at shape strides element owner")
ARRAY_KINDS = {"f": "float", "i": "int", "u": "uint", "c": "complex", "b": "bool"}


def given_by_interface(interface):
    typestr, shape = interface["typestr"], tuple(interface["shape"])
    each = int(typestr[2:])
    strides = interface.get("strides")
    return Given(
        interface["data"][0],
        shape,
        [s // each for s in strides] if strides else row_major(shape),
        f"{ARRAY_KINDS.get(typestr[1], typestr[1])}{8 * each}",
        interface,
    )


def given_by_dlpack(capsule):
    tensor, of = dlpack().look(capsule), dlpack()
    at = (tensor.data or 0) + tensor.byte_offset
    return Given(at, of.shape(tensor), of.strides(tensor), of.element_name(tensor), capsule)


class CudaReturned(Returned):
    """The same on a GPU. What PyTorch and CuPy return is enqueued by then, and done when the device
    has been waited for, which is timed: that it is copied is not the function's work."""

    def __init__(self, home, *what):
        super().__init__(*what)
        self.home = home

    def is_there(self, part):
        torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
        if isinstance(part, DeviceTensor) or (torch and type(part) is torch.Tensor):
            return True
        return bool(cupy) and type(part) is cupy.ndarray

    def elsewhere(self, device):
        return Misfit(f"{self.name} returns a tensor on {device}, not on cuda:{self.home.index}")

    def given(self, part):
        if hasattr(part, "__dlpack__"):
            device = tuple(part.__dlpack_device__())
            if device not in ((kind, self.home.index) for kind in self.home.DLPACK_KINDS):
                raise self.elsewhere(self.home.device_name(*device))
            return given_by_dlpack(part.__dlpack__(stream=self.home.LEGACY_STREAM))
        interface = getattr(part, "__cuda_array_interface__", None)
        if interface is None:
            raise Misfit(
                f"{self.name} returns {type(part).__name__}, which is no tensor on a GPU: it has "
                "neither __dlpack__ nor __cuda_array_interface__"
            )
        if interface.get("stream") is not None:
            self.home.wait()
        return given_by_interface(interface)

    def put_by_address(self, given, flat, t):
        self.check(given.shape, given.element, flat.dtype, t)
        own = row_major(given.shape)
        if any(n > 1 and s != o for n, s, o in zip(given.shape, given.strides, own)):
            raise Misfit(
                f"{self.name} returns a tensor whose elements do not lie one behind the other: "
                "return a contiguous one"
            )
        if flat.nbytes:
            self.home.copy(flat.at, given.at, flat.nbytes)

    def put_by_framework(self, part, output, t):
        """Whatever its strides."""
        if part.device != output.device:
            raise self.elsewhere(part.device)
        self.check(tuple(part.shape), element_name(part), element_name(output), t)
        output[...] = part

    def put_one(self, part, place, t):
        output, flat = place
        if type(part) is type(output) and not isinstance(part, DeviceTensor):
            self.put_by_framework(part, output, t)
        else:
            self.put_by_address(self.given(part), flat, t)


# ---- where they are ----


class Cuda:
    """Memory of a GPU that harness lends.

    A function has enqueued its work when it returns, on whatever streams: wait() is for all of it.
    """

    MAKERS = {"torch": as_cuda_torch, "cupy": as_cupy, "raw": as_device_tensor}
    PLAIN, WHERE = "raw", ", and on a GPU there are"
    DLPACK, DLPACK_KINDS = 2, (2, 13)  # of plain memory; and of managed
    LEGACY_STREAM = 1  # on which copy() is: who gives a tensor orders its work before
    HANDLE_BYTES, LAZY_PEER = 64, 1
    goes_on = True

    def __init__(self, device):
        self.driver, self.index, self.lent = Driver(), device["index"], device
        self.c = c = self.driver.c

        class Handle(c.Structure):
            _fields_ = [("bytes", c.c_char * self.HANDLE_BYTES)]

        self.Handle, self.context = Handle, c.c_void_p()
        number = c.c_int()
        self.set_up("cuInit", 0)
        self.set_up("cuDeviceGet", c.byref(number), self.index)
        self.set_up("cuDevicePrimaryCtxRetain", c.byref(self.context), number)
        self.set_up("cuCtxSetCurrent", self.context)
        self.set_current = self.driver.library.cuCtxSetCurrent
        self.synchronize = self.driver.library.cuCtxSynchronize

    def set_up(self, name, *arguments):
        """What fails here is no function's fault."""
        try:
            self.driver.do(name, *arguments)
        except CudaError as why:
            raise Unsupported(f"{sys.executable} cannot use cuda:{self.index}: {why}") from None

    def block(self, whole, handle):
        """Where memory of so many bytes begins that harness lends, for part()."""
        at, data = self.c.c_uint64(), handle.to_bytes(self.HANDLE_BYTES, "big")
        handle = self.Handle.from_buffer_copy(data)
        self.set_up("cuIpcOpenMemHandle_v2", self.c.byref(at), handle, self.LAZY_PEER)
        return at.value

    def part(self, at, start, t):
        return DeviceTensor(self.index, at + start, t)

    def tensors(self, described):
        at = self.block(self.lent["whole"], int(self.lent["memory"], 16))
        return [self.part(at, t["offset"], t) for t in described]

    def wait(self):
        """Whatever context the function has made current: the tensors are of this one."""
        code = self.set_current(self.context) or self.synchronize()
        self.driver.look("cuCtxSynchronize", code)

    def copy(self, to, at, nbytes):
        to, at, nbytes = self.c.c_uint64(to), self.c.c_uint64(at), self.c.c_size_t(nbytes)
        self.driver.do("cuMemcpyDtoD_v2", to, at, nbytes)

    def device_name(self, kind, index):
        if kind in self.DLPACK_KINDS:
            return f"cuda:{index}"
        return "the CPU" if kind == DLPack.CPU else "another device"

    def usual(self):
        if has_module("torch"):
            import torch

            if torch.cuda.is_available():
                return "torch"
        return "cupy" if has_module("cupy") else "raw"

    def maker_by(self, wish):
        return lambda tensor, t: wish(tensor)

    own_output = staticmethod(as_device_tensor)

    def put_away(self, *what):
        return CudaReturned(self, *what)


def home_of(device, files):
    """Where the tensors of a job are: by its "device", which the host's lack."""
    if device is None:
        return Host(files)
    if device["kind"] != "cuda":
        raise Unsupported(f"functions of Python have no tensors on {device['kind']} yet")
    return Cuda(device)
