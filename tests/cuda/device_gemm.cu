/* SPDX-License-Identifier: MIT */
/*
 * gemm/cuda_wgmma_* on a device: the instructions one at a time (device_probes.h), every tile and
 * way out against a plain kernel, then the tiles that are chosen beside cuBLAS. Needs nothing of
 * the harness but headers:
 *
 *     nvcc -std=c++20 -O3 -I. -Iharness -gencode=arch=compute_90a,code=sm_90a -cudart static \
 *         -o device_gemm tests/cuda/device_gemm.cu kernels/cuda/tma.cu -ldl
 *     device_gemm [--check] [--time] [--tiles] [--suite] [--only probes|bf16|tf32|chain]
 *
 * --tiles: times of the other tiles, too, where they are not expected to take half as long again.
 * --suite: of the sizes of the suite alone. --only bf16 or tf32 holds for times, too. With
 * -DCUDA_WATCHDOG a wait without end becomes an error that names it. Ends with 1 where anything was
 * wrong, with 3 after an error of CUDA, with 77 without such a device.
 */
#include "device_gemm_time.h"

/* ---- Checks ---- */

template <class T, class OUT>
static bool check_way(const struct candidate &candidate, const struct size_case &c, enum way way,
                      double *worst)
{
    size_t ld = (size_t)(c.n + c.gap), m = (size_t)c.m, n = (size_t)c.n, k = (size_t)c.k;
    both<T> x(m * k), w(n * k), bias(n);
    both<OUT> y(m * ld), other(m * ld);
    both<float> want(m * n);
    struct gemm_cuda g = {};
    char what[120];

    fill<T>(x.device, m * k, 1, 1);
    fill<T>(w.device, n * k, 1 / sqrtf((float)c.k), 2);
    fill<T>(bias.device, n, 1, 3);
    fill<OUT>(other.device, m * ld, 1, 4);
    g.m = c.m, g.n = c.n, g.k = c.k;
    g.x = x.device, g.ldx = g.ldw = c.k, g.w = w.device;
    g.bias = way == PLAIN ? nullptr : bias.device;
    g.activation = way == BIAS_GELU ? GEMM_GELU : GEMM_IDENTITY;
    g.y = y.device, g.ldy = g.ldr = (int64_t)ld;
    g.out = sizeof(OUT) == 2 ? DTYPE_BF16 : DTYPE_FP32;
    g.sms = c.sms > 0 ? c.sms : sms, g.shared = shared_limit;
    if (way == BIAS_RESIDUAL || way == RESIDUAL_IN_PLACE)
        g.residual = other.device;
    plain<T, OUT><<<dim3((unsigned)(c.n + 31) / 32, (unsigned)(c.m + 7) / 8), dim3(32, 8)>>>(
        g, static_cast<const OUT *>(g.residual), want.device);
    if (way == RESIDUAL_IN_PLACE) { /* the gaps keep their poison */
        must(cudaMemcpy2D(y.device, ld * sizeof(OUT), other.device, ld * sizeof(OUT),
                          n * sizeof(OUT), m, cudaMemcpyDeviceToDevice),
             "copy");
        g.residual = y.device;
    }
    finish("reference");
    const struct wgmma_plan p = wgmma_plan_for(&g, candidate.shape, wgmma_depth<T>);
    (sizeof(T) == 2 ? candidate.bf : candidate.tf)(&g, &p, nullptr);
    snprintf(what, sizeof(what), "%s %dx%dx%d+%d %s to %s %s", candidate.shape->name, c.m, c.n, c.k,
             c.gap, sizeof(T) == 2 ? "bf16" : "tf32", sizeof(OUT) == 2 ? "bf16" : "fp32",
             way_names[way]);
    finish(what);
    y.down(), want.down();
    return compare<OUT>(y.host, want.host, c, what, worst);
}

template <class T> static void check(void)
{
    static const struct size_case sizes[] = { { 64, 64, 64, 0 },        { 128, 256, 64, 0 },
                                              { 128, 256, 256, 0 },     { 256, 512, 512, 8 },
                                              { 96, 250, 64, 6 },       { 1, 8, 8, 0 },
                                              { 77, 131, 40, 0 },       { 100, 200, 72, 0 },
                                              { 300, 520, 1024, 0 },    { 513, 257, 136, 2 },
                                              { 256, 1003, 256, 0 },    { 130, 1030, 264, 3 },
                                              { 2, 50257, 64, 0 },      { 3000, 1100, 192, 0 },
                                              { 600, 1100, 776, 0, 4 }, { 600, 1003, 72, 3, 4 } };

    for (const struct candidate &candidate : all_candidates()) {
        int right = 0, all = 0;
        double worst = 0;
        for (const struct size_case &c : sizes) {
            if (!can(candidate, c, sizeof(T) == 2))
                continue;
            bool fine = true;
            for (int way = 0; way < WAYS; way++) {
                if constexpr (sizeof(T) == 2)
                    fine = check_way<T, bf16>(candidate, c, (enum way)way, &worst) && fine;
                fine = check_way<T, float>(candidate, c, (enum way)way, &worst) && fine;
            }
            right += fine, all++;
        }
        printf("%-10s %s: %d of %d sizes %s, at most %.1e off\n", candidate.shape->name,
               sizeof(T) == 2 ? "bf16" : "tf32", right, all, right == all ? "ok" : "WRONG", worst);
        fflush(stdout);
        probes_wrong += all - right;
    }
}

/* Products that each need what the one before has written, started early or not: the same. */
static void check_chain(void)
{
    constexpr int m = 512, n = 512, turns = 30;
    const size_t nr = (size_t)m * n;
    const std::vector<struct candidate> &all = all_candidates();
    both<bf16> at[2] = { both<bf16>(nr), both<bf16>(nr) }, w(nr);
    std::vector<bf16> late;

    fill<bf16>(w.device, nr, 1 / sqrtf((float)n), 2);
    for (int early = 0; early < 2; early++) {
        fill<bf16>(at[0].device, nr, 1, 1);
        for (int i = 0; i < turns; i++) {
            struct gemm_cuda g = {};
            const struct candidate &t = all[((size_t)i + (size_t)i / all.size()) % all.size()];
            g.m = m, g.n = g.k = g.ldx = g.ldw = g.ldy = n;
            g.x = at[i % 2].device, g.w = w.device, g.y = at[1 - i % 2].device;
            g.out = DTYPE_BF16, g.sms = sms, g.shared = shared_limit, g.early = early;
            const struct wgmma_plan p = wgmma_plan_for(&g, t.shape, 64);
            t.bf(&g, &p, nullptr);
        }
        finish("chain");
        at[0].down();
        if (early == 0)
            late = at[0].host;
    }
    bool same = memcmp(late.data(), at[0].host.data(), nr * sizeof(bf16)) == 0;
    printf("chain of %d products, early: %s\n", turns, same ? "ok" : "WRONG");
    probes_wrong += !same;
}

int main(int argc, char **argv)
{
    cudaDeviceProp p;
    cudaStream_t stream;
    const char *only = "";
    bool checks = true, timing = true, tiles = false, suite = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--check") == 0)
            timing = false;
        else if (strcmp(argv[i], "--time") == 0)
            checks = false;
        else if (strcmp(argv[i], "--tiles") == 0)
            tiles = true;
        else if (strcmp(argv[i], "--suite") == 0)
            suite = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
    }
    auto wanted = [&](const char *part) { return *only == '\0' || strcmp(only, part) == 0; };
    if (cudaGetDeviceProperties(&p, 0) != cudaSuccess || p.major != 9 || p.minor != 0) {
        printf("no device of compute capability 9.0\n");
        return 77;
    }
    sms = p.multiProcessorCount, shared_limit = p.sharedMemPerBlockOptin;
    printf("%s, %d SMs, %zu bytes of shared memory a block\n", p.name, sms, shared_limit);
#ifdef CUDA_WATCHDOG
    cuda_watchdog_open();
#endif
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    if (checks && wanted("probes"))
        probe_all();
    if (checks && wanted("bf16"))
        check<bf16>();
    if (checks && wanted("tf32"))
        check<float>();
    if (checks && wanted("chain"))
        check_chain();
    if (timing)
        times(stream, { wanted("bf16"), wanted("tf32"), tiles, suite });
    printf(probes_wrong ? "%d WRONG\n" : "all right\n", probes_wrong);
    return probes_wrong > 0;
}
