/* SPDX-License-Identifier: MIT */
#include "judge/trial.h"

#include "base/memory.h"
#include "base/text.h"
#include "core/host_memory.h"
#include "stats/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FLOPs of the oracle for a launch: where all kinds of data are tried, and where time is taken. */
static const double look_flops = 1e8;
/* Beyond that the textbook loops take too long. */
static const double textbook_flops = 3e8;
/* Bytes of all slots of a cell, unless two need more. */
static const size_t slots_bytes = (size_t)64 << 20;

enum { CHECK_SLOTS = 3 };

static int choose_slots(const struct judge_job *job, const struct shape *s)
{
    size_t one = arena_slot_bytes(job->spec, s, job->variant->dtype);
    size_t nr = one > 0 ? slots_bytes / one : SLOTS_MAX;

    return nr < 2 ? 2 : nr > SLOTS_MAX ? SLOTS_MAX : (int)nr;
}

static int check_memory(const struct trial *t, const struct shape *s, int slots, struct error *err)
{
    double one = (double)arena_slot_bytes(t->job->spec, s, t->job->variant->dtype) * slots;
    double all = one * (1 + 2 * (2 + t->job->nr_references));
    double room = (double)host_memory_available("");
    char text[TEXT_UNIT_SIZE], free_text[TEXT_UNIT_SIZE];

    if (all <= room)
        return 0;
    return error_set(err,
                     "judging this shape takes %s of memory, %s are free: choose smaller sizes",
                     text_bytes(all, text), text_bytes(room, free_text));
}

int trial_add_cell(struct trial *t, const struct variant *v, struct error *err)
{
    int i = t->nr_cells++;
    const struct judge_job *job = t->job;

    t->jobs[i] = (struct cell_job) { .guests = v == job->variant ? job->guests : NULL,
                                     .variant = v,
                                     .spec = job->spec,
                                     .shape = t->shape->shape,
                                     .device_spec = job->device->spec,
                                     .processors = t->processors,
                                     .timeout = job->timeout,
                                     .interrupted = job->interrupted };
    t->tallies[i] = (struct tally) { 0 };
    t->tallies[i].tolerance = job->spec->tolerance(job->spec, &t->shape->shape, v->dtype, v->math);
    return cell_open(&t->cells[i], &t->jobs[i], &t->deal, err);
}

/* ---- a window ---- */

/* The first cell is who is judged. A reference that goes wrong is a failure of this program. */
static int pass_on(struct trial *t, int cell, struct error *err)
{
    const struct cell *c = &t->cells[cell];

    if (c->fault.kind == FAULT_NONE)
        return -1; /* err tells */
    if (cell > 0)
        return error_set(err, "the reference %s: %s", c->job->variant->name, c->fault.words);
    *t->fault = c->fault;
    return -1;
}

/* The processors of this round: all that the device has threads for, by lot. */
static void draw_processors(struct trial *t)
{
    size_t order[CPU_SETSIZE], numbers[CPU_SETSIZE], nr = 0;
    int wanted = t->job->device->threads;
    cpu_set_t all;
    struct random r;

    CPU_ZERO(&t->processors);
    sched_getaffinity(0, sizeof(all), &all);
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all))
            numbers[nr++] = i;
    random_seed(&r, random_fresh_seed());
    random_permutation(&r, order, nr);
    for (size_t i = 0; i < nr && (int)i < wanted; i++)
        CPU_SET(numbers[order[i]], &t->processors);
}

int trial_batch(const struct trial *t, int cell, int most)
{
    return t->batch[cell] > 0 && t->batch[cell] < most ? t->batch[cell] : most;
}

static int launch_in(struct trial *t, int cell, const int *slots, int most, uint64_t *ns,
                     struct error *err)
{
    struct cell *c = &t->cells[cell];
    int nr = trial_batch(t, cell, most);

    for (int i = 0; i < nr; i++)
        arena_put(&c->arena, slots[i], t->deal.hands[slots[i]].host, false);
    return cell_window(c, ORDER_LAUNCH, slots, nr, ns, err) ? pass_on(t, cell, err) : 0;
}

static int check_cells(struct trial *t, const int *slots, int nr, struct error *err)
{
    for (int i = 0; i < t->nr_cells; i++) {
        struct cell *c = &t->cells[i];
        if (c->state == CELL_READY &&
            check_slots(c, &t->deal, slots, trial_batch(t, i, nr), &t->tallies[i])) {
            check_quiet(c, err); /* perhaps it is not ready yet */
            return pass_on(t, i, err);
        }
    }
    return 0;
}

int trial_window(struct trial *t, enum deal_kind kind, const int *slots, int nr, double flops,
                 bool backward, uint64_t *ns, struct error *err)
{
    for (int i = 0; i < nr; i++)
        deal_inputs(&t->deal, slots[i], kind);
    for (int i = 0; i < t->nr_cells; i++) {
        int cell = backward ? t->nr_cells - 1 - i : i;
        ns[cell] = 0;
        if (t->cells[cell].state == CELL_READY && launch_in(t, cell, slots, nr, &ns[cell], err))
            return -1;
    }
    for (int i = 0; i < nr; i++)
        deal_look(&t->deal, slots[i], flops);
    return check_cells(t, slots, nr, err);
}

int trial_interrupt(struct trial *t, const int *slots, int nr, double flops, uint64_t within_ns,
                    struct error *err)
{
    struct cell *c = &t->cells[0];
    int done = 0;

    for (int i = 0; i < nr; i++) {
        deal_inputs(&t->deal, slots[i], DEAL_FRESH);
        arena_put(&c->arena, slots[i], t->deal.hands[slots[i]].host, false);
    }
    int rc = cell_interrupt(c, slots, nr, random_below(&t->random, within_ns + 1), &done, err);
    t->interrupted += rc == 0 && done < nr;
    for (int i = 0; rc == 0 && i < nr; i++)
        deal_look(&t->deal, slots[i], flops);
    if (rc == 0)
        rc = check_returned(c, &t->deal, slots, done, &t->tallies[0]);
    if (rc == 0)
        rc = cell_resume(c, err);
    if (rc == 0)
        rc = check_slots(c, &t->deal, slots, nr, &t->tallies[0]);
    return rc ? pass_on(t, 0, err) : 0;
}

/* ---- all kinds of data ---- */

/* `nr` of the slots, by chance. */
static void draw_slots(const struct trial *t, int nr, int *slots)
{
    size_t order[SLOTS_MAX];
    struct random r;

    random_seed(&r, random_fresh_seed());
    random_permutation(&r, order, (size_t)t->deal.slots);
    for (int i = 0; i < nr; i++)
        slots[i] = (int)order[i];
}

/* Twice each, in an order that nobody knows. `least_ns` becomes the time of a launch. */
static int try_kinds(struct trial *t, const int *slots, int most, uint64_t *least_ns,
                     struct error *err)
{
    enum { WINDOWS = 2 * DEAL_NR };
    uint64_t ns[CELLS_MAX] = { 0 };
    size_t order[WINDOWS];

    random_permutation(&t->random, order, WINDOWS);
    for (int i = 0; i < WINDOWS; i++) {
        enum deal_kind kind = (enum deal_kind)(order[i] % DEAL_NR);
        int nr = 1 + (int)random_below(&t->random, (uint64_t)most);
        if (trial_window(t, kind, slots, nr, look_flops, i % 2 == 1, ns, err))
            return -1;
        uint64_t launch = ns[0] / (uint64_t)nr;
        *least_ns = launch < *least_ns ? launch : *least_ns;
    }
    return 0;
}

/* On a busy machine a window may be over before it can be interrupted. */
static int try_interrupts(struct trial *t, const int *slots, int nr, uint64_t within_ns,
                          struct error *err)
{
    enum { WANTED = 2, MOST = 20 };

    for (int i = 0; i < MOST && t->interrupted < WANTED; i++)
        if (trial_interrupt(t, slots, nr, look_flops, within_ns, err))
            return -1;
    return 0;
}

static int try_all_kinds(struct trial *t, struct error *err)
{
    int slots[SLOTS_MAX], most = t->deal.slots < CHECK_SLOTS ? t->deal.slots : CHECK_SLOTS;
    uint64_t ns[CELLS_MAX], least_ns = UINT64_MAX;

    draw_slots(t, most, slots);
    if (trial_window(t, DEAL_FRESH, slots, most, look_flops, false, ns, err) ||
        try_kinds(t, slots, most, &least_ns, err) ||
        try_interrupts(t, slots, most, least_ns * (uint64_t)most, err))
        return -1;
    return check_quiet(&t->cells[0], err) ? pass_on(t, 0, err) : 0;
}

/* ---- the whole ---- */

static double flops_of(const struct judge_job *job, const struct shape *s)
{
    return job->spec->work(job->spec, s, job->variant->dtype).flops;
}

static void note_errors(struct trial *t)
{
    const struct tally *own = &t->tallies[0], *textbook = &t->textbook;
    struct judged_shape *s = t->shape;

    s->tolerance = own->tolerance;
    s->max_error = fmax(s->max_error, own->max);
    s->launches += own->launches;
    s->compared += own->nr;
    s->rms_error = tally_rms(own);
    s->textbook_rms = textbook->nr > 0 ? tally_rms(textbook) : s->textbook_rms;
}

static double roundoff(enum dtype dtype)
{
    static const double unit[DTYPE_NR] = {
        [DTYPE_FP32] = 0x1p-24,
        [DTYPE_BF16] = 0x1p-9,
        [DTYPE_FP16] = 0x1p-11,
        [DTYPE_FP64] = 0x1p-53,
    };

    return unit[dtype];
}

static int check_found(struct trial *t, struct error *err)
{
    struct cell *c = &t->cells[0];

    if (check_precision(&c->fault, &t->tallies[0], &t->textbook, roundoff(t->job->variant->dtype)))
        return pass_on(t, 0, err);
    return 0;
}

static int run_ready(struct trial *t, bool timed, bool begins, struct error *err)
{
    const struct variant *textbook = t->job->textbook;

    t->judgement->supported |= timed;
    if (begins && textbook && textbook != t->job->variant &&
        flops_of(t->job, &t->shape->shape) < textbook_flops && trial_add_cell(t, textbook, err))
        return -1;
    if (begins && try_all_kinds(t, err))
        return -1;
    if (t->nr_cells > 1)
        t->textbook = t->tallies[1];
    if (check_found(t, err))
        return -1;
    if (timed && trial_times(t, err))
        return -1;
    cell_libraries(&t->cells[0], &t->judgement->libraries);
    return check_found(t, err);
}

/* A variant need not take every shape. */
static int run_opened(struct trial *t, bool timed, bool begins, struct error *err)
{
    struct cell *c = &t->cells[0];

    if (c->state == CELL_READY) {
        int rc = run_ready(t, timed, begins, err);
        note_errors(t);
        return rc;
    }
    if (c->state != CELL_UNSUPPORTED)
        return pass_on(t, 0, err);
    t->shape->unsupported = true;
    snprintf(t->shape->why, sizeof(t->shape->why), "%.199s", c->fault.words);
    return 0;
}

static int run_made(struct trial *t, bool timed, bool begins, struct error *err)
{
    const struct judge_job *job = t->job;
    const struct shape *shape = &t->shape->shape;
    int slots = choose_slots(job, shape);

    draw_processors(t);
    if (check_memory(t, shape, slots, err) ||
        deal_open(&t->deal, job->spec, shape, job->variant->dtype, slots, err) ||
        trial_add_cell(t, job->variant, err))
        return -1;
    return run_opened(t, timed, begins, err);
}

int trial_run(const struct judge_job *job, struct judgement *j, struct judged_shape *shape,
              bool timed, bool begins, struct error *err)
{
    struct trial *t = memory_zeroed(1, sizeof(*t));

    t->job = job;
    t->judgement = j;
    t->shape = shape;
    t->fault = &j->fault;
    random_seed(&t->random, random_fresh_seed());
    int rc = run_made(t, timed, begins, err);
    for (int i = 0; i < t->nr_cells; i++)
        cell_close(&t->cells[i]);
    deal_close(&t->deal);
    free(t);
    if (j->fault.kind == FAULT_NONE)
        return rc;
    j->fault_shape = shape->shape;
    return 0;
}
