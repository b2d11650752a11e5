/* SPDX-License-Identifier: MIT */
/* OpenBLAS's sgemm, for reference, opened at run time; gemm_blas.h says what surrounds it. */
#include "kernels/gemm/gemm_blas.h"
#include "kernels/host.h"
#include "kernels/openblas.h"
#include "kernels/simd.h"

static void product(const void *library, const struct gemm_blas *p)
{
    (void)library;
    openblas_use_threads(p->threads);
    openblas()->sgemm(CblasRowMajor, CblasNoTrans, p->transposed ? CblasTrans : CblasNoTrans,
                      (blasint)p->m, (blasint)p->n, (blasint)p->k, 1.0f, p->a, (blasint)p->lda,
                      p->b, (blasint)p->ldb, p->beta, p->c, (blasint)p->ldc);
}

void gemm_linear_openblas(const struct gemm_linear *g)
{
    gemm_blas_linear(g, product, NULL);
}

void gemm_nn_openblas(const struct gemm_nn *g)
{
    gemm_blas_nn(g, product, NULL);
}

/* The library keeps its threads for the whole process: set outside the timed part. */
static int prepare(struct call *call, struct error *err)
{
    return openblas_ready(host_threads(call), err);
}

/* BLAS counts in blasint, an int of 32 bits in the usual build. */
static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    return simd_supports(k, s, d, why) && gemm_blas_countable(k, s, "OpenBLAS", why) &&
           openblas_ready(d->threads, why) == 0;
}

static void launch(const struct call *call)
{
    gemm_blas_launch(call, product, NULL);
}

#define GEMM_BLAS_NAME    "openblas"
#define GEMM_BLAS_SUMMARY "cblas_sgemm, onto the bias if any; the vendor reference"
#define GEMM_BLAS_FLAGS   VARIANT_VENDOR
#define GEMM_BLAS_RELEASE NULL

const struct variant gemm_openblas[] = { GEMM_BLAS_KERNELS(GEMM_BLAS_ROW) /* then the end mark */
                                         { .name = NULL } };
