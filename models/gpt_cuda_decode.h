/* SPDX-License-Identifier: MIT */
/*
 * A decode step of a GPT as one kernel: one token of one sequence against its cache, and logits.
 * Clusters of 8 blocks, all of them on the device at the same time. For .cu files.
 *
 * At one token a step is the reading of all weights and of the cache, once. So their stream is what
 * the kernel is built around (gpt_cuda_decode_stream.h): it runs ahead by more than a layer, and
 * what is computed only has to keep up with it. That is a chain of dependent steps; it has no
 * barrier of the device, and no block's either but for two. A layer:
 *
 *      h = LN1(x), by each warp for itself
 *      |  q,k,v of head c by cluster c, a block 3/8 rows of its 64 --- to all 8 blocks (1)
 *      |  attention to the block's eighth of the positions ----------- to all 8 blocks (1)
 *      |  the head's part of proj: a block has an eighth of the columns, a warp 8 of them
 *      +-- (2) written to memory; that warp, in each cluster, sums its 8 columns over the heads,
 *      |   x += sum + b, and sends them to all 8 blocks (1)
 *      |  h = LN2(x); u = GELU(h W1^T + b) of the block's hidden units
 *      |  their part of all columns of u W2^T ----- to the block of the columns, which adds 8 (1)
 *      +-- (2) as above, over the clusters
 *
 * (1) st.async to the block's shared memory, where an mbarrier counts the bytes; (2) floats that
 * say themselves that they have come (flagged.h), in two places in turn. An inbox is free again
 * when it is next sent to: between the two lies an exchange that needs all warps of the block,
 * which pass a barrier of the block before their part of it. All sums are in a fixed order.
 *
 * Blocks of clusters that have no head get more of the hidden units. Products are by FMA in float.
 * Limits: the bandwidth to read the weights; the chain, some 5 us a layer at any size: 5 exchanges
 * within the cluster and 2 over all clusters; nothing is shared by more tokens than one.
 */
#ifndef HARNESS_MODELS_GPT_CUDA_DECODE_H
#define HARNESS_MODELS_GPT_CUDA_DECODE_H

#include "models/gpt_cuda_decode_attention.h"
#include "models/gpt_cuda_decode_norm.h"

/* ---- Inboxes ---- */

/* By thread 0, for each phase: how many bytes the other blocks send. */
__device__ __forceinline__ void gpt_decode_arm(cuda_mbarrier *got, int bytes)
{
    if (threadIdx.x == 0)
        cuda_mbarrier_expect(got, (unsigned)bytes);
}

/* Until a layer's bytes are there. */
__device__ __forceinline__ void gpt_decode_await(cuda_mbarrier *got, int layer, int bytes)
{
    cuda_mbarrier_wait_cluster(got, (unsigned)layer & 1);
    gpt_decode_arm(got, bytes);
}

/* The computing warps meet once a layer: what each wrote before, all see. */
__device__ __forceinline__ void gpt_decode_meet(cuda_mbarrier *done, int layer)
{
    __syncwarp();
    if (cuda_lane() == 0)
        cuda_mbarrier_arrive(done);
    cuda_mbarrier_wait(done, (unsigned)layer & 1);
}

template <class P> struct gpt_decode_bytes {
    static constexpr int qkv = 12 * P::head, x = 4 * P::width;
    static constexpr int heads = P::blocks * (4 * P::head + 8);

    /* Of the columns that a rank sums. */
    static __device__ __forceinline__ int columns(int rank)
    {
        return P::blocks * 32 * ((P::groups - rank + P::blocks - 1) / P::blocks);
    }
};

/* By the thread that fills, which needs no barrier of the cluster then. */
template <class P>
__device__ __forceinline__ void gpt_decode_open(gpt_decode_shared<P> &s, int rank)
{
    using bytes = gpt_decode_bytes<P>;

    for (int i = 0; i < GPT_DECODE_SECTIONS; i++) {
        cuda_mbarrier_init(&s.full[i], 1);
        cuda_mbarrier_init(&s.empty[i], P::warps);
    }
    for (cuda_mbarrier *b : { &s.got_qkv, &s.got_heads, &s.got_mid, &s.got_end, &s.got_columns })
        cuda_mbarrier_init(b, 1);
    cuda_mbarrier_init(&s.parts_done, P::warps);
    cuda_mbarrier_init(&s.units_done, P::warps);
    cuda_mbarrier_publish();
    cuda_mbarrier_expect(&s.got_qkv, bytes::qkv);
    cuda_mbarrier_expect(&s.got_heads, bytes::heads);
    cuda_mbarrier_expect(&s.got_mid, bytes::x);
    cuda_mbarrier_expect(&s.got_end, bytes::x);
    cuda_mbarrier_expect(&s.got_columns, (unsigned)bytes::columns(rank));
}

/* The bias of this lane's row of a section with so many, `at(row)` in memory. */
template <class P, class F> __device__ __forceinline__ float gpt_decode_bias(int rows, const F &at)
{
    int row = gpt_decode_row_of_lane<P>(gpt_decode_at_once<P>(rows));

    return row < rows ? cuda_float(cuda_load_constant<1>(at(row)).at[0]) : 0.0f;
}

/* ---- The 8 columns of x that a warp owns, two in each lane: those of lane % 4 ---- */

template <class P> struct gpt_decode_columns {
    bool mine; /* this warp has some */
    int col;
    float x[2];

    __device__ __forceinline__ gpt_decode_columns(int rank, const bf16 *token, const bf16 *position)
    {
        int group = cuda_warp() * P::blocks + rank;

        mine = group < P::groups;
        col = mine ? 8 * group + cuda_lane() % 4 * 2 : 0;
        for (int i = 0; i < 2; i++)
            x[i] = cuda_float(token[col + i]) + cuda_float(position[col + i]);
    }

    /* The lanes' sums of the same columns. */
    static __device__ __forceinline__ void join(float (&v)[2])
    {
#pragma unroll
        for (int lanes = 4; lanes < 32; lanes *= 2) {
            v[0] += __shfl_xor_sync(0xffffffffu, v[0], lanes);
            v[1] += __shfl_xor_sync(0xffffffffu, v[1], lanes);
        }
    }
    /* This cluster's part, equal in all lanes, for all clusters. */
    __device__ __forceinline__ void give(cuda_flagged *to, int source, unsigned flag,
                                         const float (&v)[2]) const
    {
        if (cuda_lane() < 4)
            cuda_flagged_store2(to + source * P::width + col, v[0], v[1], flag);
    }
    /* x += bias + all parts. */
    __device__ __forceinline__ void take(const cuda_flagged *from, int sources, unsigned flag,
                                         const bf16 *bias)
    {
        cuda_vector<bf16, 2> b = cuda_load_constant<2>(bias + col);
        int first = cuda_lane() / 4, second = first + 8;
        float v[2][2] = {};
        cuda_flagged_wait wait;
        bool come;

        do {
            come = first >= sources || cuda_flagged_try2(from + first * P::width + col, flag, v[0]);
            come &=
                second >= sources || cuda_flagged_try2(from + second * P::width + col, flag, v[1]);
            if (!come)
                wait.again();
        } while (!come && !(P::left_out & GPT_DECODE_NO_POLL));
        __syncwarp();
        v[0][0] += v[1][0];
        v[0][1] += v[1][1];
        join(v[0]);
        x[0] += v[0][0] + cuda_float(b.at[0]);
        x[1] += v[0][1] + cuda_float(b.at[1]);
    }
    /* To the cluster's blocks: lane / 4 is one of them. */
    __device__ __forceinline__ void send(float *inbox, cuda_mbarrier *got) const
    {
        unsigned to = (unsigned)cuda_lane() / 4;

        cuda_cluster_send8(cuda_cluster_address(inbox + col, to), x[0], x[1],
                           cuda_cluster_address(got, to));
    }
};

/* ---- A layer ---- */

template <class P> struct gpt_decode_worker {
    gpt_decode_shared<P> &s;
    const struct gpt_decode_body &b;
    const struct gpt_decode_place &p;
    gpt_decode_reader<P> weights;
    gpt_decode_columns<P> columns;
    gpt_decode_row<P> x; /* LN(x) behind each norm */
    gpt_decode_norm<P> norm;
    unsigned round; /* the number of layer 0's floats, see flagged.h */
    float qkv_bias; /* of the layer that comes, see gpt_decode_bias() */

    __device__ __forceinline__ const bf16 *layer(int l) const
    {
        return b.first + l * P::layer;
    }
    __device__ __forceinline__ cuda_flagged *place(cuda_flagged *all, int l) const
    {
        return all + l % 2 * GPT_DECODE_SOURCES * P::width;
    }

    /* What the block's row of q, k and v is: of these three, and in the head. */
    __device__ __forceinline__ int which(int row) const
    {
        return (p.rank + row / 8 * P::blocks) / P::pieces;
    }
    __device__ __forceinline__ int of(int row) const
    {
        return (p.rank + row / 8 * P::blocks) % P::pieces * 8 + row % 8;
    }
    __device__ __forceinline__ void fetch_qkv(int l)
    {
        const bf16 *bias = layer(l) + P::at_qkv_bias + p.cluster * P::head;

        norm.fetch(layer(l) + P::at_ln1);
        if (p.busy)
            qkv_bias = gpt_decode_bias<P>(
                8 * p.qkv, [&](int row) { return bias + which(row) * P::width + of(row); });
    }

    /* q, k and v of this token, to the cluster's blocks; k and v to the cache as well. */
    __device__ __forceinline__ void qkv(int l)
    {
        int64_t last = ((int64_t)l * b.seq + b.seq - 1) * P::width + p.cluster * P::head;

        int at_once = gpt_decode_at_once<P>(8 * p.qkv), row = gpt_decode_row_of_lane<P>(at_once);
        unsigned lanes = 32u / (unsigned)at_once, to = (unsigned)cuda_lane() % lanes;

        if (p.qkv == 0)
            return;
        float dot = gpt_decode_rows<P, P::most_qkv>(weights, x, p.qkv);
        if (row >= 8 * p.qkv)
            return;
        bf16 y = cuda_from<bf16>(dot + qkv_bias);
        const float *there = &s.qkv[which(row)][of(row)];
        for (unsigned i = to; i < P::blocks; i += lanes)
            cuda_cluster_send4(cuda_cluster_address(there, i), cuda_float(y),
                               cuda_cluster_address(&s.got_qkv, i));
        if (which(row) > 0 && to == 0)
            (which(row) == 1 ? b.k : b.v)[last + of(row)] = y;
    }

    /* This head's part of proj in this warp's columns. */
    __device__ __forceinline__ void project(int l)
    {
        int piece = cuda_lane() / 4;
        const uint4 *w =
            reinterpret_cast<const uint4 *>(weights.at(0)) + cuda_warp() * 2 * P::pieces * 4;
        float out[8], sum[2][2] = {};

        weights.wait();
        if (columns.mine) {
            gpt_decode_join_parts<P>(s, piece < P::pieces ? piece : 0, out);
            if (piece < P::pieces && !(P::left_out & GPT_DECODE_NO_PRODUCT)) {
                gpt_decode_add(sum[0], w[cuda_lane()], out);
                gpt_decode_add(sum[1], w[P::pieces * 4 + cuda_lane()], out);
            }
            float part[2] = { sum[0][0] + sum[0][1], sum[1][0] + sum[1][1] };
            columns.join(part);
            columns.give(place(b.mid, l), p.cluster, round + (unsigned)l, part);
        }
        weights.give_back(1);
    }

    __device__ __forceinline__ void attend(int l)
    {
        using bytes = gpt_decode_bytes<P>;

        norm.apply(x);
        qkv(l);
        gpt_decode_await(&s.got_qkv, l, bytes::qkv);
        cuda_async_wait<0>();
        __syncwarp(); /* all lanes' copies are there, zeros in place of the own ones too */
        gpt_decode_take_own<P>(s, b.seq, p.rank);
        gpt_decode_warp_part<P>(s, b.seq, p.rank);
        gpt_decode_meet(&s.parts_done, l);
        gpt_decode_send_part<P>(s, p.rank);
        gpt_decode_await(&s.got_heads, l, bytes::heads);
        project(l);
        if (l + 1 < b.layers)
            gpt_decode_fetch_cache<P>(s, b, p, l + 1);
    }

    __device__ __forceinline__ void hidden(int l, float bias)
    {
        int nr = p.units.count;

        if (nr > 0) {
            int at_once = gpt_decode_at_once<P>(8 * nr), row = gpt_decode_row_of_lane<P>(at_once);
            float y = cuda_gelu(gpt_decode_rows<P, P::most_units>(weights, x, nr) + bias);
            if (row < 8 * nr && cuda_lane() * at_once % 32 == 0)
                s.units[row] = y;
        }
        gpt_decode_meet(&s.units_done, l);
    }

    /* This block's part of two columns a lane, to the blocks that sum them. */
    __device__ __forceinline__ void unhidden(void)
    {
        int pair = (int)threadIdx.x, nr = p.units.count;
        unsigned to = (unsigned)cuda_lane() / 4;
        float sum[2][2] = {};

        if (nr > 0)
            weights.wait();
#pragma unroll
        for (int i = 0; i < P::most_units; i++) {
            if (i >= nr)
                break;
            const uint4 *w = reinterpret_cast<const uint4 *>(weights.at(i));
            const float4 *u = reinterpret_cast<const float4 *>(s.units + 8 * i);
            float4 a = u[0], c = u[1];
            float v[8] = { a.x, a.y, a.z, a.w, c.x, c.y, c.z, c.w };
            if (pair >= P::width / 2 || (P::left_out & GPT_DECODE_NO_PRODUCT))
                continue;
            gpt_decode_add(sum[0], w[pair], v);
            gpt_decode_add(sum[1], w[P::width / 2 + pair], v);
        }
        if (pair < P::width / 2)
            cuda_cluster_send8(
                cuda_cluster_address(s.columns[p.rank][cuda_warp()] + cuda_lane() % 4 * 2, to),
                sum[0][0] + sum[0][1], sum[1][0] + sum[1][1],
                cuda_cluster_address(&s.got_columns, to));
        if (nr > 0)
            weights.give_back(nr);
    }

    /* The cluster's part of this warp's columns. */
    __device__ __forceinline__ void give_columns(int l)
    {
        const float *from = s.columns[cuda_lane() / 4][cuda_warp()] + cuda_lane() % 4 * 2;

        gpt_decode_await(&s.got_columns, l, gpt_decode_bytes<P>::columns(p.rank));
        float part[2] = { from[0], from[1] };
        columns.join(part);
        columns.give(place(b.end, l), p.cluster, round + (unsigned)l, part);
    }

    __device__ __forceinline__ void run_layer(int l)
    {
        unsigned flag = round + (unsigned)l;
        const bf16 *at = layer(l);
        float bias = gpt_decode_bias<P>(8 * p.units.count, [&](int row) {
            return at + P::at_fc_bias + 8 * p.units.first + row;
        });

        if (p.busy)
            attend(l);
        norm.fetch(at + P::at_ln2);
        if (columns.mine) {
            columns.take(place(b.mid, l), P::heads, flag, at + P::at_proj_bias);
            columns.send(s.mid, &s.got_mid);
        }
        norm.unpack();
        gpt_decode_await(&s.got_mid, l, gpt_decode_bytes<P>::x);
        gpt_decode_take_x<P>(x, s.mid);
        norm.apply(x);
        hidden(l, bias);
        unhidden();
        if (l + 1 < b.layers)
            fetch_qkv(l + 1);
        else
            norm.fetch(b.last_norm);
        if (columns.mine) {
            give_columns(l);
            columns.take(place(b.end, l), b.clusters, flag, at + P::at_fc2_bias);
            columns.send(s.end, &s.got_end);
        }
        norm.unpack();
        gpt_decode_await(&s.got_end, l, gpt_decode_bytes<P>::x);
        gpt_decode_take_x<P>(x, s.end);
    }

    __device__ __forceinline__ void logits(void)
    {
        constexpr int lanes = 32 / P::head_rows;
        int rows = b.vocab - 8 * p.rows.first;

        norm.apply(x);
        rows = rows < 8 * p.rows.count ? rows : 8 * p.rows.count;
#pragma unroll 1
        for (int i = 0; i < p.rows.count; i += P::head_chunks) {
            int left = p.rows.count - i, count = left < P::head_chunks ? left : P::head_chunks;
            int row = 8 * i + gpt_decode_row_of_lane<P>(P::head_rows);
            weights.wait();
            float dot = 0.0f;
            if (!(P::left_out & GPT_DECODE_NO_PRODUCT))
                dot = gpt_decode_products<P, P::head_rows>(weights, x);
            weights.give_back(count);
            if (row < rows && cuda_lane() % lanes == 0)
                b.logits[8 * p.rows.first + row] = cuda_from<bf16>(dot);
        }
    }
};

template <class P>
__device__ __forceinline__ void gpt_decode_work(gpt_decode_shared<P> &s,
                                                const struct gpt_decode_body &b,
                                                const struct gpt_decode_place &p)
{
    if constexpr ((P::left_out & GPT_DECODE_STREAM_ONLY) != 0) {
        cuda_cluster_barrier();
        gpt_decode_reader<P> r = { s, 0, 0 };
        int head = (p.rows.count + P::head_chunks - 1) / P::head_chunks;
        for (int i = b.layers * p.layer_sections() + head; i > 0; i--) {
            r.wait();
            r.give_back(0);
        }
    } else {
        const bf16 *token = b.wte + (int64_t)b.tokens[0] * P::width;
        const bf16 *position = b.wpe + (int64_t)(b.seq - 1) * P::width;
        /* Read by all before the first layer ends, and changed behind the last one. */
        unsigned launches = *reinterpret_cast<volatile unsigned *>(b.launches);
        gpt_decode_worker<P> w = { s,
                                   b,
                                   p,
                                   { s, 0, 0 },
                                   gpt_decode_columns<P>(p.rank, token, position),
                                   {},
                                   {},
                                   launches * (unsigned)b.layers + 1,
                                   0.0f };
        if (p.busy)
            gpt_decode_fetch_cache<P>(s, b, p, 0);
        w.fetch_qkv(0);
        gpt_decode_embed<P>(w.x, token, position);
        cuda_cluster_barrier(); /* nobody sends before that */
        w.norm.unpack();
#pragma unroll 1
        for (int l = 0; l < b.layers; l++)
            w.run_layer(l);
        w.logits();
        if (blockIdx.x == 0 && threadIdx.x == 0)
            *b.launches = launches + 1;
    }
}

template <class P>
__global__ void __launch_bounds__(P::threads, 1) gpt_decode_kernel(const struct gpt_decode_body b)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    gpt_decode_shared<P> &s = cuda_shared<gpt_decode_shared<P>>();
    struct gpt_decode_place p = gpt_decode_place_of<P>(b, (int)blockIdx.x);

    if (cuda_warp() == P::warps) {
        if (cuda_lane() == 0)
            gpt_decode_open<P>(s, p.rank);
        __syncwarp();
        cuda_cluster_arrive();
        if (cuda_lane() == 0)
            gpt_decode_fill<P>(s, b, p);
        __syncwarp();
        cuda_cluster_wait();
    } else {
        gpt_decode_work<P>(s, b, p);
    }
    __syncwarp();
    cuda_cluster_barrier(); /* nobody sends behind that */
#else
    __trap(); /* the variant refuses such devices */
#endif
}

#endif
