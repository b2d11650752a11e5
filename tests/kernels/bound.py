#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a model of an out-of-order core says of one call of a CPU kernel, beside its time.

    bound.py TRACE_CALL KERNEL DIM...        bound.py build/release/tests/kernels/trace_call \\
                                                 attention/causal 1 64 1 32

The instructions that the call executes (trace_call) go through llvm-mca, one after the other, as if
all data lay in L1 and no branch were mispredicted. The model is that of the processor at hand where it
is AMD's of Zen 4 (320 instructions ahead, six a cycle; LLVM 19 has no other one for Zen 5). Else it is
Skylake's with two 512-bit FMA units: LLVM has one such unit in its models of what came later from Intel.
It renames four instructions a cycle and looks 224 ahead, where a Golden Cove core renames six and looks
512 ahead, so that it hides less latency. Prints the model, instructions, cycles, the share of them in
which ports and in which latencies hold it up, and the least time that was measured. LLVM_MCA names
another llvm-mca, HARNESS_MCPU another of its models.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

MCA = (os.environ.get("LLVM_MCA") or shutil.which("llvm-mca-19") or "llvm-mca")
GAP = 64  # addresses that are further apart are disassembled by themselves


def core_model():
    """What llvm-mca calls the model of this processor."""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        known = dict(re.findall(r"^([^\t:]+)\t*: (.*)$", file.read(), re.MULTILINE))
    family, model = int(known.get("cpu family", 0)), int(known.get("model", 0))
    zen4 = family == 25 and (0x10 <= model < 0x20 or model >= 0x60)
    return "znver4" if zen4 or family == 26 else "skylake-avx512"


CPU = os.environ.get("HARNESS_MCPU") or core_model()


def ranges_of(addresses):
    """[first, last] of what lies together."""
    ranges = []
    for address in sorted(set(addresses)):
        if ranges and address - ranges[-1][1] <= GAP:
            ranges[-1][1] = address
        else:
            ranges.append([address, address])
    return ranges


def disassemble(program, addresses, start):
    """Instructions of the program by address; what another file holds (libc) is not among them."""
    found = {}
    for first, last in ranges_of(addresses):
        text = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", f"--start-address={first + start:#x}",
             f"--stop-address={last + start + 16:#x}", program],
            capture_output=True, text=True, check=True).stdout
        for line in text.splitlines():
            match = re.match(r"\s+([0-9a-f]+):\s+(.*)", line)
            if match:
                found[int(match[1], 16) - start] = match[2]
    return found


def for_mca(instruction):
    """As an assembler takes it: without comments and places; a jump goes somewhere. What repeats itself
    is left out, as the model does not know how often: of Zen 4 it takes 57,000 cycles."""
    text = re.sub(r"\s*#.*|<[^>]*>|^(bnd|notrack) ", "", instruction).strip()
    if re.match(r"(call|ret|nop|data16|cs nop|rep )", text):
        return None
    return text.split()[0] + " .L0" if re.match(r"j\w+\s", text) else text


def run_model(lines):
    """Cycles, and the shares in which ports and latencies hold the call up."""
    with tempfile.NamedTemporaryFile("w", suffix=".s") as file:
        file.write(".L0:\n" + "\n".join(lines) + "\n")
        file.flush()
        done = subprocess.run(
            [MCA, f"-mcpu={CPU}", "-iterations=1", "-instruction-info=false",
             "-resource-pressure=false", "-bottleneck-analysis", file.name],
            capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)

    def number(what):
        found = re.search(what + r"[^0-9]*([0-9.]+)", done.stdout)
        return float(found[1]) if found else 0  # nothing is held up

    return number("Total Cycles:"), number("Resource Pressure "), number("Data Dependencies:")


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    for tool in (MCA, "objdump", "readelf"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    program, kernel, *dims = sys.argv[1:]
    with tempfile.NamedTemporaryFile() as trace:
        status = subprocess.run([program, kernel, trace.name, *dims], check=False).returncode
        if status:
            sys.exit(status)
        with open(trace.name, encoding="ascii") as file:
            executed = [int(line, 16) for line in file]
    ns = float(subprocess.run([program, kernel, "-", *dims], capture_output=True, text=True,
                              check=True).stdout)
    inside = [address for address in executed if 0 <= address < os.path.getsize(program)]
    known = disassemble(program, inside, start_of(program))
    lines = [line for line in (for_mca(known[a]) for a in inside if a in known) if line]
    cycles, ports, latencies = run_model(lines)
    print(f"{kernel} {' '.join(dims)}: {len(executed)} instructions ({len(executed) - len(inside)} of "
          f"other files), {CPU} {cycles:.0f} cycles, held up by ports in {ports:.0f} % and by latencies in "
          f"{latencies:.0f} %, measured {ns:.0f} ns")


def start_of(program):
    """Address of the first byte in the file's own numbers: 0 of one that lies anywhere."""
    text = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
    return min(int(m[1], 16) for m in re.finditer(r"^\s+LOAD\s+0x\w+\s+(0x\w+)", text, re.MULTILINE))


if __name__ == "__main__":
    main()
