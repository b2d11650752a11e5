/* SPDX-License-Identifier: MIT */
/*
 * What CUDA code needs of its device: for .cu files only.
 *
 * Specs: "cuda" and "cuda:N" launch kernels one by one on a stream; "cuda:graph" and "cuda:N,graph"
 * capture the launches of a sample in a CUDA graph and replay it. docs/measuring/gpu.md says what
 * a sample is.
 */
#ifndef HARNESS_DEVICE_DEVICE_CUDA_H
#define HARNESS_DEVICE_DEVICE_CUDA_H

#include <cuda_runtime.h>

extern "C" {
#include "core/kernel.h"
}

/* The stream on which launch() enqueues; the device times and captures what lies on it, and
 * nothing else. It does not wait for the legacy default stream: what prepare() copies or sets, it
 * copies or sets on this one. Null before device_start(). */
cudaStream_t device_cuda_stream(const struct device *d);
/* Name, compute capability, SMs, limits; owned by the device. */
const cudaDeviceProp *device_cuda_properties(const struct device *d);

/* N of "cuda:N". */
int device_cuda_index(const struct device *d);

/* cudaEventQuery() and cudaStreamQuery(). Their cudaErrorNotReady is no error, but may stay behind
 * as the thread's last one, which the next look at a launch would take for the launch's: it does
 * not. */
cudaError_t device_cuda_event_state(cudaEvent_t event);
cudaError_t device_cuda_stream_state(cudaStream_t stream);

/* 0, or -1 and "FILE:LINE: CALL: CUDA's own words" in err. */
#define CUDA_TRY(call, err) device_cuda_failed((call), #call, __FILE__, __LINE__, (err))
int device_cuda_failed(cudaError_t rc, const char *call, const char *file, int line,
                       struct error *err);

#endif
