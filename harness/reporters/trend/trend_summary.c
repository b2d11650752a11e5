/* SPDX-License-Identifier: MIT */
#include "reporters/trend/trend_summary.h"

#include "base/memory.h"
#include "base/text.h"
#include "core/names.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

static const char *summary_plural(size_t nr)
{
    return nr == 1 ? "" : "s";
}

/* Series without steps and drift, not on watch; with smaller steps than are told, or none. */
static size_t count_quiet_series(const struct trends *t, bool small)
{
    size_t nr = 0;

    for (size_t i = 0; i < t->nr; i++) {
        const struct trend *trend = &t->items[i];
        nr += trend->kind == TREND_QUIET && !trend->hidden && !trend->watch.found &&
              (trend->small > 0) == small;
    }
    return nr;
}

/* "3 steps in 2 series, no drift; 209 series quiet, 3 too short (under 10 points)" */
void trend_summary_head(const struct trends *t, struct strbuf *out)
{
    if (t->steps)
        strbuf_addf(out, "%zu step%s in %zu series, ", t->steps, summary_plural(t->steps),
                    t->moved);
    else
        strbuf_adds(out, "no step, ");
    if (t->drifts)
        strbuf_addf(out, "%zu drift%s; ", t->drifts, summary_plural(t->drifts));
    else
        strbuf_adds(out, "no drift; ");
    if (t->withdrawn)
        strbuf_addf(out, "%zu step%s withdrawn; ", t->withdrawn, summary_plural(t->withdrawn));
    if (t->watched)
        strbuf_addf(out, "%zu series on watch; ", t->watched);
    strbuf_addf(out, "%zu series quiet", count_quiet_series(t, false));
    size_t small = count_quiet_series(t, true);
    if (small)
        strbuf_addf(out, ", %zu with smaller steps alone", small);
    if (t->modes)
        strbuf_addf(out, ", %zu with two modes", t->modes);
    if (t->count[TREND_SHORT])
        strbuf_addf(out, ", %zu too short (under %zu points)", t->count[TREND_SHORT],
                    t->points_min);
    strbuf_addf(out, "  (%s)", t->settings.metric->label);
}

static const char *key_of_series(const void *trends, size_t i)
{
    const struct trends *t = trends;

    return t->items[i].series->bench->key;
}

/* Filters that let nothing through, if there is anything at all. */
void trend_summary_unfit(const struct trends *t, void (*escape)(struct strbuf *, const char *),
                         struct strbuf *out)
{
    for (size_t i = 0; t->nr && i < t->settings.nr_filters; i++) {
        if (name_filter_fits_any(t->settings.filters[i], key_of_series, t, t->nr))
            continue;
        strbuf_addf(out, "\nno series of %zu fits \"", t->nr);
        escape(out, t->settings.filters[i]);
        strbuf_adds(out, "\"\n");
    }
}

/* "Quiet" says little where nobody knows what would have been told. */
static void add_could_see(const struct trends *t, struct strbuf *out)
{
    double *sizes = memory_zeroed(t->nr + 1, sizeof(*sizes));
    char text[TEXT_UNIT_SIZE];
    size_t nr = 0;

    for (size_t i = 0; i < t->nr; i++)
        if (t->items[i].kind == TREND_QUIET && !t->items[i].hidden &&
            isfinite(t->items[i].detectable))
            sizes[nr++] = t->items[i].detectable;
    if (nr)
        strbuf_addf(out,
                    "a step of %s, %d runs before the end, would have been told 3 times in 4 "
                    "(quiet series, median)\n",
                    text_about(fmax(stats_median(sizes, nr), t->settings.delta), 2, text),
                    CHANGEPOINT_DETECTABLE_AFTER);
    else if (count_quiet_series(t, false))
        strbuf_adds(
            out,
            "how large a step would have been told is not known: too few points, or they wander\n");
    free(sizes);
}

/* How far the above can be trusted. */
void trend_summary_foot(const struct trends *t, struct strbuf *out)
{
    if (t->family)
        strbuf_addf(out, "%zu series looked at, chance alone would give %.2g alarms", t->family,
                    t->chance);
    else
        strbuf_adds(out, "no series is long enough to be judged");
    if (t->small)
        strbuf_addf(out, "; %zu step%s smaller than %.3g %% left out", t->small,
                    summary_plural(t->small), t->settings.delta * 100);
    if (t->unmerged)
        strbuf_addf(out, "; %zu run%s of other branches not searched", t->unmerged,
                    summary_plural(t->unmerged));
    if (t->left_out)
        strbuf_addf(out, "; %zu point%s at 0 or below left out: changes are told as ratios",
                    t->left_out, summary_plural(t->left_out));
    strbuf_addc(out, '\n');
    add_could_see(t, out);
}
