/* SPDX-License-Identifier: MIT */
/*
 * On what a run was made: the machine (stable across reboots), the build, and the facts of the
 * environment that may differ between two runs. The environment is an allow-list: nothing is
 * copied wholesale from variables or files, so no secret lands in a history.
 */
#ifndef HARNESS_MACHINE_ENVIRONMENT_H
#define HARNESS_MACHINE_ENVIRONMENT_H

#include "core/record.h"

void environment_machine(struct machine *m);
/* Of this binary: version, commit, compiler, flags, from the build. */
void environment_build(struct build *b);
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

#endif
