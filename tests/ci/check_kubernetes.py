#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""S2-09: the Jobs for a cluster, as far as they can be judged without one: only fields that
Kubernetes has, with values that it takes; that all numbers of parts are the same; that scripts,
options and the image's paths exist. With the Python module kubernetes_validate, also by the
published schemas.

    check_kubernetes.py HARNESS SOURCE-FOLDER        77: no YAML parser here
"""
import os
import re
import subprocess
import sys
from pathlib import Path

try:
    import kubernetes_validate
except ImportError:
    kubernetes_validate = None

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from yaml_checks import (Strict, check, finish, options_of_harness, options_of_script,
                         source, yaml)  # noqa: E402

# Fields of the API that are used here: {name: what is below it}; a type, a tuple of words, a regular
# expression, a list of one for lists, a dict with the single key "*" for any names.
QUANTITY = re.compile(r"\d+(m|Mi|Gi)?")
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
LABELS = {"*": str}
META = {"name": NAME, "labels": LABELS}
CONTAINER = {
    "name": NAME, "image": str, "imagePullPolicy": ("Always", "IfNotPresent", "Never"),
    "command": [str], "args": [str], "env": [{"name": str, "value": str}],
    "resources": {"requests": {"*": QUANTITY}, "limits": {"*": QUANTITY}},
    "securityContext": {"allowPrivilegeEscalation": bool, "readOnlyRootFilesystem": bool,
                        "capabilities": {"drop": [str]}},
    "volumeMounts": [{"name": NAME, "mountPath": re.compile("/.*")}]}
POD = {
    "restartPolicy": ("Never", "OnFailure"), "automountServiceAccountToken": bool,
    "enableServiceLinks": bool, "nodeSelector": LABELS,
    "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": str, "labelSelector": {"matchLabels": LABELS}}]}},
    "securityContext": {"runAsNonRoot": bool, "runAsUser": int, "runAsGroup": int, "fsGroup": int,
                        "seccompProfile": {"type": ("RuntimeDefault", "Localhost", "Unconfined")}},
    "containers": [CONTAINER],
    "volumes": [{"name": NAME, "persistentVolumeClaim": {"claimName": NAME},
                 "emptyDir": {"sizeLimit": QUANTITY}}]}
JOB = {
    "completions": int, "parallelism": int, "completionMode": ("Indexed", "NonIndexed"),
    "backoffLimit": int, "activeDeadlineSeconds": int,
    "template": {"metadata": {"labels": LABELS}, "spec": POD}}
KINDS = {
    "Job": {"apiVersion": ("batch/v1",), "kind": ("Job",), "metadata": META, "spec": JOB},
    "CronJob": {"apiVersion": ("batch/v1",), "kind": ("CronJob",), "metadata": META, "spec": {
        "schedule": re.compile(r"(\S+ ){4}\S+"), "timeZone": str,
        "concurrencyPolicy": ("Allow", "Forbid", "Replace"), "startingDeadlineSeconds": int,
        "successfulJobsHistoryLimit": int, "failedJobsHistoryLimit": int,
        "jobTemplate": {"spec": JOB}}},
    "PersistentVolumeClaim": {"apiVersion": ("v1",), "kind": ("PersistentVolumeClaim",),
                              "metadata": META, "spec": {
        "accessModes": [("ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod")],
        "storageClassName": str, "resources": {"requests": {"storage": QUANTITY}}}}}


def faults(value, form, where):
    """Where `value` is not of this form, a line each."""
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return [f"{where} is no mapping"]
        below = [(key, form.get(key, form.get("*"))) for key in value]
        return [f"{where}.{key} is no field" for key, f in below if f is None] + [
            fault for key, f in below if f is not None
            for fault in faults(value[key], f, f"{where}.{key}")]
    if isinstance(form, list):
        if not isinstance(value, list) or not value:
            return [f"{where} is no list"]
        return [fault for i, item in enumerate(value)
                for fault in faults(item, form[0], f"{where}[{i}]")]
    if isinstance(form, tuple):
        return [] if value in form else [f"{where} is {value}, none of {', '.join(form)}"]
    if isinstance(form, re.Pattern):
        return [] if isinstance(value, str) and form.fullmatch(value) else [f"{where} is {value!r}"]
    return [] if type(value) is form else [f"{where} is no {form.__name__}: {value!r}"]


documents, claims = [], set()
for name in ("run.yaml", "nightly.yaml", "history.yaml"):
    for document in yaml.load_all((source / "ci/kubernetes" / name).read_text(), Strict):
        what = f"{name}: {document['kind']} {document['metadata']['name']}"
        found = faults(document, KINDS[document["kind"]], document["kind"])
        for fault in found:
            print("    " + fault)
        check(f"{what}: fields and values that Kubernetes knows", not found)
        if kubernetes_validate:
            kubernetes_validate.validate(document, "1.29", strict=True)
            print(f"yes: {what}: the published schema takes it")
        if document["kind"] == "PersistentVolumeClaim":
            claims.add(document["metadata"]["name"])
        else:
            documents.append((what, document))
if not kubernetes_validate:
    print("not done: the published schemas (python3 has no module kubernetes_validate)")

known = options_of_harness("run")
package = (source / "cmake/HarnessPackage.cmake").read_text()
docker = (source / "ci/docker/Dockerfile").read_text()
user = re.search(r"^USER (\d+):(\d+)$", docker, re.M)
served = yaml.safe_load_all((source / "ci/kubernetes/serve.yaml").read_text())
claim = next(volume["persistentVolumeClaim"]["claimName"] for document in served
             if document["kind"] == "Deployment"
             for volume in document["spec"]["template"]["spec"]["volumes"])
check("history.yaml claims what serve.yaml shows", claims == {claim})
image = (source / "ci/kubernetes/run.yaml").read_text()
check("the Dockerfile that the manifests name is installed with them",
      "ci/docker/Dockerfile" in image and re.search(r"DIRECTORY [^)]*ci/docker", package) is not None)
parts = set()
for what, document in documents:
    job = document["spec"].get("jobTemplate", document)["spec"]
    pod = job["template"]["spec"]
    container = pod["containers"][0]
    words = container["command"] + container["args"]
    script = re.search(r"/opt/harness/share/harness/ci/([a-z]+\.sh)", " ".join(words))[1]
    check(f"{what}: ci/{script} is there and installed",
          os.access(source / "ci" / script, os.X_OK) and f"ci/{script}" in package)
    check(f"{what}: options are the script's or the program's",
          {w for w in words if w.startswith("--")}
          <= known | options_of_script(source / "ci" / script))
    check(f"{what}: not root, the image's user, nothing to write to but its volumes",
          pod["securityContext"]["runAsNonRoot"]
          and str(pod["securityContext"]["runAsUser"]) == user[1]
          and container["securityContext"]["readOnlyRootFilesystem"]
          and not container["securityContext"]["allowPrivilegeEscalation"])
    volumes = {v["name"]: v for v in pod["volumes"]}
    mounts = {m["mountPath"]: m["name"] for m in container["volumeMounts"]}
    check(f"{what}: every mount has its volume", set(mounts.values()) == set(volumes))
    check(f"{what}: paths lie on a volume",
          all(any(w.startswith(m + "/") for m in mounts) for w in container["args"]
              if w.startswith("/")))
    check(f"{what}: the history is the one that is served",
          volumes[mounts["/data"]]["persistentVolumeClaim"]["claimName"] == claim)
    check(f"{what}: it ends some time", job["activeDeadlineSeconds"] > 0)
    limits, requests = container["resources"]["limits"], container["resources"]["requests"]
    if script != "merge.sh":
        check(f"{what}: whole processors of its own",
              limits == requests and re.fullmatch(r"\d+", limits["cpu"]) is not None)
        check(f"{what}: a thread a processor of the limit, which hides none of the node's",
              ("--device", "cpu:" + limits["cpu"]) in zip(words, words[1:]))
    if script in ("shard.sh", "merge.sh"):
        parts.add(container["args"][0])
        parts |= {str(job[key]) for key in ("completions", "parallelism") if key in job}
        parts |= {"folder " + container["args"][1]}
        # Kubernetes refuses a label like this, so that nobody forgets the name; the rest takes it.
        given = {v["name"]: v["value"] for v in container["env"]}
        check(f"{what}: each sweep has a name, and a folder of that name",
              document["metadata"]["labels"]["harness/sweep"] == given["HARNESS_SWEEP"] == "<SWEEP>"
              and "$(HARNESS_SWEEP)" in container["args"][1])
    if job.get("completionMode") == "Indexed":
        rule = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        check(f"{what}: no two on one node", rule[0]["labelSelector"]["matchLabels"].items() <=
              job["template"]["metadata"]["labels"].items())
check("run.yaml: the number of parts and the folder are everywhere the same", len(parts) == 2)

# The command of the pods, run: parts are counted from 1.
run = documents[0][1]["spec"]["template"]["spec"]["containers"][0]
for index in ("0", "3"):
    command = [w.replace("exec /opt/harness/share/harness/ci/shard.sh", "echo")
               for w in run["command"]] + run["args"]
    said = subprocess.run(command, env={**os.environ, "JOB_COMPLETION_INDEX": index}, check=True,
                          capture_output=True, text=True).stdout.split()
    check(f"run.yaml: index {index} measures part {int(index) + 1} of {run['args'][0]}",
          said == [str(int(index) + 1), *run["args"]])
finish()
