/* SPDX-License-Identifier: MIT */
#include "kernels/openblas.h"

#include "kernels/peer.h"

#include <dlfcn.h>
#include <stdatomic.h>

static const struct peer_symbol symbols[] = {
    { "cblas_sgemm", offsetof(struct openblas, sgemm) },
    { "openblas_set_num_threads", offsetof(struct openblas, set_num_threads) },
    { "openblas_get_num_threads", offsetof(struct openblas, get_num_threads) },
    { NULL, 0 },
};
static const char *const files[] = { "libopenblas.so.0", "libopenblas.so", NULL };
static const struct peer peer = { .variable = "HARNESS_OPENBLAS",
                                  .files = files,
                                  .packages = "Debian: libopenblas0",
                                  .flags = RTLD_LOCAL,
                                  .symbols = symbols };

/* A cache of constants: a library that was opened stays. Measuring code reads it, and one thread
 * fills it before that. */
static struct openblas functions;
static atomic_bool opened;

int openblas_open(struct error *err)
{
    if (atomic_load_explicit(&opened, memory_order_acquire))
        return 0;
    if (peer_open(&peer, &functions, err) != 0)
        return -1;
    atomic_store_explicit(&opened, true, memory_order_release);
    return 0;
}

const struct openblas *openblas(void)
{
    return &functions;
}

void openblas_use_threads(int threads)
{
    if (functions.get_num_threads() != threads)
        functions.set_num_threads(threads);
}
