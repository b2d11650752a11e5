/* SPDX-License-Identifier: MIT */
/* A row of a table of what gpt_cuda_cluster.h is instantiated for. For .cu files only. */
#ifndef HARNESS_MODELS_GPT_CUDA_CLUSTER_KINDS_H
#define HARNESS_MODELS_GPT_CUDA_CLUSTER_KINDS_H

#include "models/gpt_cuda_cluster_pack.h"

struct gpt_cluster_kind {
    int width, head, blocks, warps;
    gpt_cluster_send send;
    bool wgmma;
    double us;          /* a layer, as measured; puts rows of one size in order */
    size_t layer_bytes; /* of packed weights */
    size_t shared;      /* bytes a block */
    void (*pack)(const struct gpt_cluster_sources *f, int layers, cudaStream_t stream);
    void (*launch)(const struct gpt_cluster_body *b, cudaStream_t stream);
    int (*active)(void); /* clusters that the device can run at the same time, as it says */
};

template <class P>
void gpt_cluster_run_pack(const struct gpt_cluster_sources *f, int layers, cudaStream_t stream)
{
    cuda_launch<gpt_cluster_pack_kernel<P>>((unsigned)(layers * P::blocks), GPT_CLUSTER_THREADS, 0,
                                            stream, *f);
}

template <class P> void gpt_cluster_run(const struct gpt_cluster_body *b, cudaStream_t stream)
{
    cuda_launch_options options = {};
    struct gpt_cluster_body body = *b;
    int64_t shares = (int64_t)b->layers * b->sequences * P::blocks;

    body.next_share = cuda_pieces(cuda_pieces(b->next_bytes, shares), (int64_t)16) * 16;
    options.cluster = P::blocks;
    cuda_launch_with<gpt_cluster_kernel<P>>(options, (unsigned)(b->sequences * P::blocks),
                                            GPT_CLUSTER_THREADS, sizeof(gpt_cluster_shared<P>),
                                            stream, body);
}

template <class P> int gpt_cluster_active(void)
{
    int clusters = 1;
#ifndef CUDA_HOST_LAYER
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute size = {};

    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim.x = P::blocks;
    size.val.clusterDim.y = size.val.clusterDim.z = 1;
    config.gridDim = P::blocks;
    config.blockDim = GPT_CLUSTER_THREADS;
    config.dynamicSmemBytes = sizeof(gpt_cluster_shared<P>);
    config.attrs = &size;
    config.numAttrs = 1;
    cuda_allow_shared<gpt_cluster_kernel<P>>(sizeof(gpt_cluster_shared<P>));
    if (P::blocks > 8)
        cuda_allow_cluster<gpt_cluster_kernel<P>>();
    if (cudaOccupancyMaxActiveClusters(&clusters, gpt_cluster_kernel<P>, &config) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
#endif
    return clusters;
}

template <int WIDTH, int HEAD, int BLOCKS, int WARPS, gpt_cluster_send SEND, bool WGMMA = false>
constexpr struct gpt_cluster_kind gpt_cluster_row_of(double us)
{
    using P = gpt_cluster<WIDTH, HEAD, BLOCKS, WARPS, SEND, WGMMA>;

    static_assert(sizeof(gpt_cluster_shared<P>) <= 227 * 1024, "what a block of sm_90 may have");
    return { WIDTH,
             HEAD,
             BLOCKS,
             WARPS,
             SEND,
             WGMMA,
             us,
             P::layer_bytes,
             sizeof(gpt_cluster_shared<P>),
             gpt_cluster_run_pack<P>,
             gpt_cluster_run<P>,
             gpt_cluster_active<P> };
}

/* The tables: by mma.sync (gpt_cuda_cluster_bf16.cu), and by wgmma (gpt_cuda_cluster_wgmma.cu),
 * which a build for the host layer does not have and compute capability 9.0 alone runs. Each ends
 * with an empty row. */
extern const struct gpt_cluster_kind gpt_cluster_mma_kinds[], gpt_cluster_wgmma_kinds[];

inline bool gpt_cluster_is(const struct gpt_cluster_kind *k, int64_t width, int64_t heads)
{
    return k->width == width && heads * k->head == width;
}

#endif
