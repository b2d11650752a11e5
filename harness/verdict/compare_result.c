/* SPDX-License-Identifier: MIT */
/* What is done with verdicts once they are there. */
#include "verdict/compare_parts.h"

#include "base/memory.h"
#include "base/text.h"
#include "core/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[VERDICT_NR] = {
    [VERDICT_REGRESSED] = "regressed", [VERDICT_BROKEN] = "broken",
    [VERDICT_FAILING] = "failing",     [VERDICT_IMPROVED] = "improved",
    [VERDICT_FIXED] = "fixed",         [VERDICT_UNDECIDED] = "undecided",
    [VERDICT_SAME] = "same",           [VERDICT_NEW] = "new",
    [VERDICT_MISSING] = "missing",
};

static const char *const designs[] = {
    [DESIGN_LAUNCHES] = "launches",
    [DESIGN_RUNS] = "occasions",
    [DESIGN_BLOCKS] = "blocks",
};

const char *verdict_name(enum verdict verdict)
{
    return names[verdict];
}

static bool is_speed(const struct metric *metric)
{
    return !metric || (metric->kind != METRIC_FACT && strcmp(metric->id, "sd") != 0);
}

static const char *word_of(enum verdict verdict, bool speed)
{
    switch (verdict) {
    case VERDICT_REGRESSED:
        return speed ? "slower" : "worse";
    case VERDICT_IMPROVED:
        return speed ? "faster" : "better";
    case VERDICT_SAME:
        return "the same";
    default:
        return verdict_name(verdict);
    }
}

const char *verdict_word(enum verdict verdict, const struct metric *metric)
{
    return word_of(verdict, is_speed(metric));
}

/* Is all of it speed? Where nobody needs to look at any such row: all that is compared. */
static bool rows_are_speed(const struct comparison *c, enum verdict verdict, bool alarms)
{
    const struct metric *metrics[COMPARE_METRICS_MAX];
    size_t nr = comparison_metrics(c, metrics);
    bool speed = true, open = false;

    for (size_t i = 0; i < c->nr; i++) {
        const struct compare_row *row = &c->rows[i];
        if (row->verdict != verdict || (alarms && row->accepted))
            continue;
        speed &= is_speed(row->item->metric);
        open |= !row->accepted;
    }
    for (size_t i = 0; !open && i < nr; i++)
        speed &= is_speed(metrics[i]);
    return speed;
}

const char *comparison_word(const struct comparison *c, enum verdict verdict)
{
    return word_of(verdict, rows_are_speed(c, verdict, false));
}

const char *comparison_alarm_word(const struct comparison *c, enum verdict verdict)
{
    return word_of(verdict, rows_are_speed(c, verdict, true));
}

const char *compare_design_name(enum compare_design design)
{
    return designs[design];
}

int compare_design_find(const char *name)
{
    return name_find(designs, sizeof(designs) / sizeof(designs[0]), name);
}

bool compare_acceptance_fits(const struct acceptance *a, const struct compare_row *row)
{
    const struct compare_item *item = row->item;

    if (strcmp(a->key, item->bench->key) != 0 || strcmp(a->metric, item->metric->id) != 0 ||
        (a->machine[0] && strcmp(a->machine, item->machine) != 0))
        return false;
    if (row->verdict == VERDICT_BROKEN)
        return isnan(a->change);
    if (row->verdict != VERDICT_REGRESSED)
        return false;
    if (isinf(log1p(row->change))) /* from 0, or to it */
        return row->change == a->change;
    return compare_sign(row) * (log1p(row->change) - log1p(a->change)) <= log1p(row->delta);
}

void compare_accept(struct comparison *c, const struct acceptance *accepted, size_t nr)
{
    for (size_t i = 0; i < c->nr; i++)
        for (size_t j = 0; j < nr; j++)
            if (compare_acceptance_fits(&accepted[j], &c->rows[i]))
                c->rows[i].accepted = accepted[j].reason;
    compare_count(c);
}

static const char *key_of_row(const void *comparison, size_t i)
{
    const struct comparison *c = comparison;

    return c->rows[i].item->bench->key;
}

/* The newest note goes above the table, behind those that are there. */
static void make_warning(struct comparison *c)
{
    size_t last = c->nr_notes - 1;
    char *note = c->notes[last];

    memmove(c->notes + c->nr_warnings + 1, c->notes + c->nr_warnings,
            (last - c->nr_warnings) * sizeof(*c->notes));
    c->notes[c->nr_warnings++] = note;
}

void compare_warn_filters(struct comparison *c, const char *const *filters, size_t nr)
{
    for (size_t i = 0; c->nr > 0 && i < nr; i++) {
        if (name_filter_fits_any(filters[i], key_of_row, c, c->nr))
            continue;
        comparison_note(c, "Nothing that is compared fits the filter \"%s\".", filters[i]);
        make_warning(c);
    }
}

void compare_show(struct comparison *c, const char *const *filters, size_t nr)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->nr; i++) {
        if (text_filters_take(filters, nr, c->rows[i].item->bench->key))
            c->rows[kept++] = c->rows[i];
    }
    c->nr = kept;
    compare_count(c);
}

void comparison_release(struct comparison *c)
{
    for (size_t i = 0; i < c->nr_notes; i++)
        free(c->notes[i]);
    free(c->notes);
    free(c->rows);
    compare_items_release(c->items, c->nr_items);
    *c = (struct comparison) { 0 };
}

struct compare_several compare_several(const struct comparison *c)
{
    const struct metric *metrics[COMPARE_METRICS_MAX];
    struct compare_several several = { .metrics = comparison_metrics(c, metrics) > 1 };

    for (size_t i = 1; i < c->nr_items; i++)
        several.machines |= strcmp(c->items[i].machine, c->items[0].machine) != 0;
    return several;
}

struct comparison_harm_row {
    const char *key; /* borrowed from the comparison */
    double harm;
};

static int order_harms(const void *x, const void *y)
{
    const struct comparison_harm_row *a = x, *b = y;
    int order = strcmp(a->key, b->key);

    return order ? order : (a->harm < b->harm) - (a->harm > b->harm);
}

static bool more_would_tell(const struct compare_row *row)
{
    return row->verdict == VERDICT_UNDECIDED && row->base.launches + row->head.launches > 0 &&
           !compare_without_ratios(row);
}

void comparison_harms_init(struct comparison_harms *harms, const struct comparison *c)
{
    *harms = (struct comparison_harms) { memory_zeroed(c->nr + 1, sizeof(*harms->items)), 0 };
    for (size_t i = 0; i < c->nr; i++) {
        const struct compare_row *row = &c->rows[i];
        double harm = row->worse ? fabs(log1p(row->change)) : 0;
        if (more_would_tell(row))
            harms->items[harms->nr++] =
                (struct comparison_harm_row) { row->item->bench->key, isnan(harm) ? 0 : harm };
    }
    qsort(harms->items, harms->nr, sizeof(*harms->items), order_harms);
}

double comparison_harm(const struct comparison_harms *harms, const char *key)
{
    size_t low = 0, high = harms->nr;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(harms->items[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < harms->nr && strcmp(harms->items[low].key, key) == 0 ? harms->items[low].harm : -1;
}

void comparison_harms_release(struct comparison_harms *harms)
{
    free(harms->items);
    *harms = (struct comparison_harms) { NULL, 0 };
}

void comparison_summary(const struct comparison *c, struct strbuf *out)
{
    bool any = false;

    for (int v = 0; v < VERDICT_NR; v++) {
        if (c->count[v] == 0)
            continue;
        strbuf_addf(out, "%s%zu %s", any ? ", " : "", c->count[v], names[v]);
        any = true;
    }
    if (!any)
        strbuf_adds(out, "nothing to compare");
    if (c->accepted > 0)
        strbuf_addf(out, "; %zu accepted", c->accepted);
}
