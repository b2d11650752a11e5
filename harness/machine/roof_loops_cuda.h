/* SPDX-License-Identifier: MIT */
/*
 * The loops behind the measured roofs of a GPU. Each is the launch() of a variant that has a
 * struct cuda_loop as its call's state. For .cu files only.
 */
#ifndef HARNESS_MACHINE_ROOF_LOOPS_CUDA_H
#define HARNESS_MACHINE_ROOF_LOOPS_CUDA_H

#include "device/device_cuda.h"

#include <stdint.h>

/* Values that the arithmetic starts from: CUDA_LOOP_VALUES random floats. */
enum { CUDA_LOOP_VALUES = 8192 };

struct cuda_loop {
    void *from, *to;     /* `bytes` each; `to` of copies alone */
    int64_t bytes;       /* a multiple of 4 KiB */
    int rounds;          /* how often */
    const float *values; /* on the device */
    uint32_t *sink;      /* 16 bytes; written to never, but the compiler does not know */
};

typedef void cuda_loop_launch(const struct call *call);

cuda_loop_launch cuda_loop_empty;  /* one block that does nothing */
cuda_loop_launch cuda_loop_read;   /* all of `from`, `rounds` times, past the L1 */
cuda_loop_launch cuda_loop_copy;   /* `from` to `to`, once */
cuda_loop_launch cuda_loop_memcpy; /* the same by the runtime, cudaMemcpyAsync() */
/* Every 128-byte line of `from`, which holds zeros, once: each read waits for the one before. */
cuda_loop_launch cuda_loop_touch;
cuda_loop_launch cuda_loop_fma, cuda_loop_mma_tf32, cuda_loop_mma_bf16;
/* In a file for sm_90a alone; other devices cannot launch them. */
cuda_loop_launch cuda_loop_wgmma_tf32, cuda_loop_wgmma_bf16, cuda_loop_wgmma_fp8;

/* FLOPs of one launch. */
double cuda_loop_fma_flops(const cudaDeviceProp *p, int rounds);
double cuda_loop_mma_flops(const cudaDeviceProp *p, int rounds, bool bf16);
/* `bytes`: of an element. */
double cuda_loop_wgmma_flops(const cudaDeviceProp *p, int rounds, int bytes);

#endif
