/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_split.h"

#include "gputrace/time_split.h"
#include "timeline/timeline_gpu.h"
#include "timeline/timeline_main.h"

static const struct {
    const char *name, *words;
} parts[PART_NR] = {
    [PART_GPU] = { "GPU", "kernels, fills and copies within the device" },
    [PART_CPU] = { "CPU", "inside scopes of the main thread" },
    [PART_TRANSFER] = { "transfer", "copies to and from the device that hide behind nothing" },
    [PART_LAUNCH] = { "launch", "the device is idle while the CPU is inside calls that launch" },
    [PART_HOST_WAIT] = { "host wait", "the device is idle and its next work is not launched yet" },
    [PART_KERNEL_WAIT] = { "kernel wait",
                           "the device is idle although its next work was launched" },
    [PART_OTHER_WAIT] = { "other wait", "the device is idle, the launch of its next work unknown" },
    [PART_SEAM] = { "seam", "gaps too short to be waits" },
    [PART_OUTSIDE] = { "outside", "the main thread is in no scope" },
};

const char *timeline_part_name(enum timeline_part part)
{
    return parts[part].name;
}

const char *timeline_part_words(enum timeline_part part)
{
    return parts[part].words;
}

double timeline_part_share(const struct timeline_split *split, enum timeline_part part)
{
    return split->span > 0 ? (double)split->ns[part] / (double)split->span : 0;
}

static struct timeline_split of_device(const struct activity_list *list, int device, int64_t gap_ns)
{
    struct time_split t = activity_time_split(list, device, gap_ns);

    return (struct timeline_split) { .device = device,
                                     .span = t.span,
                                     .nr_gaps = t.nr_gaps,
                                     .gap_ns = gap_ns,
                                     .ns = { [PART_GPU] = t.gpu,
                                             [PART_TRANSFER] = t.transfer,
                                             [PART_LAUNCH] = t.launch,
                                             [PART_HOST_WAIT] = t.host_wait,
                                             [PART_KERNEL_WAIT] = t.kernel_wait,
                                             [PART_OTHER_WAIT] = t.other_wait,
                                             [PART_SEAM] = t.seam } };
}

/* Outermost slices of a thread may overlap where the trace is somebody else's. */
static struct timeline_split of_thread(const struct prof_trace *trace, int track)
{
    struct timeline_split split = { .device = -1 };
    int64_t first = 0, end = 0;
    bool any = false;

    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        if (s->track != track || s->parent != PROF_ROOT || (s->flags & PROF_INSTANT_POINT))
            continue;
        int64_t stop = s->start + s->duration;
        int64_t from = any && end > s->start ? end : s->start;
        first = any ? first : s->start;
        split.ns[PART_CPU] += stop > from ? stop - from : 0;
        end = any && end > stop ? end : stop;
        any = true;
    }
    split.span = end - first;
    split.ns[PART_OUTSIDE] = split.span - split.ns[PART_CPU];
    return split;
}

struct timeline_split timeline_split_of(const struct prof_trace *trace, int device, int64_t gap_ns)
{
    struct timeline_split longest = { .device = -1 };
    struct activity_list list;
    int32_t devices[PROF_DEVICES];

    timeline_to_activity(trace, &list);
    size_t nr = activity_devices(&list, devices, PROF_DEVICES);
    for (size_t i = 0; i < nr; i++) {
        if (device >= 0 && devices[i] != device)
            continue;
        struct timeline_split split = of_device(&list, devices[i], gap_ns);
        longest = longest.device < 0 || split.span > longest.span ? split : longest;
    }
    activity_list_release(&list);
    if (longest.device < 0 && device < 0)
        longest = of_thread(trace, timeline_main_track(trace));
    return longest;
}
