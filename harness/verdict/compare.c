/* SPDX-License-Identifier: MIT */
#include "verdict/compare.h"

#include "base/text.h"
#include "verdict/compare_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_QUOTED = 80 }; /* bytes of a failure's message; compare_row.why has room for more */

static const char *const default_metrics[] = { COMPARE_USUAL_METRIC, NULL };

static struct compare_side side_of(const struct evidence_side *e)
{
    struct compare_side side = {
        .value = NAN,
        .launches = e->nr,
        .failures = e->failures,
        .outcome = e->outcome,
        .message = e->message,
    };
    bool zeros = evidence_zeros(e) > 0;
    double *values = memory_zeroed(e->nr ? e->nr : 1, sizeof(*values));

    for (size_t i = 0; i < e->nr; i++)
        values[i] = zeros ? e->values[i].value : log(e->values[i].value);
    if (e->nr > 0 && e->negatives == 0)
        side.value = zeros ? stats_median(values, e->nr) : exp(stats_mean(values, e->nr));
    side.spread = zeros ? NAN : stats_sd(values, e->nr);
    free(values);
    return side;
}

static void set_verdict(struct compare_row *row, enum verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void set_verdict(struct compare_row *row, enum verdict verdict, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(row->why, sizeof(row->why), format, arguments);
    va_end(arguments);
    row->verdict = verdict;
}

static bool side_failed(const struct compare_side *side)
{
    return side->failures > 0;
}

/* As much of a failure's message as there is room for. */
static void quote_message(const char *message, size_t room, char *out, size_t size)
{
    size_t length = message ? strlen(message) : 0, nr = length < room ? length : room;

    while (nr < length && ((unsigned char)message[nr] & 0xc0) == 0x80) /* within a character */
        nr--;
    snprintf(out, size, "%s%.*s%s", length ? ": " : "", (int)nr, length ? message : "",
             nr < length ? "…" : "");
}

static void say_failed(struct compare_row *row, enum verdict verdict,
                       const struct compare_side *side)
{
    char quoted[MESSAGE_QUOTED + 8];

    quote_message(side->message, MESSAGE_QUOTED, quoted, sizeof(quoted));
    set_verdict(row, verdict, "%s in %zu of its %zu launches%s", outcome_name(side->outcome),
                side->failures, side->failures + side->launches, quoted);
}

static void say_unsupported(struct compare_row *row)
{
    char quoted[MESSAGE_QUOTED + 8];

    quote_message(row->head.message, MESSAGE_QUOTED, quoted, sizeof(quoted));
    set_verdict(row, VERDICT_MISSING, "not supported any more%s", quoted);
}

static void say_few(struct compare_row *row)
{
    const struct compare_side *base = &row->base, *head = &row->head;

    if (base->launches + head->launches == 0)
        set_verdict(row, VERDICT_UNDECIDED, "it has no %s", row->item->metric->label);
    else if (row->item->evidence.design == DESIGN_BLOCKS)
        set_verdict(row, VERDICT_UNDECIDED, "%zu blocks with both sides; %d are needed",
                    evidence_blocks(&row->item->evidence), COMPARE_LAUNCHES_MIN);
    else
        set_verdict(row, VERDICT_UNDECIDED, "%zu and %zu launches; %d on each side are needed",
                    base->launches, head->launches, COMPARE_LAUNCHES_MIN);
}

/* All of a side, or none of it. */
static void judge_zeros(struct compare_row *row)
{
    size_t base = evidence_zeros(&row->item->evidence.base);
    size_t head = evidence_zeros(&row->item->evidence.head);
    bool all_base = base == row->base.launches, all_head = head == row->head.launches;

    if (all_base && all_head)
        set_verdict(row, VERDICT_SAME, "0 in all launches");
    else if ((all_base && head == 0) || (all_head && base == 0))
        set_verdict(row, row->worse ? VERDICT_REGRESSED : VERDICT_IMPROVED,
                    "0 in all launches of the %s", all_base ? "base" : "head");
    else
        set_verdict(
            row, VERDICT_UNDECIDED,
            "0 in %zu of %zu launches and %zu of %zu, and nothing is a share of 0: it cannot be "
            "compared by shares",
            base, row->base.launches, head, row->head.launches);
}

/* Verdicts that follow from outcomes alone; undecided where times must speak. */
static void judge_outcomes(struct compare_row *row)
{
    const struct compare_side *base = &row->base, *head = &row->head;

    row->verdict = VERDICT_UNDECIDED;
    if (side_failed(head) && (side_failed(base) || base->outcome == OUTCOME_UNSUPPORTED))
        say_failed(row, VERDICT_FAILING, head); /* it never worked: no fault of the head */
    else if (side_failed(head))
        say_failed(row, VERDICT_BROKEN, head);
    else if (head->outcome == OUTCOME_UNSUPPORTED)
        say_unsupported(row);
    else if (side_failed(base))
        set_verdict(row, VERDICT_FIXED, "was %s", outcome_name(base->outcome));
    else if (base->outcome == OUTCOME_UNSUPPORTED)
        set_verdict(row, VERDICT_NEW, "was not supported");
    else if (compare_below_zero(row))
        set_verdict(row, VERDICT_UNDECIDED, "its %s is below 0: changes are told as ratios",
                    row->item->metric->label);
    else if (compare_by_zeros(row))
        judge_zeros(row);
    else if (!compare_in_family(row))
        say_few(row);
}

static void judge_presence(struct compare_row *row)
{
    const struct evidence *e = &row->item->evidence;

    if (!e->base.present && side_failed(&row->head))
        say_failed(row, VERDICT_FAILING, &row->head);
    else if (!e->base.present)
        set_verdict(row, VERDICT_NEW, "not in the baseline");
    else if (!e->head.present)
        set_verdict(row, VERDICT_MISSING, "not in the head");
    else
        judge_outcomes(row);
}

/* The last floor that fits, or the metric's own, or the general one. */
static double delta_of(const struct compare_settings *s, const struct compare_item *item)
{
    double delta = item->metric->floor > 0 && !s->for_all ? item->metric->floor : s->delta;

    for (size_t i = 0; i < s->nr_floors; i++)
        if (compare_floor_fits(&s->floors[i], item->metric, item->bench->key))
            delta = s->floors[i].delta;
    return delta;
}

/* What placement moves of it, if that is known. The self-test has measured times: what the code
 * does is the same wherever it lies, so it keeps its own floor. */
static const struct compare_placement *placement_of(const struct compare_settings *s,
                                                    const struct compare_item *item)
{
    if (item->metric->of_code)
        return NULL;
    for (size_t i = s->nr_placements; i-- > 0;) {
        const struct compare_placement *p = &s->placements[i];
        bool here = p->machine[0] == '\0' || strcmp(p->machine, item->machine) == 0;
        if (here && strcmp(p->key, item->bench->key) == 0)
            return p;
    }
    return NULL;
}

/* The first is with the least number of blocks; there are none with fewer. */
static int looks_of(const struct evidence *e)
{
    int blocks = (int)evidence_blocks(e);

    if (e->design != DESIGN_BLOCKS)
        return 1;
    return blocks >= COMPARE_LAUNCHES_MIN ? blocks - COMPARE_LAUNCHES_MIN + 1 : 0;
}

static struct compare_row row_of(const struct compare_settings *s, const struct compare_item *item)
{
    const struct compare_placement *placement = placement_of(s, item);
    struct compare_row row = {
        .item = item,
        .placed = placement ? placement->change : 0,
        .base = side_of(&item->evidence.base),
        .head = side_of(&item->evidence.head),
        .probe = NAN,
        .interval = { NAN, NAN },
        .noise = { NAN, NAN, NAN, placement ? placement->part : NAN },
        .looks = looks_of(&item->evidence),
        .p = NAN,
        .q = NAN,
        .rank_p = NAN,
        .df = NAN,
        .reach = NAN,
        .stays = NAN,
        .detectable = NAN,
    };

    row.delta = fmax(delta_of(s, item), row.placed);
    row.change = row.head.value == row.base.value ? 0 : row.head.value / row.base.value - 1;
    row.worse = compare_sign(&row) * row.change > 0;
    judge_presence(&row);
    return row;
}

static int check_floor(double delta, struct error *err)
{
    if (delta > 0 && delta < 10)
        return 0;
    return error_set(err, "the floor of a comparison must lie between 0 and 1000 %%, not %g %%",
                     100 * delta);
}

static int add_compare_metric(const char *id, struct compare_metrics *metrics, struct error *err)
{
    const struct metric *metric = metric_find(id, err);

    if (!metric)
        return -1;
    if (metric->direction == NO_DIRECTION)
        return error_set(err, "metric '%s' (%s) has no better and worse, so it cannot be compared",
                         metric->id, metric->label);
    for (size_t i = 0; i < metrics->nr; i++)
        if (metrics->items[i] == metric)
            return 0;
    if (metrics->nr == COMPARE_METRICS_MAX)
        return error_set(err, "at most %d metrics can be compared at a time", COMPARE_METRICS_MAX);
    metrics->items[metrics->nr++] = metric;
    return 0;
}

static int add_asked_metric(const char *text, struct compare_metrics *metrics, struct error *err)
{
    const char *id = compare_asked_id(text);

    if (add_compare_metric(id, metrics, err))
        return text == id ? -1 : error_prefix(err, "%s", text);
    if (metrics->nr_asked == COMPARE_ASKED_MAX)
        return error_set(err, "metrics are asked for %d times at most", COMPARE_ASKED_MAX);
    metrics->asked[metrics->nr_asked].text = text;
    metrics->asked[metrics->nr_asked++].metric = metric_find(id, NULL);
    return 0;
}

static bool is_for_all(const struct compare_metrics *metrics, const struct metric *metric)
{
    for (size_t i = 0; i < metrics->nr_asked; i++)
        if (metrics->asked[i].metric == metric &&
            compare_asked_id(metrics->asked[i].text) == metrics->asked[i].text)
            return true;
    return false;
}

/* What the rest is compared by has the last place: only there it is known what has no other. */
static int add_usual_metric(struct compare_metrics *metrics, struct error *err)
{
    const struct metric *usual = metric_find(default_metrics[0], NULL);
    size_t nr = 0;

    if (is_for_all(metrics, usual))
        return 0;
    for (size_t i = 0; i < metrics->nr; i++)
        if (metrics->items[i] != usual)
            metrics->items[nr++] = metrics->items[i];
    metrics->nr = nr;
    metrics->rest_by_last = true;
    return add_compare_metric(default_metrics[0], metrics, err);
}

static int find_metrics(const struct compare_settings *settings, struct compare_metrics *metrics,
                        struct error *err)
{
    for (const char *const *text = settings->metrics ? settings->metrics : default_metrics; *text;
         text++)
        if (add_asked_metric(*text, metrics, err))
            return -1;
    if (metrics->nr == 0)
        return error_set(err, "no metric is given to compare");
    return settings->rest_by_usual ? add_usual_metric(metrics, err) : 0;
}

static int check_settings(const struct compare_settings *settings, struct compare_metrics *metrics,
                          struct error *err)
{
    *metrics = (struct compare_metrics) { .nr = 0 };
    if (check_floor(settings->delta, err))
        return -1;
    for (size_t i = 0; i < settings->nr_floors; i++)
        if (check_floor(settings->floors[i].delta, err))
            return error_prefix(err, "%s", settings->floors[i].pattern);
    for (size_t i = 0; i < settings->nr_placements; i++)
        if (!(settings->placements[i].change >= 0 && settings->placements[i].part >= 0))
            return error_set(err, "%s: what placement moves is no share",
                             settings->placements[i].key);
    if (!(settings->q > 0 && settings->q < 0.5))
        return error_set(err, "the false-discovery rate must lie between 0 and 50 %%, not %g %%",
                         100 * settings->q);
    return find_metrics(settings, metrics, err);
}

int compare_check_settings(const struct compare_settings *settings, struct error *err)
{
    struct compare_metrics metrics;

    return check_settings(settings, &metrics, err);
}

/* Of one metric alone the general floor is that metric's, so that whatever is said of it is, too.
 */
static struct compare_settings settings_of(const struct compare_settings *settings,
                                           const struct compare_metrics *metrics)
{
    struct compare_settings own = *settings;

    if (metrics->nr == 1 && metrics->items[0]->floor > 0 && !settings->for_all)
        own.delta = metrics->items[0]->floor;
    return own;
}

/* Rows of the family that are named. What is told from zeros alone is in no family: no p-value says
 * how often chance does so, and the rate that is controlled is none of it. */
static size_t count_alarms(const struct comparison *c)
{
    size_t alarms = 0;

    for (size_t i = 0; i < c->nr; i++)
        alarms += !isnan(c->rows[i].q) && (c->rows[i].verdict == VERDICT_REGRESSED ||
                                           c->rows[i].verdict == VERDICT_IMPROVED);
    return alarms;
}

/* Takes the items. */
static void decide_items(struct compare_item *items, size_t nr,
                         const struct compare_settings *settings, struct comparison *c)
{
    *c = (struct comparison) { .settings = *settings, .items = items, .nr_items = nr, .nr = nr };
    c->rows = memory_zeroed(nr ? nr : 1, sizeof(*c->rows));
    for (size_t i = 0; i < nr; i++)
        c->rows[i] = row_of(settings, &items[i]);
    compare_judge(c);
    compare_count(c);
    if (c->family > 0)
        c->chance = settings->q * fmax((double)count_alarms(c), 1);
}

int compare_run(const struct records *base, const struct records *head,
                const struct compare_settings *settings, struct comparison *c, struct error *err)
{
    return compare_sides_run(&(struct compare_sides) { base, head, NULL }, settings, c, err);
}

int compare_sides_run(const struct compare_sides *sides, const struct compare_settings *settings,
                      struct comparison *c, struct error *err)
{
    struct compare_metrics metrics;
    struct item_list list = { 0 };
    size_t unsupported = 0;

    *c = (struct comparison) { 0 };
    if (check_settings(settings, &metrics, err))
        return -1;
    struct compare_settings own = settings_of(settings, &metrics);
    compare_collect(sides, &own, &metrics, &list, &unsupported);
    decide_items(list.items, list.nr, &own, c);
    c->unsupported = unsupported;
    compare_run_notes(c, sides->base, sides->head);
    compare_notes(c);
    return 0;
}

int compare_decide(struct compare_item *items, size_t nr, const struct compare_settings *settings,
                   struct comparison *c, struct error *err)
{
    struct compare_metrics metrics;

    *c = (struct comparison) { 0 };
    if (check_settings(settings, &metrics, err)) {
        compare_items_release(items, nr);
        return -1;
    }
    struct compare_settings own = settings_of(settings, &metrics);
    decide_items(items, nr, &own, c);
    compare_notes(c);
    return 0;
}

size_t comparison_metrics(const struct comparison *c, const struct metric *out[COMPARE_METRICS_MAX])
{
    struct compare_metrics metrics = { .nr = 0 };
    struct error ignored;

    find_metrics(&c->settings, &metrics, &ignored);
    memcpy(out, metrics.items, sizeof(metrics.items)); /* NOLINT(bugprone-sizeof-expression) */
    return metrics.nr;
}
