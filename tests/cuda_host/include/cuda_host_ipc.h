/* SPDX-License-Identifier: MIT */
/* The part of the runtime API by which one process works on another one's memory (ipc.cc). */
#ifndef CUDA_HOST_IPC_H
#define CUDA_HOST_IPC_H

#include "cuda_host_api.h"

struct cudaIpcMemHandle_t {
    char reserved[64];
};

enum { cudaIpcMemLazyEnablePeerAccess = 1 };

extern "C" {
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *memory);
cudaError_t cudaIpcOpenMemHandle(void **memory, cudaIpcMemHandle_t handle, unsigned flags);
}

#endif
