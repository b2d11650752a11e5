/* SPDX-License-Identifier: MIT */
/* Where the tensors of a case lie. Features: S0-02. */
#include "testing.h"

#include "core/registry.h"
#include "device/devices.h"
#include "measure/buffers.h"

#include <omp.h>
#include <sys/resource.h>

/* Pages that the second thread of a team of two was the first to write to, so far. */
static long second_faults(void)
{
    long faults = 0;

#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
        struct rusage used;
        if (getrusage(RUSAGE_THREAD, &used) == 0)
            faults = used.ru_minflt;
    }
    return faults;
}

/* A page lies in the memory of the processor that wrote to it first: on machines with several, each
 * thread's share of a tensor is to be near it. */
TEST(tensors_are_first_written_by_all_threads)
{
    enum { MIB_EACH = 64, LEAST = MIB_EACH / 2 / 2 }; /* half of it, in pages of 2 MiB or smaller */
    struct benchmark bench = {
        registry_variant(registry_builtin(), "null/copy", "right"),
        { { MIB_EACH, (1 << 20) / 4 } },
        CACHE_WARM,
        NULL,
    };
    struct buffers b;
    struct device d;
    struct error err;

    if (device_cpu_cores() < 2)
        skip();
    assert_ok(device_open(&d, "cpu:2", &err), &err);
    long before = second_faults();
    assert_ok(buffers_init(&b, &bench, &d, &err), &err);
    assert_true(second_faults() - before >= LEAST);
    buffers_release(&b);
    device_close(&d);
}

RUN_TESTS(NULL, NULL)
