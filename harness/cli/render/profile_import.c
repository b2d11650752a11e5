/* SPDX-License-Identifier: MIT */
#include "cli/render/profile_import.h"

#include "gputrace/import.h"
#include "store/store.h"
#include "timeline/timeline_backward.h"
#include "timeline/timeline_gpu.h"
#include "timeline/timeline_read.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum file_kind { KIND_TRACE, KIND_NSYS, KIND_NCU };

/* The first bytes tell. What is a folder is left to the reader of traces. */
static int profile_file_kind(const char *path, enum file_kind *kind, struct error *err)
{
    unsigned char head[16] = { 0 };
    struct stat info;
    FILE *file = fopen(path, "rb");

    if (!file)
        return error_set(err, "%s: %s", path, strerror(errno));
    size_t nr = fstat(fileno(file), &info) || S_ISDIR(info.st_mode)
                    ? 0
                    : fread(head, 1, sizeof(head), file);
    fclose(file);
    size_t blank = strspn((const char *)head, " \t\r\n");
    bool gzip = head[0] == 0x1f && head[1] == 0x8b;
    if (store_is_database(path))
        *kind = KIND_NSYS;
    else if (nr == 0 || gzip || head[blank < 15 ? blank : 15] == '{' ||
             head[blank < 15 ? blank : 15] == '[')
        *kind = KIND_TRACE;
    else
        *kind = KIND_NCU;
    return 0;
}

static int import_nsys(const char *path, struct prof_trace *trace, struct error *err)
{
    struct activity_list list;

    activity_list_init(&list);
    int rc = activity_import_nsys(path, &list, err);
    if (rc == 0)
        rc = timeline_add_gpu(trace, &list, err);
    if (rc == 0 && timeline_name_backward(trace))
        rc = error_set(err, "%s: no memory for the trace", path);
    activity_list_release(&list);
    return rc;
}

static double known_count(double value)
{
    return isfinite(value) && value > 0 ? value : 0;
}

static int add_counted_kernel(struct prof_trace *trace, int track, int64_t start,
                              const struct kernel_counters *k)
{
    double flops = known_count(kernel_counters_quantity(k, COUNTER_FP32_FLOPS)) +
                   known_count(kernel_counters_quantity(k, COUNTER_TENSOR_FLOPS));

    return prof_trace_slice(
        trace, &(struct prof_slice) {
                   .track = track,
                   .parent = PROF_FIND_PARENT,
                   .start = start,
                   .duration = (int64_t)known_count(kernel_counters_quantity(k, COUNTER_DURATION)),
                   .name = k->name,
                   .category = PROF_KERNELS,
                   .device = PROF_GPU_AT(k->device > 0 ? k->device : 0),
                   .bytes = (int64_t)known_count(kernel_counters_quantity(k, COUNTER_DRAM_BYTES)),
                   .flops = flops,
                   .memory_live = -1,
                   .memory_peak = -1,
               });
}

static int add_counted_kernels(struct prof_trace *trace, const struct counter_list *list)
{
    const struct prof_track track = { .kind = PROF_TRACK_STREAM,
                                      .device = PROF_GPU,
                                      .owner = "GPU 0",
                                      .name = "kernels, one behind the other" };
    int at = prof_trace_track(trace, &track);
    int64_t now = 0;

    for (size_t i = 0; at >= 0 && i < list->nr; i++) {
        int slice = add_counted_kernel(trace, at, now, &list->items[i]);
        if (slice < 0)
            return -1;
        now += trace->slices[slice].duration;
    }
    trace->meta.end = now;
    return at < 0 ? -1 : prof_trace_sort(trace, NULL);
}

static int import_ncu(const char *path, struct prof_trace *trace, struct error *err)
{
    struct counter_list list;

    counter_list_init(&list);
    int rc = activity_import_ncu_csv(path, &list, err);
    if (rc == 0 && list.nr == 0)
        rc = error_set(err, "%s: there is no kernel in it", path);
    if (rc == 0 && add_counted_kernels(trace, &list))
        rc = error_set(err, "%s: no memory for its trace", path);
    counter_list_release(&list);
    return rc;
}

/* Tables without a trace (profile.json, a summary of the scopes library) read as none of any call.
 */
static int import_trace(const char *path, struct prof_trace *trace, struct error *err)
{
    if (timeline_read(path, trace, err))
        return -1;
    if (trace->nr_slices > 0)
        return 0;
    prof_trace_release(trace);
    return error_set(err,
                     "%s: no call is in it; a summary or a profile.json has tables alone, which "
                     "`harness report --profile FILE` shows",
                     path);
}

int profile_import(const char *path, struct prof_trace *trace, struct error *err)
{
    enum file_kind kind;

    prof_trace_init(trace);
    if (profile_file_kind(path, &kind, err))
        return -1;
    if (kind == KIND_TRACE)
        return import_trace(path, trace, err);
    return kind == KIND_NSYS ? import_nsys(path, trace, err) : import_ncu(path, trace, err);
}
