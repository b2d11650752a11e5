/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_entries.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool entries_has(const char *text, size_t length, const char *word)
{
    return memmem(text, length, word, strlen(word)) != NULL;
}

enum { BEGINNING = 4096 };

bool timeline_entries_is(const char *text, size_t length)
{
    size_t looked = length < BEGINNING ? length : BEGINNING;

    return entries_has(text, looked, "\"operation\"") && !entries_has(text, looked, "\"ph\"") &&
           !entries_has(text, looked, "\"traceEvents\"");
}

/* The first of some members that is there, in ns or bytes. */
struct entry_member {
    const char *name;
    double factor;
};

static double entry_number(const cJSON *entry, const struct entry_member *members)
{
    for (; members->name; members++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(entry, members->name);
        if (cJSON_IsNumber(item) && isfinite(item->valuedouble))
            return item->valuedouble * members->factor;
    }
    return NAN;
}

static const struct entry_member entry_starts[] = {
    { "start_ns", 1 }, { "start_time_ns", 1 }, { "start_time", 1e9 }, { "start", 1e9 }, { NULL, 0 }
};
static const struct entry_member entry_ends[] = {
    { "end_ns", 1 }, { "end_time_ns", 1 }, { "end_time", 1e9 }, { "end", 1e9 }, { NULL, 0 }
};
static const struct entry_member entry_durations[] = {
    { "duration_ns", 1 }, { "duration_us", 1e3 }, { "duration_ms", 1e6 }, { NULL, 0 }
};
static const struct entry_member entry_gpu[] = {
    { "gpu_ns", 1 }, { "gpu_time_ns", 1 }, { "gpu_time_ms", 1e6 }, { "gpu_ms", 1e6 }, { NULL, 0 }
};
static const struct entry_member entry_transfer[] = { { "transfer_ns", 1 },
                                                      { "transfer_time_ns", 1 },
                                                      { "transfer_time_ms", 1e6 },
                                                      { "transfer_ms", 1e6 },
                                                      { NULL, 0 } };
static const struct entry_member entry_launch[] = { { "overhead_ns", 1 },
                                                    { "overhead_time_ns", 1 },
                                                    { "overhead_time_ms", 1e6 },
                                                    { "overhead_ms", 1e6 },
                                                    { NULL, 0 } };
static const struct entry_member entry_live[] = { { "allocated_bytes", 1 },
                                                  { "memory_allocated_bytes", 1 },
                                                  { "memory_allocated_mb", 0x1p20 },
                                                  { NULL, 0 } };
static const struct entry_member entry_peak[] = {
    { "peak_bytes", 1 }, { "memory_peak_bytes", 1 }, { "memory_peak_mb", 0x1p20 }, { NULL, 0 }
};
static const struct entry_member entry_rate[] = { { "bandwidth_bytes", 1 },
                                                  { "memory_bandwidth_gb_s", 1e9 },
                                                  { NULL, 0 } };

static const double entry_most = 9e18; /* what an int64_t holds */

static int64_t entry_whole(double value, int64_t otherwise)
{
    return value >= 0 && value < entry_most ? llround(value) : otherwise;
}

struct entries {
    struct prof_trace *trace;
    int track;
    double zero; /* ns: the first start; NAN: none has any */
    int64_t next;
};

/* -1: no operation, or no duration. */
static int entry_add(struct entries *e, const cJSON *entry)
{
    const char *name = json_string(entry, "operation", json_string(entry, "name", ""));
    double start = entry_number(entry, entry_starts), end = entry_number(entry, entry_ends);
    double duration = entry_number(entry, entry_durations);

    if (isnan(duration))
        duration = end - start;
    if (!name[0] || !(duration >= 0) || duration >= entry_most)
        return -1;
    struct prof_slice s = {
        .track = e->track,
        .parent = PROF_FIND_PARENT,
        .start = isnan(start) ? e->next : entry_whole(start - e->zero, 0),
        .duration = llround(duration),
        .name = name,
        .category = PROF_SCOPES,
        .backend = json_string(entry, "backend", json_string(entry, "device", NULL)),
        .gpu = entry_whole(entry_number(entry, entry_gpu), 0),
        .transfer = entry_whole(entry_number(entry, entry_transfer), 0),
        .launch = entry_whole(entry_number(entry, entry_launch), 0),
        .memory_live = entry_whole(entry_number(entry, entry_live), -1),
        .memory_peak = entry_whole(entry_number(entry, entry_peak), -1),
        .bytes = entry_whole(entry_number(entry, entry_rate) * duration / 1e9, 0),
    };
    e->next = s.start + s.duration > e->next ? s.start + s.duration : e->next;
    return prof_trace_slice(e->trace, &s) < 0 ? -1 : 0;
}

static const cJSON *entries_list(const cJSON *json)
{
    static const char *const names[] = { "entries", "profile_entries", "profile", "operations" };

    for (size_t i = 0; !cJSON_IsArray(json) && i < sizeof(names) / sizeof(names[0]); i++) {
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, names[i]);
        if (cJSON_IsArray(list))
            return list;
    }
    return json;
}

static int entries_add(struct entries *e, const cJSON *list, const char *what, struct error *err)
{
    const cJSON *entry;
    int nth = 0;

    cJSON_ArrayForEach(entry, list) e->zero = fmin(e->zero, entry_number(entry, entry_starts));
    e->track = prof_trace_track(
        e->trace, &(struct prof_track) { .process = 1, .thread = 1, .owner = "profile" });
    if (e->track < 0 || !cJSON_IsArray(list) || !list->child)
        return error_set(err, "%s: there is no list of calls in it", what);
    cJSON_ArrayForEach(entry, list)
    {
        nth++;
        if (entry_add(e, entry))
            return error_set(err, "%s: entry %d has no \"operation\", or no duration", what, nth);
    }
    return 0;
}

int timeline_entries_parse(const char *text, size_t length, const char *what,
                           struct prof_trace *trace, struct error *err)
{
    struct entries e = { .trace = trace, .zero = NAN };
    char *copy = json_without_no_numbers(text, length);
    cJSON *json = json_parse(copy, length, what, err);

    free(copy);
    prof_trace_init(trace);
    int rc = json ? entries_add(&e, entries_list(json), what, err) : -1;
    trace->meta.rate = 1;
    trace->meta.end = e.next;
    if (rc == 0 && prof_trace_sort(trace, NULL))
        rc = error_set(err, "%s: no memory for the trace", what);
    cJSON_Delete(json);
    if (rc)
        prof_trace_release(trace);
    return rc;
}
