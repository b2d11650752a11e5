/* SPDX-License-Identifier: MIT */
/*
 * The wrappers of single instructions that device_primitives.cu has not: products and matrices of a
 * warp, copies by cp.async and in bulk, words sent through a cluster, flagged words, functions.
 * What comes back is compared with plain loops on the host.
 *
 *     nvcc -std=c++20 -O3 -I. -cudart static -gencode=arch=compute_90a,code=sm_90a
 *         tests/cuda/device_wrappers.cu kernels/cuda/tma.cu -o device_wrappers
 *
 * A line for each; exit status 1 where one is wrong, 77 where there is no device of compute
 * capability 9.0.
 */
#include "kernels/cuda/bulk.h"
#include "kernels/cuda/cluster.h"
#include "kernels/cuda/flagged.h"
#include "kernels/cuda/fp8.h"
#include "kernels/cuda/math.h"
#include "kernels/cuda/mma.h"
#include "kernels/cuda/pdl.h"
#include "kernels/cuda/reduce.h"
#include "kernels/cuda/tma.h"

#include "device_memory.h"

#include <math.h>
#include <string.h>

/* Says how many of `got` differ from `want` by more than `most` of it, and where the first is. */
static void compare(const char *what, const both<float> &got, const std::vector<float> &want,
                    float most)
{
    size_t bad = 0, first = 0;

    for (size_t i = 0; i < want.size(); i++)
        if (!(fabsf(got.host[i] - want[i]) <= most * fabsf(want[i])) && bad++ == 0)
            first = i;
    if (bad == 0)
        printf("ok     %s\n", what);
    else
        printf("WRONG  %s: %zu of %zu, first at %zu: got %g, want %g\n", what, bad, want.size(),
               first, got.host[first], want[first]);
    probes_wrong += bad > 0;
}

/* In (-2, 2), exact in bf16 and in tf32. */
static void fill(both<float> &to, unsigned seed)
{
    for (float &x : to.host) {
        seed = seed * 1664525u + 1013904223u;
        x = (float)((int)(seed >> 24) - 128) / 64.0f;
    }
    to.up();
}

/* ---- Products and matrices of a warp ---- */

/* c += a b of m16n8k<K>: a [16][K], b [K][8], c [16][8]; the fragments are filled by their maps. */
template <int K> __global__ void mma_kernel(const float *a, const float *b, float *c)
{
    int lane = (int)threadIdx.x;
    uint32_t fa[4], fb[2];
    float fc[4];

    for (int i = 0; i < 4; i++) {
        mma_at to = mma_c(lane, i), low = mma_a16(lane, 2 * i), high = mma_a16(lane, 2 * i + 1);
        if (K == 8)
            low = mma_a8(lane, i);
        float x = a[low.row * K + low.col];
        fa[i] = K == 8 ? cuda_tf32(x) : cuda_bf16x2(x, a[high.row * K + high.col % K]);
        fc[i] = c[to.row * 8 + to.col];
    }
    for (int i = 0; i < 2; i++) {
        mma_at low = K == 8 ? mma_b8(lane, i) : mma_b16(lane, 2 * i);
        mma_at high = mma_b16(lane, 2 * i + 1);
        float x = b[low.row * 8 + low.col];
        fb[i] = K == 8 ? cuda_tf32(x) : cuda_bf16x2(x, b[high.row % K * 8 + high.col]);
    }
    if constexpr (K == 8)
        mma_tf32(fc, fa, fb);
    else
        mma_bf16(fc, fa, fb);
    for (int i = 0; i < 4; i++)
        c[mma_c(lane, i).row * 8 + mma_c(lane, i).col] = fc[i];
}

template <int K> static void check_mma(const char *what)
{
    both<float> a(16 * K), b(K * 8), c(16 * 8);

    fill(a, 1), fill(b, 2), fill(c, 3);
    std::vector<float> want = c.host;
    for (int i = 0; i < 16 * 8; i++)
        for (int k = 0; k < K; k++)
            want[(size_t)i] += a.host[(size_t)(i / 8 * K + k)] * b.host[(size_t)(k * 8 + i % 8)];
    cuda_launch<mma_kernel<K>>(1, 32, 0, 0, a.device, b.device, c.device);
    finish(what);
    c.down();
    compare(what, c, want, 1e-5f);
}

struct rows_shared {
    alignas(16) uint16_t row[32][8];
};

/* Each lane's registers, in the order of lanes. */
template <bool TRANSPOSED> __global__ void matrices_kernel(float *out)
{
    rows_shared &s = cuda_shared<rows_shared>();
    int lane = (int)threadIdx.x;
    uint32_t got[4];

    for (int i = 0; i < 8; i++)
        s.row[lane][i] = (uint16_t)(lane * 8 + i);
    __syncthreads();
    if constexpr (TRANSPOSED)
        mma_load4_transposed(got, s.row[lane]);
    else
        mma_load4(got, s.row[lane]);
    for (int j = 0; j < 4; j++)
        for (int half = 0; half < 2; half++)
            out[(lane * 4 + j) * 2 + half] = (float)(got[j] >> (16 * half) & 0xffffu);
}

template <bool TRANSPOSED> static void check_matrices(const char *what)
{
    both<float> out(32 * 8);
    std::vector<float> want;

    for (int lane = 0; lane < 32; lane++)
        for (int j = 0; j < 4; j++)
            for (int half = 0; half < 2; half++) {
                int row = lane / 4, col = 2 * (lane % 4) + half;
                want.push_back(
                    (float)(8 * (8 * j + (TRANSPOSED ? col : row)) + (TRANSPOSED ? row : col)));
            }
    cuda_launch<matrices_kernel<TRANSPOSED>>(1, 32, sizeof(rows_shared), 0, out.device);
    finish(what);
    out.down();
    compare(what, out, want, 0);
}

/* ---- Copies ---- */

struct halves_shared {
    alignas(16) float half[2][32 * 4];
};

/* Every third piece is not there, and becomes zeros; two groups, of which one is awaited first. */
template <int BYTES> __global__ void async_kernel(const float *from, float *to)
{
    constexpr int WIDE = BYTES / 4;
    halves_shared &s = cuda_shared<halves_shared>();
    int lane = cuda_lane_again();

    for (int g = 0; g < 2; g++) {
        cuda_prefetch(from + (g * 32 + lane) * WIDE);
        cuda_async_copy<BYTES>(s.half[g] + lane * WIDE, from + (g * 32 + lane) * WIDE,
                               lane % 3 != 2);
        cuda_async_commit();
    }
    cuda_async_wait<1>();
    __syncthreads();
    for (int i = lane; i < 32 * WIDE; i += 32)
        to[i] = s.half[0][i];
    cuda_async_wait<0>();
    __syncthreads();
    for (int i = lane; i < 32 * WIDE; i += 32)
        to[32 * WIDE + i] = s.half[1][i];
}

template <int BYTES> static void check_async(void)
{
    constexpr int WIDE = BYTES / 4;
    both<float> from(64 * WIDE), to(64 * WIDE);
    char what[60];

    snprintf(what, sizeof(what), "cp.async of %d bytes, or zeros", BYTES);
    fill(from, 4);
    std::vector<float> want = from.host;
    for (size_t i = 0; i < want.size(); i++)
        want[i] = i / WIDE % 32 % 3 == 2 ? 0 : want[i];
    cuda_launch<async_kernel<BYTES>>(1, 32, sizeof(halves_shared), 0, from.device, to.device);
    finish(what);
    to.down();
    compare(what, to, want, 0);
}

/* One arrival fills it; all threads know it then. */
static __device__ void make_ready(cuda_mbarrier *full)
{
    if (threadIdx.x == 0) {
        cuda_mbarrier_init(full, 1);
        cuda_mbarrier_publish();
    }
    __syncthreads();
}

struct bulk_shared {
    alignas(128) float at[256];
    cuda_mbarrier full;
};

__global__ void bulk_kernel(const float *from, float *to)
{
    bulk_shared &s = cuda_shared<bulk_shared>();

    make_ready(&s.full);
    if (threadIdx.x == 0) {
        cuda_bulk_prefetch(from, sizeof(s.at));
        cuda_mbarrier_expect(&s.full, sizeof(s.at));
        cuda_bulk_load(s.at, from, 512, &s.full);
        cuda_bulk_load(s.at + 128, from + 128, 512, &s.full);
    }
    cuda_mbarrier_wait(&s.full, 0);
    to[threadIdx.x] = s.at[threadIdx.x];
}

static void check_bulk(void)
{
    const char *what = "bulk copies of 512 bytes, two on one barrier";
    both<float> from(256), to(256);

    fill(from, 5);
    cuda_launch<bulk_kernel>(1, 256, sizeof(bulk_shared), 0, from.device, to.device);
    finish(what);
    to.down();
    compare(what, to, from.host, 0);
}

enum { MATRICES = 3, ROWS = 8, COLS = 32 }; /* floats: 128 bytes a row */

struct box_shared {
    alignas(1024) float box[ROWS * COLS];
    cuda_mbarrier full;
};

__global__ void box_kernel(const __grid_constant__ CUtensorMap map, int which, float *to)
{
    box_shared &s = cuda_shared<box_shared>();

    make_ready(&s.full);
    if (threadIdx.x == 0) {
        cuda_mbarrier_expect(&s.full, sizeof(s.box));
        tma_load_3d(s.box, &map, &s.full, which, 4, 0);
    }
    cuda_mbarrier_wait(&s.full, 0);
    to[threadIdx.x] = s.box[threadIdx.x];
}

/* Rows 4 to 11 of each matrix of 10: the last two are zeros, and not the next matrix's. */
static void check_box(void)
{
    const char *what = "tma_load_3d of each of three matrices";
    both<float> from(MATRICES * 10 * COLS), to(ROWS * COLS);
    CUtensorMap map;
    struct tma_matrices m = {};

    fill(from, 7);
    m.each = { TMA_FP32, from.device, 10, COLS, COLS, ROWS, COLS, false };
    m.count = MATRICES;
    m.pitch = 10 * COLS;
    must(tma_describe_3d(&map, &m), what);
    for (int which = 0; which < MATRICES; which++) {
        std::vector<float> want;
        for (int i = 0; i < ROWS * COLS; i++)
            want.push_back(i / COLS < 6 ? from.host[(size_t)((which * 10 + 4) * COLS + i)] : 0.0f);
        cuda_launch<box_kernel>(1, ROWS * COLS, sizeof(box_shared), 0, map, which, to.device);
        finish(what);
        to.down();
        compare(what, to, want, 0);
    }
}

/* ---- Through a cluster ---- */

struct sent_shared {
    alignas(16) float word[3][32], got[32], copied[64], mine[64];
    cuda_mbarrier arrived;
};

/* Each block sends to the next: 16, 8 and 4 bytes a thread, and 256 in bulk; and reads 16 bytes
 * there of four different words. */
__global__ void sent_kernel(int blocks, float *out)
{
    sent_shared &s = cuda_shared<sent_shared>();
    unsigned rank = cuda_cluster_rank(), next = (rank + 1) % (unsigned)blocks;
    int t = (int)threadIdx.x;
    float base = (float)(1000 * rank);

    if (t == 0) {
        cuda_mbarrier_init(&s.arrived, 1);
        cuda_mbarrier_publish();
        cuda_mbarrier_expect(&s.arrived, sizeof(s.word) + sizeof(s.copied));
    }
    s.mine[t] = base + 500 + (float)t;
    s.mine[32 + t] = base + 532 + (float)t;
    cuda_cluster_publish();
    __syncthreads();
    cuda_cluster_barrier();
    cuda_cluster_place bar = cuda_cluster_address(&s.arrived, next);
    if (t < 8) {
        uint4 v = { cuda_float_bits(base + 4 * (float)t), cuda_float_bits(base + 4 * (float)t + 1),
                    cuda_float_bits(base + 4 * (float)t + 2),
                    cuda_float_bits(base + 4 * (float)t + 3) };
        cuda_cluster_send16(cuda_cluster_address(s.word[0] + 4 * t, next), v, bar);
    }
    if (t < 16)
        cuda_cluster_send8(cuda_cluster_address(s.word[1] + 2 * t, next), base + 100 + 2 * (float)t,
                           base + 101 + 2 * (float)t, bar);
    cuda_cluster_send4(cuda_cluster_address(s.word[2] + t, next), base + 200 + (float)t, bar);
    if (t == 0)
        cuda_cluster_copy(cuda_cluster_address(s.copied, next), s.mine, sizeof(s.mine), bar);
    cuda_mbarrier_wait_cluster(&s.arrived, 0);
    if (t < 8) {
        uint4 v = cuda_cluster_load16(cuda_cluster_address(s.mine + 4 * t, next));
        s.got[4 * t] = cuda_bits_float(v.x), s.got[4 * t + 1] = cuda_bits_float(v.y);
        s.got[4 * t + 2] = cuda_bits_float(v.z), s.got[4 * t + 3] = cuda_bits_float(v.w);
    }
    __syncthreads();
    float *to = out + rank * 192;
    for (int i = 0; i < 3; i++)
        to[32 * i + t] = s.word[i][t];
    to[96 + t] = s.got[t];
    to[128 + t] = s.copied[t];
    to[160 + t] = s.copied[32 + t];
    cuda_cluster_barrier();
}

static void check_sent(int blocks)
{
    both<float> out((size_t)(192 * blocks));
    std::vector<float> want;
    char what[60];

    snprintf(what, sizeof(what), "words and bytes sent through %d blocks", blocks);
    for (int b = 0; b < blocks; b++) {
        int from = (b + blocks - 1) % blocks, to = (b + 1) % blocks;
        for (int i = 0; i < 192; i++)
            want.push_back((float)(i < 96    ? 1000 * from + 100 * (i / 32) + i % 32
                                   : i < 128 ? 1000 * to + 500 + i - 96
                                             : 1000 * from + 500 + i - 128));
    }
    cuda_launch_with<sent_kernel>({ .cluster = blocks }, (unsigned)blocks, 32, sizeof(sent_shared),
                                  0, blocks, out.device);
    finish(what);
    out.down();
    compare(what, out, want, 0);
}

/* ---- Flagged words and functions ---- */

/* Behind the kernel in front, which it may overlap: waits for it before it reads what that one
 * wrote. */
__global__ void flagged_kernel(cuda_flagged *words, float *out)
{
    int i = 2 * (cuda_block_again() * (int)blockDim.x + (int)threadIdx.x);
    float got[2] = { -1, -1 };

    cuda_pdl_wait();
    cuda_pdl_launch();
    bool early = cuda_flagged_try2(words + i, 7, got);
    cuda_flagged_store2(words + i, (float)i + 0.5f, (float)i + 1.5f, 7);
    bool late = cuda_flagged_try2(words + i, 7, got);
    out[i] = early || !late ? -1 : got[0];
    out[i + 1] = got[1];
}

static void check_flagged(void)
{
    const char *what = "flagged words, none before they are there";
    both<cuda_flagged> words(256);
    both<float> out(256);
    std::vector<float> want;

    for (int i = 0; i < 256; i++)
        want.push_back((float)i + 0.5f);
    words.up();
    cuda_launch<flagged_kernel>(2, 64, 0, 0, words.device, out.device);
    finish(what);
    out.down();
    compare(what, out, want, 0);
}

__global__ void functions_kernel(const float *x, float *out)
{
    int i = (int)threadIdx.x;

    out[4 * i] = cuda_exp2(x[i]);
    out[4 * i + 1] = cuda_reciprocal(x[i] + 3);
    out[4 * i + 2] = cuda_bits_float(cuda_tf32(1.0f + x[i] / 4096));
    out[4 * i + 3] = cuda_float(cuda_from<bf16>(x[i]));
}

static void check_functions(void)
{
    const char *what = "2^x, 1/x within 2 ulp, rounding to tf32 and bf16";
    both<float> x(64), out(256);
    std::vector<float> want;

    fill(x, 6);
    for (float v : x.host) {
        want.push_back((float)exp2((double)v));
        want.push_back((float)(1 / ((double)v + 3)));
        double tf32 = 1 + (double)v / 4096; /* to 10 bits, ties away from zero */
        double step = tf32 < 1 ? 2048 : 1024;
        want.push_back((float)(floor(tf32 * step + 0.5) / step));
        want.push_back(v);
    }
    cuda_launch<functions_kernel>(1, 64, 0, 0, x.device, out.device);
    finish(what);
    out.down();
    compare(what, out, want, 2.4e-7f);
}

/* The bytes of x and of its opposite. */
__global__ void e4m3_kernel(const float *x, float *out)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    uint32_t two = cuda_e4m3x2(x[i], -x[i]);

    out[2 * i] = (float)(two & 0xff);
    out[2 * i + 1] = (float)(two >> 8);
}

/* Every number of the type, the middle between every two, which goes to the even one, and what is
 * too large. */
static void check_e4m3(void)
{
    const char *what = "rounding to e4m3";
    both<float> x(256), out(512);
    std::vector<float> want;

    for (int i = 0; i < 256; i++) {
        int of = i / 2 < 0x7e ? i / 2 : 0x7e;
        bool middle = i % 2 == 1 && of < 0x7e;
        float low = cuda_e4m3_float((uint8_t)of);
        x.host[(size_t)i] = middle ? (low + cuda_e4m3_float((uint8_t)(of + 1))) / 2 : low;
        if (i >= 253)
            x.host[(size_t)i] = i == 253 ? 470 : i == 254 ? 1e30f : INFINITY;
        want.push_back((float)(middle ? of + of % 2 : of));
        want.push_back(want.back() + 128);
    }
    x.up();
    cuda_launch<e4m3_kernel>(4, 64, 0, 0, x.device, out.device);
    finish(what);
    out.down();
    compare(what, out, want, 0);
}

static void check_all(void)
{
    check_mma<16>("mma.sync m16n8k16 of bf16");
    check_mma<8>("mma.sync m16n8k8 of tf32");
    check_matrices<false>("ldmatrix");
    check_matrices<true>("ldmatrix, transposed");
    check_async<4>();
    check_async<8>();
    check_async<16>();
    check_bulk();
    check_box();
    for (int blocks : { 2, 4 })
        check_sent(blocks);
    check_flagged();
    check_functions();
    check_e4m3();
}

int main(void)
{
    cudaDeviceProp p;

    setvbuf(stdout, nullptr, _IOLBF, 0);
    if (cudaGetDeviceProperties(&p, 0) != cudaSuccess || p.major != 9) {
        printf("no device of compute capability 9.0\n");
        return 77;
    }
    check_all();
    return probes_wrong > 0;
}
