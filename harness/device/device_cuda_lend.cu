/* SPDX-License-Identifier: MIT */
/* Memory of a device that a second process works on, and what else a judge asks (devices.h). */
#include "device/device_cuda_base.h"

#if defined(CUDA_HOST_LAYER)
#include "cuda_host_ipc.h"
#endif

static_assert(sizeof(cudaIpcMemHandle_t) <= sizeof(struct device_handle), "it holds CUDA's");

static int cuda_lend(struct device *d, void *memory, struct device_handle *handle,
                     struct error *err)
{
    cudaIpcMemHandle_t own;

    CUDA_DO(d, cudaIpcGetMemHandle(&own, memory), err);
    memcpy(handle->bytes, &own, sizeof(own));
    return 0;
}

static void *cuda_borrow(struct device *d, const struct device_handle *handle, struct error *err)
{
    cudaIpcMemHandle_t own;
    void *memory = NULL;

    memcpy(&own, handle->bytes, sizeof(own));
    if (cuda_failed(d, cudaIpcOpenMemHandle(&memory, own, cudaIpcMemLazyEnablePeerAccess),
                    "cudaIpcOpenMemHandle", __FILE__, __LINE__, err))
        return NULL;
    return memory;
}

static int cuda_wait(struct device *d, struct error *err)
{
    if (cuda_failed(d, cudaGetLastError(), "launch()", __FILE__, __LINE__, err))
        return -1;
    CUDA_DO(d, cudaDeviceSynchronize(), err);
    return 0;
}

static int64_t cuda_cache(const struct device *d)
{
    return cuda_of(d)->properties.l2CacheSize;
}

extern "C" const struct device_lending device_cuda_lending;
const struct device_lending device_cuda_lending = {
    .lend = cuda_lend,
    .borrow = cuda_borrow,
    .wait = cuda_wait,
    .cache = cuda_cache,
};
