/* SPDX-License-Identifier: MIT */
/*
 * Programmatic dependent launch (sm_90): a kernel starts while the one before it on the stream
 * still runs, does what needs nothing of it (indices, barriers, prefetches of weights), and waits
 * for the rest. The launch allows it (cuda_launch_with, launch.h); without that both are nothing.
 *
 * Source: CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization".
 */
#ifndef HARNESS_KERNELS_CUDA_PDL_H
#define HARNESS_KERNELS_CUDA_PDL_H

#include "kernels/cuda/launch.h"

/* Until all kernels before are done and what they wrote is seen. Before the first access to
 * anything that they write, and before the first write to anything that they read. */
__device__ __forceinline__ void cuda_pdl_wait(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The next kernel may start when all blocks of this one have said so, or ended. It says nothing
 * of what this one has written. */
__device__ __forceinline__ void cuda_pdl_launch(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

#endif
