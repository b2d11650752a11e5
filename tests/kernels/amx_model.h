/* SPDX-License-Identifier: MIT */
/*
 * Matrix tiles in C, for files compiled with AMX_MODEL: what host/matrix_tiles.h says of each
 * operation. Stricter than the processor: a tile that nothing was put into holds no numbers, and
 * who uses one outside of amx_begin() and amx_end() is aborted. amx_model_fault plants a mistake.
 */
#ifndef HARNESS_TESTS_KERNELS_AMX_MODEL_H
#define HARNESS_TESTS_KERNELS_AMX_MODEL_H

#include "amx_faults.h"

#include "host/matrix_tiles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct {
    int begun;
    uint32_t word[8][AMX_ROWS][AMX_WORDS];
} amx_model;

static inline uint32_t (*amx_model_tile(int t))[AMX_WORDS]
{
    if (!amx_model.begun || t < 0 || t > 7) {
        fprintf(stderr, "a tile, number %d, outside of amx_begin() and amx_end()\n", t);
        abort();
    }
    return amx_model.word[t];
}

static inline void amx_begin(void)
{
    if (amx_model.begun++)
        abort();
    memset(amx_model.word, 0xff, sizeof(amx_model.word)); /* NaN, of either type */
}

static inline void amx_end(void)
{
    if (amx_model.begun-- != 1)
        abort();
}

static inline void amx_zero(int t)
{
    memset(amx_model_tile(t), 0, sizeof(amx_model.word[t]));
}

static inline void amx_load(int t, const void *from, int64_t row)
{
    uint32_t(*tile)[AMX_WORDS] = amx_model_tile(t);

    if (amx_model_fault == AMX_ROWS_CLOSE)
        row = sizeof(tile[0]);
    for (int i = 0; i < AMX_ROWS; i++)
        memcpy(tile[i], (const char *)from + i * row, sizeof(tile[i]));
}

static inline void amx_store(int t, void *to, int64_t row)
{
    uint32_t(*tile)[AMX_WORDS] = amx_model_tile(t);

    for (int i = 0; i < AMX_ROWS; i++)
        memcpy((char *)to + i * row, tile[i], sizeof(tile[i]));
}

/* Numbers that are not normal count as 0. */
static inline float amx_model_float(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return fpclassify(value) == FP_SUBNORMAL ? 0 : value;
}

static inline float amx_model_sum(float sum, uint32_t a, uint32_t b)
{
    const int swapped = amx_model_fault == AMX_PAIRS_SWAPPED;

    sum += amx_model_float(a << 16) * amx_model_float(swapped ? b & 0xffff0000 : b << 16);
    return sum +
           amx_model_float(a & 0xffff0000) * amx_model_float(swapped ? b << 16 : b & 0xffff0000);
}

static inline void amx_dot(int acc, int a, int b)
{
    const int swapped = amx_model_fault == AMX_FACTORS_SWAPPED;
    const int nr = amx_model_fault == AMX_LAST_PAIR_LOST ? AMX_WORDS - 1 : AMX_WORDS;
    uint32_t(*x)[AMX_WORDS] = amx_model_tile(swapped ? b : a);
    uint32_t(*y)[AMX_WORDS] = amx_model_tile(swapped ? a : b),
    (*to)[AMX_WORDS] = amx_model_tile(acc);

    for (int i = 0; i < AMX_ROWS; i++)
        for (int j = 0; j < AMX_WORDS; j++) {
            uint32_t *at = amx_model_fault == AMX_TRANSPOSED ? &to[j][i] : &to[i][j];
            float sum = amx_model_float(*at);
            for (int p = 0; p < nr; p++)
                sum = amx_model_sum(sum, x[i][p], y[p][j]);
            memcpy(at, &sum, sizeof(sum));
        }
}

#endif
