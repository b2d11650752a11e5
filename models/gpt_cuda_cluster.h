/* SPDX-License-Identifier: MIT */
/*
 * All of a GPT but its head as one kernel: a cluster of BLOCKS blocks computes one sequence of up
 * to 64 tokens, and as sequences never interact, no barrier is wider than the cluster. For .cu
 * files.
 *
 * A block owns 64/BLOCKS rows of the residual stream, which stay in registers, the head (or a part
 * of one) of its rank, and a slice of the MLP's hidden units (gpt_cluster_layout.h). Every block
 * has all rows of h, the normalised stream. A layer:
 *
 *      h in all blocks
 *      |  q,k,v = h W^T + b of its head, attention, partial = o Wo^T of its head's columns
 *      +-- barrier 1: each block sums its rows' partials of all heads out of the other blocks'
 *      |   shared memory, x += sum + b, h = LN2(x), which it writes into all blocks
 *      +-- barrier 2
 *      |  u = GELU(h W1^T + b) of its hidden units, partial = u W2^T of the same
 *      +-- barrier 3: as at 1, over all blocks; h = LN1 of the next layer, or LNf, the result
 *      +-- barrier 4
 *
 * Barriers 2 and 4 can be an mbarrier in each block that counts the bytes of h as they come: a
 * block that has all rows knows that all blocks have done their sums, and barriers 1 and 3 say that
 * nobody reads h any more. So at most one round of h is under way.
 *
 * The products are M = 64 rows by mma.sync m16n8k16 or, those with all rows of h or u, by wgmma
 * (gpt_cuda_cluster_wgmma.h); float sums; partials are rounded to bf16. The
 * weights' sections come by bulk copies into two slots in turn: a section's copy starts when the
 * one before the last is done with, so that it flows through barriers and sums.
 *
 * Limits: four barriers a layer, some 0.5 us each; 3.5 x 64 x C x 2 bytes a layer and block between
 * SMs; ldmatrix, which takes longer than the matrix units do (tiles are at most 32 x 64 a warp).
 */
#ifndef HARNESS_MODELS_GPT_CUDA_CLUSTER_H
#define HARNESS_MODELS_GPT_CUDA_CLUSTER_H

#include "kernels/cuda/cluster.h"
#include "kernels/cuda/pdl.h"
#include "models/gpt_cuda_cluster_products.h"
#include "models/gpt_cuda_cluster_shared.h"

template <int N, int K> struct gpt_cluster_half; /* gpt_cuda_cluster_wgmma.h, for who has it */

/* ---- The two halves of a layer up to their partial sums ---- */

template <class P>
__device__ __forceinline__ void gpt_cluster_heads(gpt_cluster_shared<P> &s,
                                                  const unsigned char *section, int rank,
                                                  const struct gpt_cluster_body &b, int layer)
{
    (void)b, (void)layer;
    int part = rank % P::parts;
    auto in_order = [](int i) { return i; };
    auto in_part = [part](int i) { return gpt_cluster_tile(P::parts, part, i); };
    const bf16 *weights = reinterpret_cast<const bf16 *>(section);
    const float *bias = reinterpret_cast<const float *>(section + P::at_qkv_bias);

    if (rank / P::parts >= P::heads)
        return;
    auto put = [&](int row, int col, float x, float y) {
        gpt_cluster_put(s.wide + row * P::qkv_row + col, x + bias[col], y + bias[col + 1]);
    };
    if constexpr (P::wgmma) {
        gpt_cluster_half<P::qkv, P::width> qkv;
        qkv.multiply(s.h, weights, false);
        qkv.each(put);
    } else {
        gpt_cluster_product<GPT_CLUSTER_TILES, P::qkv / 16, P::width, P::warps> qkv;
        qkv.zero();
        qkv.add(s.h, P::row, weights, P::row, in_order);
        qkv.each(in_order, put);
    }
    __syncthreads();
    GPT_CLUSTER_MARK(b, layer, GPT_CLUSTER_QKV);
    if (cuda_warp() < P::tiles) {
        gpt_cluster_attention<P> attention;
        attention.run(s.wide, in_part(cuda_warp()));
    }
    __syncthreads();
    GPT_CLUSTER_MARK(b, layer, GPT_CLUSTER_ATTENTION);
    gpt_cluster_product<P::tiles, P::width / 16, P::head, 8> out;
    out.zero();
    out.add(s.wide, P::qkv_row, weights + P::at_proj / 2, P::head_row, in_part);
    out.each(in_part, [&](int row, int col, float x, float y) {
        gpt_cluster_put(s.partial + row * P::row + col, x, y);
    });
}

/* u = GELU(h W1^T + b) of a chunk. */
template <class P>
__device__ __forceinline__ void gpt_cluster_hidden(gpt_cluster_shared<P> &s,
                                                   const unsigned char *section)
{
    auto in_order = [](int i) { return i; };
    const float *bias = reinterpret_cast<const float *>(section + P::at_fc_bias);
    auto put = [&](int row, int col, float x, float y) {
        gpt_cluster_put(s.wide + P::chunk_at(row, col), cuda_gelu(x + bias[col]),
                        cuda_gelu(y + bias[col + 1]));
    };
    if constexpr (P::wgmma) {
        gpt_cluster_half<P::chunk, P::width> fc;
        fc.multiply(s.h, section, false);
        fc.each(put);
        cuda_cluster_publish();
    } else {
        gpt_cluster_product<GPT_CLUSTER_TILES, P::chunk / 16, P::width, P::warps> fc;
        fc.zero();
        fc.add(s.h, P::row, reinterpret_cast<const bf16 *>(section), P::row, in_order);
        fc.each(in_order, put);
    }
}

/* partial += u W2^T, in registers: a chunk of it, and all of it to shared memory. */
template <class P, bool WGMMA = P::wgmma>
struct gpt_cluster_unhidden : gpt_cluster_product<GPT_CLUSTER_TILES, P::width / 16, P::chunk, 8> {
    __device__ __forceinline__ void chunk(gpt_cluster_shared<P> &s, const unsigned char *w2, bool)
    {
        this->add(s.wide, P::chunk_row, reinterpret_cast<const bf16 *>(w2), P::chunk_row,
                  [](int i) { return i; });
    }
    template <class S> __device__ __forceinline__ void all(const S &store) const
    {
        this->each([](int i) { return i; }, store);
    }
};

template <class P> struct gpt_cluster_unhidden<P, true> : gpt_cluster_half<P::width, P::chunk> {
    __device__ __forceinline__ void zero(void)
    {
    }
    __device__ __forceinline__ void chunk(gpt_cluster_shared<P> &s, const unsigned char *w2,
                                          bool more)
    {
        this->multiply(s.wide, w2, more);
    }
    template <class S> __device__ __forceinline__ void all(const S &store) const
    {
        this->each(store);
    }
};

/* Waits for the sections from q on, and starts those behind but for the last one's. */
template <class P>
__device__ __forceinline__ void gpt_cluster_mlp(gpt_cluster_shared<P> &s,
                                                const gpt_cluster_weights<P> &w, int q)
{
    gpt_cluster_unhidden<P> out;

    out.zero();
    for (int i = 0; i < P::chunks; i++) {
        const unsigned char *section = w.wait(q + i);
        gpt_cluster_hidden<P>(s, section);
        __syncthreads();
        out.chunk(s, section + P::at_fc_proj, i > 0);
        if (i + 1 < P::chunks) {
            __syncthreads();
            if (threadIdx.x == GPT_CLUSTER_COPIER)
                w.start(q + i + 2);
        }
    }
    out.all([&](int row, int col, float x, float y) {
        gpt_cluster_put(s.partial + row * P::row + col, x, y);
    });
}

/* ---- The rows that a block owns ---- */

/* A warp has a row, a lane 8 columns of it. */
template <class P> struct gpt_cluster_row {
    static constexpr int BATCH = 8; /* loads of a lane under way: 16 take longer */
    static constexpr int SPAN = gpt_cluster_power(P::pieces); /* lanes, from 0, that hold it all */
    int rank, row;
    bool mine; /* this lane has columns */
    int col;
    float x[8];
    cuda_vector<bf16, 8> bias, gain, shift; /* what the next sum and norm need */

    __device__ __forceinline__ explicit gpt_cluster_row(int of)
        : rank(of), row(of * P::own + cuda_warp()),
          mine(cuda_warp() < P::own && cuda_lane() < P::pieces), col(mine ? 8 * cuda_lane() : 0)
    {
    }

    __device__ __forceinline__ void embed(const struct gpt_cluster_body &b, int sequence)
    {
        bool there = mine && row < b.seq;
        int64_t token = there ? b.tokens[(int64_t)sequence * b.seq + row] : 0;
        cuda_vector<bf16, 8> e = {}, p = {};

        if (there) {
            e = cuda_load_constant<8>(b.wte + token * P::width + col);
            p = cuda_load_constant<8>(b.wpe + (int64_t)row * P::width + col);
        }
#pragma unroll
        for (int i = 0; i < 8; i++)
            x[i] = cuda_float(e.at[i]) + cuda_float(p.at[i]);
    }
    /* As soon as those before have been used, so that they have come when they are needed. */
    __device__ __forceinline__ void fetch(const bf16 *sum, const bf16 *norm)
    {
        bias = cuda_load_constant<8>(sum + col);
        gain = cuda_load_constant<8>(norm + col);
        shift = cuda_load_constant<8>(norm + P::width + col);
    }

    /* x += bias + the partial sums of this row in SOURCES blocks; from(i) is the rank of the
     * i-th. Each block starts with another one. */
    template <int SOURCES, class F>
    __device__ __forceinline__ void gather(const bf16 *partial, const F &from)
    {
        const bf16 *here = partial + row * P::row + col;

        if (!mine)
            return;
#pragma unroll
        for (int i = 0; i < 8; i++)
            x[i] += cuda_float(bias.at[i]);
#pragma unroll
        for (int first = 0; first < SOURCES; first += BATCH) {
            uint4 v[BATCH];
#pragma unroll
            for (int i = 0; i < BATCH; i++)
                if (first + i < SOURCES)
                    v[i] = cuda_cluster_load16(
                        cuda_cluster_address(here, (unsigned)from((rank + first + i) % SOURCES)));
#pragma unroll
            for (int i = 0; i < BATCH; i++)
                if (first + i < SOURCES)
                    add(v[i]);
        }
    }
    __device__ __forceinline__ void add(uint4 v)
    {
        uint32_t word[4] = { v.x, v.y, v.z, v.w };

#pragma unroll
        for (int i = 0; i < 4; i++) {
            x[2 * i] += cuda_bf16_low(word[i]);
            x[2 * i + 1] += cuda_bf16_high(word[i]);
        }
    }

    /* LN(x), by gain and shift. Both sums in one pass, of distances from an element of the row:
     * that is within some deviations of the mean, so that E[d^2] - E[d]^2 loses a few bits at most.
     */
    __device__ __forceinline__ uint4 normalise(void) const
    {
        float from = __shfl_sync(0xffffffffu, x[0], 0), sum = 0.0f, squares = 0.0f, y[8];

#pragma unroll
        for (int i = 0; i < 8; i++) {
            float d = mine ? x[i] - from : 0.0f;
            sum += d;
            squares += d * d;
        }
#pragma unroll
        for (int lanes = SPAN / 2; lanes > 0; lanes /= 2) {
            sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
            squares += __shfl_xor_sync(0xffffffffu, squares, lanes);
        }
        constexpr float each = 1.0f / P::width;
        float mean = sum * each, variance = fmaxf(squares * each - mean * mean, 0.0f);
        float scale = rsqrtf(variance + 1e-5f);
#pragma unroll
        for (int i = 0; i < 8; i++)
            y[i] = (x[i] - from - mean) * scale * cuda_float(gain.at[i]) + cuda_float(shift.at[i]);
        return { cuda_bf16x2(y[0], y[1]), cuda_bf16x2(y[2], y[3]), cuda_bf16x2(y[4], y[5]),
                 cuda_bf16x2(y[6], y[7]) };
    }

    /* LN(x) into all blocks' h; behind the last layer it is the result. By all threads. */
    __device__ __forceinline__ void leave(gpt_cluster_shared<P> &s,
                                          const struct gpt_cluster_body &b, bool last) const
    {
        bool has = cuda_warp() < P::own;
        uint4 y = has ? normalise() : uint4 {};

        if (last) {
            if (mine && row < b.seq)
                *reinterpret_cast<uint4 *>(
                    b.out + ((int64_t)(blockIdx.x / P::blocks) * b.seq + row) * P::width + col) = y;
            return;
        }
        if (mine && P::send == GPT_CLUSTER_COPY)
            *reinterpret_cast<uint4 *>(s.h + P::wide_at(GPT_CLUSTER_ROWS, row, col)) = y;
        else if (mine)
            spread(s, y);
        if constexpr (P::wgmma || P::send == GPT_CLUSTER_COPY)
            cuda_cluster_publish();
        if constexpr (P::send == GPT_CLUSTER_COPY) {
            __syncthreads();
            copy(s);
        }
    }
    __device__ __forceinline__ void spread(gpt_cluster_shared<P> &s, uint4 y) const
    {
        const bf16 *here = s.h + P::wide_at(GPT_CLUSTER_ROWS, row, col);

#pragma unroll
        for (int i = 0; i < P::blocks; i++) {
            unsigned to = (unsigned)((rank + i) % P::blocks);
            if constexpr (P::send == GPT_CLUSTER_COUNT)
                cuda_cluster_send16(cuda_cluster_address(here, to), y,
                                    cuda_cluster_address(&s.rows, to));
            else
                cuda_cluster_store16(cuda_cluster_address(here, to), y);
        }
    }
    /* The owned rows of h to all other blocks: some copies a warp. */
    __device__ __forceinline__ void copy(gpt_cluster_shared<P> &s) const
    {
        constexpr int all = (P::blocks - 1) * P::h_pieces, warps = GPT_CLUSTER_THREADS / CUDA_WARP;
        int i = cuda_lane() * warps + cuda_warp();

        if (i >= all)
            return;
        unsigned to = (unsigned)((rank + 1 + i / P::h_pieces) % P::blocks);
        const bf16 *from = s.h + (i % P::h_pieces * GPT_CLUSTER_ROWS + rank * P::own) * P::h_row;
        cuda_cluster_copy(cuda_cluster_address(from, to), from, P::h_copy,
                          cuda_cluster_address(&s.rows, to));
    }
};

/* ---- The kernel ---- */

/* Until all rows of h are there, in the given round. */
template <class P>
__device__ __forceinline__ void gpt_cluster_meet(gpt_cluster_shared<P> &s, int round)
{
    if constexpr (P::counted) {
        if (threadIdx.x == 0)
            cuda_mbarrier_expect(&s.rows, P::h_bytes);
        cuda_mbarrier_wait_cluster(&s.rows, (unsigned)(round % 2));
    } else {
        cuda_cluster_barrier();
    }
    if constexpr (P::wgmma)
        cuda_cluster_publish();
}

template <class P>
__device__ __forceinline__ void gpt_cluster_begin(gpt_cluster_shared<P> &s,
                                                  const gpt_cluster_weights<P> &w,
                                                  const struct gpt_cluster_body &b)
{
    if (threadIdx.x == GPT_CLUSTER_COPIER) {
        cuda_mbarrier_init(&s.full[0], 1);
        cuda_mbarrier_init(&s.full[1], 1);
        cuda_mbarrier_init(&s.rows, 1);
        cuda_mbarrier_publish();
        w.start(0);
        w.start(1);
        gpt_cluster_fetch<P>(b, w);
    }
}

/* From h = LN1(x) of a layer to that of the next one, or to the result. */
template <class P>
__device__ __forceinline__ void gpt_cluster_layer(gpt_cluster_shared<P> &s,
                                                  const gpt_cluster_weights<P> &w,
                                                  gpt_cluster_row<P> &r,
                                                  const struct gpt_cluster_body &b, int layer)
{
    int q = layer * P::sections;
    bool last = layer + 1 == b.layers;

    GPT_CLUSTER_MARK(b, layer, GPT_CLUSTER_START);
    const unsigned char *section = w.wait(q);
    GPT_CLUSTER_MARK(b, layer, GPT_CLUSTER_WEIGHTS);
    gpt_cluster_heads<P>(s, section, w.rank, b, layer);
    GPT_CLUSTER_MARK(b, layer, GPT_CLUSTER_PROJ);
    cuda_cluster_barrier(); /* 1 */
    GPT_CLUSTER_MARK(b, layer, GPT_CLUSTER_BARRIER_1);
    if (threadIdx.x == GPT_CLUSTER_COPIER)
        w.start(q + 2);
    r.template gather<P::heads>(s.partial,
                                [&](int i) { return P::rank_of(i, r.row / GPT_CLUSTER_TILE); });
    GPT_CLUSTER_MARK(b, layer, GPT_CLUSTER_SUM_1);
    r.leave(s, b, false);
    GPT_CLUSTER_MARK(b, layer, GPT_CLUSTER_NORM_1);
    r.fetch(b.mlp.bias + layer * b.stride, last ? b.last_gain : b.mlp.gain + layer * b.stride);
    gpt_cluster_meet<P>(s, 2 * layer + 1); /* 2 */
    GPT_CLUSTER_MARK(b, layer, GPT_CLUSTER_BARRIER_2);
    gpt_cluster_mlp<P>(s, w, q + 1);
    GPT_CLUSTER_MARK(b, layer, GPT_CLUSTER_MLP);
    cuda_cluster_barrier(); /* 3 */
    GPT_CLUSTER_MARK(b, layer, GPT_CLUSTER_BARRIER_3);
    if (threadIdx.x == GPT_CLUSTER_COPIER) {
        w.start(q + P::sections + 1);
        gpt_cluster_fetch_next(b, layer);
    }
    r.template gather<P::blocks>(s.partial, [](int i) { return i; });
    GPT_CLUSTER_MARK(b, layer, GPT_CLUSTER_SUM_2);
    r.leave(s, b, last);
    GPT_CLUSTER_MARK(b, layer, GPT_CLUSTER_NORM_2);
    if (last) {
        cuda_cluster_barrier(); /* others may still read what they sum */
    } else {
        r.fetch(b.attention.bias + (layer + 1) * b.stride,
                b.attention.gain + (layer + 1) * b.stride);
        gpt_cluster_meet<P>(s, 2 * layer + 2); /* 4 */
    }
    GPT_CLUSTER_MARK(b, layer, GPT_CLUSTER_BARRIER_4);
}

template <class P>
__global__ void __launch_bounds__(GPT_CLUSTER_THREADS, 1)
    gpt_cluster_kernel(const struct gpt_cluster_body b)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    gpt_cluster_shared<P> &s = cuda_shared<gpt_cluster_shared<P>>();
    int rank = (int)cuda_cluster_rank();
    gpt_cluster_weights<P> w = { &s, b.packed, rank, b.layers * P::sections };
    gpt_cluster_row<P> r(rank);

    gpt_cluster_begin<P>(s, w, b);
    cuda_cluster_arrive(); /* all blocks are there, and their mbarriers ready */
    cuda_pdl_launch();
    r.embed(b, (int)blockIdx.x / P::blocks);
    r.fetch(b.attention.bias, b.first_gain);
    cuda_cluster_wait();
    r.leave(s, b, false);
    r.fetch(b.attention.bias, b.attention.gain);
    gpt_cluster_meet<P>(s, 0);
    for (int layer = 0; layer < b.layers; layer++)
        gpt_cluster_layer<P>(s, w, r, b, layer);
#else
    __trap(); /* the variant refuses such devices */
#endif
}

#endif
