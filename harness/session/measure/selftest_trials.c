/* SPDX-License-Identifier: MIT */
#include "session/measure/selftest_trials.h"

#include "base/text.h"
#include "core/clock.h"
#include "session/measure/ab_session.h"
#include "session/measure/recording.h"
#include "stats/random.h"
#include "store/verdicts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void trials_usual_sizes(struct trials *t)
{
    static const double usual[] = { 0.01, 0.02, 0.05, 0.10 };

    t->nr_sizes = sizeof(usual) / sizeof(*usual);
    memcpy(t->sizes, usual, sizeof(usual));
    if (2 * t->compare.delta > usual[t->nr_sizes - 1])
        t->sizes[t->nr_sizes++] = 2 * t->compare.delta;
}

/* One series of comparisons. */
struct series {
    const struct trials *t;
    struct selftest_builder builder;
    struct benchmark_name *names; /* of the workload's benchmarks */
    double *plant;                /* what is planted in each, now */
    const char **planted;         /* keys of those in which something is */
    size_t nr_planted;
    bool *useless; /* could not be measured or planted before */
    struct random random;
    uint64_t start;
    int done, total; /* comparisons */
};

int trials_launches(const struct trials *t)
{
    int launches = t->workload->suite.launches;

    return t->interleaved ? (launches + AB_LAUNCHES - 1) / AB_LAUNCHES * AB_LAUNCHES : launches;
}

/* Warm-up, probe and checks cost about as much again as the shortest sampling. */
double trials_seconds(const struct trials *t, int runs)
{
    struct sampling s = t->workload->suite.sampling;

    if (t->interleaved)
        s = ab_sampling(&s);
    double one = s.iterations > 0 ? 0.02 : s.max_time + 2 * s.warmup + 0.02;
    double run = trials_launches(t) * (0.05 + one * (double)t->workload->list.nr);
    if (t->interleaved && t->measuring.budget > 0)
        run = fmin(run, t->measuring.budget / AB_SIDES);
    return runs * run;
}

char *trials_time(double seconds, char text[TRIALS_TIME_SIZE])
{
    snprintf(text, TRIALS_TIME_SIZE, "%d:%02d", (int)seconds / 60, (int)seconds % 60);
    return text;
}

static void trials_begin(struct series *s, const struct trials *t, const char *kind, int total,
                         struct selftest *out)
{
    size_t nr = t->workload->list.nr;

    *s = (struct series) { .t = t, .start = clock_ns(), .total = total };
    snprintf(out->kind, sizeof(out->kind), "%s%s", kind, t->interleaved ? "-ab" : "");
    out->delta = t->compare.delta;
    out->q = t->compare.q;
    out->launches = trials_launches(t);
    out->benchmarks = nr;
    selftest_begin(&s->builder, out);
    s->names = memory_zeroed(nr + 1, sizeof(*s->names));
    for (size_t i = 0; i < nr; i++)
        benchmark_name_of(&t->workload->list.items[i], &t->workload->device, &s->names[i]);
    s->plant = memory_zeroed(nr + 1, sizeof(*s->plant));
    s->planted = memory_zeroed(nr + 1, sizeof(*s->planted));
    s->useless = memory_zeroed(nr + 1, sizeof(*s->useless));
    random_seed(&s->random, t->seed);
}

static void trials_end(struct series *s)
{
    selftest_end(&s->builder);
    free(s->names);
    free(s->plant);
    free(s->planted);
    free(s->useless);
}

static void note_trial(const struct series *s, double size)
{
    double spent = (double)(clock_ns() - s->start) * 1e-9;
    char time[TRIALS_TIME_SIZE], planted[64] = "", left[64] = "";

    if (size > 0)
        snprintf(planted, sizeof(planted), ", %g %% planted in %zu of %zu", 100 * size,
                 s->nr_planted, s->t->workload->list.nr);
    if (s->done > 0)
        snprintf(left, sizeof(left), ": left about %s",
                 trials_time(spent / s->done * (s->total - s->done), time));
    sink_note(s->t->measuring.sink, "comparison %d of %d%s%s\n", s->done + 1, s->total, planted,
              left);
}

/* A random tenth of what can be measured, at least one. */
static int choose_planted(struct series *s, double size, struct error *err)
{
    size_t nr = s->t->workload->list.nr, tenth = (nr + 9) / 10;
    size_t *order = memory_zeroed(nr, sizeof(*order));

    s->nr_planted = 0;
    random_permutation(&s->random, order, nr);
    for (size_t i = 0; i < nr; i++) {
        size_t at = order[i];
        bool chosen = s->nr_planted < tenth && !s->useless[at];
        s->plant[at] = chosen ? size : 0;
        if (chosen)
            s->planted[s->nr_planted++] = s->names[at].key;
    }
    free(order);
    return s->nr_planted ? 0
                         : error_set(err,
                                     "there is no benchmark left in which something can be "
                                     "planted: all failed, or are too short for it");
}

static bool has_fine_row(const struct comparison *c, const char *key)
{
    for (size_t i = 0; i < c->nr; i++) {
        const struct compare_row *row = &c->rows[i];
        if (strcmp(row->item->bench->key, key) == 0)
            return row->base.launches > 0 && row->head.launches > 0 && row->head.failures == 0;
    }
    return false;
}

/* What was in no condition to be compared will not be the next time. */
static void note_useless(struct series *s, const struct comparison *c)
{
    for (size_t i = 0; i < s->t->workload->list.nr; i++)
        s->useless[i] |= !has_fine_row(c, s->names[i].key);
}

static int count_trial(struct series *s, const struct comparison *c, double size, struct error *err)
{
    note_useless(s, c);
    s->done++;
    return selftest_count(&s->builder, c, size, s->planted, s->nr_planted, err);
}

static int run_trial(struct series *s, const double *plant, struct records *out, struct error *err)
{
    return recording_sample(s->t->store, s->t->workload, plant ? "selftest planted" : "selftest",
                            plant, &s->t->measuring, out, err);
}

static int compare_records(struct series *s, const struct records *base, const struct records *head,
                           double size, struct error *err)
{
    struct comparison c = { 0 };
    int rc = compare_run(base, head, &s->t->compare, &c, err);

    if (rc == 0)
        rc = count_trial(s, &c, size, err);
    comparison_release(&c);
    return rc;
}

/* An interrupt is an error here. */
static int run_trial_session(const struct ab_request *r, struct ab_session *s, struct error *err)
{
    int rc = ab_session_run(r, s, err);

    return rc == 0 && s->end == AB_INTERRUPTED ? error_set(err, "interrupted") : rc;
}

/* Both sides measured now, in turn; nothing is planted where the size is 0. */
static int compare_interleaved(struct series *s, double size, struct error *err)
{
    struct ab_request r = {
        .side = { [AB_BASE] = { .name = "base" },
                  [AB_HEAD] = { .name = "head", .plant = size > 0 ? s->plant : NULL } },
        .workload = s->t->workload,
        .store = s->t->store,
        .compare = s->t->compare,
        .label = "selftest",
        .measuring = s->t->measuring,
        .blocks_max = trials_launches(s->t) / AB_LAUNCHES,
        .quiet = true,
    };
    struct ab_session session;
    int rc = run_trial_session(&r, &session, err);

    if (rc == 0)
        rc = count_trial(s, &session.comparison, size, err);
    ab_session_release(&session);
    return rc;
}

static int compare_two_runs(struct series *s, double size, struct error *err)
{
    struct records base = { 0 }, head = { 0 };
    int rc = run_trial(s, NULL, &base, err);

    if (rc == 0)
        rc = run_trial(s, s->plant, &head, err);
    if (rc == 0)
        rc = compare_records(s, &base, &head, size, err);
    records_release(&base);
    records_release(&head);
    return rc;
}

static int aa_in_turn(struct series *s, struct error *err)
{
    int rc = 0;

    while (rc == 0 && s->done < s->total) {
        note_trial(s, 0);
        rc = compare_interleaved(s, 0, err);
    }
    return rc;
}

static int aa_run_after_run(struct series *s, struct error *err)
{
    struct records before = { 0 };
    int rc = run_trial(s, NULL, &before, err);

    while (rc == 0 && s->done < s->total) {
        struct records now = { 0 };
        note_trial(s, 0);
        rc = run_trial(s, NULL, &now, err);
        if (rc == 0)
            rc = compare_records(s, &before, &now, 0, err);
        records_release(&before);
        before = now;
    }
    records_release(&before);
    return rc;
}

int trials_aa(const struct trials *t, int comparisons, struct selftest *out, struct error *err)
{
    struct series s;

    trials_begin(&s, t, "aa", comparisons, out);
    int rc = t->interleaved ? aa_in_turn(&s, err) : aa_run_after_run(&s, err);
    trials_end(&s);
    return rc;
}

int trials_power(const struct trials *t, int repeats, struct selftest *out, struct error *err)
{
    size_t nr = t->nr_sizes, order[SELFTEST_SIZES_MAX];
    struct series s;
    int rc = 0;

    trials_begin(&s, t, "power", repeats * (int)nr, out);
    for (int i = 0; rc == 0 && i < repeats; i++) {
        random_permutation(&s.random, order, nr);
        for (size_t j = 0; rc == 0 && j < nr; j++) {
            double size = t->sizes[order[j]];
            rc = choose_planted(&s, size, err);
            if (rc)
                break;
            note_trial(&s, size);
            rc = t->interleaved ? compare_interleaved(&s, size, err)
                                : compare_two_runs(&s, size, err);
        }
    }
    trials_end(&s);
    return rc;
}

/* ---- costs ---- */

/* One benchmark of the workload, alone: its comparison is a family of one. */
struct alone {
    const struct trials *t;
    struct workload workload; /* the list is borrowed */
    struct random random;
};

static int run_alone(struct alone *a, double size, struct ab_session *s, struct error *err)
{
    const struct trials *t = a->t;
    struct ab_request r = {
        .side = { [AB_BASE] = { .name = "base" },
                  [AB_HEAD] = { .name = "head", .plant = size > 0 ? &size : NULL } },
        .workload = &a->workload,
        .store = t->store,
        .compare = t->compare,
        .label = "selftest cost",
        .measuring = t->measuring,
        .blocks_max = size > 0 ? COST_BLOCKS_MAX : COSTS_BLOCKS,
        .whole = !(size > 0),
        .silent = true,
    };

    r.compare.delta = size > 0 ? size / 2 : r.compare.delta;
    if (!(r.measuring.budget > 0))
        r.measuring.budget = COSTS_BUDGET;
    int rc = run_trial_session(&r, s, err);
    if (rc == 0 && (s->comparison.nr != 1 || s->comparison.rows[0].head.failures > 0 ||
                    s->comparison.rows[0].base.failures > 0))
        rc = error_set(err, "%s cannot be measured",
                       a->workload.list.items[0].variant->kernel->name);
    return rc;
}

/* What one real comparison took. */
static int measure_cost_size(struct alone *a, struct selftest_cost_row *row, struct error *err)
{
    struct ab_session s = { .blocks = 0 };
    int rc = run_alone(a, row->size, &s, err);

    if (rc == 0) {
        row->real = s.comparison.rows[0].verdict;
        row->real_blocks = s.blocks;
        row->real_seconds = s.seconds;
    }
    ab_session_release(&s);
    return rc;
}

static int measure_cost_sizes(struct alone *a, const struct evidence *e, struct selftest_cost *c,
                              struct error *err)
{
    const struct trials *t = a->t;

    for (size_t i = 0; i < t->nr_sizes; i++) {
        struct selftest_cost_row *row = &c->rows[c->nr++];
        if (selftest_cost_simulate(e, t->sizes[i], COSTS_TRIALS, &a->random, row, err) ||
            measure_cost_size(a, row, err))
            return -1;
    }
    return 0;
}

static int measure_cost(struct alone *a, struct selftest_cost *c, struct error *err)
{
    struct ab_session s = { .blocks = 0 };
    struct benchmark_name name;

    *c = (struct selftest_cost) { .nr = 0 };
    benchmark_name_of(&a->workload.list.items[0], &a->workload.device, &name);
    snprintf(c->key, sizeof(c->key), "%s", name.key);
    sink_note(a->t->measuring.sink, "%s: blocks of the same against itself\n", c->key);
    int rc = run_alone(a, 0, &s, err);
    if (rc == 0)
        rc = selftest_cost_measure(&s.comparison.items[0].evidence, s.seconds, c, err);
    if (rc == 0)
        rc = measure_cost_sizes(a, &s.comparison.items[0].evidence, c, err);
    ab_session_release(&s);
    return rc ? error_prefix(err, "%s", c->key) : 0;
}

int costs_measure(const struct trials *t, struct selftest_cost *out, struct error *err)
{
    for (size_t i = 0; i < t->workload->list.nr; i++) {
        struct alone a = { .t = t, .workload = *t->workload };
        a.workload.list.items = t->workload->list.items + i;
        a.workload.list.nr = 1;
        random_seed(&a.random, t->seed + i);
        if (measure_cost(&a, &out[i], err))
            return -1;
    }
    return 0;
}

bool costs_fine(const struct selftest_cost *costs, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        for (size_t j = 0; j < costs[i].nr; j++) {
            const struct selftest_cost_row *row = &costs[i].rows[j];
            if (!row->blocks || selftest_interval(row->alarms).low > SELFTEST_ALARMS)
                return false;
        }
    return true;
}

/* ---- placement ---- */

static size_t find_placement_parts(const struct comparison *c, struct placement_part *parts)
{
    size_t nr = 0;

    for (size_t i = 0; i < c->nr_items; i++) {
        const struct compare_item *item = &c->items[i];
        if (item->evidence.design != DESIGN_BLOCKS ||
            !placement_part_find(&item->evidence, &parts[nr]))
            continue;
        snprintf(parts[nr].key, sizeof(parts[nr].key), "%s", item->bench->key);
        nr++;
    }
    return nr;
}

int placements_measure(const struct trials *t, struct placement_part *parts, size_t *nr,
                       struct error *err)
{
    struct ab_request r = {
        .side = { [AB_BASE] = { .name = "as always", .fixed = true },
                  [AB_HEAD] = { .name = "placed anew" } },
        .workload = t->workload,
        .store = t->store,
        .compare = t->compare,
        .label = "selftest placement",
        .measuring = t->measuring,
        .blocks_max = PLACEMENTS_BLOCKS,
        .whole = true,
    };
    struct ab_session s;
    int rc = run_trial_session(&r, &s, err);

    if (rc == 0)
        *nr = find_placement_parts(&s.comparison, parts);
    if (rc == 0 && *nr == 0)
        rc = error_set(err, "no benchmark could be measured");
    ab_session_release(&s);
    return rc;
}
