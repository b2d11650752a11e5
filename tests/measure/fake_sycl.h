/* SPDX-License-Identifier: MIT */
/*
 * What a vendor would bring for the second accelerator of the tests: memory and queues. harness's
 * own part is fake_sycl.c, one file with a class, and its row in devices.c. The memory is apart: a
 * host that follows a pointer of it crashes.
 */
#ifndef HARNESS_TESTS_FAKE_SYCL_H
#define HARNESS_TESTS_FAKE_SYCL_H

#include <stddef.h>
#include <stdint.h>

/* Device memory is at no address of a process on any machine that this runs on. */
#define FAKE_SYCL_APART ((uintptr_t)1 << 62)
/* What lies at a place of device memory: for its kernels alone. */
static inline void *fake_sycl_memory(const void *device)
{
    return (void *)((uintptr_t)device - FAKE_SYCL_APART);
}

/* ---- for plugins ---- */

/* What a plugin gets as call->stream. Work on a queue is done in order, and when it was submitted
 * nobody has waited for it. */
struct fake_sycl_queue {
    void (*submit)(struct fake_sycl_queue *queue, void (*work)(const void *), const void *what,
                   size_t bytes);
    void (*join)(struct fake_sycl_queue *queue);
    struct fake_sycl_queue *aside; /* another one, of no order with this: the device is busy, and
                                    * does not begin with it before somebody waits */
};
enum { FAKE_SYCL_WHAT = 128 };
/* work(a copy of `what`) on the device. More than FAKE_SYCL_WHAT bytes are refused, as the next
 * wait tells. */
static inline void fake_sycl_submit(void *queue, void (*work)(const void *), const void *what,
                                    size_t bytes)
{
    struct fake_sycl_queue *q = (struct fake_sycl_queue *)queue;

    q->submit(q, work, what, bytes);
}
/* What comes behind it on the queue begins when all that is aside is done. */
static inline void fake_sycl_join(void *queue)
{
    struct fake_sycl_queue *q = (struct fake_sycl_queue *)queue;

    q->join(q);
}

/* ---- for the device's file ---- */

struct fake_sycl_queue *fake_sycl_queue(int device); /* 0 or 1 */
/* How often work was submitted to the queue of device 1. */
unsigned fake_sycl_submitted(void);
/* Until all queues of this process are empty. NULL, or what was refused. */
const char *fake_sycl_wait(void);

/* Zeroed. NULL and errno. */
void *fake_sycl_alloc(size_t bytes);
void fake_sycl_free(void *memory);
/* The number by which another process opens memory, as long as this one has it. */
int fake_sycl_share(const void *memory);
/* NULL and errno. From then on this process has a device that works whether the process runs or is
 * stopped, as those in a slot do; before, it has one that works as soon as it is asked to. */
void *fake_sycl_open(int number);

#endif
