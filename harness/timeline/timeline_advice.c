/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_advice.h"

#include "base/array.h"
#include "timeline/advice_rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of fewer calls a 95th percentile is one of the two longest. */
enum { SPREAD_CALLS = 20 };
static const double spread_share = 0.05;

char *advice_share(double share, char text[ADVICE_SHARE_SIZE])
{
    double percent = share * 100;

    snprintf(text, ADVICE_SHARE_SIZE, fabs(percent) < 9.95 ? "%.1f %%" : "%.0f %%", percent);
    return text;
}

struct advice *advice_add(const struct advice_rule *rule, const char *operation, double value,
                          double weight, struct advice_list *list)
{
    struct advice *a = array_push(list);

    a->rule = rule->name;
    a->operation = operation;
    a->value = value;
    a->threshold = rule->threshold;
    a->weight = weight > 1 ? 1 : weight > 0 ? weight : 0;
    return a;
}

static void find_launch_bound(const struct advice_rule *rule, const struct advice_evidence *e,
                              struct advice_list *list)
{
    char share[ADVICE_SHARE_SIZE], launch[ADVICE_SHARE_SIZE], gpu[ADVICE_SHARE_SIZE];

    if (!e->split || e->split->device < 0)
        return;
    double in_calls = timeline_part_share(e->split, PART_LAUNCH);
    double value = in_calls + timeline_part_share(e->split, PART_HOST_WAIT);
    if (value < rule->threshold)
        return;
    snprintf(advice_add(rule, NULL, value, value, list)->text, ADVICE_TEXT_SIZE,
             "%s of the time between kernels, before the CPU had launched the next (%s inside the "
             "calls that launch; kernels run for %s): launch-bound; capture a graph, or fuse "
             "kernels",
             advice_share(value, share), advice_share(in_calls, launch),
             advice_share(timeline_part_share(e->split, PART_GPU), gpu));
}

static void find_part(const struct advice_rule *rule, const struct advice_evidence *e,
                      struct advice_list *list)
{
    char share[ADVICE_SHARE_SIZE];

    if (!e->split || e->split->span <= 0)
        return;
    double value = timeline_part_share(e->split, rule->part);
    if (value < rule->threshold)
        return;
    snprintf(advice_add(rule, NULL, value, value, list)->text, ADVICE_TEXT_SIZE, "%s %s",
             advice_share(value, share), rule->words);
}

static void find_sampled(const struct advice_rule *rule, const struct advice_evidence *e,
                         struct advice_list *list)
{
    const struct prof_meta *meta = &e->trace->meta;
    char share[ADVICE_SHARE_SIZE];
    double value = 1 - meta->rate;

    if (!(meta->rate < 1) || value < rule->threshold)
        return;
    snprintf(advice_add(rule, NULL, value, value, list)->text, ADVICE_TEXT_SIZE,
             "%s sampling: %llu outermost scopes were skipped; calls and totals are those of the "
             "sample, shares and means estimate the whole",
             advice_share(meta->rate, share), (unsigned long long)meta->skipped);
}

static void find_dropped(const struct advice_rule *rule, const struct advice_evidence *e,
                         struct advice_list *list)
{
    double dropped = (double)e->trace->meta.dropped;
    double value = dropped > 0 ? dropped / (dropped + (double)e->trace->nr_slices) : 0;
    char share[ADVICE_SHARE_SIZE];

    if (dropped <= 0 || value < rule->threshold)
        return;
    snprintf(advice_add(rule, NULL, value, value, list)->text, ADVICE_TEXT_SIZE,
             "%.0f scopes or activities (%s) found no room and are missing: give the profiler more "
             "room, or sample",
             dropped, advice_share(value, share));
}

static void find_overhead(const struct advice_rule *rule, const struct advice_evidence *e,
                          struct advice_list *list)
{
    char share[ADVICE_SHARE_SIZE];

    if (!e->cost || !e->summary || e->summary->total[PROF_HOST] <= 0)
        return;
    double scopes = (double)e->summary->calls[PROF_HOST];
    double each = prof_cost_of(e->cost, e->summary);
    double value = scopes * each / (double)e->summary->total[PROF_HOST];
    if (value < rule->threshold)
        return;
    snprintf(advice_add(rule, NULL, value, value, list)->text, ADVICE_TEXT_SIZE,
             "recording takes about %s of the time (%.0f scopes of %.0f ns): use fewer scopes "
             "around more work, or sample",
             advice_share(value, share), scopes, each);
}

static void find_spread(const struct advice_rule *rule, const struct advice_evidence *e,
                        struct advice_list *list)
{
    char of_time[ADVICE_SHARE_SIZE], p50[PROF_TEXT_SIZE], p95[PROF_TEXT_SIZE];

    for (size_t i = 0; e->summary && i < e->summary->nr_rows; i++) {
        const struct prof_row *row = &e->summary->rows[i];
        if (row->calls < SPREAD_CALLS || row->p50 <= 0)
            continue;
        double value = (double)row->p95 / (double)row->p50;
        double share = (double)row->self / (double)e->summary->total[row->side];
        if (value < rule->threshold || share < spread_share)
            continue;
        snprintf(
            advice_add(rule, row->name, value, share, list)->text, ADVICE_TEXT_SIZE,
            "%s: %s of the time; of %zu calls one in 20 takes %s or more, the median %s: calls "
            "of different size, or something gets in their way",
            row->name, advice_share(share, of_time), row->calls,
            prof_time_text((double)row->p95, p95), prof_time_text((double)row->p50, p50));
    }
}

static const struct advice_rule rules[] = {
    { .name = "launch-bound",
      .looks_at = "share of the GPU's time that it is idle and the CPU has not launched the next",
      .threshold = 0.2,
      .find = find_launch_bound },
    { .name = "kernel-wait",
      .looks_at = "share of the GPU's time that it is idle although work was launched",
      .threshold = 0.2,
      .find = find_part,
      .part = PART_KERNEL_WAIT,
      .words = "of the time the GPU is idle although its next work was launched: it waits for "
               "events, other streams or a copy; look at what ends just before" },
    { .name = "transfer-bound",
      .looks_at = "share of the GPU's time in copies that hide behind nothing",
      .threshold = 0.15,
      .find = find_part,
      .part = PART_TRANSFER,
      .words = "of the time in copies between GPU and host while no kernel runs: keep the data "
               "there, or copy pinned memory on a stream of its own beside kernels" },
    { .name = "unscoped",
      .looks_at = "share of the main thread's time that is in no scope",
      .threshold = 0.2,
      .find = find_part,
      .part = PART_OUTSIDE,
      .words = "of the time from the first scope to the last is in no scope: the table does not "
               "say where it went" },
    { .name = "at-limit",
      .looks_at = "an operation of 20 % of the time or more: fraction of its roof",
      .threshold = 0.8,
      .find = advice_at_limit },
    { .name = "below-roof",
      .looks_at = "share of the time that an operation at its roof would save",
      .threshold = 0.05,
      .find = advice_below_roof },
    { .name = "above-roof",
      .looks_at = "an operation of 1 % of the time or more: fraction of its roof",
      .threshold = 1.1,
      .find = advice_above_roof },
    { .name = "imbalance",
      .looks_at = "an operation's time in its slowest thread over the mean of its threads",
      .threshold = 1.2,
      .find = advice_imbalance },
    { .name = "spread",
      .looks_at = "95th percentile of an operation's calls over their median",
      .threshold = 2,
      .find = find_spread },
    { .name = "overhead",
      .looks_at = "share of the time that recording takes",
      .threshold = 0.05,
      .find = find_overhead },
    { .name = "sampled", .looks_at = "share of scopes not recorded", .find = find_sampled },
    { .name = "dropped", .looks_at = "share of scopes without room", .find = find_dropped },
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
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
        rules[i].find(&rules[i], evidence, list);
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
    if (i >= sizeof(rules) / sizeof(*rules))
        return NULL;
    *looks_at = rules[i].looks_at;
    *threshold = rules[i].threshold;
    return rules[i].name;
}
