/* SPDX-License-Identifier: MIT */
/*
 * NumPy's .npy files: one array. Source: the format's description in NumPy's documentation
 * (numpy.lib.format).
 */
#ifndef HARNESS_CORE_NPY_H
#define HARNESS_CORE_NPY_H

#include "base/error.h"
#include "core/tensor.h"

#include <stddef.h>
#include <stdint.h>

enum { NPY_RANK = 4 };

/* Writes data[extent[0] * ... * extent[rank - 1]] of float32 in one step, version 1.0; 1 <= rank <=
 * 4. */
int npy_write(const char *path, const float *data, const int64_t *extent, int rank,
              struct error *err);

struct npy {
    enum dtype dtype; /* fp16, fp32 or fp64 */
    int64_t elements; /* in the order of the file, at least one */
    const void *data; /* of them, in `file`; aligned for its type */
    size_t bytes;     /* of the whole file */
    char *file;       /* owned */
};

/* Reads an array of floating-point numbers, all of them finite, of any rank, in C order, of version
 * 1.0 to 3.0 and of at most `most` bytes. Everything else is an error that names what is wrong and
 * the line of Python that mends it. npy_release() whatever the result. */
int npy_read(struct npy *a, const char *path, size_t most, struct error *err);
void npy_release(struct npy *a);

#endif
