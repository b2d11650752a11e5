/* SPDX-License-Identifier: MIT */
/*
 * Flash attention on the fp32 units: a block takes a tile of queries of one head past all tiles of
 * keys that it sees, and carries maximum and sum of the softmax along (Milakov and Gimelshein,
 * 2018; Dao et al., 2022), so that scores never leave the SM. Both products are register-tiled,
 * without which this loses to three plain kernels.
 *
 *                      keys: 64 a tile                     headdim
 *                   +--------------------+            +--------------+
 *                   | K  [key][d]        |            | V [key][d]   |    cp.async: V arrives under
 *                   +--------------------+            +--------------+    Q.K, the next K under P.V
 *       queries                |                             |
 *       +--------+  +----------v---------+            +------v-------+
 *       | Q      |->| S in registers:    |-> P in --->| acc, in      |
 *       | [i][d] |  | TM x 64/TX a thread|   shared   | registers    |
 *       +--------+  +--------------------+            +--------------+
 *
 *       a thread's rows ty, ty + TY, ...; its keys tx, tx + TX, ...: neighbours in a tile belong to
 *       neighbouring lanes, which read different banks. Lane bit 0 is of ty, the next are tx: each
 *       half of a warp reads 8 rows of K and 2 of Q, one wavefront either way.
 *
 *       causal      tile of keys   0  1  2  3
 *       tile of queries 2          #  #  \            \ is masked, tiles right of it are left out,
 *                       1          #  \               and the longest rows of tiles start first
 *                       0          \
 *
 * Weights are 2^(scale * log2(e) * (score - maximum)), by the hardware's exp2 (2 ulp); the sum
 * divides at the end. Heads are padded with zeros to 16, 32, 64 or 128. With few queries a tile is
 * 16 rows, so that more SMs have one.
 *
 * Limit: the FMA units. An 8 x 8 tile a thread asks shared memory for 16 wavefront pairs per 64
 * clocks of FMA, half of what it gives; softmax adds some 5 % of instructions at headdim 64.
 */
#include "kernels/attention/attention_cuda_call.h"
#include "kernels/attention/attention_cuda_flash.h"

#include <math.h>

namespace
{

/* TM rows a thread, TX threads a row, ROWS queries a block; BLOCKS of them are to share an SM. */
template <int D_, int ROWS_, int TM_, int TX_, int BLOCKS_> struct tiling {
    static constexpr int D = D_, ROWS = ROWS_, TM = TM_, TX = TX_, BLOCKS = BLOCKS_;
    static constexpr int KEYS = 64, TN = KEYS / TX, TY = ROWS / TM, THREADS = TY * TX;
    /* A thread's columns of acc: GROUPS times WIDTH neighbours, TX * WIDTH apart. */
    static constexpr int WIDTH = D / TX < 4 ? D / TX : 4, GROUPS = D / TX / WIDTH;
    /* Rows whose pitch is an odd number of pieces fall on different banks, piece by piece. */
    static constexpr int PITCH = D + 4;

    struct shared {
        float q[ROWS][PITCH], k[KEYS][PITCH], v[KEYS][PITCH];
        float p[ROWS][KEYS + TX]; /* the two or four rows that a warp stores to: on other banks */
    };
    static constexpr int SHARED = (int)sizeof(struct shared);
    static_assert(TY % 2 == 0 && THREADS % CUDA_WARP == 0, "whole warps of both kinds of lanes");
};

/* Over the lanes of a row: those that differ in tx only. */
template <int TX, class F> __device__ __forceinline__ float over_row(float x, const F &f)
{
#pragma unroll
    for (int offset = 2; offset <= TX; offset *= 2)
        x = f(x, __shfl_xor_sync(0xffffffffu, x, offset));
    return x;
}

template <class C> struct state {
    float acc[C::TM][C::GROUPS * C::WIDTH];
    float most[C::TM];
    float sum[C::TM]; /* of this thread's keys */
};

template <class C>
__device__ __forceinline__ void score(float (&s)[C::TM][C::TN], const typename C::shared &shared,
                                      attention_thread at)
{
#pragma unroll
    for (int i = 0; i < C::TM; i++)
#pragma unroll
        for (int j = 0; j < C::TN; j++)
            s[i][j] = 0;
#pragma unroll 2
    for (int d = 0; d < C::D; d += 4) {
        cuda_vector<float, 4> q[C::TM];
#pragma unroll
        for (int i = 0; i < C::TM; i++)
            q[i] = cuda_load<4>(&shared.q[at.ty + i * C::TY][d]);
#pragma unroll
        for (int j = 0; j < C::TN; j++) {
            cuda_vector<float, 4> k = cuda_load<4>(&shared.k[at.tx + j * C::TX][d]);
#pragma unroll
            for (int i = 0; i < C::TM; i++)
#pragma unroll
                for (int x = 0; x < 4; x++)
                    s[i][j] = fmaf(q[i].at[x], k.at[x], s[i][j]);
        }
    }
}

/* Hides keys from `keys` on and, under the diagonal that starts at key `diagonal` of row 0, keys
 * behind their query. */
template <class C>
__device__ __forceinline__ void mask(float (&s)[C::TM][C::TN], attention_thread at, int keys,
                                     int diagonal)
{
#pragma unroll
    for (int i = 0; i < C::TM; i++)
#pragma unroll
        for (int j = 0; j < C::TN; j++) {
            int key = at.tx + j * C::TX, last = at.ty + i * C::TY + diagonal;
            if (key >= keys || key > last)
                s[i][j] = -INFINITY;
        }
}

/* Scores to weights in shared.p, sums so far to the new maximum. */
template <class C>
__device__ __forceinline__ void soften(float (&s)[C::TM][C::TN], state<C> &t,
                                       typename C::shared &shared, attention_thread at, float scale)
{
#pragma unroll
    for (int i = 0; i < C::TM; i++) {
        float most = s[i][0];
#pragma unroll
        for (int j = 1; j < C::TN; j++)
            most = fmaxf(most, s[i][j]);
        most = over_row<C::TX>(most, [](float a, float b) { return fmaxf(a, b); });
        float factor = attention_raise(t.most[i], most * scale);
        t.sum[i] *= factor;
#pragma unroll
        for (int d = 0; d < C::GROUPS * C::WIDTH; d++)
            t.acc[i][d] *= factor;
#pragma unroll
        for (int j = 0; j < C::TN; j++) {
            float weight = cuda_exp2(fmaf(s[i][j], scale, -t.most[i]));
            t.sum[i] += weight;
            shared.p[at.ty + i * C::TY][at.tx + j * C::TX] = weight;
        }
    }
}

/* acc += P V */
template <class C>
__device__ __forceinline__ void add_values(state<C> &t, const typename C::shared &shared,
                                           attention_thread at)
{
#pragma unroll 2
    for (int key = 0; key < C::KEYS; key += 4) {
        cuda_vector<float, 4> p[C::TM];
#pragma unroll
        for (int i = 0; i < C::TM; i++)
            p[i] = cuda_load<4>(&shared.p[at.ty + i * C::TY][key]);
#pragma unroll
        for (int n = 0; n < 4; n++)
#pragma unroll
            for (int g = 0; g < C::GROUPS; g++) {
                int column = (g * C::TX + at.tx) * C::WIDTH;
                auto v = cuda_load<C::WIDTH>(&shared.v[key + n][column]);
#pragma unroll
                for (int i = 0; i < C::TM; i++)
#pragma unroll
                    for (int x = 0; x < C::WIDTH; x++)
                        t.acc[i][g * C::WIDTH + x] =
                            fmaf(p[i].at[n], v.at[x], t.acc[i][g * C::WIDTH + x]);
            }
    }
}

template <class C, bool WIDE>
__device__ __forceinline__ void store(const state<C> &t, const attention_flash<float> &a,
                                      const attention_block &b, attention_thread at)
{
#pragma unroll
    for (int i = 0; i < C::TM; i++) {
        float sum = over_row<C::TX>(t.sum[i], [](float x, float y) { return x + y; });
        int row = b.first + at.ty + i * C::TY;
        if (row >= a.seq)
            continue;
#pragma unroll
        for (int g = 0; g < C::GROUPS; g++) {
            int column = (g * C::TX + at.tx) * C::WIDTH;
            float *to = attention_at(a.out, a.ldo, b, row) + column;
            cuda_vector<float, C::WIDTH> v;
#pragma unroll
            for (int x = 0; x < C::WIDTH; x++)
                v.at[x] = t.acc[i][g * C::WIDTH + x] / sum;
            if (WIDE && column < a.headdim)
                cuda_store(to, v);
#pragma unroll
            for (int x = 0; !WIDE && x < C::WIDTH; x++)
                if (column + x < a.headdim)
                    to[x] = v.at[x];
        }
    }
}

template <class C, int ROWS, bool WIDE>
__device__ __forceinline__ void load(float (&tile)[ROWS][C::PITCH], const float *from, int first,
                                     const attention_flash<float> &a, const attention_block &b)
{
    attention_load<float, ROWS, C::D / 4, C::THREADS, WIDE,
                   attention_padded<C::PITCH *(int)sizeof(float)>>(
        tile, attention_at(from, a.ld, b, first), a.ld, a.seq - first, a.headdim);
}

template <class C, bool WIDE>
__global__ void __launch_bounds__(C::THREADS, C::BLOCKS) flash(attention_flash<float> a)
{
    auto &shared = cuda_shared<typename C::shared>();
    const attention_block b = attention_block_of(a, C::ROWS);
    const attention_thread at = attention_thread_of<C::TX>((int)threadIdx.x);
    const int tiles = attention_key_tiles(a.causal, a.seq, b.first, C::ROWS, C::KEYS);
    state<C> t = {};

#pragma unroll
    for (int i = 0; i < C::TM; i++)
        t.most[i] = -INFINITY;
    cuda_pdl_launch();
    cuda_pdl_wait();
    load<C, C::ROWS, WIDE>(shared.q, a.q, b.first, a, b);
    load<C, C::KEYS, WIDE>(shared.k, a.k, 0, a, b);
    cuda_async_commit();
    load<C, C::KEYS, WIDE>(shared.v, a.v, 0, a, b);
    cuda_async_commit();
    cuda_async_wait<1>();
    __syncthreads(); /* Q and the first K are there */
    for (int tile = 0; tile < tiles; tile++) {
        int first = tile * C::KEYS;
        float s[C::TM][C::TN];
        score<C>(s, shared, at);
        if (attention_masked(a.causal, a.seq, b.first, first, C::KEYS))
            mask<C>(s, at, a.seq - first, a.causal ? b.first - first : C::KEYS);
        soften<C>(s, t, shared, at, a.scale);
        cuda_async_wait<0>();
        __syncthreads(); /* V and P are there, K is done with */
        if (tile + 1 < tiles)
            load<C, C::KEYS, WIDE>(shared.k, a.k, first + C::KEYS, a, b);
        cuda_async_commit();
        add_values<C>(t, shared, at);
        cuda_async_wait<0>();
        __syncthreads(); /* the next K is there, V and P are done with */
        if (tile + 1 < tiles)
            load<C, C::KEYS, WIDE>(shared.v, a.v, first + C::KEYS, a, b);
        cuda_async_commit();
    }
    store<C, WIDE>(t, a, b, at);
}

/* Many queries: 8 rows a thread. */
template <int D> constexpr int large_blocks = D <= 32 ? 4 : D <= 64 ? 2 : 1;
template <int D> using large = tiling<D, D <= 32 ? 64 : 128, 8, D <= 64 ? 8 : 16, large_blocks<D>>;
/* Few queries: as many blocks as there can be. */
template <int D> using small = tiling<D, 16, 2, 16, 4>;

} // namespace

void attention_prefill_cuda_flash(const struct attention_cuda *a, cudaStream_t stream)
{
    attention_choose<float, large, small>(a, [&]<class C, bool WIDE>() {
        attention_flash<float> f = attention_flash_of<float>(a, C::ROWS);
        cuda_launch_with<flash<C, WIDE>>({ .early = a->early }, f.order.heads * f.order.tiles,
                                         C::THREADS, C::SHARED, stream, f);
    });
}

static constexpr struct variant variant_of(const struct kernel *kernel)
{
    return attention_cuda_variant(
        "cuda_flash", "online softmax over tiles of keys, register-tiled; limit: fp32 FMA units",
        kernel, DTYPE_FP32, attention_cuda_launch<attention_prefill_cuda_flash>);
}

extern "C" const struct variant attention_cuda_flash[];
const struct variant attention_cuda_flash[] = {
    variant_of(&attention_causal_kernel),
    variant_of(&attention_full_kernel),
    {},
};
