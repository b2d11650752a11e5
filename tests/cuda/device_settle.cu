/* SPDX-License-Identifier: MIT */
/*
 * How long a GPU takes to settle, and what its time depends on beside the kernel: cuBLAS's product
 * in bf16 without a pause, its time a launch over seconds with the clock and the power beside it,
 * for
 *
 *     random    normal operands, always the same
 *     zeros     operands of zeros, which switch fewer transistors
 *     turns     random operands in turn, together more than twice L2
 *     pauses    random, 50 ms of rest after every 5 ms: what a harness does between samples
 *
 *     device_settle [--check] [--seconds N]
 *
 * Every series begins after a second of rest. Ends with 77 without a device or without cuBLAS.
 */
#include "device_products.h"

#include <time.h>

/* ---- What the card says of itself ---- */

struct card {
    void *device;
    int (*clock)(void *device, unsigned type, unsigned *mhz);
    int (*power)(void *device, unsigned *milliwatts);
};

static struct card card_open(void)
{
    struct card c = {};
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);

    if (library == nullptr)
        return c;
    auto init = reinterpret_cast<int (*)(void)>(dlsym(library, "nvmlInit_v2"));
    auto find = reinterpret_cast<int (*)(unsigned, void **)>(
        dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
    c.clock = reinterpret_cast<decltype(c.clock)>(dlsym(library, "nvmlDeviceGetClockInfo"));
    c.power = reinterpret_cast<decltype(c.power)>(dlsym(library, "nvmlDeviceGetPowerUsage"));
    if (!init || !find || init() != 0 || find(0, &c.device) != 0)
        c.clock = nullptr, c.power = nullptr;
    return c;
}

static unsigned card_mhz(const struct card *c)
{
    unsigned mhz = 0;

    return c->clock && c->clock(c->device, 1 /* SM */, &mhz) == 0 ? mhz : 0;
}

static unsigned card_watts(const struct card *c)
{
    unsigned mw = 0;

    return c->power && c->power(c->device, &mw) == 0 ? mw / 1000 : 0;
}

/* ---- A series ---- */

struct load {
    const char *name;
    bool zeros, turns;
    int rest_ms; /* after every burst */
};

static const struct load loads[] = {
    { "random", false, false, 0 },
    { "zeros", true, false, 0 },
    { "turns", false, true, 0 },
    { "pauses", false, false, 50 },
};

static const struct size_case settle_sizes[] = { { 1024, 1024, 1024, 0 }, { 4096, 4096, 4096, 0 } };

struct burst {
    double at; /* seconds since the series began */
    float us;  /* a launch */
    unsigned mhz, watts;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void rest(int ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000l };

    nanosleep(&t, nullptr);
}

static void clear(const struct operands &o, const struct size_case &c)
{
    for (const struct gemm_cuda &g : o.sets) {
        size_t k = (size_t)c.k * sizeof(bf16);
        must(cudaMemset(const_cast<void *>(g.x), 0, (size_t)c.m * k), "zeros");
        must(cudaMemset(const_cast<void *>(g.w), 0, (size_t)c.n * k), "zeros");
    }
}

/* Microseconds a launch, of `launches` on `stream`. */
static float burst_us(const struct vendor *v, const struct operands &o, const struct load *w,
                      int launches, cudaStream_t stream)
{
    static cudaEvent_t from, to;
    float ms = 0;

    if (from == nullptr) {
        cudaEventCreate(&from);
        cudaEventCreate(&to);
    }
    cudaEventRecord(from, stream);
    for (int i = 0; i < launches; i++)
        vendor_run(v, &o.sets[w->turns ? (size_t)i % o.sets.size() : 0], CUDA_R_16BF,
                   CUBLAS_COMPUTE_32F);
    cudaEventRecord(to, stream);
    must(cudaEventSynchronize(to), "burst");
    cudaEventElapsedTime(&ms, from, to);
    return ms * 1000 / (float)launches;
}

static std::vector<struct burst> series(const struct vendor *v, const struct card *card,
                                        const struct size_case &c, const struct load *w,
                                        double seconds, cudaStream_t stream)
{
    const struct operands o(c, true);
    std::vector<struct burst> bursts;
    int launches = std::max(1, (int)(5e-3 / (2.0 * c.m * c.n * c.k / 600e12)));

    if (w->zeros)
        clear(o, c);
    burst_us(v, o, w, 1, stream); /* loads code */
    rest(1000);
    double begin = now();
    while (now() - begin < seconds) {
        double at = now() - begin;
        float us = burst_us(v, o, w, launches, stream);
        bursts.push_back({ at, us, card_mhz(card), card_watts(card) });
        if (w->rest_ms)
            rest(w->rest_ms);
    }
    return bursts;
}

/* ---- What is told ---- */

template <class GET>
static double median_of(const std::vector<struct burst> &all, double from, double to, GET get)
{
    std::vector<double> x;

    for (const struct burst &b : all)
        if (b.at >= from && b.at < to)
            x.push_back(get(b));
    if (x.empty())
        return NAN;
    std::sort(x.begin(), x.end());
    return x[x.size() / 2];
}

static void tell(const struct size_case &c, const struct load *w,
                 const std::vector<struct burst> &all)
{
    static const double slots[] = { 0, 0.02, 0.1, 0.3, 1, 2, 3, 4, 5, 6, 8, 10, 1e9 };

    printf("%d cubed, %s\n    %-14s %10s %8s %6s\n", c.m, w->name, "seconds", "us", "MHz", "W");
    for (int i = 0; slots[i] < 1e9; i++) {
        double us = median_of(all, slots[i], slots[i + 1], [](const burst &b) { return b.us; });
        if (isnan(us))
            continue;
        printf("    %5g to %-5g %11.2f %8.0f %6.0f\n", slots[i], fmin(slots[i + 1], 99), us,
               median_of(all, slots[i], slots[i + 1], [](const burst &b) { return b.mhz; }),
               median_of(all, slots[i], slots[i + 1], [](const burst &b) { return b.watts; }));
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    double seconds = 6;
    cudaDeviceProp device;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--check") == 0)
            seconds = 0.2;
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            seconds = atof(argv[++i]);
    if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) {
        printf("no device\n");
        return 77;
    }
    sms = device.multiProcessorCount;
    shared_limit = device.sharedMemPerBlockOptin;
    struct card card = card_open();
    cudaStream_t stream;
    must(cudaStreamCreate(&stream), "stream");
    struct vendor v = vendor_open(stream);
    if (!v.there)
        return 77;
    for (const struct size_case &c : settle_sizes)
        for (const struct load &w : loads)
            tell(c, &w, series(&v, &card, c, &w, seconds, stream));
    printf("%zu series of %g s\n", std::size(loads) * std::size(settle_sizes), seconds);
    return 0;
}
