/* SPDX-License-Identifier: MIT */
#include "machine/datasheet.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * FLOP per cycle and core in fp32: 2 (multiply and add) x pipes x lanes. Zen 2 and 3: 2 x 8 lanes;
 * Zen 4: the same pipes, AVX-512 in two halves; server Xeons since Skylake: 2 x 16; client Intel
 * cores with AVX2: 2 x 8. Clocks and memory: the vendors' product pages.
 */
static const struct {
    const char *model; /* part of the name in /proc/cpuinfo */
    double flop_per_cycle, boost_ghz, memory_gbs;
} sheets[] = {
    { "EPYC 7402", 32, 3.35, 204.8 },       { "EPYC 7742", 32, 3.4, 204.8 },
    { "EPYC 7763", 32, 3.5, 204.8 },        { "EPYC 7713", 32, 3.675, 204.8 },
    { "EPYC 9354", 32, 3.8, 460.8 },        { "EPYC 9554", 32, 3.75, 460.8 },
    { "EPYC 9654", 32, 3.7, 460.8 },        { "Ryzen 9 5950X", 32, 4.9, 51.2 },
    { "Ryzen 9 7950X", 32, 5.7, 83.2 },     { "Platinum 8380", 64, 3.4, 204.8 },
    { "Platinum 8480", 64, 3.8, 307.2 },    { "Gold 6248 ", 64, 3.9, 140.8 },
    { "Core(TM) i7-8700K", 32, 4.7, 41.6 }, { "Core(TM) i9-9900K", 32, 5.0, 41.6 },
};

void datasheet_find(const char *cpu, int threads, double *flops, double *bandwidth)
{
    *flops = *bandwidth = 0;
    for (size_t i = 0; i < sizeof(sheets) / sizeof(sheets[0]); i++) {
        if (!strstr(cpu, sheets[i].model))
            continue;
        *flops = sheets[i].flop_per_cycle * sheets[i].boost_ghz * 1e9 * threads;
        *bandwidth = sheets[i].memory_gbs * 1e9;
        return;
    }
}

/*
 * NVIDIA's data sheets: H200 Tensor Core GPU, H100 Tensor Core GPU (and the Hopper architecture
 * white paper for the digits), A100 Tensor Core GPU, L40S, L4, A10; matrix rates without sparsity,
 * which is half of what some of them print. Longer names first: the first that the name starts with
 * is taken. TB/s and TFLOP/s.
 */
static const struct {
    const char *name;
    double memory, fp32, tf32, bf16, fp8; /* 0: the device has none */
} gpu_sheets[] = {
    { "NVIDIA H200 NVL", 4.8, 60, 417.5, 835.5, 1670.5 },
    { "NVIDIA H200", 4.8, 66.9, 494.7, 989.4, 1978.9 },
    { "NVIDIA H100 80GB HBM3", 3.35, 66.9, 494.7, 989.4, 1978.9 },
    { "NVIDIA H100 NVL", 3.9, 60, 417.5, 835.5, 1670.5 },
    { "NVIDIA H100 PCIe", 2.0, 51.2, 378, 756, 1513 },
    { "NVIDIA A100-SXM4-80GB", 2.039, 19.5, 156, 312, 0 },
    { "NVIDIA A100 80GB PCIe", 1.935, 19.5, 156, 312, 0 },
    { "NVIDIA A100-SXM4-40GB", 1.555, 19.5, 156, 312, 0 },
    { "NVIDIA A100-PCIE-40GB", 1.555, 19.5, 156, 312, 0 },
    { "NVIDIA L40S", 0.864, 91.6, 183, 362.05, 733 },
    { "NVIDIA L4", 0.3, 30.3, 60, 121, 242.5 },
    { "NVIDIA A10", 0.6, 31.2, 62.5, 125, 0 },
};

/* "NVIDIA L4" is no part of "NVIDIA L40". */
static bool sheet_names_gpu(const char *sheet, const char *gpu)
{
    size_t length = strlen(sheet);

    return strncmp(sheet, gpu, length) == 0 && (gpu[length] == '\0' || gpu[length] == ' ');
}

struct datasheet_gpu datasheet_find_gpu(const char *name)
{
    for (size_t i = 0; i < sizeof(gpu_sheets) / sizeof(gpu_sheets[0]); i++)
        if (sheet_names_gpu(gpu_sheets[i].name, name))
            return (struct datasheet_gpu) { .bandwidth = gpu_sheets[i].memory * 1e12,
                                            .flops = { [MATH_FP32] = gpu_sheets[i].fp32 * 1e12,
                                                       [MATH_TF32] = gpu_sheets[i].tf32 * 1e12,
                                                       [MATH_BF16] = gpu_sheets[i].bf16 * 1e12,
                                                       [MATH_FP8] = gpu_sheets[i].fp8 * 1e12 } };
    return (struct datasheet_gpu) { 0 };
}
