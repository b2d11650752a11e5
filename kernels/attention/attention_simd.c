/* SPDX-License-Identifier: MIT */
/*
 * Groups of queries against tiles of keys, softmax carried along ("online": Milakov and
 * Gimelshein, 2018; tiled as in FlashAttention: Dao et al., 2022).
 *
 *                 keys j (lanes: up to three vectors, a panel)
 *               +-------------------+
 *      8        |  Q[i] . K[j]      |  one register tile: Q in place, by broadcasts; K transposed
 *      queries  |  -> 2^(c s + m_i) |  once a head into panels [headdim][lanes]
 *      i        +-------------------+
 *                    | weights [i][j] of up to 192 keys stay in the first-level cache
 *                    v
 *      acc[i][:] += weights[i][:] . V[:][:]     V copied once a head: its rows lie far apart in
 * qkv, often all in the same few sets of a cache
 *
 *      causal:  j panels  0 1 2      vectors of keys right of the diagonal are never computed,
 * those i group 0         \          on it (\) are masked, and no group adds keys past its own i
 * group 1         # \        last query
 *       i group 2         # # \
 *
 * The shift m_i of a query is minus its score of key 0, not the maximum: any finite shift gives the
 * same quotient, and a weight loses precision only as its exponent grows. So there is no pass for
 * the maximum and nothing to correct; where weights of a tile sum up to more than 2^16 (a later
 * score is far above the first) that tile is done again with the shift at its maximum.
 *
 * A thread takes a head, or a piece of one where heads do not divide by threads. 64 queries share a
 * tile while it is in the second-level cache, two groups a panel while it is in the first. Limit:
 * FMA units, which do 2 headdim steps and the 6 of an exponential for each vector of scores.
 *
 * Decode: scores of a vector of positions at a time, each a sum over lanes, all transposed and
 * added at once; V by eight sums that do not wait for one another. Limit: the bandwidth at which K
 * and V come in.
 */
#include "kernels/attention/attention_call.h"
#include "kernels/host.h"
#include "kernels/simd.h"
#include "kernels/team.h"

SIMD_DECLARE(host_share_fn, attention_prefill);
SIMD_DECLARE(host_share_fn, attention_decode);

enum { LINE = 16 };

#ifdef SIMD_ISA

#include "kernels/attention/attention_simd_decode.h"
#include "kernels/attention/attention_simd_prefill.h"

#else

/* Keys and values, in whole vectors of any instruction set; the outputs of queries under way, and
 * a copy of the last few. */
size_t attention_simd_scratch(int64_t seq, int64_t headdim)
{
    size_t width = ((size_t)headdim + LINE - 1) / LINE * LINE;
    size_t positions = ((size_t)seq + LINE - 1) / LINE * LINE;

    return (2 * positions + ATTENTION_SIMD_QUERIES + LINE) * width;
}

void attention_prefill_simd(const struct attention *a)
{
    double pairs = (double)(a->batch * a->heads) * (double)a->seq * (double)a->seq;

    host_share(SIMD_CHOOSE(attention_prefill), a, a->threads, pairs * (double)(a->headdim + 8));
}

void attention_decode_simd(const struct attention_decode *a)
{
    double bytes = 8.0 * (double)(a->batch * a->heads * a->headdim) * (double)a->length;

    host_share(SIMD_CHOOSE(attention_decode), a, a->threads, bytes);
}

static void prefill_launch(const struct call *call)
{
    struct attention a = attention_of(call);

    attention_prefill_simd(&a);
}

static void decode_launch(const struct call *call)
{
    struct attention_decode a = attention_decode_of(call);

    attention_decode_simd(&a);
}

#define SIMD(of, text, ready, run, needs)                                                          \
    {                                                                                              \
        .name = "simd", .summary = (text), .kernel = &(of), .device = DEVICE_CPU,                  \
        .dtype = DTYPE_FP32, .math = MATH_FP32, .supports = simd_supports, .prepare = (ready),     \
        .launch = (run), .release = host_state_release, .workspace = (needs),                      \
    }

const struct variant attention_simd[] = {
    SIMD(attention_causal_kernel, "online softmax, keys past the diagonal skipped; limit: FMA, exp",
         attention_prepare, prefill_launch, attention_workspace),
    SIMD(attention_full_kernel, "online softmax over tiles of 192 keys; limit: FMA, exp",
         attention_prepare, prefill_launch, attention_workspace),
    SIMD(attention_decode_kernel, "a head a thread; limit: bandwidth of the KV cache",
         attention_decode_prepare, decode_launch, NULL),
    { .name = NULL },
};

#endif
