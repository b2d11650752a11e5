/* SPDX-License-Identifier: MIT */
/* gemm/cuda_bf16 and cuda_tf32: each tile of mma.sync, rows of any pitch, whole and in slices of K.
 */
#include "kernels/gemm/gemm_cuda_mma.h"

#include "drive_linear.h"

/* Large tiles do the same as small ones, and take as long to compile. */
#ifdef DRIVE_SMALL
enum { FIRST_TILE = 2 };
template <> void mma_enqueue_tile<bf16, mma_huge>(const gemm_args<bf16> &, bool, cudaStream_t)
{
    abort();
}
template <> void mma_enqueue_tile<bf16, mma_large>(const gemm_args<bf16> &, bool, cudaStream_t)
{
    abort();
}
template <> void mma_enqueue_tile<float, mma_huge>(const gemm_args<float> &, bool, cudaStream_t)
{
    abort();
}
template <> void mma_enqueue_tile<float, mma_large>(const gemm_args<float> &, bool, cudaStream_t)
{
    abort();
}
#else
enum { FIRST_TILE = 0 };
#endif

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
    /* Tickets are 0 behind each launch: a second one is right as well. */
    for (int again = 0; again < (split > 1 ? 2 : 1) && drive_goes_on(); again++) {
        cudaMemset(linear.y.at, 0xff, linear.y.nr * sizeof(OUT));
        mma_enqueue<T>(&g, nullptr);
        if (drive_ran(what))
            linear.compare(what, c);
    }
    cudaFree(g.workspace);
}

/* Two products of which the second starts early: x of it is NaN until the first has ended. */
static void check_chain(int64_t m)
{
    constexpr size_t nr = 64 * 64;
    drive_array<bf16> x(nr, 1, 1), w(nr, 1, 2), between(nr, 0), y(nr, 0);
    struct gemm_cuda g = {};

    cudaMemset(between.at, 0, nr * sizeof(bf16)); /* what no row is written of */
    cudaMemset(y.at, 0, nr * sizeof(bf16));
    g.m = m, g.n = g.k = g.ldx = g.ldw = g.ldy = 64;
    g.out = DTYPE_BF16, g.sms = 1, g.shared = 227 * 1024, g.early = true;
    if (drive_chain("dependent products", [&](int i) {
            g.x = i ? between.at : x.at, g.w = w.at, g.y = i ? y.at : between.at;
            mma_enqueue<bf16>(&g, nullptr);
        }))
        drive_compare_square("dependent products", between, w, y);
}

/* Few rows, which have a kernel of their own: by one warp a column and by several. */
static void check_few(void)
{
    for (int rows : { 1, 2, 3, 7 })
        for (int sms : { 1, 1000 }) {
            const struct size_case c = { rows, 21, 600, 2, sms }, odd = { rows, 21, 67, 0, sms };

            if (drive_goes_on())
                check<bf16, bf16>(0, 0, c, BIAS_GELU);
            if (drive_goes_on())
                check<float, float>(0, 0, c, BIAS_RESIDUAL);
            if (drive_goes_on())
                check<bf16, float>(0, 0, odd, PLAIN);
        }
}

/* Ends in all three dimensions; rows that are and are not multiples of 16 bytes. */
int main(void)
{
    static const int rows[GEMM_CUDA_TILES] = { 128, 128, 64, 32 };
    static const int cols[GEMM_CUDA_TILES] = { 256, 128, 64, 64 };

    for (int i = FIRST_TILE; i < GEMM_CUDA_TILES; i++) {
        const struct size_case ends = { rows[i] + 9, cols[i] + 11, 136, 2, 2 };
        const struct size_case odd = { rows[i] + 9, cols[i] + 11, 67, 0, 2 };
        const struct size_case deep = { rows[i], cols[i], 64 * 6, 0, 1 };
        /* Slices are cut where there are blocks to spare and steps enough for each. */
        const struct size_case sliced = { rows[i] + 9, cols[i] + 11, 64 * 9 + 8, 2, 8 };
        const struct size_case odd_sliced = { rows[i] + 9, cols[i] + 11, 64 * 8 + 3, 0, 8 };
        const struct size_case one_tile = { rows[i], cols[i], 64 * 9, 0, 8 };

        if (drive_goes_on())
            check<bf16, bf16>(i + 1, 1, ends, BIAS_GELU);
        if (drive_goes_on())
            check<bf16, float>(i + 1, 2, sliced, BIAS_RESIDUAL);
        if (drive_goes_on())
            check<float, float>(i + 1, 1, ends, BIAS_RESIDUAL);
        if (drive_goes_on())
            check<bf16, bf16>(i + 1, 1, odd, PLAIN);
        if (drive_goes_on())
            check<float, float>(i + 1, 2, odd_sliced, PLAIN);
        if (drive_goes_on())
            check<bf16, bf16>(i + 1, 1, deep, PLAIN);
        /* Slices of one tile run at the same time: the ticket is taken while others still write. */
        for (int again = 0; again < 4; again++)
            if (drive_goes_on())
                check<bf16, float>(i + 1, 2 + again % 2, one_tile, PLAIN);
    }
    check_few();
    for (int64_t m : { 64, 5 })
        if (drive_goes_on())
            check_chain(m);
    return drive_end();
}
