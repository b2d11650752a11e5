/* SPDX-License-Identifier: MIT */
/*
 * What the flash kernels share: the order in which blocks take tiles of queries, which tiles of
 * keys a tile of queries sees, and how a tile comes into shared memory.
 */
#ifndef HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_FLASH_H
#define HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_FLASH_H

#include "kernels/attention/attention_cuda.h"
#include "kernels/cuda/async.h"
#include "kernels/cuda/math.h"
#include "kernels/cuda/pdl.h"
#include "kernels/cuda/reduce.h"
#include "kernels/cuda/swizzle.h"
#include "kernels/cuda/vector.h"

/*
 * Blocks are handed out in ascending order. Within a group of heads, all heads' last tiles of
 * queries come first: under a causal mask those see most keys, so that short work is left for the
 * end. A group is as many heads as have their keys and values in the L2 together. Of every head,
 * `tail` tiles that see fewest may be left for the end, behind all groups, so that the last one's
 * long ones are not what all wait for:
 *
 *     block    0 1 2 | 3 4 5 | 6 7 8 || 9 ...        tiles 3, group 3
 *     head     0 1 2 | 0 1 2 | 0 1 2 || 3
 *     tile     2 2 2 | 1 1 1 | 0 0 0 || 2
 */
struct attention_order {
    unsigned heads; /* of all sequences */
    unsigned tiles; /* of queries in a sequence */
    unsigned group;
    unsigned tail = 0; /* < tiles */
};

struct attention_place {
    unsigned head, tile;
};

__host__ __device__ constexpr attention_place attention_place_of(attention_order o, unsigned block)
{
    unsigned tiles = o.tiles - o.tail, end = o.heads * tiles;
    unsigned first = block / (o.group * tiles) * o.group;
    unsigned rest = block % (o.group * tiles);
    unsigned heads = o.heads - first < o.group ? o.heads - first : o.group;

    if (block >= end)
        return { (block - end) % o.heads, o.tail - 1 - (block - end) / o.heads };
    return { first + rest % heads, o.tiles - 1 - rest / heads };
}

/* Bytes of keys and values under way at a time: half of a 40 MB L2, which other data shares. */
constexpr int64_t ATTENTION_L2_BYTES = 20 << 20;

/* Heads whose keys and values are `bytes` each. */
constexpr unsigned attention_group(int64_t heads, int64_t bytes)
{
    int64_t fit = ATTENTION_L2_BYTES / bytes;

    return (unsigned)(fit < 1 ? 1 : fit > heads ? heads : fit);
}

/* Tiles of `keys` keys that some of the queries first .. first + rows sees. */
__host__ __device__ constexpr int attention_key_tiles(bool causal, int seq, int first, int rows,
                                                      int keys)
{
    int seen = causal && first + rows < seq ? first + rows : seq;

    return (seen + keys - 1) / keys;
}

/* Whether some of these queries must not see some key of first_key .. first_key + keys. */
__host__ __device__ constexpr bool attention_masked(bool causal, int seq, int first, int first_key,
                                                    int keys)
{
    return first_key + keys > seq || (causal && first_key + keys - 1 > first);
}

/* What a flash kernel gets. */
template <class T> struct attention_flash {
    const T *q, *k, *v;
    T *out;
    int64_t ld, ldo;
    int seq, heads, headdim;
    bool causal;
    float scale; /* of scores, in units of log2: log2(e) / sqrt(headdim) */
    attention_order order;
};

template <class T> attention_flash<T> attention_flash_of(const struct attention_cuda *a, int rows)
{
    int64_t heads = a->batch * a->heads;

    return {
        .q = static_cast<const T *>(a->q),
        .k = static_cast<const T *>(a->k),
        .v = static_cast<const T *>(a->v),
        .out = static_cast<T *>(a->out),
        .ld = a->ld,
        .ldo = a->ldo,
        .seq = (int)a->seq,
        .heads = (int)a->heads,
        .headdim = (int)a->headdim,
        .causal = a->causal,
        .scale = (float)(1.4426950408889634 / sqrt((double)a->headdim)),
        .order = { (unsigned)heads, (unsigned)cuda_pieces<int64_t>(a->seq, rows),
                   attention_group(heads, 2 * a->seq * a->headdim * (int64_t)sizeof(T)) },
    };
}

/* One block's tile of queries. Addresses are made where they are needed: registers are scarce. */
struct attention_block {
    int first; /* query of the tile in its sequence */
    int token; /* position 0 of the sequence, counted over the batch */
    int head;  /* element 0 of the head in its token */
};

template <class T>
__device__ __forceinline__ attention_block attention_block_of(const attention_flash<T> &a, int rows)
{
    attention_place place = attention_place_of(a.order, blockIdx.x);
    unsigned heads = (unsigned)a.heads;

    return { (int)place.tile * rows, (int)(place.head / heads) * a.seq,
             (int)(place.head % heads) * a.headdim };
}

/* Element 0 of the block's head at a position of its sequence; `ld` is the pitch of `base`. */
template <class T>
__device__ __forceinline__ T *attention_at(T *base, int64_t ld, attention_block b, int position)
{
    return base + (b.token + position) * ld + b.head;
}

/* Where piece `piece` of 16 bytes of row `row` lies in a tile, in bytes from its start. */
template <int PITCH> struct attention_padded {
    __host__ __device__ static constexpr int bytes(int row, int piece)
    {
        return row * PITCH + 16 * piece;
    }
};

template <int PIECES> struct attention_swizzled {
    __host__ __device__ static constexpr int bytes(int row, int piece)
    {
        return cuda_swizzled_bytes<PIECES>(row, piece);
    }
};

/* Where a thread stands among TX threads to a row: bit 0 of a lane is of ty, the next are tx. */
struct attention_thread {
    int ty, tx;
};

template <int TX> __host__ __device__ constexpr attention_thread attention_thread_of(int thread)
{
    return { thread % 2 + thread / (2 * TX) * 2, thread / 2 % TX };
}

/*
 * Where lane l's row for ldmatrix lies in a swizzled tile, in bytes: for a fragment A (row l % 16,
 * piece l / 16), transposed also B from rows of k; for two fragments B from rows of n. From the
 * first fragment, `p` pieces to the right (p even) is at ^ 16 p, and r rows down (r a multiple of
 * 8) at + 16 r PIECES: for a piece number's lowest bit and p have no bit in common, nor have rows
 * of such a distance another swizzle.
 */
template <int PIECES> __host__ __device__ constexpr int attention_lane_a(int lane)
{
    return cuda_swizzled_bytes<PIECES>(lane % 16, lane / 16);
}

template <int PIECES> __host__ __device__ constexpr int attention_lane_b(int lane)
{
    return cuda_swizzled_bytes<PIECES>(lane / 16 * 8 + lane % 8, lane / 8 % 2);
}

/* Elements [0, cols) of 16 bytes from `from`, zeros behind them; any alignment. */
template <class T>
__device__ __forceinline__ void attention_gather(void *shared, const T *from, int cols)
{
    cuda_vector<T, cuda_wide<T>> v;

#pragma unroll
    for (int i = 0; i < cuda_wide<T>; i++)
        v.at[i] = i < cols ? from[i] : cuda_from<T>(0.0f);
    cuda_store(static_cast<T *>(shared), v);
}

/* Brings `rows` rows of `cols` elements, `ld` apart, to a tile of ROWS x PIECES pieces, with zeros
 * beyond both. WIDE: all rows are in whole pieces; asynchronous, in the group under way. */
template <class T, int ROWS, int PIECES, int THREADS, bool WIDE, class PLACE>
__device__ __forceinline__ void attention_load(void *tile, const T *from, int64_t ld, int rows,
                                               int cols)
{
    constexpr int step = THREADS / PIECES, wide = cuda_wide<T>;
    static_assert(THREADS % PIECES == 0, "a thread keeps its column");
    int piece = (int)threadIdx.x % PIECES, first = (int)threadIdx.x / PIECES;
    const T *at = from + first * ld + piece * wide;

#pragma unroll
    for (int i = 0; i < cuda_pieces(ROWS, step); i++, at += step * ld) {
        int row = first + i * step;
        if (ROWS % step != 0 && row >= ROWS)
            break;
        void *to = static_cast<unsigned char *>(tile) + PLACE::bytes(row, piece);
        int valid = row < rows ? cols - piece * wide : 0;
        if constexpr (WIDE)
            cuda_async_copy<16>(to, valid > 0 ? at : from, valid > 0);
        else
            attention_gather(to, at, valid);
    }
}

/* Moves `most`, a maximum of scaled scores, up to `score`; at least one of them is finite. Returns
 * the factor for all sums of weights 2^(scaled score - most) so far. */
__device__ __forceinline__ float attention_raise(float &most, float score)
{
    float before = most;

    most = fmaxf(most, score);
    return cuda_exp2(before - most);
}

/* Whether rows can be read and written 16 bytes at a time. */
template <class T> inline bool attention_wide(const struct attention_cuda *a)
{
    constexpr int n = cuda_wide<T>;
    bool aligned = cuda_aligned(static_cast<const T *>(a->q), a->ld, n) &&
                   cuda_aligned(static_cast<const T *>(a->k), a->ld, n) &&
                   cuda_aligned(static_cast<const T *>(a->v), a->ld, n) &&
                   cuda_aligned(static_cast<const T *>(a->out), a->ldo, n);

    return aligned && a->headdim % n == 0;
}

/* Whether tiles of `rows` queries are mostly filled, and enough for three quarters of two blocks an
 * SM: with fewer, tiles of half the size even out what is lost on them. */
inline bool attention_fills(const struct attention_cuda *a, int rows)
{
    int64_t blocks = cuda_pieces<int64_t>(a->seq, rows) * a->batch * a->heads;

    return a->seq > rows / 2 && 2 * blocks >= 3 * (int64_t)a->sms;
}

/* Calls f<D>() with the head size that a head is padded to. */
template <class F> inline void attention_padded_headdim(int64_t headdim, const F &f)
{
    if (headdim <= 16)
        f.template operator()<16>();
    else if (headdim <= 32)
        f.template operator()<32>();
    else if (headdim <= 64)
        f.template operator()<64>();
    else
        f.template operator()<128>();
}

/* Bytes of shared memory that a block can have on this process's device: 227 KiB on sm_90, 163 on
 * sm_80, 99 on the smaller ones. */
inline int attention_shared_most(void)
{
    static const int bytes = [] {
        int device = 0, value = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
        return value;
    }();

    return bytes;
}

/* Calls f<tiling, whether rows are wide>() with the tiling to use: a LARGE one where it fits and
 * fills, else a SMALL one, which has to do for all unaligned rows, too. */
template <class T, template <int> class LARGE, template <int> class SMALL, class F>
inline void attention_choose(const struct attention_cuda *a, const F &f)
{
    attention_padded_headdim(a->headdim, [&]<int D>() {
        bool large =
            LARGE<D>::SHARED <= attention_shared_most() && attention_fills(a, LARGE<D>::ROWS);

        if (!attention_wide<T>(a))
            f.template operator()<SMALL<D>, false>();
        else if (large)
            f.template operator()<LARGE<D>, true>();
        else
            f.template operator()<SMALL<D>, true>();
    });
}

#endif
