/* SPDX-License-Identifier: MIT */
/* models/npy.h: an array of NumPy's. */
#include "fuzz.h"

#include "models/npy.h"

#include <stdlib.h>

FUZZ_TARGET(npy)
{
    int64_t extent[NPY_RANK], elements = 1;
    struct error err;
    int rank;
    float *values = npy_read(fuzz_file(data, size), extent, &rank, &err);
    volatile float last;

    if (!values)
        return;
    FUZZ_CHECK(rank >= 1 && rank <= NPY_RANK);
    for (int i = 0; i < rank; i++)
        elements *= extent[i];
    FUZZ_CHECK(elements >= 0 && (size_t)elements * sizeof(*values) <= size);
    for (int64_t i = 0; i < elements; i++)
        last = values[i];
    (void)last;
    free(values);
}
