/* SPDX-License-Identifier: MIT */
/*
 * The tiles and slices of K of the CUDA products as parameters, for `harness verify
 * --all-settings`: each of them computes what the variant's own plan chooses it for elsewhere. A
 * tile or number of slices that a product cannot have is UNSUPPORTED, not another one in silence.
 * With 0 the plan chooses, so that `harness tune` holds it against all others.
 *
 * No variant's code is in this file, and no variant needs it: what a device has verified stays so.
 */
#include "kernels/gemm/gemm_cuda_launch.h"
#include "kernels/gemm/gemm_cuda_mma.h"
#include "kernels/gemm/gemm_cuda_simt.h"
#include "kernels/gemm/gemm_cuda_wgmma_choice.h"

/* In this order; tiles are rows of the variant's table, from 1. */
enum { TILE, SPLIT };

static const char *const simt_params[] = { "tile=0,1,2,3", "split=0,1,2,3,8", nullptr };
static const char *const mma_params[] = { "tile=0,1,2,3,4", "split=0,1,2,3,8", nullptr };

static void force(struct gemm_cuda *g, const struct call *call)
{
    g->tile = (int)variant_param(call->variant, TILE);
    g->split = (int)variant_param(call->variant, SPLIT);
}

/* 0 where `plan` has what was asked for. */
static int was_forced(const struct gemm_cuda *g, int tile, int split, struct error *err)
{
    if ((g->tile == 0 || g->tile == tile) && (g->split == 0 || g->split == split))
        return 0;
    error_set(err, "this product cannot have tile %d in %d slices", g->tile, g->split);
    return CALL_UNSUPPORTED;
}

/* ---- Variants with a table and slices ---- */

static struct gemm_cuda_plan simt_plan(const struct gemm_cuda *g, bool nn)
{
    bool wide = !nn || (cuda_aligned(static_cast<const float *>(g->w), g->ldw, 4) && g->n % 4 == 0);

    return gemm_cuda_plan_of(g, gemm_cuda_simt_tiles, GEMM_SIMT_TILES, wide);
}

template <class T> static struct gemm_cuda_plan mma_plan(const struct gemm_cuda *g, bool)
{
    return gemm_cuda_plan_of(g, mma_shapes<T>, GEMM_CUDA_TILES, gemm_cuda_wide<T>(g, g->k));
}

typedef struct gemm_cuda_plan plan_fn(const struct gemm_cuda *g, bool nn);

template <plan_fn *PLAN> static int prepare(struct call *call, struct error *err)
{
    bool nn = call->kernel == &gemm_nn_kernel;
    int rc = gemm_cuda_prepare(call, err);

    if (rc)
        return rc;
    struct gemm_cuda g = nn ? gemm_cuda_nn_of(call) : gemm_cuda_of(call);
    force(&g, call);
    const struct gemm_cuda_plan p = PLAN(&g, nn);
    if (!nn && g.m <= GEMM_SMALL_ROWS) /* which has one tile, and none in the table */
        rc = was_forced(&g, -1, -1, err);
    else
        rc = was_forced(&g, p.tile + 1, p.split, err);
    if (rc)
        gemm_cuda_release(call);
    return rc;
}

template <gemm_cuda_fn *GEMM> static void linear_launch(const struct call *call)
{
    struct gemm_cuda g = gemm_cuda_of(call);

    force(&g, call);
    GEMM(&g, device_cuda_stream(call->device));
}

static void nn_launch(const struct call *call)
{
    struct gemm_cuda g = gemm_cuda_nn_of(call);

    force(&g, call);
    gemm_nn_cuda_simt(&g, device_cuda_stream(call->device));
}

static constexpr struct variant forced(const char *name, const struct kernel *kernel,
                                       const char *const *params,
                                       int (*ready)(struct call *, struct error *),
                                       void (*launch)(const struct call *))
{
    struct variant v = {};

    v.name = name, v.kernel = kernel;
    v.params = params;
    v.prepare = ready, v.launch = launch;
    return v;
}

#define SIMT(of)                                                                                   \
    forced("cuda_simt", &(of), simt_params, prepare<simt_plan>,                                    \
           linear_launch<gemm_linear_cuda_simt>),
#define TF32(of)                                                                                   \
    forced("cuda_tf32", &(of), mma_params, prepare<mma_plan<float>>,                               \
           linear_launch<gemm_linear_cuda_tf32>),
#define BF16(of)                                                                                   \
    forced("cuda_bf16", &(of), mma_params, prepare<mma_plan<bf16>>,                                \
           linear_launch<gemm_linear_cuda_bf16>),

/* ---- wgmma: tiles alone ---- */

#ifdef CUDA_HOST_LAYER
#define WGMMA_BF16(of)
#define WGMMA_TF32(of)
#else
static const char *const wgmma_params[] = { "tile=0,1,2,3,4,5,6,7,8", nullptr };

static struct gemm_cuda wgmma_of(const struct call *call)
{
    struct gemm_cuda g = gemm_cuda_of(call);

    g.early = true;
    g.tile = (int)variant_param(call->variant, TILE);
    return g;
}

template <int DEPTH> static int wgmma_prepare(struct call *call, struct error *err)
{
    const struct gemm_cuda g = wgmma_of(call);

    return was_forced(&g, wgmma_plan_of(&g, DEPTH).tile + 1, 0, err);
}

template <gemm_cuda_fn *GEMM> static void wgmma_launch(const struct call *call)
{
    const struct gemm_cuda g = wgmma_of(call);

    GEMM(&g, device_cuda_stream(call->device));
}

/* 128 bytes of k, as wgmma_depth has it. */
#define WGMMA_BF16(of)                                                                             \
    forced("cuda_wgmma_bf16", &(of), wgmma_params, wgmma_prepare<64>,                              \
           wgmma_launch<gemm_linear_cuda_wgmma_bf16>),
#define WGMMA_TF32(of)                                                                             \
    forced("cuda_wgmma_tf32", &(of), wgmma_params, wgmma_prepare<32>,                              \
           wgmma_launch<gemm_linear_cuda_wgmma_tf32>),
#endif

extern "C" const struct variant gemm_cuda_forced[];
const struct variant gemm_cuda_forced[] = {
    GEMM_LINEAR_KERNELS(SIMT) GEMM_LINEAR_KERNELS(TF32) GEMM_LINEAR_KERNELS(BF16)
        GEMM_LINEAR_KERNELS(WGMMA_BF16) GEMM_LINEAR_KERNELS(WGMMA_TF32)
            forced("cuda_simt", &gemm_nn_kernel, simt_params, prepare<simt_plan>, nn_launch),
    {},
};
