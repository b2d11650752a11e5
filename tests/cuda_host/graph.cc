/* SPDX-License-Identifier: MIT */
/* Captures as the API begins and ends them, and the graphs that come of them. */
#include "capture.h"
#include "driver.h"

using namespace cuda_host;

struct CUgraph_st {
    std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
};

/* Keeps the nodes: the graph it came from may be destroyed first. */
struct CUgraphExec_st {
    std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
};

static cudaError_t begin(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    if (!stream_known(stream))
        return cudaErrorInvalidResourceHandle;
    if (!stream)
        return cudaErrorStreamCaptureUnsupported;
    if (stream->capture)
        return cudaErrorIllegalState;
    stream->capture = std::make_shared<struct capture>();
    stream->capture->origin = stream;
    stream->capture->mode = mode;
    stream->capture->thread = std::this_thread::get_id();
    return cudaSuccess;
}

static cudaError_t why_not_end(cudaStream_t stream)
{
    const struct capture *c = stream->capture.get();

    if (c->origin != stream)
        return cudaErrorStreamCaptureUnmatched;
    if (c->mode != cudaStreamCaptureModeRelaxed && c->thread != std::this_thread::get_id())
        return cudaErrorStreamCaptureWrongThread;
    return cudaSuccess;
}

static cudaError_t end(cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = nullptr;
    if (!stream || !stream_known(stream))
        return cudaErrorInvalidResourceHandle;
    if (!stream->capture)
        return cudaErrorIllegalState;
    cudaError_t rc = why_not_end(stream);
    if (rc != cudaSuccess)
        return rc;
    std::shared_ptr<struct capture> done = stream->capture;
    streams_each([&](cudaStream_t s) {
        if (s->capture == done)
            s->capture = nullptr;
    });
    if (done->invalid)
        return cudaErrorStreamCaptureInvalidated;
    if (!done->unjoined.empty())
        return cudaErrorStreamCaptureUnjoined;
    *graph = new CUgraph_st { done->nodes };
    return cudaSuccess;
}

/* What failed on the device ends the replay. */
static cudaError_t replay(const std::vector<std::shared_ptr<CUgraphNode_st>> &nodes)
{
    for (const auto &node : nodes) {
        cudaError_t rc = node->work.run();
        if (rc != cudaSuccess)
            return rc;
    }
    return cudaSuccess;
}

static cudaError_t instantiate(cudaGraphExec_t *exec, cudaGraph_t graph)
{
    if (!exec || !graph)
        return cudaErrorInvalidValue;
    *exec = new CUgraphExec_st { graph->nodes };
    return cudaSuccess;
}

static cudaError_t list(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    if (!graph || !count)
        return cudaErrorInvalidValue;
    size_t room = nodes ? *count : 0, have = graph->nodes.size();
    for (size_t i = 0; i < room; i++)
        nodes[i] = i < have ? graph->nodes[i].get() : nullptr;
    *count = nodes && room < have ? room : have;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    return driver_enter("cudaStreamBeginCapture", [=] { return begin(stream, mode); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    return driver_enter("cudaStreamEndCapture",
                        [=] { return graph ? end(stream, graph) : cudaErrorInvalidValue; });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    return driver_enter("cudaStreamIsCapturing", [=] {
        if (!stream_known(stream) || !status)
            return cudaErrorInvalidValue;
        *status = !stream || !stream->capture ? cudaStreamCaptureStatusNone
                  : stream->capture->invalid  ? cudaStreamCaptureStatusInvalidated
                                              : cudaStreamCaptureStatusActive;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    return driver_enter("cudaGraphInstantiate", [=] { return instantiate(exec, graph); });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                          unsigned long long)
{
    return driver_enter("cudaGraphInstantiateWithFlags", [=] { return instantiate(exec, graph); });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    return driver_enter("cudaGraphUpload", [=] {
        if (!exec || !stream_known(stream))
            return cudaErrorInvalidValue;
        return capture_forbids_stream(stream);
    });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    return driver_enter("cudaGraphLaunch", [=] {
        if (!exec)
            return cudaErrorInvalidValue;
        auto nodes = exec->nodes;
        return stream_enqueue(stream,
                              { cudaGraphNodeTypeGraph, [nodes] { return replay(nodes); } });
    });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    return driver_enter("cudaGraphGetNodes", [=] { return list(graph, nodes, count); });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type)
{
    return driver_enter("cudaGraphNodeGetType", [=] {
        if (!node || !type)
            return cudaErrorInvalidValue;
        *type = node->work.type;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    return driver_give_back("cudaGraphDestroy", [=] {
        delete graph;
        return graph ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    return driver_give_back("cudaGraphExecDestroy", [=] {
        delete exec;
        return exec ? cudaSuccess : cudaErrorInvalidValue;
    });
}
