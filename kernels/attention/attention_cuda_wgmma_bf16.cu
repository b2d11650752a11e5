/* SPDX-License-Identifier: MIT */
/*
 * Attention for Hopper, bf16 in and out, by the tilings of attention_cuda_wgmma_plan.h:
 *
 *     headdim                      queries x keys   registers a thread: O + S + P   shared memory
 *       128, causal, very few tiles   64 x 128      64 + 64 + 32 of 232             144 KiB
 *       128, causal, few tiles       128 x 128      64 + 64 + 32 of 232             160 KiB
 *       128, causal                  128 x 176      64 + 88 + 44 of 232             208 KiB
 *       128, full                    128 x 176      64 + 88 + 44 of 232             208 KiB
 *       128, full, many tiles        192 x 80       64 + 40 + 20 of 160             168 KiB
 *       64                           192 x 128      32 + 64 + 32 of 160              88 KiB
 */
#include "kernels/attention/attention_cuda_call.h"
#include "kernels/attention/attention_cuda_wgmma.h"

template <int D, bool CAUSAL, attention_wgmma_knobs KNOBS>
static void launch(const struct attention_cuda *a, const attention_plan &p, cudaStream_t stream)
{
    attention_wgmma_launch<attention_wgmma_tiling<D, CAUSAL, KNOBS>>(a, p, (unsigned)a->sms,
                                                                     stream);
}

void attention_prefill_cuda_wgmma_bf16(const struct attention_cuda *a, cudaStream_t stream)
{
    const attention_plan p =
        attention_plan_of(a->headdim, a->causal, a->batch * a->heads, a->seq, a->sms);

    if (p.tiling == SQUARE)
        launch<128, true, ATTENTION_SQUARE>(a, p, stream);
    else if (p.tiling == SHORT)
        launch<128, true, ATTENTION_SHORT>(a, p, stream);
    else if (p.tiling == LONG && a->causal)
        launch<128, true, ATTENTION_LONG>(a, p, stream);
    else if (p.tiling == LONG)
        launch<128, false, ATTENTION_LONG>(a, p, stream);
    else if (p.tiling == TALL)
        launch<128, false, ATTENTION_TALL>(a, p, stream);
    else if (a->causal)
        launch<64, true, ATTENTION_NARROW>(a, p, stream);
    else
        launch<64, false, ATTENTION_NARROW>(a, p, stream);
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    const cudaDeviceProp *p = device_cuda_properties(d);

    if (p->major != 9 || p->minor != 0) {
        error_set(why, "compute capability %d.%d: wgmma is of 9.0 alone", p->major, p->minor);
        return false;
    }
    if (s->dim[3] != 64 && s->dim[3] != 128) {
        error_set(why, "headdim is %lld; tiles are of 64 or 128 columns", (long long)s->dim[3]);
        return false;
    }
    return attention_cuda_counts(k, s, d, why);
}

static int prepare(struct call *call, struct error *err)
{
    return attention_cuda_take_workspace(call, attention_cuda_workspace(), err);
}

static constexpr struct variant variant_of(const struct kernel *kernel)
{
    struct variant v = attention_cuda_variant(
        "cuda_wgmma_bf16",
        "wgmma fed by bulk copies, softmax under the products; limit: matrix units, at headdim 64 "
        "exponentials",
        kernel, DTYPE_BF16, attention_cuda_launch<attention_prefill_cuda_wgmma_bf16>);

    v.supports = supports;
    v.prepare = prepare;
    v.release = attention_cuda_release;
    return v;
}

extern "C" const struct variant attention_cuda_wgmma_bf16[];
const struct variant attention_cuda_wgmma_bf16[] = {
    variant_of(&attention_causal_kernel),
    variant_of(&attention_full_kernel),
    {},
};
