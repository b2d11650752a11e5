/* SPDX-License-Identifier: MIT */
/*
 * The kernel of attention_cuda_decode.cu and attention_cuda_decode_bf16.cu, for any type: one query
 * a head against a cache of keys and values. The idea and the picture are in the former.
 */
#ifndef HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_DECODE_H
#define HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_DECODE_H

#include "kernels/attention/attention_cuda_call.h"
#include "kernels/attention/attention_cuda_flash.h"

#include <math.h>

/* How the positions of a head are cut: `pieces` of `positions` each, the last one maybe shorter,
 * none empty. */
struct attention_split {
    int pieces, positions;
};

/* Fewer positions than that are not worth a block of their own. */
enum { ATTENTION_PIECE_LEAST = 64 };

/* Blocks of 4 warps that share an SM. */
enum { ATTENTION_DECODE_BLOCKS = 4 };

/* At most so many pieces a head: enough for one wave of blocks. Never less for a greater length. */
__host__ __device__ constexpr int64_t attention_most_pieces(int64_t length, int64_t heads, int sms)
{
    int64_t worth = cuda_pieces<int64_t>(length, ATTENTION_PIECE_LEAST);
    int64_t wave = ATTENTION_DECODE_BLOCKS * (int64_t)sms / heads;

    return wave < 1 ? 1 : wave < worth ? wave : worth;
}

__host__ __device__ constexpr attention_split attention_split_of(int64_t length, int64_t heads,
                                                                 int sms)
{
    int64_t positions = cuda_pieces(length, attention_most_pieces(length, heads, sms));

    positions = cuda_pieces<int64_t>(positions, ATTENTION_PIECE_LEAST) * ATTENTION_PIECE_LEAST;
    return { (int)cuda_pieces(length, positions), (int)positions };
}

/* The workspace: a ticket a head, zero between launches, then for every piece of every head its
 * maximum, its sum and its weighted values. */
constexpr size_t attention_ticket_bytes(int64_t heads)
{
    return cuda_pieces<size_t>((size_t)heads * sizeof(unsigned), 256) * 256;
}

template <class T> struct attention_cache {
    const T *q, *new_k, *new_v;
    T *k, *v, *out;
    int64_t ldq, ld, ld_sequence, ldo;
    int length, heads, headdim;
    float scale; /* log2(e) / sqrt(headdim) */
    attention_split split;
    unsigned *tickets;
    float *partials; /* [heads of all sequences][pieces][headdim + 2] */
};

namespace attention_decode_detail
{

constexpr int THREADS = 128, WARPS = THREADS / CUDA_WARP;
constexpr int AHEAD = 4; /* positions that a lane has under way */

/* LANES lanes hold a row of D elements, N each. */
template <class T, int D_> struct layout {
    static constexpr int D = D_, N = cuda_wide<T>, LANES = D / N, GROUPS = THREADS / LANES;

    struct shared {
        float most[WARPS], sum[WARPS], values[WARPS][D];
        unsigned last;
    };
};

/* The softmax over some positions: sums are relative to 2^most. */
template <int N> struct state {
    float most, sum, values[N];
};

/* Brings the state to another maximum, -infinity for no position at all. */
template <int N> __device__ __forceinline__ void raise(state<N> &t, float most)
{
    float factor = most == -INFINITY ? 1.0f : cuda_exp2(t.most - most);

    t.most = most;
    t.sum *= factor;
#pragma unroll
    for (int i = 0; i < N; i++)
        t.values[i] *= factor;
}

/* A lane's share of a row: elements from `column` on, zeros behind the head's last. */
template <class T, bool WIDE>
__device__ __forceinline__ cuda_vector<T, cuda_wide<T>> row(const T *from, int columns)
{
    constexpr int N = cuda_wide<T>;
    cuda_vector<T, N> v = {};

    if (WIDE && columns > 0)
        v = cuda_load<N>(from);
#pragma unroll
    for (int i = 0; !WIDE && i < N; i++)
        if (i < columns)
            v.at[i] = from[i];
    return v;
}

template <class T, bool WIDE>
__device__ __forceinline__ void keep(T *to, const cuda_vector<T, cuda_wide<T>> &v, int columns)
{
    if (WIDE && columns > 0)
        cuda_store(to, v);
#pragma unroll
    for (int i = 0; !WIDE && i < cuda_wide<T>; i++)
        if (i < columns)
            to[i] = v.at[i];
}

/* Where a lane works: its sequence, element 0 of its head, its own columns in the head. */
struct lane_place {
    int64_t sequence;
    int head, column;
};

/* The lane's columns of one position's key and value. The newest position comes from new_k and
 * new_v and goes to the caches: nobody else reads it there. */
template <class T, bool WIDE> struct position {
    cuda_vector<T, cuda_wide<T>> k, v;

    static __device__ __forceinline__ int64_t cached(const attention_cache<T> &a, lane_place at,
                                                     int p)
    {
        return at.sequence * a.ld_sequence + p * a.ld + at.head + at.column;
    }

    __device__ __forceinline__ void read(const attention_cache<T> &a, lane_place at, int p)
    {
        bool fresh = a.new_k && p == a.length - 1;
        int64_t given = at.sequence * a.ldq + at.head + at.column, old = cached(a, at, p);

        k = row<T, WIDE>(fresh ? a.new_k + given : a.k + old, a.headdim - at.column);
        v = row<T, WIDE>(fresh ? a.new_v + given : a.v + old, a.headdim - at.column);
    }

    __device__ __forceinline__ void remember(const attention_cache<T> &a, lane_place at, int p)
    {
        keep<T, WIDE>(a.k + cached(a, at, p), k, a.headdim - at.column);
        keep<T, WIDE>(a.v + cached(a, at, p), v, a.headdim - at.column);
    }
};

template <class T, int N>
__device__ __forceinline__ float dot(const float (&q)[N], const cuda_vector<T, N> &k)
{
    float of_k[N], sum = 0;

    cuda_unpack(k, of_k);
#pragma unroll
    for (int i = 0; i < N; i++)
        sum = fmaf(q[i], of_k[i], sum);
    return sum;
}

/* AHEAD positions, GROUPS apart, from `first` on; those from `end` on are none. */
template <class T, class L, bool WIDE>
__device__ __forceinline__ void attend(state<L::N> &t, const float (&q)[L::N],
                                       const attention_cache<T> &a, lane_place at, int first,
                                       int end)
{
    position<T, WIDE> row[AHEAD] = {};
    float score[AHEAD], most = t.most;

#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        if (first + i * L::GROUPS < end)
            row[i].read(a, at, first + i * L::GROUPS);
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
        score[i] = cuda_warp_sum<L::LANES>(dot(q, row[i].k));
        if (first + i * L::GROUPS >= end)
            score[i] = -INFINITY;
        most = fmaxf(most, score[i]);
    }
    raise(t, most);
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
        float weight = score[i] == -INFINITY ? 0.0f : cuda_exp2(score[i] - most), v[L::N];
        cuda_unpack(row[i].v, v);
        t.sum += weight;
#pragma unroll
        for (int x = 0; x < L::N; x++)
            t.values[x] = fmaf(weight, v[x], t.values[x]);
    }
    if (a.new_k && end == a.length) /* last, for a store waits for the load of what it stores */
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            if (first + i * L::GROUPS == end - 1)
                row[i].remember(a, at, end - 1);
}

/* The warp's positions together, the same in all lanes that hold the same columns. */
template <class L> __device__ __forceinline__ void merge_lanes(state<L::N> &t)
{
#pragma unroll
    for (int offset = L::LANES; offset < CUDA_WARP; offset *= 2) {
        raise(t, fmaxf(t.most, __shfl_xor_sync(0xffffffffu, t.most, offset)));
        t.sum += __shfl_xor_sync(0xffffffffu, t.sum, offset);
#pragma unroll
        for (int i = 0; i < L::N; i++)
            t.values[i] += __shfl_xor_sync(0xffffffffu, t.values[i], offset);
    }
}

/* Merges `n` states for one column; most(i), sum(i), value(i) give the parts of state i. */
template <class M, class S, class V>
__device__ __forceinline__ state<1> merge(int n, const M &most, const S &sum, const V &value)
{
    state<1> t = { -INFINITY, 0, { 0 } };

    for (int i = 0; i < n; i++)
        t.most = fmaxf(t.most, most(i));
    for (int i = 0; i < n; i++) {
        float factor = cuda_exp2(most(i) - t.most);
        t.sum += factor * sum(i);
        t.values[0] = fmaf(factor, value(i), t.values[0]);
    }
    return t;
}

/* Tells the whole block whether it is the last of its head; all others' pieces can then be read. */
template <class L>
__device__ __forceinline__ bool arrive_last(typename L::shared &shared, unsigned *ticket,
                                            int pieces)
{
    __threadfence(); /* this thread's part of the piece is seen before the ticket is */
    __syncthreads();
    if (threadIdx.x == 0) {
        shared.last = atomicAdd(ticket, 1) == (unsigned)pieces - 1;
        if (shared.last)
            *ticket = 0;
    }
    __syncthreads();
    __threadfence();
    return shared.last;
}

/* One column of the block's piece, or of all pieces where this block is the last to arrive. */
template <class L, class T>
__device__ __forceinline__ void finish(typename L::shared &shared, const attention_cache<T> &a,
                                       int64_t head, int piece, T *out)
{
    const int column = (int)threadIdx.x, stride = a.headdim + 2;
    float *pieces = a.partials + head * a.split.pieces * stride;
    state<1> t = {};

    if (column < a.headdim)
        t = merge(
            WARPS, [&](int i) { return shared.most[i]; }, [&](int i) { return shared.sum[i]; },
            [&](int i) { return shared.values[i][column]; });
    if (a.split.pieces > 1) {
        float *own = pieces + piece * stride;
        if (column == 0) {
            own[0] = t.most;
            own[1] = t.sum;
        }
        if (column < a.headdim)
            own[2 + column] = t.values[0];
        if (!arrive_last<L>(shared, &a.tickets[head], a.split.pieces))
            return;
        t = merge(
            a.split.pieces, [&](int i) { return __ldcg(&pieces[i * stride]); },
            [&](int i) { return __ldcg(&pieces[i * stride + 1]); },
            [&](int i) {
                return column < a.headdim ? __ldcg(&pieces[i * stride + 2 + column]) : 0;
            });
    }
    if (column < a.headdim)
        out[column] = cuda_from<T>(t.values[0] / t.sum);
}

template <class T, int D, bool WIDE>
__global__ void __launch_bounds__(THREADS, ATTENTION_DECODE_BLOCKS) decode(attention_cache<T> a)
{
    using L = layout<T, D>;
    auto &shared = cuda_shared<typename L::shared>();
    const int head = (int)blockIdx.x / a.split.pieces, piece = (int)blockIdx.x % a.split.pieces;
    const int column = (int)threadIdx.x % L::LANES * L::N, group = (int)threadIdx.x / L::LANES;
    const lane_place at = { head / a.heads, head % a.heads * a.headdim, column };
    const int first = piece * a.split.positions;
    const int end = min(first + a.split.positions, a.length);
    state<L::N> t = { -INFINITY, 0, {} };
    float q[L::N];

    cuda_pdl_launch();
    cuda_pdl_wait();
    cuda_unpack(row<T, WIDE>(a.q + at.sequence * a.ldq + at.head + column, a.headdim - column), q);
#pragma unroll
    for (int i = 0; i < L::N; i++)
        q[i] *= a.scale;
    for (int p = first; p < end; p += AHEAD * L::GROUPS)
        attend<T, L, WIDE>(t, q, a, at, p + group, end);
    merge_lanes<L>(t);
    if (cuda_lane() < L::LANES) {
        shared.most[cuda_warp()] = t.most;
        shared.sum[cuda_warp()] = t.sum;
#pragma unroll
        for (int i = 0; i < L::N; i++)
            shared.values[cuda_warp()][column + i] = t.values[i];
    }
    __syncthreads();
    finish<L>(shared, a, head, piece, a.out + at.sequence * a.ldo + at.head);
}

/* Whether all rows can be read 16 bytes at a time. */
template <class T> inline bool wide(const attention_cache<T> &a)
{
    constexpr int n = cuda_wide<T>;

    return a.headdim % n == 0 && cuda_aligned(a.q, a.ldq, n) && cuda_aligned(a.new_k, a.ldq, n) &&
           cuda_aligned(a.new_v, a.ldq, n) && cuda_aligned(a.k, a.ld, n) &&
           cuda_aligned(a.v, a.ld, n) && a.ld_sequence % n == 0;
}

} // namespace attention_decode_detail

template <class T>
inline void attention_cuda_decode_enqueue(const struct attention_cuda_decode *d,
                                          cudaStream_t stream)
{
    using namespace attention_decode_detail;
    int64_t heads = d->batch * d->heads;
    unsigned char *workspace = static_cast<unsigned char *>(d->workspace);
    const attention_cache<T> a = {
        .q = static_cast<const T *>(d->q),
        .new_k = static_cast<const T *>(d->new_k),
        .new_v = static_cast<const T *>(d->new_v),
        .k = static_cast<T *>(d->k),
        .v = static_cast<T *>(d->v),
        .out = static_cast<T *>(d->out),
        .ldq = d->ldq,
        .ld = d->ld,
        .ld_sequence = d->ld_sequence,
        .ldo = d->ldo,
        .length = (int)d->length,
        .heads = (int)d->heads,
        .headdim = (int)d->headdim,
        .scale = (float)(1.4426950408889634 / sqrt((double)d->headdim)),
        .split = attention_split_of(d->length, heads, d->sms),
        .tickets = reinterpret_cast<unsigned *>(workspace),
        .partials = reinterpret_cast<float *>(workspace + attention_ticket_bytes(heads)),
    };
    unsigned blocks = (unsigned)(heads * a.split.pieces);

    attention_padded_headdim(d->headdim, [&]<int D>() {
        size_t shared = sizeof(typename layout<T, D>::shared);
        if (wide(a))
            cuda_launch_with<decode<T, D, true>>({ .early = d->early }, blocks, THREADS, shared,
                                                 stream, a);
        else
            cuda_launch_with<decode<T, D, false>>({ .early = d->early }, blocks, THREADS, shared,
                                                  stream, a);
    });
}

inline int attention_cuda_decode_prepare(struct call *call, struct error *err)
{
    const struct shape *s = &call->shape;

    return attention_cuda_take_workspace(call,
                                         attention_cuda_decode_workspace(s->dim[0], s->dim[2],
                                                                         s->dim[3], s->dim[1],
                                                                         attention_cuda_sms(call)),
                                         err);
}

template <attention_cuda_decode_fn *DECODE>
void attention_cuda_decode_launch(const struct call *call)
{
    struct attention_cuda_decode a = attention_cuda_decode_of(call);

    DECODE(&a, device_cuda_stream(call->device));
}

template <attention_cuda_decode_fn *DECODE>
constexpr struct variant attention_cuda_decode_variant(const char *name, enum dtype dtype)
{
    struct variant v = attention_cuda_variant(
        name, "positions over lanes and blocks, 16-byte loads; limit: bandwidth of the cache",
        &attention_decode_kernel, dtype, attention_cuda_decode_launch<DECODE>);

    v.prepare = attention_cuda_decode_prepare;
    v.release = attention_cuda_release;
    return v;
}

#endif
