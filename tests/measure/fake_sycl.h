/* SPDX-License-Identifier: MIT */
/* A second accelerator, as it would be added to harness/device: one file with a class, and its row
 * in devices.c. Its memory is apart: a host that follows a pointer of it crashes. */
#ifndef HARNESS_TESTS_FAKE_SYCL_H
#define HARNESS_TESTS_FAKE_SYCL_H

#include <stdint.h>

/* Device memory is at no address of a process on any machine that this runs on. */
#define FAKE_SYCL_APART ((uintptr_t)1 << 62)
/* What lies at a place of device memory: for its kernels alone. */
static inline void *fake_sycl_memory(const void *device)
{
    return (void *)((uintptr_t)device - FAKE_SYCL_APART);
}
/* Does queue(work) at once, and counts. */
void fake_sycl_submit(void *queue, void (*work)(const void *), const void *what);
unsigned fake_sycl_submitted(void);

#endif
