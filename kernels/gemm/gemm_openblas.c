/* SPDX-License-Identifier: MIT */
/*
 * OpenBLAS's sgemm, for reference. Bias and residual go into y first and the product is added
 * (beta = 1); an activation is a pass of its own afterwards, as BLAS has no epilogue. All of that
 * is timed.
 */
#include "kernels/gemm/gemm_call.h"
#include "kernels/host.h"
#include "kernels/pointwise/pointwise.h"

#include <cblas.h>
#include <limits.h>
#include <string.h>

static void use_threads(int threads)
{
    if (openblas_get_num_threads() != threads)
        openblas_set_num_threads(threads);
}

/* y = bias + what `start` holds (either may be NULL). */
static void fill(const struct gemm_linear *g, const float *start)
{
    for (int64_t i = 0; i < g->m; i++) {
        float *y = g->y + i * g->ldy;
        if (start == NULL) {
            memcpy(y, g->bias, (size_t)g->n * sizeof(*y));
            continue;
        }
        for (int64_t j = 0; j < g->n; j++)
            y[j] = start[i * g->ldr + j] + (g->bias != NULL ? g->bias[j] : 0);
    }
}

static void activate(const struct gemm_linear *g)
{
    for (int64_t i = 0; i < g->m; i++) {
        struct pointwise p = { .op = POINTWISE_GELU,
                               .rows = 1,
                               .width = g->n,
                               .x = g->y + i * g->ldy,
                               .y = g->y + i * g->ldy,
                               .threads = 1 };
        pointwise_rows_simd(&p);
        if (g->residual != NULL) {
            p.op = POINTWISE_RESIDUAL;
            p.operand = g->residual + i * g->ldr;
            pointwise_rows_simd(&p);
        }
    }
}

void gemm_linear_openblas(const struct gemm_linear *g)
{
    const float *start = g->activation == GEMM_IDENTITY ? g->residual : NULL;
    bool filled = start != NULL || g->bias != NULL;

    use_threads(g->threads);
    if (filled)
        fill(g, start);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)g->m, (blasint)g->n,
                (blasint)g->k, 1.0f, g->x, (blasint)g->ldx, g->w, (blasint)g->k,
                filled ? 1.0f : 0.0f, g->y, (blasint)g->ldy);
    if (g->activation != GEMM_IDENTITY)
        activate(g);
}

void gemm_nn_openblas(const struct gemm_nn *g)
{
    use_threads(g->threads);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)g->m, (blasint)g->n,
                (blasint)g->k, 1.0f, g->a, (blasint)g->lda, g->b, (blasint)g->ldb, 0.0f, g->c,
                (blasint)g->ldc);
}

/* The library keeps its threads for the whole process: set outside the timed part. */
static int prepare(struct call *call, struct error *err)
{
    (void)err;
    use_threads(host_threads(call));
    return 0;
}

/* BLAS counts in blasint, an int of 32 bits in the usual build. */
static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    (void)d;
    for (int i = 0; i < kernel_nr_dims(k); i++)
        if (s->dim[i] > INT_MAX)
            return error_set(why, "%s=%lld is beyond OpenBLAS's integers", k->dims[i],
                             (long long)s->dim[i]) == 0;
    if (s->dim[0] * s->dim[1] > INT_MAX)
        return error_set(why, "batch x seq is beyond OpenBLAS's integers") == 0;
    return true;
}

static void linear_launch(const struct call *call)
{
    struct gemm_linear g = gemm_linear_of(call);

    gemm_linear_openblas(&g);
}

static void nn_launch(const struct call *call)
{
    struct gemm_nn g = gemm_nn_of(call);

    gemm_nn_openblas(&g);
}

#define LINEAR(of)                                                                                 \
    {                                                                                              \
        .name = "openblas",                                                                        \
        .summary = "cblas_sgemm onto the bias; the vendor reference",                              \
        .kernel = &(of),                                                                           \
        .device = DEVICE_CPU,                                                                      \
        .dtype = DTYPE_FP32,                                                                       \
        .math = MATH_FP32,                                                                         \
        .flags = VARIANT_VENDOR,                                                                   \
        .supports = supports,                                                                      \
        .prepare = prepare,                                                                        \
        .launch = linear_launch,                                                                   \
    },

const struct variant gemm_openblas[] = {
    GEMM_LINEAR_KERNELS(LINEAR) /* and gemm/nn */
    {
        .name = "openblas",
        .summary = "cblas_sgemm; the vendor reference",
        .kernel = &gemm_nn_kernel,
        .device = DEVICE_CPU,
        .dtype = DTYPE_FP32,
        .math = MATH_FP32,
        .flags = VARIANT_VENDOR,
        .supports = supports,
        .prepare = prepare,
        .launch = nn_launch,
    },
    { .name = NULL },
};
