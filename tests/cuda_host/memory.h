/* SPDX-License-Identifier: MIT */
/* Device memory: what is allocated where. Under the driver's lock. */
#ifndef CUDA_HOST_MEMORY_H
#define CUDA_HOST_MEMORY_H

#include "cuda_host_api.h"

#include <vector>

namespace cuda_host
{

/* Memory of exactly `bytes` with an alignment (a power of two) and 0xff in it, with guards behind
 * it that guarded_intact() looks at: for code that AddressSanitizer is not in, as are the kernels
 * of tests/cuda_asm. Null: none left. */
void *guarded_allocate(size_t alignment, size_t bytes);
bool guarded_intact(const void *memory, size_t bytes);
/* All `room` bytes, of which those behind `bytes` are the guard. */
void guarded_copy(void *to, const void *memory, size_t bytes, size_t room);
void guarded_free(void *memory);

/* 0, or IllegalAddress where something was written behind an allocation. */
cudaError_t memory_check(void);
void memory_free_all(void);
/* Of an allocation that another process can be given (ipc.cc): its bytes, and those of the whole
 * pages that it has for itself; 0: it is a small one, or none. */
size_t memory_bytes(const void *memory);
size_t memory_pages(const void *memory);
/* Whether it lies in an allocation of the device. */
bool memory_is_device(const void *memory);
/* Memory that another process gave is the device's, until the process ends. */
void memory_adopt(void *memory, size_t bytes);

/* What device memory holds, for one kernel to run without what another one has written. */
struct memory_image {
    std::vector<std::pair<unsigned char *, std::vector<unsigned char>>> parts;
};
struct memory_image memory_look(void);
void memory_restore(const struct memory_image &image);
/* Writes the bytes in which `after` differs from `before`. */
void memory_apply(const struct memory_image &before, const struct memory_image &after);

} // namespace cuda_host

#endif
