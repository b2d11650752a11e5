/* SPDX-License-Identifier: MIT */
/*
 * OpenBLAS, opened at run time: it starts a thread for each core and reserves address space as soon
 * as it is loaded, which only a process that computes with it shall have. Its own header is read
 * when this is built, so that the compiler knows the types of the functions.
 *
 * HARNESS_OPENBLAS names another file than the usual one.
 */
#ifndef HARNESS_KERNELS_OPENBLAS_H
#define HARNESS_KERNELS_OPENBLAS_H

#include "base/error.h"

#include <cblas.h>
#include <stdbool.h>

struct openblas {
    __typeof__(&cblas_sgemm) sgemm;
    __typeof__(&openblas_set_num_threads) set_num_threads;
    __typeof__(&openblas_get_num_threads) get_num_threads;
};

/* Whoever calls the entry points of gemm.h and attention.h that need it does this before: loads it
 * once. -1 and an error with the package to install, the loader's words, or that there is not
 * enough address space. */
int openblas_open(struct error *err);

/* Its functions. openblas_open() has succeeded before. */
const struct openblas *openblas(void);

/* For supports() and prepare(): openblas_open(), and so many threads. -1 and an error where it has
 * no more than others: builds have a limit (Debian's 64), some have one thread. */
int openblas_ready(int threads, struct error *err);

/* For launches. It keeps its number of threads for the whole process. False where it has others. */
bool openblas_use_threads(int threads);

#endif
