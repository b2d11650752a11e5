/* SPDX-License-Identifier: MIT */
/*
 * How a cluster of blocks divides a GPT of width C between them (gpt_cuda_cluster.h): all sizes and
 * index maps, for the kernels and for tests on the host.
 *
 *   rows        64 positions in 4 tiles of 16. Block r owns the residual stream of 64/BLOCKS rows.
 *   heads       `parts` blocks a head, each with some of the tiles; blocks beyond heads x parts
 * have none. Two parts take tiles {0,3} and {1,2}, as later rows attend to more keys. hidden
 * 4C/BLOCKS units of the MLP a block, rounded up to 16 with zeros; in two chunks where one would
 * not fit into a slot.
 *
 * A block's weights of a layer are packed once in the order in which it reads them, padded as they
 * lie in shared memory (8 more elements a row, so that the 8 rows of an ldmatrix fall on different
 * banks), so that a section is one copy of bytes in a row:
 *
 *   section 0       Wq,Wk,Wv [3 head][C+8] of its head, Wo [C][head+8] of its head's columns, bias
 *                   of q,k,v as floats
 *   sections 1..    W1 [chunk][C+8], W2 [C][chunk+8], bias of W1 as floats
 *
 * Shared memory in KiB (two slots of one section each; h, partial [64][C+8]; wide: q,k,v, and in
 * turn the hidden units):
 *
 *   C    BLOCKS   slots   h + partial   wide   together
 *   48      8       17        14          7       38
 *   64      8       22        18          7       47
 *   128     8       79        34         13      126
 *   192     8      154        50         13      217
 *   256     8      143        66         13      222     two chunks
 *   256    16      143        66         13      222
 */
#ifndef HARNESS_MODELS_GPT_CLUSTER_LAYOUT_H
#define HARNESS_MODELS_GPT_CLUSTER_LAYOUT_H

#include <cuda_runtime.h>

#include <stddef.h>

enum { GPT_CLUSTER_ROWS = 64, GPT_CLUSTER_TILE = 16, GPT_CLUSTER_TILES = 4, GPT_CLUSTER_PAD = 8 };

__host__ __device__ constexpr int gpt_cluster_most(int a, int b)
{
    return a > b ? a : b;
}

/* The least power of two that is not below x. */
__host__ __device__ constexpr int gpt_cluster_power(int x)
{
    return x <= 1 ? 1 : 2 * gpt_cluster_power((x + 1) / 2);
}

/* Where wgmma finds an element of a matrix of `rows` rows: 64 columns after 64 columns, rows of 128
 * bytes, 16-byte pieces swizzled. */
__host__ __device__ constexpr int gpt_cluster_swizzled(int rows, int r, int c)
{
    return c / 64 * rows * 64 + r * 64 + (c % 64 / 8 ^ r % 8) * 8 + c % 8;
}

/* The largest of 1, 2 and 4 blocks a head that the cluster has. */
__host__ __device__ constexpr int gpt_cluster_parts(int heads, int blocks)
{
    return 4 * heads <= blocks ? 4 : 2 * heads <= blocks ? 2 : 1;
}

/* Row tile i of a part, and the part that a tile belongs to. */
__host__ __device__ constexpr int gpt_cluster_tile(int parts, int part, int i)
{
    return parts == 1 ? i : parts == 4 ? part : i == 0 ? part : 3 - part;
}

__host__ __device__ constexpr int gpt_cluster_part(int parts, int tile)
{
    return parts == 1 ? 0 : parts == 4 ? tile : tile == 0 || tile == 3 ? 0 : 1;
}

/* How rows of h get into all blocks: by stores, with a barrier behind them; by stores that an
 * mbarrier counts, in place of barriers 2 and 4; or by copies, which it counts too. */
enum gpt_cluster_send { GPT_CLUSTER_STORE, GPT_CLUSTER_COUNT, GPT_CLUSTER_COPY };

/* WARPS: of 8, those that multiply h. Four have tiles of 32 x 48 or 32 x 32 instead of 16 x 48 and
 * 16 x 32, so that they load less for each product, but nobody hides their latencies.
 * WGMMA: h, the weights that multiply it, u and W2 lie swizzled, see gpt_cluster_swizzled().
 * SEND: see there. */
template <int WIDTH, int HEAD, int BLOCKS, int WARPS, gpt_cluster_send SEND, bool WGMMA = false>
struct gpt_cluster {
    static constexpr int width = WIDTH, head = HEAD, blocks = BLOCKS, warps = WARPS;
    static constexpr bool counted = SEND != GPT_CLUSTER_STORE, wgmma = WGMMA;
    static constexpr gpt_cluster_send send = SEND;
    static constexpr int heads = WIDTH / HEAD;
    static constexpr int parts = gpt_cluster_parts(heads, BLOCKS);
    static constexpr int tiles = GPT_CLUSTER_TILES / parts; /* of rows, in a part */
    static constexpr int own = GPT_CLUSTER_ROWS / BLOCKS;
    static constexpr int pieces = WIDTH / 8; /* of 16 bytes in a row */

    static constexpr int hidden = 4 * WIDTH / BLOCKS;
    static constexpr int hidden_padded = (hidden + 15) / 16 * 16;
    static constexpr int chunks = hidden_padded > 96 ? 2 : 1;
    static constexpr int chunk = hidden_padded / chunks;
    static constexpr int sections = 1 + chunks; /* a layer */

    /* Elements between rows. */
    static constexpr int row = WIDTH + GPT_CLUSTER_PAD;
    static constexpr int head_row = HEAD + GPT_CLUSTER_PAD;
    static constexpr int chunk_row = chunk + GPT_CLUSTER_PAD;
    static constexpr int qkv = 3 * HEAD;
    static constexpr int qkv_row = qkv + GPT_CLUSTER_PAD;
    static constexpr int wide_row = gpt_cluster_most(qkv_row, WGMMA ? 64 : chunk_row);

    /* Bytes from the start of a section. */
    static constexpr int at_proj = WGMMA ? 2 * qkv * WIDTH : 2 * qkv * row;
    static constexpr int at_qkv_bias = at_proj + 2 * WIDTH * head_row;
    static constexpr int attention_bytes = at_qkv_bias + 4 * qkv;
    static constexpr int at_fc_proj = WGMMA ? 2 * chunk * WIDTH : 2 * chunk * row;
    static constexpr int at_fc_bias = at_fc_proj + 2 * WIDTH * (WGMMA ? 64 : chunk_row);
    static constexpr int mlp_bytes = at_fc_bias + 4 * chunk;
    static constexpr int block_bytes = attention_bytes + chunks * mlp_bytes; /* of a layer */
    static constexpr int slot_bytes =
        (gpt_cluster_most(attention_bytes, mlp_bytes) + 1023) / 1024 * 1024;

    static_assert(WIDTH % 16 == 0 && WIDTH <= 256 && (HEAD == 16 || HEAD == 32), "what is made");
    static_assert(heads * parts <= BLOCKS, "every head has its blocks");
    static_assert(GPT_CLUSTER_ROWS % BLOCKS == 0 && own <= 8, "a warp for every row");
    static_assert(chunk % 16 == 0 && chunks * chunk == hidden_padded, "whole steps of k");
    static_assert(!WGMMA || (WIDTH % 64 == 0 && chunk <= 64 && at_fc_proj % 1024 == 0),
                  "rows of 128 bytes in groups of 8");
    static_assert(attention_bytes % 16 == 0 && mlp_bytes % 16 == 0 && at_qkv_bias % 16 == 0 &&
                      at_proj % 16 == 0 && at_fc_proj % 16 == 0 && at_fc_bias % 16 == 0,
                  "bulk copies and ldmatrix");

    /* Elements from the start of h, of Wq,Wk,Wv (qkv rows), W1 (chunk rows), of u, of W2. */
    static __host__ __device__ constexpr int wide_at(int rows, int r, int c)
    {
        return WGMMA ? gpt_cluster_swizzled(rows, r, c) : r * row + c;
    }
    static __host__ __device__ constexpr int chunk_at(int r, int c)
    {
        return WGMMA ? gpt_cluster_swizzled(0, r, c) : r * chunk_row + c;
    }

    /* h in pieces of these rows; the owned rows of one lie in a row, and so many bytes from other
     * blocks make h complete. */
    static constexpr int h_pieces = WGMMA ? WIDTH / 64 : 1, h_row = WGMMA ? 64 : row;
    static constexpr int h_copy = 2 * own * h_row;
    static constexpr unsigned h_bytes = SEND == GPT_CLUSTER_COPY
                                            ? (unsigned)((BLOCKS - 1) * h_pieces * h_copy)
                                            : (unsigned)(2 * GPT_CLUSTER_ROWS * WIDTH);

    /* Of all blocks in one layer; where a section starts and how long it is. */
    static constexpr size_t layer_bytes = (size_t)BLOCKS * block_bytes;

    static __host__ __device__ constexpr size_t section_at(int layer, int rank, int section)
    {
        return (size_t)layer * layer_bytes + (size_t)rank * block_bytes +
               (section == 0 ? 0 : (size_t)attention_bytes + (size_t)(section - 1) * mlp_bytes);
    }
    static __host__ __device__ constexpr unsigned section_bytes(int section)
    {
        return section == 0 ? attention_bytes : mlp_bytes;
    }

    /* The block that has a head's results for a tile. */
    static __host__ __device__ constexpr int rank_of(int which, int tile)
    {
        return which * parts + gpt_cluster_part(parts, tile);
    }
};

/* Warps over a product of `tiles` x `pairs` tiles of 16 x 16: `down` of them along the rows,
 * `along` the columns. Each has `high` x `wide` tiles; as few as can be, and then as few loads. */
struct gpt_cluster_warps {
    int down, along, high, wide;
};

constexpr gpt_cluster_warps gpt_cluster_divide(int tiles, int pairs, int warps)
{
    gpt_cluster_warps best = {};

    for (int down = 1; down <= tiles && down <= warps; down *= 2) {
        int along = warps / down, high = tiles / down, wide = (pairs + along - 1) / along;
        int now = high * wide, before = best.high * best.wide;
        if (!best.down || now < before || (now == before && high + wide < best.high + best.wide))
            best = { down, along, high, wide };
    }
    return best;
}

#endif
