/* SPDX-License-Identifier: MIT */
/*
 * Attention for Hopper with products of e4m3: bf16 in and out, rounded to bytes with a factor for
 * each head of each sequence by two kernels in front (attention_cuda_fp8.h), which are timed with
 * it.
 *
 *     headdim   queries x keys   registers a thread: O + S + P   shared memory
 *       128       128 x 128      64 + 64 + 16 of 232             144 KiB, four stages
 *        64       192 x 128      32 + 64 + 16 of 160              88 KiB, four stages
 *
 * Limit: instructions. The units multiply bytes twice as fast, so the products of 128 x 128 take
 * 1024 clocks, as long as the exponentials; but a warp has 1070 instructions for its 16 x 128
 * scores (counted from the machine code; bf16: 1005), and a scheduler two warps: 2140 clocks. That
 * is 900 TFLOP/s at 1.75 GHz if every clock had one. Fewer of them is what would make it faster.
 *
 * Of 64 columns it is 900 for 16 x 128 (bf16: 820), 2700 clocks for 192 x 128, whose products take
 * 770 and whose exponentials 1540: 536 TFLOP/s. Half the products do not make it faster there than
 * bf16, which has fewer instructions and nothing to round.
 */
#include "kernels/attention/attention_cuda_call.h"
#include "kernels/attention/attention_cuda_fp8_round.h"
#include "kernels/attention/attention_cuda_wgmma.h"
#include "kernels/attention/attention_cuda_wgmma_fp8.h"

template <int D, attention_wgmma_knobs KNOBS, bool CAUSAL>
static void launch_masked(const struct attention_cuda *a, cudaStream_t stream)
{
    typedef attention_fp8_tiling<D, CAUSAL, KNOBS> tiling;
    const attention_plan p = attention_fp8_plan_of(D, CAUSAL, a->batch * a->heads, a->seq, a->sms);

    static_assert(tiling::ROWS == attention_fp8_tile_rows(D), "what the plan counts");
    attention_wgmma_launch<tiling>(a, p, (unsigned)a->sms, stream);
}

template <int D, attention_wgmma_knobs KNOBS>
static void launch(const struct attention_cuda *a, cudaStream_t stream)
{
    if (a->causal)
        launch_masked<D, KNOBS, true>(a, stream);
    else
        launch_masked<D, KNOBS, false>(a, stream);
}

void attention_prefill_cuda_wgmma_fp8(const struct attention_cuda *a, cudaStream_t stream)
{
    attention_fp8_round_all(a, stream);
    if (a->headdim == 64)
        launch<64, ATTENTION_BYTES_NARROW>(a, stream);
    else
        launch<128, ATTENTION_BYTES>(a, stream);
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
    const int64_t *dim = call->shape.dim;

    return attention_cuda_take_workspace(
        call, attention_fp8_places_of(dim[0], dim[1], dim[2], dim[3]).all, err);
}

static constexpr struct variant variant_of(const struct kernel *kernel)
{
    struct variant v = attention_cuda_variant(
        "cuda_wgmma_fp8",
        "wgmma of e4m3, rounded with a factor a head by two "
        "kernels in front that are timed with it; "
        "limit: instructions of the softmax",
        kernel, DTYPE_BF16, attention_cuda_launch<attention_prefill_cuda_wgmma_fp8>);

    v.math = MATH_FP8;
    v.supports = supports;
    v.prepare = prepare;
    v.release = attention_cuda_release;
    return v;
}

extern "C" const struct variant attention_cuda_wgmma_fp8[];
const struct variant attention_cuda_wgmma_fp8[] = {
    variant_of(&attention_causal_kernel),
    variant_of(&attention_full_kernel),
    {},
};
