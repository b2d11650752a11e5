/* SPDX-License-Identifier: MIT */
/*
 * The GPUs of this machine as the NVIDIA driver tells them, without CUDA: through NVML, and where
 * that is missing (a container without it) through /proc/driver/nvidia. What cannot be read is "".
 */
#ifndef HARNESS_MACHINE_GPUS_H
#define HARNESS_MACHINE_GPUS_H

struct gpus {
    int nr;
    char names[96];  /* "NVIDIA H200", "8 x NVIDIA H200", or different ones with commas */
    char driver[32]; /* its version, "580.95.05" */
    char uuids[512]; /* with commas, in the driver's order, as the next two */
    char ecc[64];    /* "on" or "off" each */
    char mig[64];    /* the same: multi-instance mode */
};

void gpus_find(struct gpus *g);

#endif
