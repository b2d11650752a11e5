/* SPDX-License-Identifier: MIT */
#include "capture.h"

#include "driver.h"

namespace cuda_host
{

static cudaError_t spoil(struct capture *c, cudaError_t code)
{
    c->invalid = true;
    return code;
}

/* Another thing happened on a stream of the capture. */
static void step(cudaStream_t stream)
{
    struct capture *c = stream->capture.get();

    stream->last_step = ++c->steps;
    if (stream != c->origin)
        c->unjoined.insert(stream);
}

cudaError_t capture_work(cudaStream_t stream, struct work work)
{
    struct capture *c = stream->capture.get();

    if (c->invalid)
        return cudaErrorStreamCaptureInvalidated;
    step(stream);
    c->nodes.push_back(std::make_shared<CUgraphNode_st>(CUgraphNode_st { std::move(work) }));
    return cudaSuccess;
}

cudaError_t capture_record(cudaStream_t stream, cudaEvent_t event)
{
    if (stream->capture->invalid)
        return cudaErrorStreamCaptureInvalidated;
    event->capture = stream->capture;
    event->stream = stream;
    event->step = stream->last_step;
    return cudaSuccess;
}

cudaError_t capture_wait(cudaStream_t stream, cudaEvent_t event)
{
    if (!event->capture)
        return spoil(stream->capture.get(), cudaErrorStreamCaptureIsolation);
    if (stream->capture && stream->capture != event->capture)
        return spoil(stream->capture.get(), cudaErrorStreamCaptureMerge);
    if (event->capture->invalid)
        return cudaErrorStreamCaptureInvalidated;
    stream->capture = event->capture;
    step(stream);
    if (event->step >= event->stream->last_step && event->stream != stream)
        stream->capture->unjoined.erase(event->stream);
    return cudaSuccess;
}

cudaError_t capture_forbids(void)
{
    cudaError_t rc = cudaSuccess;

    streams_each([&](cudaStream_t s) {
        struct capture *c = s->capture.get();
        if (c && (c->mode == cudaStreamCaptureModeGlobal ||
                  (c->mode == cudaStreamCaptureModeThreadLocal &&
                   c->thread == std::this_thread::get_id())))
            rc = spoil(c, cudaErrorStreamCaptureUnsupported);
    });
    return rc;
}

cudaError_t capture_forbids_stream(cudaStream_t stream)
{
    if (!stream)
        return capture_forbids_legacy();
    return stream->capture ? spoil(stream->capture.get(), cudaErrorStreamCaptureUnsupported)
                           : cudaSuccess;
}

cudaError_t capture_forbids_legacy(void)
{
    cudaError_t rc = cudaSuccess;

    streams_each([&](cudaStream_t s) {
        if (s->capture && !(s->flags & cudaStreamNonBlocking))
            rc = spoil(s->capture.get(), cudaErrorStreamCaptureImplicit);
    });
    return rc;
}

} // namespace cuda_host
