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

enum file_kind { KIND_TRACE, KIND_NSYS, KIND_NCU, KIND_BINARY };

/* The first bytes of a file, with a NUL behind; none of a folder, which is left to the reader of
 * traces. */
struct file_head {
    char bytes[512];
    size_t nr;
};

static int read_head(const char *path, struct file_head *head, struct error *err)
{
    struct stat info;
    FILE *file = fopen(path, "rb");

    *head = (struct file_head) { .nr = 0 };
    if (!file)
        return error_set(err, "%s: %s", path, strerror(errno));
    if (fstat(fileno(file), &info) == 0 && !S_ISDIR(info.st_mode))
        head->nr = fread(head->bytes, 1, sizeof(head->bytes) - 1, file);
    fclose(file);
    return 0;
}

static enum file_kind profile_file_kind(const char *path, const struct file_head *head)
{
    const char *text = head->bytes;
    bool gzip = head->nr > 2 && memcmp(text, "\x1f\x8b", 2) == 0;

    text += strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* a byte-order mark */
    text += strspn(text, " \t\r\n");
    if (store_is_database(path))
        return KIND_NSYS;
    if (head->nr == 0 || gzip || *text == '{' || *text == '[')
        return KIND_TRACE;
    return memchr(head->bytes, '\0', head->nr) ? KIND_BINARY : KIND_NCU;
}

#define OF_NSYS                                                                                    \
    "a report of Nsight Systems: `nsys export --type sqlite FILE` makes an SQLite file of it, "    \
    "which is read"

/* Reports as the profilers keep them, which their own programs alone read. */
static int refuse_binary(const char *path, struct error *err)
{
    static const struct {
        const char *end, *says;
    } rows[] = {
        { ".nsys-rep", OF_NSYS },
        { ".qdrep", OF_NSYS },
        { ".ncu-rep",
          "a report of Nsight Compute: `ncu --import FILE --csv --page raw` prints "
          "the table that is read" },
        { "",
          "neither text nor SQLite. Reports of Nsight are exported first: `nsys export --type "
          "sqlite FILE`, `ncu --import FILE --csv --page raw`" },
    };
    size_t i = 0, length = strlen(path);

    while (length < strlen(rows[i].end) ||
           strcmp(path + length - strlen(rows[i].end), rows[i].end) != 0)
        i++;
    return error_set(err, "%s: this is %s", path, rows[i].says);
}

static int import_nsys(const char *path, struct prof_trace *trace, struct error *err)
{
    struct activity_list list;

    activity_list_init(&list);
    int rc = activity_import_nsys(path, TIMELINE_EVENTS_MOST, &list, err);
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
    struct file_head head;

    prof_trace_init(trace);
    if (read_head(path, &head, err))
        return -1;
    switch (profile_file_kind(path, &head)) {
    case KIND_NSYS:
        return import_nsys(path, trace, err);
    case KIND_NCU:
        return import_ncu(path, trace, err);
    case KIND_BINARY:
        return refuse_binary(path, err);
    default:
        return import_trace(path, trace, err);
    }
}
