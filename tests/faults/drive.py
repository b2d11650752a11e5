#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails the n-th system call or allocation of each command in turn, and looks at what comes of it.

  drive.py HARNESS FAULTS FAULTS_ALLOC [--only NAME,...] [--class NAME,...] [--jobs N]
                                       [calls|limits|kernels]

calls (the default) is that; limits runs each command under small limits of setrlimit(2), kernels
without calls that older kernels and containers lack.

Each case is a fresh folder with a history. Whatever fails, the command must end (within two minutes,
which a busy machine may need for a second's work) with a documented status; a failure says why; the
history is sound, with all that it had; what is reported done is there; no process and no temporary
file and no empty folder is left. Where three commands did not end, the cases that are left are not
tried. HARNESS_CASES is how many are taken by chance, or "all"; without it 200 calls and 100 of the
others, times HARNESS_TRIALS. HARNESS_SEED takes others than the day's, HARNESS_KNOCKS is the file of
the table.
"""

import argparse
import concurrent.futures
import functools
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

# How calls of a class fail: "on" stands for this one and all later ones.
HOWS = {
    "open": ["EMFILE", "EIO", "EMFILE:on"],
    "read": ["EIO", "EINTR", "short"],
    "write": ["ENOSPC", "EIO", "EINTR", "short", "ENOSPC:on"],
    "sync": ["EIO"],
    "rename": ["EIO"],
    "unlink": ["EIO"],
    "clone": ["EAGAIN", "EAGAIN:on"],
    "exec": ["ENOMEM"],
    "wait": ["EINTR"],
    "pipe": ["EMFILE"],
    "memory": ["ENOMEM", "ENOMEM:on"],
    "stat": ["EIO"],
    "truncate": ["EIO", "ENOSPC"],
    "poll": ["EINTR", "ENOMEM"],
    "dup": ["EMFILE"],
    "lock": ["ENOLCK", "EINTR", "nothing:on", "ENOLCK:on"],  # the last but one: a network file system without locks
    "random": ["ENOSYS"],
    "socket": ["EMFILE", "EINTR"],
    "folder": ["EIO"],
    "limits": ["EPERM"],
    "signal": ["EINTR"],
    "alloc": ["ENOMEM", "ENOMEM:on"],
}

MIB = 1 << 20
LIMITS = [f"{name}:{value}" for name, values in {
    "AS": [m * MIB for m in (60, 90, 120, 150, 200, 300)],
    "DATA": [m * MIB for m in (4, 8, 16, 32, 64)],
    "NOFILE": [4, 5, 6, 8, 10, 12, 16, 24, 32, 64],
    "STACK": [128 << 10, 256 << 10, MIB],
    "FSIZE": [0, 1, 4096, 64 << 10, MIB],
    "NPROC": [0, 1, 2, 4],
    "CORE": [0], "CPU": [5], "MEMLOCK": [0],
}.items() for value in values]

# The first is a kernel 4.x, all that it lacks at once.
KERNELS = ["close_range:ENOSYS,pidfd_open:ENOSYS,pidfd_send_signal:ENOSYS,pidfd_getfd:ENOSYS,openat2:ENOSYS,clone3:ENOSYS,"
           "faccessat2:ENOSYS,statx:ENOSYS,rseq:ENOSYS,membarrier:ENOSYS,io_uring_setup:ENOSYS",
           "close_range:ENOSYS", "memfd_create:ENOSYS", "getrandom:ENOSYS", "statx:ENOSYS", "copy_file_range:ENOSYS",
           "copy_file_range:EPERM", "perf_event_open:EPERM", "perf_event_open:ENOSYS", "clone3:ENOSYS",
           "sched_setaffinity:EPERM", "sched_getaffinity:EPERM", "madvise:EINVAL", "sendfile:ENOSYS",
           "fallocate:ENOSYS", "renameat2:ENOSYS", "pidfd_open:EPERM", "utimensat:EPERM",
           "fchmod:EPERM", "set_mempolicy:EPERM"]

FAKE = ["--device", "fake:base=2000,seed=3", "--seed", "1", "--iterations", "5"]
DB = ["--db", "h.db"]
TINY = ["pointwise/gelu/naive", "--batch", "1", "--seq", "8", "--launches", "1", "--iterations", "2",
        "--device", "cpu:1"]
VERIFIED = ["pointwise/gelu/naive", "--batch", "1", "--seq", "8", "--device", "cpu:1"]
MOVED = "moved.db"
# The build is a program that starts harness with what the commit says of the clock.
BUILT = ["--build", "--build-command", "sh build.sh", "null/copy/right", "--batch", "1", "--device",
         "fake:seed=3", "--seed", "1", *DB]
STATUSES = {0, 1, 2, 77}
LIMIT = 120  # s that a command has
HUNG_MOST = 3

# Name, arguments, and whether runs may leave the history by it.
COMMANDS = {
    "run": ["run", "null/copy/right", "--launches", "2", *FAKE, *DB],
    "program": ["run", "--launches", "1", "--iterations", "2", "--name", "t", *DB, "--", "/bin/true"],
    # OpenBLAS asks again without end for what it cannot map: the time limit ends that.
    "openblas": ["run", "gemm/nn/openblas/*,n=144,k=48/*", "gemm/nn/naive/*,n=144,k=48/*", *TINY[1:], *DB,
                 "--timeout", "40s"],
    "list": ["list"],
    "history-list": ["history", "list", *DB],
    "history-show": ["history", "show", "1", *DB],
    "history-verify": ["history", "verify", *DB],
    "history-backup": ["history", "backup", "copy.db", *DB],
    "history-merge": ["history", "merge", "other.db", *DB],
    "history-prune": ["history", "prune", "--keep-runs", "1", *DB],
    "history-annotate": ["history", "annotate", "1", "a note", *DB],
    "history-salvage": ["history", "salvage", "h.db", "rest.db"],
    "history-restore": ["history", "restore", "kept.db", *DB],
    "history-move": ["history", "move", MOVED, *DB],
    "history-system": ["history", "system", "1", *DB],
    "history-verdicts": ["history", "verdicts", *DB],
    "baseline-save": ["baseline", "save", "two", *DB],
    "baseline-list": ["baseline", "list", *DB],
    "baseline-remove": ["baseline", "remove", "main", *DB],
    "baseline-accept": ["baseline", "accept", "null/copy/right/*", "--reason", "known", *DB],
    "verify": ["verify", *VERIFIED],
    "verify-isolated": ["verify", *VERIFIED, "--isolate"],
    "roofline": ["roofline", "--device", "cpu:1", *DB],
    "compare-build": ["compare", "--baseline", "v1", "--head", "v2", "--blocks", "3", *BUILT],
    "gate-bench": ["gate", "--base", "v1", "--head", "v2", "--bench", "t: true", "--build-command", "true",
                   "--blocks", "2", *DB],
    "bisect": ["bisect", "--good", "v1", "--bad", "v2", *BUILT[1:]],
    "compare": ["compare", "--baseline", "main", "--head", "2", *DB],
    "trend": ["trend", *DB],
    "detect": ["detect", "series.csv"],
    "report": ["report", "--baseline", "main", "--output", "report.html", *DB],
    "plot": ["plot", "--only", "trend,latency-kernels", "--format", "svg", "--output", "plots", *DB],
    "export": ["export", "latest", "--format", "csv", "--output", "out.csv", *DB],
    "export-folder": ["export", "./res/", "--format", "csv", "--output", "out.csv"],
    "import": ["import", "gb.json", *DB],
    "import-folder": ["import", "crit", *DB],
    "profile": ["profile", *TINY, "--output", "p", *DB],
    "profile-import": ["profile", "--import", "kineto.json", "--output", "o", "--json"],
    "model": ["model", "info"],
    "model-logits": ["model", "generate", "--model", "nano", "--tokens", "t.json", "--length", "1"],
    "selftest": ["selftest", "--aa", "1", "null/copy/right", "--batch", "1", *FAKE[:2]],
    "doctor": ["doctor"],
    "help": ["help", "--completion", "bash"],
    "serve": ["serve", "--port", "0", *DB],
}
LESS = {"history-prune", "baseline-remove"}
MORE = {"bisect"}  # compares again where a comparison failed
# Files whose bytes are those of each clean end; report-of-out is the standard output.
SAME = {"profile-import": ["o/profile.json", "o/stacks.folded", "o/trace.json", "report-of-out"]}
KINETO = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../fixtures/timeline/kineto.json")
# Whose status 1 means nothing (docs/exit-status.md); series of 4 runs are too short for a step.
NEVER_ONE = {"list", "roofline", "bisect", "trend", "detect", "report", "plot", "export", "import", "import-folder",
             "model", "model-logits", "selftest", "doctor", "help", "serve",
             *(name for name in COMMANDS if name.startswith(("history-", "baseline-"))
               and name != "history-merge")}
# Folders that --output names.
GIVEN = ("p/", "o/", "plots/")
# What says how much it has done, and that.
AMOUNTS = re.compile(r"\d+ measurements?, \d+ samples?")
TELLS = {"import", "import-folder"}
CRITERION = '{"sampling_mode": "Flat", "iters": [1, 2], "times": [10, 20]}'
GBENCH = """{"context": {"date": "2026-01-02T03:04:05+00:00", "num_cpus": 2}, "benchmarks": [
{"name": "BM_a", "run_name": "BM_a", "run_type": "iteration", "iterations": 10, "real_time": 12.0,
 "cpu_time": 12.0, "time_unit": "ns"}]}"""


def clean_environment(folder):
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("HARNESS_", "FAULTS_"))}
    return {**keep, "HOME": os.path.join(folder, "home"), "TMPDIR": folder, "LC_ALL": "C.UTF-8"}


class Driver:
    def __init__(self, options):
        options.faults, options.alloc = map(os.path.realpath, (options.faults, options.alloc))
        self.o = options
        self.harness = os.path.realpath(options.harness)
        self.top = tempfile.mkdtemp(prefix="faults-")
        self.template = os.path.join(self.top, "template")
        self.hung = 0
        self.made = {}  # command: files of a clean end, runs then, and what it told
        self.bytes = {}  # command: what its files of SAME hold then
        self.machines = {}  # command: of which machines the runs are then

    def call(self, folder, *args):
        return subprocess.run([self.harness, *args], cwd=folder, env=clean_environment(folder),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")

    def must(self, folder, *args):
        done = self.call(folder, *args)
        if done.returncode:
            sys.exit(f"harness {' '.join(args)}: {done.returncode}\n{done.stdout}{done.stderr}")

    def make_template(self):
        folder = self.template
        os.makedirs(os.path.join(folder, "home"))
        subprocess.run(["git", "-c", "init.defaultBranch=main", "init", "-q", folder], check=True)
        for db in ("h.db", "h.db", "other.db"):
            self.must(folder, "run", "null/copy/right", "--launches", "3", *FAKE, "--db", db)
        self.must(folder, "run", *TINY, *DB)  # measures the roofs
        self.must(folder, "baseline", "save", "main", *DB)
        self.make_commits(folder)
        scratch = self.fresh()
        self.call(scratch, *COMMANDS["compare-build"])  # a verdict to accept
        shutil.copy(os.path.join(scratch, "h.db"), folder)
        shutil.rmtree(scratch)
        self.must(folder, "history", "backup", "kept.db", *DB)
        os.mkdir(os.path.join(folder, "res"))
        for run in ("1", "2"):
            self.must(folder, "export", run, "--output", f"res/{run}.json", *DB)
        self.least = self.content(folder)
        texts = {"gb.json": GBENCH, "t.json": "[1, 2]",
                 "series.csv": "".join(f"{100 + i % 3 + (i > 20) * 9}\n" for i in range(40)),
                 **{f"crit/{name}/new/sample.json": CRITERION for name in ("alpha", "beta", "gamma")}}
        for name, text in texts.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        shutil.copy(KINETO, folder)

    def make_commits(self, folder):
        def git(*args):
            subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *args], cwd=folder,
                           env=clean_environment(folder), check=True, stdout=subprocess.DEVNULL)

        with open(os.path.join(folder, "build.sh"), "w") as file:
            file.write('printf "%s\\n" "#!/bin/sh" "HARNESS_FAKE=$(cat fake) exec ' + self.harness +
                       ' \\"\\$@\\"" >"$BUILD/harness" && chmod +x "$BUILD/harness"\n')
        for number, clock in enumerate(("base=2000", "base=3000"), 1):
            with open(os.path.join(folder, "fake"), "w") as file:
                file.write(clock)
            git("add", "build.sh", "fake")
            git("commit", "-q", "-m", clock)
            git("tag", f"v{number}")

    def fresh(self):
        folder = tempfile.mkdtemp(dir=self.top)
        shutil.rmtree(folder)
        shutil.copytree(self.template, folder)
        return folder

    # What a history holds: runs, and measurements of each by uuid.
    def content(self, folder, db="h.db"):
        done = self.call(folder, "history", "list", "--json", "--db", db)
        return done.stdout.count('"uuid"') if done.returncode == 0 else -1

    # One machine measures: another id is one that could not be told.
    def machines_in(self, folder, db):
        done = self.call(folder, "history", "list", "--json", "--db", db)
        return {run["machine"]["id"] for run in json.loads(done.stdout)} if done.returncode == 0 else set()

    # Where the history is.
    @staticmethod
    def place(folder, name):
        moved = name == "history-move" and not os.path.exists(os.path.join(folder, "h.db"))
        return MOVED if moved else "h.db"

    @staticmethod
    def files(folder):
        """All files, and empty folders, whose names end with "/", but for those of a command line."""
        found = set()
        for path, folders, names in os.walk(folder):
            found |= {os.path.relpath(os.path.join(path, name), folder) for name in names}
            here = os.path.relpath(path, folder) + "/"
            if not folders and not names and not here.startswith(GIVEN):
                found.add(here)
        # recorded, no temporaries; what git and a build do is theirs, but for folders of results
        other = re.compile(r"-(wal|shm|journal)$|^report-of-|\.trace\.json$|^\.git/|^builds/(?!.*/out-[^/]*/$)")
        return {f for f in found if not other.search(f)}

    @staticmethod
    def held(folder, name):
        found = {}
        for file in SAME.get(name, []):
            with open(os.path.join(folder, file), "rb") as opened:
                found[file] = opened.read()
        return found

    def run(self, folder, name, fault):
        """Exit status, and what it said, of a command one of whose calls fails."""
        args = [self.harness, *COMMANDS[name]]
        environment = clean_environment(folder)
        counts = os.path.join(folder, "report-of-counts")
        tool = [self.o.faults, "--limit", str(LIMIT), "--count", counts]
        if fault and fault[0] == "alloc" or not fault:
            at, on = (fault[1], fault[2].endswith(":on")) if fault else (0, False)
            file = os.path.join(folder, "report-of-alloc")
            with open(file, "wb") as out:
                out.write(struct.pack("qqq", 0, at, on))
            environment |= {"FAULTS_FILE": file, "FAULTS_PROGRAM": self.harness,
                            "LD_PRELOAD": self.o.alloc}
        elif fault[0] in ("rlimit", "deny"):
            tool += [f"--{fault[0]}", fault[1]]
        else:
            tool += ["--fail", f"{fault[0]}:{fault[1]}:{fault[2]}"]
        with open(os.path.join(folder, "report-of-out"), "w+", errors="replace") as out, \
                open(os.path.join(folder, "report-of-err"), "w+", errors="replace") as err:
            process = subprocess.Popen([*tool, "--", *args], cwd=folder, env=environment,
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            if name == "serve":
                self.visit(process, out)
            status = process.wait()
            out.seek(0)
            err.seek(0)
            return status, out.read(), err.read()

    # One request, then the end.
    def visit(self, process, out):
        import time
        import urllib.request
        path = out.name
        for _ in range(100):
            text = open(path, errors="replace").read()
            found = re.search(r"http://127\.0\.0\.1:(\d+)\S*", text)
            if found or process.poll() is not None:
                break
            time.sleep(0.05)
        if process.poll() is not None or not found:
            return
        try:
            with urllib.request.urlopen(found.group(0), timeout=5) as answer:
                answer.read()
        except Exception:  # it may well fail to answer, and must go on
            pass
        children = open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()
        for child in children:
            try:
                os.kill(int(child), 15)
            except ProcessLookupError:
                pass

    def counts(self, folder):
        counts = {}
        for line in open(os.path.join(folder, "report-of-counts")):
            name, nr = line.split()
            counts[name] = int(nr)
        with open(os.path.join(folder, "report-of-alloc"), "rb") as file:
            counts["alloc"] = struct.unpack("qqq", file.read())[0]
        return counts

    # Is it enough for the loader, and what libraries do before main()?
    @functools.cache
    def starts(self, limit):
        return subprocess.run([self.o.faults, "--rlimit", limit, "--", self.harness, "version"],
                              capture_output=True).returncode == 0

    def measure(self, name):
        """All faults of a command: how often it makes each kind of call."""
        folder = self.fresh()
        status, out, err = self.run(folder, name, None)
        if status not in STATUSES - {2} | ({143} if name == "serve" else set()):
            sys.exit(f"{name} without a fault: status {status}\n{out}{err}")
        self.made[name] = (self.files(folder), self.content(folder, self.place(folder, name)), AMOUNTS.findall(out))
        self.bytes[name] = self.held(folder, name)
        self.machines[name] = self.machines_in(folder, self.place(folder, name))
        counts = self.counts(folder)
        shutil.rmtree(folder)
        if self.o.what == "limits":
            return [(name, "rlimit", limit, "") for limit in LIMITS if self.starts(limit)]
        if self.o.what == "kernels":
            return [(name, "deny", calls, "") for calls in KERNELS]
        return [(name, kind, at, how) for kind, hows in HOWS.items() for how in hows
                for at in range(1, counts.get(kind, 0) + 1)
                if not self.o.classes or kind in self.o.classes]

    def judge(self, case):
        """None, or what is wrong."""
        name, kind, at, how = case
        if self.hung >= HUNG_MOST:
            return f"{name} {kind}:{at}:{how}: not tried, {HUNG_MOST} commands did not end"
        folder = self.fresh()
        try:
            status, out, err = self.run(folder, name, (kind, at, how))
            wrong = self.wrong(folder, case, status, out, err)
            return wrong and f"{name} {kind}:{at}:{how}: {wrong} [status {status}] {err.strip()[-300:]}"
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    # Did the failing call itself keep a reason from being written?
    @staticmethod
    def is_mute(fault):
        return fault[1] == "write" and fault[3] != "short" or str(fault[2]).startswith("FSIZE")

    def wrong(self, folder, fault, status, out, err):
        name = fault[0]
        made, runs, amounts = self.made[name]
        if status == 124:
            self.hung += 1
            return "did not end in time"
        if status == 125:
            return "left processes behind"
        if status not in STATUSES | ({143} if name == "serve" else set()):
            return "no documented status"
        if status == 1 and name in NEVER_ONE:
            return "a status that means nothing here"
        if status == 2 and "harness: " not in err and not self.is_mute(fault):
            return "failed without a reason"
        if "gnuplot is not installed" in out + err and shutil.which("gnuplot"):
            return "a reason that is not so"
        if "Bad file descriptor" in out + err:  # of one that was never opened
            return "not the reason"
        place = self.place(folder, name)
        for db in (place, "other.db"):
            verified = self.call(folder, "history", "verify", "--db", db)
            if verified.returncode != 0:
                return f"{db} is not sound: {(verified.stdout + verified.stderr).strip()[-200:]}"
        now = self.content(folder, place)
        least = 1 if name in LESS else self.least
        if now < least:
            return f"{now} runs are in the history, of {least} at least"
        # A call that fails always, as in a container, makes the same other machine each time.
        if fault[1] != "deny" and now > self.least and self.machines_in(folder, place) - self.machines[name]:
            return "a run is of a machine that is not this one"
        if status == 0 and name != "selftest" and (now < runs if name in MORE else now != runs):
            return f"said to be done, but {now} runs in place of {runs}"
        if status == 0 and name in TELLS and AMOUNTS.findall(out) != amounts:
            return f"said to be done, but {AMOUNTS.findall(out)} in place of {amounts}"
        here = self.files(folder)
        if name == "history-restore" and fault[1] == "read" and fault[3].startswith("EIO"):
            # What the disk does not give is damaged, and is kept beside what takes its place.
            here = {f for f in here if not f.startswith("h.db.before-")}
        # A process that ends because memory ran out, like one that is killed, tidies nothing up.
        if here - made - {"h.db"} and fault[1] != "unlink" and "out of memory (" not in err:
            return f"files left: {sorted(here - made)}"
        if status == 0 and made - here and "not drawn, " not in out:
            return f"said to be done, but not there: {sorted(made - here)}"
        if status == 0 and self.held(folder, name) != self.bytes[name]:
            return "said to be done, but what it wrote is something else"
        return None


def skip(o, why):
    print(f"SKIPPED: {why}")
    if o.knocks:
        with open(o.knocks, "a") as file:
            file.write(f"skipped\t{why}\n")
    return 77


def cases_of(what):
    """As many as $HARNESS_TRIALS says of them, as everywhere where trials are at random."""
    trials = float(os.environ.get("HARNESS_TRIALS") or 1)
    return str(max(1, round(trials * {"calls": 200, "limits": 100, "kernels": 100}[what])))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("harness")
    parser.add_argument("faults")
    parser.add_argument("alloc")
    parser.add_argument("what", nargs="?", default="calls", choices=["calls", "limits", "kernels"])
    parser.add_argument("--only", default="")
    parser.add_argument("--class", dest="classes", default="")
    parser.add_argument("--jobs", type=int, default=2)
    o = parser.parse_args()
    o.cases = os.environ.get("HARNESS_CASES") or cases_of(o.what)
    o.seed = int(os.environ.get("HARNESS_SEED") or time.time() // 86400 * 1000)  # or the day's, as all knocks
    o.knocks = os.environ.get("HARNESS_KNOCKS")
    if o.knocks:
        open(o.knocks, "w").close()
    if subprocess.run([o.faults, "--count", "/dev/null", "--", sys.executable, "-c", ""]).returncode:
        return skip(o, "processes cannot be traced here")
    o.classes = set(filter(None, o.classes.split(",")))
    names = o.only.split(",") if o.only else list(COMMANDS)
    driver = Driver(o)
    try:
        driver.make_template()
        with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
            cases = [case for found in pool.map(driver.measure, names) for case in found]
            total = len(cases)
            random.seed(o.seed)
            if o.cases != "all" and int(o.cases) < total:
                # as many of each command and kind as can be, not of those that call most
                groups = {}
                for case in cases:
                    groups.setdefault(case[:2], []).append(case)
                cases = []
                for group in groups.values():
                    random.shuffle(group)
                while len(cases) < int(o.cases):
                    for group in groups.values():
                        if group:
                            cases.append(group.pop())
                random.shuffle(cases)
                cases = cases[:int(o.cases)]
            bad = 0
            for wrong in filter(None, pool.map(driver.judge, cases)):
                bad += 1
                print(wrong, flush=True)
    finally:
        shutil.rmtree(driver.top, ignore_errors=True)
    what = {"calls": f"the n-th system call or allocation of {len(names)} commands fails",
            "limits": f"small limits of setrlimit(2) for {len(names)} commands",
            "kernels": f"kernels and containers without a call, {len(names)} commands"}[o.what]
    meaning = f"ends in {LIMIT} s with a reason, nothing lost, nothing left ({total} there are; seed {o.seed})"
    print(f"seed: {o.seed}")
    print(f"{len(cases) - bad} of {len(cases)} held")
    if o.knocks:
        with open(o.knocks, "a") as file:
            file.write(f"{what}\t{len(cases) - bad}\t{len(cases)}\t{meaning}\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
