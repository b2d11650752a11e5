#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Carries baselines/verification.json over to the kind of digest that this tree makes:

    ci/carry_verification.py BUILD [RECORD] [--compile] [--write]

For when cmake/HarnessSources.cmake, or which files a variant links, has changed, but no kernel has. The
digest of each entry becomes the one of the sources at the commit that the entry names, which are
those that the device verified. So an entry whose sources have not changed since then stands for this
tree's, and every other one says that an older source was verified. What cannot be known (a commit
that is not here, a tree with changes of its own, a file that was not there) keeps its old digest,
which stands for no source any more.

With --compile an entry stands for this tree's sources also where the compiler at hand makes the same of
them as of those that were verified: of each .cu file the same object, byte for byte, host code and
machine code for sm_90a. A header that CPU kernels share may change that way, or a comment. Both are
compiled with this tree's harness/, which is left out of digests, too. It takes minutes.

BUILD is a build of this tree for real devices, with its program (build/dev). Prints a line for each
entry that does not stand for this tree's sources; with --write the file is written.
"""
import glob
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def output(*command, text=True):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=text)


def digests_in(tree, rows):
    """Of each variant's file, by name, in a tree."""
    done = output("cmake", f"-DROOT={tree}", f"-DROWS={rows}", "-P", "cmake/variant_digests.cmake")
    return dict(line.split() for line in done.stderr.splitlines())


def digests_at(commit, rows):
    """The same at a commit; none where it is unknown."""
    if not re.fullmatch(r"[0-9a-f]{7,40}", commit):
        return {}
    try:
        packed = output("git", "archive", commit, "kernels", "models", text=False).stdout
    except subprocess.CalledProcessError:
        return {}
    with tempfile.TemporaryDirectory() as tree:
        tarfile.open(fileobj=io.BytesIO(packed)).extractall(tree)
        return digests_in(tree, rows)


class Compiled:
    """Objects of .cu files at some commit, or ("") of this tree. All are compiled at one place, as
    its name is in them."""

    FLAGS = ["-O2", "-DNDEBUG", "-D_GNU_SOURCE", "-std=c++20",
             "--generate-code=arch=compute_90a,code=sm_90a", "-Xcompiler=-g0"]

    def __init__(self, build, rows):
        with open(f"{build}/CMakeCache.txt", encoding="utf-8") as file:
            cache = file.read()
        found = glob.glob(f"{build}/CMakeFiles/*/CMakeCUDACompiler.cmake")
        if not found:
            sys.exit(f"{build}: it was built without nvcc")
        with open(found[0], encoding="utf-8") as file:
            self.nvcc = re.search(r'^set\(CMAKE_CUDA_COMPILER "(.+)"\)$', file.read(), re.M)[1]
        self.includes = [f"-isystem={found}" for found in
                         re.findall(r"^\w*cjson\w*INCLUDE_DIR\w*:\w+=(/.+)$", cache, re.M | re.I)]
        with open(rows, encoding="utf-8") as file:
            lines = [line.split(" : ")[0].split() for line in file]
        self.files = {name: files for name, _, *files in lines}
        self.objects = {}
        self.work = tempfile.TemporaryDirectory()

    def compile(self, tree, file):
        out = f"{tree}/{file}.o"
        done = subprocess.run([self.nvcc, *self.FLAGS, f"-I{tree}", f"-I{tree}/harness", *self.includes,
                               "-c", f"{tree}/{file}", "-o", out], capture_output=True, text=True)
        if done.returncode:
            return None
        with open(out, "rb") as made:
            named = made.read() # a temporary file's name is in it
        return hashlib.sha256(re.sub(rb"tmpxft_[0-9a-f]{8}_[0-9a-f]{8}", b"", named)).hexdigest()

    def fill(self, commit, files):
        """Compiles those files of a commit that are not known yet."""
        tree = f"{self.work.name}/tree"
        wanted = sorted(f for f in files if (commit, f) not in self.objects)
        shutil.rmtree(tree, ignore_errors=True)
        for folder in ("harness",) if commit else ("harness", "kernels", "models"):
            shutil.copytree(f"{ROOT}/{folder}", f"{tree}/{folder}")
        if commit:
            packed = output("git", "archive", commit, "kernels", "models", text=False).stdout
            tarfile.open(fileobj=io.BytesIO(packed)).extractall(tree)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            made = pool.map(lambda file: self.compile(tree, file), wanted)
            self.objects.update(((commit, f), o) for f, o in zip(wanted, made))
        shutil.rmtree(tree)

    def same(self, commit, variants):
        """Those of the variants' names of whose files both make the same."""
        files = {f for v in variants for f in self.files[v]}
        for of in commit, "":
            self.fill(of, files)
        return {v for v in variants if all(
            self.objects[commit, f] and self.objects[commit, f] == self.objects["", f]
            for f in self.files[v])}


def main(build, path, write, compiling):
    rows = f"{build}/generated/variant_sources.txt"
    now = digests_in(ROOT, rows)
    names = {digest: name for name, digest in now.items()}
    listed = json.loads(output(f"{build}/harness", "list", "variants", "--json").stdout)
    source = {v["name"]: v.get("source") for v in listed["variants"]}
    with open(path, encoding="utf-8") as file:
        text = file.read()
    entries, at, kept = json.loads(text)["variants"], {}, 0
    compiled, changed, same = Compiled(build, rows) if compiling else None, {}, {}
    parts = re.split(r'("source":\s*")([0-9a-f]{64})', text)
    for entry in entries:
        commit, today = entry["commit"], source.get(f'{entry["kernel"]}/{entry["variant"]}')
        if commit not in at:
            at[commit] = digests_at(commit, rows)
        then = at[commit].get(names.get(today))
        if then and then != today:
            changed.setdefault(commit, set()).add(names[today])
    for commit, variants in changed.items() if compiled else ():
        same[commit] = compiled.same(commit, variants)
    for i, entry in enumerate(entries):
        commit, today = entry["commit"], source.get(f'{entry["kernel"]}/{entry["variant"]}')
        then = at[commit].get(names.get(today))
        if names.get(today) in same.get(commit, ()):
            then = today
        parts[3 * i + 2] = then or parts[3 * i + 2]
        kept += then is not None and then == today
        if then != today or then is None:
            print(f'{entry["kernel"]}/{entry["variant"]}: '
                  f'{"older" if then else "unknown"} sources at {commit[:8] or "no commit"}')
    print(f"{kept} of {len(entries)} entries stand for the sources of this tree")
    if write:
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(parts))
    return 0


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a not in ("--write", "--compile")]
    if not arguments:
        sys.exit(__doc__)
    sys.exit(main(os.path.abspath(arguments[0]),
                  arguments[1] if len(arguments) > 1 else f"{ROOT}/baselines/verification.json",
                  "--write" in sys.argv, "--compile" in sys.argv))
