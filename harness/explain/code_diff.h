/* SPDX-License-Identifier: MIT */
/*
 * Which functions of two programs have other machine code. Read are the symbols of ELF files
 * (64 bit, of this machine's byte order), by this file's own reader: no disassembler is needed.
 *
 * Where one function grew, all behind it moved, and every call and address in them has other bytes.
 * So bytes that differ are forgiven where they are an address relative to their own place (x86-64:
 * rel32 and disp32; AArch64: branches, and the ADD, LDR or STR that completes the page of an ADRP)
 * and lead to the same function and place in it, or into the same section where that has no
 * functions. Constants that changed in data are not seen.
 */
#ifndef HARNESS_EXPLAIN_CODE_DIFF_H
#define HARNESS_EXPLAIN_CODE_DIFF_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_function {
    char *name;       /* as in the symbol table; owned */
    uint64_t size[2]; /* bytes; 0: that side lacks it */
};

/* What a file says of how it was built. */
struct code_build {
    char *compilers; /* section .comment, sorted, each once; owned, NULL: it does not say */
    char *flags;     /* of the compiler, from debug information; the same */
    char *libraries; /* that it needs: "libc.so.6 libm.so.6"; the same */
};

struct code_diff {
    bool known;                          /* both files could be read and have symbols */
    size_t common, same;                 /* functions of both sides, by name; with equal code */
    ARRAY(struct code_function) changed; /* other code, new or gone; the largest first */
    struct code_build build[2];
};

/* Zeroes and fills `out`. -1: a file cannot be read or is no such ELF file; without a symbol table
 * `known` is false, and no error. Release `out` whatever the result. */
int code_diff_files(const char *base, const char *head, struct code_diff *out, struct error *err);
void code_diff_release(struct code_diff *diff);

/* The first changed function whose name holds all words of the operation ("layer norm",
 * "attention"), whatever the case; NULL: there is none. */
const struct code_function *code_diff_of(const struct code_diff *diff, const char *operation);

#endif
