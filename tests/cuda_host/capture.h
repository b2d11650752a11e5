/* SPDX-License-Identifier: MIT */
/*
 * Captures: streams that write down their work for a graph. The order of recording is an order in
 * which the graph may run, so that is how it runs; the dependencies serve only to refuse what CUDA
 * refuses.
 */
#ifndef CUDA_HOST_CAPTURE_H
#define CUDA_HOST_CAPTURE_H

#include "stream.h"

#include <set>
#include <thread>
#include <vector>

struct CUgraphNode_st {
    struct cuda_host::work work;
};

namespace cuda_host
{

struct capture {
    cudaStream_t origin;
    cudaStreamCaptureMode mode;
    std::thread::id thread;
    bool invalid;
    uint64_t steps; /* counts what was done in it */
    std::vector<std::shared_ptr<struct CUgraphNode_st>> nodes;
    std::set<cudaStream_t> unjoined; /* other streams, with work that no one waits for yet */
};

/* Work, a record and a wait on a stream that is being captured. */
cudaError_t capture_work(cudaStream_t stream, struct work work);
cudaError_t capture_record(cudaStream_t stream, cudaEvent_t event);
/* Also on other streams: the wait for a captured event makes them join. */
cudaError_t capture_wait(cudaStream_t stream, cudaEvent_t event);

/* For calls that CUDA does not allow while some capture goes on, such as allocating: 0 when there
 * is none; otherwise that capture is spoilt. */
cudaError_t capture_forbids(void);
/* The same for a stream that is synchronised or queried. */
cudaError_t capture_forbids_stream(cudaStream_t stream);
/* The same for work on the legacy stream, which blocking streams wait for. */
cudaError_t capture_forbids_legacy(void);

} // namespace cuda_host

#endif
