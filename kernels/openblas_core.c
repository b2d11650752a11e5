/* SPDX-License-Identifier: MIT */
#include "kernels/openblas_core.h"

#include "host/thread_pinning.h"
#include "kernels/simd.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *const openblas_files[] = { "libopenblas.so.0", "libopenblas.so", NULL };
static const char variable[] = "OPENBLAS_CORETYPE";

/* What it falls back to, of a processor of Intel's and of AMD's. */
static bool is_fallback(const char *core)
{
    static const char *const names[] = { "Prescott", "Nehalem", "Barcelona" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(core, names[i]) == 0)
            return true;
    return false;
}

/* Its first load starts a thread for each processor, its last close ends them. */
static bool falls_back(void)
{
    const char *chosen = getenv(OPENBLAS_VARIABLE);
    void *handle = NULL;

    if (chosen != NULL && *chosen != '\0')
        handle = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    for (int f = 0; handle == NULL && openblas_files[f] != NULL; f++)
        handle = dlopen(openblas_files[f], RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return false;
    void *found = dlsym(handle, "openblas_get_corename");
    char *(*core)(void) = NULL;
    memcpy(&core, &found, sizeof(core)); /* POSIX has both kinds of address alike */
    bool falls = core != NULL && is_fallback(core());
    dlclose(handle);
    return falls;
}

void openblas_choose_core(void)
{
    const char *best = simd_has(SIMD_AVX512) ? "SkylakeX" : simd_has(SIMD_AVX2) ? "Haswell" : NULL;
    struct pinning_pause pause;

    if (best == NULL || getenv(variable) != NULL)
        return;
    pinning_pause(&pause);
    if (falls_back())
        setenv(variable, best, 1);
    pinning_resume(&pause);
}
