/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_xla.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A call on the host, by the number of what it launched. */
struct xla_call {
    uint64_t correlation;
    int slice;
};

static int by_correlation(const void *a_, const void *b_)
{
    const struct xla_call *a = a_, *b = b_;

    if (a->correlation != b->correlation)
        return a->correlation < b->correlation ? -1 : 1;
    return (a->slice > b->slice) - (a->slice < b->slice);
}

static bool is_xla_stream(const struct prof_track *track)
{
    static const char of_gpu[] = "/device:GPU:";

    return track->kind == PROF_TRACK_STREAM && track->owner &&
           strncmp(track->owner, of_gpu, sizeof(of_gpu) - 1) == 0;
}

static bool has_xla_streams(const struct prof_trace *trace)
{
    for (size_t i = 0; i < trace->nr_tracks; i++)
        if (is_xla_stream(&trace->tracks[i]))
            return true;
    return false;
}

static size_t take_calls(struct prof_trace *trace, struct xla_call *calls)
{
    size_t nr = 0;

    for (size_t i = 0; i < trace->nr_slices; i++) {
        struct prof_slice *s = &trace->slices[i];
        if (!s->correlation || *s->category || trace->tracks[s->track].kind != PROF_TRACK_THREAD)
            continue;
        s->category = PROF_DRIVER_CALLS;
        calls[nr++] = (struct xla_call) { s->correlation, (int)i };
    }
    qsort(calls, nr, sizeof(*calls), by_correlation);
    return nr;
}

/* The only one of this number; -1: there is none, or more than one. */
static int call_of(const struct xla_call *calls, size_t nr, uint64_t correlation)
{
    size_t low = 0, high = nr;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (calls[middle].correlation < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == nr || calls[low].correlation != correlation)
        return -1;
    return low + 1 < nr && calls[low + 1].correlation == correlation ? -1 : calls[low].slice;
}

int timeline_bind_xla(struct prof_trace *trace)
{
    if (!has_xla_streams(trace))
        return 0;
    struct xla_call *calls = memory_zeroed(trace->nr_slices + 1, sizeof(*calls));
    size_t nr = take_calls(trace, calls);
    int rc = 0;

    for (size_t i = 0; i < trace->nr_slices && rc == 0 && nr > 0; i++) {
        const struct prof_slice *s = &trace->slices[i];
        int call = s->correlation && is_xla_stream(&trace->tracks[s->track])
                       ? call_of(calls, nr, s->correlation)
                       : -1;
        if (call >= 0 && trace->slices[call].start <= s->start &&
            prof_trace_flow(trace, call, (int)i) < 0)
            rc = -1;
    }
    free(calls);
    return rc;
}
