/* SPDX-License-Identifier: MIT */
/*
 * Token and position embedding on a CUDA device, for the variants and for the GPT models: .cu
 * files only. Enqueues on the stream; errors show in cudaGetLastError().
 */
#ifndef HARNESS_KERNELS_EMBEDDING_EMBEDDING_CUDA_H
#define HARNESS_KERNELS_EMBEDDING_EMBEDDING_CUDA_H

#include "device/device_cuda.h"

extern "C" {
#include "kernels/embedding/embedding.h"
}

struct embedding_cuda {
    int64_t batch, seq, width;
    const int32_t *tokens; /* [batch, seq] */
    const void *wte;       /* [vocab, width] */
    const void *wpe;       /* [positions, width] */
    int64_t first;         /* position of the first token */
    void *out;             /* [batch * seq, width] */
    enum dtype dtype;      /* of wte and wpe */
    enum dtype stream;     /* of out: dtype, or float */
};

void embedding_rows_cuda(const struct embedding_cuda *e, cudaStream_t stream);

#endif
