/* SPDX-License-Identifier: MIT */
#include "judge/round_base.h"

int round_add_cell(struct judge_round *t, const struct variant *v, struct error *err)
{
    int i = t->nr_cells++;
    const struct judge_job *job = t->job;

    /* The textbook's may be on the host: its errors are the measure whatever the device. */
    const bool there = v->device == job->device->kind && device_lending_of(v->device);

    t->jobs[i] = (struct cell_job) { .guests = v == job->variant ? job->guests : NULL,
                                     .variant = v,
                                     .spec = job->spec,
                                     .shape = t->shape->shape,
                                     .reference = v != job->variant,
                                     .device_spec = v->device == job->device->kind
                                                        ? job->device->spec
                                                        : device_kind_name(v->device),
                                     .device = there ? job->device : NULL,
                                     .processors = t->processors,
                                     .timeout = job->timeout,
                                     .interrupted = job->interrupted };
    t->tallies[i] = (struct tally) { 0 };
    t->tallies[i].tolerance = job->spec->tolerance(job->spec, &t->shape->shape, v->dtype, v->math);
    return cell_open(&t->cells[i], &t->jobs[i], &t->vectors, err);
}

int round_pass_on(struct judge_round *t, int cell, struct error *err)
{
    const struct cell *c = &t->cells[cell];

    if (c->fault.kind == FAULT_NONE)
        return -1; /* err tells */
    if (cell > 0)
        return error_set(err, "the reference %s: %s", c->job->variant->name, c->fault.words);
    *t->fault = c->fault;
    return -1;
}

int round_batch(const struct judge_round *t, int cell, int most)
{
    return t->batch[cell] > 0 && t->batch[cell] < most ? t->batch[cell] : most;
}

static int launch_in(struct judge_round *t, int cell, const int *slots, int most, uint64_t *ns,
                     struct error *err)
{
    struct cell *c = &t->cells[cell];
    int nr = round_batch(t, cell, most);

    for (int i = 0; i < nr; i++)
        if (cell_put(c, &t->vectors, slots[i], PUT_LAUNCH, err))
            return -1;
    return cell_window(c, ORDER_LAUNCH, slots, nr, ns, err) ? round_pass_on(t, cell, err) : 0;
}

static int check_cells(struct judge_round *t, const int *slots, int nr, struct error *err)
{
    for (int i = 0; i < t->nr_cells; i++) {
        struct cell *c = &t->cells[i];
        if (c->state == CELL_READY &&
            check_slots(c, &t->vectors, slots, round_batch(t, i, nr), &t->tallies[i])) {
            check_quiet(c, err); /* perhaps it is not ready yet */
            return round_pass_on(t, i, err);
        }
    }
    return 0;
}

int round_window(struct judge_round *t, enum inputs_kind kind, const int *slots, int nr,
                 double flops, bool backward, uint64_t *ns, struct error *err)
{
    for (int i = 0; i < nr; i++)
        vectors_fill(&t->vectors, slots[i], kind);
    for (int i = 0; i < t->nr_cells; i++) {
        int cell = backward ? t->nr_cells - 1 - i : i;
        ns[cell] = 0;
        if (t->cells[cell].state == CELL_READY && launch_in(t, cell, slots, nr, &ns[cell], err))
            return -1;
    }
    for (int i = 0; i < nr; i++)
        vectors_expect(&t->vectors, slots[i], flops);
    return check_cells(t, slots, nr, err);
}

/* Of these windows it is asked whether results are there, every element of them, and not how exact
 * they are: a busy machine makes many, and a tolerance is not for the largest of all their errors.
 */
static const double is_there_flops = 2e4;

/* Launches on a device are returned from long before their work is done, so that most of a window
 * has no middle: half of the moments are in its first part. One in four does not wait for a return:
 * a first launch that does the work of all would be over by then, and all with it. */
static struct moment draw_moment(struct judge_round *t, uint64_t within_ns)
{
    uint64_t part = t->jobs[0].device ? within_ns >> random_below(&t->random, 6) : within_ns;
    bool returned = random_below(&t->random, 4) > 0;

    return (struct moment) { returned, random_below(&t->random, part + 1) };
}

static int put_anew(struct judge_round *t, int slot, enum inputs_kind kind, enum put what,
                    struct error *err)
{
    vectors_fill(&t->vectors, slot, kind);
    return cell_put(&t->cells[0], &t->vectors, slot, what, err);
}

/* The launch behind those that have returned may be running, and none behind it has begun. So who
 * has read their inputs worked ahead, for who knows how many at once, and that is the result of
 * other inputs now. Half of them differ by one element, and in nothing else that could be looked
 * at. */
static int change_ahead(struct judge_round *t, const int *slots, int done, int nr,
                        struct error *err)
{
    for (int i = done + 1; i < nr; i++) {
        bool all = random_below(&t->random, 2) == 0;
        if (put_anew(t, slots[i], all ? INPUTS_FRESH : INPUTS_NEAR, all ? PUT_LAUNCH : PUT_INPUTS,
                     err))
            return -1;
    }
    return 0;
}

int round_interrupt(struct judge_round *t, const int *slots, int nr, uint64_t within_ns,
                    struct error *err)
{
    const struct moment at = draw_moment(t, within_ns);
    struct cell *c = &t->cells[0];
    int done = 0;

    for (int i = 0; i < nr; i++)
        if (put_anew(t, slots[i], INPUTS_FRESH, PUT_LAUNCH, err))
            return -1;
    int rc = cell_interrupt(c, slots, nr, within_ns, &at, &done, err);
    t->shape->middle.tried++;
    t->interrupted += rc == 0 && done > 0 && done < nr;
    if (rc == 0)
        rc = change_ahead(t, slots, done, nr, err);
    for (int i = 0; rc == 0 && i < nr; i++)
        vectors_expect(&t->vectors, slots[i], is_there_flops);
    if (rc == 0)
        rc = check_returned(c, &t->vectors, slots, done, &t->tallies[0]);
    if (rc == 0)
        rc = cell_resume(c, slots, nr, err);
    if (rc == 0)
        rc = check_slots(c, &t->vectors, slots, nr, &t->tallies[0]);
    return rc ? round_pass_on(t, 0, err) : 0;
}

void round_note_middle(struct judge_round *t, int wanted)
{
    struct judged_middle *m = &t->shape->middle;

    m->looked_at += t->interrupted;
    m->wanted += wanted;
    m->missing += t->interrupted < wanted ? wanted - t->interrupted : 0;
    t->interrupted = 0;
}
