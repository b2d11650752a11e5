/* SPDX-License-Identifier: MIT */
/*
 * What a block of gpt_cuda_decode.h reads and holds. For .cu files.
 *
 * Weights come in chunks, each 8 rows as long as the model is wide (16 C bytes) or what is as much:
 *
 *     qkv    8 rows of q, k or v of the cluster's head      of the parameters as they are
 *     proj   the output columns of a rank by a head         packed, [warp][2][piece][pair]
 *     fc     8 hidden units                                 of the parameters as they are
 *     fc2    all output columns by 8 hidden units           packed, [2][pair]
 *     head   8 rows of the vocabulary                       of the parameters as they are
 *
 * The chunks of a line above that a block reads in a layer are a section, and so are a few of the
 * head's; it is waited for as a whole.
 *
 * A piece is 16 bytes, 8 weights along K of one output column; a pair two neighbouring columns, the
 * even ones in front ([2]), so that the lanes of a warp read neighbouring pieces.
 *
 * Output columns are in groups of 8: group warp * 8 + rank belongs to this warp of the block of
 * this rank, in each cluster.
 */
#ifndef HARNESS_MODELS_GPT_DECODE_LAYOUT_H
#define HARNESS_MODELS_GPT_DECODE_LAYOUT_H

#include "kernels/cuda/bf16.h"
#include "kernels/cuda/flagged.h"
#include "kernels/cuda/mbarrier.h"

enum {
    GPT_DECODE_BLOCKS = 8,   /* of a cluster; lane / 4 names one of them, so it is no parameter */
    GPT_DECODE_SOURCES = 16, /* most clusters, and heads */
    GPT_DECODE_SECTIONS = 8, /* of the stream that are under way */
};

/* Parts to leave out, to see in bring-up what they take; the results are wrong then. */
enum {
    GPT_DECODE_ALL = 0,
    GPT_DECODE_NO_POLL = 1,     /* what others give is taken as it is: no barrier of the grid */
    GPT_DECODE_NO_PRODUCT = 2,  /* weights are waited for and not read */
    GPT_DECODE_NO_CACHE = 4,    /* keys and values are not read */
    GPT_DECODE_STREAM_ONLY = 8, /* nothing but the weights' stream */
};

template <int WIDTH, int HEAD, int POSITIONS, int WARPS, int STAGES, int LEFT_OUT = GPT_DECODE_ALL>
struct gpt_decoder {
    static constexpr int width = WIDTH, head = HEAD, heads = WIDTH / HEAD, positions = POSITIONS;
    static constexpr int blocks = GPT_DECODE_BLOCKS, warps = WARPS, stages = STAGES;
    static constexpr int threads = 32 * (WARPS + 1); /* the last warp starts copies */
    static constexpr int left_out = LEFT_OUT;
    static constexpr int chunk = 16 * WIDTH; /* bytes */

    /* A row of C: a lane has pieces lane, lane + 32, ... */
    static constexpr int row_pieces = WIDTH / 8, spans = (row_pieces + 31) / 32;
    static constexpr int groups = WIDTH / 8;                      /* of output columns */
    static constexpr int owners = (groups + blocks - 1) / blocks; /* warps that have one */

    /* Chunks of a layer: q, k and v of a head, of which a block has each eighth; hidden units. */
    static constexpr int qkv_chunks = 3 * HEAD / 8, unit_chunks = WIDTH / 2;
    static constexpr int most_units = (unit_chunks + blocks * heads - 1) / (blocks * heads);

    static constexpr int most_qkv = (qkv_chunks + blocks - 1) / blocks;
    /* A section of the head: 8 rows a warp where the ring holds three such, else 4 or 2. */
    static constexpr int head_rows = 3 * WARPS <= STAGES ? 8 : WARPS <= STAGES ? 4 : 2;
    static constexpr int head_chunks = head_rows * WARPS / 8;

    /* The cache: a warp has each (8 warps)-th position of the cluster's head, 16 bytes a lane. */
    static constexpr int pieces = HEAD / 8, per_step = 32 / pieces;
    static constexpr int steps =
        (POSITIONS + blocks * WARPS * per_step - 1) / (blocks * WARPS * per_step);
    static constexpr int slots = steps * per_step;

    /* Packed weights, bytes: of proj and of fc2. */
    static constexpr int proj_chunk = 16 * HEAD * owners;
    static constexpr int64_t proj_layer = (int64_t)heads * blocks * proj_chunk;
    static constexpr int64_t packed_layer = proj_layer + (int64_t)unit_chunks * chunk;

    /* Elements from the start of a layer, as models/gpt_weights.h has them. */
    static constexpr int64_t c = WIDTH;
    static constexpr int64_t at_ln1 = 0, at_qkv = 2 * c, at_qkv_bias = at_qkv + 3 * c * c;
    static constexpr int64_t at_proj = at_qkv_bias + 3 * c, at_proj_bias = at_proj + c * c;
    static constexpr int64_t at_ln2 = at_proj_bias + c, at_fc = at_ln2 + 2 * c;
    static constexpr int64_t at_fc_bias = at_fc + 4 * c * c, at_fc2 = at_fc_bias + 4 * c;
    static constexpr int64_t at_fc2_bias = at_fc2 + 4 * c * c, layer = at_fc2_bias + c;

    static_assert(WIDTH % HEAD == 0 && HEAD % 8 == 0 && HEAD <= 64 && 32 % pieces == 0,
                  "a lane has whole pieces, a warp whole keys");
    static_assert(heads <= GPT_DECODE_SOURCES && owners <= WARPS,
                  "two sources a lane, a group a warp");
    static_assert(most_qkv <= STAGES && most_units <= STAGES && head_chunks <= STAGES &&
                      WARPS % 4 == 0,
                  "the ring has room for a section");
    static_assert(proj_chunk <= chunk, "a chunk holds it");
};

/* Shared memory. What others send has its barrier in got. */
template <class P> struct gpt_decode_shared {
    alignas(1024) unsigned char ring[P::stages][P::chunk];
    alignas(16) unsigned char cache[P::warps][P::slots][2][2 * P::head]; /* key, value */
    alignas(16) float qkv[3][P::head];                                   /* of this token */
    float heads[P::blocks][P::head];       /* by the block's positions: sums of values, */
    float most[P::blocks][2];              /* the largest score and the sum of powers */
    float mid[P::width], end[P::width];    /* x behind attention, behind the MLP */
    float columns[P::blocks][P::warps][8]; /* partial sums of the MLP, by rank */
    float part[P::warps][P::head];         /* as heads and most, by the warp's positions */
    float part_most[P::warps][2];
    float units[P::most_units * 8];
    cuda_mbarrier full[GPT_DECODE_SECTIONS], empty[GPT_DECODE_SECTIONS];
    int ends[GPT_DECODE_SECTIONS]; /* the first chunk behind each, for who fills them */
    cuda_mbarrier got_qkv, got_heads, got_mid, got_end, got_columns;
    cuda_mbarrier parts_done, units_done;
};

/* Everything of a launch. */
struct gpt_decode_body {
    int layers, seq, vocab, clusters;
    int busy_units; /* chunks of hidden units of all blocks that have a head */
    const int32_t *tokens;
    const bf16 *wte, *wpe, *first, *last_norm, *lm_head; /* first: the first layer's tensors */
    const unsigned char *packed;
    bf16 *k, *v;
    bf16 *logits;
    cuda_flagged *mid, *end; /* [2][GPT_DECODE_SOURCES][width] */
    unsigned *launches;      /* so far; all three start as zeros */
    bool unasked;            /* for bring-up: launched as if no block waited for another one */
};

/* The chunks [first, first + count) of `all` that `index` of `nr` gets. */
struct gpt_decode_share {
    int first, count;
};

__host__ __device__ __forceinline__ struct gpt_decode_share gpt_decode_share_of(int all, int index,
                                                                                int nr)
{
    int first = (int)((int64_t)all * index / nr);

    return { first, (int)((int64_t)all * (index + 1) / nr) - first };
}

#endif
