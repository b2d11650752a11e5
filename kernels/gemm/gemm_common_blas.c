/* SPDX-License-Identifier: MIT */
#include "kernels/gemm/gemm_blas.h"

#include "kernels/gemm/gemm_call.h"
#include "kernels/host.h"
#include "kernels/pointwise/pointwise.h"
#include "kernels/team.h"

#include <limits.h>
#include <string.h>

struct filling {
    const struct gemm_linear *g;
    const float *start;
};

static void fill_rows(const void *operation)
{
    const struct filling *f = operation;
    const struct gemm_linear *g = f->g;

#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < g->m; i++) {
        float *y = g->y + i * g->ldy;
        if (f->start == NULL) {
            memcpy(y, g->bias, (size_t)g->n * sizeof(*y));
            continue;
        }
        for (int64_t j = 0; j < g->n; j++)
            y[j] = f->start[i * g->ldr + j] + (g->bias != NULL ? g->bias[j] : 0);
    }
    team_meet();
}

/* y = bias + what `start` holds (either may be NULL). */
static void fill(const struct gemm_linear *g, const float *start)
{
    const struct filling f = { g, start };

    host_share(fill_rows, &f, g->threads, 8.0 * (double)(g->m * g->n));
}

/* All rows at once where they lie side by side. */
static void activate(const struct gemm_linear *g)
{
    bool is_dense = g->ldy == g->n && (g->residual == NULL || g->ldr == g->n);
    int64_t rows = is_dense ? g->m : 1;

    for (int64_t i = 0; i < g->m; i += rows) {
        struct pointwise p = { .op = POINTWISE_GELU,
                               .rows = rows,
                               .width = g->n,
                               .x = g->y + i * g->ldy,
                               .y = g->y + i * g->ldy,
                               .threads = g->threads };
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
