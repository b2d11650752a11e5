/* SPDX-License-Identifier: MIT */
/* Advice on operations that tell their work, against the roofs. */
#include "timeline/advice_rules.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* Shares of the time from which an operation is worth a line. */
static const double limit_share = 0.2, wrong_share = 0.01;
/* Nested scopes have roofs of their own: an operation is judged where it does its work itself. */
static const double leaf_share = 0.9;
static const double at_limit = 0.8;
/* From here on the evidence contradicts itself. */
static const double above_roof = 1.1;

struct judged {
    const struct prof_row *row;
    struct timeline_roof roof;
    double share; /* of the time */
};

/* False: nothing can be said of it. Work on a GPU is judged by the GPU's time. */
static bool judge(const struct advice_evidence *e, size_t i, struct judged *j)
{
    const struct prof_row *row = &e->summary->rows[i];
    bool on_gpu = row->gpu > 0;
    double whole = (double)e->summary->total[row->side];
    double ns = (double)(on_gpu ? row->gpu : row->total);

    if (on_gpu && e->split && e->split->device >= 0)
        whole = (double)e->split->span;
    if (row->side != PROF_HOST || whole <= 0 ||
        (!on_gpu && (double)row->self < leaf_share * (double)row->total))
        return false;
    *j = (struct judged) { row, timeline_roof_of(e->roofs, row->flops, (double)row->bytes, ns),
                           ns / whole };
    return j->roof.bound != TIMELINE_UNBOUND;
}

void advice_at_limit(const struct advice_rule *rule, const struct advice_evidence *e,
                     struct advice_list *list)
{
    char share[ADVICE_SHARE_SIZE], of_roof[ADVICE_SHARE_SIZE], rest[ADVICE_SHARE_SIZE];
    struct judged j;

    for (size_t i = 0; e->roofs && e->summary && i < e->summary->nr_rows; i++) {
        if (!judge(e, i, &j) || j.share < limit_share || j.roof.fraction < rule->threshold ||
            j.roof.fraction >= above_roof)
            continue;
        snprintf(advice_add(rule, j.row->name, j.roof.fraction, j.share, list)->text,
                 ADVICE_TEXT_SIZE,
                 "%s: %s of the time at %s of the %s: at its limit, only less work would make it "
                 "shorter; the rest is %s",
                 j.row->name, advice_share(j.share, share), advice_share(j.roof.fraction, of_roof),
                 j.roof.name, advice_share(fmax(1 - j.share, 0), rest));
    }
}

void advice_below_roof(const struct advice_rule *rule, const struct advice_evidence *e,
                       struct advice_list *list)
{
    char share[ADVICE_SHARE_SIZE], of_roof[ADVICE_SHARE_SIZE], saved[ADVICE_SHARE_SIZE];
    struct judged j;

    for (size_t i = 0; e->roofs && e->summary && i < e->summary->nr_rows; i++) {
        if (!judge(e, i, &j) || j.roof.fraction >= at_limit)
            continue;
        double value = j.share * (1 - j.roof.fraction);
        if (value < rule->threshold)
            continue;
        snprintf(advice_add(rule, j.row->name, value, value, list)->text, ADVICE_TEXT_SIZE,
                 "%s: %s of the time, %s-bound at %s of the %s: at that roof the whole would take "
                 "%s less",
                 j.row->name, advice_share(j.share, share),
                 j.roof.bound == TIMELINE_MEMORY ? "memory" : "compute",
                 advice_share(j.roof.fraction, of_roof), j.roof.name, advice_share(value, saved));
    }
}

void advice_above_roof(const struct advice_rule *rule, const struct advice_evidence *e,
                       struct advice_list *list)
{
    char of_roof[ADVICE_SHARE_SIZE];
    struct judged j;

    for (size_t i = 0; e->roofs && e->summary && i < e->summary->nr_rows; i++) {
        if (!judge(e, i, &j) || j.share < wrong_share || j.roof.fraction < rule->threshold)
            continue;
        snprintf(advice_add(rule, j.row->name, j.roof.fraction, j.share, list)->text,
                 ADVICE_TEXT_SIZE,
                 "%s: %s of the %s, which cannot be: the work it tells, its time or the roof is "
                 "wrong",
                 j.row->name, advice_share(j.roof.fraction, of_roof), j.roof.name);
    }
}
