/* SPDX-License-Identifier: MIT */
/*
 * The part of the CUDA runtime that this project uses, on the CPU and for tests only: the .cu
 * files are compiled by a plain C++20 compiler, a CUDA thread is a fiber, device memory is memory
 * of the process. The names, numbers and meanings are those of NVIDIA's CUDA 13 runtime API; what
 * the host layer adds or leaves out is said in cuda_host.h.
 */
#ifndef CUDA_HOST_CUDA_RUNTIME_H
#define CUDA_HOST_CUDA_RUNTIME_H

#include "cuda_host.h"
#include "cuda_host_api.h"
#include "cuda_host_atomics.h"
#include "cuda_host_intrinsics.h"
#include "cuda_host_types.h"
#include "cuda_host_warp.h"

#endif
