/* SPDX-License-Identifier: MIT */
#include "judge/checking.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Threads that were left alone may have to wait for a processor before they write. */
enum { QUIET_WINDOWS = 8 };

double tally_rms(const struct tally *t)
{
    return t->nr > 0 ? sqrt(t->squares / t->nr) : 0;
}

double tally_once_rms(const struct tally *t)
{
    return t->nr > 0 ? sqrt(t->once_squares / t->nr) : 0;
}

/* ---- one output ---- */

static unsigned char *previous_of(const struct cell *c, int slot, int output)
{
    return c->previous + (size_t)slot * c->arena.slot_bytes + c->arena.offset[output];
}

/* A wrong row that some launch before this has given, in this slot or another. */
static bool is_stale(const struct cell *c, const struct tensor *t, int output, int64_t row)
{
    size_t bytes = (size_t)tensor_cols(t) * dtype_size(t->dtype);
    const unsigned char *now = (const unsigned char *)t->data + (size_t)row * bytes;

    for (int slot = 0; slot < c->arena.slots; slot++)
        if (c->has_previous[slot] &&
            memcmp(previous_of(c, slot, output) + (size_t)row * bytes, now, bytes) == 0)
            return true;
    return false;
}

static int not_a_number(struct cell *c, const struct tensor *t, int64_t i)
{
    return fault_set(&c->fault, FAULT_UNWRITTEN,
                     "%s[%lld,%lld] was never written, or is no number, when launch() returned",
                     t->name, (long long)(i / tensor_cols(t)), (long long)(i % tensor_cols(t)));
}

static int check_all_finite(struct cell *c, const struct tensor *t)
{
    int64_t nr = tensor_elements(t);

    for (int64_t i = 0; i < nr; i++)
        if (tensor_is_poison(t, tensor_get(t, i)))
            return not_a_number(c, t, i);
    return 0;
}

static int set_wrong_fault(struct cell *c, const struct tensor *t, int output, int64_t row,
                           int64_t col, double expected, const struct tally *tally)
{
    const char *name = t->name;
    double got = tensor_get(t, row * tensor_cols(t) + col);

    if (is_stale(c, t, output, row))
        return fault_set(&c->fault, FAULT_STALE,
                         "%s[%lld,%lld] = %.9g, expected %.9g: row %lld is what an earlier launch "
                         "gave for other inputs",
                         name, (long long)row, (long long)col, got, expected, (long long)row);
    return fault_set(&c->fault, FAULT_WRONG,
                     "%s[%lld,%lld] = %.9g, expected %.9g (error %.3g, tolerance %.3g, relative to "
                     "rms)",
                     name, (long long)row, (long long)col, got, expected, tally->max,
                     tally->tolerance);
}

/* Row i of those that are expected. */
static int check_row(struct cell *c, const struct tensor *t, const struct expected_rows *rows,
                     size_t i, double scale, struct tally *tally)
{
    int64_t cols = tensor_cols(t), row = rows->rows[i];
    const double *expected = rows->values + i * (size_t)cols;
    const double *once = rows->once ? rows->once + i * (size_t)cols : expected;

    for (int64_t j = 0; j < cols; j++) {
        double error = fabs(tensor_get(t, row * cols + j) - expected[j]) / scale;
        double by_rounding = (once[j] - expected[j]) / scale;
        tally->squares += error * error;
        tally->once_squares += by_rounding * by_rounding;
        tally->nr++;
        if (error > tally->max)
            tally->max = error;
        if (!(error <= tally->tolerance))
            return set_wrong_fault(c, t, rows->output, row, j, expected[j], tally);
    }
    return 0;
}

static int check_expected(struct cell *c, const struct test_vectors *v,
                          const struct expected_rows *expected, const struct tensor *t,
                          struct tally *tally)
{
    double scale = vectors_scale(v, expected->output);

    if (check_all_finite(c, t))
        return -1;
    for (size_t i = 0; i < expected->nr; i++)
        if (check_row(c, t, expected, i, scale, tally))
            return -1;
    return 0;
}

/* ---- slots ---- */

static void keep_outputs(struct cell *c, int slot, const struct tensor *t)
{
    for (int i = 0; i < c->arena.nr_tensors; i++)
        if (t[i].role == TENSOR_OUT)
            memcpy(previous_of(c, slot, i), t[i].data, (size_t)tensor_bytes(&t[i]));
    c->has_previous[slot] = true;
}

static int check_slot(struct cell *c, const struct test_vectors *v, int slot, struct tally *tally)
{
    const struct test_vector *vector = &v->vectors[slot];
    struct tensor t[TENSOR_MAX];
    const char *name;

    arena_tensors(&c->arena, slot, t);
    tally->launches++;
    if ((name = arena_changed_input(&c->arena, slot, vector->host)))
        return fault_set(&c->fault, FAULT_INPUTS, "it changed the input %s", name);
    for (int i = 0; i < vector->nr_expected; i++)
        if (check_expected(c, v, &vector->expected[i], &t[vector->expected[i].output], tally))
            return -1;
    if ((name = arena_broken_margin(&c->arena, slot)))
        return fault_set(&c->fault, FAULT_OUTSIDE, "it wrote behind the end of %s", name);
    return 0;
}

int check_slots(struct cell *c, const struct test_vectors *v, const int *slots, int nr,
                struct tally *t)
{
    struct tensor tensors[TENSOR_MAX];
    int rc = 0;

    for (int i = 0; rc == 0 && i < nr; i++)
        rc = check_slot(c, v, slots[i], t);
    for (int i = 0; i < nr; i++) {
        arena_tensors(&c->arena, slots[i], tensors);
        keep_outputs(c, slots[i], tensors);
    }
    return rc;
}

int check_returned(struct cell *c, const struct test_vectors *v, const int *slots, int nr,
                   struct tally *t)
{
    for (int i = 0; i < nr; i++)
        if (check_slot(c, v, slots[i], t)) {
            if (c->fault.kind != FAULT_UNWRITTEN)
                return -1;
            c->fault.kind = FAULT_NONE;
            return fault_set(&c->fault, FAULT_LATE,
                             "launch() had returned, and its result was not there yet: stopped in "
                             "the middle of %d launches it owed that of launch %d",
                             nr, i + 1);
        }
    return 0;
}

static const char *changed_output(const struct cell *c)
{
    struct tensor t[TENSOR_MAX];

    for (int slot = 0; slot < c->arena.slots; slot++) {
        arena_tensors(&c->arena, slot, t);
        for (int i = 0; c->has_previous[slot] && i < c->arena.nr_tensors; i++)
            if (t[i].role == TENSOR_OUT &&
                memcmp(previous_of(c, slot, i), t[i].data, (size_t)tensor_bytes(&t[i])) != 0)
                return t[i].name;
    }
    return NULL;
}

/* 1: it changed something. 0 or -1 as below. */
static int wait_for_change(struct cell *c, struct error *err)
{
    uint64_t ns;

    if (cell_window(c, ORDER_WAIT, NULL, 0, &ns, err))
        return -1;
    return changed_output(c) ? 1 : 0;
}

int check_quiet(struct cell *c, struct error *err)
{
    struct fault before = c->fault;
    const int most = before.kind == FAULT_NONE ? 1 : QUIET_WINDOWS;
    int rc = 0;

    if (c->state != CELL_READY || !c->stopped)
        return before.kind == FAULT_NONE ? 0 : -1;
    c->fault.kind = FAULT_NONE;
    for (int i = 0; rc == 0 && i < most; i++)
        rc = wait_for_change(c, err);
    if (rc > 0)
        return fault_set(&c->fault, FAULT_LATE,
                         "it went on writing %s after launch() had returned: the time of work that "
                         "is not waited for does not count",
                         changed_output(c));
    if (before.kind != FAULT_NONE && c->fault.kind != FAULT_AWAKE)
        c->fault = before;
    return rc == 0 && before.kind == FAULT_NONE ? 0 : -1;
}

int check_precision(struct fault *f, const struct tally *of, const struct honest_errors *honest)
{
    double rms = tally_rms(of);

    if (of->nr < CHECK_RMS_LEAST || honest->nr < CHECK_RMS_LEAST ||
        rms <= honest->factor * fmax(honest->rms, honest->least))
        return 0;
    return fault_set(f, FAULT_PRECISION,
                     "its errors are those of a lower precision: rms %.3g over %.0f elements, %s "
                     "%.3g, and %.0f times that is allowed",
                     rms, of->nr, honest->whose, honest->rms, honest->factor);
}
