/* SPDX-License-Identifier: MIT */
/*
 * Activities and counters of a real GPU (S3-01, S3-06, S3-11, S4-07): what was launched is what was
 * collected, on the clock of the host, and DRAM bytes and FLOPs are those of the work model. Exit
 * code 77, with the reason, where there is no GPU or CUPTI; counters alone may be forbidden.
 */
#include <cuda_runtime.h>

extern "C" {
#include "cupti/collect.h"
#include "cupti/counters.h"
#include "gputrace/time_split.h"
#include "gputrace/work_check.h"
}

#include <cstdio>
#include <cstdlib>
#include <cstring>

static constexpr int elements = 64 << 20, launches = 5;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("not ok: " __VA_ARGS__);                                                   \
            std::printf(" (%s)\n", #condition);                                                    \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

/* One multiply-add an element; 4 bytes read, 4 written. */
__global__ void scale_add(const float *x, float *y, float a, float b)
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);

    if (i < elements)
        y[i] = a * x[i] + b;
}

static void skip(const char *why)
{
    std::printf("skipped: %s\n", why);
    std::exit(77);
}

static void launch(const float *x, float *y)
{
    scale_add<<<elements / 256, 256>>>(x, y, 2.0F, 1.0F);
}

static void collect(const float *x, float *y)
{
    struct activity_collector *c = nullptr;
    struct activity_options options = {};
    struct activity_list list;
    struct error err;
    float first = 0;
    int kernels = 0, copies = 0;

    if (activity_start(&c, &options, &err))
        skip(err.message);
    for (int i = 0; i < launches; i++)
        launch(x, y);
    cudaMemcpy(&first, y, sizeof(first), cudaMemcpyDeviceToHost);
    cudaDeviceSynchronize();
    activity_list_init(&list);
    CHECK(activity_stop(c, &list, &err) == 0, "%s", err.message);
    for (size_t i = 0; i < list.nr; i++) {
        const struct activity *a = &list.items[i];
        if (a->kind == ACTIVITY_KERNEL) {
            kernels++;
            CHECK(std::strstr(a->name, "scale_add"), "%s", a->name);
            CHECK(a->block[0] == 256 && a->registers > 0 && a->end > a->start, "a kernel's record");
        }
        if (a->kind == ACTIVITY_MEMCPY && a->copy == MEMCPY_DEVICE_TO_HOST)
            copies += a->bytes == sizeof(first);
    }
    CHECK(kernels == launches, "%d kernels", kernels);
    CHECK(copies == 1, "%d copies", copies);
    CHECK(list.dropped == 0 && list.has_clock, "%llu dropped",
          static_cast<unsigned long long>(list.dropped));
    struct time_split s = activity_time_split(&list, 0, TIME_SPLIT_GAP_NS);
    CHECK(s.other_wait == 0 && s.gpu > 0, "each kernel has its launch");
    std::printf("ok: %zu activities, clock within %lld ns, GPU busy %lld of %lld ns\n", list.nr,
                static_cast<long long>(list.clock_error), static_cast<long long>(s.gpu),
                static_cast<long long>(s.span));
    activity_list_release(&list);
}

static void count(const float *x, float *y)
{
    const char *metrics[16];
    size_t nr = counter_quantity_metrics(
        1U << COUNTER_DURATION | 1U << COUNTER_DRAM_BYTES | 1U << COUNTER_FP32_FLOPS, metrics, 16);
    struct counters_session *session = nullptr;
    struct counter_list list;
    struct error err;

    if (counters_start(&session, 0, metrics, nr, 8, &err)) {
        std::printf("ok: no counters on this machine: %s\n", err.message);
        return;
    }
    launch(x, y);
    launch(x, y);
    cudaDeviceSynchronize();
    counter_list_init(&list);
    CHECK(counters_stop(session, &list, &err) == 0, "%s", err.message);
    CHECK(list.nr == 2 && list.dropped == 0, "%zu sets of counters", list.nr);
    struct work model = { 2.0 * elements, 8.0 * elements };
    struct work_check check = work_compare(model, work_counted(&list, 0, 1), nullptr, nullptr);
    std::printf("ok: bytes %.3f of the model, FLOPs %.3f\n", check.bytes.ratio, check.flops.ratio);
    CHECK(check.flops.verdict == WORK_AGREES, "FLOPs");
    CHECK(check.bytes.ratio > 0.5 && check.bytes.ratio < 1.5, "bytes");
    counter_list_release(&list);
}

int main()
{
    int devices = 0;
    float *x = nullptr, *y = nullptr;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
        skip("no GPU");
    CHECK(cudaMalloc(&x, elements * sizeof(*x)) == cudaSuccess, "memory");
    CHECK(cudaMalloc(&y, elements * sizeof(*y)) == cudaSuccess, "memory");
    cudaMemset(x, 0, elements * sizeof(*x));
    collect(x, y);
    count(x, y);
    cudaFree(x);
    cudaFree(y);
    return 0;
}
