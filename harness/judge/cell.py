# SPDX-License-Identifier: MIT
"""The life of a judge's cell whose variant is a function of Python: what guest.py does for `run`.

It stands behind guest.py, in one program. Descriptor 3 is the memory that judge and cell share,
descriptor 4 a line of JSON: what to load, and where board and tensors lie in that memory
(judge/arena.h). It stops itself, and does what the board says each time that it is continued.
Nothing that it says or does is believed, and the filter of system calls was entered before the
interpreter was started: whatever a function puts in the place of these names, it judges nobody.
"""
import signal

JOB = 4


def launch_of(call, returned):
    """What is returned is not there before it has been put where it belongs."""
    if returned is None:
        return call
    put = returned.put
    return lambda: put(call())


class Cell:
    def __init__(self, job):
        self.job, self.at = job, {name: at // 4 for name, at in job["board"].items()}
        self.memory = mmap.mmap(CHANNEL, job["whole"])
        self.board = memoryview(self.memory)[: job["board_bytes"]].cast("I")
        self.calls = []

    def say(self, state, words=""):
        data = words.encode("utf-8", "replace")[:500] + b"\0"
        start = 4 * self.at["words"]
        self.memory[start : start + len(data)] = data
        self.board[self.at["state"]] = self.job["states"][state]

    def make_calls(self):
        function = Function(self.job)
        for slot in range(self.job["slots"]):
            start = slot * self.job["slot_bytes"]
            flat = [
                part_of(self.memory, start + t["offset"], t) for t in self.job["tensors"]
            ]
            self.calls.append(launch_of(*function.call_of(flat)))

    def load(self):
        try:
            self.make_calls()
        except Unsupported as why:
            self.say("unsupported", str(why))
        except Misfit as why:
            self.say("failed", str(why))
        except BaseException as error:
            self.say("failed", last_words(error, self.job["path"]))
        else:
            self.say("ready")

    def launch(self):
        board, calls, first, done = self.board, self.calls, self.at["slot"], self.at["done"]
        gc.disable()
        for i in range(board[self.at["nr"]]):
            calls[board[first + i]]()
            board[done] = i + 1
        gc.enable()

    def wait(self):
        time.sleep(0.01)

    def obey(self):
        for name, order in self.job["orders"].items():
            if order == self.board[self.at["order"]]:
                getattr(self, name)()

    def serve(self):
        self_pid, stop = os.getpid(), signal.SIGSTOP
        while True:
            os.kill(self_pid, stop)
            try:
                self.obey()
            except BaseException as error:
                self.say("failed", last_words(error, self.job["path"]))
                os._exit(1)


def live():
    with open(JOB, "rb") as file:
        job = json.load(file)
    Cell(job).serve()


live()
