/* SPDX-License-Identifier: MIT */
/*
 * NumPy's .npy files, version 1.0, of float32 in C order. Source: the format's description in
 * NumPy's documentation (numpy.lib.format).
 */
#ifndef HARNESS_MODELS_NPY_H
#define HARNESS_MODELS_NPY_H

#include "base/error.h"

#include <stdint.h>

enum { NPY_RANK = 4 };

/* Writes data[extent[0] * ... * extent[rank - 1]] in one step; 1 <= rank <= 4. */
int npy_write(const char *path, const float *data, const int64_t *extent, int rank,
              struct error *err);
/* Reads such a file: rank and extents, and the elements, which the caller frees. Any other
 * version, dtype or order is an error. NULL on error. */
float *npy_read(const char *path, int64_t extent[NPY_RANK], int *rank, struct error *err);

#endif
