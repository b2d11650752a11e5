# SPDX-License-Identifier: MIT
"""Multiply-adds that wait for a bank of registers, from machine code of sm_90; machine_code.py's.

A quarter of an SM reads one register of even and one of odd number a cycle, and a multiply-add has three
operands: one should be what the one before it read at the same place, which the machine code says by a bit
for each place, and the other two should differ in parity.

    waits     two or three that are to be read have one parity
    triples   all three

Limit: what the code says. The bit is lost where another warp's instruction comes in between, so that a
device may wait more often.
"""

import typing

FFMA, LOAD = 0x223, 0x981
NO_REGISTER = 255

# name: body of a kernel, for which machine_code.py's words stand: factors that some multiply-adds share.
KERNELS = {'outer': '''float sums[4][4] = {};
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        float x[4], w[4];
#pragma unroll
        for (int i = 0; i < 4; i++) x[i] = p[8 * k + i], w[i] = p[8 * k + 4 + i];
#pragma unroll
        for (int i = 0; i < 16; i++) sums[i / 4][i % 4] = __fmaf_rn(x[i / 4], w[i % 4], sums[i / 4][i % 4]);
        asm volatile("membar.cta;" ::: "memory");
    }
#pragma unroll
    for (int i = 0; i < 16; i++) p[i] = sums[i / 4][i % 4];'''}


class Banks(typing.NamedTuple):
    nr: int  # multiply-adds of registers
    waits: int
    triples: int


def operands(low, high):
    return low >> 24 & 0xff, low >> 32 & 0xff, high & 0xff


def is_kept(high, place):
    return high >> 58 + place & 1


def banks(words):
    nr = waits = triples = 0
    before, kept = (), ()
    for low, high in words:
        if low & 0xfff != FFMA:
            before, kept = (), ()
            continue
        registers = operands(low, high)
        read = {register for place, register in enumerate(registers)
                if register != NO_REGISTER and not (place in kept and before[place] == register)}
        most = max(sum(register % 2 == parity for register in read) for parity in (0, 1))
        nr, waits, triples = nr + 1, waits + (most >= 2), triples + (most >= 3)
        before, kept = registers, [place for place in range(3) if is_kept(high, place)]
    return Banks(nr, waits, triples)


def planted(words, registers, kept=()):
    """The code with other operands in each multiply-add."""
    bits = sum(1 << 58 + place for place in kept)
    for low, high in words:
        if low & 0xfff == FFMA:
            low = low & ~(0xffff << 24) | registers[0] << 24 | registers[1] << 32
            high = high & ~(0xff | 7 << 58) | registers[2] | bits
        yield low, high


def calibration(loaded, outer):
    """What is not where it was. `loaded`: the words of a multiply-add of three values that were loaded;
    `outer`: those of KERNELS."""
    sums = [operands(low, high) for low, high in loaded if low & 0xfff == FFMA]
    values = {low >> 16 & 0xff for low, _ in loaded if low & 0xfff == LOAD}
    if [set(three) for three in sums] != [values] or len(values) != 3:
        yield f'the operands {sums} of a multiply-add are not what was loaded: {sorted(values)}'
    pairs = [pair for pair in zip(outer, outer[1:]) if all(low & 0xfff == FFMA for low, _ in pair)]
    kept = [(before, now, place) for before, now in pairs for place in (0, 1) if is_kept(before[1], place)]
    same = [place for before, now, place in kept if operands(*before)[place] == operands(*now)[place]]
    if len(same) < 6 or 4 * len(same) < 3 * len(kept):
        yield f'multiply-adds keep {len(kept)} operands, and {len(same)} of the next ones have them'
    for registers, want in (((2, 4, 6), (1, 1)), ((2, 3, 6), (1, 0)), ((2, 3, 255), (0, 0)), ((2, 2, 3), (0, 0))):
        got = banks(planted(outer, registers))
        if (got.waits, got.triples) != (want[0] * got.nr, want[1] * got.nr):
            yield f'planted conflicts of {registers} are not found: {got}'
    # A multiply-add that keeps what the next one reads there waits for nothing, but for the first in a row.
    alone, beside = banks(planted(outer, (2, 4, 7))), banks(planted(outer, (2, 4, 7), (0,)))
    if not 0 < beside.waits < alone.waits:
        yield f'what is kept is not taken for read: {beside}, {alone}'
