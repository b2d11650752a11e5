/* SPDX-License-Identifier: MIT */
#include "models/generation/gpt_narrow.h"

#include "kernels/attention/bf16/attention_bf16.h"
#include "kernels/gemm/bf16/gemm_bf16.h"

static void pack(const float *w, int64_t n, int64_t k, float *packed, int threads)
{
    gemm_bf16_pack(w, DTYPE_FP32, n, k, packed, threads);
}

/* Decoding is of keys and values that a prefill has at hand. */
#define NARROW_OPS                                                                                 \
    {                                                                                              \
        .name = "simd_bf16", .team = true, .packed_size = gemm_bf16_packed_size, .pack = pack,     \
        .attention = attention_prefill_simd, .decode = attention_decode_simd,                      \
        .layernorm = layernorm_rows_simd, .embedding = embedding_rows_simd,                        \
    }

const struct gpt_ops gpt_ops_simd_bf16 = NARROW_OPS;
const struct gpt_ops gpt_ops_simd_bf16_fp32 = NARROW_OPS;

bool gpt_is_narrow(const struct gpt_forward *f)
{
    return f->ops == &gpt_ops_simd_bf16 || f->ops == &gpt_ops_simd_bf16_fp32;
}

size_t gpt_narrow_scratch(const struct gpt_forward *f, int64_t rows, int64_t seq)
{
    const struct gpt_config *c = f->config;
    size_t most = attention_decode_bf16_scratch(seq, c->width / c->heads, f->threads);

    for (int64_t k = c->width; k <= 4 * c->width; k += 3 * c->width) {
        size_t product = gemm_bf16_scratch(rows, k, f->threads);
        most = product > most ? product : most;
    }
    return most;
}

void gpt_narrow_linear(const struct gpt_forward *f, const struct gemm_linear *g, bool logits)
{
    const enum dtype type = logits && f->ops == &gpt_ops_simd_bf16 ? DTYPE_BF16 : DTYPE_FP32;
    const int64_t bytes = g->m * g->n * (int64_t)dtype_size(type);

    gemm_bf16_simd(&(struct gemm_bf16) {
        .m = g->m,
        .n = g->n,
        .k = g->k,
        .x_type = DTYPE_FP32,
        .y_type = type,
        .x = g->x,
        .ldx = g->ldx,
        .packed = g->w,
        .bias = g->bias,
        .residual = g->residual,
        .ldr = g->ldr,
        .activation = g->activation,
        .y = g->y,
        .ldy = g->ldy,
        .streaming = logits && bytes > f->stream_bytes,
        .scratch = f->scratch,
        .threads = g->threads,
    });
}

void gpt_narrow_decode(const struct attention_decode *a)
{
    attention_decode_bf16_simd(&(struct attention_decode_bf16) {
        .batch = a->batch,
        .length = a->length,
        .heads = a->heads,
        .headdim = a->headdim,
        .type = DTYPE_FP32,
        .q = a->q,
        .ldq = a->ldq,
        .k = (const void *)a->k,
        .v = (const void *)a->v,
        .ld = a->ld,
        .ld_sequence = a->ld_sequence,
        .out = a->out,
        .ldo = a->ldo,
        .scratch = a->scratch,
        .threads = a->threads,
    });
}

void gpt_narrow_remember(const float *from, int64_t n, void *to)
{
    uint16_t *narrow = to;

    for (int64_t i = 0; i < n; i++)
        narrow[i] = bf16_from_float(from[i]);
}
