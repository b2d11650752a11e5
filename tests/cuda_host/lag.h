/* SPDX-License-Identifier: MIT */
/*
 * Streams that lag (CUDA_HOST=lag): work on all streams but the first of the process waits until
 * somebody waits for it, as it may on a device that is busy. Who returns without waiting, or has
 * the wrong stream waited for, has no result there. Under the driver's lock.
 */
#ifndef CUDA_HOST_LAG_H
#define CUDA_HOST_LAG_H

#include "stream.h"

namespace cuda_host
{

/* Keeps the work for later; false: this stream does not lag. Streams that wait for the legacy
 * default stream are in one queue with it. */
bool lag_keep(cudaStream_t stream, struct work &work);
/* Whether work waits there, and its end: it runs now. */
bool lag_busy(cudaStream_t stream);
void lag_run(cudaStream_t stream);
void lag_run_all(void);
/* A stream is new, or gone: what it has is done before. */
void lag_created(cudaStream_t stream);
void lag_destroyed(cudaStream_t stream);

} // namespace cuda_host

#endif
