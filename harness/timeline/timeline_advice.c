/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_advice.h"

#include "base/array.h"
#include "base/memory.h"
#include "timeline/timeline_main.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An operation that tells its work, against its roof. */
struct advised_row {
    const struct prof_row *row;
    struct timeline_roof roof;
    double share; /* of the time */
};

struct advice_rule {
    const char *name, *looks_at;
    double threshold; /* `value` of the advice from which on it is given */
    /* Adds what is at or above the threshold; nothing without evidence. */
    void (*find)(const struct advice_rule *rule, const struct advice_evidence *e,
                 struct advice_list *list);
    /* Of the rules on operations against roofs: one operation. */
    void (*row)(const struct advice_rule *rule, const struct advised_row *r,
                struct advice_list *list);
    enum timeline_part part; /* of the rules on the split ... */
    const char *words;       /* ... behind the share */
};

struct share_text {
    char text[16];
};

/* "61 %", below ten "3.2 %". */
static struct share_text share_text(double share)
{
    struct share_text out;
    double percent = share * 100;

    snprintf(out.text, sizeof(out.text), fabs(percent) < 9.95 ? "%.1f %%" : "%.0f %%", percent);
    return out;
}

/* Nothing below the rule's threshold. */
static void __attribute__((format(printf, 6, 7)))
advise(struct advice_list *list, const struct advice_rule *rule, const char *operation,
       double value, double weight, const char *format, ...)
{
    va_list args;

    if (value < rule->threshold)
        return;
    struct advice *a = array_push(list);
    a->rule = rule->name;
    a->operation = operation;
    a->value = value;
    a->threshold = rule->threshold;
    a->weight = weight > 1 ? 1 : weight > 0 ? weight : 0;
    va_start(args, format);
    vsnprintf(a->text, sizeof(a->text), format, args);
    va_end(args);
}

/* ---- parts of the time ---- */

static void advise_launch_bound(const struct advice_rule *rule, const struct advice_evidence *e,
                                struct advice_list *list)
{
    if (!e->split || e->split->device < 0)
        return;
    double in_calls = timeline_part_share(e->split, PART_LAUNCH);
    double value = in_calls + timeline_part_share(e->split, PART_HOST_WAIT);
    advise(list, rule, NULL, value, value,
           "%s of the time between kernels, before the CPU had launched the next (%s inside the "
           "calls that launch; kernels run for %s): launch-bound; capture a graph, or fuse "
           "kernels",
           share_text(value).text, share_text(in_calls).text,
           share_text(timeline_part_share(e->split, PART_GPU)).text);
}

static void advise_on_part(const struct advice_rule *rule, const struct advice_evidence *e,
                           struct advice_list *list)
{
    if (!e->split || e->split->span <= 0)
        return;
    double value = timeline_part_share(e->split, rule->part);
    advise(list, rule, NULL, value, value, "%s %s", share_text(value).text, rule->words);
}

/* A launch needs some microseconds from the call until its kernel runs: gaps that short tell of
 * launches on their way, and of nothing that the GPU waits for. */
static const double launch_on_its_way_ns = 1e4;

static void advise_kernel_wait(const struct advice_rule *rule, const struct advice_evidence *e,
                               struct advice_list *list)
{
    char each[PROF_TEXT_SIZE];

    if (!e->split || e->split->span <= 0)
        return;
    const struct timeline_split *s = e->split;
    double value = timeline_part_share(s, PART_KERNEL_WAIT);
    double idle = (double)(s->ns[PART_KERNEL_WAIT] + s->ns[PART_HOST_WAIT] + s->ns[PART_LAUNCH]);
    double gap = s->nr_gaps > 0 ? idle / (double)s->nr_gaps : INFINITY;
    if (gap < launch_on_its_way_ns)
        advise(list, rule, NULL, value, value,
               "%s of the time the GPU is idle while its next kernel's launch is on its way: %zu "
               "gaps of %s in the mean, as long as a launch takes to get there; capture a graph, "
               "or fuse kernels",
               share_text(value).text, s->nr_gaps, prof_time_text(gap, each));
    else
        advise_on_part(rule, e, list);
}

/* ---- operations against roofs ---- */

/* Shares of the time from which an operation is worth a line. */
static const double limit_share = 0.2, wrong_share = 0.01;
/* Nested scopes have roofs of their own: an operation is judged where it does its work itself. */
static const double leaf_share = 0.9;
static const double at_limit = 0.8;
/* From here on the evidence contradicts itself. */
static const double above_roof = 1.1;

/* By the medians of iterations where they are known: a slow one does not blame another operation.
 */
static double advised_self(const struct advice_evidence *e, const struct prof_row *row)
{
    return e->typical ? timeline_typical_self(e->typical, row) : (double)row->self;
}

static double advised_work(const struct advice_evidence *e, const struct prof_row *row)
{
    return e->typical ? timeline_typical_work(e->typical, row)
                      : (double)(row->gpu > 0 ? row->gpu : row->total);
}

static double advised_whole(const struct advice_evidence *e, enum prof_side side)
{
    return e->typical && side == PROF_HOST ? e->typical->host_ns : (double)e->summary->total[side];
}

/* False: nothing can be said of it. Work on a GPU is judged by the GPU's time. */
static bool judge_row(const struct advice_evidence *e, const struct prof_row *row,
                      struct advised_row *r)
{
    bool on_gpu = row->gpu > 0;
    double whole = advised_whole(e, row->side);
    double ns = advised_work(e, row);

    if (on_gpu && e->split && e->split->device >= 0)
        whole = (double)e->split->span;
    if (row->side != PROF_HOST || whole <= 0 ||
        (!on_gpu && (double)row->self < leaf_share * (double)row->total))
        return false;
    *r = (struct advised_row) { row, timeline_roof_of(e->roofs, row->flops, (double)row->bytes, ns),
                                ns / whole };
    return r->roof.bound != TIMELINE_UNBOUND;
}

static void advise_on_rows(const struct advice_rule *rule, const struct advice_evidence *e,
                           struct advice_list *list)
{
    struct advised_row r;

    for (size_t i = 0; e->roofs && e->summary && i < e->summary->nr_rows; i++)
        if (judge_row(e, &e->summary->rows[i], &r))
            rule->row(rule, &r, list);
}

static void advise_at_limit(const struct advice_rule *rule, const struct advised_row *r,
                            struct advice_list *list)
{
    if (r->share < limit_share || r->roof.fraction >= above_roof)
        return;
    advise(list, rule, r->row->name, r->roof.fraction, r->share,
           "%s: %s of the time at %s of the %s: at its limit, only less work would make it "
           "shorter; the rest is %s",
           r->row->name, share_text(r->share).text, share_text(r->roof.fraction).text, r->roof.name,
           share_text(fmax(1 - r->share, 0)).text);
}

static void advise_below_roof(const struct advice_rule *rule, const struct advised_row *r,
                              struct advice_list *list)
{
    double value = r->share * (1 - r->roof.fraction);

    if (r->roof.fraction >= at_limit)
        return;
    advise(list, rule, r->row->name, value, value,
           "%s: %s of the time, %s-bound at %s of the %s: at that roof the whole would take %s "
           "less",
           r->row->name, share_text(r->share).text,
           r->roof.bound == TIMELINE_MEMORY ? "memory" : "compute",
           share_text(r->roof.fraction).text, r->roof.name, share_text(value).text);
}

static void advise_above_roof(const struct advice_rule *rule, const struct advised_row *r,
                              struct advice_list *list)
{
    if (r->share < wrong_share)
        return;
    advise(list, rule, r->row->name, r->roof.fraction, r->share,
           "%s: %s of the %s, which cannot be: the work it tells, its time or the roof is wrong",
           r->row->name, share_text(r->roof.fraction).text, r->roof.name);
}

/* ---- teams whose threads share the work unevenly ---- */

/* Share of the main thread's time that threads wait for the slowest, from which it is worth a line.
 */
static const double wait_share = 0.02;

/* An operation on a track: self time. */
struct thread_part {
    const char *name;
    int track;
    int64_t self;
};

static int by_name_and_track(const void *a_, const void *b_)
{
    const struct thread_part *a = a_, *b = b_;

    if (a->name != b->name)
        return (uintptr_t)a->name < (uintptr_t)b->name ? -1 : 1;
    return (a->track > b->track) - (a->track < b->track);
}

/* A part an operation and track, of threads of the main thread's process; sorted. Their number. */
static size_t gather_thread_parts(const struct prof_trace *trace, int main,
                                  struct thread_part *parts)
{
    int64_t *self = memory_zeroed(trace->nr_slices + 1, sizeof(*self));
    size_t nr = 0, merged = 0;

    if (prof_trace_self(trace, self))
        (void)memory_zeroed(SIZE_MAX, 1); /* there is none: ends the process */
    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        const struct prof_track *t = &trace->tracks[s->track];
        if (t->kind == PROF_TRACK_THREAD && t->process == trace->tracks[main].process &&
            !(s->flags & PROF_INSTANT_POINT))
            parts[nr++] = (struct thread_part) { s->name, s->track, self[i] };
    }
    qsort(parts, nr, sizeof(*parts), by_name_and_track);
    for (size_t i = 0; i < nr; i++) {
        if (merged && by_name_and_track(&parts[merged - 1], &parts[i]) == 0)
            parts[merged - 1].self += parts[i].self;
        else
            parts[merged++] = parts[i];
    }
    free(self);
    return merged;
}

/* The parts of one operation, on `nr` threads, the main one among them. */
static void advise_on_team(const struct advice_rule *rule, const struct prof_trace *trace,
                           const struct thread_part *parts, size_t nr, double whole,
                           struct advice_list *list)
{
    const struct thread_part *slowest = parts;
    double sum = 0;

    for (size_t i = 0; i < nr; i++) {
        sum += (double)parts[i].self;
        slowest = parts[i].self > slowest->self ? &parts[i] : slowest;
    }
    double mean = sum / (double)nr, value = mean > 0 ? (double)slowest->self / mean : 0;
    double wait = ((double)slowest->self - mean) / whole;
    if (nr < 2 || wait < wait_share)
        return;
    advise(list, rule, parts->name, value, wait,
           "%s: imbalance between threads: of %zu, %s takes %.2f times the mean; an even share "
           "would save up to %s of the time",
           parts->name, nr, trace->tracks[slowest->track].name, value, share_text(wait).text);
}

static void advise_imbalance(const struct advice_rule *rule, const struct advice_evidence *e,
                             struct advice_list *list)
{
    const struct prof_trace *trace = e->trace;
    int main = timeline_main_track(trace);
    double whole = 0;

    if (main < 0)
        return;
    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        whole += s->track == main && s->parent == PROF_ROOT ? (double)s->duration : 0;
    }
    struct thread_part *parts = memory_zeroed(trace->nr_slices + 1, sizeof(*parts));
    size_t nr = gather_thread_parts(trace, main, parts);
    for (size_t i = 0, next = 0; i < nr && whole > 0; i = next) {
        bool has_main = false;
        for (next = i; next < nr && parts[next].name == parts[i].name; next++)
            has_main |= parts[next].track == main;
        if (has_main)
            advise_on_team(rule, trace, &parts[i], next - i, whole, list);
    }
    free(parts);
}

/* ---- the recording, and calls that vary ---- */

static void advise_sampled(const struct advice_rule *rule, const struct advice_evidence *e,
                           struct advice_list *list)
{
    const struct prof_meta *meta = &e->trace->meta;

    if (!(meta->rate < 1))
        return;
    advise(list, rule, NULL, 1 - meta->rate, 1 - meta->rate,
           "%s sampling: %llu outermost scopes were skipped; calls and totals are those of the "
           "sample, shares and means estimate the whole",
           share_text(meta->rate).text, (unsigned long long)meta->skipped);
}

static void advise_dropped(const struct advice_rule *rule, const struct advice_evidence *e,
                           struct advice_list *list)
{
    double dropped = (double)e->trace->meta.dropped;
    double value = dropped > 0 ? dropped / (dropped + (double)e->trace->nr_slices) : 0;

    if (dropped <= 0)
        return;
    advise(list, rule, NULL, value, value,
           "%.0f scopes or activities (%s) found no room and are missing: give the profiler more "
           "room, or sample",
           dropped, share_text(value).text);
}

static void advise_overhead(const struct advice_rule *rule, const struct advice_evidence *e,
                            struct advice_list *list)
{
    if (!e->cost || !e->summary || e->summary->total[PROF_HOST] <= 0)
        return;
    double scopes = (double)prof_summary_scopes(e->summary);
    double each = prof_cost_of(e->cost, e->summary);
    double value = scopes * each / (double)e->summary->total[PROF_HOST];
    advise(list, rule, NULL, value, value,
           "recording takes about %s of the time (%.0f scopes of %.0f ns): use fewer scopes "
           "around more work, or sample",
           share_text(value).text, scopes, each);
}

/* Of fewer calls a 95th percentile is one of the two longest. */
enum { SPREAD_CALLS = 20 };
static const double spread_share = 0.05;

static void advise_spread(const struct advice_rule *rule, const struct advice_evidence *e,
                          struct advice_list *list)
{
    char p50[PROF_TEXT_SIZE], p95[PROF_TEXT_SIZE];

    for (size_t i = 0; e->summary && i < e->summary->nr_rows; i++) {
        const struct prof_row *row = &e->summary->rows[i];
        double share = advised_self(e, row) / advised_whole(e, row->side);
        if (row->calls < SPREAD_CALLS || row->p50 <= 0 || share < spread_share)
            continue;
        advise(list, rule, row->name, (double)row->p95 / (double)row->p50, share,
               "%s: %s of the time; of %zu calls one in 20 takes %s or more, the median %s: calls "
               "of different size, or something gets in their way",
               row->name, share_text(share).text, row->calls, prof_time_text((double)row->p95, p95),
               prof_time_text((double)row->p50, p50));
    }
}

static const struct advice_rule advice_rules[] = {
    { .name = "launch-bound",
      .looks_at = "share of the GPU's time that it is idle and the CPU has not launched the next",
      .threshold = 0.2,
      .find = advise_launch_bound },
    { .name = "kernel-wait",
      .looks_at = "share of the GPU's time that it is idle although work was launched",
      .threshold = 0.2,
      .find = advise_kernel_wait,
      .part = PART_KERNEL_WAIT,
      .words = "of the time the GPU is idle although its next work was launched: it waits for "
               "events, other streams or a copy; look at what ends just before" },
    { .name = "transfer-bound",
      .looks_at = "share of the GPU's time in copies that hide behind nothing",
      .threshold = 0.15,
      .find = advise_on_part,
      .part = PART_TRANSFER,
      .words = "of the time in copies between GPU and host while no kernel runs: keep the data "
               "there, or copy pinned memory on a stream of its own beside kernels" },
    { .name = "unscoped",
      .looks_at = "share of the main thread's time that is in no scope",
      .threshold = 0.2,
      .find = advise_on_part,
      .part = PART_OUTSIDE,
      .words = "of the time from the first scope to the last is in no scope: the table does not "
               "say where it went" },
    { .name = "at-limit",
      .looks_at = "an operation of 20 % of the time or more: fraction of its roof",
      .threshold = 0.8,
      .find = advise_on_rows,
      .row = advise_at_limit },
    { .name = "below-roof",
      .looks_at = "share of the time that an operation at its roof would save",
      .threshold = 0.05,
      .find = advise_on_rows,
      .row = advise_below_roof },
    { .name = "above-roof",
      .looks_at = "an operation of 1 % of the time or more: fraction of its roof",
      .threshold = 1.1,
      .find = advise_on_rows,
      .row = advise_above_roof },
    { .name = "imbalance",
      .looks_at = "an operation's time in its slowest thread over the mean of its threads",
      .threshold = 1.2,
      .find = advise_imbalance },
    { .name = "spread",
      .looks_at = "95th percentile of an operation's calls over their median",
      .threshold = 2,
      .find = advise_spread },
    { .name = "overhead",
      .looks_at = "share of the time that recording takes",
      .threshold = 0.05,
      .find = advise_overhead },
    { .name = "sampled", .looks_at = "share of scopes not recorded", .find = advise_sampled },
    { .name = "dropped", .looks_at = "share of scopes without room", .find = advise_dropped },
};

static int by_weight(const void *a_, const void *b_)
{
    const struct advice *a = a_, *b = b_;

    if (a->weight < b->weight || a->weight > b->weight)
        return a->weight > b->weight ? -1 : 1;
    return strcmp(a->text, b->text);
}

int timeline_advice(const struct advice_evidence *evidence, struct advice_list *list,
                    struct error *err)
{
    if (!evidence->trace)
        return error_set(err, "advice needs a trace");
    for (size_t i = 0; i < sizeof(advice_rules) / sizeof(*advice_rules); i++)
        advice_rules[i].find(&advice_rules[i], evidence, list);
    if (list->nr)
        qsort(list->items, list->nr, sizeof(*list->items), by_weight);
    return 0;
}

void timeline_advice_release(struct advice_list *list)
{
    array_release(list);
}

const char *timeline_advice_rule(size_t i, const char **looks_at, double *threshold)
{
    if (i >= sizeof(advice_rules) / sizeof(*advice_rules))
        return NULL;
    *looks_at = advice_rules[i].looks_at;
    *threshold = advice_rules[i].threshold;
    return advice_rules[i].name;
}
