/* SPDX-License-Identifier: MIT */
/*
 * The clusters of gpt_cuda_cluster_bf16.cu whose products of all rows are wgmma's: compiled for
 * sm_90a alone. With the time of a layer on an H200, measured on 2026-11-26.
 */
#include "models/gpt_cuda_cluster_wgmma.h"

#include "models/gpt_cuda_cluster_kinds.h"

const struct gpt_cluster_kind gpt_cluster_wgmma_kinds[] = {
    gpt_cluster_row_of<128, 32, 8, 8, GPT_CLUSTER_STORE, true>(7.33),
    gpt_cluster_row_of<128, 32, 16, 8, GPT_CLUSTER_COUNT, true>(6.9),
    gpt_cluster_row_of<192, 32, 16, 8, GPT_CLUSTER_COUNT, true>(8.59),
    gpt_cluster_row_of<256, 32, 8, 8, GPT_CLUSTER_STORE, true>(12.0),
    gpt_cluster_row_of<256, 32, 16, 8, GPT_CLUSTER_STORE, true>(10.28),
    {},
};
