/* SPDX-License-Identifier: MIT */
/* oneDNN's sgemm, a peer: measured only by name, opened at run time. It is row-major by itself. */
#include "kernels/gemm/gemm_blas.h"
#include "kernels/host.h"
#include "kernels/onednn/onednn.h"
#include "kernels/simd.h"

#include <omp.h>
#include <string.h>

struct onednn {
    /* 0, or dnnl_status_t's word for a failure. */
    int (*sgemm)(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha,
                 const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
                 int64_t ldc);
};

static const struct peer_symbol symbols[] = {
    { "dnnl_sgemm", offsetof(struct onednn, sgemm) },
    { NULL, 0 },
};
static const struct peer peer = ONEDNN_PEER(symbols);

/* Its integers have 64 bits: no shape is too large. */
static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    struct onednn onednn;

    return simd_supports(k, s, d, why) && peer_open(&peer, &onednn, why) == 0;
}

/* It takes as many threads as OpenMP would. */
static int prepare(struct call *call, struct error *err)
{
    omp_set_num_threads(host_threads(call));
    return peer_prepare(&peer, sizeof(struct onednn), call, err);
}

/* A failure leaves NaN, as nobody can be told here. */
static void product(const void *library, const struct gemm_blas *p)
{
    const struct onednn *onednn = library;

    if (onednn->sgemm('N', p->transposed ? 'T' : 'N', p->m, p->n, p->k, 1, p->a, p->lda, p->b,
                      p->ldb, p->beta, p->c, p->ldc) != 0)
        for (int64_t i = 0; i < p->m; i++)
            memset(p->c + i * p->ldc, 0xff, (size_t)p->n * sizeof(*p->c));
}

static void launch(const struct call *call)
{
    gemm_blas_launch(call, product, call->state);
}

#define GEMM_BLAS_NAME    "onednn"
#define GEMM_BLAS_SUMMARY "oneDNN's dnnl_sgemm, onto the bias if any"
#define GEMM_BLAS_FLAGS   (VARIANT_VENDOR | VARIANT_PEER)
#define GEMM_BLAS_RELEASE host_state_release

const struct variant gemm_onednn[] = { GEMM_BLAS_KERNELS(GEMM_BLAS_ROW) /* then the end mark */
                                       { .name = NULL } };
