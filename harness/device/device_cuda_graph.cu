/* SPDX-License-Identifier: MIT */
/*
 * Graph mode: the launches of a sample are captured once and replayed as one CUDA graph, so that
 * the host's part of every launch is gone from the time.
 *
 * Capture is in thread-local mode: work on the legacy default stream, allocations and
 * synchronisation within launch() are errors then, and the case is FAILED. Work on any other
 * stream runs at once and is no part of the graph; as the outputs are poisoned after the capture
 * and before the replay that is checked, such a variant is WRONG.
 */
#include "device/device_cuda_base.h"

/* Nodes of a graph cost memory and upload time. */
enum { LAUNCHES_MAX = 1024 };

unsigned cuda_graph_launches(const struct call *call, unsigned batch)
{
    unsigned launches = call->variant->flags & VARIANT_WHOLE ? 1 : batch;

    while (launches > LAUNCHES_MAX)
        launches = launches % 2 == 0 ? launches / 2 : 1;
    return launches;
}

void cuda_graph_drop(struct cuda *cuda)
{
    if (cuda->graph.exec)
        cudaGraphExecDestroy(cuda->graph.exec);
    cuda->graph = {};
}

static bool is_capture_error(cudaError_t rc)
{
    return rc >= cudaErrorStreamCaptureUnsupported && rc <= cudaErrorStreamCaptureWrongThread;
}

/* The capture is ended in any case: nothing else could be done with the stream. */
static int capture_graph(struct device *d, const struct call *call, unsigned launches,
                         cudaGraph_t *graph, struct error *err)
{
    cudaStream_t stream = cuda_of(d)->stream;

    CUDA_DO(d, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), err);
    for (unsigned i = 0; i < launches; i++)
        call->variant->launch(call);
    cudaError_t launched = cudaGetLastError(), ended = cudaStreamEndCapture(stream, graph);
    cudaError_t rc = launched != cudaSuccess ? launched : ended;
    if (!cuda_failed(d, rc, "launch()", __FILE__, __LINE__, err))
        return 0;
    return is_capture_error(rc)
               ? error_prefix(err, "launch() allocates, waits or uses the default stream")
               : -1;
}

static int instantiate_graph(struct device *d, cudaGraph_t graph, struct error *err)
{
    struct cuda *cuda = cuda_of(d);
    size_t nodes = 0;

    CUDA_DO(d, cudaGraphGetNodes(graph, nullptr, &nodes), err);
    if (nodes == 0)
        return error_set(err, "launch() put nothing on the device's stream");
    CUDA_DO(d, cudaGraphInstantiate(&cuda->graph.exec, graph, 0), err);
    CUDA_DO(d, cudaGraphUpload(cuda->graph.exec, cuda->stream), err);
    return 0;
}

int cuda_graph_make(struct device *d, const struct call *call, unsigned launches, struct error *err)
{
    struct cuda *cuda = cuda_of(d);
    cudaGraph_t graph = nullptr;

    if (cuda->graph.exec && cuda->graph.launches == launches)
        return 0;
    cuda_graph_drop(cuda);
    int rc = capture_graph(d, call, launches, &graph, err);
    if (rc == 0)
        rc = instantiate_graph(d, graph, err);
    if (graph)
        cudaGraphDestroy(graph);
    if (rc) {
        cuda_graph_drop(cuda);
        return error_prefix(err, "cannot be captured in a CUDA graph");
    }
    cuda->graph.launches = launches;
    return 0;
}
