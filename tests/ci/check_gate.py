#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""U-10: the action and the component of the gate, and the files that docs/ci.md shows to those who
adopt them: their form, for the action by its published schema where npm can fetch that, that they
are short, that every input and option is there, that no text of a
stranger gets into a command.

    check_gate.py HARNESS SOURCE-FOLDER        77: no YAML parser here
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]
from yaml_checks import Strict, check, finish, options_of_harness, source, yaml  # noqa: E402

MOST_LINES = 20
known = options_of_harness("gate")


def options_in(text):
    return set(re.findall(r"(?<!\S)--[a-z-]+", text))


action = yaml.load((source / "ci/github/gate/action.yml").read_text(), Strict)
check("action: a name, a description, inputs, composite",
      {"name", "description", "inputs", "outputs", "runs"} == set(action) and
      action["runs"]["using"] == "composite")
check("action: every input is described",
      all("description" in value for value in action["inputs"].values()))
for step in action["runs"]["steps"]:
    run, values = step["run"], str(step.get("env", {}))
    check(f"action: {step['name']}: no expression in its command, and a shell",
          "${{" not in run and step["shell"] == "bash")
    check(f"action: {step['name']}: takes inputs alone",
          set(re.findall(r"\$\{\{ *([a-z]+)", values)) <= {"inputs"})
    for script in re.findall(r"GITHUB_ACTION_PATH/([^\"]+)\"", run):
        path = (source / "ci/github/gate" / script).resolve()
        check(f"action: {path.name} is there", path.exists() and os.access(path, os.X_OK))
used = set(re.findall(r"inputs\.([a-z-]+)", (source / "ci/github/gate/action.yml").read_text()))
check(f"action: every input is used: {' '.join(sorted(used))}", used == set(action["inputs"]))
check("action: its options are the gate's",
      options_in(str(action["inputs"]["options"]["default"])) <= known)

header, body = yaml.load_all((source / "ci/gitlab/templates/gate.yml").read_text(), Strict)
inputs = header["spec"]["inputs"]
text = (source / "ci/gitlab/templates/gate.yml").read_text()
used = set(re.findall(r"\$\[\[ inputs\.([a-z-]+) \]\]", text))
check(f"component: every input is used: {' '.join(sorted(used))}", used == set(inputs))
check("component: all but the command have defaults",
      {name for name, value in inputs.items() if "default" not in (value or {})} == {"bench"})
job = next(iter(body.values()))
check("component: no token, no secret", not re.search(r"TOKEN|secret", text.split("---", 1)[1]))
check("component: what $ means in a command is for the shell",
      all(job["variables"][name]["expand"] is False for name in ("BENCH", "BUILD_COMMAND", "OPTIONS")))
check("component: both reports are what the gate leaves",
      job["artifacts"]["reports"] == {"junit": "harness-pr/junit.xml",
                                      "codequality": "harness-pr/codequality.json"})
check("component: inputs get into variables alone, never into a command",
      "$[[" not in str(job["script"]))
check("both have the same inputs",
      {"bench", "build-command", "options", "package"} <= set(inputs) & set(action["inputs"]))

page = (source / "docs/ci.md").read_text()
section = page.split("## A gate in one file", 1)[1].split("\n## ", 1)[0]
github, gitlab = re.findall(r"```yaml\n(.*?)```", section, re.S)
check(f"GitHub: {github.count(chr(10))} lines to adopt, at most {MOST_LINES}",
      github.count("\n") <= MOST_LINES)
check(f"GitLab: {gitlab.count(chr(10))} lines to adopt", gitlab.count("\n") <= MOST_LINES)
steps = yaml.load(github, Strict)["jobs"]["gate"]["steps"]
check("GitHub: the checkout has all of the history, and keeps no token",
      steps[0]["with"] == {"fetch-depth": 0, "persist-credentials": False})
check("GitHub: the action is where it is said to be", steps[1]["uses"].endswith("/ci/github/gate@HASH"))
check("GitHub: inputs are the action's", set(steps[1]["with"]) <= set(action["inputs"]))
include = yaml.load(gitlab, Strict)["include"][0]
check("GitLab: inputs are the component's", set(include["inputs"]) <= set(inputs))
check("GitLab: it runs where the project can be built", "image" in include["inputs"])
listed = re.search(r"^Inputs of both:.*$", section, re.M)[0]
check("every input that a component's user needs is told",
      all(f"`{name}`" in listed for name in ("bench", "build-command", "options", "package", "image")))


def by_schema(path):
    script = source / "tests/ci/actionlint.sh"
    return subprocess.run([shutil.which("bash"), script, path], text=True, check=False,
                          capture_output=True)


def by_gitlab_ci_local(template):
    """Does it take a project that includes this template, by GitLab's own JSON schema? It runs no job."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "templates").mkdir()
        (here / "templates/gate.yml").write_text(template)
        (here / ".gitlab-ci.yml").write_text(
            "include: [{local: templates/gate.yml, inputs: {bench: $BUILD/bench}}]\n")
        git = ["git", "-c", "init.defaultBranch=main", "-c", "user.name=A", "-c", "user.email=a@b.c"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Start"],
                      ["remote", "add", "origin", "https://gitlab.example/ada/toy.git"],
                      ["update-ref", "refs/remotes/origin/main", "HEAD"],
                      ["remote", "set-head", "origin", "main"]):
            subprocess.run([*git, *words], cwd=here, check=True, capture_output=True)
        listed = subprocess.run(["gitlab-ci-local", "--list-all"], cwd=here, text=True, check=False,
                                capture_output=True)
        return listed.returncode == 0 and "harness-gate" in listed.stdout


if shutil.which("gitlab-ci-local"):
    component = (source / "ci/gitlab/templates/gate.yml").read_text()
    check("component: gitlab-ci-local takes it", by_gitlab_ci_local(component))
    check("component: and no wrong one",
          not by_gitlab_ci_local(component.replace("artifacts:", "artefacts:")))
else:
    print("skipped: no gitlab-ci-local here (npm, for Node.js 22)")

lint = by_schema(source / "ci/github/gate/action.yml")
print(lint.stdout + lint.stderr, end="")
if lint.returncode != 77:
    check("action: it fits the published schema", lint.returncode == 0)
    with tempfile.TemporaryDirectory() as folder:
        wrong = Path(folder) / "action.yml"
        wrong.write_text((source / "ci/github/gate/action.yml").read_text()
                         .replace("using: composite", "using: compost"))
        check("action: and a wrong one does not", by_schema(wrong).returncode == 1)
finish()
