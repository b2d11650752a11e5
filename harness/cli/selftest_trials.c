/* SPDX-License-Identifier: MIT */
#include "cli/selftest_trials.h"

#include "base/random.h"
#include "cli/ab.h"
#include "cli/occasion.h"
#include "cli/terminal.h"
#include "core/clock.h"

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
    struct benchmark_name *names; /* of the choice's benchmarks */
    double *plant;                /* what is planted in each, now */
    const char **planted;         /* keys of those in which something is */
    size_t nr_planted;
    bool *useless; /* could not be measured or planted before */
    struct random random;
    struct progress progress;
    uint64_t start;
    int done, total; /* comparisons */
};

int trials_launches(const struct trials *t)
{
    int launches = t->choice->suite.launches;

    return t->interleaved ? (launches + AB_LAUNCHES - 1) / AB_LAUNCHES * AB_LAUNCHES : launches;
}

/* Warm-up, probe and checks cost about as much again as the shortest sampling. */
double trials_seconds(const struct trials *t, int runs)
{
    struct sampling s = t->choice->suite.sampling;

    if (t->interleaved)
        s = ab_sampling(&s);
    double one = s.iterations > 0 ? 0.02 : s.max_time + 2 * s.warmup + 0.02;
    double run = trials_launches(t) * (0.05 + one * (double)t->choice->list.nr);
    if (t->interleaved && t->budget > 0)
        run = fmin(run, t->budget / AB_SIDES);
    return runs * run;
}

char *trials_time(double seconds, char text[TRIALS_TIME_SIZE])
{
    snprintf(text, TRIALS_TIME_SIZE, "%d:%02d", (int)seconds / 60, (int)seconds % 60);
    return text;
}

static void begin(struct series *s, const struct trials *t, const char *kind, int total,
                  struct selftest *out)
{
    size_t nr = t->choice->list.nr;

    *s = (struct series) { .t = t, .start = clock_ns(), .total = total };
    snprintf(out->kind, sizeof(out->kind), "%s%s", kind, t->interleaved ? "-ab" : "");
    out->delta = t->compare.delta;
    out->q = t->compare.q;
    out->launches = trials_launches(t);
    out->benchmarks = nr;
    selftest_begin(&s->builder, out);
    s->names = memory_zeroed(nr + 1, sizeof(*s->names));
    for (size_t i = 0; i < nr; i++)
        benchmark_name_of(&t->choice->list.items[i], &t->choice->device, &s->names[i]);
    s->plant = memory_zeroed(nr + 1, sizeof(*s->plant));
    s->planted = memory_zeroed(nr + 1, sizeof(*s->planted));
    s->useless = memory_zeroed(nr + 1, sizeof(*s->useless));
    random_seed(&s->random, t->seed);
    progress_init(&s->progress);
}

static void end(struct series *s)
{
    selftest_end(&s->builder);
    free(s->names);
    free(s->plant);
    free(s->planted);
    free(s->useless);
}

static void tell(const struct series *s, double size)
{
    double spent = (double)(clock_ns() - s->start) * 1e-9;
    char left[TRIALS_TIME_SIZE];

    terminal_note("comparison %d of %d", s->done + 1, s->total);
    if (size > 0)
        terminal_note(", %g %% planted in %zu of %zu", 100 * size, s->nr_planted,
                      s->t->choice->list.nr);
    if (s->done > 0)
        terminal_note(": left about %s", trials_time(spent / s->done * (s->total - s->done), left));
    terminal_note("\n");
}

/* A random tenth of what can be measured, at least one. */
static int choose(struct series *s, double size, struct error *err)
{
    size_t nr = s->t->choice->list.nr, wanted = (nr + 9) / 10;
    size_t *order = memory_zeroed(nr, sizeof(*order));

    s->nr_planted = 0;
    random_permutation(&s->random, order, nr);
    for (size_t i = 0; i < nr; i++) {
        size_t at = order[i];
        bool chosen = s->nr_planted < wanted && !s->useless[at];
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
    for (size_t i = 0; i < s->t->choice->list.nr; i++)
        s->useless[i] |= !has_fine_row(c, s->names[i].key);
}

static int count(struct series *s, const struct comparison *c, double size, struct error *err)
{
    note_useless(s, c);
    s->done++;
    return selftest_count(&s->builder, c, size, s->planted, s->nr_planted, err);
}

static int run_once(struct series *s, const double *plant, struct records *out, struct error *err)
{
    struct occasion o = {
        .choice = s->t->choice,
        .store = s->t->store,
        .label = plant ? "selftest planted" : "selftest",
        .plant = plant,
        .case_timeout = s->t->case_timeout,
        .memory_limit = s->t->memory_limit,
        .once = s->t->once,
        .progress = &s->progress,
        .interrupted = s->t->interrupted,
    };

    return occasion_run(&o, out, err);
}

static int compare_records(struct series *s, const struct records *base, const struct records *head,
                           double size, struct error *err)
{
    struct comparison c = { 0 };
    int rc = compare_run(base, head, &s->t->compare, &c, err);

    if (rc == 0)
        rc = count(s, &c, size, err);
    comparison_release(&c);
    return rc;
}

/* Both sides measured now, in turn; nothing is planted where the size is 0. */
static int compare_interleaved(struct series *s, double size, struct error *err)
{
    struct ab_request r = {
        .side = { [AB_BASE] = { .name = "base" },
                  [AB_HEAD] = { .name = "head", .plant = size > 0 ? s->plant : NULL } },
        .choice = s->t->choice,
        .store = s->t->store,
        .compare = s->t->compare,
        .label = "selftest",
        .budget = s->t->budget,
        .blocks_max = trials_launches(s->t) / AB_LAUNCHES,
        .case_timeout = s->t->case_timeout,
        .memory_limit = s->t->memory_limit,
        .once = s->t->once,
        .silent = !s->progress.terminal,
        .interrupted = s->t->interrupted,
    };
    struct ab_session session;
    int rc = ab_session_run(&r, &session, err);

    if (rc == 0 && session.end == AB_INTERRUPTED)
        rc = error_set(err, "interrupted");
    if (rc == 0)
        rc = count(s, &session.comparison, size, err);
    ab_session_release(&session);
    return rc;
}

static int compare_runs(struct series *s, double size, struct error *err)
{
    struct records base = { 0 }, head = { 0 };
    int rc = run_once(s, NULL, &base, err);

    if (rc == 0)
        rc = run_once(s, s->plant, &head, err);
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
        tell(s, 0);
        rc = compare_interleaved(s, 0, err);
    }
    return rc;
}

static int aa_run_after_run(struct series *s, struct error *err)
{
    struct records before = { 0 };
    int rc = run_once(s, NULL, &before, err);

    while (rc == 0 && s->done < s->total) {
        struct records now = { 0 };
        tell(s, 0);
        rc = run_once(s, NULL, &now, err);
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

    begin(&s, t, "aa", comparisons, out);
    int rc = t->interleaved ? aa_in_turn(&s, err) : aa_run_after_run(&s, err);
    end(&s);
    return rc;
}

int trials_power(const struct trials *t, int repeats, struct selftest *out, struct error *err)
{
    size_t nr = t->nr_sizes, order[SELFTEST_SIZES_MAX];
    struct series s;
    int rc = 0;

    begin(&s, t, "power", repeats * (int)nr, out);
    for (int i = 0; rc == 0 && i < repeats; i++) {
        random_permutation(&s.random, order, nr);
        for (size_t j = 0; rc == 0 && j < nr; j++) {
            double size = t->sizes[order[j]];
            rc = choose(&s, size, err);
            if (rc)
                break;
            tell(&s, size);
            rc = t->interleaved ? compare_interleaved(&s, size, err) : compare_runs(&s, size, err);
        }
    }
    end(&s);
    return rc;
}
