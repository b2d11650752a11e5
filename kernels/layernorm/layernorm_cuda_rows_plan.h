/* SPDX-License-Identifier: MIT */
/*
 * How layernorm_cuda_rows.h cuts a row, and which cut each width, type and form gets: plain
 * arithmetic and one table.
 */
#ifndef HARNESS_KERNELS_LAYERNORM_LAYERNORM_CUDA_ROWS_PLAN_H
#define HARNESS_KERNELS_LAYERNORM_LAYERNORM_CUDA_ROWS_PLAN_H

#include "kernels/cuda/reduce.h"
#include "kernels/cuda/vector.h"

struct layernorm_rows_config {
    int pieces;          /* vectors of a thread */
    int registers;       /* of a thread at most */
    bool keep = false;   /* gain and bias in registers, from before the row comes */
    bool matrix = false; /* the mean of bf16 by the matrix unit */
    bool lines = false;  /* reads of the row leave lines in L1 */
};

/* Threads of a block: rows of a warp share one. */
template <int LANES> constexpr int layernorm_rows_threads = LANES == CUDA_WARP ? 128 : LANES;

/* Blocks of an SM. Each of its four parts holds whole warps: 512 registers of 32 lanes, which a
 * warp takes by eights. */
template <layernorm_rows_config C, int LANES> constexpr int layernorm_rows_blocks(void)
{
    constexpr int threads = layernorm_rows_threads<LANES>;
    constexpr int warps = 4 * (512 / ((C.registers + 7) / 8 * 8));
    constexpr int blocks = warps * CUDA_WARP / threads;

    return blocks < 1 ? 1 : blocks > 32 ? 32 : blocks;
}

/* The lanes of a row of a width that is a power of two, 0: too few or too many. */
template <class S, class T, layernorm_rows_config C, int WIDTH>
constexpr int layernorm_rows_lanes(void)
{
    constexpr int vec = cuda_wide<S> < cuda_wide<T> ? cuda_wide<S> : cuda_wide<T>;
    constexpr int lanes = WIDTH / (vec * C.pieces);

    return lanes >= CUDA_WARP && lanes <= 1024 ? lanes : 0;
}

/*
 * What is used where: the choice, and the only place that it is made in. By the type of the stream
 * (float, bf16), plain or residual, and the width (up to 256, 512, .. 16384). Measured on an H200
 * at 4096 and 16384 rows of 1024 to 8192 elements, cold, and at 256 rows: mostly within 2 % of the
 * fastest configuration, 8 % behind it at one size (bf16, residual, 4096 rows of 1024). Narrower
 * and wider ones are as their neighbours. bf16 rows of 1024: two warps a row of 32 registers, so
 * that an SM holds 64 of them; a warp a row of 48 reached 83 % of a copy where this reached 95 %.
 */
enum { LAYERNORM_ROWS_NARROW = 256, LAYERNORM_ROWS_WIDTHS = 7 };

constexpr layernorm_rows_config layernorm_rows_choice[2][2][LAYERNORM_ROWS_WIDTHS] = {
    {
        { { .pieces = 2, .registers = 40, .keep = true },
          { .pieces = 2, .registers = 40, .keep = true },
          { .pieces = 2, .registers = 40, .keep = true },
          { .pieces = 2, .registers = 40, .keep = true },
          { .pieces = 2, .registers = 32 },
          { .pieces = 4, .registers = 40 },
          { .pieces = 4, .registers = 40 } },
        { { .pieces = 2, .registers = 40 },
          { .pieces = 2, .registers = 40 },
          { .pieces = 2, .registers = 40 },
          { .pieces = 2, .registers = 32, .lines = true },
          { .pieces = 2, .registers = 40 },
          { .pieces = 4, .registers = 48 },
          { .pieces = 4, .registers = 48 } },
    },
    {
        { { .pieces = 1, .registers = 32 },
          { .pieces = 2, .registers = 32, .lines = true },
          { .pieces = 2, .registers = 32, .lines = true },
          { .pieces = 2, .registers = 32, .matrix = true, .lines = true },
          { .pieces = 4, .registers = 48, .matrix = true, .lines = true },
          { .pieces = 4, .registers = 48, .matrix = true },
          { .pieces = 4, .registers = 48, .matrix = true } },
        { { .pieces = 1, .registers = 32 },
          { .pieces = 2, .registers = 64, .keep = true },
          { .pieces = 2, .registers = 64, .keep = true },
          { .pieces = 2, .registers = 40, .lines = true },
          { .pieces = 2, .registers = 40, .lines = true },
          { .pieces = 2, .registers = 64, .keep = true },
          { .pieces = 4, .registers = 64 } },
    },
};

/*
 * Where the number of rows decides as well, of plain bf16 rows:
 *
 *   - few, which the SMs hold at once: their time is latency, and gain and bias that wait in
 *     registers shorten it. 256 rows of 1024 took 1.3 us instead of 1.6, of 4096 2.1 instead of
 *     2.6; 4096 rows of 4096 reached 83 % of a copy by it, though, instead of 94 %.
 *   - many of 1024: 93 % of a copy by a warp a row instead of 84 % by two at 16384 rows, four times
 *     what the SMs hold, but 83 % instead of 95 % at 4096, which they hold at once. It may be the
 *     blocks, which are four rows instead of one, and so start and end less often.
 *
 * Where the limits are between the sizes measured is a guess.
 */
struct layernorm_rows_case {
    int width;     /* as in the table */
    int64_t least; /* rows */
    int64_t most;
    layernorm_rows_config config;
};

constexpr int64_t LAYERNORM_ROWS_FEW = 512, LAYERNORM_ROWS_MANY = 8192;
constexpr layernorm_rows_config LAYERNORM_ROWS_KEPT = {
    .pieces = 2, .registers = 48, .keep = true, .matrix = true
};

constexpr layernorm_rows_case layernorm_rows_cases[] = {
    { 512, 1, LAYERNORM_ROWS_FEW, LAYERNORM_ROWS_KEPT },
    { 1024, 1, LAYERNORM_ROWS_FEW, LAYERNORM_ROWS_KEPT },
    { 2048, 1, LAYERNORM_ROWS_FEW, LAYERNORM_ROWS_KEPT },
    { 4096, 1, LAYERNORM_ROWS_FEW, LAYERNORM_ROWS_KEPT },
    { 1024,
      LAYERNORM_ROWS_MANY + 1,
      INT64_MAX,
      { .pieces = 4, .registers = 48, .matrix = true, .lines = true } },
};
constexpr int LAYERNORM_ROWS_CASES = sizeof(layernorm_rows_cases) / sizeof(layernorm_rows_cases[0]);

/* The case of so many plain bf16 rows of up to `width` elements; LAYERNORM_ROWS_CASES: the table
 * alone decides. */
constexpr int layernorm_rows_case_of(int width, int64_t rows)
{
    int i = 0;

    while (i < LAYERNORM_ROWS_CASES &&
           (layernorm_rows_cases[i].width != width || rows < layernorm_rows_cases[i].least ||
            rows > layernorm_rows_cases[i].most))
        i++;
    return i;
}

#endif
