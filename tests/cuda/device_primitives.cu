/* SPDX-License-Identifier: MIT */
/*
 * What kernels/cuda's headers for sm_90 do on a device, one instruction at a time: inputs are coded
 * by their index or random, and what comes back is compared with what the header promises. Then
 * what launches, nodes of graphs and barriers cost: the facts on which the forwards rest.
 *
 *     nvcc -std=c++20 -O3 -I. -cudart static -gencode=arch=compute_90a,code=sm_90a
 *         tests/cuda/device_primitives.cu kernels/cuda/tma.cu -o device_primitives
 *
 * A line for each; exit status 1 where one is wrong, 77 where there is no device of compute
 * capability 9.0.
 */
#include "kernels/cuda/bf16.h"
#include "kernels/cuda/cluster.h"
#include "kernels/cuda/fp8.h"
#include "kernels/cuda/pdl.h"
#include "kernels/cuda/swizzle.h"
#include "kernels/cuda/tma.h"
#include "kernels/cuda/wgmma_fp8.h"
#include "models/gpt_cuda_cluster_wgmma.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static int wrong;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        cudaError_t rc = (call);                                                                   \
        if (rc != cudaSuccess) {                                                                   \
            printf("%s: %s\n", #call, cudaGetErrorString(rc));                                     \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

template <class T> struct on_device {
    T *data;
    size_t nr;

    explicit on_device(size_t n) : nr(n)
    {
        TRY(cudaMalloc(&data, n * sizeof(T)));
        TRY(cudaMemset(data, 0xff, n * sizeof(T)));
    }
    explicit on_device(const std::vector<T> &v) : on_device(v.size())
    {
        TRY(cudaMemcpy(data, v.data(), nr * sizeof(T), cudaMemcpyHostToDevice));
    }
    on_device(const on_device &) = delete;
    ~on_device()
    {
        cudaFree(data);
    }
    std::vector<T> host() const
    {
        std::vector<T> v(nr);
        TRY(cudaDeviceSynchronize());
        TRY(cudaMemcpy(v.data(), data, nr * sizeof(T), cudaMemcpyDeviceToHost));
        return v;
    }
};

/* Says how many of `got` differ from `want` by more than `most`, and where the first is. */
static void report(const char *what, const std::vector<float> &got, const std::vector<float> &want,
                   int cols, float most)
{
    size_t bad = 0, first = 0;

    for (size_t i = 0; i < want.size(); i++)
        if (!(std::fabs(got[i] - want[i]) <= most) && bad++ == 0)
            first = i;
    if (bad == 0) {
        printf("ok     %s\n", what);
        return;
    }
    wrong = 1;
    printf("WRONG  %s: %zu of %zu, first at (%zu, %zu): got %g, want %g\n", what, bad, want.size(),
           first / (size_t)cols, first % (size_t)cols, got[first], want[first]);
}

static std::vector<float> random_values(size_t n, unsigned seed)
{
    std::vector<float> v(n);

    for (float &x : v) {
        seed = seed * 1664525u + 1013904223u;
        x = (float)((int)(seed >> 24) - 128) / 64.0f; /* exact in bf16 */
    }
    return v;
}

static std::vector<bf16> to_bf16(const std::vector<float> &v)
{
    std::vector<bf16> b(v.size());

    for (size_t i = 0; i < v.size(); i++)
        b[i] = cuda_from<bf16>(v[i]);
    return b;
}

/* ---- Bulk copies ---- */

constexpr int BOX = 64; /* rows and columns of bf16: 128 bytes a row */

struct box_shared {
    alignas(1024) bf16 box[BOX * BOX], other[BOX * BOX];
    cuda_mbarrier full;
};

/* Loads the box at (row, col) and gives shared memory as it is; stores it through `out`, too. */
__global__ void box_kernel(const __grid_constant__ CUtensorMap in,
                           const __grid_constant__ CUtensorMap out, int row, int col, float *dump)
{
    box_shared &s = cuda_shared<box_shared>();

    if (threadIdx.x == 0) {
        tma_prefetch(&in);
        cuda_mbarrier_init(&s.full, 1);
        cuda_mbarrier_publish();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda_mbarrier_expect(&s.full, sizeof(s.box));
        tma_load(s.box, &in, &s.full, row, col);
    }
    cuda_mbarrier_wait(&s.full, 0);
    for (int i = (int)threadIdx.x; i < BOX * BOX; i += (int)blockDim.x)
        dump[i] = cuda_float(s.box[i]);
    if (threadIdx.x == 0) {
        tma_store(&out, s.box, row, col);
        tma_store_commit();
        tma_store_wait<0>();
    }
}

static void check_box(bool swizzle, int row, int col)
{
    const int rows = 100, cols = 120, ld = 136;
    char what[80];
    std::vector<float> m((size_t)rows * ld);
    for (size_t i = 0; i < m.size(); i++)
        m[i] = (float)((i * 7 + i / 136) % 251);
    on_device<bf16> from(to_bf16(m)), to(to_bf16(std::vector<float>(m.size(), -1.0f)));
    on_device<float> dump(BOX * BOX);
    CUtensorMap in, out;
    struct tma_matrix t = { TMA_BF16, from.data, rows, cols, ld, BOX, BOX, swizzle };
    TRY(tma_describe(&in, &t));
    t.data = to.data;
    TRY(tma_describe(&out, &t));
    cuda_launch<box_kernel>(1, 128, sizeof(box_shared), 0, in, out, row, col, dump.data);
    TRY(cudaGetLastError());

    std::vector<float> want(BOX * BOX), moved((size_t)rows * ld, -1.0f), back(moved.size());
    for (int r = 0; r < BOX; r++)
        for (int c = 0; c < BOX; c++) {
            bool inside = row + r < rows && col + c < cols;
            size_t at = (size_t)(row + r) * ld + (size_t)(col + c);
            int place = swizzle ? cuda_swizzled_bytes<8>(r, c / 8) / 2 + c % 8 : r * BOX + c;
            want[(size_t)place] = inside ? m[at] : 0.0f;
            if (inside)
                moved[at] = m[at];
        }
    snprintf(what, sizeof(what), "tma_load of a box at (%d, %d)%s", row, col,
             swizzle ? ", swizzled" : "");
    report(what, dump.host(), want, BOX, 0);
    std::vector<bf16> stored = to.host();
    for (size_t i = 0; i < back.size(); i++)
        back[i] = cuda_float(stored[i]);
    snprintf(what, sizeof(what), "tma_store of it%s", swizzle ? ", swizzled" : "");
    report(what, back, moved, ld, 0);
}

struct bytes_shared {
    alignas(128) float at[1024];
    cuda_mbarrier full;
};

__global__ void bytes_kernel(const float *from, float *to)
{
    bytes_shared &s = cuda_shared<bytes_shared>();

    if (threadIdx.x == 0) {
        cuda_mbarrier_init(&s.full, 1);
        cuda_mbarrier_publish();
    }
    __syncthreads();
    for (unsigned round = 0; round < 3; round++) { /* parities 0, 1, 0 */
        if (threadIdx.x == 0) {
            cuda_mbarrier_expect(&s.full, sizeof(s.at));
            tma_load_bytes(s.at, from + round * 1024, sizeof(s.at), &s.full);
        }
        cuda_mbarrier_wait(&s.full, round % 2);
        s.at[threadIdx.x] += 1.0f;
        wgmma_publish();
        __syncthreads();
        if (threadIdx.x == 0) {
            tma_store_bytes(to + round * 1024, s.at, sizeof(s.at));
            tma_store_commit();
            tma_store_wait_read<0>();
        }
        __syncthreads();
    }
}

static void check_bytes(void)
{
    std::vector<float> v = random_values(3 * 1024, 3), want = v;
    on_device<float> from(v), to(v.size());

    for (float &x : want)
        x += 1.0f;
    cuda_launch<bytes_kernel>(1, 1024, sizeof(bytes_shared), 0, from.data, to.data);
    TRY(cudaGetLastError());
    report("tma_load_bytes, tma_store_bytes, three rounds", to.host(), want, 1024, 0);
}

/* Each of two blocks loads half of the box to both. */
__global__ void multicast_kernel(const __grid_constant__ CUtensorMap half, float *dump)
{
    box_shared &s = cuda_shared<box_shared>();
    int rank = (int)cuda_cluster_rank();

    if (threadIdx.x == 0) {
        cuda_mbarrier_init(&s.full, 1);
        cuda_mbarrier_publish();
    }
    __syncthreads();
    cuda_cluster_barrier();
    if (threadIdx.x == 0) {
        cuda_mbarrier_expect(&s.full, sizeof(s.box));
        tma_load_to(s.box + rank * BOX * BOX / 2, &half, &s.full, rank * BOX / 2, 0, 3);
    }
    cuda_mbarrier_wait(&s.full, 0);
    for (int i = (int)threadIdx.x; i < BOX * BOX; i += (int)blockDim.x)
        dump[rank * BOX * BOX + i] = cuda_float(s.box[i]);
    cuda_cluster_barrier();
}

static void check_multicast(void)
{
    std::vector<float> m = random_values(BOX * BOX, 5), want;
    on_device<bf16> from(to_bf16(m));
    on_device<float> dump(2 * BOX * BOX);
    CUtensorMap half;
    struct tma_matrix t = { TMA_BF16, from.data, BOX, BOX, BOX, BOX / 2, BOX, false };

    TRY(tma_describe(&half, &t));
    cuda_launch_with<multicast_kernel>({ .cluster = 2 }, 2, 128, sizeof(box_shared), 0, half,
                                       dump.data);
    TRY(cudaGetLastError());
    want = m;
    want.insert(want.end(), m.begin(), m.end());
    report("tma_load_to both blocks of a cluster", dump.host(), want, BOX, 0);
}

/* ---- Clusters ---- */

struct cluster_shared {
    alignas(16) float at[128], got[128];
    cuda_mbarrier arrived;
};

/* Each block writes to the next one's shared memory, reads it back from there, and arrives at the
 * barrier of the first. */
__global__ void cluster_kernel(int blocks, float *out)
{
    cluster_shared &s = cuda_shared<cluster_shared>();
    unsigned rank = cuda_cluster_rank(), next = (rank + 1) % (unsigned)blocks, t = threadIdx.x;

    s.at[t] = -1;
    if (t == 0) {
        cuda_mbarrier_init(&s.arrived, (unsigned)blocks);
        cuda_mbarrier_publish();
    }
    __syncthreads();
    cuda_cluster_barrier();
    if (t < 32) {
        float first = (float)(100 * rank + t);
        uint4 v = { cuda_float_bits(first), cuda_float_bits(first + 0.25f),
                    cuda_float_bits(first + 0.5f), cuda_float_bits(first + 0.75f) };
        cuda_cluster_store16(cuda_cluster_address(s.at + 4 * t, next), v);
    }
    cuda_cluster_barrier();
    if (t < 32) {
        uint4 v = cuda_cluster_load16(cuda_cluster_address(s.at + 4 * t, next));
        s.got[4 * t] = cuda_bits_float(v.x), s.got[4 * t + 1] = cuda_bits_float(v.y);
        s.got[4 * t + 2] = cuda_bits_float(v.z), s.got[4 * t + 3] = cuda_bits_float(v.w);
    }
    if (t == 0)
        cuda_mbarrier_arrive_at(&s.arrived, 0);
    if (rank == 0)
        cuda_mbarrier_wait_cluster(&s.arrived, 0);
    __syncthreads();
    out[rank * 256 + t] = s.at[t];
    out[rank * 256 + 128 + t] = s.got[t];
    cuda_cluster_barrier();
}

static void check_cluster(int blocks)
{
    std::vector<float> want((size_t)blocks * 256);
    on_device<float> out(want.size());
    char what[60];

    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < 128; i++) {
            float word = (float)i / 4; /* four of a thread */
            want[(size_t)(b * 256 + i)] = (float)(100 * ((b + blocks - 1) % blocks)) + word;
            want[(size_t)(b * 256 + 128 + i)] = (float)(100 * b) + word;
        }
    if (blocks > 8)
        TRY(cudaFuncSetAttribute(reinterpret_cast<const void *>(cluster_kernel),
                                 cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    cuda_launch_with<cluster_kernel>({ .cluster = blocks }, (unsigned)blocks, 128,
                                     sizeof(cluster_shared), 0, blocks, out.data);
    TRY(cudaGetLastError());
    snprintf(what, sizeof(what), "shared memory and a barrier across %d blocks", blocks);
    report(what, out.host(), want, 128, 0);
}

/* ---- wgmma ---- */

constexpr int K = 64; /* of a product: four steps of bf16; of tf32 half */

struct wgmma_shared {
    alignas(1024) unsigned char a[WGMMA_M * 128], b[256 * 128];
};

enum form { SHARED_A, REGISTERS_A, CLUSTER /* as the forward of a cluster has it */ };

/* Puts a row-major [rows][cols] matrix of T as rows of 128 bytes, swizzled; blocks of 128 bytes of
 * columns one behind the other. */
template <class T> __device__ void put(unsigned char *to, const T *from, int rows, int cols)
{
    constexpr int wide = 128 / (int)sizeof(T), piece = 16 / (int)sizeof(T);

    for (int i = (int)threadIdx.x; i < rows * cols; i += (int)blockDim.x) {
        int r = i / cols, c = i % cols, block = c / wide, inner = c % wide;
        int at = block * rows * 128 + cuda_swizzled_bytes<8>(r, inner / piece) +
                 inner % piece * (int)sizeof(T);
        *reinterpret_cast<T *>(to + at) = from[i];
    }
}

template <int N, bool N_MAJOR, form A>
__global__ void __launch_bounds__(128, 1) bf16_kernel(const bf16 *a, const bf16 *b, float *out)
{
    wgmma_shared &s = cuda_shared<wgmma_shared>();
    int t = (int)threadIdx.x, row = 16 * (t / 32) + t % 32 / 4, col = 2 * (t % 4);
    float d[N / 2];
    uint32_t held[K / 16][4];

    put(s.a, a, WGMMA_M, K);
    if (N_MAJOR)
        put(s.b, b, K, N); /* b is [k][n] */
    else
        put(s.b, b, N, K);
    for (int k = 0; k < K / 16; k++)
        for (int i = 0; i < 4; i++) {
            const bf16 *at = a + (row + 8 * (i % 2)) * K + 16 * k + 8 * (i / 2) + col;
            held[k][i] = (uint32_t)at[0].bits | (uint32_t)at[1].bits << 16;
        }
    for (int i = 0; i < N / 2; i++)
        d[i] = 77; /* the first product does not add */
    wgmma_publish();
    __syncthreads();
    uint32_t pa = cuda_shared_address(s.a), pb = cuda_shared_address(s.b);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < K / 16; k++) {
        uint64_t mb = N_MAJOR ? wgmma_matrix_n_major(pb + (uint32_t)k * 2048, K * 128)
                              : wgmma_matrix(pb + (uint32_t)k * WGMMA_K_BYTES);
        if constexpr (A == SHARED_A)
            wgmma_bf16<N, N_MAJOR>(d, wgmma_matrix(pa + (uint32_t)k * WGMMA_K_BYTES), mb, k > 0);
        else if constexpr (A == REGISTERS_A)
            wgmma_bf16<N, N_MAJOR>(d, held[k], mb, k > 0);
        else
            gpt_cluster_step<N>(d, wgmma_matrix(pa + (uint32_t)k * WGMMA_K_BYTES), mb, k > 0);
    }
    wgmma_commit();
    wgmma_wait<0>();
    for (int i = 0; i < N / 2; i++)
        out[(row + 8 * (i / 2 % 2)) * N + 8 * (i / 4) + col + i % 2] = d[i];
}

template <int N>
__global__ void __launch_bounds__(128, 1) tf32_kernel(const float *a, const float *b, float *out)
{
    wgmma_shared &s = cuda_shared<wgmma_shared>();
    int t = (int)threadIdx.x, row = 16 * (t / 32) + t % 32 / 4, col = 2 * (t % 4);
    float d[N / 2];

    put(s.a, a, WGMMA_M, K / 2);
    put(s.b, b, N, K / 2);
    for (int i = 0; i < N / 2; i++)
        d[i] = 77;
    wgmma_publish();
    __syncthreads();
    uint32_t pa = cuda_shared_address(s.a), pb = cuda_shared_address(s.b);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < K / 16; k++)
        wgmma_tf32<N>(d, wgmma_matrix(pa + (uint32_t)k * WGMMA_K_BYTES),
                      wgmma_matrix(pb + (uint32_t)k * WGMMA_K_BYTES), k > 0);
    wgmma_commit();
    wgmma_wait<0>();
    for (int i = 0; i < N / 2; i++)
        out[(row + 8 * (i / 2 % 2)) * N + 8 * (i / 4) + col + i % 2] = d[i];
}

/* Bytes: 32 of k a step, four steps. */
template <int N, form A>
__global__ void __launch_bounds__(128, 1)
    e4m3_kernel(const unsigned char *a, const unsigned char *b, float *out)
{
    constexpr int BYTES = 128;
    wgmma_shared &s = cuda_shared<wgmma_shared>();
    int t = (int)threadIdx.x, row = 16 * (t / 32) + t % 32 / 4, col = 2 * (t % 4);
    float d[N / 2];
    uint32_t held[BYTES / 32][4];

    put(s.a, a, WGMMA_M, BYTES);
    put(s.b, b, N, BYTES);
    for (int k = 0; k < BYTES / 32; k++)
        for (int i = 0; i < 4; i++)
            held[k][i] = *reinterpret_cast<const uint32_t *>(a + (row + 8 * (i % 2)) * BYTES +
                                                             32 * k + 16 * (i / 2) + 4 * (t % 4));
    for (int i = 0; i < N / 2; i++)
        d[i] = 77;
    wgmma_publish();
    __syncthreads();
    uint32_t pa = cuda_shared_address(s.a), pb = cuda_shared_address(s.b);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < BYTES / 32; k++) {
        uint64_t mb = wgmma_matrix(pb + (uint32_t)k * WGMMA_K_BYTES);
        if constexpr (A == REGISTERS_A)
            wgmma_e4m3<N>(d, held[k], mb, k > 0);
        else
            wgmma_e4m3<N>(d, wgmma_matrix(pa + (uint32_t)k * WGMMA_K_BYTES), mb, k > 0);
    }
    wgmma_commit();
    wgmma_wait<0>();
    for (int i = 0; i < N / 2; i++)
        out[(row + 8 * (i / 2 % 2)) * N + 8 * (i / 4) + col + i % 2] = d[i];
}

/* b is [n][k], or [k][n] where it is N-major. */
static std::vector<float> product(const std::vector<float> &a, const std::vector<float> &b, int n,
                                  int k, bool n_major)
{
    std::vector<float> d((size_t)(WGMMA_M * n));

    for (int i = 0; i < WGMMA_M; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int p = 0; p < k; p++)
                sum += (double)a[(size_t)(i * k + p)] *
                       (double)b[(size_t)(n_major ? p * n + j : j * k + p)];
            d[(size_t)(i * n + j)] = (float)sum;
        }
    return d;
}

template <int N, bool N_MAJOR, form A> static void check_bf16(void)
{
    std::vector<float> a = random_values(WGMMA_M * K, 7), b = random_values(N * K, 8);
    on_device<bf16> da(to_bf16(a)), db(to_bf16(b));
    on_device<float> out(WGMMA_M * N);
    char what[80];

    cuda_launch<bf16_kernel<N, N_MAJOR, A>>(1, 128, sizeof(wgmma_shared), 0, da.data, db.data,
                                            out.data);
    TRY(cudaGetLastError());
    snprintf(what, sizeof(what), "wgmma bf16 n %d, a in %s, b %s%s", N,
             A == REGISTERS_A ? "registers" : "shared memory", N_MAJOR ? "N-major" : "K-major",
             A == CLUSTER ? ", of a cluster" : "");
    report(what, out.host(), product(a, b, N, K, N_MAJOR), N, 1e-3f);
}

template <int N> static void check_tf32(void)
{
    std::vector<float> a = random_values(WGMMA_M * K / 2, 7), b = random_values(N * K / 2, 8);
    on_device<float> da(a), db(b), out(WGMMA_M * N);
    char what[80];

    cuda_launch<tf32_kernel<N>>(1, 128, sizeof(wgmma_shared), 0, da.data, db.data, out.data);
    TRY(cudaGetLastError());
    snprintf(what, sizeof(what), "wgmma tf32 n %d", N);
    report(what, out.host(), product(a, b, N, K / 2, false), N, 1e-3f);
}

/* Whole numbers of -3 to 3, whose sums are exact in the bits that the unit keeps, so that one
 * element in the wrong place shows. */
template <int N, form A> static void check_e4m3(void)
{
    constexpr int BYTES = 128;
    std::vector<float> a, b;
    std::vector<unsigned char> bytes_a, bytes_b;
    unsigned seed = 9;
    char what[80];
    auto draw = [&](std::vector<float> &x, std::vector<unsigned char> &bytes, int n) {
        for (int i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            x.push_back((float)((int)(seed >> 24) % 7 - 3));
            bytes.push_back((unsigned char)cuda_e4m3x2(x.back(), 0));
        }
    };

    draw(a, bytes_a, WGMMA_M * BYTES), draw(b, bytes_b, N * BYTES);
    on_device<unsigned char> da(bytes_a), db(bytes_b);
    on_device<float> out(WGMMA_M * N);
    cuda_launch<e4m3_kernel<N, A>>(1, 128, sizeof(wgmma_shared), 0, da.data, db.data, out.data);
    TRY(cudaGetLastError());
    snprintf(what, sizeof(what), "wgmma e4m3 n %d, a in %s", N,
             A == REGISTERS_A ? "registers" : "shared memory");
    report(what, out.host(), product(a, b, N, BYTES, false), N, 0);
}

/* Three warpgroups, one of which gives its registers to the others. */
__global__ void __launch_bounds__(384, 1) registers_kernel(float *out)
{
    if (threadIdx.x < 128) {
        wgmma_lower_registers<24>();
        out[threadIdx.x] = 1;
    } else {
        wgmma_raise_registers<240>();
        out[threadIdx.x] = 2;
    }
}

static void check_products(void)
{
    check_bf16<64, false, SHARED_A>();
    check_bf16<80, false, SHARED_A>();
    check_bf16<128, false, SHARED_A>();
    check_bf16<176, false, SHARED_A>();
    check_bf16<192, false, SHARED_A>();
    check_bf16<256, false, SHARED_A>();
    check_bf16<64, false, REGISTERS_A>();
    check_bf16<128, false, REGISTERS_A>();
    check_bf16<64, true, SHARED_A>();
    check_bf16<128, true, SHARED_A>();
    check_bf16<256, true, SHARED_A>();
    check_bf16<64, true, REGISTERS_A>();
    check_bf16<128, true, REGISTERS_A>();
    check_bf16<16, false, CLUSTER>();
    check_bf16<24, false, CLUSTER>();
    check_bf16<32, false, CLUSTER>();
    check_bf16<48, false, CLUSTER>();
    check_bf16<96, false, CLUSTER>();
    check_tf32<64>();
    check_tf32<128>();
    check_tf32<192>();
    check_tf32<256>();
    check_e4m3<64, SHARED_A>();
    check_e4m3<128, SHARED_A>();
    check_e4m3<256, SHARED_A>();
    check_e4m3<64, REGISTERS_A>();
    check_e4m3<128, REGISTERS_A>();
}

static void check_registers(void)
{
    on_device<float> out(384);
    std::vector<float> want(384, 2.0f);

    std::fill(want.begin(), want.begin() + 128, 1.0f);
    cuda_launch<registers_kernel>(1, 384, 0, 0, out.data);
    TRY(cudaGetLastError());
    report("setmaxnreg 24 and 240", out.host(), want, 128, 0);
}

/* ---- Dependent launches ---- */

__global__ void slow_kernel(float *x, float value, int rounds)
{
    float sum = value;

    cuda_pdl_launch();
    cuda_pdl_wait();
    float before = *x;
    for (int i = 0; i < rounds; i++)
        sum = fmaf(sum, 1.0f, 0.0f) + (sum == 1e30f ? 1.0f : 0.0f);
    if (threadIdx.x == 0)
        *x = before + sum;
}

__global__ void nothing_kernel(void)
{
    cuda_pdl_launch();
    cuda_pdl_wait();
}

static void check_dependent(bool graph)
{
    on_device<float> x(std::vector<float>(1, 0.0f));
    cudaStream_t stream;
    cudaGraph_t g;
    cudaGraphExec_t exec;

    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (graph)
        TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 20; i++)
        cuda_launch_with<slow_kernel>({ .early = i > 0 }, 1, 32, 0, stream, x.data, 1.0f, 20000);
    TRY(cudaGetLastError());
    if (graph) {
        TRY(cudaStreamEndCapture(stream, &g));
        TRY(cudaGraphInstantiate(&exec, g, 0));
        TRY(cudaGraphLaunch(exec, stream));
    }
    TRY(cudaStreamSynchronize(stream));
    report(graph ? "twenty dependent launches in a graph" : "twenty dependent launches", x.host(),
           { 20.0f }, 1, 0);
    if (graph) {
        TRY(cudaGraphExecDestroy(exec));
        TRY(cudaGraphDestroy(g));
    }
    TRY(cudaStreamDestroy(stream));
}

/* ---- Costs ---- */

__global__ void grid_barrier_kernel(unsigned *count, int rounds)
{
    for (int i = 1; i <= rounds; i++) {
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(count, 1u);
            while (*(volatile unsigned *)count < (unsigned)i * gridDim.x) {
            }
            __threadfence();
        }
        __syncthreads();
    }
}

__global__ void cluster_barrier_kernel(int rounds)
{
    for (int i = 0; i < rounds; i++)
        cuda_cluster_barrier();
}

struct remote_shared {
    alignas(16) uint32_t next[4];
};

__global__ void remote_kernel(int rounds, uint32_t *sink)
{
    remote_shared &s = cuda_shared<remote_shared>();
    unsigned other = cuda_cluster_rank() ^ 1;

    if (threadIdx.x == 0)
        for (int i = 0; i < 4; i++)
            s.next[i] = 0;
    __syncthreads();
    cuda_cluster_barrier();
    uint32_t at = cuda_cluster_address(s.next, other), step = 0;
    for (int i = 0; i < rounds; i++)
        step = cuda_cluster_load16(at + step).x;
    if (step != 0)
        *sink = step;
    cuda_cluster_barrier();
}

/* Microseconds that run() takes on the stream: the median of some. */
template <class RUN> static double microseconds(cudaStream_t stream, const RUN &run)
{
    std::vector<float> ms(9);
    cudaEvent_t start, stop;

    TRY(cudaEventCreate(&start));
    TRY(cudaEventCreate(&stop));
    run();
    for (float &m : ms) {
        TRY(cudaEventRecord(start, stream));
        run();
        TRY(cudaEventRecord(stop, stream));
        TRY(cudaEventSynchronize(stop));
        TRY(cudaEventElapsedTime(&m, start, stop));
    }
    TRY(cudaGetLastError());
    std::sort(ms.begin(), ms.end());
    return 1e3 * (double)ms[ms.size() / 2];
}

static void cost_of_launches(cudaStream_t stream, bool early, unsigned blocks)
{
    const int nr = 400;
    cudaGraph_t g;
    cudaGraphExec_t exec;
    auto launch = [&] {
        for (int i = 0; i < nr; i++)
            cuda_launch_with<nothing_kernel>({ .early = early }, blocks, 128, 0, stream);
    };

    double plain = microseconds(stream, launch) / nr;
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch();
    TRY(cudaStreamEndCapture(stream, &g));
    TRY(cudaGraphInstantiate(&exec, g, 0));
    double node = microseconds(stream, [&] { TRY(cudaGraphLaunch(exec, stream)); }) / nr;
    printf("cost   a kernel of %u blocks%s: %.2f us on a stream, %.2f us in a graph\n", blocks,
           early ? ", dependent launch" : "", plain, node);
    TRY(cudaGraphExecDestroy(exec));
}

static void cost_of_barriers(cudaStream_t stream)
{
    on_device<unsigned> count(1);
    on_device<uint32_t> sink(1);
    const int rounds = 1000;

    for (unsigned blocks : { 32u, 132u }) {
        double us = microseconds(stream, [&] {
            TRY(cudaMemsetAsync(count.data, 0, 4, stream));
            cuda_launch<grid_barrier_kernel>(blocks, 256, 0, stream, count.data, rounds);
        });
        printf("cost   a barrier of a grid of %u blocks: %.2f us\n", blocks, us / rounds);
    }
    TRY(cudaFuncSetAttribute(reinterpret_cast<const void *>(cluster_barrier_kernel),
                             cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    for (int blocks : { 2, 4, 8, 16 }) {
        double us = microseconds(stream, [&] {
            cuda_launch_with<cluster_barrier_kernel>({ .cluster = blocks }, 4 * (unsigned)blocks,
                                                     256, 0, stream, rounds);
        });
        printf("cost   a barrier of a cluster of %d blocks: %.3f us\n", blocks, us / rounds);
    }
    double us = microseconds(stream, [&] {
        cuda_launch_with<remote_kernel>({ .cluster = 2 }, 2, 32, sizeof(remote_shared), stream,
                                        rounds, sink.data);
    });
    printf("cost   a load of another block's shared memory: %.3f us\n", us / rounds);
}

int main(void)
{
    cudaDeviceProp p;
    cudaStream_t stream;

    setvbuf(stdout, nullptr, _IOLBF, 0);
    if (cudaGetDeviceProperties(&p, 0) != cudaSuccess || p.major != 9) {
        printf("no device of compute capability 9.0\n");
        return 77;
    }
    printf("%s, %d SMs, %zu KiB of shared memory a block, %d MiB of L2\n", p.name,
           p.multiProcessorCount, p.sharedMemPerBlockOptin / 1024, p.l2CacheSize >> 20);
    for (bool swizzle : { false, true }) {
        check_box(swizzle, 0, 0);
        check_box(swizzle, 8, 32);
        check_box(swizzle, 50, 64); /* beyond both ends */
    }
    check_bytes();
    check_multicast();
    for (int blocks : { 2, 4, 8, 16 })
        check_cluster(blocks);
    check_products();
    check_registers();
    check_dependent(false);
    check_dependent(true);
    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (unsigned blocks : { 1u, 132u })
        for (bool early : { false, true })
            cost_of_launches(stream, early, blocks);
    cost_of_barriers(stream);
    printf("%s\n", wrong ? "WRONG" : "all right");
    return wrong;
}
