# SPDX-License-Identifier: MIT
"""What the checks of workflows and deployments share: they are called with HARNESS SOURCE-FOLDER,
print a line a check, and end with status 0, 1, or 77 where python3 has no YAML parser."""
import re
import subprocess
import sys
from pathlib import Path

try:
    import yaml
except ImportError:
    print("SKIPPED: python3 has no module yaml here")
    sys.exit(77)

harness, source = sys.argv[1], Path(sys.argv[2])
problems = []


def check(what, good):
    print(("yes: " if good else "NO: ") + what)
    if not good:
        problems.append(what)


def finish():
    sys.exit(1 if problems else 0)


def options_of_harness(*commands):
    """What the program's help of these commands lists."""
    return {option for command in commands
            for option in re.findall(r"--[a-z-]+", subprocess.run(
                [harness, "help", command], check=True, capture_output=True, text=True).stdout)}


def options_of_script(script):
    """What a script's own comment on top says it takes."""
    top = re.match(r"#!.*\n((?:#.*\n)*)", script.read_text())[1]
    return set(re.findall(r"--[a-z-]+", top))


class Strict(yaml.SafeLoader):
    """No key twice."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        if len(keys) != len(set(keys)):
            raise yaml.YAMLError(f"a key is there twice: {keys}")
        return super().construct_mapping(node, deep)
