/* SPDX-License-Identifier: MIT */
/* What device_gemm.cu takes the products of: the tiles, random data, the same by a plain kernel,
 * and the comparison. */
#ifndef HARNESS_TESTS_CUDA_DEVICE_GEMM_H
#define HARNESS_TESTS_CUDA_DEVICE_GEMM_H

#include "kernels/gemm/gemm_cuda_wgmma_plan.h"

#include "device_probes.h"

#include <string.h>

#include <algorithm>
#include <string>
#include <vector>

struct candidate {
    const struct wgmma_shape *shape;
    wgmma_enqueue_fn *bf, *tf;
};

/*
 * Tiles on trial, with what the model of gemm_cuda_wgmma_choice.h expects of them. To take one:
 * its row into wgmma_shapes, its name into wgmma_tiles, its times into test_cuda_choice.cc.
 *
 *     turns     the way out under the other warpgroup's products
 *     roomy     wide whose way out never waits for a buffer, for fewer stages
 *     shared    for few tiles and much depth: twice the blocks of 64 x 192
 */
using trial_turns = wgmma_tile<128, 128, 6, 16 * 1024, 1, true>;
using trial_roomy = wgmma_tile<128, 192, 4, 24 * 1024>;
using trial_shared = wgmma_tile<64, 192, 5, 9 * 1024, 2>;
using trial_tiles = wgmma_list<trial_turns, trial_roomy, trial_shared>;

static constexpr struct wgmma_shape trial_shapes[] = {
    { "turns", 128, 128, 1, true, 0.319, 2.07 },
    { "roomy", 128, 192, 1, false, 0.474, 2.4 },
    { "shared", 64, 192, 2, false, 0.27, 2.9 },
};
static_assert(trial_tiles::described_by(trial_shapes), "in the same order");

template <class LIST>
static void add_candidates(std::vector<struct candidate> *to, const struct wgmma_shape *shapes)
{
    for (int i = 0; i < LIST::nr; i++)
        to->push_back(
            { &shapes[i], LIST::template enqueue<bf16>[i], LIST::template enqueue<float>[i] });
}

/* Those of wgmma_shapes, then those on trial. */
static const std::vector<struct candidate> &all_candidates(void)
{
    static const std::vector<struct candidate> all = [] {
        std::vector<struct candidate> made;
        add_candidates<wgmma_tiles>(&made, wgmma_shapes);
        add_candidates<trial_tiles>(&made, trial_shapes);
        return made;
    }();

    return all;
}

/* What follows the product. */
enum way { PLAIN, BIAS, BIAS_GELU, BIAS_RESIDUAL, RESIDUAL_IN_PLACE, WAYS };
static const char *const way_names[] = { "plain", "bias", "gelu", "residual", "in place" };

static int sms;
static size_t shared_limit;

struct size_case {
    int m, n, k, gap; /* elements of y's rows that are no part of it */
    int sms = 0;      /* as if the device had so few: many tiles a block */
};

static int depth_of(bool bf)
{
    return bf ? 64 : 32;
}

static bool can(const struct candidate &t, const struct size_case &c, bool bf)
{
    return t.shape->slices <= cuda_pieces(c.k, depth_of(bf));
}

/* ---- Data ---- */

static __device__ float noise(uint64_t i, uint64_t seed)
{
    float sum = 0; /* of four uniform numbers: close to normal, deviation 1 */

    for (int j = 0; j < 4; j++) {
        uint64_t z = (i * 4 + (uint64_t)j + seed * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
        z ^= z >> 31, z *= 0x94d049bb133111ebull, z ^= z >> 29;
        sum += (float)(z >> 40) * (1.0f / 16777216.0f) - 0.5f;
    }
    return sum * 1.7320508f;
}

template <class T> __global__ void fill_kernel(T *to, size_t nr, float scale, uint64_t seed)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < nr;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = cuda_from<T>(noise(i, seed) * scale);
}

template <class T> static void fill(void *to, size_t nr, float scale, uint64_t seed)
{
    fill_kernel<<<1024, 256>>>(static_cast<T *>(to), nr, scale, seed);
}

template <class T> static __device__ double operand(T x)
{
    return cuda_float(x);
}

static __device__ double operand(float x)
{
    return cuda_bits_float(cuda_tf32(x));
}

/* The same in float64, by a thread an output; out[m, n] dense, `before` the residual. */
template <class T, class OUT>
__global__ void plain(const struct gemm_cuda g, const OUT *before, float *out)
{
    int64_t col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    double sum = 0;

    if (row >= g.m || col >= g.n)
        return;
    for (int64_t p = 0; p < g.k; p++)
        sum += operand(static_cast<const T *>(g.x)[row * g.ldx + p]) *
               operand(static_cast<const T *>(g.w)[col * g.ldw + p]);
    if (g.bias != nullptr)
        sum += cuda_float(static_cast<const T *>(g.bias)[col]);
    if (g.activation == GEMM_GELU)
        sum = 0.5 * sum * (1 + tanh(0.7978845608028654 * (sum + 0.044715 * sum * sum * sum)));
    if (before != nullptr)
        sum += cuda_float(before[row * g.ldr + col]);
    out[row * g.n + col] = (float)sum;
}

/* ---- Comparison ---- */

/* Where outputs are wrong: how many by row % 64 / 8 and by column % 64 / 8. */
static void pattern(const std::vector<char> &bad, const struct size_case &c)
{
    long rows[8] = {}, cols[8] = {};

    for (int i = 0; i < c.m; i++)
        for (int j = 0; j < c.n; j++)
            if (bad[(size_t)i * (size_t)c.n + (size_t)j])
                rows[i % 64 / 8]++, cols[j % 64 / 8]++;
    printf("    by row %% 64 / 8:");
    for (long r : rows)
        printf(" %ld", r);
    printf("   by column %% 64 / 8:");
    for (long r : cols)
        printf(" %ld", r);
    printf("\n");
}

/* Compares y, of pitch n + gap, with what is wanted; what is no part of y is as it was. */
template <class OUT>
static bool compare(const std::vector<OUT> &y, const std::vector<float> &want,
                    const struct size_case &c, const char *what, double *worst)
{
    std::vector<char> bad((size_t)c.m * (size_t)c.n);
    long wrong = 0, touched = 0;
    double relative = sizeof(OUT) == 2 ? 1.0 / 200 : 1e-4;

    for (int i = 0; i < c.m; i++)
        for (int j = 0; j < c.n + c.gap; j++) {
            OUT v = y[(size_t)i * (size_t)(c.n + c.gap) + (size_t)j];
            if (j >= c.n) {
                uint32_t poison = 0xffffffffu;
                touched += memcmp(&v, &poison, sizeof(v)) != 0;
                continue;
            }
            size_t at = (size_t)i * (size_t)c.n + (size_t)j;
            double got = cuda_float(v), off = fabs(got - (double)want[at]);
            if (off <= 2e-3 + relative * fabs((double)want[at])) {
                *worst = std::max(*worst, off);
                continue;
            }
            bad[at] = 1;
            if (wrong++ == 0)
                printf("  WRONG %s: first at (%d, %d): %g, want %g\n", what, i, j, got,
                       (double)want[at]);
        }
    if (wrong) {
        printf("    %.3f %% of all\n", 100.0 * (double)wrong / ((double)c.m * c.n));
        pattern(bad, c);
    }
    if (touched)
        printf("  WRONG %s: %ld elements between the rows were written\n", what, touched);
    return wrong == 0 && touched == 0;
}

#endif
