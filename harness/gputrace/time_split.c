/* SPDX-License-Identifier: MIT */
#include "gputrace/time_split.h"

#include "base/array.h"

#include <stdlib.h>

/* Half open. */
struct span {
    int64_t start, end;
};

struct spans {
    struct span *items;
    size_t nr, capacity;
};

struct split {
    ARRAY(const struct activity *) work; /* on the device, by start */
    struct activity_calls calls;
    struct spans launching; /* the CPU inside calls that launch work here, merged */
};

static int64_t earlier_time(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t later_time(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int compare_ns(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_start(const void *a, const void *b)
{
    const struct activity *x = *(const struct activity *const *)a;
    const struct activity *y = *(const struct activity *const *)b;

    return x->start != y->start ? compare_ns(x->start, y->start) : compare_ns(y->end, x->end);
}

static int spans_by_start(const void *a, const void *b)
{
    return compare_ns(((const struct span *)a)->start, ((const struct span *)b)->start);
}

/* Sorts, and joins what overlaps or touches. */
static void merge_spans(struct spans *spans)
{
    size_t nr = 0;

    if (spans->nr > 0)
        qsort(spans->items, spans->nr, sizeof(*spans->items), spans_by_start);
    for (size_t i = 0; i < spans->nr; i++) {
        struct span next = spans->items[i];
        if (nr > 0 && next.start <= spans->items[nr - 1].end)
            spans->items[nr - 1].end = later_time(spans->items[nr - 1].end, next.end);
        else
            spans->items[nr++] = next;
    }
    spans->nr = nr;
}

static int64_t total_of_spans(const struct spans *spans)
{
    int64_t sum = 0;

    for (size_t i = 0; i < spans->nr; i++)
        sum += spans->items[i].end - spans->items[i].start;
    return sum;
}

/* Time that `gap` shares with merged spans. `from` is where to begin: gaps come in order. */
static int64_t span_overlap(const struct spans *spans, size_t *from, struct span gap)
{
    int64_t sum = 0;

    while (*from < spans->nr && spans->items[*from].end <= gap.start)
        ++*from;
    for (size_t i = *from; i < spans->nr && spans->items[i].start < gap.end; i++)
        sum += earlier_time(spans->items[i].end, gap.end) -
               later_time(spans->items[i].start, gap.start);
    return sum;
}

static void gather_work(struct split *s, const struct activity_list *list, int32_t device)
{
    for (size_t i = 0; i < list->nr; i++) {
        const struct activity *a = &list->items[i];
        if (activity_on_device(a) && a->device == device)
            *array_push(&s->work) = a;
    }
    if (s->work.nr > 0)
        qsort(s->work.items, s->work.nr, sizeof(*s->work.items), by_start);
    activity_calls_of(list, &s->calls);
    for (size_t i = 0; i < s->work.nr; i++) {
        const struct activity *work = s->work.items[i], *call = activity_launch(&s->calls, work);
        int64_t end = call ? earlier_time(call->end, work->start) : 0;
        /* A call that copies and waits is a launch only until the copy starts. */
        if (call && end > call->start)
            *array_push(&s->launching) = (struct span) { call->start, end };
    }
    merge_spans(&s->launching);
}

static bool is_transfer(const struct activity *a)
{
    return a->kind == ACTIVITY_MEMCPY && memcpy_kind_is_transfer(a->copy);
}

/* Busy time of all work, or of what is or is not a transfer. */
enum which { ALL, TRANSFERS, REST };

static int64_t busy_time(const struct split *s, enum which which)
{
    struct spans spans = ARRAY_EMPTY;

    for (size_t i = 0; i < s->work.nr; i++) {
        const struct activity *a = s->work.items[i];
        if (which == ALL || is_transfer(a) == (which == TRANSFERS))
            *array_push(&spans) = (struct span) { a->start, a->end };
    }
    merge_spans(&spans);
    int64_t sum = total_of_spans(&spans);
    array_release(&spans);
    return sum;
}

/* The device did nothing in `gap`, then `next`. */
static void classify_gap(const struct split *s, struct span gap, const struct activity *next,
                         size_t *from, struct time_split *out)
{
    const struct activity *call = activity_launch(&s->calls, next);
    int64_t length = gap.end - gap.start;

    out->nr_gaps++;
    if (!call) {
        out->other_wait += length;
    } else if (call->start < gap.start) {
        int64_t launch = later_time(earlier_time(call->end, gap.end) - gap.start, 0);
        out->launch += launch;
        out->kernel_wait += length - launch;
    } else {
        int64_t launch = span_overlap(&s->launching, from, gap);
        out->launch += launch;
        out->host_wait += length - launch;
    }
}

static void walk_gaps(const struct split *s, int64_t gap_ns, struct time_split *out)
{
    int64_t end = s->work.items[0]->end;
    size_t from = 0;

    for (size_t i = 1; i < s->work.nr; i++) {
        const struct activity *next = s->work.items[i];
        struct span gap = { end, next->start };
        if (gap.end - gap.start >= gap_ns && gap.end > gap.start)
            classify_gap(s, gap, next, &from, out);
        else if (gap.end > gap.start)
            out->seam += gap.end - gap.start;
        end = later_time(end, next->end);
    }
    out->span = end - s->work.items[0]->start;
}

struct time_split activity_time_split(const struct activity_list *list, int32_t device,
                                      int64_t gap_ns)
{
    struct split s = { .work = ARRAY_EMPTY };
    struct time_split out = { 0 };

    gather_work(&s, list, device);
    if (s.work.nr > 0) {
        walk_gaps(&s, gap_ns, &out);
        out.gpu = busy_time(&s, REST);
        out.transfer = busy_time(&s, ALL) - out.gpu;
        out.transfer_all = busy_time(&s, TRANSFERS);
        out.calls_all = total_of_spans(&s.launching);
    }
    array_release(&s.work);
    activity_calls_release(&s.calls);
    array_release(&s.launching);
    return out;
}

size_t activity_devices(const struct activity_list *list, int32_t *devices, size_t most)
{
    size_t nr = 0;

    for (size_t i = 0; i < list->nr; i++) {
        const struct activity *a = &list->items[i];
        size_t at = 0;
        if (!activity_on_device(a))
            continue;
        while (at < nr && devices[at] < a->device)
            at++;
        if ((at < nr && devices[at] == a->device) || nr == most)
            continue;
        memmove(&devices[at + 1], &devices[at], (nr - at) * sizeof(*devices));
        devices[at] = a->device;
        nr++;
    }
    return nr;
}
