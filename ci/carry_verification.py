#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Carries baselines/verification.json over to the kind of digest that this tree makes:

    ci/carry_verification.py BUILD [RECORD] [--write]

For when cmake/HarnessSources.cmake, or which files a variant links, has changed, but no kernel has. The
digest of each entry becomes the one of the sources at the commit that the entry names, which are
those that the device verified. So an entry whose sources have not changed since then stands for this
tree's, and every other one says that an older source was verified. What cannot be known (a commit
that is not here, a tree with changes of its own, a file that was not there) keeps its old digest,
which stands for no source any more.

BUILD is a build of this tree for real devices, with its program (build/dev). Prints a line for each
entry that does not stand for this tree's sources; with --write the file is written.
"""
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

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


def main(build, path, write):
    rows = f"{build}/generated/variant_sources.txt"
    now = digests_in(ROOT, rows)
    names = {digest: name for name, digest in now.items()}
    listed = json.loads(output(f"{build}/harness", "list", "variants", "--json").stdout)
    source = {v["name"]: v.get("source") for v in listed["variants"]}
    with open(path, encoding="utf-8") as file:
        text = file.read()
    entries, at, kept = json.loads(text)["variants"], {}, 0
    parts = re.split(r'("source":\s*")([0-9a-f]{64})', text)
    for i, entry in enumerate(entries):
        commit = entry["commit"]
        if commit not in at:
            at[commit] = digests_at(commit, rows)
        today = source.get(f'{entry["kernel"]}/{entry["variant"]}')
        then = at[commit].get(names.get(today))
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
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    if not arguments:
        sys.exit(__doc__)
    sys.exit(main(os.path.abspath(arguments[0]),
                  arguments[1] if len(arguments) > 1 else f"{ROOT}/baselines/verification.json",
                  "--write" in sys.argv))
