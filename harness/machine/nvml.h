/* SPDX-License-Identifier: MIT */
/*
 * What the NVIDIA driver tells of one GPU, through its management library (NVML). The library is
 * opened at run time, from $HARNESS_NVML or as libnvidia-ml.so.1: nothing links to it, and where
 * there is none, or one without a function, that number is absent.
 *
 * Functions, structs and constants: NVIDIA's NVML API reference, driver 450 and newer.
 */
#ifndef HARNESS_MACHINE_NVML_H
#define HARNESS_MACHINE_NVML_H

#include "base/error.h"

#include <stdint.h>

struct nvml;

enum nvml_number {
    NVML_SM_MHZ,
    NVML_MEMORY_MHZ,
    NVML_POWER_WATTS, /* from Ampere on (but not GA100) the driver's mean over the last second */
    NVML_POWER_NOW_WATTS,    /* of the moment; from driver 535 on */
    NVML_POWER_LIMIT_WATTS,  /* the limit in force */
    NVML_ENERGY_JOULES,      /* a counter, since the driver was loaded */
    NVML_TEMPERATURE,        /* degrees Celsius, of the chip */
    NVML_MEMORY_TEMPERATURE, /* of its memory */
    NVML_UTILISATION,        /* percent of the last second or less in which a kernel ran */
    NVML_MEMORY_USED,        /* bytes, of all processes */
    NVML_NUMBER_NR,
};

/* Why the clocks are lower than they could be: bits of nvml_clock_limits(). */
enum nvml_clock_limit {
    NVML_LIMIT_POWER = 0x04 | 0x80,   /* the software's power cap, the power brake */
    NVML_LIMIT_THERMAL = 0x20 | 0x40, /* heat, met by software or hardware */
    NVML_LIMIT_HARDWARE = 0x08,       /* any slow-down by the hardware */
    NVML_LIMIT_SETTING = 0x02,        /* clocks that somebody set for applications */
};

/* The GPU at a PCI place ("00000000:1b:00.0"), whatever CUDA_VISIBLE_DEVICES makes of the order.
 * NULL and the reason in `why` where NVML or the GPU cannot be had. nvml_close() it. */
struct nvml *nvml_open(const char *pci, struct error *why);
void nvml_close(struct nvml *n); /* NULL is allowed */

/* NaN where it cannot be read. Any thread may ask. */
double nvml_read(const struct nvml *n, enum nvml_number number);
/* Bits as above and others; -1 where they cannot be read. */
int64_t nvml_clock_limits(const struct nvml *n);
/* The code of the oldest XID error (the driver's fault codes) since nvml_open() that was not asked
 * for yet, waiting for one at most `wait_ms`; -1 if there is none or they cannot be read. */
int64_t nvml_xid(const struct nvml *n, unsigned wait_ms);

/* Each GPU that the driver knows, in its order. */
struct nvml_gpu {
    char name[96], uuid[96]; /* "NVIDIA H200", "GPU-..." */
    int ecc, mig;            /* 1 on, 0 off, -1 not known */
    /* The rest may differ from one moment to the next. */
    int persistence; /* whether the driver stays loaded between programs; as above */
    int processes;   /* that compute on it now; -1 not known */
    int64_t limits;  /* bits of enum nvml_clock_limit and others; -1 not known */
    double application_mhz, power_limit_watts; /* NaN: not known */
};

/* Fills at most `most` of them and the driver's version ("580.95.05"; "" if unknown). Their number;
 * 0 where there is none or NVML cannot be had. */
int nvml_list(struct nvml_gpu *out, int most, char driver[32]);

#endif
