/* SPDX-License-Identifier: MIT */
/*
 * The matrix tiles of x86 processors (AMX): 8 KiB of registers a thread that Linux saves with its
 * others only for a process that has asked, and refuses where a signal's stack has no room for
 * them.
 *
 *            tile b: 16 pairs of rows x 16 columns         eight tiles of 16 rows of 64 bytes; here
 *            +---------------------------+                 all are of that size
 *            | b0b1 b0b1 ...  (column)   |
 *            | b2b3 b2b3 ...             |                 acc[i][j] += sum over p of
 *            +---------------------------+                   a[i][2p] b[2p][j] + a[i][2p+1]
 * b[2p+1][j] tile a   tile acc 16 x 32  16 x 16, fp32
 *
 * One instruction has 8192 products and takes its unit 16 cycles, in which AVX-512 has 512 of fp32
 * (Intel 64 and IA-32 Architectures Optimization Reference Manual, chapter on AMX). Denormal
 * factors and sums count as 0.
 */
#ifndef HARNESS_HOST_MATRIX_TILES_H
#define HARNESS_HOST_MATRIX_TILES_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this processor multiplies tiles of bfloat16 and this process may have them do so. Asks
 * for it at the first call; children by fork() have it, too. */
bool matrix_tiles_granted(void);

enum { AMX_ROWS = 16, AMX_WORDS = 16 }; /* of a tile: words are of 32 bits */

/*
 * For who is granted them. A tile is told by its number, 0 to 7: a constant, which the text of the
 * instruction holds.
 *   amx_begin()               before all others, in each thread
 *   amx_end()                 afterwards: from there on the system need not save them
 *   amx_zero(t)
 *   amx_load(t, from, row)    16 rows of 64 bytes, `row` bytes apart
 *   amx_store(t, to, row)
 *   amx_dot(acc, a, b)        as above
 * Text and not intrinsics: of those gcc does not know which memory they read, and any processor's
 * flags will do.
 */
#if defined(__x86_64__) && !defined(AMX_MODEL) /* tests/kernels/amx_model.h has them in C */

/* NOLINTBEGIN(bugprone-macro-parentheses): the numbers become text */
#define amx_zero(t) __asm__ volatile("tilezero %%tmm" #t ::: "memory")
#define amx_load(t, from, row)                                                                     \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t ::"r"((const void *)(from)),                  \
                     "r"((int64_t)(row))                                                           \
                     : "memory")
#define amx_store(t, to, row)                                                                      \
    __asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)" ::"r"((void *)(to)), "r"((int64_t)(row))  \
                     : "memory")
#define amx_dot(acc, a, b)                                                                         \
    __asm__ volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #acc ::: "memory")
#define amx_end() __asm__ volatile("tilerelease" ::: "memory")
/* NOLINTEND(bugprone-macro-parentheses) */

static inline void amx_begin(void)
{
    struct {
        uint8_t palette, first_row, none[14];
        uint16_t bytes[16]; /* a row, of each tile */
        uint8_t rows[16];
    } sizes = { .palette = 1 };

    for (int t = 0; t < 8; t++)
        sizes.bytes[t] = AMX_WORDS * sizeof(uint32_t), sizes.rows[t] = AMX_ROWS;
    __asm__ volatile("ldtilecfg (%0)" ::"r"(&sizes) : "memory");
}

#endif

#endif
