/* SPDX-License-Identifier: MIT */
/* What the device is and what it allows. Under the driver's lock. */
#ifndef CUDA_HOST_DEVICE_H
#define CUDA_HOST_DEVICE_H

#include "cuda_host_api.h"

namespace cuda_host
{

void device_describe(cudaDeviceProp *properties, int device);
/* Most dynamic shared memory that a kernel was allowed. */
size_t device_shared_allowed(const void *kernel);
/* Whether the kernel has been launched with another amount than this, or two others. */
bool device_shared_varies(const void *kernel, size_t bytes);
void device_forget_kernels(void);

} // namespace cuda_host

#endif
