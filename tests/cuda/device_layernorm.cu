/* SPDX-License-Identifier: MIT */
/*
 * The layer norms on a device, without the harness: results of odd and even sizes against a float64
 * reference on the device, with poisoned outputs; times beside the neighbours of the configurations
 * that are used and copies of as many bytes. By hand:
 *
 *     nvcc -std=c++20 -O3 -I. -Iharness -gencode=arch=compute_90a,code=sm_90a -cudart static \
 *         -o device_layernorm tests/cuda/device_layernorm.cu \
 *         kernels/layernorm/layernorm_cuda_rows.cu
 *     device_layernorm [--check] [--time] [--all] [--only FORM] [--width N]
 *
 * --all: a line for each check. --only, --width: times of that form (fp32, bf16, fp32+res or
 * bf16+res) and that width alone.
 */
#include "device_layernorm.h"

#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

/* ---- Checks ---- */

template <class E> __device__ float element(const void *p, int64_t i)
{
    return cuda_float(static_cast<const E *>(p)[i]);
}

__device__ double block_sum(double x)
{
    __shared__ double sums[256];

    __syncthreads();
    sums[threadIdx.x] = x;
    for (int n = 128; n > 0; n /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < n)
            sums[threadIdx.x] += sums[threadIdx.x + n];
    }
    __syncthreads();
    return sums[0];
}

/* A block of 256 a row. */
template <class S, class T>
__global__ void reference(layernorm_cuda l, float *want_sum, float *want_y)
{
    int64_t base = (int64_t)blockIdx.x * l.width;
    double sum = 0, squares = 0;

    for (int j = (int)threadIdx.x; j < l.width; j += 256) {
        float x = element<S>(l.x, base + j), d = l.delta ? element<S>(l.delta, base + j) : 0;
        want_sum[base + j] = x + d; /* rounded, as the stream is: mean and deviations are of that */
        sum += want_sum[base + j];
    }
    double mean = block_sum(sum) / (double)l.width;
    for (int j = (int)threadIdx.x; j < l.width; j += 256)
        squares += (want_sum[base + j] - mean) * (want_sum[base + j] - mean);
    double scale = 1 / sqrt(block_sum(squares) / (double)l.width + LAYERNORM_EPS);
    for (int j = (int)threadIdx.x; j < l.width; j += 256)
        want_y[base + j] = (float)((want_sum[base + j] - mean) * scale * element<T>(l.gain, j) +
                                   element<T>(l.bias, j));
}

struct mismatch {
    unsigned long long first, wrong;
    unsigned guard;
    float got, want, worst;
    unsigned by_row[8], by_col[8];
};

template <class E>
__global__ void compare(const void *got, const float *want, int64_t n, int64_t width, float slack,
                        float relative, mismatch *m)
{
    int64_t first = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;

    for (int64_t i = first; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        float a = element<E>(got, i), b = want[i], d = fabsf(a - b);
        if (d <= slack + relative * fabsf(b))
            continue;
        atomicMin(&m->first, (unsigned long long)i);
        atomicAdd(&m->wrong, 1ull);
        atomicAdd(&m->by_row[i / width % 8], 1u);
        atomicAdd(&m->by_col[i % width % 8], 1u);
    }
    const unsigned char *behind = static_cast<const unsigned char *>(got) + n * sizeof(E);
    if (first < (int64_t)guard_bytes && behind[first] != 0xff)
        atomicAdd(&m->guard, 1u);
}

template <class E> __global__ void show(const void *got, const float *want, mismatch *m)
{
    m->got = element<E>(got, (int64_t)m->first);
    m->want = want[m->first];
}

/* Inputs of all checks, the expected, and the outputs. */
struct data {
    float *x, *delta, *gain, *bias, *want_sum, *want_y;
    bf16 *x16, *delta16, *gain16, *bias16;
    unsigned char *sum, *y;
    mismatch *m;
};

static void normal(const bench &b, float **to, bf16 **to16, int64_t n, uint32_t seed, float mean,
                   float spread)
{
    *to = static_cast<float *>(device_bytes((size_t)n * 4));
    *to16 = static_cast<bf16 *>(device_bytes((size_t)n * 2));
    fill_normal<<<1024, 256, 0, b.stream>>>(*to, n, seed, mean, spread);
    to_bf16<<<1024, 256, 0, b.stream>>>(*to16, *to, n);
}

static data data_of(const bench &b)
{
    data d = {};
    int64_t n = most_rows * most_width + 8;

    normal(b, &d.x, &d.x16, n, 1, 2, 1);
    normal(b, &d.delta, &d.delta16, n, 77, 0, 1);
    normal(b, &d.gain, &d.gain16, most_width, 5, 1, 0.25f);
    normal(b, &d.bias, &d.bias16, most_width, 9, 0, 0.25f);
    d.want_sum = static_cast<float *>(device_bytes((size_t)n * 4));
    d.want_y = static_cast<float *>(device_bytes((size_t)n * 4));
    d.sum = static_cast<unsigned char *>(device_bytes((size_t)n * 4 + guard_bytes));
    d.y = static_cast<unsigned char *>(device_bytes((size_t)n * 4 + guard_bytes));
    TRY(cudaMallocManaged(&d.m, sizeof(*d.m)));
    return d;
}

struct form {
    const char *name;
    enum dtype stream, dtype;
    bool residual;
};

static const form forms[] = {
    { "fp32", DTYPE_FP32, DTYPE_FP32, false },
    { "fp32+res", DTYPE_FP32, DTYPE_FP32, true },
    { "bf16", DTYPE_BF16, DTYPE_BF16, false },
    { "bf16+res", DTYPE_BF16, DTYPE_BF16, true },
    { "fp32>bf16", DTYPE_FP32, DTYPE_BF16, false },
    { "fp32>bf16+res", DTYPE_FP32, DTYPE_BF16, true },
};

static int size_of(enum dtype t)
{
    return t == DTYPE_BF16 ? 2 : 4;
}

/* `off` elements behind aligned addresses. */
static layernorm_cuda problem(const data &d, const form &f, int64_t rows, int64_t width, int off)
{
    bool stream16 = f.stream == DTYPE_BF16, out16 = f.dtype == DTYPE_BF16;
    layernorm_cuda l = {};

    l.rows = rows, l.width = width;
    l.x = stream16 ? (const void *)(d.x16 + off) : d.x + off;
    l.delta = !f.residual ? nullptr : stream16 ? (const void *)(d.delta16 + off) : d.delta + off;
    l.sum = f.residual ? d.sum + off * size_of(f.stream) : nullptr;
    l.gain = out16 ? (const void *)d.gain16 : d.gain;
    l.bias = out16 ? (const void *)d.bias16 : d.bias;
    l.y = d.y + off * size_of(f.dtype);
    l.stream = f.stream, l.dtype = f.dtype;
    return l;
}

static bool matches(const bench &b, const data &d, const char *what, const std::string &label,
                    const void *got, const float *want, const layernorm_cuda &l, enum dtype type)
{
    float slack = 6e-8f * 8 * (16 + 2.5f * sqrtf((float)l.width));
    float relative = type == DTYPE_BF16 ? 0x1p-8f : slack;
    int64_t n = l.rows * l.width;
    mismatch *m = d.m;

    *m = {};
    m->first = ~0ull;
    auto run = [&]<class E>() {
        compare<E><<<1024, 256, 0, b.stream>>>(got, want, n, l.width, slack, relative, m);
        TRY(cudaStreamSynchronize(b.stream));
        if (m->wrong > 0)
            show<E><<<1, 1, 0, b.stream>>>(got, want, m);
        TRY(cudaStreamSynchronize(b.stream));
    };
    if (type == DTYPE_BF16)
        run.template operator()<bf16>();
    else
        run.template operator()<float>();
    if (m->wrong == 0 && m->guard == 0)
        return true;
    printf(
        "WRONG %s %s: first mismatch at (%lld, %lld) got %g want %g, fraction wrong %.4f, "
        "%u bytes behind it written; by row%%8",
        label.c_str(), what, (long long)(m->first / (unsigned long long)l.width),
        (long long)(m->first % (unsigned long long)l.width), m->got, m->want,
        (double)m->wrong / (double)n, m->guard);
    for (unsigned k : m->by_row)
        printf(" %u", k);
    printf(", by col%%8");
    for (unsigned k : m->by_col)
        printf(" %u", k);
    printf("\n");
    return false;
}

static void expect(const bench &b, const data &d, const form &f, const layernorm_cuda &l)
{
    unsigned rows = (unsigned)l.rows;

    if (f.stream == DTYPE_BF16)
        reference<bf16, bf16><<<rows, 256, 0, b.stream>>>(l, d.want_sum, d.want_y);
    else if (f.dtype == DTYPE_BF16)
        reference<float, bf16><<<rows, 256, 0, b.stream>>>(l, d.want_sum, d.want_y);
    else
        reference<float, float><<<rows, 256, 0, b.stream>>>(l, d.want_sum, d.want_y);
}

/* Counts a case that the candidate can do. In place: the stream is overwritten by the sum, or
 * without a residual by y. */
static bool check_one(const bench &b, const data &d, const form &f, layernorm_cuda l,
                      const candidate &c, bool in_place, int *cases)
{
    size_t n = (size_t)(l.rows * l.width);
    std::string label = c.name + " " + f.name + " rows " + std::to_string(l.rows) + " width " +
                        std::to_string(l.width) + (in_place ? " in place" : "");

    if (f.residual)
        TRY(cudaMemsetAsync(l.sum, 0xff, n * (size_t)size_of(f.stream) + guard_bytes, b.stream));
    TRY(cudaMemsetAsync(l.y, 0xff, n * (size_t)size_of(f.dtype) + guard_bytes, b.stream));
    if (in_place) {
        void *to = f.residual ? l.sum : l.y;
        TRY(cudaMemcpyAsync(to, l.x, n * (size_t)size_of(f.stream), cudaMemcpyDefault, b.stream));
        l.x = to;
    }
    if (!c.run(l, b.stream))
        return true;
    ++*cases;
    TRY(cudaGetLastError());
    TRY(cudaStreamSynchronize(b.stream));
    bool right = matches(b, d, "y", label, l.y, d.want_y, l, f.dtype);
    if (f.residual)
        right = matches(b, d, "sum", label, l.sum, d.want_sum, l, f.stream) && right;
    if (right && b.all)
        printf("ok    %s\n", label.c_str());
    return right;
}

/* Wrong ones of a table of sizes. */
static int check_sizes(const bench &b, const data &d, const form &f,
                       const std::vector<int64_t> &widths, int off)
{
    std::vector<candidate> candidates = candidates_of(false);
    int wrong = 0, cases = 0;

    for (int64_t width : widths)
        for (int64_t rows : { 1, 3, 133, 1060, 8200 }) {
            if (rows * width > most_rows * most_width)
                continue;
            layernorm_cuda l = problem(d, f, rows, width, off);
            expect(b, d, f, l);
            for (const candidate &c : candidates) {
                wrong += !check_one(b, d, f, l, c, false, &cases);
                if (rows == 1060 && f.stream == f.dtype)
                    wrong += !check_one(b, d, f, l, c, true, &cases);
            }
            if (wrong > 20)
                return printf("too many wrong ones\n"), wrong;
        }
    printf("%s %-14s %d checks%s, %d wrong\n", wrong > 0 ? "WRONG" : "ok   ", f.name, cases,
           off > 0 ? " at odd addresses" : "", wrong);
    return wrong;
}

static int check(const bench &b)
{
    data d = data_of(b);
    int wrong = 0;

    for (const form &f : forms) {
        wrong += check_sizes(b, d, f, { 1,    8,    63,   64,   72,   256,  257,   504,
                                        512,  520,  1000, 1024, 1032, 1544, 2040,  2048,
                                        2056, 4096, 5000, 8184, 8192, 8200, 12345, 16384 },
                             0);
        wrong += check_sizes(b, d, f, { 64, 768, 2048, 4100, 16384 }, 1);
    }
    return wrong > 0;
}

/* ---- Times ---- */

__global__ void __launch_bounds__(256) copy_kernel(const uint4 *from, uint4 *to, int64_t nr)
{
    int64_t first = (int64_t)blockIdx.x * 256 + threadIdx.x, stride = (int64_t)gridDim.x * 256;

    for (int64_t i = first; i < nr; i += 4 * stride) {
        uint4 v[4] = {};
#pragma unroll
        for (int u = 0; u < 4; u++)
            if (i + u * stride < nr)
                v[u] = from[i + u * stride];
#pragma unroll
        for (int u = 0; u < 4; u++)
            if (i + u * stride < nr)
                to[i + u * stride] = v[u];
    }
}

/* ns of one of the launches that `enqueue` does of set 0, 1, ... in turn: replays of a graph. */
static double timed(const bench &b, int sets, double bytes,
                    const std::function<void(int, cudaStream_t)> &enqueue)
{
    int launches = std::clamp((int)(300e-6 * 4e12 / bytes), 2, 200);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t from, to;
    std::vector<float> ms;

    launches = (launches + sets - 1) / sets * sets;
    TRY(cudaStreamBeginCapture(b.stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < launches; i++)
        enqueue(i % sets, b.stream);
    TRY(cudaStreamEndCapture(b.stream, &graph));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaEventCreate(&from));
    TRY(cudaEventCreate(&to));
    for (int i = 0; i < 11; i++) {
        float t = 0;
        TRY(cudaEventRecord(from, b.stream));
        TRY(cudaGraphLaunch(exec, b.stream));
        TRY(cudaEventRecord(to, b.stream));
        TRY(cudaEventSynchronize(to));
        TRY(cudaEventElapsedTime(&t, from, to));
        if (i >= 2)
            ms.push_back(t);
    }
    TRY(cudaEventDestroy(from));
    TRY(cudaEventDestroy(to));
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    std::sort(ms.begin(), ms.end());
    return ms[ms.size() / 2] * 1e6 / launches;
}

/* Set `i` of the buffers of a problem in the arena. */
static layernorm_cuda placed(const bench &b, const form &f, int64_t rows, int64_t width, int i)
{
    size_t stream = (size_t)(rows * width) * (size_t)size_of(f.stream);
    size_t out = (size_t)(rows * width) * (size_t)size_of(f.dtype);
    size_t set = (f.residual ? 3 : 1) * stream + out;
    unsigned char *p = b.arena + ((size_t)1 << 20) + (size_t)i * set;
    layernorm_cuda l = {};

    l.rows = rows, l.width = width;
    l.gain = b.arena, l.bias = b.arena + ((size_t)1 << 19);
    l.x = p;
    if (f.residual)
        l.delta = p + stream, l.sum = p + 2 * stream;
    l.y = p + (f.residual ? 3 : 1) * stream;
    l.stream = f.stream, l.dtype = f.dtype;
    return l;
}

static double time_copy(const bench &b, double bytes, int sets, bool kernel)
{
    size_t half = (size_t)(bytes / 2);

    return timed(b, sets, bytes, [&](int i, cudaStream_t s) {
        unsigned char *from = b.arena + ((size_t)1 << 20) + (size_t)i * 2 * half;
        if (kernel)
            copy_kernel<<<(unsigned)b.sms * 8, 256, 0, s>>>(
                (const uint4 *)from, (uint4 *)(from + half), (int64_t)(half / 16));
        else
            TRY(cudaMemcpyAsync(from + half, from, half, cudaMemcpyDeviceToDevice, s));
    });
}

struct result {
    const candidate *of;
    double ns;
};

/* Fastest first. */
static std::vector<result> times_of(const bench &b, const std::vector<candidate> &candidates,
                                    int sets, double bytes,
                                    const std::function<layernorm_cuda(int)> &problem_of)
{
    std::vector<result> results;

    for (const candidate &c : candidates) {
        if (!c.run(problem_of(0), b.stream))
            continue;
        results.push_back(
            { &c, timed(b, sets, bytes, [&](int i, cudaStream_t s) { c.run(problem_of(i), s); }) });
    }
    std::sort(results.begin(), results.end(),
              [](const result &x, const result &y) { return x.ns < y.ns; });
    return results;
}

/* A line of a table: times in us and bandwidth over that of the best copy, in %. */
static void time_size(const bench &b, const form &f, int64_t rows, int64_t width, bool warm,
                      const std::vector<candidate> &candidates)
{
    double bytes =
        (double)(rows * width) * ((f.residual ? 3 : 1) * size_of(f.stream) + size_of(f.dtype));
    int fitting = (int)((double)(arena_bytes - (2 << 20)) / bytes);
    int sets = warm ? 1 : std::clamp((int)(250e6 / bytes) + 2, 2, fitting);
    double kernel = time_copy(b, bytes, sets, true), memcpy = time_copy(b, bytes, sets, false);
    double best = std::min(kernel, memcpy);

    printf("%-9s %5lld x %4lld %5.0f MB | copy %6.1f us %4.2f TB/s, memcpy %6.1f |", f.name,
           (long long)rows, (long long)width, bytes / 1e6, kernel / 1e3, bytes / kernel / 1e3,
           memcpy / 1e3);
    for (const result &r :
         times_of(b, candidates, sets, bytes, [&](int i) { return placed(b, f, rows, width, i); }))
        printf(" %s %.1f %.0f%%", r.of->name.c_str(), r.ns / 1e3, 100 * best / r.ns);
    printf("\n");
    TRY(cudaGetLastError());
}

static void warm_up(const bench &b)
{
    for (int i = 0; i < 100; i++) /* about 2 ms each */
        copy_kernel<<<(unsigned)b.sms * 8, 256, 0, b.stream>>>((const uint4 *)b.arena,
                                                               (uint4 *)(b.arena + arena_bytes / 2),
                                                               (int64_t)(arena_bytes / 64));
    TRY(cudaStreamSynchronize(b.stream));
}

/* Whether times of that form and width are asked for. */
static bool wanted(const bench &b, const form &f, int64_t width)
{
    return f.stream == f.dtype && (b.only.empty() || b.only == f.name) &&
           (b.width == 0 || b.width == width);
}

static void time_all(const bench &b)
{
    fill_normal<<<1024, 256, 0, b.stream>>>((float *)b.arena, (int64_t)(arena_bytes / 4), 3, 0, 1);
    warm_up(b);
    std::vector<candidate> candidates = candidates_of(true);
    for (int mode = 0; mode < 3; mode++) {
        bool warm = mode == 1;
        int64_t rows = mode == 2 ? 16384 : 4096;
        printf("%s: us, %% of the best copy\n",
               warm ? "warm, the same buffers again" : "cold, buffers in turn");
        for (const form &f : forms)
            for (int64_t width : { 512, 1024, 2048, 4096, 8192 })
                if (wanted(b, f, width) && !(warm && width > 2048))
                    time_size(b, f, rows, width, warm, candidates);
    }
    printf("few rows, warm: us\n");
    for (const form &f : forms)
        for (int64_t width : { 1024, 4096 })
            if (wanted(b, f, width))
                time_size(b, f, 256, width, true, candidates);
}

int main(int argc, char **argv)
{
    bool checks = false, times = false;
    cudaDeviceProp p;
    bench b = {};

    for (int i = 1; i < argc; i++) {
        checks |= strcmp(argv[i], "--check") == 0;
        times |= strcmp(argv[i], "--time") == 0;
        b.all |= strcmp(argv[i], "--all") == 0;
        if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            b.only = argv[++i];
        else if (strcmp(argv[i], "--width") == 0 && i + 1 < argc)
            b.width = atoi(argv[++i]);
    }
    setvbuf(stdout, nullptr, _IOLBF, 0);
    if (cudaGetDeviceProperties(&p, 0) != cudaSuccess)
        return printf("no device\n"), 77;
    b.sms = p.multiProcessorCount;
    printf("%s, %d SMs, L2 %d MB\n", p.name, b.sms, p.l2CacheSize >> 20);
    TRY(cudaStreamCreate(&b.stream));
    int rc = checks || !times ? check(b) : 0;
    if (times || !checks) {
        b.arena = static_cast<unsigned char *>(device_bytes(arena_bytes));
        time_all(b);
    }
    return rc;
}
