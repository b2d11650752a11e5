/* SPDX-License-Identifier: MIT */
#include "measure/datasheet.h"

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
