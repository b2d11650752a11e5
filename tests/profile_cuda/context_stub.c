/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for libcuda.so.1 that is waited for. CONTEXT_STUB holds what it is told: "status=N" is
 * what the wait gives.
 */
#include <stdlib.h>
#include <string.h>

int cuCtxSynchronize(void);
long context_stub_waits(void);

static long waits;

int cuCtxSynchronize(void)
{
    const char *words = getenv("CONTEXT_STUB"), *at = words ? strstr(words, "status=") : NULL;

    __atomic_fetch_add(&waits, 1, __ATOMIC_RELAXED);
    return at ? (int)strtol(at + strlen("status="), NULL, 10) : 0;
}

long context_stub_waits(void)
{
    return __atomic_load_n(&waits, __ATOMIC_RELAXED);
}
