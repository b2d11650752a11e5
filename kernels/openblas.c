/* SPDX-License-Identifier: MIT */
#include "kernels/openblas.h"

#include "kernels/openblas_core.h"
#include "kernels/peer.h"

#include "host/thread_pinning.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

static const struct peer_symbol symbols[] = {
    { "cblas_sgemm", offsetof(struct openblas, sgemm) },
    { "openblas_set_num_threads", offsetof(struct openblas, set_num_threads) },
    { "openblas_get_num_threads", offsetof(struct openblas, get_num_threads) },
    { NULL, 0 },
};
static const struct peer peer = { .variable = OPENBLAS_VARIABLE,
                                  .files = openblas_files,
                                  .packages = "Debian: libopenblas0",
                                  .flags = RTLD_LOCAL,
                                  .symbols = symbols };

/* A cache of constants: a library that was opened stays. Measuring code reads it, and one thread
 * fills it before that. */
static struct openblas functions;
static atomic_bool opened;

static size_t processors(void)
{
    struct pinning_pause pause;
    struct processors all;

    pinning_pause(&pause);
    int nr = processors_of(0, &all) ? processors_count(&all) : 1;
    pinning_resume(&pause);
    return (size_t)nr;
}

/* Where its buffers cannot be mapped (ulimit -v) it asks for them again without end: 128 MiB for
 * each thread of the usual build, beside its stack. */
static int find_room(struct error *err)
{
    const size_t mib = 1 << 20, need = (processors() * (128 + 8) + 64) * mib;
    void *room = mmap(NULL, need, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct rlimit data;
    bool too_little = getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur < need;

    if (room != MAP_FAILED)
        munmap(room, need);
    if (room == MAP_FAILED || too_little)
        return error_set(err,
                         "OpenBLAS needs %zu MiB of address space, more than is allowed here "
                         "(ulimit -v, -d)",
                         need / mib);
    return 0;
}

int openblas_open(struct error *err)
{
    if (atomic_load_explicit(&opened, memory_order_acquire))
        return 0;
    if (find_room(err) != 0)
        return -1;
    openblas_choose_core();
    if (peer_open(&peer, &functions, err) != 0)
        return -1;
    atomic_store_explicit(&opened, true, memory_order_release);
    return 0;
}

const struct openblas *openblas(void)
{
    return &functions;
}

bool openblas_use_threads(int threads)
{
    struct pinning_pause pause;

    if (functions.get_num_threads() == threads)
        return true;
    pinning_pause(&pause); /* threads that it lacks begin where the caller may be */
    functions.set_num_threads(threads);
    pinning_resume(&pause);
    return functions.get_num_threads() == threads;
}

int openblas_ready(int threads, struct error *err)
{
    if (openblas_open(err) != 0)
        return -1;
    if (openblas_use_threads(threads))
        return 0;
    int given = functions.get_num_threads();
    return error_set(err,
                     "%d threads are to be measured, and this OpenBLAS has %d at most; install one "
                     "that has more (Debian: libopenblas0-pthread has 64), or give --device cpu:%d",
                     threads, given, given);
}
