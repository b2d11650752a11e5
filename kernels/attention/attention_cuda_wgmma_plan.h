/* SPDX-License-Identifier: MIT */
/*
 * Which tiling of the attention kernel for wgmma (attention_cuda_wgmma.h) takes which shape, and
 * how its blocks share the tiles of queries. There are as many blocks as SMs; each takes tiles one
 * after the other:
 *
 *   - of an order there and back again, so that everyone gets long ones and short ones alike;
 *   - or from a queue, a counter in global memory: who is done early takes more. Its groups of
 *     heads keep keys and values in the L2, and its end is short.
 *
 * The queue brings something under a causal mask alone, and from some tiles a block on: below, that
 * the first tile of each is fixed leaves it too little to even out.
 *
 * With few tiles a block, how full the last round is decides: tall tiles are faster by themselves,
 * but there are fewer of them. And where there is not even one tile of 128 queries for each SM, the
 * longest one under the mask is what all wait for: one of 64 queries takes 0.8 of its time (it asks
 * for as many keys, and nobody computes beside its softmax), and there are twice as many. Measured
 * on an H200 with 16 heads of 128, causal: 108 instead of 96 TFLOP/s at 512 queries, 246 instead of
 * 239 at 1024.
 */
#ifndef HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_WGMMA_PLAN_H
#define HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_WGMMA_PLAN_H

#include "kernels/attention/attention_cuda_flash.h"

struct attention_wgmma_knobs {
    int groups; /* of 64 queries */
    int keys, stages;
    bool turns = true; /* consumers start products in turn */
};

inline constexpr attention_wgmma_knobs ATTENTION_SQUARE = { .groups = 2, .keys = 128, .stages = 2 };
inline constexpr attention_wgmma_knobs ATTENTION_LONG = { .groups = 2, .keys = 176, .stages = 2 };
inline constexpr attention_wgmma_knobs ATTENTION_NARROW = { .groups = 3, .keys = 128, .stages = 2 };
inline constexpr attention_wgmma_knobs ATTENTION_TALL = {
    .groups = 3, .keys = 80, .stages = 3, .turns = false
};

inline constexpr attention_wgmma_knobs ATTENTION_SHORT = {
    .groups = 1, .keys = 128, .stages = 2, .turns = false
};

/* Of e4m3: rows of keys and of values are 128 bytes; for headdim 128 and 64. */
inline constexpr attention_wgmma_knobs ATTENTION_BYTES = { .groups = 2, .keys = 128, .stages = 4 };
inline constexpr attention_wgmma_knobs ATTENTION_BYTES_NARROW = { .groups = 3,
                                                                  .keys = 128,
                                                                  .stages = 4 };

/* SQUARE, LONG, TALL and SHORT for headdim 128, NARROW for 64. */
enum attention_tiling { SQUARE, LONG, TALL, NARROW, SHORT };

struct attention_plan {
    enum attention_tiling tiling;
    bool queue;
};

/* The most tiles of `rows` queries that a block has to take, and whether they are enough for a
 * queue. */
constexpr int64_t attention_rounds(int64_t heads, int64_t seq, int rows, int blocks)
{
    return cuda_pieces<int64_t>(heads * cuda_pieces<int64_t>(seq, rows), blocks);
}

constexpr bool attention_queues(int64_t heads, int64_t seq, int rows, int blocks)
{
    return heads * cuda_pieces<int64_t>(seq, rows) >= 6 * (int64_t)blocks;
}

/* `heads`: of all sequences; `blocks`: SMs. */
constexpr attention_plan attention_plan_of(int64_t headdim, bool causal, int64_t heads, int64_t seq,
                                           int blocks)
{
    if (headdim == 64)
        return { NARROW, causal && attention_queues(heads, seq, 192, blocks) };
    if (causal && attention_queues(heads, seq, 128, blocks))
        return { LONG, true };
    if (causal)
        return { heads * cuda_pieces<int64_t>(seq, 128) < blocks ? SHORT : SQUARE, false };
    /* A tall tile takes 95 % of the time, per query, that a long one takes. */
    bool tall = 192 * 95 * attention_rounds(heads, seq, 192, blocks) <
                128 * 100 * attention_rounds(heads, seq, 128, blocks);
    return { tall ? TALL : LONG, false };
}

/* The order for a plan's tiles: `tile` bytes of keys and values are as many as a tile has queries.
 * Without a mask all tiles are as long; else the groups of a queue have their keys and values in
 * the L2 together. */
constexpr attention_order attention_plan_order(const attention_plan &p, bool causal, unsigned heads,
                                               unsigned tiles, int64_t tile)
{
    constexpr int64_t GROUP = 32 << 20, TAIL = 16 << 20;
    int64_t group = GROUP / (tiles * tile), tail = TAIL / (heads * tile);

    if (!p.queue)
        return { heads, tiles, causal ? heads : 1 };
    return { heads, tiles,
             (unsigned)(group < 1       ? 1
                        : group > heads ? heads
                                        : group),
             (unsigned)(tail < tiles ? tail : tiles - 1) };
}

/* The index in the order that is a block's without a queue. */
__host__ __device__ constexpr unsigned attention_turn_of(unsigned turn, unsigned block,
                                                         unsigned blocks)
{
    return turn * blocks + (turn % 2 == 0 ? block : blocks - 1 - block);
}

#endif
