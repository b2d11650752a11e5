/* SPDX-License-Identifier: MIT */
/* Variants of gemm/nt for the second accelerator of the tests that are right: none of them may be
 * refused. Each returns with its work in the queue. */
#include "nt_sycl.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void loops(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    nt_all(&p);
}

/* Half of it on another queue, which the call's waits for. */
static void forked(const struct harness_call *call)
{
    struct nt p = nt_of(call), aside = p;

    aside.queue = p.queue->aside;
    nt_rows(&aside, p.m / 2, p.m);
    nt_rows(&p, 0, p.m / 2);
    fake_sycl_join(p.queue);
}

/* Weights do not change: a copy that is made before is right. */
static int pack(struct harness_call *call, char *why, size_t room)
{
    const struct nt p = nt_of(call);
    const size_t bytes = (size_t)(p.n * p.k) * sizeof(float);

    (void)why, (void)room;
    call->state = malloc(bytes);
    if (!call->state)
        return -1;
    nt_copy(&p, call->state, p.w, bytes);
    return 0;
}

static void packed(const struct harness_call *call)
{
    struct nt p = nt_of(call);

    p.w = call->state;
    nt_all(&p);
}

/* A driver's settings, and the file of its device. */
static int ask_driver(struct harness_call *call, char *why, size_t room)
{
    const char *driver = getenv("FAKE_SYCL_DRIVER");
    int fd = open("fake_sycl.device", O_WRONLY | O_CLOEXEC);

    (void)call;
    if (driver && strcmp(driver, "2.0") == 0 && fd >= 0 && write(fd, "go", 2) == 2)
        return close(fd);
    snprintf(why, room, "driver %s, device %s", driver ? driver : "unknown",
             fd >= 0 ? "there" : "refused");
    return HARNESS_UNSUPPORTED;
}

static void by_its_driver(const struct harness_call *call)
{
    loops(call);
}

static const struct harness_variant variants[] = {
    NT_VARIANT(loops, NULL),
    NT_VARIANT(forked, NULL),
    NT_VARIANT(packed, pack),
    NT_VARIANT(by_its_driver, ask_driver),
};
NT_PLUGIN(variants);
