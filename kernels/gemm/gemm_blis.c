/* SPDX-License-Identifier: MIT */
/*
 * BLIS's sgemm (Van Zee and van de Geijn), a peer: measured only by name, opened at run time.
 *
 * Its file exports sgemm_ and cblas_sgemm as OpenBLAS's does, and calls the one by the other: so it
 * is opened with RTLD_DEEPBIND, to find its own first.
 */
#include "kernels/gemm/gemm_blas.h"
#include "kernels/host.h"
#include "kernels/peer.h"
#include "kernels/simd.h"

#include <dlfcn.h>

/* Of the CBLAS standard. */
enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };

struct blis {
    void (*sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                  const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
    /* Its dim_t and gint_t have 64 bits. */
    void (*set_threads)(int64_t threads);
    int64_t (*has_openmp)(void);
};

static const struct peer_symbol symbols[] = {
    { "cblas_sgemm", offsetof(struct blis, sgemm) },
    { "bli_thread_set_num_threads", offsetof(struct blis, set_threads) },
    { "bli_info_get_enable_openmp", offsetof(struct blis, has_openmp) },
    { NULL, 0 },
};
static const char *const files[] = { "libblis.so.4", "libblis.so", NULL };
static const struct peer peer = { .variable = "HARNESS_BLIS",
                                  .files = files,
                                  .packages = "Debian: libblis4-openmp",
                                  .flags = RTLD_LOCAL | RTLD_DEEPBIND,
                                  .symbols = symbols };

#ifdef __clang__
#define SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Without OpenMP it takes any number and computes with one thread, or with threads that each call
 * starts anew: in a launch all of them are where the caller is bound. */
static bool has_threads(const struct blis *blis, int threads, struct error *why)
{
    if (threads < 2 || blis->has_openmp() != 0)
        return true;
    error_set(why,
              "%d threads are to be measured, and this BLIS has none of OpenMP's; install one that "
              "has (Debian: libblis4-openmp), or give --device cpu:1",
              threads);
    return false;
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    struct blis blis;

    if (SANITIZED)
        return error_set(why, "AddressSanitizer does not allow RTLD_DEEPBIND, which BLIS needs") ==
               0;
    return simd_supports(k, s, d, why) && gemm_blas_countable(k, s, "BLIS", why) &&
           peer_open(&peer, &blis, why) == 0 && has_threads(&blis, d->threads, why);
}

static int prepare(struct call *call, struct error *err)
{
    if (peer_prepare(&peer, sizeof(struct blis), call, err) != 0)
        return -1;
    ((struct blis *)call->state)->set_threads(host_threads(call));
    return 0;
}

static void product(const void *library, const struct gemm_blas *p)
{
    const struct blis *blis = library;

    blis->sgemm(ROW_MAJOR, NO_TRANS, p->transposed ? TRANS : NO_TRANS, (int)p->m, (int)p->n,
                (int)p->k, 1, p->a, (int)p->lda, p->b, (int)p->ldb, p->beta, p->c, (int)p->ldc);
}

static void launch(const struct call *call)
{
    gemm_blas_launch(call, product, call->state);
}

#define GEMM_BLAS_NAME    "blis"
#define GEMM_BLAS_SUMMARY "BLIS's cblas_sgemm, onto the bias if any"
#define GEMM_BLAS_FLAGS   (VARIANT_VENDOR | VARIANT_PEER)
#define GEMM_BLAS_RELEASE host_state_release

const struct variant gemm_blis[] = { GEMM_BLAS_KERNELS(GEMM_BLAS_ROW) /* then the end mark */
                                     { .name = NULL } };
