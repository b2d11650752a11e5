/* SPDX-License-Identifier: MIT */
/* Packs the weights of a GPT once into the order in which the blocks of gpt_cuda_cluster.h read
 * them (gpt_cluster_layout.h). For .cu files. */
#ifndef HARNESS_MODELS_GPT_CUDA_CLUSTER_PACK_H
#define HARNESS_MODELS_GPT_CUDA_CLUSTER_PACK_H

#include "models/gpt_cuda_cluster.h"

/* The matrices of the first layer, bf16, as models/gpt_weights.h has them. */
struct gpt_cluster_sources {
    const bf16 *qkv, *qkv_bias, *proj, *fc, *fc_bias, *fc_proj;
    int64_t stride; /* elements of a layer */
    unsigned char *packed;
};

/* rows x `pitch` elements: at(row, col) of `cols` columns, then zeros, each where place(row, col)
 * says. */
template <class F, class G>
__device__ __forceinline__ void gpt_cluster_pack(unsigned char *to, int rows, int cols, int pitch,
                                                 const F &at, const G &place)
{
    bf16 *out = reinterpret_cast<bf16 *>(to);

    for (int i = (int)threadIdx.x; i < rows * pitch; i += (int)blockDim.x)
        out[place(i / pitch, i % pitch)] = i % pitch < cols ? at(i / pitch, i % pitch) : bf16 { 0 };
}

/* A block of threads for each block of each layer. */
template <class P>
__global__ void __launch_bounds__(GPT_CLUSTER_THREADS)
    gpt_cluster_pack_kernel(const struct gpt_cluster_sources f)
{
    int layer = (int)blockIdx.x / P::blocks, rank = (int)blockIdx.x % P::blocks;
    int64_t l = layer * f.stride;
    int which = rank / P::parts, t = (int)threadIdx.x;
    unsigned char *to = f.packed + P::section_at(layer, rank, 0);
    auto qkv = [&](int i) { return i / P::head * P::width + which * P::head + i % P::head; };
    bool has = which < P::heads;
    constexpr int row = P::wgmma ? P::width : P::row, chunk_row = P::wgmma ? 64 : P::chunk_row;

    gpt_cluster_pack(
        to, P::qkv, P::width, row,
        [&](int i, int k) { return has ? f.qkv[l + (int64_t)qkv(i) * P::width + k] : bf16 { 0 }; },
        [](int i, int k) { return P::wide_at(P::qkv, i, k); });
    gpt_cluster_pack(
        to + P::at_proj, P::width, P::head, P::head_row,
        [&](int i, int k) {
            return has ? f.proj[l + (int64_t)i * P::width + which * P::head + k] : bf16 { 0 };
        },
        [](int i, int k) { return i * P::head_row + k; });
    if (t < P::qkv)
        reinterpret_cast<float *>(to + P::at_qkv_bias)[t] =
            has ? cuda_float(f.qkv_bias[l + qkv(t)]) : 0.0f;
    for (int chunk = 0; chunk < P::chunks; chunk++) {
        to = f.packed + P::section_at(layer, rank, 1 + chunk);
        int first = rank * P::hidden + chunk * P::chunk, nr = P::hidden - chunk * P::chunk;
        gpt_cluster_pack(
            to, P::chunk, P::width, row,
            [&](int i, int k) {
                return i < nr ? f.fc[l + (int64_t)(first + i) * P::width + k] : bf16 { 0 };
            },
            [](int i, int k) { return P::wide_at(P::chunk, i, k); });
        gpt_cluster_pack(
            to + P::at_fc_proj, P::width, P::chunk, chunk_row,
            [&](int i, int k) {
                return k < nr ? f.fc_proj[l + (int64_t)i * 4 * P::width + first + k] : bf16 { 0 };
            },
            [](int i, int k) { return P::chunk_at(i, k); });
        if (t < P::chunk)
            reinterpret_cast<float *>(to + P::at_fc_bias)[t] =
                t < nr ? cuda_float(f.fc_bias[l + first + t]) : 0.0f;
    }
}

#endif
