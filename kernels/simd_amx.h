/* SPDX-License-Identifier: MIT */
/*
 * Matrix tiles of bfloat16 (host/matrix_tiles.h) for kernels. Files that CMake lists with AMX are
 * compiled once with SIMD_AMX, as the form avx512_amx, and once more by a test with AMX_MODEL,
 * which has the tiles in C: no machine at hand has any.
 */
#ifndef HARNESS_KERNELS_SIMD_AMX_H
#define HARNESS_KERNELS_SIMD_AMX_H

#include "host/matrix_tiles.h"

/* Whether tiles may be used, and make of a small product what it is: asked and tried once. */
bool simd_amx_works(void);

#endif
