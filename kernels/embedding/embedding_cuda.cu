/* SPDX-License-Identifier: MIT */
/*
 * A row of threads a token, each adding a vector of four elements of two rows:
 *
 *     tokens   | t0 | t1 | t2 | t3 | ...
 *                 |            rows of wte are anywhere, those of wpe one after the other
 *     block    [ across threads ][ across threads ] ...     a token each: 256 / across tokens
 *     thread   wte[token][4 i ..] + wpe[position][4 i ..] --> out
 *
 * Limit: bandwidth: a row of wte read and one of out written a token; wpe comes from the L2, as
 * all sequences of a batch read the same rows. Few tokens: two memory latencies, as the row cannot
 * be asked for before the token is known.
 */
#include "kernels/cuda/pdl.h"
#include "kernels/cuda/vector.h"
#include "kernels/embedding/embedding_cuda.h"

extern "C" {
#include "kernels/embedding/embedding_call.h"
}

enum { THREADS = 256, WIDE = 4 };

/* T is the type of the tables, S that of the result. */
template <class T, class S, int VEC>
__global__ void __launch_bounds__(THREADS)
    embedding_cuda_kernel(struct embedding_cuda e, int across)
{
    int64_t at = (int64_t)blockIdx.x * (THREADS / across) + threadIdx.x / (unsigned)across;

    cuda_pdl_launch();
    if (at >= e.batch * e.seq)
        return;
    const T *token = static_cast<const T *>(e.wte) + e.tokens[at] * e.width;
    const T *position = static_cast<const T *>(e.wpe) + (e.first + at % e.seq) * e.width;
    S *out = static_cast<S *>(e.out) + at * e.width;
    for (int64_t i = threadIdx.x % (unsigned)across * VEC; i < e.width; i += across * VEC) {
        float sum[VEC], other[VEC];
        cuda_unpack(cuda_load<VEC>(token + i), sum);
        cuda_unpack(cuda_load<VEC>(position + i), other);
#pragma unroll
        for (int j = 0; j < VEC; j++)
            sum[j] += other[j];
        cuda_store(out + i, cuda_pack<S>(sum));
    }
}

template <class T, class S, int VEC>
static void enqueue(const struct embedding_cuda *e, cudaStream_t stream)
{
    int across = 1;

    while (across < THREADS && across * VEC < e->width)
        across *= 2;
    unsigned blocks = (unsigned)cuda_pieces<int64_t>(e->batch * e->seq, THREADS / across);
    cuda_launch<embedding_cuda_kernel<T, S, VEC>>(blocks, THREADS, 0, stream, *e, across);
}

template <class T, class S> static void choose(const struct embedding_cuda *e, cudaStream_t stream)
{
    if (cuda_aligned(static_cast<const T *>(e->wte), e->width, WIDE) &&
        cuda_aligned(static_cast<const T *>(e->wpe), e->width, WIDE) &&
        cuda_aligned(static_cast<const S *>(e->out), e->width, WIDE))
        enqueue<T, S, WIDE>(e, stream);
    else
        enqueue<T, S, 1>(e, stream);
}

void embedding_rows_cuda(const struct embedding_cuda *e, cudaStream_t stream)
{
    if (e->stream == DTYPE_BF16)
        choose<bf16, bf16>(e, stream);
    else if (e->dtype == DTYPE_BF16)
        choose<bf16, float>(e, stream);
    else
        choose<float, float>(e, stream);
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    int64_t tokens = kernel_dim(k, s, "batch", 1) * kernel_dim(k, s, "seq", 1);

    (void)d;
    if (tokens > INT32_MAX)
        error_set(why, "%lld tokens are more than a grid has blocks", (long long)tokens);
    return tokens <= INT32_MAX;
}

static void launch(const struct call *call)
{
    struct embedding c = embedding_of(call);
    enum dtype dtype = call->variant->dtype;
    struct embedding_cuda e = {
        .batch = c.batch,
        .seq = c.seq,
        .width = c.width,
        .tokens = c.tokens,
        .wte = c.wte,
        .wpe = c.wpe,
        .first = c.first,
        .out = c.out,
        .dtype = dtype,
        .stream = dtype,
    };

    embedding_rows_cuda(&e, device_cuda_stream(call->device));
}

#define VARIANT(label, type, math_)                                                                \
    {                                                                                              \
        .name = (label), .summary = "a row of threads a token, vectors; limit: copy bandwidth",    \
        .kernel = &embedding_gpt_kernel, .device = DEVICE_CUDA, .dtype = (type), .math = (math_),  \
        .flags = 0, .supports = supports, .prepare = nullptr, .launch = launch,                    \
        .release = nullptr,                                                                        \
    }

extern "C" const struct variant embedding_cuda[];
const struct variant embedding_cuda[] = {
    VARIANT("cuda", DTYPE_FP32, MATH_FP32),
    VARIANT("cuda_bf16", DTYPE_BF16, MATH_BF16),
    {},
};
