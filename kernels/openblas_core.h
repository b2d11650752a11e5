/* SPDX-License-Identifier: MIT */
/*
 * Which of its kernels OpenBLAS takes. A processor that it does not know, for it came later, gets
 * those of 2004 ("Prescott", SSE3), at a tenth of the pace: a library that others are measured
 * against must have its best.
 */
#ifndef HARNESS_KERNELS_OPENBLAS_CORE_H
#define HARNESS_KERNELS_OPENBLAS_CORE_H

/* Its file: what this variable names, else the first of these that is there. NULL-ended. */
#define OPENBLAS_VARIABLE "HARNESS_OPENBLAS"
extern const char *const openblas_files[];

/* Before whoever loads it into this process for good, which PyTorch does, too. Loads it, asks what
 * it takes, and unloads it; where that is older than AVX2 and the processor is not,
 * OPENBLAS_CORETYPE becomes "SkylakeX" or "Haswell" in this process. A variable that is set stays.
 * Nothing where there is no OpenBLAS. Not thread-safe: setenv(). */
void openblas_choose_core(void);

#endif
