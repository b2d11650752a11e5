/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include "capture.h"
#include "cuda_host.h"
#include "driver.h"
#include "lag.h"
#include "memory.h"

#include <ctime>

namespace cuda_host
{

struct handles {
    std::set<cudaStream_t> streams;
    std::set<cudaEvent_t> events;
};

static struct handles *streams(void)
{
    static struct handles all;

    return &all;
}

bool stream_known(cudaStream_t stream)
{
    return !stream || streams()->streams.contains(stream);
}

static bool event_known(cudaEvent_t event)
{
    return event && streams()->events.contains(event);
}

void streams_each(const std::function<void(cudaStream_t)> &f)
{
    for (cudaStream_t s : streams()->streams)
        f(s);
}

void streams_free_all(void)
{
    for (cudaStream_t s : streams()->streams)
        delete s;
    for (cudaEvent_t e : streams()->events)
        delete e;
    streams()->streams.clear();
    streams()->events.clear();
}

cudaError_t stream_enqueue(cudaStream_t stream, struct work work)
{
    if (!stream_known(stream))
        return cudaErrorInvalidResourceHandle;
    if (stream && stream->capture)
        return capture_work(stream, std::move(work));
    cudaError_t rc = stream ? cudaSuccess : capture_forbids_legacy();
    if (rc != cudaSuccess)
        return rc;
    if (lag_keep(stream, work))
        return cudaSuccess;
    struct cuda_host_access access;
    work.run(); /* its errors stay, and show from the next call on */
    return cudaSuccess;
}

static cudaError_t enqueue_locked(cudaStream_t stream, struct work work)
{
    std::lock_guard<std::recursive_mutex> guard(driver()->lock);

    return driver_remember(stream_enqueue(stream, std::move(work)));
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

/* ---- Streams ---- */

static cudaError_t stream_create(cudaStream_t *stream, unsigned flags)
{
    if (!stream || flags > cudaStreamNonBlocking)
        return cudaErrorInvalidValue;
    *stream = new CUstream_st { enqueue_locked, flags, nullptr, 0 };
    streams()->streams.insert(*stream);
    lag_created(*stream);
    return cudaSuccess;
}

static cudaError_t stream_destroy(cudaStream_t stream)
{
    if (!stream || !stream_known(stream))
        return cudaErrorInvalidResourceHandle;
    if (stream->capture)
        stream->capture->invalid = true;
    lag_destroyed(stream);
    streams()->streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

/* All work is done when it is enqueued, or lags: what is left to do is to look whether it went
 * well. */
static cudaError_t stream_finish(cudaStream_t stream)
{
    if (!stream_known(stream))
        return cudaErrorInvalidResourceHandle;
    cudaError_t rc = capture_forbids_stream(stream);
    if (rc == cudaSuccess)
        lag_run(stream);
    return rc == cudaSuccess ? memory_check() : rc;
}

static cudaError_t stream_query(cudaStream_t stream)
{
    return stream_known(stream) && lag_busy(stream) ? cudaErrorNotReady : stream_finish(stream);
}

static cudaError_t stream_wait(cudaStream_t stream, cudaEvent_t event)
{
    if (!stream_known(stream) || !event_known(event))
        return cudaErrorInvalidResourceHandle;
    if (event->capture && !stream)
        return capture_forbids_legacy();
    if (event->capture || (stream && stream->capture && event->recorded))
        return capture_wait(stream, event);
    if (event->recorded && stream_known(event->stream))
        lag_run(event->stream);
    return cudaSuccess;
}

/* ---- Events ---- */

static cudaError_t event_create(cudaEvent_t *event, unsigned flags)
{
    if (!event || flags > (cudaEventBlockingSync | cudaEventDisableTiming))
        return cudaErrorInvalidValue;
    *event = new CUevent_st { flags, false, 0, nullptr, nullptr, 0 };
    streams()->events.insert(*event);
    return cudaSuccess;
}

static cudaError_t event_destroy(cudaEvent_t event)
{
    if (!event_known(event))
        return cudaErrorInvalidResourceHandle;
    streams()->events.erase(event);
    delete event;
    return cudaSuccess;
}

static cudaError_t event_record(cudaEvent_t event, cudaStream_t stream)
{
    if (!stream_known(stream) || !event_known(event))
        return cudaErrorInvalidResourceHandle;
    if (stream && stream->capture)
        return capture_record(stream, event);
    cudaError_t rc = stream ? cudaSuccess : capture_forbids_legacy();
    if (rc != cudaSuccess)
        return rc;
    event->capture = nullptr;
    event->stream = stream;
    event->recorded = true;
    event->ns = now();
    return cudaSuccess;
}

static cudaError_t event_finish(cudaEvent_t event)
{
    if (!event_known(event))
        return cudaErrorInvalidResourceHandle;
    if (event->capture)
        return cudaErrorCapturedEvent;
    if (event->recorded && stream_known(event->stream))
        lag_run(event->stream);
    return cudaSuccess;
}

static bool event_timed(cudaEvent_t event)
{
    return event_known(event) && event->recorded && !(event->flags & cudaEventDisableTiming);
}

} // namespace cuda_host

using namespace cuda_host;

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return driver_enter("cudaStreamCreate", [=] { return stream_create(stream, 0); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return driver_enter("cudaStreamCreateWithFlags", [=] { return stream_create(stream, flags); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return driver_give_back("cudaStreamDestroy", [=] { return stream_destroy(stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return driver_enter("cudaStreamSynchronize", [=] { return stream_finish(stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return driver_enter("cudaStreamQuery", [=] { return stream_query(stream); });
}

cudaError_t cudaDeviceSynchronize(void)
{
    return driver_enter("cudaDeviceSynchronize", [] {
        cudaError_t rc = capture_forbids();
        if (rc == cudaSuccess)
            lag_run_all();
        return rc == cudaSuccess ? memory_check() : rc;
    });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    return driver_enter("cudaStreamWaitEvent",
                        [=] { return flags ? cudaErrorInvalidValue : stream_wait(stream, event); });
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return driver_enter("cudaEventCreate", [=] { return event_create(event, 0); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    return driver_enter("cudaEventCreateWithFlags", [=] { return event_create(event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return driver_give_back("cudaEventDestroy", [=] { return event_destroy(event); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return driver_enter("cudaEventRecord", [=] { return event_record(event, stream); });
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return driver_enter("cudaEventQuery", [=] { return event_finish(event); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return driver_enter("cudaEventSynchronize", [=] { return event_finish(event); });
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t stop)
{
    return driver_enter("cudaEventElapsedTime", [=] {
        if (!ms)
            return cudaErrorInvalidValue;
        if (!event_timed(start) || !event_timed(stop))
            return cudaErrorInvalidResourceHandle;
        *ms = static_cast<float>((static_cast<double>(stop->ns) - static_cast<double>(start->ns)) *
                                 1e-6);
        return cudaSuccess;
    });
}
