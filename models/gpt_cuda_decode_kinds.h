/* SPDX-License-Identifier: MIT */
/* A row of a table of what gpt_cuda_decode.h is instantiated for, and the packing of its weights.
 * For .cu files only. */
#ifndef HARNESS_MODELS_GPT_CUDA_DECODE_KINDS_H
#define HARNESS_MODELS_GPT_CUDA_DECODE_KINDS_H

#include "models/gpt_cuda_decode.h"

struct gpt_decode_kind {
    int width, head, positions;
    int warps, stages, left_out;
    size_t packed_layer; /* bytes a layer */
    size_t shared;       /* bytes a block */
    void (*pack)(const bf16 *first, int layers, unsigned char *packed, cudaStream_t stream);
    void (*launch)(const struct gpt_decode_body *b, cudaStream_t stream);
    int (*active)(void); /* clusters that the device can run at the same time, as it says */
    int (*busy_units)(int clusters);
};

constexpr int GPT_DECODE_PACK_THREADS = 256;

/* A block for each chunk of each layer: those of proj, [head][rank], then those of fc2. */
template <class P>
__global__ void __launch_bounds__(GPT_DECODE_PACK_THREADS)
    gpt_decode_pack_kernel(const bf16 *first, unsigned char *packed)
{
    constexpr int projs = P::heads * P::blocks, chunks = projs + P::unit_chunks;
    int layer = (int)blockIdx.x / chunks, chunk = (int)blockIdx.x % chunks;
    bool proj = chunk < projs;
    int unit = chunk - projs;
    int64_t at = layer * P::packed_layer +
                 (proj ? chunk * P::proj_chunk : P::proj_layer + (int64_t)unit * P::chunk);
    bf16 *out = reinterpret_cast<bf16 *>(packed + at);
    const bf16 *from = first + layer * P::layer;

    for (int i = (int)threadIdx.x; i < (proj ? P::proj_chunk : P::chunk) / 2;
         i += (int)blockDim.x) {
        int k = i % 8, piece = i / 8;
        if (proj) { /* [warp][2][piece][pair] */
            int pair = piece % 4, of = piece / 4 % P::pieces, odd = piece / 4 / P::pieces % 2;
            int warp = piece / 8 / P::pieces, group = warp * P::blocks + chunk % P::blocks;
            int col = group * 8 + 2 * pair + odd, in = chunk / P::blocks * P::head + 8 * of + k;
            out[i] = group < P::groups ? from[P::at_proj + (int64_t)col * P::width + in] : bf16 {};
        } else { /* [2][pair] */
            int col = piece % (P::width / 2) * 2 + piece / (P::width / 2);
            out[i] = from[P::at_fc2 + (int64_t)col * 4 * P::width + 8 * unit + k];
        }
    }
}

template <class P>
void gpt_decode_pack(const bf16 *first, int layers, unsigned char *packed, cudaStream_t stream)
{
    cuda_launch<gpt_decode_pack_kernel<P>>(
        (unsigned)(layers * (P::heads * P::blocks + P::unit_chunks)), GPT_DECODE_PACK_THREADS, 0,
        stream, first, packed);
}

template <class P> void gpt_decode_run(const struct gpt_decode_body *b, cudaStream_t stream)
{
    cuda_launch_options options = {};

    options.cluster = P::blocks;
    options.cooperative = !b->unasked;
    cuda_launch_with<gpt_decode_kernel<P>>(options, (unsigned)(b->clusters * P::blocks), P::threads,
                                           sizeof(gpt_decode_shared<P>), stream, *b);
}

/* At most GPT_DECODE_SOURCES. On the host layer one more than have a head. */
template <class P> int gpt_decode_active(void)
{
    int clusters = P::heads + 1;
#ifndef CUDA_HOST_LAYER
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute size = {};

    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim.x = P::blocks;
    size.val.clusterDim.y = size.val.clusterDim.z = 1;
    config.gridDim = P::blocks;
    config.blockDim = P::threads;
    config.dynamicSmemBytes = sizeof(gpt_decode_shared<P>);
    config.attrs = &size;
    config.numAttrs = 1;
    cuda_allow_shared<gpt_decode_kernel<P>>(sizeof(gpt_decode_shared<P>));
    if (cudaOccupancyMaxActiveClusters(&clusters, gpt_decode_kernel<P>, &config) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
#endif
    return clusters < GPT_DECODE_SOURCES ? clusters : GPT_DECODE_SOURCES;
}

/* Chunks of hidden units for all blocks with a head: as few as make no other block's more than
 * need be. */
template <class P> int gpt_decode_busy_units(int clusters)
{
    int busy = P::heads * P::blocks, spare = (clusters - P::heads) * P::blocks,
        all = P::unit_chunks;
    int best = all, least = cuda_pieces(all, busy);

    for (int each = least; spare > 0 && each >= 0; each--) {
        int units = each * busy < all ? each * busy : all;
        int other = cuda_pieces(all - units, spare), most = each > other ? each : other;
        if (most <= least)
            best = units, least = most;
    }
    return best;
}

template <int WIDTH, int HEAD, int POSITIONS, int WARPS, int STAGES, int LEFT_OUT = GPT_DECODE_ALL>
constexpr struct gpt_decode_kind gpt_decode_row_of(void)
{
    using P = gpt_decoder<WIDTH, HEAD, POSITIONS, WARPS, STAGES, LEFT_OUT>;

    static_assert(sizeof(gpt_decode_shared<P>) <= 227 * 1024, "what a block of sm_90 may have");
    return { WIDTH,
             HEAD,
             POSITIONS,
             WARPS,
             STAGES,
             LEFT_OUT,
             (size_t)P::packed_layer,
             sizeof(gpt_decode_shared<P>),
             gpt_decode_pack<P>,
             gpt_decode_run<P>,
             gpt_decode_active<P>,
             gpt_decode_busy_units<P> };
}

#endif
