/* SPDX-License-Identifier: MIT */
/*
 * Flash attention by wgmma and the bulk copy engine (sm_90a alone), bf16 in and out, float sums,
 * as in FlashAttention-3 (Shah et al., 2024). A block is a producer, one thread of the first warp
 * group, and GROUPS consumers, warp groups of 64 queries each:
 *
 *       shared memory, swizzled               registers of a consumer
 *     +-------------------------+   A              D
 *     | Q [64 GROUPS][D]        |-----> S = Q K^T  S [64][KEYS]  float
 *     | K [STAGES][KEYS][D]     |-----> (K-major)  |  2^(scale S - max), to bf16
 *     | V [STAGES][KEYS][D]     |--+               P [64][KEYS]  A, as D lies: no shuffle
 *     +-------------------------+  |               |
 *       ^ producer: copies into    +-> O += P V    O [64][D]     float, scaled down as the maximum
 *         stages set free             (N-major)                  rises
 *
 * The matrix units always have work: a consumer starts the scores of the next tile before the
 * product of the last tile's weights with V, and turns the former into weights under the latter;
 * and consumers take turns at starting products, so that one's softmax runs under the other's
 * products. A turn is passed when the scores are there:
 *
 *     group 0    S1 O0 | softmax 1 | S2 O1 | softmax 2 | ...
 *     group 1          | S1 O0     | softmax 1 | S2 O1 | ...
 *
 * Three groups of short tiles find their turns by themselves.
 *
 * Tiles of keys are taken from the last to the first: so the one under the diagonal, or with keys
 * beyond the sequence, comes in front of the loop, which then masks nothing. As many blocks as SMs
 * take one tile of queries after the other, long ones first, and bring the next one's tiles under
 * the end of the last one's. Which tiling and which order: attention_cuda_wgmma_plan.h.
 *
 * Limit: at headdim 128 power, and the L2. Measured on 2026-11-26 on an H200 of 132 SMs, whose
 * clock fell from 1980 to 1480-1620 MHz under this load; TFLOP/s, and the share of the matrix
 * units' rate at the clock there was:
 *
 *     batch x seq x heads     4x2048x16   4x4096x16   1x4096x16   1x8192x32   1x16384x16
 *       128, causal            519 62 %    589 72 %    588 69 %    628 76 %     663 78 %
 *       128, full              610 72 %    641 79 %    637 74 %    661 80 %     688 82 %
 *       64, causal             339 41 %    388 48 %    408 48 %    431 53 %     471 56 %
 *       64, full               443 53 %    447 55 %    429 49 %    471 59 %     493 59 %
 *
 * (headdim 64 with twice the heads; with a mask half of all pairs are counted.) 128 queries ask for
 * 64 KiB of keys and values in the 2048 clocks that their products take at best, at all SMs about
 * the rate of the L2: 3230 clocks for 128 x 128 without a mask at 16384, 2390 without the copies;
 * the softmax by itself takes 1140. So more queries a block are faster where they fill the last
 * round. At headdim 64 the limit is the exponentials, 16 a clock an SM, which take as long as the
 * products.
 *
 * Not faster there: two blocks of a cluster that bring halves of the same tiles to each other (1 %
 * more for 128 x 176, 3 to 4 % less for 192 x 80, up to 15 % less under a mask: they wait for each
 * other at each tile, and work is dealt out in portions twice as large); keys and values kept in
 * the L2 by a policy; a tile's scores, softmax and product one behind the other in three groups; a
 * part of the exponentials by a polynomial on other units (headdim 64: 1 to 3 % more without a mask
 * and 4 % less under one, with turns passed early).
 *
 * Products of e4m3 (attention_fp8_tiling) go the same way, with K and V^T of bytes and weights of
 * bytes in registers; what comes in front of them: attention_cuda_fp8.h.
 *
 * Sources: PTX ISA; J. Shah et al., "FlashAttention-3: Fast and Accurate Attention with Asynchrony
 * and Low-precision", 2024.
 */
#ifndef HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_WGMMA_H
#define HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_WGMMA_H

#include "kernels/attention/attention_cuda_wgmma_tile.h"
#include "kernels/cuda/tma.h"

/* The block's task at a turn. Of the queue's tiles each block starts with one; then it asks until
 * there is none, all blocks together once for each tile, and the last one to ask leaves the queue
 * as it was. */
template <class C>
__device__ __forceinline__ attention_task attention_task_of(const attention_wgmma_work &a,
                                                            unsigned turn, unsigned got)
{
    unsigned all = a.order.heads * a.order.tiles, heads = (unsigned)a.heads;
    unsigned next =
        a.queue != nullptr ? gridDim.x + got : attention_turn_of(turn, blockIdx.x, gridDim.x);

    if (a.queue != nullptr && got == all - 1)
        *a.queue = 0;
    if (next >= all)
        return {};
    attention_place place = attention_place_of(a.order, next);
    int first = (int)place.tile * C::ROWS;
    return { { first, (int)(place.head / heads) * a.seq, (int)(place.head % heads) * C::D },
             attention_key_tiles(C::CAUSAL, a.seq, first, C::ROWS, C::KEYS) };
}

/* ---- The producer ---- */

struct attention_maps {
    const CUtensorMap *q, *k, *v;
};

/* A tile of keys or values to the next stage. */
template <class C>
__device__ __forceinline__ void attention_bring(unsigned char (&stages)[C::STAGES][C::KV_BYTES],
                                                cuda_mbarrier *full, cuda_mbarrier *empty,
                                                cuda_ring_place<C::STAGES> &at,
                                                const CUtensorMap *map, int sequence, int row,
                                                int col)
{
    unsigned char *to = stages[at.stage];

    cuda_mbarrier_wait(&empty[at.stage], at.parity ^ 1);
    cuda_mbarrier_expect(&full[at.stage], C::KV_BYTES);
#pragma unroll
    for (int i = 0; i < C::BLOCKS; i++)
        tma_load_3d(to + i * C::KV_BLOCK, map, &full[at.stage], sequence, row, col + 64 * i);
    at.next();
}

/* Keys of a tile as they lie; of e4m3 in elements of two, and of 64 columns two keys a row. */
template <class C>
__device__ __forceinline__ void attention_bring_keys(typename C::layout &s, const CUtensorMap *map,
                                                     cuda_ring_place<C::STAGES> &at, int sequence,
                                                     int tile, int head)
{
    attention_bring<C>(s.k, s.k_full, s.k_empty, at, map, sequence, tile * (C::KEYS / C::BESIDE),
                       C::FP8 ? head * C::BESIDE / 2 : head);
}

/* Its values; of e4m3 they are transposed. */
template <class C>
__device__ __forceinline__ void attention_bring_values(typename C::layout &s,
                                                       const CUtensorMap *map,
                                                       cuda_ring_place<C::STAGES> &at, int sequence,
                                                       int tile, int head)
{
    attention_bring<C>(s.v, s.v_full, s.v_empty, at, map, sequence, C::FP8 ? head : tile * C::KEYS,
                       C::FP8 ? tile * C::KEYS / 2 : head);
}

/* A task and its queries to each consumer, when that has done with the last ones. */
template <class C>
__device__ __forceinline__ void attention_bring_task(typename C::layout &s, unsigned turn,
                                                     const CUtensorMap *map, int sequence,
                                                     const attention_task &task)
{
#pragma unroll
    for (int group = 0; group < C::GROUPS; group++) {
        cuda_mbarrier_wait(&s.q_empty[group], turn % 2 ^ 1);
        s.task[group] = task;
        if (task.tiles == 0) {
            cuda_mbarrier_arrive(&s.q_full[group]);
            continue;
        }
        cuda_mbarrier_expect(&s.q_full[group], sizeof(s.q[group]));
#pragma unroll
        for (int i = 0; i < C::BLOCKS; i++)
            tma_load_3d(s.q[group] + i * C::Q_BLOCK, map, &s.q_full[group], sequence,
                        task.at.first + group * WGMMA_M,
                        (C::FP8 ? task.at.head / 2 : task.at.head) + 64 * i);
    }
}

/* In the order in which stages come free, which is that in which consumers ask: the keys of a tile,
 * the values of the one before, and where it is a task's first one the queries. */
template <class C>
__device__ __forceinline__ void attention_produce(typename C::layout &s, const attention_maps &maps,
                                                  const attention_wgmma_work &a)
{
    cuda_ring_place<C::STAGES> k, v;
    attention_task task;
    int sequence = 0, before_sequence = 0, before_head = 0, before_tile = -1;
    unsigned got = blockIdx.x - gridDim.x;

    for (unsigned turn = 0;; turn++) {
        task = attention_task_of<C>(a, turn, got);
        if (a.queue != nullptr && task.tiles > 0)
            got = atomicAdd(a.queue, 1u); /* under way while this task is brought */
        sequence = task.at.token / a.seq;
        for (int tile = task.tiles - 1; tile >= 0 || task.tiles == 0; tile--) {
            if (task.tiles > 0)
                attention_bring_keys<C>(s, maps.k, k, sequence, tile, task.at.head);
            if (before_tile >= 0)
                attention_bring_values<C>(s, maps.v, v, before_sequence, before_tile, before_head);
            if (tile == task.tiles - 1)
                attention_bring_task<C>(s, turn, maps.q, sequence, task);
            if (task.tiles == 0)
                return;
            before_sequence = sequence, before_head = task.at.head;
            before_tile = tile;
        }
    }
}

/* ---- Consumers ---- */

/* The warp has read what the barrier guards. */
__device__ __forceinline__ void attention_release(cuda_mbarrier *empty)
{
    if (cuda_lane() == 0)
        cuda_mbarrier_arrive(empty);
}

/* Products are started in turn: group 0, 1, .., 0, ... Barrier 1 + g is met by group g, which
 * waits, and the one in front of it, which does not. */
template <class C> __device__ __forceinline__ void attention_turn_wait(int group)
{
    if constexpr (C::TURNS)
        asm volatile("bar.sync %0, %1;" ::"r"(1 + group), "n"(2 * C::GROUP) : "memory");
}

template <class C> __device__ __forceinline__ void attention_turn_pass(int group)
{
    if constexpr (C::TURNS)
        asm volatile("bar.arrive %0, %1;" ::"r"(group == C::GROUPS - 1 ? 1 : 2 + group),
                     "n"(2 * C::GROUP)
                     : "memory");
}

/* Where a consumer stands: its group, its thread's first row in the block's, the stages to read. */
template <class C> struct attention_consumer {
    int group, row;
    uint64_t q, k, v; /* descriptors: of the group's queries, of stage 0 */
    cuda_ring_place<C::STAGES> k_at, v_at;

    __device__ __forceinline__ uint64_t keys(void) const
    {
        return k + (uint64_t)(k_at.stage * (C::KV_BYTES >> 4));
    }
    __device__ __forceinline__ uint64_t values(void) const
    {
        return v + (uint64_t)(v_at.stage * (C::KV_BYTES >> 4));
    }
};

template <class C>
__device__ __forceinline__ attention_consumer<C> attention_consumer_of(typename C::layout &s)
{
    int group = attention_uniform(cuda_warp() / 4 - 1);

    return { group,
             group * WGMMA_M + cuda_warp() % 4 * 16 + cuda_lane() / 4,
             wgmma_matrix(cuda_shared_address(s.q[group])),
             wgmma_matrix(cuda_shared_address(s.k)),
             C::FP8 ? wgmma_matrix(cuda_shared_address(s.v))
                    : wgmma_matrix_n_major(cuda_shared_address(s.v), C::KV_BLOCK),
             {},
             {} };
}

/* The first tile of all, in front of the loop: scores alone, to weights. */
template <class C>
__device__ __forceinline__ void attention_first(typename C::layout &s, attention_consumer<C> &c,
                                                typename C::state &t, typename C::weights &p,
                                                const attention_wgmma_work &a,
                                                const attention_block &b, int tile, float scale)
{
    typename C::scores scores;
    float factor[2], base[2];

    cuda_mbarrier_wait(&s.k_full[c.k_at.stage], c.k_at.parity);
    wgmma_fence();
    attention_score<C>(scores, c.q, c.keys());
    wgmma_wait<0>();
    attention_hold(scores);
    attention_release(&s.k_empty[c.k_at.stage]);
    c.k_at.next();
    if (tile == 0)
        attention_release(&s.q_empty[c.group]);
    if (attention_masked(C::CAUSAL, a.seq, b.first, tile * C::KEYS, C::KEYS))
        attention_mask<C>(scores, a.seq - tile * C::KEYS, b.first + c.row - tile * C::KEYS);
    attention_raise_rows<C>(factor, base, t.most, scores, scale);
    attention_weigh<C>(scores, t.sum, base, scale);
    attention_pack<C>(p, scores);
}

/* A tile's scores, with the product of the weights of the tile before under their softmax. `fresh`:
 * the tile before was the last one of queries `done`. */
template <class C>
__device__ __forceinline__ void attention_step(typename C::layout &s, attention_consumer<C> &c,
                                               typename C::state &t, typename C::weights &p,
                                               const attention_wgmma_work &a,
                                               const attention_block &b, int tile, bool fresh,
                                               const attention_block &done, float scale)
{
    typename C::scores scores;
    float factor[2], base[2], sum[2] = { t.sum[0], t.sum[1] };

    if (fresh) {
        t.most[0] = t.most[1] = -INFINITY;
        t.sum[0] = t.sum[1] = 0;
    }
    cuda_mbarrier_wait(&s.k_full[c.k_at.stage], c.k_at.parity);
    attention_turn_wait<C>(c.group);
    wgmma_fence();
    attention_score<C>(scores, c.q, c.keys());
    cuda_mbarrier_wait(&s.v_full[c.v_at.stage], c.v_at.parity);
    wgmma_fence();
    attention_add<C>(t.o, p, c.values());
    wgmma_wait<1>();
    attention_turn_pass<C>(c.group);
    attention_hold(scores);
    attention_release(&s.k_empty[c.k_at.stage]);
    c.k_at.next();
    if (tile == 0)
        attention_release(&s.q_empty[c.group]);
    if ((C::RAGGED || fresh) &&
        attention_masked(C::CAUSAL, a.seq, b.first, tile * C::KEYS, C::KEYS))
        attention_mask<C>(scores, a.seq - tile * C::KEYS, b.first + c.row - tile * C::KEYS);
    attention_raise_rows<C>(factor, base, t.most, scores, scale);
    t.sum[0] *= factor[0];
    t.sum[1] *= factor[1];
    attention_weigh<C>(scores, t.sum, base, scale);
    attention_in_front(t.sum);
    wgmma_wait<0>();
    attention_hold(t.o);
    attention_hold(p);
    attention_release(&s.v_empty[c.v_at.stage]);
    c.v_at.next();
    if (fresh)
        attention_finish<C>(t.o, sum, a, done, c.row);
    else
        attention_scale(t.o, factor);
    attention_pack<C>(p, scores);
}

/* The weights of the last tile of all, behind the loop. */
template <class C>
__device__ __forceinline__ void attention_last(typename C::layout &s, attention_consumer<C> &c,
                                               typename C::state &t, typename C::weights &p)
{
    cuda_mbarrier_wait(&s.v_full[c.v_at.stage], c.v_at.parity);
    wgmma_fence();
    attention_add<C>(t.o, p, c.values());
    wgmma_wait<0>();
    attention_hold(t.o);
    attention_hold(p);
    attention_release(&s.v_empty[c.v_at.stage]);
    c.v_at.next();
}

/* The next task, with its queries there; false: none is left. */
template <class C>
__device__ __forceinline__ bool attention_take(attention_task &task, typename C::layout &s,
                                               int group, unsigned turn)
{
    cuda_mbarrier_wait(&s.q_full[group], turn % 2);
    task.at.first = attention_uniform(s.task[group].at.first);
    task.at.token = attention_uniform(s.task[group].at.token);
    task.at.head = attention_uniform(s.task[group].at.head);
    task.tiles = attention_uniform(s.task[group].tiles);
    __syncwarp(); /* all lanes have read: one of them frees the task */
    return task.tiles > 0;
}

/* All tiles of keys of all the block's tasks in a row. */
template <class C>
__device__ __forceinline__ void attention_consume(typename C::layout &s,
                                                  const attention_wgmma_work &a)
{
    attention_consumer<C> c = attention_consumer_of<C>(s);
    typename C::state t = {};
    typename C::weights p;
    attention_task task;
    attention_block done;
    unsigned turn = 0;

    if (!attention_take<C>(task, s, c.group, turn))
        return;
    if (c.group == C::GROUPS - 1)
        attention_turn_pass<C>(c.group); /* the first turn is group 0's */
    int tile = task.tiles - 1;
    t.most[0] = t.most[1] = -INFINITY;
    float scale = attention_scale_of<C>(a, task.at);
    attention_first<C>(s, c, t, p, a, task.at, tile, scale);
    for (;;) {
        bool fresh = tile == 0;
        done = task.at;
        if (fresh && !attention_take<C>(task, s, c.group, ++turn))
            break;
        tile = (fresh ? task.tiles : tile) - 1;
        if (C::FP8 && fresh)
            scale = attention_scale_of<C>(a, task.at);
        attention_step<C>(s, c, t, p, a, task.at, tile, fresh, done, scale);
    }
    attention_last<C>(s, c, t, p);
    attention_finish<C>(t.o, t.sum, a, done, c.row);
    if (c.group == 0)
        attention_turn_wait<C>(c.group); /* passed by the last group, and nobody's */
}

template <class C> __device__ __forceinline__ void attention_init(typename C::layout &s)
{
    for (int i = 0; i < C::GROUPS; i++) {
        cuda_mbarrier_init(&s.q_full[i], 1);
        cuda_mbarrier_init(&s.q_empty[i], C::GROUP / CUDA_WARP);
    }
    for (int i = 0; i < C::STAGES; i++) {
        cuda_mbarrier_init(&s.k_full[i], 1);
        cuda_mbarrier_init(&s.v_full[i], 1);
        cuda_mbarrier_init(&s.k_empty[i], C::READERS);
        cuda_mbarrier_init(&s.v_empty[i], C::READERS);
    }
    cuda_mbarrier_publish();
}

template <class C>
__global__ void __launch_bounds__(C::THREADS, 1)
    attention_wgmma(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
                    const __grid_constant__ CUtensorMap v,
                    const __grid_constant__ attention_wgmma_work a)
{
    typename C::layout &s = cuda_shared<typename C::layout>();

    if (threadIdx.x == 0) {
        tma_prefetch(&q);
        tma_prefetch(&k);
        tma_prefetch(&v);
        attention_init<C>(s);
    }
    __syncthreads();
    if (cuda_warp() < 4) {
        if constexpr (C::GROUPS > 1) /* one group has as many as it can use from the start */
            wgmma_lower_registers<C::PRODUCER_REGISTERS>();
        if (threadIdx.x == 0)
            attention_produce<C>(s, { &q, &k, &v }, a);
    } else {
        if constexpr (C::GROUPS > 1)
            wgmma_raise_registers<C::CONSUMER_REGISTERS>();
        attention_consume<C>(s, a);
    }
}

/* ---- On the host ---- */

/* q, k or v, in boxes of 64 columns. */
inline cudaError_t attention_wgmma_describe(CUtensorMap *map, const struct attention_cuda *a,
                                            const void *data, int rows)
{
    const struct tma_matrix each = {
        .element = TMA_BF16,
        .data = data,
        .rows = a->seq,
        .cols = a->heads * a->headdim,
        .ld = a->ld,
        .box_rows = rows,
        .box_cols = 64,
        .swizzle = true,
    };
    const struct tma_matrices sequences = { each, a->batch, a->seq * a->ld };

    return tma_describe_3d(map, &sequences);
}

template <class C>
inline bool attention_wgmma_maps(const struct attention_cuda *a, CUtensorMap *q, CUtensorMap *k,
                                 CUtensorMap *v)
{
    if (!attention_wide<bf16>(a))
        return false;
    if constexpr (C::FP8) {
        const attention_fp8_places p = attention_fp8_places_of(a->batch, a->seq, a->heads, C::D);
        return attention_fp8_describe(q, a, p.q, WGMMA_M) == cudaSuccess &&
               attention_fp8_describe(k, a, p.k, C::KEYS / C::BESIDE) == cudaSuccess &&
               attention_fp8_describe(v, a, p.v, C::D) == cudaSuccess;
    } else {
        return attention_wgmma_describe(q, a, a->q, WGMMA_M) == cudaSuccess &&
               attention_wgmma_describe(k, a, a->k, C::KEYS) == cudaSuccess &&
               attention_wgmma_describe(v, a, a->v, C::KEYS) == cudaSuccess;
    }
}

/* The tiles of `p` with `blocks` blocks at most; the queue only where there is a workspace. Of e4m3
 * behind attention_fp8_round_all(). */
template <class C>
inline void attention_wgmma_launch(const struct attention_cuda *a, const attention_plan &p,
                                   unsigned blocks, cudaStream_t stream)
{
    const unsigned heads = (unsigned)(a->batch * a->heads);
    const unsigned tiles = (unsigned)cuda_pieces<int64_t>(a->seq, C::ROWS);
    unsigned grid = heads * tiles < blocks ? heads * tiles : blocks;
    attention_wgmma_work work = {
        .out = static_cast<bf16 *>(a->out),
        .ldo = a->ldo,
        .seq = (int)a->seq,
        .heads = (int)a->heads,
        .scale = (float)(1.4426950408889634 / sqrt((double)C::D)),
        .order =
            attention_plan_order(p, C::CAUSAL, heads, tiles, C::ROWS * C::D * (C::FP8 ? 2 : 4)),
        .queue = p.queue ? static_cast<unsigned *>(a->workspace) : nullptr,
        .largest = nullptr,
    };
    CUtensorMap q, k, v;

    if constexpr (C::FP8)
        work.largest = reinterpret_cast<const float *>(
            static_cast<const unsigned char *>(a->workspace) +
            attention_fp8_places_of(a->batch, a->seq, a->heads, C::D).largest);
    if (!attention_wgmma_maps<C>(a, &q, &k, &v))
        grid = 0; /* a launch that fails, and shows */
    cuda_launch_with<attention_wgmma<C>>({}, grid, C::THREADS, C::SHARED, stream, q, k, v, work);
}

#endif
