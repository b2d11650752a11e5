/* SPDX-License-Identifier: MIT */
/*
 * sm_90's instructions one at a time, for the first run on a device: tensor maps with swizzle,
 * wgmma of every form, stmatrix, copies to a cluster, registers given from one warpgroup to
 * another. Operands are codes of their own place, so that a wrong layout shows as a pattern.
 */
#ifndef HARNESS_TESTS_CUDA_DEVICE_PROBES_H
#define HARNESS_TESTS_CUDA_DEVICE_PROBES_H

#include "kernels/cuda/cluster.h"
#include "kernels/cuda/swizzle.h"
#include "kernels/cuda/tma.h"
#include "kernels/cuda/wgmma.h"
#include "kernels/gemm/gemm_cuda_wgmma_out.h"

#include "device_memory.h"

#include <math.h>

static void verdict(const char *what, long wrong, long of)
{
    printf("%-44s %s", what, wrong ? "WRONG" : "ok");
    if (wrong)
        printf(" %ld of %ld", wrong, of);
    printf("\n");
    fflush(stdout);
    probes_wrong += wrong != 0;
}

static bf16 to_bf16(float x)
{
    return cuda_from<bf16>(x);
}

/* ---- Tensor maps ---- */

struct probe_shared {
    alignas(1024) unsigned char a[64 * 128], b[256 * 128];
    cuda_mbarrier full, empty;
};

static __device__ probe_shared &probe_begin(void)
{
    probe_shared &s = cuda_shared<probe_shared>();

    if (threadIdx.x == 0) {
        cuda_mbarrier_init(&s.full, 1);
        cuda_mbarrier_publish();
    }
    __syncthreads();
    return s;
}

/* A box of 64 rows of 128 bytes as it lies in shared memory. */
__global__ void probe_load(const __grid_constant__ CUtensorMap map, unsigned *out, int row, int col)
{
    probe_shared &s = probe_begin();

    if (threadIdx.x == 0) {
        cuda_mbarrier_expect(&s.full, sizeof(s.a));
        tma_load(s.a, &map, &s.full, row, col);
    }
    cuda_mbarrier_wait(&s.full, 0);
    for (int i = (int)threadIdx.x; i < (int)sizeof(s.a) / 4; i += (int)blockDim.x)
        out[i] = reinterpret_cast<unsigned *>(s.a)[i];
}

/* Writes codes to a swizzled box and stores it at (row, col). */
__global__ void probe_store(const __grid_constant__ CUtensorMap map, int row, int col)
{
    probe_shared &s = probe_begin();

    for (int i = (int)threadIdx.x; i < 64 * 64; i += (int)blockDim.x)
        *reinterpret_cast<uint16_t *>(s.a + cuda_swizzled_bytes<8>(i / 64, i % 64 / 8) +
                                      i % 8 * 2) = (uint16_t)i;
    wgmma_publish();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store(&map, s.a, row, col);
        tma_store_commit();
        tma_store_wait<0>();
    }
}

static CUtensorMap describe(enum tma_element element, const void *data, int rows, int cols,
                            int box_rows, int box_cols)
{
    CUtensorMap map;

    const struct tma_matrix m = { element, data, rows, cols, cols, box_rows, box_cols, true };

    must(tma_describe(&map, &m), "tma_describe");
    return map;
}

static void probe_maps(void)
{
    const int rows = 80, cols = 72; /* so that boxes hang over both ends */
    both<uint16_t> in((size_t)rows * cols), out(64 * 64), y((size_t)rows * cols);
    const int corners[][2] = { { 0, 0 }, { 16, 8 }, { 40, 32 } };

    for (size_t i = 0; i < in.host.size(); i++)
        in.host[i] = (uint16_t)(i + 1);
    in.up();
    for (auto &at : corners) {
        long wrong = 0;
        probe_load<<<1, 128, sizeof(probe_shared)>>>(
            describe(TMA_BF16, in.device, rows, cols, 64, 64),
            reinterpret_cast<unsigned *>(out.device), at[0], at[1]);
        finish("tensor map, load");
        out.down();
        for (int r = 0; r < 64; r++)
            for (int c = 0; c < 64; c++) {
                int place = cuda_swizzled_bytes<8>(r, c / 8) / 2 + c % 8;
                bool inside = r + at[0] < rows && c + at[1] < cols;
                int want = inside ? (r + at[0]) * cols + c + at[1] + 1 : 0;
                if (out.host[(size_t)place] != want && wrong++ == 0)
                    printf("  box at (%d, %d): (%d, %d) is %d, want %d\n", at[0], at[1], r, c,
                           out.host[(size_t)place], want);
            }
        verdict("tensor map, load, swizzle, ends", wrong, 64 * 64);
        must(cudaMemset(y.device, 0xff, y.host.size() * 2), "memset");
        probe_store<<<1, 128, sizeof(probe_shared)>>>(
            describe(TMA_BF16, y.device, rows, cols, 64, 64), at[0], at[1]);
        finish("tensor map, store");
        y.down();
        wrong = 0;
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < cols; c++) {
                int i = r - at[0], j = c - at[1];
                bool inside = i >= 0 && i < 64 && j >= 0 && j < 64;
                int want = inside ? i * 64 + j : 0xffff;
                wrong += y.host[(size_t)(r * cols + c)] != want;
            }
        verdict("tensor map, store, swizzle, ends", wrong, rows * cols);
    }
}

/* How TMA_TF32 rounds: to nearest even, to nearest away from zero, or not at all. */
static void probe_rounding(void)
{
    both<float> in(64 * 32), out(64 * 32);
    long cut = 0, away = 0, even = 0, kept = 0;

    for (size_t i = 0; i < in.host.size(); i++) /* ties among them */
        in.host[i] = cuda_bits_float(0x3f800000u + (uint32_t)i * 0x00000800u + (i % 3 == 0));
    in.up();
    probe_load<<<1, 128, sizeof(probe_shared)>>>(describe(TMA_TF32, in.device, 64, 32, 64, 32),
                                                 reinterpret_cast<unsigned *>(out.device), 0, 0);
    finish("tensor map, tf32");
    out.down();
    for (int r = 0; r < 64; r++)
        for (int c = 0; c < 32; c++) {
            uint32_t x = cuda_float_bits(in.host[(size_t)(r * 32 + c)]);
            uint32_t got =
                cuda_float_bits(out.host[(size_t)(cuda_swizzled_bytes<8>(r, c / 4) / 4 + c % 4)]);
            kept += got == x;
            cut += got == (x & 0xffffe000u);
            away += got == ((x + 0x1000u) & 0xffffe000u);
            even += got == ((x + 0xfffu + (x >> 13 & 1)) & 0xffffe000u);
        }
    printf(
        "tensor map, tf32: of 2048 values %ld as they were, %ld cut, %ld to nearest away, %ld to "
        "nearest even\n",
        kept, cut, away, even);
    if (away < 2048 && even < 2048)
        printf("  NOTE: not rounded: tf32 products are biased\n");
}

/* ---- wgmma ---- */

enum probe_form { PROBE_SS, PROBE_RS, PROBE_SS_N_MAJOR, PROBE_RS_N_MAJOR };

/* out[64, N] = x[64, 64] b, b being w[N, 64]^T, or v[64, N] in N-major forms. */
template <int N, int FORM>
__global__ void probe_product(const __grid_constant__ CUtensorMap x,
                              const __grid_constant__ CUtensorMap w, const bf16 *a, float *out,
                              int swapped)
{
    constexpr bool n_major = FORM == PROBE_SS_N_MAJOR || FORM == PROBE_RS_N_MAJOR;
    probe_shared &s = probe_begin();
    int t = (int)threadIdx.x, row = t / 32 * 16 + t % 32 / 4;
    float d[N / 2] = {};

    if (t == 0) {
        cuda_mbarrier_expect(&s.full, 64 * 128 + N * 128);
        tma_load(s.a, &x, &s.full, 0, 0);
        for (int n = 0; n < N; n += 64)
            if (n_major)
                tma_load(s.b + n * 128, &w, &s.full, 0, n);
            else
                tma_load(s.b + n * 128, &w, &s.full, n, 0);
    }
    cuda_mbarrier_wait(&s.full, 0);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint64_t xs = wgmma_matrix(cuda_shared_address(s.a)) + (uint64_t)(2 * i);
        uint64_t ws = wgmma_matrix(cuda_shared_address(s.b)) + (uint64_t)(2 * i);
        if (n_major) {
            ws = wgmma_matrix_n_major(cuda_shared_address(s.b) + 2048u * (uint32_t)i, 8192);
            if (swapped)
                ws = (ws & ~0x00003fff3fff0000ull) | (uint64_t)(8192 >> 4) << 32 | 64ull << 16;
        }
        if constexpr (FORM == PROBE_RS || FORM == PROBE_RS_N_MAJOR) {
            uint32_t f[4];
#pragma unroll
            for (int q = 0; q < 4; q++)
                f[q] = *reinterpret_cast<const uint32_t *>(a + (row + q % 2 * 8) * 64 + 16 * i +
                                                           q / 2 * 8 + t % 4 * 2);
            wgmma_fence();
            wgmma_bf16<N, n_major>(d, f, ws, 1);
            wgmma_commit();
            wgmma_wait<0>();
        } else {
            wgmma_bf16<N, n_major>(d, xs, ws, i > 0);
        }
    }
    wgmma_commit();
    wgmma_wait<0>();
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
        asm volatile("" : "+f"(d[i])::"memory");
        out[(row + 8 * (i / 2 % 2)) * N + 8 * (i / 4) + t % 4 * 2 + i % 2] = d[i];
    }
}

/* x is the identity and then random small integers; w[j][p] is j, p, and random. All exact. */
template <int N, int FORM> static void probe_wgmma(const char *what, bool swapped = false)
{
    constexpr bool n_major = FORM == PROBE_SS_N_MAJOR || FORM == PROBE_RS_N_MAJOR;
    both<bf16> x(64 * 64), w(64 * N);
    both<float> out(64 * N);
    static const char *const codes[] = { "identity, j", "identity, p", "integers" };

    for (int code = 0; code < 3; code++) {
        long wrong = 0;
        std::vector<float> xs(64 * 64), ws((size_t)64 * N);
        for (int i = 0; i < 64 * 64; i++)
            xs[(size_t)i] = code < 2 ? i / 64 == i % 64 : (float)(rand() % 7 - 3);
        for (int j = 0; j < N; j++)
            for (int p = 0; p < 64; p++)
                ws[(size_t)(j * 64 + p)] = code == 0   ? (float)j
                                           : code == 1 ? (float)p
                                                       : (float)(rand() % 7 - 3);
        for (int i = 0; i < 64 * 64; i++)
            x.host[(size_t)i] = to_bf16(xs[(size_t)i]);
        for (int j = 0; j < N; j++)
            for (int p = 0; p < 64; p++)
                w.host[(size_t)(n_major ? p * N + j : j * 64 + p)] =
                    to_bf16(ws[(size_t)(j * 64 + p)]);
        x.up(), w.up();
        cudaFuncSetAttribute(probe_product<N, FORM>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)sizeof(probe_shared));
        probe_product<N, FORM><<<1, 128, sizeof(probe_shared)>>>(
            describe(TMA_BF16, x.device, 64, 64, 64, 64),
            n_major ? describe(TMA_BF16, w.device, 64, N, 64, 64)
                    : describe(TMA_BF16, w.device, N, 64, 64, 64),
            x.device, out.device, swapped);
        finish(what);
        out.down();
        for (int i = 0; i < 64; i++)
            for (int j = 0; j < N; j++) {
                float want = 0;
                for (int p = 0; p < 64; p++)
                    want += xs[(size_t)(i * 64 + p)] * ws[(size_t)(j * 64 + p)];
                float got = out.host[(size_t)(i * N + j)];
                if (got != want && wrong++ < 4)
                    printf("  %s: (%d, %d) is %g, want %g\n", codes[code], i, j, got, want);
            }
        verdict(what, wrong, 64 * N);
    }
}

/* ---- stmatrix, clusters, registers ---- */

__global__ void probe_stmatrix(unsigned *out)
{
    probe_shared &s = cuda_shared<probe_shared>();
    unsigned l = threadIdx.x % 32;

    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     cuda_shared_address(s.a) + 16 * l),
                 "r"(4 * l), "r"(4 * l + 1), "r"(4 * l + 2), "r"(4 * l + 3)
                 : "memory");
    __syncwarp();
    for (unsigned i = l; i < 128; i += 32)
        out[i] = reinterpret_cast<unsigned *>(s.a)[i];
}

static void probe_stores(void)
{
    both<unsigned> out(128);
    long wrong = 0;

    probe_stmatrix<<<1, 32, sizeof(probe_shared)>>>(out.device);
    finish("stmatrix");
    out.down();
    for (unsigned m = 0; m < 4; m++) /* row r of matrix m is at 16 bytes times lane 8 m + r */
        for (unsigned r = 0; r < 8; r++)
            for (unsigned c = 0; c < 4; c++)
                wrong += out.host[(8 * m + r) * 4 + c] != 4 * (4 * r + c) + m;
    verdict("stmatrix x4", wrong, 128);
}

/* Two blocks: each loads half of a box of 128 rows for both, and tells both when it has read it;
 * three rounds through one stage. */
__global__ void __cluster_dims__(2, 1, 1)
    probe_multicast(const __grid_constant__ CUtensorMap map, unsigned *out)
{
    probe_shared &s = cuda_shared<probe_shared>();
    unsigned rank = cuda_cluster_rank();

    if (threadIdx.x == 0) {
        cuda_mbarrier_init(&s.full, 1);
        cuda_mbarrier_init(&s.empty, 2 * 4);
        cuda_mbarrier_publish();
    }
    cuda_cluster_barrier();
    for (int round = 0; round < 3; round++) {
        if (threadIdx.x == 0) {
            cuda_mbarrier_wait_cluster(&s.empty, (unsigned)round % 2 ^ 1);
            cuda_mbarrier_expect(&s.full, 128 * 128);
            tma_load_to(s.b + rank * 64 * 128, &map, &s.full, 128 * round + (int)rank * 64, 0, 3);
        }
        __syncwarp();
        cuda_mbarrier_wait(&s.full, (unsigned)round % 2);
        for (int i = (int)threadIdx.x; i < 128 * 32; i += (int)blockDim.x)
            out[((unsigned)round * 2 + rank) * 128 * 32 + (unsigned)i] =
                reinterpret_cast<unsigned *>(s.b)[i];
        __syncwarp();
        if (threadIdx.x % 32 < 2)
            cuda_mbarrier_arrive_at(&s.empty, threadIdx.x % 32);
    }
    cuda_cluster_barrier();
}

static void probe_cluster(void)
{
    both<uint16_t> in(384 * 64), out(3 * 2 * 128 * 64);
    long wrong = 0;

    for (size_t i = 0; i < in.host.size(); i++)
        in.host[i] = (uint16_t)i;
    in.up();
    probe_multicast<<<2, 128, sizeof(probe_shared)>>>(
        describe(TMA_BF16, in.device, 384, 64, 64, 64), reinterpret_cast<unsigned *>(out.device));
    finish("multicast");
    out.down();
    for (int round = 0; round < 3; round++)
        for (int rank = 0; rank < 2; rank++)
            for (int r = 0; r < 128; r++)
                for (int c = 0; c < 64; c++) {
                    int at = (round * 2 + rank) * 128 * 64 + cuda_swizzled_bytes<8>(r, c / 8) / 2 +
                             c % 8;
                    int want = ((128 * round + r) * 64 + c) & 0xffff;
                    if (out.host[(size_t)at] != want && wrong++ == 0)
                        printf("  round %d block %d (%d, %d): %d, want %d\n", round, rank, r, c,
                               out.host[(size_t)at], want);
                }
    verdict("multicast in a cluster of 2, remote arrivals", wrong, 3 * 2 * 128 * 64);
}

__global__ void __launch_bounds__(384, 1) probe_registers(float *out, const float *in)
{
    if (threadIdx.x >= 256) {
        wgmma_lower_registers<40>();
    } else {
        float v[200];

        wgmma_raise_registers<232>();
#pragma unroll
        for (int i = 0; i < 200; i++)
            v[i] = in[i * 256 + (int)threadIdx.x];
        for (int round = 0; round < 4; round++)
#pragma unroll
            for (int i = 0; i < 200; i++)
                v[i] = v[i] + v[(i + 1) % 200];
#pragma unroll
        for (int i = 0; i < 200; i++)
            out[i * 256 + (int)threadIdx.x] = v[i];
    }
}

static void probe_setmaxnreg(void)
{
    both<float> in(200 * 256), out(200 * 256);
    long wrong = 0;

    for (size_t i = 0; i < in.host.size(); i++)
        in.host[i] = (float)(i % 97);
    in.up();
    probe_registers<<<1, 384>>>(out.device, in.device);
    finish("setmaxnreg");
    out.down();
    for (int t = 0; t < 256; t++) {
        float v[200];
        for (int i = 0; i < 200; i++)
            v[i] = in.host[(size_t)(i * 256 + t)];
        for (int round = 0; round < 4; round++)
            for (int i = 0; i < 200; i++)
                v[i] = v[i] + v[(i + 1) % 200];
        for (int i = 0; i < 200; i++)
            wrong += out.host[(size_t)(i * 256 + t)] != v[i];
    }
    verdict("setmaxnreg 40/232", wrong, 200 * 256);
}

static void probe_all(void)
{
    probe_maps();
    probe_rounding();
    probe_stores();
    probe_wgmma<64, PROBE_SS>("wgmma n 64, both in shared memory");
    probe_wgmma<128, PROBE_SS>("wgmma n 128, both in shared memory");
    probe_wgmma<256, PROBE_SS>("wgmma n 256, both in shared memory");
    probe_wgmma<64, PROBE_RS>("wgmma n 64, A in registers");
    probe_wgmma<128, PROBE_RS>("wgmma n 128, A in registers");
    int before = probes_wrong;
    probe_wgmma<64, PROBE_SS_N_MAJOR>("wgmma n 64, N-major");
    probe_wgmma<128, PROBE_SS_N_MAJOR>("wgmma n 128, N-major");
    probe_wgmma<128, PROBE_RS_N_MAJOR>("wgmma n 128, A in registers, N-major");
    if (probes_wrong > before)
        probe_wgmma<128, PROBE_SS_N_MAJOR>("the same, the two distances swapped", true);
    probe_cluster();
    probe_setmaxnreg();
}

#endif
