/* SPDX-License-Identifier: MIT */
#ifndef CUDA_ASM_CUDATYPEDEFS_H
#define CUDA_ASM_CUDATYPEDEFS_H

#include "cuda.h"

#include <cuda_runtime.h>

typedef CUresult (*PFN_cuTensorMapEncodeTiled_v12000)(
    CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *data,
    const cuuint64_t *extents, const cuuint64_t *pitches, const cuuint32_t *box,
    const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);

enum cudaDriverEntryPointQueryResult {
    cudaDriverEntryPointSuccess = 0,
    cudaDriverEntryPointSymbolNotFound = 1,
};
enum { cudaEnableDefault = 0 };

/* Knows cuTensorMapEncodeTiled. */
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult *status);

#endif
