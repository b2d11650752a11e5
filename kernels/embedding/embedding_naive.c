/* SPDX-License-Identifier: MIT */
/* A token at a time. Limit: the memory latency of a row that lies anywhere in wte. */
#include "kernels/embedding/embedding_call.h"

void embedding_rows_naive(const struct embedding *e)
{
#pragma omp parallel for num_threads(e->threads)
    for (int64_t i = 0; i < e->batch * e->seq; i++) {
        const float *token = e->wte + e->tokens[i] * e->width;
        const float *position = e->wpe + (e->first + i % e->seq) * e->width;
        for (int64_t j = 0; j < e->width; j++)
            e->out[i * e->width + j] = token[j] + position[j];
    }
}

static void launch(const struct call *call)
{
    struct embedding e = embedding_of(call);

    embedding_rows_naive(&e);
}

const struct variant embedding_naive[] = {
    {
        .name = "naive",
        .summary = "a token after the other; limit: memory latency",
        .kernel = &embedding_gpt_kernel,
        .device = DEVICE_CPU,
        .dtype = DTYPE_FP32,
        .math = MATH_FP32,
        .flags = VARIANT_PLAIN,
        .launch = launch,
    },
    { .name = NULL },
};
