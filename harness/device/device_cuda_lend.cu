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

/* docs/judge-cuda.md has the same, with what it comes to. */
static const struct beyond_reach beyond[] = {
    { "driver_calls",
      "the driver's calls (ioctl on /dev/nvidia*) pass the filter of system calls, and what they "
      "ask for is not seen" },
    { "running_device",
      "a device goes on while the process is stopped: a context of the guest's own, which the wait "
      "at the end of a window does not see, can look at inputs as soon as they are there" },
    { "end_of_window",
      "the wait for the device is made in the guest's process: who takes it away gains the time "
      "until the judge has copied the outputs" },
    { "own_stream",
      "on a device that is idle, work on another stream than the call's is waited for and counted, "
      "but nothing says that it was not ordered behind the call's (cuda:graph of harness verify "
      "does)" },
    { "device_clocks", "where the driver lets every user set clocks or power, so can a guest" },
    { NULL, NULL },
};

/* Which device is number 0, and where its libraries are; CUDA_HOST is of the tests. */
static const char *const environment[] = { "CUDA_VISIBLE_DEVICES=", "CUDA_DEVICE_ORDER=",
                                           "HARNESS_CUBLAS=", "CUDA_HOST", NULL };

static const char *const files[] = { "/dev/nvidia*", NULL };

const struct device_lending cuda_lending = {
    .lend = cuda_lend,
    .borrow = cuda_borrow,
    .wait = cuda_wait,
    .beyond = beyond,
    .environment = environment,
    .files = files,
};
