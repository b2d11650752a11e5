/* SPDX-License-Identifier: MIT */
/*
 * Attention on a CUDA device, for the variants and for the GPT models: .cu files only. Each
 * function enqueues on the stream and neither allocates nor waits; errors show in
 * cudaGetLastError(). What is computed and how views are strided: kernels/attention/attention.h.
 * Any pitch and alignment will do; pointers, pitches and headdim in whole 16 bytes are faster.
 */
#ifndef HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_H
#define HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_H

#include "device/device_cuda.h"

extern "C" {
#include "kernels/attention/attention.h"
}

/* Flash and decode kernels keep a head's row in registers or one tile. */
enum { ATTENTION_CUDA_HEADDIM_MAX = 128 };

/* Positions of which attention_prefill_cuda_naive() can hold the scores. */
enum { ATTENTION_CUDA_NAIVE_SEQ_MAX = 12000 };

/* All of one type: float, or bf16 for the functions that end in _bf16. */
struct attention_cuda {
    int64_t batch, seq, heads, headdim; /* headdim at most 128 (naive: any) */
    const void *q, *k, *v;
    int64_t ld; /* elements between tokens, as all pitches */
    void *out;
    int64_t ldo;
    bool causal;
    int sms; /* of the device: decides the tile */
    /* wgmma: attention_cuda_workspace() bytes, zeroed once, and left so for the next launch; two
     * that may run at the same time need one each. Without it, shares are fixed. */
    void *workspace = nullptr;
    bool early = false; /* flash: may start before the kernel in front has ended, see pdl.h */
};

/* One query token a sequence against positions 0..length-1 of its cache. */
struct attention_cuda_decode {
    int64_t batch, length, heads, headdim;
    const void *q; /* sequence b, head h at q + b * ldq + h * headdim */
    int64_t ldq;
    void *k, *v; /* caches: head h of position p of sequence b at b * ld_sequence + p * ld + h *
                    headdim */
    int64_t ld, ld_sequence;
    /* Keys and values of position length - 1, laid out as q; the kernel uses them and stores them
     * to the caches. NULL where the caches have them already (then these are only read). */
    const void *new_k, *new_v;
    void *out; /* sequence b, head h at out + b * ldo + h * headdim */
    int64_t ldo;
    int sms;            /* of the device: decides into how many pieces the positions are cut */
    void *workspace;    /* attention_cuda_decode_workspace() bytes, zeroed once */
    bool early = false; /* may start before the kernel in front has ended, see pdl.h */
};

typedef void attention_cuda_fn(const struct attention_cuda *a, cudaStream_t stream);
typedef void attention_cuda_decode_fn(const struct attention_cuda_decode *a, cudaStream_t stream);

attention_cuda_fn attention_prefill_cuda_naive, attention_prefill_cuda_flash,
    attention_prefill_cuda_flash_bf16;

/* On sm_90 alone; headdim 64 or 128, pointers and pitches in whole 16 bytes. */
attention_cuda_fn attention_prefill_cuda_wgmma_bf16;

constexpr size_t attention_cuda_workspace(void)
{
    return sizeof(unsigned);
}

attention_cuda_decode_fn attention_decode_cuda, attention_decode_cuda_bf16;

/* Bytes for a decode over at most `length` positions, 256-byte aligned. The kernels leave it ready
 * for the next launch; two that may run at the same time need one each. */
size_t attention_cuda_decode_workspace(int64_t batch, int64_t heads, int64_t headdim,
                                       int64_t length, int sms);

#endif
