/* SPDX-License-Identifier: MIT */
/* gemm/cuda_simt: the tiles of fp32, with w as rows of k and as it is, rows of any pitch, whole and
 * in slices of k; what slices leave for each other is watched (tests/cuda_host/order.h). With
 * DRIVE_TILED gemm/cuda_tiled, which has one tile and no slices. */
/* The registry has this file's own. */
#ifdef DRIVE_TILED
#define gemm_linear_cuda_tiled drive_simt_linear
#define gemm_nn_cuda_tiled     drive_simt_nn
#define gemm_cuda_tiled        drive_simt_variants
#include "kernels/gemm/gemm_cuda_tiled.cu"
#else
#define gemm_linear_cuda_simt drive_simt_linear
#define gemm_nn_cuda_simt     drive_simt_nn
#define gemm_cuda_simt        drive_simt_variants
#define gemm_cuda_simt_tiles  drive_simt_tiles
#include "kernels/gemm/gemm_cuda_simt.cu"
#endif

#include "drive_linear.h"

/* The factors of the FMA units are not rounded: their floats are those of tf32. */
static void round_factors(const drive_array<float> &x)
{
    std::vector<float> all = x.host();

    for (float &v : all)
        v = (float)drive_factor(v).value;
    cudaMemcpy(x.at, all.data(), all.size() * sizeof(float), cudaMemcpyHostToDevice);
}

/* [n,k] to [k,n]. */
static std::vector<float> turned(const drive_array<float> &w, const struct size_case &c)
{
    std::vector<float> from = w.host(), to(from.size());

    for (size_t i = 0; i < from.size(); i++)
        to[i % (size_t)c.k * (size_t)c.n + i / (size_t)c.k] = from[i];
    return to;
}

/* Tickets are 0 behind each launch: a second one is right as well. */
static void check(bool nn, int tile, int split, const struct size_case &c, enum way way)
{
    const drive_linear<float, float> linear(c, way);
    struct gemm_cuda g = linear.product(c);
    drive_array<float> straight(linear.w.nr, 0);
    size_t bytes = gemm_cuda_workspace(c.m, c.n, c.sms);
    char what[120];

    round_factors(linear.x), round_factors(linear.w);
    std::vector<float> w = turned(linear.w, c);
    cudaMemcpy(straight.at, w.data(), w.size() * sizeof(float), cudaMemcpyHostToDevice);
    if (nn)
        g.w = straight.at, g.ldw = c.n;
    g.tile = tile, g.split = split;
    if (cudaMalloc(&g.workspace, bytes) != cudaSuccess)
        abort();
    cudaMemset(g.workspace, 0, bytes);
    for (int again = 0; again < (split > 1 ? 2 : 1) && drive_goes_on(); again++) {
        snprintf(what, sizeof(what), "%s, tile %d %dx%dx%d+%d, %d slices, way %d, launch %d",
                 nn ? "nn" : "linear", tile, c.m, c.n, c.k, c.gap, split, way, again + 1);
        cudaMemset(linear.y.at, 0xff, linear.y.nr * sizeof(float));
        (nn ? drive_simt_nn : drive_simt_linear)(&g, nullptr);
        if (drive_ran(what))
            linear.compare(what, c);
    }
    cudaFree(g.workspace);
}

/* Ends in all three dimensions, more steps than stages, rows that are and are not multiples of 16
 * bytes. */
static void check_whole(int tile, int rows, int cols)
{
    const struct size_case ends = { rows + 9, cols + 11, 83, 2, 2 };
    const struct size_case whole = { rows, 2 * cols, 16 * 6, 0, 1 };

    for (bool nn : { false, true }) {
        if (drive_goes_on())
            check(nn, tile, 1, ends, BIAS_GELU);
        if (drive_goes_on())
            check(nn, tile, 1, whole, PLAIN);
    }
}

#ifdef DRIVE_TILED
static void check_all(void)
{
    check_whole(0, 32, 32);
}
#else
/* Two products of which the second starts early: x of it is NaN until the first has ended. */
static void check_chain(void)
{
    const struct size_case c = { 32, 32, 32, 0, 1 };
    const drive_linear<float, float> first(c, PLAIN), second(c, PLAIN);
    struct gemm_cuda g[2] = { first.product(c), second.product(c) };

    round_factors(first.x), round_factors(first.w), round_factors(second.w);
    g[1].x = first.y.at, g[0].early = g[1].early = true;
    if (!drive_chain("dependent products", [&](int i) { drive_simt_linear(&g[i], nullptr); }))
        return;
    first.compare("the first of two products", c);
    std::vector<float> x = first.y.host(), w = second.w.host(), y = second.y.host();
    struct drive_compared compared = { "the second of two products" };
    for (size_t i = 0; i < 32; i++)
        for (size_t j = 0; j < 32; j++) {
            double sum = 0;
            for (size_t e = 0; e < 32; e++)
                sum += (double)x[i * 32 + e] * (double)w[j * 32 + e];
            compared.element((double)y[i * 32 + j], sum, 1e-4);
        }
    compared.verdict();
}

static void check_tile(int tile, int rows, int cols)
{
    const struct size_case sliced = { rows + 9, cols + 12, 16 * 9 + 8, 0, 8 };
    const struct size_case one_tile = { rows, cols, 16 * 9, 0, 8 };

    check_whole(tile, rows, cols);
    for (bool nn : { false, true })
        if (drive_goes_on())
            check(nn, tile, 2, sliced, BIAS_RESIDUAL);
    /* Slices of one tile run at the same time: the ticket is taken while others still write. */
    for (int again = 0; again < 3; again++)
        if (drive_goes_on())
            check(false, tile, 2, one_tile, PLAIN);
}

static void check_all(void)
{
#ifndef DRIVE_SMALL /* tables of tiles begin with 1 */
    check_tile(1, 128, 128);
#endif
    check_tile(2, 64, 64);
    check_tile(3, 32, 64);
    if (drive_goes_on())
        check_chain();
}
#endif

int main(void)
{
    check_all();
    return drive_end();
}
