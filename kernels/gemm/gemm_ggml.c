/* SPDX-License-Identifier: MIT */
/*
 * ggml's matrix product, llama.cpp's, a peer: measured only by name, opened at run time.
 *
 * A launch computes one graph, made before, on tensors that are the call's own memory: the product
 * in fp32, the bias and the residual added to it, and of bfloat16 a copy to that type. Its threads
 * are those of a pool that lives as long as the call.
 *
 * It multiplies where K is contiguous in both factors, so gemm/nn has no variant. Nor has
 * gemm/linear_gelu: its GELU looks values up in a table of fp16, and misses the tolerance. Nor have
 * weights of q8_0, see docs/decisions/0016-peers.md.
 */
#include "base/memory.h"
#include "host/thread_pinning.h"
#include "kernels/gemm/gemm_call.h"
#include "kernels/ggml/ggml.h"
#include "kernels/host.h"

#include <stdlib.h>
#include <string.h>

enum { TENSORS = 8, NODES = 4, ALIGNED = 32 };

struct graph {
    struct ggml ggml;
    struct ggml_context *context;
    struct ggml_buffer *buffer[TENSORS];
    int nr_buffers;
    struct ggml_pool *pool;
    struct ggml_backend *backend;
    struct ggml_plan *plan;
    float *scratch; /* bfloat16: the product and, behind it, the bias in fp32 */
};

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    struct ggml ggml;

    (void)k, (void)s, (void)d;
    return ggml_open(&ggml, why) == 0;
}

/* Of the scratch, in whole lines. */
static size_t product_floats(const struct call *call)
{
    enum { LINE = 16 };

    return ((size_t)tensor_elements(&call->tensor[GEMM_LINEAR_Y]) + LINE - 1) / LINE * LINE;
}

/* Where a tensor of that many elements lies. */
static int place(struct graph *g, struct ggml_tensor *t, void *memory, int64_t elements,
                 enum dtype dtype, struct error *err)
{
    if ((uintptr_t)memory % ALIGNED != 0)
        return error_set(err, "ggml takes memory at multiples of %d bytes alone", ALIGNED);
    struct ggml_buffer *buffer = g->ggml.buffer(memory, (size_t)elements * dtype_size(dtype));
    g->buffer[g->nr_buffers++] = buffer;
    return g->ggml.place(buffer, t, memory) == 0 ? 0 : error_set(err, "ggml places no tensor");
}

static struct ggml_tensor *matrix_of(struct graph *g, const struct tensor *t, struct error *err)
{
    const int64_t rows = t->rank == 1 ? 1 : tensor_rows(t), cols = tensor_cols(t);
    struct ggml_tensor *made = g->ggml.new_tensor_2d(
        g->context, t->dtype == DTYPE_BF16 ? GGML_BF16 : GGML_FP32, cols, rows);

    return place(g, made, t->data, rows * cols, t->dtype, err) == 0 ? made : NULL;
}

/* Onto the product, which is of fp32. */
static struct ggml_tensor *add(struct graph *g, struct ggml_tensor *to, const struct tensor *t,
                               struct error *err)
{
    struct ggml_tensor *addend = matrix_of(g, t, err);

    if (addend == NULL)
        return NULL;
    struct ggml_tensor *sum = g->ggml.add_inplace(g->context, to, addend);
    g->ggml.view_init(sum);
    return sum;
}

/* x w^T, in the output itself or, where that is of bfloat16, in the scratch. */
static struct ggml_tensor *product_of(struct graph *g, const struct call *call, struct error *err)
{
    const struct tensor *y = &call->tensor[GEMM_LINEAR_Y];
    struct ggml_tensor *w = matrix_of(g, &call->tensor[GEMM_LINEAR_W], err);
    struct ggml_tensor *x = w != NULL ? matrix_of(g, &call->tensor[GEMM_LINEAR_X], err) : NULL;

    if (x == NULL)
        return NULL;
    struct ggml_tensor *product = g->ggml.mul_mat(g->context, w, x);
    void *at = g->scratch != NULL ? g->scratch : y->data;
    return place(g, product, at, tensor_elements(y), DTYPE_FP32, err) == 0 ? product : NULL;
}

/* In fp32, as the product is. */
static struct ggml_tensor *add_bias(struct graph *g, struct ggml_tensor *to,
                                    const struct call *call, struct error *err)
{
    struct tensor bias = call->tensor[GEMM_LINEAR_BIAS];

    if (g->scratch != NULL) {
        float *values = g->scratch + product_floats(call);
        for (int64_t j = 0; j < tensor_elements(&bias); j++)
            values[j] = (float)tensor_get(&bias, j);
        bias.dtype = DTYPE_FP32;
        bias.data = values;
    }
    return add(g, to, &bias, err);
}

/* The last node of a call's graph. */
static struct ggml_tensor *result_of(struct graph *g, const struct call *call, struct error *err)
{
    const struct gemm_epilogue *e = call->kernel->config;
    struct ggml_tensor *t = product_of(g, call, err);

    if (t != NULL && e->bias)
        t = add_bias(g, t, call, err);
    if (t != NULL && e->residual)
        t = add(g, t, &call->tensor[GEMM_LINEAR_RESIDUAL], err);
    if (t == NULL || g->scratch == NULL)
        return t;
    struct ggml_tensor *y = matrix_of(g, &call->tensor[GEMM_LINEAR_Y], err);
    if (y == NULL)
        return NULL;
    t = g->ggml.copy(g->context, t, y);
    g->ggml.view_init(t);
    return t;
}

/* The pool's threads may use all processors that the process may. */
static int start(struct graph *g, int threads, struct error *err)
{
    struct ggml_pool_words words;
    struct pinning_pause pause;

    memset(&words, 0, sizeof(words));
    g->ggml.pool_words(&words, threads);
    pinning_pause(&pause);
    g->backend = g->ggml.backend();
    g->pool = g->ggml.pool_new(&words);
    pinning_resume(&pause);
    if (g->backend == NULL || g->pool == NULL)
        return error_set(err, "ggml starts no %d threads", threads);
    g->ggml.set_threads(g->backend, threads);
    g->ggml.set_pool(g->backend, g->pool);
    return 0;
}

static int describe(struct graph *g, const struct call *call, struct error *err)
{
    const struct ggml *ggml = &g->ggml;
    const struct ggml_memory memory = {
        TENSORS * ggml->tensor_overhead() + ggml->graph_overhead(NODES, false), NULL, true
    };

    g->context = ggml->init(memory);
    if (g->context == NULL)
        return error_set(err, "ggml has no memory for a graph");
    struct ggml_tensor *result = result_of(g, call, err);
    if (result == NULL)
        return -1;
    struct ggml_graph *nodes = ggml->new_graph(g->context, NODES, false);
    ggml->expand(nodes, result);
    g->plan = ggml->plan(g->backend, nodes);
    return g->plan != NULL ? 0 : error_set(err, "ggml has no memory to compute a graph in");
}

/* A product of bf16 in fp32 and its bias; of fp32 there is none. */
static size_t scratch_floats(const struct call *call)
{
    const struct tensor *y = &call->tensor[GEMM_LINEAR_Y];

    return y->dtype == DTYPE_BF16 ? product_floats(call) + (size_t)tensor_cols(y) : 0;
}

static int64_t workspace(const struct call *call)
{
    return host_bytes(scratch_floats(call));
}

static int prepare(struct call *call, struct error *err)
{
    struct graph *g = memory_zeroed(1, sizeof(*g));

    call->state = g;
    if (ggml_open(&g->ggml, err) != 0)
        return -1;
    if (scratch_floats(call) > 0) {
        g->scratch = host_floats(scratch_floats(call), err);
        if (g->scratch == NULL)
            return -1;
    }
    return start(g, host_threads(call), err) == 0 ? describe(g, call, err) : -1;
}

/* A failure leaves NaN, as nobody can be told here. */
static void launch(const struct call *call)
{
    const struct graph *g = call->state;
    const struct tensor *y = &call->tensor[GEMM_LINEAR_Y];

    if (g->ggml.compute(g->backend, g->plan) != 0)
        memset(y->data, 0xff, (size_t)tensor_bytes(y));
}

static void release(struct call *call)
{
    struct graph *g = call->state;

    if (g == NULL)
        return;
    if (g->plan != NULL)
        g->ggml.plan_free(g->backend, g->plan);
    if (g->backend != NULL)
        g->ggml.backend_free(g->backend);
    if (g->pool != NULL)
        g->ggml.pool_free(g->pool);
    for (int i = 0; i < g->nr_buffers; i++)
        g->ggml.buffer_free(g->buffer[i]);
    if (g->context != NULL)
        g->ggml.free(g->context);
    free(g->scratch);
    host_state_release(call);
}

#define ROW(of, label, text, type)                                                                 \
    {                                                                                              \
        .name = (label), .summary = "llama.cpp's ggml_mul_mat" text, .kernel = &(of),              \
        .device = DEVICE_CPU, .dtype = DTYPE_##type, .math = MATH_##type,                          \
        .flags = VARIANT_VENDOR | VARIANT_PEER, .supports = supports, .prepare = prepare,          \
        .launch = launch, .release = release, .workspace = workspace,                              \
    }
#define BF16_TEXT " of bf16 to fp32, then rounded to bf16"

const struct variant gemm_ggml[] = {
    ROW(gemm_nt_kernel, "ggml", "", FP32),
    ROW(gemm_linear_kernel, "ggml", ", then ggml_add", FP32),
    ROW(gemm_linear_residual_kernel, "ggml", ", then ggml_add twice", FP32),
    ROW(gemm_nt_kernel, "ggml_bf16", BF16_TEXT, BF16),
    ROW(gemm_linear_kernel, "ggml_bf16", BF16_TEXT, BF16),
    { .name = NULL },
};
