/* SPDX-License-Identifier: MIT */
#include "kernels/simd.h"

#include "kernels/simd_amx.h"

#include <stdatomic.h>
#include <stdlib.h>

static const char *const names[SIMD_NR] = {
    [SIMD_PORTABLE] = "portable",       [SIMD_AVX2] = "avx2",
    [SIMD_AVX512] = "avx512",           [SIMD_AVX512_VNNI] = "avx512_vnni",
    [SIMD_AVX512_BF16] = "avx512_bf16", [SIMD_AVX512_AMX] = "avx512_amx",
};

const char *simd_isa_name(enum simd_isa isa)
{
    return names[isa];
}

bool simd_has(enum simd_isa isa)
{
#if defined(__x86_64__)
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    bool vnni = avx512 && __builtin_cpu_supports("avx512vnni");
    if (isa == SIMD_AVX512_AMX)
        return vnni && simd_amx_works();
    if (isa == SIMD_AVX512_BF16)
        return vnni && __builtin_cpu_supports("avx512bf16");
    if (isa == SIMD_AVX512_VNNI)
        return vnni;
    if (isa == SIMD_AVX512)
        return avx512;
    if (isa == SIMD_AVX2)
        return avx2;
#endif
    return isa == SIMD_PORTABLE;
}

/* What HARNESS_ISA says; an empty one is as none. */
static const char *wished(void)
{
    const char *wish = getenv("HARNESS_ISA");

    return wish != NULL && *wish != '\0' ? wish : NULL;
}

/* The set that HARNESS_ISA names; SIMD_NR where it names none that can be used here. */
static enum simd_isa forced(const char *wish)
{
    for (unsigned isa = 0; isa < SIMD_NR; isa++)
        if (strcmp(wish, names[isa]) == 0 && simd_has((enum simd_isa)isa))
            return (enum simd_isa)isa;
    return SIMD_NR;
}

/*
 * Whether vdpbf16ps, which does the work of two multiply-adds, has more than half their rate. On
 * Intel's Emerald Rapids it has a quarter (measured: 1.40 and 5.59 G/s at 2.8 GHz), half the FLOP
 * rate of fp32: products are meant for AMX there. On AMD's Zen 4 and Zen 5 it has all of it
 * (measured: twice the FLOPs of fp32).
 */
static bool dots_pay(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_is("amd");
#else
    return false;
#endif
}

static enum simd_isa choose(void)
{
    const char *wish = wished();
    enum simd_isa isa = wish != NULL ? forced(wish) : SIMD_NR;

    if (isa != SIMD_NR)
        return isa;
    if (simd_has(SIMD_AVX512_AMX))
        return SIMD_AVX512_AMX;
    if (dots_pay() && simd_has(SIMD_AVX512_BF16))
        return SIMD_AVX512_BF16;
    isa = SIMD_AVX512_VNNI;
    while (!simd_has(isa))
        isa--;
    return isa;
}

enum simd_isa simd_isa(void)
{
    /* A cache of a constant: packed weights must mean the same for the process's whole life. */
    static atomic_int chosen = -1;
    int isa = atomic_load_explicit(&chosen, memory_order_relaxed);

    if (isa < 0) {
        isa = (int)choose();
        atomic_store_explicit(&chosen, isa, memory_order_relaxed);
    }
    return (enum simd_isa)isa;
}

bool simd_supports(const struct kernel *k, const struct shape *s, const struct device *d,
                   struct error *why)
{
    (void)k, (void)s, (void)d;
    const char *wish = wished();

    if (wish == NULL || forced(wish) != SIMD_NR)
        return true;
    error_set(
        why,
        "HARNESS_ISA is '%s', but this machine runs:%s%s%s%s%s portable; correct it or unset it",
        wish, simd_has(SIMD_AVX512_AMX) ? " avx512_amx" : "",
        simd_has(SIMD_AVX512_BF16) ? " avx512_bf16" : "",
        simd_has(SIMD_AVX512_VNNI) ? " avx512_vnni" : "", simd_has(SIMD_AVX512) ? " avx512" : "",
        simd_has(SIMD_AVX2) ? " avx2" : "");
    return false;
}
