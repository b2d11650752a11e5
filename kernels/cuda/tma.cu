/* SPDX-License-Identifier: MIT */
#include "kernels/cuda/tma.h"

#include <cudaTypedefs.h>

/* Found through the runtime, so that nothing links with the driver's library. */
static PFN_cuTensorMapEncodeTiled_v12000 encoder(void)
{
    static void *const found = [] {
        void *function = nullptr;
        cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
        cudaError_t rc = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                          12000, cudaEnableDefault, &status);

        return rc == cudaSuccess && status == cudaDriverEntryPointSuccess ? function : nullptr;
    }();

    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
}

static CUtensorMapDataType type_of(enum tma_element element)
{
    switch (element) {
    case TMA_BF16:
        return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case TMA_TF32:
        return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    case TMA_FP32:
    default:
        return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    }
}

/* `rank` 2 or 3. */
static cudaError_t describe(CUtensorMap *map, const struct tma_matrices *a, unsigned rank)
{
    const struct tma_matrix *m = &a->each;
    const cuuint64_t size = m->element == TMA_BF16 ? 2 : 4;
    const cuuint64_t extents[3] = { (cuuint64_t)m->cols, (cuuint64_t)m->rows,
                                    (cuuint64_t)a->count };
    const cuuint64_t pitches[2] = { (cuuint64_t)m->ld * size, (cuuint64_t)a->pitch * size };
    const cuuint32_t box[3] = { (cuuint32_t)m->box_cols, (cuuint32_t)m->box_rows, 1 };
    const cuuint32_t steps[3] = { 1, 1, 1 };
    PFN_cuTensorMapEncodeTiled_v12000 encode = encoder();

    if (encode == nullptr)
        return cudaErrorCallRequiresNewerDriver;
    CUresult rc = encode(map, type_of(m->element), rank, const_cast<void *>(m->data), extents,
                         pitches, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                         m->swizzle ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                         CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return rc == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t tma_describe(CUtensorMap *map, const struct tma_matrix *m)
{
    const struct tma_matrices one = { *m, 1, 0 };

    return describe(map, &one, 2);
}

cudaError_t tma_describe_3d(CUtensorMap *map, const struct tma_matrices *m)
{
    return describe(map, m, 3);
}
