#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""S2-09: the image and the deployment of the live page, as far as they can be judged without
running them: their form, that they agree with each other, with ci/setup.sh and with the options
that the program has.

    check_deploy.py HARNESS SOURCE-FOLDER        77: no YAML parser here
"""
import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from yaml_checks import check, finish, options_of_harness, source, yaml  # noqa: E402


def instructions(text):
    """(name, argument) of each instruction, continued lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def options_of(words):
    return {word for word in words if word.startswith("--")}


known = options_of_harness("serve")

docker = instructions((source / "ci/docker/Dockerfile").read_text())
names = [name for name, _ in docker]
stages = [re.search(r" AS (\w+)$", argument) for name, argument in docker if name == "FROM"]
user = [argument for name, argument in docker if name == "USER"]
entry = [json.loads(argument) for name, argument in docker if name in ("ENTRYPOINT", "CMD")]
copies = [argument for name, argument in docker if name == "COPY"]
check("Dockerfile: begins with FROM, in two stages", names[0] == "FROM" and len(stages) == 2)
check("Dockerfile: copies from a stage that there is",
      any(f"--from={stages[0].group(1)} " in copy for copy in copies))
check("Dockerfile: runs as a number that is not root", user and user[0].split(":")[0] not in ("0", "root"))
check("Dockerfile: instructions are known", set(names) <= {"FROM", "ENV", "ARG", "RUN", "COPY", "USER",
                                                          "WORKDIR", "EXPOSE", "ENTRYPOINT", "CMD"})

# What it is told of the tree that it is built from, whose .git it does not see.
arguments = {argument.split("=")[0]: i for i, (name, argument) in enumerate(docker) if name == "ARG"}
given = {name: [i for i, (word, argument) in enumerate(docker)
                if word == "RUN" and re.search(rf'"-DHARNESS_{name}=\${name}"', argument)]
         for name in arguments}
check("Dockerfile: takes commit and branch", set(arguments) == {"COMMIT", "BRANCH"})
check("Dockerfile: hands each on, in the stage that it is of",
      all(len(uses) == 1 and at < uses[0] and "FROM" not in names[at:uses[0]]
          for at, uses in ((arguments[name], given[name]) for name in arguments)))
builds = "".join(path.read_text() for path in sorted((source / "cmake").glob("*.cmake")))
builds += (source / "CMakeLists.txt").read_text()
check("Dockerfile: options are those of the build", all(
    re.search(rf"(option|set)\({option}\b.*", builds)
    for name, argument in docker if name == "RUN"
    for option in re.findall(r"-D(HARNESS_\w+)=", argument)))


def parents(path):
    """The path and all folders that it lies in."""
    parts = path.split("/")
    return ["/".join(parts[:nr]) for nr in range(1, len(parts) + 1)]


def is_left_out(rules, path):
    """As Docker reads its list: of the rules that fit the path or a folder around it, the last."""
    out = False
    for rule in rules:
        words = re.split(r"(\*\*/|\*|\?)", rule.removeprefix("!"))
        regex = "".join({"**/": "(.*/)?", "*": "[^/]*", "?": "[^/]"}.get(word, re.escape(word))
                        for word in words)
        if any(re.fullmatch(regex, name) for name in parents(path)):
            out = not rule.startswith("!")
    return out


rules = [line for line in (source / "ci/docker/Dockerfile.dockerignore").read_text().splitlines()
         if line and not line.startswith("#")]
check("Dockerfile: .git is left out", is_left_out(rules, ".git/HEAD"))
named = re.findall(r'"\$\{PROJECT_SOURCE_DIR\}/([^"$]+)"',
                   (source / "cmake/HarnessResources.cmake").read_text())
embedded = [path.relative_to(source).as_posix() for name in named for path in source.glob(name)]
gone = [path for path in embedded if is_left_out(rules, path)]
check("Dockerfile: has every file that is compiled in" + "".join(f", but {path}" for path in gone),
      len(embedded) > len(named) and not gone)
check("Dockerfile: no baselines of ours", is_left_out(rules, "baselines/a-machine/main.json"))


def builds_of_image(text):
    """The arguments of each `docker build` that a text tells people to run."""
    joined = re.sub(r"\\\n#?\s*", " ", text)
    return [dict(re.findall(r'--build-arg (\w+)="([^"]*)"', line))
            for line in joined.splitlines() if re.match(r"[#\s]*docker build ", line)]


git = (source / "cmake/HarnessVersion.cmake").read_text()
describe = re.search(r"^set\(harness_git_describe (.*)\)$", git, re.M)[1].replace('"', "'")
for name in ("ci/docker/Dockerfile", "docs/serve.md"):
    told = builds_of_image((source / name).read_text())
    check(f"{name}: how to build it gives commit and branch",
          told and all(build == {"COMMIT": f"$(git {describe} --dirty)",
                                 "BRANCH": "$(git branch --show-current)"} for build in told))
check("Dockerfile: options are the program's", options_of(sum(entry, [])) <= known)
setup = re.search(r"^packages=\((.*?)\)", (source / "ci/setup.sh").read_text(), re.S | re.M)
wanted = {word for word in setup.group(1).split() if word.endswith("-dev")}
check("Dockerfile: installs the libraries of ci/setup.sh",
      wanted <= set(" ".join(argument for _, argument in docker).split()))

documents = list(yaml.safe_load_all((source / "ci/kubernetes/serve.yaml").read_text()))
kinds = {document["kind"]: document for document in documents}
check("serve.yaml: a Deployment and a Service", set(kinds) == {"Deployment", "Service"})
spec = kinds["Deployment"]["spec"]
pod = spec["template"]["spec"]
container = pod["containers"][0]
labels = spec["template"]["metadata"]["labels"]
ports = {port["name"]: port["containerPort"] for port in container["ports"]}
check("serve.yaml: the Deployment finds its pods",
      spec["selector"]["matchLabels"].items() <= labels.items())
service = kinds["Service"]["spec"]
check("serve.yaml: the Service finds them, too", service["selector"].items() <= labels.items())
check("serve.yaml: and their port", service["ports"][0]["targetPort"] in ports)
for probe in ("readinessProbe", "livenessProbe"):
    get = container[probe]["httpGet"]
    check(f"serve.yaml: {probe} asks /healthz at a port that there is",
          get["path"] == "/healthz" and get["port"] in ports)
check("serve.yaml: not root, nothing to write to, no more rights",
      pod["securityContext"]["runAsNonRoot"] and container["securityContext"]["readOnlyRootFilesystem"]
      and not container["securityContext"]["allowPrivilegeEscalation"])
check("serve.yaml: the token is from a Secret",
      any(env["name"] == "HARNESS_TOKEN" and "secretKeyRef" in env["valueFrom"]
          for env in container["env"]))
check("serve.yaml: options are the program's", options_of(container["args"]) <= known)
mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
check("serve.yaml: every mount has its volume",
      set(mounts) <= {volume["name"] for volume in pod["volumes"]})
database = entry[0][entry[0].index("--db") + 1]
check("the history lies on the mount", any(database.startswith(path + "/") for path in mounts.values()))
exposed = [argument for name, argument in docker if name == "EXPOSE"][0]
check("image and pod have the same port and user",
      int(exposed) in ports.values()
      and user[0] == f"{pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}")
finish()
