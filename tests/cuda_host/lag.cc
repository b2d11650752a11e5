/* SPDX-License-Identifier: MIT */
#include "lag.h"

#include "cuda_host.h"
#include "driver.h"

#include <deque>
#include <map>

namespace cuda_host
{

struct queues {
    cudaStream_t prompt; /* the first, which does not lag */
    std::map<cudaStream_t, std::deque<struct work>> waiting;
};

static struct queues *lag_queues(void)
{
    static struct queues all;

    return &all;
}

/* The legacy default stream and those that are ordered with it. */
static cudaStream_t queue_of(cudaStream_t stream)
{
    return stream && (stream->flags & cudaStreamNonBlocking) ? stream : nullptr;
}

bool lag_keep(cudaStream_t stream, struct work &work)
{
    if (!driver()->setup.lag || (stream && stream == lag_queues()->prompt))
        return false;
    lag_queues()->waiting[queue_of(stream)].push_back(std::move(work));
    return true;
}

bool lag_busy(cudaStream_t stream)
{
    auto found = lag_queues()->waiting.find(queue_of(stream));

    return found != lag_queues()->waiting.end() && !found->second.empty();
}

void lag_run(cudaStream_t stream)
{
    if (!lag_busy(stream))
        return; /* to reach all memory takes milliseconds, which a caller may measure */
    struct cuda_host_access access;

    while (lag_busy(stream)) {
        auto &queue = lag_queues()->waiting[queue_of(stream)];
        struct work work = std::move(queue.front());
        queue.pop_front();
        work.run();
    }
}

void lag_run_all(void)
{
    lag_run(nullptr);
    streams_each(lag_run);
}

void lag_created(cudaStream_t stream)
{
    if (!lag_queues()->prompt)
        lag_queues()->prompt = stream;
}

void lag_destroyed(cudaStream_t stream)
{
    lag_run(stream);
    lag_queues()->waiting.erase(stream);
}

} // namespace cuda_host
