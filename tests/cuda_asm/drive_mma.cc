/* SPDX-License-Identifier: MIT */
/* gemm/cuda_bf16 and cuda_tf32: each tile of mma.sync, rows of any pitch, whole and in slices of K.
 */
#include "kernels/gemm/gemm_cuda_mma.h"

#include "drive_linear.h"

template <class T, class OUT>
static void check(int tile, int split, const struct size_case &c, enum way way)
{
    const drive_linear<T, OUT> linear(c, way);
    struct gemm_cuda g = linear.product(c);
    size_t bytes = gemm_cuda_workspace(c.m, c.n, c.sms);
    char what[120];

    g.tile = tile, g.split = split;
    if (cudaMalloc(&g.workspace, bytes) != cudaSuccess)
        abort();
    cudaMemset(g.workspace, 0, bytes);
    snprintf(what, sizeof(what), "tile %d %dx%dx%d+%d, %s to %s, %d slices, way %d", tile, c.m, c.n,
             c.k, c.gap, sizeof(T) == 2 ? "bf16" : "tf32", sizeof(OUT) == 2 ? "bf16" : "fp32",
             split, way);
    mma_enqueue<T>(&g, nullptr);
    if (drive_ran(what))
        linear.compare(what, c);
    cudaFree(g.workspace);
}

/* Ends in all three dimensions; rows that are and are not multiples of 16 bytes. */
int main(void)
{
    static const int rows[GEMM_CUDA_TILES] = { 128, 128, 64, 32 };
    static const int cols[GEMM_CUDA_TILES] = { 256, 128, 64, 64 };

    for (int i = 0; i < GEMM_CUDA_TILES; i++) {
        const struct size_case ends = { rows[i] + 9, cols[i] + 11, 136, 2, 2 };
        const struct size_case odd = { rows[i] + 9, cols[i] + 11, 67, 0, 2 };

        if (drive_goes_on())
            check<bf16, bf16>(i + 1, 1, ends, BIAS_GELU);
        if (drive_goes_on())
            check<bf16, float>(i + 1, 2, ends, BIAS_RESIDUAL);
        if (drive_goes_on())
            check<float, float>(i + 1, 1, ends, BIAS_RESIDUAL);
        if (drive_goes_on())
            check<bf16, bf16>(i + 1, 1, odd, PLAIN);
        if (drive_goes_on())
            check<float, float>(i + 1, 2, odd, PLAIN);
    }
    return drive_end();
}
