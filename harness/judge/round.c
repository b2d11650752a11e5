/* SPDX-License-Identifier: MIT */
#include "judge/round.h"

#include "base/memory.h"
#include "base/text.h"
#include "host/host_memory.h"
#include "judge/round_base.h"
#include "judge/rounding.h"
#include "judge/textbook.h"
#include "stats/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FLOPs of the oracle for a launch: where all kinds of data are tried, and where time is taken. */
static const double look_flops = 1e8;
/* Bytes of all slots of a cell, unless two need more. */
static const size_t slots_bytes = (size_t)64 << 20;

enum { CHECK_SLOTS = 3 };

static int choose_slots(const struct judge_job *job, const struct shape *s)
{
    size_t one = arena_slot_bytes(job->spec, s, job->variant->dtype);
    size_t nr = one > 0 ? slots_bytes / one : SLOTS_MAX;

    return nr < 2 ? 2 : nr > SLOTS_MAX ? SLOTS_MAX : (int)nr;
}

static int check_memory(const struct judge_round *t, const struct shape *s, int slots,
                        struct error *err)
{
    double one = (double)arena_slot_bytes(t->job->spec, s, t->job->variant->dtype) * slots;
    int kept = seen_inputs_differ(t->job->spec, t->job->math) ? 2 : 1;
    double all = one * (kept + 2 * (2 + t->job->nr_references));
    double room = (double)host_memory_available("");
    char text[TEXT_UNIT_SIZE], free_text[TEXT_UNIT_SIZE];

    if (all <= room)
        return 0;
    return error_set(err,
                     "judging this shape takes %s of memory, %s are free: choose smaller sizes",
                     text_bytes(all, text), text_bytes(room, free_text));
}

/* The processors of this round: all that the device has threads for, by lot; for another device all
 * that there are. */
static void draw_processors(struct judge_round *t)
{
    size_t *order = memory_zeroed(2 * PROCESSORS_MAX, sizeof(*order)), nr = 0;
    size_t *numbers = order + PROCESSORS_MAX;
    int wanted = t->job->device->threads ? t->job->device->threads : PROCESSORS_MAX;
    struct processors all;
    struct random r;

    t->processors = (struct processors) { { 0 } };
    processors_of(0, &all);
    for (size_t i = 0; i < PROCESSORS_MAX; i++)
        if (processors_have(&all, i))
            numbers[nr++] = i;
    random_seed(&r, random_fresh_seed());
    random_permutation(&r, order, nr);
    for (size_t i = 0; i < nr && (int)i < wanted; i++)
        processors_add(&t->processors, numbers[order[i]]);
    free(order);
}

/* ---- all kinds of data ---- */

/* `nr` of the slots, by chance. */
static void draw_slots(const struct judge_round *t, int nr, int *slots)
{
    size_t order[SLOTS_MAX];
    struct random r;

    random_seed(&r, random_fresh_seed());
    random_permutation(&r, order, (size_t)t->vectors.slots);
    for (int i = 0; i < nr; i++)
        slots[i] = (int)order[i];
}

/* Twice each, in an order that nobody knows. `least_ns` becomes the time of a launch. */
static int try_kinds(struct judge_round *t, const int *slots, int most, uint64_t *least_ns,
                     struct error *err)
{
    enum { WINDOWS = 2 * INPUTS_NR };
    uint64_t ns[CELLS_MAX] = { 0 };
    size_t order[WINDOWS];

    random_permutation(&t->random, order, WINDOWS);
    for (int i = 0; i < WINDOWS; i++) {
        enum inputs_kind kind = (enum inputs_kind)(order[i] % INPUTS_NR);
        int nr = 1 + (int)random_below(&t->random, (uint64_t)most);
        if (round_window(t, kind, slots, nr, look_flops, i % 2 == 1, ns, err))
            return -1;
        uint64_t launch = ns[0] / (uint64_t)nr;
        *least_ns = launch < *least_ns ? launch : *least_ns;
    }
    return 0;
}

/* On a busy machine a window may be over before it can be interrupted, and many are stopped before
 * anything has returned: what is missing in the end is told. Short launches make a window that is
 * long enough to be hit. Two that were looked at may both have stopped before a second launch did
 * what shows it: where windows take no time there are some more. */
static int try_interrupts(struct judge_round *t, int least, uint64_t launch_ns, struct error *err)
{
    enum { WANTED = 2, SHORT_LEAST = 10, MOST = 40 };
    const uint64_t window_ns = 300000, short_ns = 10000000;
    uint64_t wanted = window_ns / (launch_ns + 1) + 1;
    int slots[SLOTS_MAX], nr = wanted > (uint64_t)t->vectors.slots ? t->vectors.slots : (int)wanted;

    nr = nr < least ? least : nr;
    draw_slots(t, nr, slots);
    const int tries = launch_ns * (uint64_t)nr < short_ns ? SHORT_LEAST : 1;
    for (int i = 0; i < MOST && (i < tries || t->interrupted < WANTED); i++)
        if (round_interrupt(t, slots, nr, launch_ns * (uint64_t)nr, err))
            return -1;
    round_note_middle(t, WANTED);
    return 0;
}

static int try_all_kinds(struct judge_round *t, struct error *err)
{
    int slots[SLOTS_MAX], most = t->vectors.slots < CHECK_SLOTS ? t->vectors.slots : CHECK_SLOTS;
    uint64_t ns[CELLS_MAX], least_ns = UINT64_MAX;

    draw_slots(t, most, slots);
    if (round_window(t, INPUTS_FRESH, slots, most, look_flops, false, ns, err) ||
        try_kinds(t, slots, most, &least_ns, err) || try_interrupts(t, most, least_ns, err))
        return -1;
    return check_quiet(&t->cells[0], err) ? round_pass_on(t, 0, err) : 0;
}

/* ---- the whole ---- */

static void note_errors(struct judge_round *t)
{
    const struct tally *own = &t->tallies[0];
    struct judged_shape *s = t->shape;

    s->tolerance = own->tolerance;
    s->max_error = fmax(s->max_error, own->max);
    s->launches += own->launches;
    s->compared += own->nr;
    s->rms_error = tally_rms(own);
    s->rounding_rms = rounding_measures(t->job->dtype, t->job->math) ? tally_once_rms(own) : 0;
}

/* Later rounds have the textbook variant's of the first: their data are of the same distribution.
 * Nothing is known of int8 and fp8, which no guest can have. */
static struct honest_errors honest_errors(const struct judge_round *t)
{
    const struct judge_job *job = t->job;
    struct honest_errors h = { .least = dtype_roundoff(job->dtype) / 4 };

    if (t->shape->textbook_nr > 0) {
        h.rms = t->shape->textbook_rms;
        h.nr = t->shape->textbook_nr;
        h.factor = CHECK_RMS_FACTOR;
        h.whose = "the textbook variant's is";
    } else if (rounding_measures(job->dtype, job->math)) {
        h.rms = tally_once_rms(&t->tallies[0]);
        h.nr = t->tallies[0].nr;
        h.factor = rounding_factor(job->spec, job->math);
        h.whose = "one rounding gives";
    }
    return h;
}

static int check_found(struct judge_round *t, struct error *err)
{
    struct cell *c = &t->cells[0];
    const struct honest_errors honest = honest_errors(t);

    if (check_precision(&c->fault, &t->tallies[0], &honest))
        return round_pass_on(t, 0, err);
    return 0;
}

static void note_textbook(struct judged_shape *s, const struct tally *textbook)
{
    s->textbook_rms = tally_rms(textbook);
    s->textbook_nr = textbook->nr;
}

static int ask_elsewhere(struct judge_round *t, const struct shape *size, struct error *err)
{
    struct tally errors;

    if (textbook_errors(t, size, &errors, err))
        return -1;
    note_textbook(t->shape, &errors);
    t->shape->textbook_shape = *size;
    t->shape->textbook_is_smaller = true;
    return 0;
}

/* A cell of the textbook variant beside that of who is judged, or its errors at a smaller size. */
static int ask_textbook(struct judge_round *t, struct error *err)
{
    const struct judge_job *job = t->job;
    struct judged_shape *s = t->shape;
    struct shape size;

    if (!job->textbook || job->textbook == job->variant)
        return 0;
    bool quick = textbook_size(job, &s->shape, &size);
    if (quick && shape_equal(&size, &s->shape))
        return round_add_cell(t, job->textbook, err);
    if (quick && ask_elsewhere(t, &size, err))
        return -1;
    s->precision_unchecked = s->textbook_nr < CHECK_RMS_LEAST;
    return 0;
}

static int run_ready(struct judge_round *t, bool timed, bool begins, struct error *err)
{
    t->judgement->supported |= timed;
    if (begins && (ask_textbook(t, err) || try_all_kinds(t, err)))
        return -1;
    if (t->nr_cells > 1)
        note_textbook(t->shape, &t->tallies[1]);
    if (check_found(t, err))
        return -1;
    if (timed && round_times(t, err))
        return -1;
    cell_libraries(&t->cells[0], &t->judgement->libraries);
    return check_found(t, err);
}

/* A variant need not take every shape, but one that it takes it takes in all rounds: the first of
 * them looks at what the others do not look at again, and none may be left out. */
static int note_answer(struct judged_shape *s, struct cell *c)
{
    if (c->state == CELL_READY) {
        s->taken = true;
    } else {
        s->unsupported = true;
        snprintf(s->why, sizeof(s->why), "%.199s", c->fault.words);
    }
    if (!s->taken || !s->unsupported)
        return 0;
    return fault_set(&c->fault, FAULT_FAILED,
                     "it takes this size in some rounds and refuses it in others: %s",
                     s->why[0] ? s->why : "it does not say why");
}

static int run_opened(struct judge_round *t, bool timed, bool begins, struct error *err)
{
    struct cell *c = &t->cells[0];

    if ((c->state != CELL_READY && c->state != CELL_UNSUPPORTED) || note_answer(t->shape, c))
        return round_pass_on(t, 0, err);
    if (c->state == CELL_UNSUPPORTED)
        return 0;
    int rc = run_ready(t, timed, begins, err);
    note_errors(t);
    return rc;
}

static int run_made(struct judge_round *t, bool timed, bool begins, struct error *err)
{
    const struct judge_job *job = t->job;
    const struct shape *shape = &t->shape->shape;
    int slots = choose_slots(job, shape);

    draw_processors(t);
    if (check_memory(t, shape, slots, err) ||
        vectors_open(&t->vectors, job->spec, shape, job->dtype, job->math, slots, err) ||
        round_add_cell(t, job->variant, err))
        return -1;
    return run_opened(t, timed, begins, err);
}

int round_run(const struct judge_job *job, struct judgement *j, struct judged_shape *shape,
              bool timed, bool begins, struct error *err)
{
    struct judge_round *t = memory_zeroed(1, sizeof(*t));

    t->job = job;
    t->judgement = j;
    t->shape = shape;
    t->fault = &j->fault;
    random_seed(&t->random, random_fresh_seed());
    int rc = run_made(t, timed, begins, err);
    for (int i = 0; i < t->nr_cells; i++)
        cell_close(&t->cells[i]);
    vectors_close(&t->vectors);
    free(t);
    if (j->fault.kind == FAULT_NONE)
        return rc;
    j->fault_shape = shape->shape;
    return 0;
}
