/* SPDX-License-Identifier: MIT */
/* From records to evidence: the two sides of a comparison, joined by benchmark. */
#include "verdict/compare_parts.h"

#include "metrics/group.h"
#include "verdict/machine_probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One side of the join: sorted groups and where they come from. */
struct side {
    const struct records *records;
    struct groups groups;
    int *whole; /* of each run: launches that the other must have, too; 0: any number. Owned */
};

struct join {
    const struct compare_metrics *metrics;
    struct side base, head;
    struct side earlier; /* no groups if there are none */
    struct item_list *out;
    size_t *unsupported;
    const char *probe; /* the telemetry that tells of the machine */
};

static int launches_of(const struct records *records, int run)
{
    int most = 0;

    for (size_t i = 0; i < records->nr; i++)
        if (records->items[i].run == run && records->items[i].launch_seq >= most)
            most = records->items[i].launch_seq + 1;
    return most;
}

bool compare_in_turn(const struct run *run)
{
    return run->ab.block > 0;
}

static void side_init(struct side *side, const struct records *records, bool any_machine)
{
    side->records = records;
    side->whole = memory_zeroed(records->nr_runs + 1, sizeof(*side->whole));
    for (size_t i = 0; i < records->nr_runs; i++)
        if (records->runs[i].ab.block == 1)
            side->whole[i] = launches_of(records, (int)i);
    groups_init(&side->groups, records, any_machine);
}

static void side_release(struct side *side)
{
    groups_release(&side->groups);
    free(side->whole);
}

static bool has_machine(const struct side *side, const char *machine)
{
    for (size_t i = 0; i < side->groups.nr; i++)
        if (strcmp(side->groups.items[i].machine, machine) == 0)
            return true;
    return false;
}

static bool one_run(const struct group *g)
{
    return g->items[0]->run == g->items[g->nr - 1]->run;
}

static int block_of(const struct side *side, const struct record *r)
{
    return (int)(r->launch_seq / (int64_t)side->records->runs[r->run].ab.block);
}

static bool same_ab(const struct run *a, const struct run *b)
{
    return a->ab.block > 0 && a->ab.block == b->ab.block && strcmp(a->ab.id, b->ab.id) == 0;
}

/* Were both sides measured in turn, in one go? What was imported so says no more of its launches
 * than their order: where one of them is lost, those after it would meet strangers. */
static bool are_interleaved(const struct join *join, const struct group *base,
                            const struct group *head)
{
    if (!base || !head || !one_run(base) || !one_run(head))
        return false;
    int a = base->items[0]->run, b = head->items[0]->run;
    return same_ab(&join->base.records->runs[a], &join->head.records->runs[b]) &&
           join->base.whole[a] == join->head.whole[b];
}

void compare_pair_notes(struct comparison *c, const struct records *base,
                        const struct records *head)
{
    if (base->nr_runs != 1 || head->nr_runs != 1)
        return;
    int nr_base = launches_of(base, 0), nr_head = launches_of(head, 0);

    if (base->runs[0].ab.block == 1 && same_ab(&base->runs[0], &head->runs[0]) &&
        nr_base != nr_head)
        comparison_note(c,
                        "Imported as measured in turn, but with %d and %d launches: not compared "
                        "pair by pair, for nobody knows which is missing.",
                        nr_base, nr_head);
}

static const struct measurement *first_failure(const struct group *g, size_t at, size_t nr)
{
    for (size_t i = at; i < at + nr; i++)
        if (g->items[i]->m.outcome == OUTCOME_WRONG || g->items[i]->m.outcome == OUTCOME_FAILED)
            return &g->items[i]->m;
    return NULL;
}

/* The variance that an interval of +-`z` errors stands for, on the log scale; 0 if there is none.
 */
static double variance_of(struct interval i, double z)
{
    double se = log(i.high / i.low) / (2 * z);

    return i.low > 0 && isfinite(se) ? se * se : 0;
}

/* How far the samples of a launch leave its value open. The 95 % interval tells, and for a
 * percentile also that of 50 %: between two modes it is far wider than the other lets on, and the
 * value falls to either. */
static double inner_variance(const struct metric *metric, const struct summary *s,
                             const struct metric_value *v)
{
    double p = metric->kind == METRIC_RATE ? 0.5 : metric->p;
    double wide = variance_of(v->interval, stats_normal_quantile(0.975));

    if (wide == 0 || !(p > 0 && p < 1))
        return wide;
    struct interval half = stats_quantile_interval(s->sorted, s->n, p, 0.5);
    return fmax(wide, variance_of(half, stats_normal_quantile(0.75)));
}

static void add_value(struct evidence_side *side, struct evidence_value value)
{
    side->values = array_grow(side->values, side->nr, &side->capacity, sizeof(*side->values));
    side->values[side->nr++] = value;
}

/* One launch of one benchmark: a value for each metric that it has. */
static void add_values(const struct join *join, const struct side *side, const struct group *g,
                       size_t at, size_t nr, int run, struct evidence_side *out)
{
    struct metric_context context = metric_context_of(side->records, g->items[at]->run);
    double probe = machine_probe_time(&g->items[at]->m, join->probe);
    struct summary s;

    summary_init(&s, g->items + at, nr);
    for (size_t i = 0; i < join->metrics->nr; i++) {
        struct metric_value v = metric_value(join->metrics->items[i], &s, &context);
        if (v.value < 0)
            out[i].negatives++;
        else if (isfinite(v.value))
            add_value(&out[i], (struct evidence_value) {
                                   .value = v.value,
                                   .run = run,
                                   .inner = inner_variance(join->metrics->items[i], &s, &v),
                                   .probe = probe,
                               });
    }
    summary_release(&s);
}

static void note_failure(const struct join *join, const struct measurement *m,
                         struct evidence_side *out)
{
    for (size_t i = 0; i < join->metrics->nr; i++)
        if (out[i].failures++ == 0) {
            out[i].outcome = m->outcome;
            out[i].message = m->message;
        }
}

static void note_unsupported(const struct join *join, const struct measurement *m,
                             struct evidence_side *out)
{
    for (size_t i = 0; i < join->metrics->nr; i++)
        if (!out[i].message)
            out[i].message = m->message;
}

static void note_ok(const struct join *join, struct evidence_side *out)
{
    for (size_t i = 0; i < join->metrics->nr; i++)
        if (out[i].failures == 0)
            out[i].outcome = OUTCOME_OK;
}

/* Fills one side of the evidence for every metric. `g` may be NULL. */
static void read_side(const struct join *join, const struct side *side, const struct group *g,
                      bool blocks, struct evidence_side *out)
{
    for (size_t i = 0; i < join->metrics->nr; i++)
        out[i] = (struct evidence_side) { .outcome = OUTCOME_UNSUPPORTED, .present = g != NULL };
    for (size_t at = 0, nr; g && at < g->nr; at += nr) {
        const struct record *first = g->items[at];
        nr = group_launch_length(g, at);
        const struct measurement *failed = first_failure(g, at, nr);
        if (failed) {
            note_failure(join, failed, out);
        } else if (first->m.outcome == OUTCOME_UNSUPPORTED) {
            note_unsupported(join, &first->m, out);
        } else {
            note_ok(join, out);
            add_values(join, side, g, at, nr, blocks ? block_of(side, first) : first->run, out);
        }
    }
}

static bool no_time(const struct evidence *e)
{
    return e->base.outcome != OUTCOME_OK || e->head.outcome != OUTCOME_OK;
}

static bool several_runs(const struct evidence_side *side)
{
    return side->nr > 0 && side->values[side->nr - 1].run > side->values[0].run;
}

static enum compare_design design_of(const struct evidence *e, bool blocks)
{
    if (blocks)
        return DESIGN_BLOCKS;
    return several_runs(&e->base) || several_runs(&e->head) ? DESIGN_RUNS : DESIGN_LAUNCHES;
}

static void evidence_release(struct evidence *e)
{
    free(e->base.values);
    free(e->head.values);
    free(e->earlier.values);
}

static bool is_asked_of(const struct compare_metrics *metrics, size_t metric, const char *key)
{
    for (size_t i = 0; i < metrics->nr_asked; i++)
        if (metrics->asked[i].metric == metrics->items[metric] &&
            compare_asked_fits(metrics->asked[i].text, key))
            return true;
    return false;
}

/* Of several metrics, those that a benchmark does not have make no rows; where there is no time at
 * all, one row says so, and where it has nothing that it would be compared by. `others`: rows of
 * this benchmark that there are. */
static bool is_wanted(const struct join *join, size_t metric, const struct evidence *e,
                      const char *key, size_t others)
{
    bool rest = join->metrics->rest_by_last && metric + 1 == join->metrics->nr;

    if (rest && others == 0)
        return true;
    if (!is_asked_of(join->metrics, metric, key))
        return false;
    if (join->metrics->nr == 1)
        return true;
    if (no_time(e))
        return others == 0;
    return e->base.nr + e->head.nr + e->base.negatives + e->head.negatives > 0;
}

static int order_groups(const struct group *a, const struct group *b)
{
    int order = benchmark_order(a->bench, b->bench);

    return order ? order : strcmp(a->machine, b->machine);
}

static const struct group *find_group(const struct side *side, const struct group *like)
{
    size_t low = 0, high = side->groups.nr;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = order_groups(&side->groups.items[middle], like);
        if (order == 0)
            return &side->groups.items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void drop_values(struct evidence_side *side)
{
    free(side->values);
    side->values = NULL;
    side->nr = side->capacity = 0;
}

/* One value a run, in place of one a launch. A run of one launch does not tell its error. */
static void fold_runs(struct evidence_side *side)
{
    double *logs = memory_zeroed(side->nr ? side->nr : 1, sizeof(*logs));
    size_t kept = 0, n = 0;

    for (size_t i = 0; i < side->nr; i++) {
        if (side->values[i].value > 0)
            logs[n++] = log(side->values[i].value);
        if (i + 1 < side->nr && side->values[i + 1].run == side->values[i].run)
            continue;
        double sd = stats_sd(logs, n);
        if (n > 1)
            side->values[kept++] = (struct evidence_value) {
                .value = exp(stats_mean(logs, n)),
                .run = side->values[i].run,
                .inner = sd * sd / (double)n,
                .probe = NAN,
            };
        n = 0;
    }
    free(logs);
    side->nr = kept;
    if (kept == 0) {
        drop_values(side);
        return;
    }
    side->values = memory_resize(side->values, kept, sizeof(*side->values));
    side->capacity = kept;
}

/* Of each metric, the runs before; `like` is the benchmark. */
static void read_earlier(const struct join *join, const struct group *like,
                         struct evidence_side *out)
{
    const struct group *g = find_group(&join->earlier, like);

    read_side(join, &join->earlier, g, false, out);
    for (size_t i = 0; i < join->metrics->nr; i++) {
        fold_runs(&out[i]);
        out[i].failures = 0;
        out[i].outcome = OUTCOME_OK;
        out[i].message = NULL;
        out[i].present = out[i].nr > 0;
    }
}

/* Either group may be NULL. What neither side can run is counted only. */
static void add_items(struct join *join, const struct group *base, const struct group *head)
{
    struct evidence_side b[COMPARE_METRICS_MAX] = { { 0 } }, h[COMPARE_METRICS_MAX] = { { 0 } };
    struct evidence_side before[COMPARE_METRICS_MAX] = { { 0 } };
    const struct group *any = head ? head : base;
    bool blocks = are_interleaved(join, base, head);

    read_side(join, &join->base, base, blocks, b);
    read_side(join, &join->head, head, blocks, h);
    read_earlier(join, any, before);
    bool nowhere = b[0].outcome == OUTCOME_UNSUPPORTED && h[0].outcome == OUTCOME_UNSUPPORTED;
    *join->unsupported += nowhere;
    size_t before_them = join->out->nr;
    for (size_t i = 0; i < join->metrics->nr; i++) {
        struct evidence e = { .base = b[i], .head = h[i], .earlier = before[i] };
        e.design = design_of(&e, blocks);
        if (e.design != DESIGN_LAUNCHES)
            drop_values(&e.earlier);
        if (nowhere || !is_wanted(join, i, &e, any->bench->key, join->out->nr - before_them)) {
            evidence_release(&e);
            continue;
        }
        *(struct compare_item *)array_push(join->out) = (struct compare_item) {
            .bench = any->bench,
            .machine = any->machine,
            .vendor = any->items[0]->m.vendor,
            .metric = join->metrics->items[i],
            .evidence = e,
        };
    }
}

/* Machine classes that one side lacks make no rows; the notes tell of them. */
static void add_base(struct join *join, const struct group *g)
{
    if (has_machine(&join->head, g->machine))
        add_items(join, g, NULL);
}

static void add_head(struct join *join, const struct group *g)
{
    if (has_machine(&join->base, g->machine))
        add_items(join, NULL, g);
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
            add_items(join, &base->items[i++], &head->items[j++]);
    }
    while (i < base->nr)
        add_base(join, &base->items[i++]);
    while (j < head->nr)
        add_head(join, &head->items[j++]);
}

void compare_collect(const struct compare_sides *sides, const struct compare_settings *settings,
                     const struct compare_metrics *metrics, struct item_list *out,
                     size_t *unsupported)
{
    static const struct records none = { .nr = 0 };
    struct join join = {
        .metrics = metrics,
        .out = out,
        .unsupported = unsupported,
        .probe = machine_probe_name(sides->base, sides->head),
    };

    side_init(&join.base, sides->base, settings->any_machine);
    side_init(&join.head, sides->head, settings->any_machine);
    side_init(&join.earlier, sides->earlier ? sides->earlier : &none, settings->any_machine);
    join_sides(&join);
    side_release(&join.base);
    side_release(&join.head);
    side_release(&join.earlier);
}

void compare_items_release(struct compare_item *items, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        evidence_release(&items[i].evidence);
    free(items);
}
