#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a copy of CUDA sources in which each asm statement is a call of the interpreter.

    calls.py FROM TO [FILE...]

FROM/kernels and FROM/models (or the FILEs of them) as they are, but for

    asm volatile("TEXT" : "=r"(out) : "l"(in) : "memory");
    cuda_host_asm(<a program of TEXT, made once>, { operand("=r", out), operand("l", in) });

and with the branches taken that a device of sm_90a compiles, not the host layer's models of them.
The text, its operands and its clobbers are the source's own: nothing of them is known here. A file
is written only where it differs, so that a build does no more than it has to.
"""
import pathlib
import re
import sys

OPERAND = re.compile(r'"([=+]?[rlfhn])"\s*\(')
STATEMENT = re.compile(r'\basm(\s+volatile)?\s*\(')
# What asks for the host layer elsewhere than in place of an instruction: a thread that polls lets others
# run there.
LAYER = {"kernels/cuda/flagged.h", "kernels/cuda/launch.h", "models/gpt_cuda_cluster_kinds.h",
         "models/gpt_cuda_decode_kinds.h"}


def closing(text, at):
    """The place of the parenthesis that closes the one at `at`."""
    depth = 0
    while at < len(text):
        if text[at] == '"':
            at += 1
            while text[at] != '"':
                at += 2 if text[at] == '\\' else 1
        elif text[at] in '([{':
            depth += 1
        elif text[at] in ')]}':
            depth -= 1
            if depth == 0:
                return at
        at += 1
    raise ValueError("an asm statement does not end")


def parts(text):
    """Cuts at the colons that stand in no string or parenthesis."""
    found, start, depth, at = [], 0, 0, 0
    while at < len(text):
        if text[at] == '"':
            at += 1
            while text[at] != '"':
                at += 2 if text[at] == '\\' else 1
        elif text[at] in '([{':
            depth += 1
        elif text[at] in ')]}':
            depth -= 1
        elif text[at] == ':' and depth == 0:
            found.append(text[start:at])
            start = at + 1
        at += 1
    return found + [text[start:]]


def statement(text, volatile):
    words = [p.strip() for p in parts(text)] + [""] * 3
    code, outputs, inputs, clobbers = words[:4]
    operands = ", ".join(OPERAND.sub(r'cuda_host_register_of("\1", ', p) for p in (outputs, inputs) if p)
    return ("cuda_host_asm([]() -> const cuda_host_program & { static const cuda_host_program program("
            f"{code}, \"{clobbers.replace(chr(34), '')}\", {'true' if volatile else 'false'}); "
            f"return program; }}, {{ {operands} }})")


def calls(text):
    out, at = [], 0
    for found in STATEMENT.finditer(text):
        if found.start() < at or text.rfind("/*", 0, found.start()) > text.rfind("*/", 0, found.start()):
            continue
        end = closing(text, found.end() - 1)
        call = statement(text[found.end():end], found.group(1))
        out += [text[at:found.start()], call, "\n" * text.count("\n", found.start(), end)]
        at = end + 1
    out.append(text[at:])
    return "".join(out)


def converted(name, text):
    # Macros of operands: their definitions lie outside of statements.
    lines = [OPERAND.sub(r'cuda_host_register_of("\1", ', line)
             if re.match(r'\s*"[=+][rlfhn]"\s*\(', line) or line.lstrip().startswith("#define") else line
             for line in text.split("\n")]
    inside, result = False, []
    for old, line in zip(text.split("\n"), lines):
        inside = inside or old.lstrip().startswith("#define")
        result.append(line if inside else old)
        inside = inside and old.rstrip().endswith("\\")
    text = calls("\n".join(result))
    text = text.replace("__CUDA_ARCH__", "CUDA_HOST_ARCH")
    if name not in LAYER:
        text = text.replace("CUDA_HOST_LAYER", "CUDA_HOST_MODELS")
    if "cuda_host_asm(" in text:
        guard = re.search(r'^#define \w+\n|\A', text, re.M)
        text = text[:guard.end()] + '#include "cuda_host_asm.h"\n' + text[guard.end():]
    return text


def main(source, target, *names):
    source, target = pathlib.Path(source), pathlib.Path(target)
    files = [source / n for n in names] or sorted(
        p for room in ("kernels", "models") for p in (source / room).rglob("*") if p.suffix in (".h", ".cu"))
    for file in files:
        name = file.relative_to(source).as_posix()
        text = converted(name, file.read_text())
        to = target / name
        if not to.exists() or to.read_text() != text:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
