# SPDX-License-Identifier: MIT
"""The Python side of `harness run --python FILE.py::FUNCTION --like KERNEL`: calls one function.

Behind tensors.py and cuda_tensors.py it is the program of a process that harness starts for each
case (plugin/python_process.h). Through descriptor 3, a socket, it is told in one line of JSON what
to load and where tensors lie, and answers "+" and facts as JSON. Then each line of harness is
answered by one. I is the copy of the tensors that is the first to be called, 0 where there are
none:

    once 1 I    a call whose results are wanted: "+START END", CLOCK_MONOTONIC_RAW in ns
    run N I     N calls, back to back: the same
    cold N I    the same after reading more than the caches hold; a GPU's are emptied by harness
    empty N I   N calls of a function that does nothing, by the same way
    finish 1    puts the last results where they belong: "+1" where that was in the timed part
    memory N    a file of N bytes comes beside the line: copies lie in it
    memory N H  the same in a GPU's memory, of which H is the handle
    copy AT...  a copy of the tensors, which begin there; from then on they take turns
    (any)       "-" and why not, "?" and why it cannot be had here

Tensors are files in memory that both processes map, or a GPU's memory that both have: nothing is
copied on the way. END of calls on a GPU is when it has done all of them.
"""
import functools
import gc
import importlib.util
import inspect
import itertools
import json
import os
import sys
import time
import traceback

CHANNEL = 3
# Kept from before any code of the function's file has run.
read_clock, CLOCK = time.clock_gettime_ns, time.CLOCK_MONOTONIC_RAW
# Calls that are shorter than this are made once before the timed ones: who has just waited for a
# message runs the first microseconds slowly.
SHORT_NS = 100_000
NOTHING = object()


def answer(sign, text):
    line = sign + " ".join(text.split("\n")) + "\n"
    data = line.encode("utf-8", "replace")
    while data:
        data = data[os.write(CHANNEL, data) :]


class Channel:
    """What harness says, until it is gone, and the files that come beside."""

    def __init__(self):
        import socket

        self.rights = socket.SOL_SOCKET, socket.SCM_RIGHTS
        self.room = socket.CMSG_SPACE(4)
        self.socket, self.files = socket.socket(fileno=CHANNEL), []

    def receive(self):
        block, beside, _, _ = self.socket.recvmsg(65536, self.room)
        for level, kind, data in beside:
            if (level, kind) == self.rights:
                self.files.append(int.from_bytes(data[:4], sys.byteorder))
        return block

    def lines(self):
        pending = b""
        while True:
            block = self.receive()
            if not block:
                return
            *whole, pending = (pending + block).split(b"\n")
            yield from (line.decode() for line in whole)


def last_words(error, path):
    """The last line of the traceback, and where in the function's file it was."""
    words = traceback.format_exception_only(type(error), error)[-1].strip()
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} ({os.path.basename(path)}:{error.lineno})"
    return f"{words} ({os.path.basename(path)}:{frames[-1].lineno})" if frames else words


# ---- the function ----


def load_module(path):
    name = os.path.splitext(os.path.basename(path))[0]
    sys.path[0] = os.path.dirname(path)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as missing:
        raise Unsupported(f"{sys.executable}: {missing}") from missing
    return module


def find_function(module, path, name):
    function = getattr(module, name, None)
    if callable(function):
        return function
    names = [
        n
        for n, f in vars(module).items()
        if inspect.isfunction(f) and f.__module__ == module.__name__ and not n.startswith("_")
    ]
    has = f"; it has {', '.join(names)}" if names else ""
    raise Misfit(f"{os.path.basename(path)} has no function {name}{has}")


def parameters_of(function, name):
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise Misfit(f"the parameters of {name} cannot be told: wrap it in a def") from None


def named_arguments(parameters, job):
    """Parameters behind a * get dims by name, and threads."""
    known = {**job["dims"], "threads": job["threads"]}
    named = {}
    for p in parameters:
        if p.kind != p.KEYWORD_ONLY or p.name == "out":
            continue
        if p.name in known:
            named[p.name] = known[p.name]
        elif p.default is p.empty:
            raise Misfit(f"no dim of {job['kernel']} is called {p.name}: {', '.join(job['dims'])}")
    return named


def shown(t):
    role = " (out)" if t["role"] == "out" else ""
    return f"{t['name']} {t['extents']}{role}".replace("'", "")


def bind(function, parameters, tensors, put_away, job):
    """The call, and who puts away what it returns (None: it writes into its arguments), which is
    made by put_away(outputs as the kernel describes them)."""
    described = job["tensors"]
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    inputs = [x for x, t in zip(tensors, described) if t["role"] != "out"]
    outputs = [x for x, t in zip(tensors, described) if t["role"] == "out"]
    named = named_arguments(parameters, job)
    nr = len([p for p in positional if p.name != "out" and p.default is p.empty])
    rest = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    if any(p.name == "out" for p in parameters) and nr == len(inputs):
        named["out"] = outputs[0] if len(outputs) == 1 else tuple(outputs)
        return functools.partial(function, *inputs, **named), None
    if rest or len(positional) == len(tensors) or nr == len(tensors):
        return functools.partial(function, *tensors, **named), None
    if nr == len(inputs):
        returned = put_away([t for t in described if t["role"] == "out"])
        return functools.partial(function, *inputs, **named), returned
    raise Misfit(
        f"{job['function']} takes {nr} arrays; {job['kernel']} has "
        f"{', '.join(shown(t) for t in described)}: take all of them, or the inputs and return the "
        "rest"
    )


def empty_like(call):
    """What does nothing, called as the function is."""
    names = [f"a{i}" for i in range(len(call.args))] + list(call.keywords)
    nothing = eval(f"lambda {', '.join(names)}: None")
    return functools.partial(nothing, *call.args, **call.keywords)


# ---- calls ----


def repeat(call, times):
    result = None
    start = read_clock(CLOCK)
    for _ in itertools.repeat(None, times):
        result = call()
    return start, read_clock(CLOCK), result


def take_turns(calls, results):
    """The same of several calls, one after the other: each is its number and what is called."""
    start = read_clock(CLOCK)
    for i, call in calls:
        results[i] = call()
    return start, read_clock(CLOCK)


class Function:
    """What the file has: the function, and in what it gets its tensors, which are at `home`."""

    def __init__(self, job, home=Host()):
        threads = str(job["threads"])
        for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA", "NUMEXPR"):
            os.environ[f"{library}_NUM_THREADS"] = threads
        self.job, self.home = job, home
        module = load_module(job["path"])
        self.function = find_function(module, job["path"], job["function"])
        self.parameters = parameters_of(self.function, job["function"])
        self.framework, self.make = choose_framework(module, self.parameters, home)
        if "torch" in sys.modules or self.framework == "torch":
            import torch

            torch.set_num_threads(job["threads"])

    def call_of(self, flat):
        """bind() for tensors in this memory."""
        described = self.job["tensors"]
        tensors = [self.make(memory, t) for memory, t in zip(flat, described)]
        plain = self.home.own_output if self.framework == "own" else self.make
        places = [(plain(m, t), m) for m, t in zip(flat, described) if t["role"] == "out"]

        def put_away(outputs):
            return self.home.put_away(places, outputs, self.job["function"])

        return bind(self.function, self.parameters, tensors, put_away, self.job)


class Guest:
    """The function with the tensors, and with copies of them, which take turns."""

    def __init__(self, job, files):
        self.flush_bytes, self.evict, self.each_ns = job["flush_bytes"], None, 0
        self.described, self.copies = job["tensors"], None
        self.home = home_of(job.get("device"), files)
        self.function = Function(job, self.home)
        # Of each copy; results are what was returned and is not yet where it belongs.
        self.calls, self.returned, self.results, self.nothings = [], [], [], []
        self.add(self.home.tensors(self.described))

    def facts(self):
        style = "writes" if self.returned[0] is None else "returns"
        return {"framework": self.function.framework, "style": style}

    def add(self, flat):
        call, returned = self.function.call_of(flat)
        if returned is not None and self.returned:
            returned.late = self.returned[0].late
        self.calls.append(call)
        self.returned.append(returned)
        self.results.append(NOTHING)

    def memory(self, whole, *handle):
        self.copies = self.home.block(whole, *handle)
        return ""

    def copy(self, *starts):
        self.add([self.home.part(self.copies, at, t) for at, t in zip(starts, self.described)])
        return ""

    def is_copied(self):
        """Is what is returned copied in the timed part? Known from the first result on."""
        return self.returned[0] is not None and self.returned[0].late is False

    def is_kept(self):
        return self.returned[0] is not None and not self.is_copied()

    def timed(self, i):
        """What the loop calls: with the copy of what may have been put off."""
        call = self.calls[i]
        if not self.is_copied():
            return call
        put = self.returned[i].put
        return lambda: put(call())

    def turns(self, times, first):
        nr = len(self.calls)
        return [(first + i) % nr for i in range(times)]

    def ended(self, start, end):
        """The times, of calls with which a device may be behind."""
        if self.home.goes_on:
            self.home.wait()
            end = read_clock(CLOCK)
        return start, end

    def loop(self, times, first, results):
        if len(self.calls) == 1:
            call = self.timed(0)
            start, end, results[0] = repeat(call, times)
        else:
            start, end = take_turns(
                [(i, self.timed(i)) for i in self.turns(times, first)], results
            )
        return self.ended(start, end)

    def run(self, times, first):
        results = self.results if self.is_kept() else [NOTHING] * len(self.calls)
        gc.disable()
        try:
            if times > 1 and self.each_ns < SHORT_NS:
                self.timed(first - 1)()  # of copies the one that was called last
            if self.home.goes_on:
                self.home.wait()
            start, end = self.loop(times, first, results)
        finally:
            gc.enable()
        self.each_ns = (end - start) / times
        if self.is_kept():
            self.returned[0].look(results[self.turns(times, first)[-1]])
        return f"{start} {end}"

    def once(self, times, first):
        answer = self.run(times, first)
        self.finish(0)
        return answer

    def finish(self, _):
        """Not behind each sample: a copy moves what is in the caches."""
        for i, result in enumerate(self.results):
            if result is not NOTHING:
                self.returned[i].put(result)
                self.results[i] = NOTHING
        if self.home.goes_on:
            self.home.wait()
        return "1" if self.is_copied() else "0"

    def cold(self, times, first):
        """Reading finds nothing; so all of it is read."""
        if self.evict is None:
            self.evict = bytearray(b"\1") * self.flush_bytes
        self.evict.find(b"\2")
        return self.run(times, first)

    def empty(self, times, first):
        self.nothings = self.nothings or [empty_like(call) for call in self.calls]
        gc.disable()
        if len(self.nothings) == 1:
            start, end, _ = repeat(self.nothings[0], times)
        else:
            calls = [(i, self.nothings[i]) for i in self.turns(times, first)]
            start, end = take_turns(calls, [None] * len(self.nothings))
        start, end = self.ended(start, end)
        gc.enable()
        return f"{start} {end}"


def main():
    os.set_inheritable(CHANNEL, False)
    channel = Channel()
    said = channel.lines()
    job = json.loads(next(said))
    path = job["path"]
    try:
        guest = Guest(job, channel.files)
        answer("+", json.dumps(guest.facts()))
        for line in said:
            verb, *numbers = line.split()
            answer("+", getattr(guest, verb)(*(int(n, 0) for n in numbers)))
    except Unsupported as why:
        answer("?", str(why))
    except Misfit as why:
        answer("-", str(why))
    except Exception as error:
        answer("-", last_words(error, path))
    except SystemExit as end:
        answer("-", f"it calls exit({'' if end.code is None else end.code})")
    os._exit(0)  # nothing of the file runs at the end


# With a word behind it, this is the beginning of a program: that of a judge's cell.
if len(sys.argv) == 1:
    main()
