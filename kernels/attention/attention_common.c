/* SPDX-License-Identifier: MIT */
#include "kernels/attention/attention_call.h"
#include "kernels/host.h"

/* A row of scores a thread, in whole cache lines. */
static size_t score_row(int64_t positions)
{
    return ((size_t)positions + 15) / 16 * 16;
}

size_t attention_scratch(int64_t seq, int64_t headdim, int threads)
{
    size_t naive = score_row(seq), simd = attention_simd_scratch(seq, headdim);

    return (size_t)threads * (naive > simd ? naive : simd);
}

size_t attention_decode_scratch(int64_t length, int threads)
{
    return (size_t)threads * score_row(length);
}

struct attention attention_of(const struct call *call)
{
    const struct shape *s = &call->shape;
    int64_t width = tensor_cols(&call->tensor[ATTENTION_OUT]);
    const float *qkv = call->tensor[ATTENTION_QKV].data;

    return (struct attention) {
        .batch = s->dim[0],
        .seq = s->dim[1],
        .heads = s->dim[2],
        .headdim = s->dim[3],
        .q = qkv,
        .k = qkv + width,
        .v = qkv + 2 * width,
        .ld = 3 * width,
        .out = call->tensor[ATTENTION_OUT].data,
        .ldo = width,
        .causal = call->kernel == &attention_causal_kernel,
        .scratch = call->state,
        .threads = host_threads(call),
    };
}

struct attention_decode attention_decode_of(const struct call *call)
{
    const struct shape *s = &call->shape;
    int64_t width = tensor_cols(&call->tensor[ATTENTION_DECODE_OUT]);

    return (struct attention_decode) {
        .batch = s->dim[0],
        .length = s->dim[1],
        .heads = s->dim[2],
        .headdim = s->dim[3],
        .q = call->tensor[ATTENTION_DECODE_Q].data,
        .ldq = width,
        .k = call->tensor[ATTENTION_DECODE_K].data,
        .v = call->tensor[ATTENTION_DECODE_V].data,
        .ld = width,
        .ld_sequence = s->dim[1] * width,
        .out = call->tensor[ATTENTION_DECODE_OUT].data,
        .ldo = width,
        .scratch = call->state,
        .threads = host_threads(call),
    };
}

static size_t scratch_of(const struct call *call)
{
    return attention_scratch(call->shape.dim[1], call->shape.dim[3], host_threads(call));
}

int attention_prepare(struct call *call, struct error *err)
{
    return host_state(call, scratch_of(call), err);
}

int64_t attention_workspace(const struct call *call)
{
    return host_bytes(scratch_of(call));
}

int attention_decode_prepare(struct call *call, struct error *err)
{
    return host_state(call, attention_decode_scratch(call->shape.dim[1], host_threads(call)), err);
}
