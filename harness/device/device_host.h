/* SPDX-License-Identifier: MIT */
/* Host memory, shared by the devices whose memory is the host's (cpu and fake). */
#ifndef HARNESS_DEVICE_DEVICE_HOST_H
#define HARNESS_DEVICE_DEVICE_HOST_H

#include "core/device.h"

void *device_host_alloc(struct device *d, size_t bytes, struct error *err);
void device_host_free(struct device *d, void *memory);
int device_host_copy(struct device *d, void *to, const void *from, size_t bytes, struct error *err);
/* Each thread of the device writes a part of fresh memory, in their order: the system puts a page
 * where it was first written from. Else a machine with several memories has all of a case's tensors
 * in that of the thread which fills them, and the bandwidth of that one. Only where the device has
 * several threads, whose memory is the host's. */
void device_host_touch(const struct device *d, void *memory, size_t bytes);
int64_t device_host_available(struct device *d); /* see host/host_memory.h */

#endif
