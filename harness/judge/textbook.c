/* SPDX-License-Identifier: MIT */
#include "judge/textbook.h"

#include "base/memory.h"
#include "judge/round_base.h"

#include <math.h>
#include <stdlib.h>

/* Beyond that the loops take too long; and FLOPs of the oracle for a launch of a smaller size. */
static const double most_flops = 3e8, look_flops = 1e8;
/* A tolerance is derived from how errors grow with the dims: where that of two sizes is the same
 * but for this share, so are the errors. */
static const double same_share = 0.02;

/* ---- which size ---- */

static double flops_of(const struct judge_job *job, const struct shape *s)
{
    return job->spec->work(job->spec, s, job->dtype, job->math).flops;
}

static bool errs_as(const struct judge_job *job, const struct shape *s, const struct shape *whole)
{
    const struct kernel *k = job->spec;

    if (k->refuses && k->refuses(k, s))
        return false;
    double of_whole = k->tolerance(k, whole, job->dtype, job->math);
    double of_part = k->tolerance(k, s, job->dtype, job->math);
    return fabs(of_part - of_whole) <= same_share * of_whole;
}

/* Of the dims that errors do not depend on the largest. false: there is none. */
static bool halve_one(const struct judge_job *job, const struct shape *whole, struct shape *s)
{
    int largest = -1;

    for (int i = 0; i < SHAPE_MAX && job->spec->dims[i]; i++) {
        struct shape half = *s;
        half.dim[i] /= 2;
        if (half.dim[i] > 0 && (largest < 0 || s->dim[i] > s->dim[largest]) &&
            errs_as(job, &half, whole) && flops_of(job, &half) < flops_of(job, s))
            largest = i;
    }
    if (largest >= 0)
        s->dim[largest] /= 2;
    return largest >= 0;
}

bool textbook_size(const struct judge_job *job, const struct shape *s, struct shape *size)
{
    *size = *s;
    while (flops_of(job, size) >= most_flops)
        if (!halve_one(job, s, size))
            return false;
    return true;
}

/* ---- its errors ---- */

static int launch_twice(struct judge_round *t, struct error *err)
{
    enum { SLOTS = 2 };
    static const int slots[SLOTS] = { 0, 1 };
    const struct judge_job *job = t->job;
    uint64_t ns[CELLS_MAX];

    if (vectors_open(&t->vectors, job->spec, &t->shape->shape, job->dtype, job->math, SLOTS, err) ||
        round_add_cell(t, job->textbook, err))
        return -1;
    return round_window(t, INPUTS_FRESH, slots, SLOTS, look_flops, false, ns, err);
}

int textbook_errors(const struct judge_round *t, const struct shape *size, struct tally *errors,
                    struct error *err)
{
    struct judge_round *own = memory_zeroed(1, sizeof(*own));
    struct judged_shape shape = { .shape = *size };
    struct fault fault = { .kind = FAULT_NONE };

    own->job = t->job;
    own->shape = &shape;
    own->fault = &fault;
    own->processors = t->processors;
    int rc = launch_twice(own, err);
    if (rc && fault.kind != FAULT_NONE)
        error_set(err, "the reference %s: %s", t->job->textbook->name, fault.words);
    *errors = own->tallies[0];
    for (int i = 0; i < own->nr_cells; i++)
        cell_close(&own->cells[i]);
    vectors_close(&own->vectors);
    free(own);
    return rc;
}
