/* SPDX-License-Identifier: MIT */
#include "kernels/gemm/gemm_blas.h"

#include "kernels/gemm/gemm_call.h"
#include "kernels/pointwise/pointwise.h"

#include <limits.h>
#include <string.h>

/* What is around the product is done by one thread: a team's threads, which wait for more work for
 * a while, take processors from those of the library. With all of two threads linear and
 * linear_gelu of 256x1024x256 took 1.19 times as long, of 64x1024x256 twice as long, of 1024 rows
 * as long (OpenBLAS 0.3.21, Zen 5). */

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

void gemm_blas_linear(const struct gemm_linear *g, gemm_blas_fn *product, const void *library)
{
    const float *start = g->activation == GEMM_IDENTITY ? g->residual : NULL;
    bool filled = start != NULL || g->bias != NULL;
    struct gemm_blas p = { .m = g->m,
                           .n = g->n,
                           .k = g->k,
                           .a = g->x,
                           .lda = g->ldx,
                           .b = g->w,
                           .ldb = g->k,
                           .transposed = true,
                           .beta = filled ? 1 : 0,
                           .c = g->y,
                           .ldc = g->ldy,
                           .threads = g->threads };

    if (filled)
        fill(g, start);
    product(library, &p);
    if (g->activation != GEMM_IDENTITY)
        activate(g);
}

void gemm_blas_nn(const struct gemm_nn *g, gemm_blas_fn *product, const void *library)
{
    struct gemm_blas p = { .m = g->m,
                           .n = g->n,
                           .k = g->k,
                           .a = g->a,
                           .lda = g->lda,
                           .b = g->b,
                           .ldb = g->ldb,
                           .c = g->c,
                           .ldc = g->ldc,
                           .threads = g->threads };

    product(library, &p);
}

void gemm_blas_launch(const struct call *call, gemm_blas_fn *product, const void *library)
{
    if (call->kernel == &gemm_nn_kernel) {
        struct gemm_nn g = gemm_nn_of(call);
        gemm_blas_nn(&g, product, library);
    } else {
        struct gemm_linear g = gemm_linear_of(call);
        gemm_blas_linear(&g, product, library);
    }
}

bool gemm_blas_countable(const struct kernel *k, const struct shape *s, const char *library,
                         struct error *why)
{
    for (int i = 0; i < kernel_nr_dims(k); i++)
        if (s->dim[i] > INT_MAX)
            return error_set(why, "%s=%lld is beyond %s's integers", k->dims[i],
                             (long long)s->dim[i], library) == 0;
    if (s->dim[0] * s->dim[1] > INT_MAX)
        return error_set(why, "batch x seq is beyond %s's integers", library) == 0;
    return true;
}
