#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The jobs of ci/gitlab, as GitLab puts them together; for the tests.

    gitlab_job.py NAME        a bash script of what this job runs, with its variables. Those that the
                              environment has win, as a project's own do. 77: no YAML parser here"""
import os
import shlex
import sys
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "ci/gitlab/harness.gitlab-ci.yml"


def resolved(pipeline, name):
    """A job with what it extends: mappings are joined, all else is replaced."""
    def joined(old, new):
        both = isinstance(old, dict) and isinstance(new, dict)
        return {**old, **{k: joined(old.get(k), v) for k, v in new.items()}} if both else new
    job = pipeline[name]
    base = resolved(pipeline, job["extends"]) if "extends" in job else {}
    return joined(base, {k: v for k, v in job.items() if k != "extends"})


def jobs_of(pipeline):
    """All that are no template."""
    return {name: resolved(pipeline, name) for name, job in pipeline.items()
            if name != "variables" and not name.startswith(".")}


def value(variable):
    return variable["value"] if isinstance(variable, dict) else variable


def script(pipeline, name):
    job = resolved(pipeline, name)
    lines = ["set -eo pipefail"]
    for key, given in {**pipeline["variables"], **job["variables"]}.items():
        lines.append(f"export {key}={shlex.quote(os.environ.get(key, value(given)))}")
    if job.get("environment", {}).get("name") != "harness-write":
        lines.append("unset HARNESS_GITLAB_TOKEN")
    return "\n".join(lines + job["before_script"] + job["script"])


if __name__ == "__main__":
    try:
        import yaml
    except ImportError:
        sys.exit(77)
    print(script(yaml.safe_load(FILE.read_text()), sys.argv[1]))
