/* SPDX-License-Identifier: MIT */
/*
 * Flash attention on the tensor cores by mma.sync m16n8k16 (sm_80 and later), bf16 in and out,
 * float sums, as in FlashAttention-2 (Dao, 2023): each of 4 warps owns 32 (or 16) queries and never
 * exchanges scores with another; a tile of keys and values in shared memory serves all.
 *
 *       shared memory, swizzled 16-byte pieces             registers of a warp
 *     +----------------+   ldmatrix      A       B              C
 *     | Q [128][D]     |------------->  Q x     K^T   ------>  S [32][keys]   float
 *     | K [2][keys][D] |------------->           |             |  2^(scale S - max), to bf16
 *     | V [2][keys][D] |--transposed->  P x      V   <-- A is S as it lies in C: no shuffle
 *     +----------------+                 |                      |
 *       ^ cp.async: the next tile        +------> O [32][D]      float, scaled down
 *         under this one's products                              as the maximum rises
 *
 *     headdim   queries x keys   accumulators a thread: O + S
 *       16, 32     128 x 64         16 + 64, 32 + 64
 *       64         128 x 128        64 + 128
 *       128        128 x 64         128 + 64
 *       few queries: 64 x 64, a warp 16 queries
 *
 *     causal      warps of the tile of queries   keys 0 ..
 *                   0                            # # \             \ is masked; a warp skips what
 *                   1                            # # # \           lies right of it, a block ends
 *                                                                  there; longest blocks first
 *
 * 32 queries a warp halve what ldmatrix reads per product: K and V come from shared memory once for
 * two tiles of rows, some three quarters of its bandwidth at headdim 128. One barrier a tile.
 * Exponentials are the hardware's (2 ulp), far below the rounding of weights to bf16; the softmax's
 * sum is of the unrounded ones and divides at the end.
 *
 * Limit: the rate of mma.sync, on sm_90 some 60 % of the tensor cores' (wgmma gives the rest);
 * at headdim 64 and less the exponentials, 16 a clock an SM, take as long as the products.
 */
#include "kernels/attention/attention_cuda_call.h"
#include "kernels/attention/attention_cuda_flash.h"
#include "kernels/cuda/mma.h"

#include <math.h>

namespace
{

/* TILES x 16 queries a warp; BLOCKS are to share an SM. */
template <int D_, int TILES_, int KEYS_, int BLOCKS_> struct tiling {
    static constexpr int D = D_, TILES = TILES_, KEYS = KEYS_, BLOCKS = BLOCKS_;
    static constexpr int WARPS = 4, THREADS = WARPS * CUDA_WARP;
    static constexpr int WARP_ROWS = 16 * TILES, ROWS = WARPS * WARP_ROWS;
    static constexpr int PIECES = D / 8; /* of 16 bytes in a row; tiles of 8 columns of O */
    static constexpr int STEPS = D / 16; /* of Q K^T */
    using place = attention_swizzled<PIECES>;

    /* Shared memory, in bytes: Q (at the end O), then K and V twice. */
    static constexpr int PITCH = 16 * PIECES, STAGE = 2 * KEYS * PITCH;
    static constexpr int K = ROWS * PITCH, V = K + KEYS * PITCH, SHARED = K + 2 * STAGE;
    struct scores {
        float at[TILES][KEYS / 8][4];
    };
    struct state {
        float acc[TILES][PIECES][4];
        float most[TILES][2], sum[TILES][2]; /* of rows l/4 and l/4 + 8 of a tile; sums: own keys */
    };
    /* Fragments of Q stay in registers where there are some left. */
    static constexpr bool HOLDS_Q = TILES * (4 * PIECES + KEYS / 2 + 4 * STEPS) <= 160;
    /* Of the loop over columns of Q: whole for registers; less makes ptxas spill less. */
    static constexpr int UNROLL = HOLDS_Q || STEPS < 4 ? STEPS : 4;
    struct queries {
        uint32_t at[HOLDS_Q ? STEPS : 1][TILES][4];
    };
};

/* Fragments of Q for columns 16 step ..; `at` is the lane's place in the warp's first tile. */
template <class C>
__device__ __forceinline__ void load_queries(uint32_t (&to)[C::TILES][4],
                                             const unsigned char *shared, int at, int step)
{
#pragma unroll
    for (int m = 0; m < C::TILES; m++)
        mma_load4(to[m], shared + (at ^ 32 * step) + 16 * m * C::PITCH);
}

template <class C> __device__ __forceinline__ int warp_rows(void)
{
    return cuda_warp() * C::WARP_ROWS * C::PITCH;
}

template <class C>
__device__ __forceinline__ void hold_queries(typename C::queries &held, const unsigned char *shared)
{
#pragma unroll
    for (int step = 0; step < C::STEPS; step++)
        load_queries<C>(held.at[step], shared,
                        warp_rows<C>() + attention_lane_a<C::PIECES>(cuda_lane()), step);
}

/* C tiles j and j + 1 of all row tiles += A tiles by the two B fragments. */
template <int TILES, int N>
__device__ __forceinline__ void multiply(float (&c)[TILES][N][4], int j,
                                         const uint32_t (&a)[TILES][4], const uint32_t (&b)[4])
{
    const uint32_t left[2] = { b[0], b[1] }, right[2] = { b[2], b[3] };

#pragma unroll
    for (int m = 0; m < TILES; m++) {
        mma_bf16(c[m][j], a[m], left);
        mma_bf16(c[m][j + 1], a[m], right);
    }
}

template <class C>
__device__ __forceinline__ void score(typename C::scores &s, const typename C::queries &held,
                                      const unsigned char *shared, int q, int k)
{
    s = {};
#pragma unroll C::UNROLL
    for (int step = 0; step < C::STEPS; step++) {
        uint32_t loaded[C::TILES][4];
        if constexpr (!C::HOLDS_Q)
            load_queries<C>(loaded, shared, q, step);
#pragma unroll
        for (int j = 0; j < C::KEYS / 8; j += 2) {
            uint32_t b[4];
            mma_load4(b, shared + (k ^ 32 * step) + 8 * j * C::PITCH);
            if constexpr (C::HOLDS_Q)
                multiply(s.at, j, held.at[step], b);
            else
                multiply(s.at, j, loaded, b);
        }
    }
}

/* Hides keys from `keys` on and, under the diagonal that starts at key `diagonal` of the warp's
 * first row, keys behind their query. */
template <class C>
__device__ __forceinline__ void mask(typename C::scores &s, int keys, int diagonal)
{
#pragma unroll
    for (int m = 0; m < C::TILES; m++)
#pragma unroll
        for (int j = 0; j < C::KEYS / 8; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                mma_at at = mma_c(cuda_lane(), e);
                int key = 8 * j + at.col, last = 16 * m + at.row + diagonal;
                if (key >= keys || key > last)
                    s.at[m][j][e] = -INFINITY;
            }
}

/* Elements 2 half and the next of all tiles of row tile m are one row. */
template <class C>
__device__ __forceinline__ float row_maximum(const typename C::scores &s, int m, int half)
{
    float most = -INFINITY;

#pragma unroll
    for (int j = 0; j < C::KEYS / 8; j++)
        most = fmaxf(most, fmaxf(s.at[m][j][2 * half], s.at[m][j][2 * half + 1]));
    return cuda_warp_max<4>(most);
}

/* Scores to weights, sums so far to the new maximum. */
template <class C>
__device__ __forceinline__ void soften(typename C::scores &s, typename C::state &t, float scale)
{
#pragma unroll
    for (int m = 0; m < C::TILES; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float factor = attention_raise(t.most[m][half], row_maximum<C>(s, m, half) * scale);
            t.sum[m][half] *= factor;
#pragma unroll
            for (int j = 0; j < C::PIECES; j++) {
                t.acc[m][j][2 * half] *= factor;
                t.acc[m][j][2 * half + 1] *= factor;
            }
#pragma unroll
            for (int j = 0; j < C::KEYS / 8; j++)
#pragma unroll
                for (int e = 2 * half; e < 2 * half + 2; e++) {
                    s.at[m][j][e] = cuda_exp2(fmaf(s.at[m][j][e], scale, -t.most[m][half]));
                    t.sum[m][half] += s.at[m][j][e];
                }
        }
}

/* O += P V. Two neighbouring C tiles of weights are the A fragment of 16 keys. */
template <class C>
__device__ __forceinline__ void add_values(typename C::state &t, const typename C::scores &s,
                                           const unsigned char *shared, int v)
{
#pragma unroll
    for (int step = 0; step < C::KEYS / 16; step++) {
        uint32_t p[C::TILES][4];
#pragma unroll
        for (int m = 0; m < C::TILES; m++)
#pragma unroll
            for (int r = 0; r < 4; r++) {
                const float *pair = &s.at[m][2 * step + r / 2][r % 2 * 2];
                p[m][r] = cuda_bf16x2(pair[0], pair[1]);
            }
#pragma unroll
        for (int j = 0; j < C::PIECES; j += 2) {
            uint32_t b[4];
            mma_load4_transposed(b, shared + (v ^ 16 * j) + 16 * step * C::PITCH);
            multiply(t.acc, j, p, b);
        }
    }
}

/* O to the warp's rows of Q, which nobody else reads. */
template <class C>
__device__ __forceinline__ void gather_rows(const typename C::state &t, unsigned char *rows)
{
#pragma unroll
    for (int m = 0; m < C::TILES; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float factor = 1.0f / cuda_warp_sum<4>(t.sum[m][half]);
            int row = 16 * m + mma_c(cuda_lane(), 2 * half).row;
#pragma unroll
            for (int j = 0; j < C::PIECES; j++) {
                const float *pair = &t.acc[m][j][2 * half];
                uint32_t *to = reinterpret_cast<uint32_t *>(rows + C::place::bytes(row, j));
                to[cuda_lane() % 4] = cuda_bf16x2(pair[0] * factor, pair[1] * factor);
            }
        }
}

template <class C, bool WIDE>
__device__ __forceinline__ void store_rows(const unsigned char *rows,
                                           const attention_flash<bf16> &a, const attention_block &b,
                                           int query)
{
#pragma unroll
    for (int i = 0; i < C::WARP_ROWS * C::PIECES / CUDA_WARP; i++) {
        int index = i * CUDA_WARP + cuda_lane();
        int row = index / C::PIECES, piece = index % C::PIECES;
        if (query + row >= a.seq)
            continue;
        auto v = cuda_load<8>(reinterpret_cast<const bf16 *>(rows + C::place::bytes(row, piece)));
        bf16 *to = attention_at(a.out, a.ldo, b, query + row) + 8 * piece;
        if (WIDE && 8 * piece < a.headdim)
            cuda_store(to, v);
#pragma unroll
        for (int x = 0; !WIDE && x < 8; x++)
            if (8 * piece + x < a.headdim)
                to[x] = v.at[x];
    }
}

template <class C, int ROWS, bool WIDE>
__device__ __forceinline__ void load(unsigned char *tile, const bf16 *from, int first,
                                     const attention_flash<bf16> &a, const attention_block &b)
{
    attention_load<bf16, ROWS, C::PIECES, C::THREADS, WIDE, typename C::place>(
        tile, attention_at(from, a.ld, b, first), a.ld, a.seq - first, a.headdim);
}

template <class C, bool WIDE>
__device__ __forceinline__ void load_stage(unsigned char *shared, const attention_flash<bf16> &a,
                                           const attention_block &b, int tile)
{
    int stage = tile % 2 * C::STAGE, first = tile * C::KEYS;

    load<C, C::KEYS, WIDE>(shared + C::K + stage, a.k, first, a, b);
    load<C, C::KEYS, WIDE>(shared + C::V + stage, a.v, first, a, b);
    cuda_async_commit();
}

/* One tile of keys against the warp's queries, the first of which is `query`. */
template <class C>
__device__ __forceinline__ void attend(typename C::state &t, const typename C::queries &held,
                                       const unsigned char *shared, const attention_flash<bf16> &a,
                                       int query, int tile)
{
    const int stage = tile % 2 * C::STAGE, first = tile * C::KEYS;
    typename C::scores s;

    score<C>(s, held, shared, warp_rows<C>() + attention_lane_a<C::PIECES>(cuda_lane()),
             C::K + stage + attention_lane_b<C::PIECES>(cuda_lane()));
    if (attention_masked(a.causal, a.seq, query, first, C::KEYS))
        mask<C>(s, a.seq - first, a.causal ? query - first : C::KEYS);
    soften<C>(s, t, a.scale);
    add_values<C>(t, s, shared, C::V + stage + attention_lane_a<C::PIECES>(cuda_lane()));
}

template <class C, bool WIDE>
__global__ void __launch_bounds__(C::THREADS, C::BLOCKS) flash(attention_flash<bf16> a)
{
    unsigned char *shared = &cuda_shared<unsigned char>();
    const attention_block b = attention_block_of(a, C::ROWS);
    const int tiles = attention_key_tiles(a.causal, a.seq, b.first, C::ROWS, C::KEYS);
    const int query = b.first + cuda_warp() * C::WARP_ROWS;
    typename C::state t = {};
    typename C::queries held;

#pragma unroll
    for (int m = 0; m < C::TILES; m++)
        t.most[m][0] = t.most[m][1] = -INFINITY;
    cuda_pdl_launch();
    cuda_pdl_wait();
    load<C, C::ROWS, WIDE>(shared, a.q, b.first, a, b);
    load_stage<C, WIDE>(shared, a, b, 0);
    for (int tile = 0; tile < tiles; tile++) {
        cuda_async_wait<0>();
        __syncthreads(); /* this tile is there, the one before is done with */
        if (tile + 1 < tiles)
            load_stage<C, WIDE>(shared, a, b, tile + 1);
        if constexpr (C::HOLDS_Q)
            if (tile == 0)
                hold_queries<C>(held, shared);
        if (!a.causal || tile * C::KEYS < query + C::WARP_ROWS)
            attend<C>(t, held, shared, a, query, tile);
    }
    __syncwarp();
    gather_rows<C>(t, shared + warp_rows<C>());
    __syncwarp();
    store_rows<C, WIDE>(shared + warp_rows<C>(), a, b, query);
}

template <int D> using large = tiling<D, 2, D == 64 ? 128 : 64, D <= 32 ? 3 : 2>;
template <int D> using small = tiling<D, 1, 64, D <= 64 ? 3 : 2>;

} // namespace

void attention_prefill_cuda_flash_bf16(const struct attention_cuda *a, cudaStream_t stream)
{
    attention_choose<bf16, large, small>(a, [&]<class C, bool WIDE>() {
        attention_flash<bf16> f = attention_flash_of<bf16>(a, C::ROWS);
        cuda_launch_with<flash<C, WIDE>>({ .early = a->early }, f.order.heads * f.order.tiles,
                                         C::THREADS, C::SHARED, stream, f);
    });
}

static constexpr struct variant variant_of(const struct kernel *kernel)
{
    return attention_cuda_variant(
        "cuda_flash_bf16",
        "online softmax, scores stay in registers; limit: mma.sync and exponentials", kernel,
        DTYPE_BF16, attention_cuda_launch<attention_prefill_cuda_flash_bf16>);
}

extern "C" const struct variant attention_cuda_flash_bf16[];
const struct variant attention_cuda_flash_bf16[] = {
    variant_of(&attention_causal_kernel),
    variant_of(&attention_full_kernel),
    {},
};
