#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CTest cuda.machine_code: what the compiler made of the kernels for sm_90, from their machine code.

    tests/cuda/machine_code.py BUILD_FOLDER NVCC [--table]
    tests/cuda/machine_code.py BUILD_FOLDER --gates

cmake/nvcc_resources.sh leaves it uncompressed in the objects. From sm_70 on an instruction has 128 bits
and its opcode is the low 12; a branch has its distance, counted from the next instruction in units of 4
bytes, in bits 16 to 23 and 34 to 81, so that loops are found. A multiply-add has its registers in bits
24 to 39 and 64 to 71, and in bits 122 to 124 whether the next one finds each of them where this one read
it. None of it is published: opcodes, branches and registers are calibrated first by kernels that have
them, with the compiler at hand.

kernels/cuda/machine_code.txt has a row for each kernel: which instructions it must have, how many
instructions its main loop takes for each multiplication, or the whole kernel where it has none, and
how many an output between the last multiplication and the loop's end (tests/cuda/ways_out.cu has kernels
of one such way each); and how many multiply-adds wait for a bank of registers. None may touch local
memory. --table prints what was found; --gates, one line: how many kernels have what they must have. Exit
status 0, 1 or 77 (nothing was compiled for sm_90 here).
"""

import collections
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import typing

import register_banks

SHARED = 'static __shared__ __align__(1024) unsigned char shared[4096];' \
    ' unsigned at = (unsigned)__cvta_generic_to_shared(shared);'

LOCAL = 'volatile float a[400]; for (int i = 0; i < n; i++) a[i] = p[i]; p[n] = a[7 * n % 400];'

# name: (opcode, body of a kernel(float *p, int n, const void *map) that has it)
INSTRUCTIONS = {
    'HGMMA': (0x9f0, 'float a[4] = {}; unsigned long long d = n;'
              ' asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16'
              ' {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;"'
              ' : "+f"(a[0]), "+f"(a[1]), "+f"(a[2]), "+f"(a[3]) : "l"(d));'
              ' asm volatile("wgmma.wait_group.sync.aligned 0;"); p[n] = a[0];'),
    'QGMMA': (0x9f3, 'float a[4] = {}; unsigned long long d = n;'
              ' asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3'
              ' {%0, %1, %2, %3}, %4, %4, 1, 1, 1;"'
              ' : "+f"(a[0]), "+f"(a[1]), "+f"(a[2]), "+f"(a[3]) : "l"(d));'
              ' asm volatile("wgmma.wait_group.sync.aligned 0;"); p[n] = a[0];'),
    'HMMA': (0x23c, 'float a[4] = {}; asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32'
             ' {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"'
             ' : "+f"(a[0]), "+f"(a[1]), "+f"(a[2]), "+f"(a[3]) : "r"(n)); p[n] = a[0];'),
    'FFMA': (0x223, 'p[n] = __fmaf_rn(p[n], p[n + 1], p[n + 2]);'),
    'UTMALDG': (0x5b4, SHARED + ' asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile'
                '.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2}], [%0];" :: "r"(at), "l"(map), "r"(n)'
                ' : "memory");'),
    'UTMASTG': (0x3b5, SHARED + ' asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group'
                ' [%1, {%2, %2}], [%0];" :: "r"(at), "l"(map), "r"(n) : "memory");'),
    'TRYWAIT': (0x5a7, SHARED + ' asm volatile("{ .reg .pred q; mbarrier.try_wait.parity.shared::cta.b64'
                ' q, [%0], %1; }" :: "r"(at), "r"(n) : "memory");'),
    'EXPECT': (0x9a7, SHARED + ' asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"'
               ' :: "r"(at), "r"(n) : "memory");'),
    'STSM': (0x844, SHARED + ' asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0],'
             ' {%1, %1, %1, %1};" :: "r"(at), "r"(n) : "memory");'),
    'LDSM': (0x83b, SHARED + ' unsigned a, b, c, d; asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16'
             ' {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at));'
             ' p[n] = a + b + c + d;'),
    'LDGSTS': (0xfae, SHARED + ' asm volatile("cp.async.cg.shared.global [%0], [%1], 16;'
               ' cp.async.wait_all;" :: "r"(at), "l"(p) : "memory");'),
    'SETMAXREG': (0x9c8, 'asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");'),
    'PDLWAIT': (0x82e, 'asm volatile("griddepcontrol.wait;" ::: "memory");'),
    'PDLLAUNCH': (0x82d, 'asm volatile("griddepcontrol.launch_dependents;");'),
    'STG': (0x986, 'p[n] = 1;'),
    'LDL': (0x983, LOCAL),
    'STL': (0x387, LOCAL),
}
BRANCH, EXIT, ALWAYS = 0x947, 0x94d, 7  # the last: a predicate
EM_CUDA = 190  # the machine of an ELF file
STORES = ('STG', 'UTMASTG')
MULTIPLICATIONS = ('HGMMA', 'QGMMA', 'HMMA', 'FFMA')
NAMES = {opcode: name for name, (opcode, _) in INSTRUCTIONS.items()}

# A loop of 8 multiply-adds that is left as it is.
LOOP = '''float a = p[threadIdx.x];
#pragma unroll 1
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int k = 0; k < 8; k++) a = __fmaf_rn(a, p[k], a);
        asm volatile("membar.cta;" ::: "memory");
    }
    p[threadIdx.x] = a;'''


# The same, whose result goes out by a store that a branch leaves out, and one of shared memory that it
# does not.
STORE = LOOP.replace('    p[threadIdx.x] = a;', SHARED + '''
    *(volatile float *)(shared + threadIdx.x * 4) = a;
    if (n & 64) { asm volatile("membar.cta;" ::: "memory"); ((volatile float *)p)[n] = a;
        asm volatile("membar.gl;" ::: "memory"); ((volatile float *)p)[n + 1] = a + 1; }''')
STORE = f'for (int t = 0; t < n; t++) {{ {STORE} }}'

# And by a loop, behind which the kernel ends.
STRIP = LOOP.replace('    p[threadIdx.x] = a;', '''
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        asm volatile("membar.cta;" ::: "memory");
        ((volatile float *)p)[i] = a;
    }''')


class Rule(typing.NamedTuple):
    pattern: typing.Pattern
    has: tuple = ()
    multiplication: str = ''  # or ALL
    most: float = 0
    outputs: int = 0  # a thread's, of a round of the loop
    most_output: float = 0
    way: typing.Optional['Way'] = None
    most_waits: typing.Optional[tuple] = None  # of 100 multiply-adds that wait for a bank, that meet in one


class Way(typing.NamedTuple):
    """From the last multiplication to the end of the round or of the kernel."""
    outputs: int  # a thread's
    most: float  # instructions for each
    rounds: tuple  # of each loop on the way, in their order


# Kernels of the calibration with rules that they break.
PLANTED = (('nothing', None), ('loop', Rule('', ('HGMMA',))), ('LDL', Rule('')),
           ('loop', Rule('', (), 'FFMA', 1.1)), ('FFMA', Rule('', (), 'FFMA', 99)),
           ('FFMA', Rule('', (), 'ALL', 2)), ('store', Rule('', (), 'FFMA', 99, 1, 2)),
           ('loop', Rule('', (), 'FFMA', 99, 1, 99)),
           ('strip', Rule('', (), 'FFMA', 99, way=Way(10, 4, (10,)))),
           ('strip', Rule('', (), 'FFMA', 99, way=Way(1, 999, ()))),
           ('waits', Rule('', most_waits=(99, 0))),
           ('triples', Rule('', most_waits=(100, 99))), ('nothing', Rule('', most_waits=(100, 100))))


class Kernel:
    def __init__(self, name, words):
        self.name = name
        self.words = words
        self.opcodes = [low & 0xfff for low, _ in words]
        self.counts = collections.Counter(NAMES.get(opcode) for opcode in self.opcodes)
        self.branches = list(branches(words))
        self.loops = [self.opcodes[to:at + 1] for at, to in self.branches if to < at]

    @property
    def banks(self):
        return register_banks.banks(self.words)

    def main_loop(self, multiplication):
        """(instructions, multiplications) of the loop that has the most of them for its length."""
        opcode = INSTRUCTIONS[multiplication][0]
        counted = [(len(body), body.count(opcode)) for body in self.loops if opcode in body]
        # What is left over of an unrolled loop is no main loop.
        most = max((nr for _, nr in counted), default=0)
        counted = [(length, nr) for length, nr in counted if 4 * nr >= most]
        return min(counted, key=lambda loop: loop[0] / loop[1], default=None)

    def way_out(self, multiplication):
        """Instructions from a round's last multiplication to its end, without those in front of which
        a branch leaves out all plain stores; None where no loop has both."""
        opcode, store = INSTRUCTIONS[multiplication][0], INSTRUCTIONS['STG'][0]
        last = max((at for at, one in enumerate(self.opcodes) if one == opcode), default=None)
        stores = [at for at, one in enumerate(self.opcodes) if one == store and last is not None and at > last]
        if not stores:
            return None
        # Retries of waits lie behind the loop, and lead back into it.
        end = min((at for at, to in self.branches if to <= last and at > stores[-1]), default=None)
        left_out = min((to - at - 1 for at, to in self.branches if last < at < stores[0] and to > stores[-1]),
                       default=None)
        return end - last - left_out if end and left_out else None

    def way(self, multiplication, rounds):
        """Instructions from the last multiplication to the end of the loop that it is in, or to the exit,
        with the loops in between as often as `rounds` says; None where there are others, or nothing is
        stored."""
        opcode, stored = INSTRUCTIONS[multiplication][0], [INSTRUCTIONS[name][0] for name in STORES]
        last = max((at for at, one in enumerate(self.opcodes) if one == opcode), default=len(self.opcodes))
        stores = [at for at, one in enumerate(self.opcodes) if one in stored and at > last]
        ends = [at for at, to in self.branches if to <= last and stores and at > stores[-1]]
        ends += [at for at, (low, _) in enumerate(self.words)
                 if stores and at > stores[-1] and low & 0xfff == EXIT and low >> 12 & 0xf == ALWAYS]
        loops = sorted((to, at) for at, to in self.branches if ends and last < to <= at < min(ends))
        if not ends or len(loops) != len(rounds):
            return None
        return min(ends) - last + sum((nr - 1) * (at + 1 - to) for nr, (to, at) in zip(rounds, loops))


def branches(words):
    """(place, target) of each, counted in instructions."""
    for at, (low, high) in enumerate(words):
        if low & 0xfff == BRANCH:
            far = (high & 0x3ffff) << 30 | low >> 34
            far -= (far >> 47) << 48  # signed
            yield at, at + 1 + ((far << 8 | low >> 16 & 0xff) * 4 >> 4)


def sections(elf):
    """(name, bytes) of each: elf(5), 64 bits, little-endian."""
    headers, = struct.unpack_from('<Q', elf, 0x28)
    size, nr, names = struct.unpack_from('<HHH', elf, 0x3a)
    rows = [struct.unpack_from('<IIQQQQ', elf, headers + i * size) for i in range(nr)]
    for name, _, _, _, at, length in rows:
        start = rows[names][4] + name
        yield elf[start:elf.index(b'\0', start)].decode(), elf[at:at + length]


def images_of(path):
    """What an object has for sm_90 and sm_90a: files of their own in it."""
    data = path.read_bytes()
    at = data.find(b'\x7fELF', 1)
    while at > 0:
        elf = data[at:]
        if struct.unpack_from('<H', elf, 0x12)[0] == EM_CUDA and \
                (struct.unpack_from('<I', elf, 0x30)[0] >> 8 & 0xff) == 90:
            yield elf
        at = data.find(b'\x7fELF', at + 1)


def kernels_of(elf):
    found = [(name[len('.text.'):], code) for name, code in sections(elf) if name.startswith('.text.')]
    names = subprocess.run(['c++filt'], input='\n'.join(name for name, _ in found), text=True,
                           capture_output=True, check=True).stdout.split('\n')
    return [Kernel(plain(long), [struct.unpack_from('<QQ', code, at) for at in range(0, len(code), 16)])
            for (_, code), long in zip(found, names)]


def plain(name):
    """Without the result and the arguments: "gemm_naive_kernel<true>"."""
    name = re.sub(r'^void ', '', name.replace('(anonymous namespace)::', ''))
    name = re.sub(r'\((?:[a-z_ ]+)\)(?=-?\d)', '', name)  # "(bool)1" of a template's arguments
    return re.sub(r'\([^()]*\)$', '', name)


def calibrate(nvcc, folder):
    """What of the table this compiler does otherwise, a line each."""
    kernels = dict({name: body for name, (_, body) in INSTRUCTIONS.items()}, nothing='', loop=LOOP,
                   store=STORE, strip=STRIP, **register_banks.KERNELS)
    source, cubin = folder / 'calibrate.cu', folder / 'calibrate.cubin'
    source.write_text('\n'.join('extern "C" __global__ void __launch_bounds__(384, 1)'
                                f' {name}(float *p, int n, const void *map)'
                                f' {{ {body} }}' for name, body in kernels.items()))
    told = subprocess.run([nvcc, '-arch=sm_90a', '-cubin', '-w', '-o', cubin, source], text=True,
                          stderr=subprocess.STDOUT, stdout=subprocess.PIPE)
    if told.returncode:
        sys.exit(told.stdout)
    found = {kernel.name: kernel for kernel in kernels_of(cubin.read_bytes())}
    outer = found['outer'].words
    for name, registers in (('waits', (2, 4, 7)), ('triples', (2, 4, 6))):
        found[name] = Kernel(name, list(register_banks.planted(outer, registers)))
    yield from register_banks.calibration(found['FFMA'].words, outer)
    for name, (opcode, _) in INSTRUCTIONS.items():
        if name not in found[name].counts:
            yield f'{name} is not {opcode:#x} any more'
        if name in found['nothing'].counts:
            yield f'{opcode:#x} is not {name} alone'
    if (found['loop'].main_loop('FFMA') or (0, 0))[1] != 8:
        yield f'a branch does not have its target where it had it: loops {found["loop"].loops}'
        return
    if not 0 < (found['store'].way_out('FFMA') or 0) < 20:
        yield f'the way out of a loop is not found: {found["store"].way_out("FFMA")} instructions'
    ways = [found['strip'].way('FFMA', (nr,)) or 0 for nr in (1, 11, 21)]
    if not 0 < ways[0] < 30 or not ways[0] < ways[1] or ways[2] - ways[1] != ways[1] - ways[0]:
        yield f'the way out by a loop is not found: {ways} instructions for 1, 11 and 21 rounds'
    for kernel, rule in PLANTED:
        if not list(faults(found[kernel], rule)):
            yield f'a planted fault is not found: {kernel} and {rule}'


def release_of(nvcc):
    told = subprocess.run([nvcc, '--version'], text=True, capture_output=True, check=True).stdout
    return re.search(r'release (\d+\.\d+)', told)[1]


def read_rules(text):
    rules = []
    for line in text.splitlines():
        if line and not line.startswith('#'):
            pattern, has, loop, *more = (part.strip() for part in line.split(';'))
            multiplication, most = loop.split() if loop else ('', 0)
            words = {part.split()[0]: part.split()[1:] for part in more}
            outputs, most_output = words.get('OUT', (0, 0))
            way = [float(word) for word in words.get('WAY', ())]
            way = Way(int(way[0]), way[1], tuple(int(nr) for nr in way[2:])) if way else None
            waits = tuple(float(most) for most in words['BANKS']) if 'BANKS' in words else None
            rules.append(Rule(re.compile(pattern), tuple(has.split()), multiplication, float(most),
                              int(outputs), float(most_output), way, waits))
    return rules


def faults(kernel, rule):
    if not rule:
        yield 'no row of machine_code.txt is for it'
        return
    for name in rule.has:
        if not kernel.counts[name]:
            yield f'has no {name}'
    for name in ('LDL', 'STL'):
        if kernel.counts[name]:
            yield f'touches local memory: {kernel.counts[name]} {name}'
    if rule.multiplication == 'ALL':
        if len(kernel.opcodes) > rule.most:
            yield f'has {len(kernel.opcodes)} instructions, {rule.most:g} are allowed'
    elif rule.multiplication:
        loop = kernel.main_loop(rule.multiplication)
        if not loop:
            yield f'has no loop with {rule.multiplication}'
        elif loop[0] > rule.most * loop[1]:
            yield f'its main loop takes {loop[0] / loop[1]:.2f} instructions for each {rule.multiplication}, ' \
                f'{rule.most:g} are allowed'
    if rule.outputs:
        out = kernel.way_out(rule.multiplication)
        if not out:
            yield f'has no loop with {rule.multiplication} and stores that a branch leaves out'
        elif out > rule.most_output * rule.outputs:
            yield f'its way out takes {out / rule.outputs:.2f} instructions for each output, ' \
                f'{rule.most_output:g} are allowed'
    if rule.way:
        nr = kernel.way(rule.multiplication, rule.way.rounds)
        if not nr:
            yield f'has no way out with {len(rule.way.rounds)} loops'
        elif nr > rule.way.most * rule.way.outputs:
            yield f'its way out takes {nr / rule.way.outputs:.2f} instructions for each output, ' \
                f'{rule.way.most:g} are allowed'
    if rule.most_waits:
        yield from bank_faults(kernel.banks, rule.most_waits)


def bank_faults(banks, most):
    if not banks.nr:
        yield 'has no multiply-add of registers'
        return
    for what, nr, allowed in zip(('wait for a bank', 'have all operands in one bank'), banks[1:], most):
        if 100 * nr > allowed * banks.nr:
            yield f'{nr} of {banks.nr} multiply-adds {what}, {allowed:g} of 100 are allowed'


def print_row(kernel, rule):
    parts = [f'{nr} {name}' for name, nr in sorted(kernel.counts.items(), key=lambda item: str(item[0]))
             if name]
    for multiplication in MULTIPLICATIONS:
        loop = kernel.main_loop(multiplication)
        if loop:
            parts.append(f'loop {loop[0]} for {loop[1]} {multiplication}: {loop[0] / loop[1]:.2f}')
            break
    if rule and rule.outputs:
        parts.append(f'way out {kernel.way_out(rule.multiplication)} for {rule.outputs} outputs')
    if rule and rule.way:
        nr = kernel.way(rule.multiplication, rule.way.rounds)
        parts.append(f'way out {nr} for {rule.way.outputs} outputs')
    if rule and rule.most_waits:
        nr, waits, triples = kernel.banks
        parts.append(f'{100 * waits / nr:.1f} of 100 FFMA wait for a bank, '
                     f'{100 * triples / nr:.1f} meet in one')
    print(f'{kernel.name}: {len(kernel.opcodes)} instructions; {", ".join(parts)}')


def with_rules(images, rules):
    """(kernel, its rule or None) of all, named after their files."""
    for path, elf in images:
        for kernel in kernels_of(elf):
            kernel.name = f'{path.name.removesuffix(".cu.o")}: {kernel.name}'
            yield kernel, next((rule for rule in rules if rule.pattern.match(kernel.name)), None)


def gates(found):
    """A line: of each instruction, how many of the kernels that must have it do."""
    asked, had = collections.Counter(), collections.Counter()
    for kernel, rule in found:
        for name in rule.has if rule else ():
            asked[name] += 1
            had[name] += kernel.counts[name] > 0
    local = sum(1 for kernel, _ in found if kernel.counts['LDL'] or kernel.counts['STL'])
    return f'sm_90, sm_90a: {", ".join(f"{name} {had[name]} of {asked[name]}" for name in sorted(asked))}' \
        f' kernels that must have it; {local} touch local memory'


def main():
    build, nvcc = pathlib.Path(sys.argv[1]), sys.argv[2]
    objects = [path for room in ('kernels', 'models') for path in (build / room).rglob('*.cu.o')]
    objects += (build / 'tests/cuda').rglob('ways_out.cu.o')
    images = [(path, elf) for path in sorted(objects) for elf in images_of(path)]
    if not images:
        print('skipped: nothing is compiled for sm_90 here')
        return 77
    text = (pathlib.Path(__file__).parents[2] / 'kernels/cuda/machine_code.txt').read_text()
    rules = read_rules(text)
    if nvcc == '--gates':
        print(gates(list(with_rules(images, rules))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        bad = list(calibrate(nvcc, pathlib.Path(folder)))
    release = release_of(nvcc)
    if f'nvcc {release} ' not in text:
        print(f'the bounds are of another nvcc than {release} and are not judged')
        rules = [Rule(rule.pattern, rule.has) for rule in rules]
    found = list(with_rules(images, rules))
    used = {rule for _, rule in found}
    for kernel, rule in found:
        bad += [f'{kernel.name}: {fault}' for fault in faults(kernel, rule)]
        if '--table' in sys.argv:
            print_row(kernel, rule)
    bad += [f'no kernel is like {rule.pattern.pattern}' for rule in rules if rule not in used]
    for fault in bad:
        print(fault)
    print(gates(found))
    print(f'{len(found)} kernels, {len(INSTRUCTIONS)} opcodes calibrated, {len(bad)} faults')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
