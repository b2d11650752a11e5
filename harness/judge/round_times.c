/* SPDX-License-Identifier: MIT */
/*
 * Time, in windows: each has as many launches as are long against what the clock itself takes, each
 * with inputs of its own that it has not had before. All cells get the same data, in turn, forwards
 * and backwards, and every launch is looked at. One sampling rule, that of `harness run`, says when
 * all of them have enough.
 */
#include "judge/round_base.h"

#include "core/clock.h"

#include <math.h>
#include <stdlib.h>

/* A window is that much longer than the clock's own share of it, and at least so long. */
static const double window_shares = 100, window_least_ns = 1e6;
/* FLOPs of the oracle for a launch that is timed, and for the last of all. */
static const double look_flops = 2e6, last_flops = 4e9;
enum { INTERRUPTED = 4, INTERRUPTED_LEAST = 2, INTERRUPTED_MOST = 30 };
enum { FIRST_BATCH = 4, FIRST_WINDOWS = 3, WARM_WINDOWS_MOST = 20 };
/* Making inputs and looking at outputs takes longer than what is measured: then it ends, too. */
static const double wall_factor = 40;

struct samples {
    uint64_t *items; /* ns of a launch */
    size_t nr, capacity;
    double elapsed_ns;
};

struct timing {
    struct judge_round *round;
    struct samples of[CELLS_MAX];
    uint64_t began;
    int batch, windows;
    int interrupted;
    int next, last;         /* slots: the next, and the last that the judged variant had */
    uint64_t least_ns;      /* of the judged variant's windows of this batch */
    uint64_t ns[CELLS_MAX]; /* of the last window */
};

static void keep_sample(struct samples *s, uint64_t ns, int launches)
{
    s->items = array_grow(s->items, s->nr, &s->capacity, sizeof(*s->items));
    s->items[s->nr++] = ns / (uint64_t)launches;
    s->elapsed_ns += (double)ns;
}

/* As many slots as the fastest cell launches; where there are more, they come round. */
static int next_slots(struct timing *w, int slots[SLOTS_MAX])
{
    const struct judge_round *t = w->round;
    int own = round_batch(t, 0, w->batch);

    for (int i = 0; i < w->batch; i++)
        slots[i] = (w->next + i) % t->vectors.slots;
    w->last = slots[own - 1];
    w->next = (slots[w->batch - 1] + 1) % t->vectors.slots;
    return own;
}

static int take_window(struct timing *w, bool counts, struct error *err)
{
    struct judge_round *t = w->round;
    int slots[SLOTS_MAX];

    next_slots(w, slots);
    if (round_window(t, INPUTS_FRESH, slots, w->batch, look_flops, w->windows++ % 2 == 1, w->ns,
                     err))
        return -1;
    if (w->least_ns == 0 || w->ns[0] < w->least_ns)
        w->least_ns = w->ns[0];
    for (int i = 0; counts && i < t->nr_cells; i++)
        if (w->ns[i])
            keep_sample(&w->of[i], w->ns[i], round_batch(t, i, w->batch));
    return 0;
}

/* One window in four. On a busy machine some are over before they could be interrupted: as many as
 * are wanted, but not for ever. */
static int interrupt_window(struct timing *w, struct error *err)
{
    int slots[SLOTS_MAX], nr = next_slots(w, slots);

    w->interrupted++;
    return round_interrupt(w->round, slots, nr, w->least_ns, err);
}

/* How many launches are long against the clock's own share, for each cell. */
static void choose_batches(struct timing *w)
{
    struct judge_round *t = w->round;
    const double window = fmax(window_least_ns, window_shares * t->cells[0].overhead_ns);
    int most = 1;

    for (int i = 0; i < t->nr_cells; i++) {
        double launch = (double)w->ns[i] / round_batch(t, i, w->batch);
        double batch = launch > 0 ? ceil(window / launch) : 1;
        t->batch[i] = batch > t->vectors.slots ? t->vectors.slots : (int)batch;
        most = t->batch[i] > most ? t->batch[i] : most;
    }
    w->batch = most;
    w->least_ns = 0;
}

static int warm_up_cells(struct timing *w, struct error *err)
{
    struct judge_round *t = w->round;
    const double wanted = t->job->sampling.warmup * 1e9;
    double spent = 0;

    w->batch = t->vectors.slots < FIRST_BATCH ? t->vectors.slots : FIRST_BATCH;
    for (int i = 0; i < FIRST_WINDOWS; i++) {
        if (take_window(w, false, err))
            return -1;
        choose_batches(w);
    }
    for (int i = 0; i < WARM_WINDOWS_MOST && spent < wanted; i++) {
        if (take_window(w, false, err))
            return -1;
        spent += (double)w->ns[0];
    }
    return 0;
}

static bool has_enough_samples(const struct timing *w)
{
    const struct sampling *rule = &w->round->job->sampling;
    double wall = (double)(clock_ns() - w->began) * 1e-9;

    if (rule->iterations <= 0 && w->of[0].nr >= 3 && wall > wall_factor * rule->max_time)
        return true;
    for (int i = 0; i < w->round->nr_cells; i++) {
        const struct samples *s = &w->of[i];
        if (w->round->cells[i].state == CELL_READY &&
            sampling_decide(rule, s->items, s->nr, s->elapsed_ns * 1e-9) == STOP_NONE)
            return false;
    }
    return true;
}

/* The last launch of all, every element. */
static int look_at_last(struct timing *w, struct error *err)
{
    struct judge_round *t = w->round;
    int slot = w->last;

    vectors_expect(&t->vectors, slot, last_flops);
    if (check_slots(&t->cells[0], &t->vectors, &slot, 1, &t->tallies[0])) {
        *t->fault = t->cells[0].fault;
        return -1;
    }
    if (check_quiet(&t->cells[0], err) == 0)
        return 0;
    *t->fault = t->cells[0].fault;
    return -1;
}

static double *as_doubles(const struct samples *s)
{
    double *x = memory_zeroed(s->nr, sizeof(*x));

    for (size_t i = 0; i < s->nr; i++)
        x[i] = (double)s->items[i];
    stats_sort(x, s->nr);
    return x;
}

static void note_time(struct judged_time *to, const struct samples *s)
{
    double *x = as_doubles(s);

    to->measured = true;
    to->samples += s->nr;
    to->interval = stats_quantile_interval(x, s->nr, 0.5, 0.95);
    to->rounds_ns = memory_resize(to->rounds_ns, (size_t)to->nr_rounds + 1, sizeof(uint64_t));
    to->rounds_ns[to->nr_rounds++] = (uint64_t)(stats_quantile(x, s->nr, 0.5) + 0.5);
    free(x);
}

/* Cells are in the order of the references, but for those that came for their errors. */
static void note_times(struct timing *w)
{
    struct judge_round *t = w->round;
    const struct judge_job *job = t->job;
    struct judged_shape *shape = t->shape;

    for (int i = 0; i < t->nr_cells; i++) {
        const struct variant *v = t->cells[i].job->variant;
        if (i == 0)
            note_time(&shape->own, &w->of[0]);
        for (int r = 0; i > 0 && r < job->nr_references; r++)
            if (job->references[r] == v && w->of[i].nr)
                note_time(&shape->references[r], &w->of[i]);
    }
    double window = (double)shape->own.rounds_ns[shape->own.nr_rounds - 1] * t->batch[0];
    shape->batch = t->batch[0];
    shape->clock_share = fmin(1, t->cells[0].overhead_ns / fmax(window, 1));
    shape->timed = true;
}

/* The references come in place of the textbook's cell, which is slow. */
static int open_references(struct judge_round *t, struct error *err)
{
    while (t->nr_cells > 1)
        cell_close(&t->cells[--t->nr_cells]);
    for (int r = 0; r < t->job->nr_references; r++)
        if (round_add_cell(t, t->job->references[r], err))
            return -1;
    return 0;
}

int round_times(struct judge_round *t, struct error *err)
{
    struct timing w = { .round = t, .began = clock_ns() };

    int rc = open_references(t, err) || warm_up_cells(&w, err) ? -1 : 0;

    while (rc == 0 && !has_enough_samples(&w)) {
        rc = take_window(&w, true, err);
        if (rc == 0 && t->batch[0] > 1 && random_below(&t->random, INTERRUPTED) == 0)
            rc = interrupt_window(&w, err);
    }
    while (rc == 0 && t->batch[0] > 1 && t->interrupted < INTERRUPTED_LEAST &&
           w.interrupted < INTERRUPTED_MOST)
        rc = interrupt_window(&w, err);
    round_note_middle(t, t->batch[0] > 1 ? INTERRUPTED_LEAST : 0);
    if (rc == 0)
        rc = look_at_last(&w, err);
    if (rc == 0)
        note_times(&w);
    for (int i = 0; i < CELLS_MAX; i++)
        free(w.of[i].items);
    return rc;
}
