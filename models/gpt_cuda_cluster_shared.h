/* SPDX-License-Identifier: MIT */
/* What a block of gpt_cuda_cluster.h is given and what it has in shared memory: the arguments, and
 * the weights on their way through their slots. For .cu files. */
#ifndef HARNESS_MODELS_GPT_CUDA_CLUSTER_SHARED_H
#define HARNESS_MODELS_GPT_CUDA_CLUSTER_SHARED_H

#include "kernels/cuda/bulk.h"
#include "kernels/cuda/cache.h"
#include "kernels/cuda/reduce.h"
#include "models/gpt_cluster_layout.h"

/* One thread starts copies; not in the first warps, which own rows and have others wait for them.
 */
enum { GPT_CLUSTER_THREADS = 256, GPT_CLUSTER_COPIER = GPT_CLUSTER_THREADS - CUDA_WARP };

/* A bias and the layer norm behind it, bf16 [width] each, of the first layer; the norm's bias
 * follows its gain. Those of layer l lie l x `stride` elements behind. */
struct gpt_cluster_sum {
    const bf16 *bias, *gain;
};

struct gpt_cluster_body {
    int layers, sequences, seq;
    const int32_t *tokens;            /* [sequences, seq] */
    const bf16 *wte, *wpe;            /* [V, width], [block, width] */
    int64_t stride;                   /* elements of a layer */
    const bf16 *first_gain;           /* LN1 of layer 0 */
    struct gpt_cluster_sum attention; /* bias of Wo, LN2 */
    struct gpt_cluster_sum mlp;       /* bias of W2, LN1 of the layer behind */
    const bf16 *last_gain;            /* LNf */
    const unsigned char *packed;      /* layers x gpt_cluster::layer_bytes */
    const void *next;   /* what the kernel behind this one reads: fetched into the L2 */
    int64_t next_bytes; /* or 0 */
    int64_t next_share; /* of a block in a layer: gpt_cluster_run() fills it in */
    bf16 *out;          /* [sequences x seq, width] */
#ifdef GPT_CLUSTER_CLOCK
    long long *clock; /* [blocks][layers][GPT_CLUSTER_MARKS] */
#endif
};

/* For bring-up: when thread 0 of a block has come to these places of a layer. */
enum gpt_cluster_mark {
    GPT_CLUSTER_START,
    GPT_CLUSTER_WEIGHTS,
    GPT_CLUSTER_QKV,
    GPT_CLUSTER_ATTENTION,
    GPT_CLUSTER_PROJ,
    GPT_CLUSTER_BARRIER_1,
    GPT_CLUSTER_SUM_1,
    GPT_CLUSTER_NORM_1,
    GPT_CLUSTER_BARRIER_2,
    GPT_CLUSTER_MLP,
    GPT_CLUSTER_BARRIER_3,
    GPT_CLUSTER_SUM_2,
    GPT_CLUSTER_NORM_2,
    GPT_CLUSTER_BARRIER_4,
    GPT_CLUSTER_MARKS = 16,
};

#ifdef GPT_CLUSTER_CLOCK
#define GPT_CLUSTER_MARK(b, layer, which)                                                          \
    do {                                                                                           \
        if (threadIdx.x == 0)                                                                      \
            (b).clock[((int64_t)blockIdx.x * (b).layers + (layer)) * GPT_CLUSTER_MARKS +           \
                      (which)] = clock64();                                                        \
    } while (0)
#else
#define GPT_CLUSTER_MARK(b, layer, which) ((void)0)
#endif

template <class P> struct alignas(1024) gpt_cluster_shared {
    alignas(1024) unsigned char slot[2][P::slot_bytes];
    alignas(1024) bf16 h[GPT_CLUSTER_ROWS * P::row];
    alignas(1024) bf16 wide[GPT_CLUSTER_ROWS * P::wide_row];
    alignas(16) bf16 partial[GPT_CLUSTER_ROWS * P::row];
    cuda_mbarrier full[2];
    cuda_mbarrier rows; /* of h, as they come from all blocks */
};

/* ---- Weights ---- */

/* Sections are counted over all layers; number q goes to slot q % 2, in its round q / 2. */
template <class P> struct gpt_cluster_weights {
    gpt_cluster_shared<P> *s;
    const unsigned char *packed;
    int rank, all; /* sections of all layers */

    __device__ __forceinline__ const unsigned char *from(int q) const
    {
        return packed + P::section_at(q / P::sections, rank, q % P::sections);
    }
    /* By one thread, when all threads of the block are done with section q - 2. */
    __device__ __forceinline__ void start(int q) const
    {
        if (q >= all)
            return;
        unsigned bytes = P::section_bytes(q % P::sections);
        cuda_mbarrier_expect(&s->full[q % 2], bytes);
        cuda_bulk_load(s->slot[q % 2], from(q), bytes, &s->full[q % 2]);
    }
    /* By all threads, for each section in order. */
    __device__ __forceinline__ const unsigned char *wait(int q) const
    {
        cuda_mbarrier_wait(&s->full[q % 2], (unsigned)(q / 2 % 2));
        return s->slot[q % 2];
    }
};

/* Has the L2 fetch a share of what will be read: this block's sections of every sequences-th layer
 * at once, or a piece of what the next kernel reads with each layer. */
template <class P>
__device__ __forceinline__ void gpt_cluster_fetch(const struct gpt_cluster_body &b,
                                                  const gpt_cluster_weights<P> &w)
{
    int sequence = (int)blockIdx.x / P::blocks;

    for (int layer = sequence; layer < b.layers; layer += b.sequences)
        for (int i = 0; i < P::sections; i++)
            cuda_bulk_prefetch(w.from(layer * P::sections + i), P::section_bytes(i));
}

__device__ __forceinline__ void gpt_cluster_fetch_next(const struct gpt_cluster_body &b, int layer)
{
    int64_t at = b.next_share * (layer * (int64_t)gridDim.x + blockIdx.x);
    int64_t left = b.next_bytes - at, bytes = left < b.next_share ? left : b.next_share;

    if (bytes >= 16)
        cuda_bulk_prefetch(static_cast<const char *>(b.next) + at, (unsigned)bytes / 16 * 16);
}

#endif
