/* SPDX-License-Identifier: MIT */
/*
 * On what a run was made: the machine (stable across reboots), the build, and the facts of the
 * environment that may differ between two runs. The environment is an allow-list: nothing is
 * copied wholesale from variables or files, so no secret lands in a history.
 */
#ifndef HARNESS_MACHINE_ENVIRONMENT_H
#define HARNESS_MACHINE_ENVIRONMENT_H

#include "core/record.h"

struct error;

/* machine_class.c: its class, and a hash that tells it from others. -1, and nothing in it, where
 * what tells it is there and cannot be read now: it would be another machine in the history. */
int environment_machine(struct machine *m, struct error *err);
/* The value after ':' of the first line of /proc/cpuinfo that starts with `field`. `root` stands
 * before /proc, for tests; "" otherwise. */
bool environment_cpuinfo(const char *root, const char *field, char *value, size_t size);
/* What tells kinds of processors apart; of an Arm one (which has no words) implementer, variant and
 * part, and a name made of them. */
struct processor {
    char name[96], vendor[64], family[16], model[16];
};
/* -1: it cannot be read now. */
int environment_processor(const char *root, struct processor *p, struct error *err);
/* The class and the hash of a machine whose other facts are there. */
void environment_identify(struct machine *m, const struct processor *p);
/* Of this binary: version, commit, compiler, flags, from the build. */
void environment_build(struct build *b);
/* Day of its source, "2026-11-26" in UTC; "" where nothing told the build. */
const char *environment_build_date(void);
/* JSON object text; free() it. Keys: kernel_release, libc, governor, boost, no_turbo, smt,
 * transparent_hugepages, buffers (what they lie in), address_randomisation, microcode, load1, the
 * few OMP_ and OPENBLAS_ variables that change results, and environment_isa_variables; with a GPU
 * also gpu_driver, gpu_uuid, gpu_ecc, gpu_mig, cuda_runtime and CUDA_VISIBLE_DEVICES. What cannot
 * be read is absent.
 */
char *environment_json(void);
/* Variables that tell a library, or harness itself, which instruction set to use instead of the
 * best one of the processor. Ends with NULL. */
extern const char *const environment_isa_variables[];

/*
 * The GPUs of this machine as the NVIDIA driver tells them, without CUDA: through NVML, and where
 * that is missing (a container without it) through /proc/driver/nvidia. What cannot be read is "".
 */
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
