/* SPDX-License-Identifier: MIT */
/* Whether the tiles of simd_amx.h can be had: compiled for them where the target family has them.
 */
#include "kernels/simd_amx.h"

#ifdef SIMD_AMX

#include "host/matrix_tiles.h"

#include <pthread.h>
#include <string.h>

static bool works;

/* Whole numbers up to 7, which bfloat16 has, and whose sums are exact in any order. */
static int left_term(int row, int p)
{
    return (3 * row + 5 * p) % 8;
}

static int right_term(int p, int col)
{
    return (7 * p + 2 * col + p * col) % 8 - 3;
}

static uint16_t bf16_of(int n)
{
    const float value = (float)n;
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return (uint16_t)(bits >> 16);
}

static int64_t expected(int row, int col)
{
    int64_t sum = 0;

    for (int p = 0; p < 2 * AMX_WORDS; p++)
        sum += left_term(row, p) * right_term(p, col);
    return sum;
}

/* One product: the factors are told apart, rows from columns and even terms from odd ones; rows of
 * a lie apart. */
static bool is_right(void)
{
    uint16_t a[AMX_ROWS][3 * AMX_WORDS] = { { 0 } }, b[AMX_ROWS][AMX_WORDS][2];
    float sums[AMX_ROWS][AMX_WORDS];
    bool right = true;

    for (int row = 0; row < AMX_ROWS; row++)
        for (int p = 0; p < 2 * AMX_WORDS; p++)
            a[row][p] = bf16_of(left_term(row, p));
    for (int p = 0; p < 2 * AMX_ROWS; p++)
        for (int col = 0; col < AMX_WORDS; col++)
            b[p / 2][col][p % 2] = bf16_of(right_term(p, col));
    amx_begin();
    amx_zero(0);
    amx_load(6, a, sizeof(a[0]));
    amx_load(7, b, sizeof(b[0]));
    amx_dot(0, 6, 7);
    amx_store(0, sums, sizeof(sums[0]));
    amx_end();
    for (int row = 0; row < AMX_ROWS; row++)
        for (int col = 0; col < AMX_WORDS; col++)
            right = right && sums[row][col] == (float)expected(row, col);
    return right;
}

static void try_tiles(void)
{
    works = matrix_tiles_granted() && is_right();
}

bool simd_amx_works(void)
{
    static pthread_once_t tried = PTHREAD_ONCE_INIT;

    pthread_once(&tried, try_tiles);
    return works;
}

#else

bool simd_amx_works(void)
{
    return false;
}

#endif
