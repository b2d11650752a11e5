/* SPDX-License-Identifier: MIT */
/*
 * The tilings of the CUDA attentions as parameters, for `harness verify --all-settings`. Their own
 * plans choose them by the number of SMs: here each is chosen by a number that leads to it. What a
 * case cannot have is UNSUPPORTED, not another one in silence. 0 is what the plan chooses by the
 * SMs that there are, so that `harness tune` holds it against all others.
 *
 * No variant's code is in this file, and no variant needs it: what a device has verified stays so.
 */
#include "kernels/attention/attention_cuda_call.h"
#include "kernels/attention/attention_cuda_decode.h"
#include "kernels/attention/attention_cuda_flash.h"
#include "kernels/attention/attention_cuda_wgmma_fp8.h"
#include "kernels/attention/attention_cuda_wgmma_plan.h"

#ifndef CUDA_HOST_LAYER /* which has no tensor maps */
#include "kernels/attention/attention_cuda_fp8.h"
#endif

/* ---- Tiles with registers: a large one where it fills the SMs, else a small one ---- */

enum { LARGE_TILE = 1, SMALL_TILE = 2 };

static const char *const tile_params[] = { "tile=0,1,2", nullptr };

static int tile_of(const struct call *call)
{
    return (int)variant_param(call->variant, 0);
}

static struct attention_cuda with_tile(const struct call *call)
{
    struct attention_cuda a = attention_cuda_of(call);

    if (tile_of(call) == LARGE_TILE)
        a.sms = 1;
    else if (tile_of(call) == SMALL_TILE)
        a.sms = INT_MAX / 4;
    return a;
}

/* A large tile has at most 128 queries and takes rows in whole 16 bytes. */
template <class T> static int tile_prepare(struct call *call, struct error *err)
{
    const struct attention_cuda a = with_tile(call);

    if (tile_of(call) != LARGE_TILE || (attention_fills(&a, 128) && attention_wide<T>(&a)))
        return 0;
    error_set(err, "no large tile for %lld queries of %lld elements", (long long)a.seq,
              (long long)a.headdim);
    return CALL_UNSUPPORTED;
}

template <attention_cuda_fn *ATTENTION> static void tile_launch(const struct call *call)
{
    const struct attention_cuda a = with_tile(call);

    ATTENTION(&a, device_cuda_stream(call->device));
}

/* ---- Decode: pieces of the cache ---- */

static const char *const piece_params[] = { "pieces=0,1,2,3", nullptr };

/* As many SMs as lead to so many pieces, or to the next below. */
static struct attention_cuda_decode with_pieces(const struct call *call)
{
    struct attention_cuda_decode a = attention_cuda_decode_of(call);
    int64_t heads = a.batch * a.heads, pieces = variant_param(call->variant, 0);

    if (pieces > 0)
        a.sms = (int)cuda_pieces<int64_t>(pieces * heads, ATTENTION_DECODE_BLOCKS);
    return a;
}

static int pieces_prepare(struct call *call, struct error *err)
{
    const struct attention_cuda_decode a = with_pieces(call);
    int64_t asked = variant_param(call->variant, 0);

    if (asked > 0 && attention_split_of(a.length, a.batch * a.heads, a.sms).pieces != asked) {
        error_set(err, "%lld positions are not cut into %lld pieces", (long long)a.length,
                  (long long)asked);
        return CALL_UNSUPPORTED;
    }
    return attention_cuda_take_workspace(
        call, attention_cuda_decode_workspace(a.batch, a.heads, a.headdim, a.length, a.sms), err);
}

template <attention_cuda_decode_fn *DECODE> static void pieces_launch(const struct call *call)
{
    const struct attention_cuda_decode a = with_pieces(call);

    DECODE(&a, device_cuda_stream(call->device));
}

static constexpr struct variant forced(const char *name, const struct kernel *kernel,
                                       const char *const *params,
                                       int (*ready)(struct call *, struct error *),
                                       void (*launch)(const struct call *))
{
    struct variant v = {};

    v.name = name, v.kernel = kernel;
    v.params = params;
    v.prepare = ready, v.launch = launch;
    return v;
}

/* ---- wgmma: a tiling, and whether tiles are dealt by a queue ---- */

#ifndef CUDA_HOST_LAYER
/* SQUARE, LONG, TALL, NARROW, SHORT; dealt in turns, by a queue. */
static const char *const wgmma_params[] = { "tiling=0,1,2,3,4,5", "queue=0,1,2", nullptr };

/* As many SMs as lead to what `wanted` says of a plan; false: none do. */
template <class WANTED>
static bool sms_found(struct attention_cuda *a,
                      attention_plan (*plan_of)(int64_t, bool, int64_t, int64_t, int),
                      const WANTED &wanted)
{
    for (a->sms = 1; a->sms < INT_MAX / 4; a->sms += a->sms / 8 + 1)
        if (wanted(plan_of(a->headdim, a->causal, a->batch * a->heads, a->seq, a->sms)))
            return true;
    return false;
}

static bool wgmma_found(struct attention_cuda *a, int64_t tiling, int64_t queue)
{
    return sms_found(a, attention_plan_of, [=](const attention_plan &p) {
        return p.tiling == tiling - 1 && p.queue == (queue == 2);
    });
}

/* The plan has both by the SMs that there are, or neither: a race pays most for telling apart what
 * is the same. */
static bool wgmma_has(struct attention_cuda *a, int64_t tiling, int64_t queue)
{
    if (tiling == 0 || queue == 0)
        return tiling == queue;
    return wgmma_found(a, tiling, queue);
}

static int wgmma_prepare(struct call *call, struct error *err)
{
    struct attention_cuda a = attention_cuda_of(call);
    int64_t tiling = variant_param(call->variant, 0), queue = variant_param(call->variant, 1);

    if (wgmma_has(&a, tiling, queue))
        return attention_cuda_take_workspace(call, attention_cuda_workspace(), err);
    error_set(err, "this case has no tiling %lld with tiles dealt in way %lld", (long long)tiling,
              (long long)queue);
    return CALL_UNSUPPORTED;
}

static void wgmma_launch(const struct call *call)
{
    struct attention_cuda a = attention_cuda_of(call);

    wgmma_has(&a, variant_param(call->variant, 0), variant_param(call->variant, 1));
    attention_prefill_cuda_wgmma_bf16(&a, device_cuda_stream(call->device));
}

/* Of e4m3: a tiling for each number of columns, so that only the queue is to be forced, and that
 * under a mask alone. */
static const char *const fp8_params[] = { "queue=0,1,2", nullptr };

static bool fp8_found(struct attention_cuda *a, int64_t queue)
{
    return queue == 0 || sms_found(a, attention_fp8_plan_of, [=](const attention_plan &p) {
               return p.queue == (queue == 2);
           });
}

static int fp8_prepare(struct call *call, struct error *err)
{
    struct attention_cuda a = attention_cuda_of(call);
    int64_t queue = variant_param(call->variant, 0);

    if (fp8_found(&a, queue))
        return attention_cuda_take_workspace(
            call, attention_fp8_places_of(a.batch, a.seq, a.heads, a.headdim).all, err);
    error_set(err, "this case has no tiles dealt in way %lld", (long long)queue);
    return CALL_UNSUPPORTED;
}

static void fp8_launch(const struct call *call)
{
    struct attention_cuda a = attention_cuda_of(call);

    fp8_found(&a, variant_param(call->variant, 0));
    attention_prefill_cuda_wgmma_fp8(&a, device_cuda_stream(call->device));
}
#endif

#define PREFILL(of)                                                                                \
    forced("cuda_flash", &(of), tile_params, tile_prepare<float>,                                  \
           tile_launch<attention_prefill_cuda_flash>),                                             \
        forced("cuda_flash_bf16", &(of), tile_params, tile_prepare<bf16>,                          \
               tile_launch<attention_prefill_cuda_flash_bf16>),

extern "C" const struct variant attention_cuda_forced[];
const struct variant attention_cuda_forced[] = {
    PREFILL(attention_causal_kernel) PREFILL(attention_full_kernel)
#ifndef CUDA_HOST_LAYER
        forced("cuda_wgmma_bf16", &attention_causal_kernel, wgmma_params, wgmma_prepare,
               wgmma_launch),
    forced("cuda_wgmma_bf16", &attention_full_kernel, wgmma_params, wgmma_prepare, wgmma_launch),
    forced("cuda_wgmma_fp8", &attention_causal_kernel, fp8_params, fp8_prepare, fp8_launch),
#endif
    forced("cuda_decode", &attention_decode_kernel, piece_params, pieces_prepare,
           pieces_launch<attention_decode_cuda>),
    forced("cuda_decode_bf16", &attention_decode_kernel, piece_params, pieces_prepare,
           pieces_launch<attention_decode_cuda_bf16>),
    {},
};
