/* SPDX-License-Identifier: MIT */
/* Host memory, shared by the devices whose memory is the host's (cpu and fake). */
#ifndef HARNESS_DEVICE_DEVICE_HOST_H
#define HARNESS_DEVICE_DEVICE_HOST_H

#include "core/device.h"

void *device_host_alloc(struct device *d, size_t bytes, struct error *err);
void device_host_free(struct device *d, void *memory);
int device_host_copy(struct device *d, void *to, const void *from, size_t bytes, struct error *err);
int64_t device_host_available(struct device *d); /* see host/host_memory.h */

#endif
