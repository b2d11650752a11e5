/* SPDX-License-Identifier: MIT */
#include "analysis/compare.h"

#include "analysis/compare_parts.h"
#include "analysis/group.h"
#include "base/array.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[VERDICT_NR] = {
    [VERDICT_REGRESSED] = "regressed", [VERDICT_BROKEN] = "broken",
    [VERDICT_FAILING] = "failing",     [VERDICT_IMPROVED] = "improved",
    [VERDICT_FIXED] = "fixed",         [VERDICT_UNDECIDED] = "undecided",
    [VERDICT_SAME] = "same",           [VERDICT_NEW] = "new",
    [VERDICT_MISSING] = "missing",
};

const char *verdict_name(enum verdict verdict)
{
    return names[verdict];
}

double compare_sign(const struct comparison *c)
{
    return c->metric->direction == HIGHER_IS_BETTER ? -1 : 1;
}

bool compare_in_family(const struct compare_row *row)
{
    return row->base.outcome == OUTCOME_OK && row->head.outcome == OUTCOME_OK &&
           row->base.launches >= COMPARE_LAUNCHES_MIN && row->head.launches >= COMPARE_LAUNCHES_MIN;
}

void compare_note(struct comparison *c, const char *format, ...)
{
    struct array_of_notes {
        char **items;
        size_t nr, capacity;
    } notes = { c->notes, c->nr_notes, c->notes_capacity };
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    *array_push(&notes) = memory_string(text);
    c->notes = notes.items;
    c->nr_notes = notes.nr;
    c->notes_capacity = notes.capacity;
}

/* One side of the join: sorted groups and where they come from. */
struct side {
    const struct records *records;
    struct groups groups;
};

static bool has_machine(const struct side *side, const char *machine)
{
    for (size_t i = 0; i < side->groups.nr; i++)
        if (strcmp(side->groups.items[i].machine, machine) == 0)
            return true;
    return false;
}

static const struct record *first_failure(const struct group *g, size_t at, size_t nr)
{
    for (size_t i = at; i < at + nr; i++)
        if (g->items[i]->m.outcome == OUTCOME_WRONG || g->items[i]->m.outcome == OUTCOME_FAILED)
            return g->items[i];
    return NULL;
}

/* The metric of one launch; NaN if it has none. */
static struct metric_value launch_value(const struct comparison *c, const struct side *side,
                                        const struct group *g, size_t at, size_t nr)
{
    struct metric_context context = metric_context_of(side->records, g->items[at]->run);
    struct summary s;

    summary_init(&s, g->items + at, nr);
    struct metric_value value = metric_value(c->metric, &s, &context);
    summary_release(&s);
    return value;
}

static void note_failure(struct compare_side *out, const struct measurement *m)
{
    if (out->failures++ == 0) {
        out->outcome = m->outcome;
        out->message = m->message;
    }
}

/* The variance that a 95 % interval stands for, on the log scale; 0 if there is none. */
static double inner_variance(const struct interval *i)
{
    double se = log(i->high / i->low) / (2 * stats_normal_quantile(0.975));

    return i->low > 0 && isfinite(se) ? se * se : 0;
}

/* Fills one side of a row; returns the logs of its launch values, signed. `inner` gets the mean
 * variance inside the launches, `probe` the mean log time of the machine probe. */
static double *read_side(const struct comparison *c, const struct side *side, const struct group *g,
                         struct compare_side *out, double *inner, double *probe)
{
    double *logs = memory_zeroed(g->nr, sizeof(*logs));

    out->outcome = OUTCOME_UNSUPPORTED;
    for (size_t at = 0, nr; at < g->nr; at += nr) {
        nr = group_launch_length(g, at);
        const struct record *failed = first_failure(g, at, nr);
        if (failed) {
            note_failure(out, &failed->m);
            continue;
        }
        if (g->items[at]->m.outcome == OUTCOME_UNSUPPORTED) {
            out->message = out->message ? out->message : g->items[at]->m.message;
            continue;
        }
        if (out->failures == 0)
            out->outcome = OUTCOME_OK;
        struct metric_value value = launch_value(c, side, g, at, nr);
        if (!(value.value > 0 && isfinite(value.value)))
            continue;
        logs[out->launches++] = compare_sign(c) * log(value.value);
        *inner += inner_variance(&value.interval);
        *probe += log(measurement_telemetry(&g->items[at]->m, "probe_ns"));
    }
    if (out->launches > 0) {
        out->value = exp(compare_sign(c) * stats_mean(logs, out->launches));
        *inner /= (double)out->launches;
        *probe /= (double)out->launches;
    }
    out->spread = stats_sd(logs, out->launches);
    return logs;
}

static void say(struct compare_row *row, enum verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(struct compare_row *row, enum verdict verdict, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(row->why, sizeof(row->why), format, arguments);
    va_end(arguments);
    row->verdict = verdict;
}

static bool failed(const struct compare_side *side)
{
    return side->failures > 0;
}

static void say_failed(struct compare_row *row, enum verdict verdict,
                       const struct compare_side *side)
{
    say(row, verdict, "%s in %zu of its %zu launches%s%.60s", outcome_name(side->outcome),
        side->failures, side->failures + side->launches, side->message ? ": " : "",
        side->message ? side->message : "");
}

/* Verdicts that follow from outcomes alone; undecided where times must speak. */
static void judge_outcomes(struct compare_row *row)
{
    const struct compare_side *base = &row->base, *head = &row->head;

    if (failed(base) && failed(head))
        say_failed(row, VERDICT_FAILING, head);
    else if (failed(head))
        say_failed(row, VERDICT_BROKEN, head);
    else if (head->outcome == OUTCOME_UNSUPPORTED)
        say(row, VERDICT_MISSING, "not supported any more%s%.80s", head->message ? ": " : "",
            head->message ? head->message : "");
    else if (failed(base))
        say(row, VERDICT_FIXED, "was %s", outcome_name(base->outcome));
    else if (base->outcome == OUTCOME_UNSUPPORTED)
        say(row, VERDICT_NEW, "was not supported");
    else if (base->launches < COMPARE_LAUNCHES_MIN || head->launches < COMPARE_LAUNCHES_MIN)
        say(row, VERDICT_UNDECIDED, "%zu and %zu launches; %d on each side are needed",
            base->launches, head->launches, COMPARE_LAUNCHES_MIN);
    else
        row->verdict = VERDICT_UNDECIDED;
}

/* The join in progress. */
struct join {
    struct comparison *c;
    struct side base, head;
    ARRAY(struct compare_row) rows;
    ARRAY(struct evidence) evidence;
};

static void measure_change(const struct comparison *c, struct compare_row *row)
{
    row->change = row->head.value / row->base.value - 1;
    row->worse = compare_sign(c) * row->change > 0;
}

static struct compare_row empty_row(const struct group *g)
{
    struct compare_side absent = { .value = NAN, .spread = NAN, .outcome = OUTCOME_UNSUPPORTED };

    return (struct compare_row) {
        .bench = g->bench,
        .machine = g->machine,
        .vendor = g->items[0]->m.vendor,
        .base = absent,
        .head = absent,
        .interval = { NAN, NAN },
        .p = NAN,
        .q = NAN,
        .rank_p = NAN,
        .df = NAN,
        .detectable = NAN,
    };
}

static void judge_presence(struct compare_row *row, bool in_base, bool in_head)
{
    if (!in_base && failed(&row->head))
        say_failed(row, VERDICT_FAILING, &row->head);
    else if (!in_base)
        say(row, VERDICT_NEW, "not in the baseline");
    else if (!in_head)
        say(row, VERDICT_MISSING, "not in the head");
    else
        judge_outcomes(row);
}

static void evidence_release(struct evidence *e)
{
    free(e->base);
    free(e->head);
}

/* Either group may be NULL. What neither side can run is counted only. */
static void add_row(struct join *join, const struct group *base, const struct group *head)
{
    struct compare_row row = empty_row(head ? head : base);
    struct evidence evidence = { 0 };

    if (base)
        evidence.base = read_side(join->c, &join->base, base, &row.base, &evidence.base_inner,
                                  &evidence.base_probe);
    if (head)
        evidence.head = read_side(join->c, &join->head, head, &row.head, &evidence.head_inner,
                                  &evidence.head_probe);
    measure_change(join->c, &row);
    row.probe = expm1(evidence.head_probe - evidence.base_probe);
    judge_presence(&row, base != NULL, head != NULL);
    if (row.base.outcome == OUTCOME_UNSUPPORTED && row.head.outcome == OUTCOME_UNSUPPORTED) {
        join->c->unsupported++;
        evidence_release(&evidence);
        return;
    }
    *array_push(&join->rows) = row;
    *array_push(&join->evidence) = evidence;
}

static int order_groups(const struct group *a, const struct group *b)
{
    int order = benchmark_order(a->bench, b->bench);

    return order ? order : strcmp(a->machine, b->machine);
}

/* Machine classes that one side lacks make no rows; compare_notes() tells of them. */
static void add_base(struct join *join, const struct group *g)
{
    if (has_machine(&join->head, g->machine))
        add_row(join, g, NULL);
}

static void add_head(struct join *join, const struct group *g)
{
    if (has_machine(&join->base, g->machine))
        add_row(join, NULL, g);
}

/* Both lists are in the same order: walk them together. */
static void join_sides(struct join *join)
{
    const struct groups *base = &join->base.groups, *head = &join->head.groups;
    size_t i = 0, j = 0;

    while (i < base->nr && j < head->nr) {
        int order = order_groups(&base->items[i], &head->items[j]);
        if (order < 0)
            add_base(join, &base->items[i++]);
        else if (order > 0)
            add_head(join, &head->items[j++]);
        else
            add_row(join, &base->items[i++], &head->items[j++]);
    }
    while (i < base->nr)
        add_base(join, &base->items[i++]);
    while (j < head->nr)
        add_head(join, &head->items[j++]);
}

static void finish(struct comparison *c)
{
    for (size_t i = 0; i < c->nr; i++)
        c->count[c->rows[i].verdict]++;
    size_t decided = c->count[VERDICT_SAME] + c->count[VERDICT_IMPROVED] + c->count[VERDICT_FIXED];
    if (c->count[VERDICT_REGRESSED] + c->count[VERDICT_BROKEN] > 0)
        c->exit_status = COMPARE_EXIT_REGRESSION;
    else
        c->exit_status = decided > 0 ? COMPARE_EXIT_OK : COMPARE_EXIT_NOTHING;
}

static int check_settings(const struct compare_settings *settings, struct comparison *c,
                          struct error *err)
{
    if (!(settings->delta > 0 && settings->delta < 10))
        return error_set(err, "the floor of a comparison must lie between 0 and 1000 %%, not %g %%",
                         100 * settings->delta);
    if (!(settings->q > 0 && settings->q < 0.5))
        return error_set(err, "the false-discovery rate must lie between 0 and 50 %%, not %g %%",
                         100 * settings->q);
    c->metric = metric_find(settings->metric, err);
    if (!c->metric)
        return -1;
    if (c->metric->direction == NO_DIRECTION)
        return error_set(err, "metric '%s' (%s) has no better and worse, so it cannot be compared",
                         c->metric->id, c->metric->label);
    return 0;
}

int compare_run(const struct records *base, const struct records *head,
                const struct compare_settings *settings, struct comparison *c, struct error *err)
{
    struct join join = { .c = c, .base.records = base, .head.records = head };

    *c = (struct comparison) { .settings = *settings };
    if (check_settings(settings, c, err))
        return -1;
    groups_init(&join.base.groups, base, settings->any_machine);
    groups_init(&join.head.groups, head, settings->any_machine);
    join_sides(&join);
    c->rows = join.rows.items;
    c->nr = join.rows.nr;
    compare_judge(c, join.evidence.items);
    finish(c);
    compare_notes(c, base, head);
    for (size_t i = 0; i < join.evidence.nr; i++)
        evidence_release(&join.evidence.items[i]);
    array_release(&join.evidence);
    groups_release(&join.base.groups);
    groups_release(&join.head.groups);
    return 0;
}

void comparison_release(struct comparison *c)
{
    for (size_t i = 0; i < c->nr_notes; i++)
        free(c->notes[i]);
    free(c->notes);
    free(c->rows);
    *c = (struct comparison) { 0 };
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
}
