/* SPDX-License-Identifier: MIT */
/* The candidates of device_layernorm.cu: what is used, the configurations beside it, and what the
 * variants' table refers to that is not linked. */
#ifndef HARNESS_TESTS_CUDA_DEVICE_LAYERNORM_H
#define HARNESS_TESTS_CUDA_DEVICE_LAYERNORM_H

#include "kernels/layernorm/layernorm_cuda_rows.h"

#include <functional>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <vector>

/* ---- What the variants' table refers to, and nobody calls here ---- */

extern "C" {
const struct kernel layernorm_plain_kernel = {}, layernorm_residual_kernel = {};

int64_t kernel_dim(const struct kernel *, const struct shape *, const char *, int64_t otherwise)
{
    return otherwise;
}

void error_record(struct error *, const char *, ...)
{
}

struct layernorm layernorm_of(const struct call *)
{
    return {};
}
}

cudaStream_t device_cuda_stream(const struct device *)
{
    return nullptr;
}

/* ---- Device and memory ---- */

#define TRY(call) tried((call), #call, __LINE__)

inline void tried(cudaError_t rc, const char *call, int line)
{
    if (rc == cudaSuccess)
        return;
    printf("line %d: %s: %s\n", line, call, cudaGetErrorString(rc));
    exit(1);
}

constexpr size_t arena_bytes = (size_t)6 << 30;
constexpr int64_t most_rows = 1060, most_width = 16384;
constexpr size_t guard_bytes = 4096; /* behind an output */

inline void *device_bytes(size_t bytes)
{
    void *p = nullptr;

    TRY(cudaMalloc(&p, bytes));
    return p;
}

inline __device__ uint32_t hashed(uint32_t x)
{
    x ^= x >> 16, x *= 0x7feb352du;
    x ^= x >> 15, x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static __global__ void fill_normal(float *to, int64_t n, uint32_t seed, float mean, float spread)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x) {
        uint32_t a = hashed((uint32_t)i * 2 + seed), b = hashed(a ^ 0x9e3779b9u ^ seed);
        float u = ((float)(a >> 8) + 1) * 0x1p-24f, v = (float)(b >> 8) * 0x1p-24f;
        to[i] = mean + spread * sqrtf(-2 * logf(u)) * cospif(2 * v);
    }
}

static __global__ void to_bf16(bf16 *to, const float *from, int64_t n)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x)
        to[i] = cuda_from<bf16>(from[i]);
}

/* ---- Candidates ---- */

struct bench {
    int sms;
    cudaStream_t stream;
    unsigned char *arena;
    bool all = false;
    std::string only = {}; /* form and width to time; "" and 0: all */
    int64_t width = 0;
};

/* run() says whether it can. */
struct candidate {
    std::string name;
    std::function<bool(const layernorm_cuda &, cudaStream_t)> run;
};

inline candidate chosen(const char *name, bool early)
{
    return { name, [=](layernorm_cuda l, cudaStream_t s) {
                l.early = early;
                layernorm_rows_cuda(&l, s);
                return true;
            } };
}

/* Whether C can at WIDTH, and it is that. */
template <class T, bool RESIDUAL, layernorm_rows_config C, int WIDTH>
bool ran(const layernorm_cuda &l, cudaStream_t s)
{
    constexpr int lanes = layernorm_rows_lanes<T, T, C, WIDTH>();

    if constexpr (lanes > 0)
        if (l.width == WIDTH)
            layernorm_rows_enqueue<T, T, C, lanes, RESIDUAL, true>(l, s);
    return lanes > 0 && l.width == WIDTH;
}

/* A configuration for one type and form, at the widths that fill it; starts early. */
template <class T, bool RESIDUAL, layernorm_rows_config C> candidate rows(const char *name)
{
    return { name, [](layernorm_cuda l, cudaStream_t s) {
                l.early = true;
                return l.stream == l.dtype && (l.stream == DTYPE_BF16) == (sizeof(T) == 2) &&
                       (l.delta != nullptr) == RESIDUAL &&
                       (ran<T, RESIDUAL, C, 512>(l, s) || ran<T, RESIDUAL, C, 1024>(l, s) ||
                        ran<T, RESIDUAL, C, 2048>(l, s) || ran<T, RESIDUAL, C, 4096>(l, s) ||
                        ran<T, RESIDUAL, C, 8192>(l, s));
            } };
}

/* The names: vectors of a thread, then k: gain and bias kept, m: the matrix unit, l: lines in L1.
 */
inline std::vector<candidate> neighbours(void)
{
    using config = layernorm_rows_config;

    return {
        rows<float, false, config { .pieces = 2, .registers = 32 }>("p2"),
        rows<float, false, config { .pieces = 2, .registers = 40, .keep = true }>("p2k"),
        rows<float, false, config { .pieces = 4, .registers = 40, .lines = true }>("p4l"),
        rows<float, true, config { .pieces = 1, .registers = 32 }>("p1"),
        rows<float, true, config { .pieces = 2, .registers = 32, .lines = true }>("p2l"),
        rows<float, true, config { .pieces = 4, .registers = 48 }>("p4"),
        rows<bf16, false, config { .pieces = 2, .registers = 48, .keep = true, .matrix = true }>(
            "p2km"),
        rows<bf16, false, config { .pieces = 2, .registers = 32, .lines = true }>("p2l"),
        rows<bf16, false, config { .pieces = 2, .registers = 32 }>("p2"),
        rows<bf16, false, config { .pieces = 2, .registers = 32, .matrix = true, .lines = true }>(
            "p2ml"),
        rows<bf16, false, config { .pieces = 1, .registers = 32, .lines = true }>("p1l"),
        rows<bf16, false, config { .pieces = 4, .registers = 48, .matrix = true }>("p4m"),
        rows<bf16, false, config { .pieces = 4, .registers = 48, .matrix = true, .lines = true }>(
            "p4ml"),
        rows<bf16, true, config { .pieces = 4, .registers = 64 }>("p4"),
        rows<bf16, true, config { .pieces = 2, .registers = 40, .lines = true }>("p2l"),
        rows<bf16, true, config { .pieces = 2, .registers = 64, .keep = true }>("p2k"),
    };
}

inline std::vector<candidate> candidates_of(bool timed)
{
    std::vector<candidate> all = { chosen("rows", true), chosen("rows, in order", false) };

    if (timed)
        for (candidate &c : neighbours())
            all.push_back(c);
    return all;
}

#endif
