/* SPDX-License-Identifier: MIT */
/* Streams and events. Under the driver's lock. */
#ifndef CUDA_HOST_STREAM_H
#define CUDA_HOST_STREAM_H

#include "cuda_host_api.h"

#include <memory>

namespace cuda_host
{

/* What can lie on a stream; run() returns what went wrong on the device. */
struct work {
    cudaGraphNodeType type;
    std::function<cudaError_t()> run;
};

struct capture;

/* Runs it now, or keeps it for the graph where the stream is being captured. Null: the legacy
 * default stream. */
cudaError_t stream_enqueue(cudaStream_t stream, struct work work);
/* Whether the handle is one of ours; the null stream is. */
bool stream_known(cudaStream_t stream);
/* Calls f for each stream. */
void streams_each(const std::function<void(cudaStream_t)> &f);
void streams_free_all(void);

} // namespace cuda_host

struct CUstream_st {
    /* What the stub of cuBLAS calls: a shared object that is loaded at run time finds no symbols in
     * the program, but the stream knows the way. Takes the driver's lock. */
    cudaError_t (*enqueue)(cudaStream_t stream, struct cuda_host::work work);
    unsigned flags;
    std::shared_ptr<struct cuda_host::capture> capture; /* null: work runs at once */
    uint64_t last_step;                                 /* of its capture */
};

struct CUevent_st {
    unsigned flags;
    bool recorded;
    uint64_t ns;
    std::shared_ptr<struct cuda_host::capture> capture; /* that it was recorded in */
    cudaStream_t stream;                                /* and where */
    uint64_t step;
};

#endif
