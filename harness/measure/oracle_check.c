/* SPDX-License-Identifier: MIT */
#include "measure/oracle_check.h"

#include "base/memory.h"
#include "stats/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the oracle may spend on rows, in FLOPs: well under a second of scalar double code. */
static const double row_budget = 4e8;
enum { FIRST_ROWS = 4, LAST_ROWS = 20, LEAST_ROWS = 32 };

bool seen_inputs_differ(const struct kernel *k, enum math math)
{
    return math_rounds_weights(math) && k->round_weight;
}

int64_t seen_inputs_bytes(const struct benchmark *bench)
{
    const struct variant *v = bench->variant;
    struct tensor t[TENSOR_MAX];
    int64_t bytes = 0;
    int nr = v->kernel->layout(v->kernel, &bench->shape, v->dtype, t);

    for (int i = 0; seen_inputs_differ(v->kernel, v->math) && i < nr; i++)
        bytes += t[i].role == TENSOR_WEIGHT ? tensor_bytes(&t[i]) : 0;
    return bytes;
}

void seen_inputs_make(struct seen_inputs *s, const struct kernel *k, const struct shape *shape,
                      const struct tensor *host, int nr, enum math math)
{
    *s = (struct seen_inputs) { .own = { false } };
    memcpy(s->tensor, host, sizeof(s->tensor));
    for (int i = 0; seen_inputs_differ(k, math) && i < nr; i++) {
        size_t bytes = (size_t)tensor_bytes(&host[i]);
        if (host[i].role != TENSOR_WEIGHT)
            continue;
        s->own[i] = true;
        s->tensor[i].data = memory_zeroed(1, bytes + 1);
        memcpy(s->tensor[i].data, host[i].data, bytes);
        k->round_weight(k, shape, &s->tensor[i], math);
    }
}

void seen_inputs_release(struct seen_inputs *s)
{
    for (int i = 0; i < TENSOR_MAX; i++)
        if (s->own[i])
            free(s->tensor[i].data);
    *s = (struct seen_inputs) { .own = { false } };
}

static int compare_int64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static size_t affordable_rows(const struct buffers *b, int64_t rows, bool all_rows)
{
    double fixed, per_row;

    b->kernel->oracle_cost(b->kernel, &b->shape, &fixed, &per_row);
    double affordable = all_rows || per_row <= 0 ? (double)rows : row_budget / per_row;
    if (affordable < LEAST_ROWS)
        affordable = LEAST_ROWS;
    return affordable < (double)rows ? (size_t)affordable : (size_t)rows;
}

/* `nr` different rows in ascending order: both ends, then a random choice (Floyd's would need a
 * set; drawing a few more and dropping repeats is simpler and as good here). */
static size_t choose_rows(int64_t *rows, size_t nr, int64_t total, uint64_t seed)
{
    struct random r;
    size_t kept = 0;

    for (size_t i = 0; i < nr; i++) {
        if ((int64_t)nr == total)
            rows[i] = (int64_t)i;
        else if (i < FIRST_ROWS)
            rows[i] = (int64_t)i;
        else if (i < FIRST_ROWS + LAST_ROWS)
            rows[i] = total - 1 - (int64_t)(i - FIRST_ROWS);
        else
            break;
        kept++;
    }
    random_seed(&r, seed);
    for (; kept < nr; kept++)
        rows[kept] = (int64_t)random_below(&r, (uint64_t)total);
    qsort(rows, nr, sizeof(*rows), compare_int64);
    size_t unique = 0;
    for (size_t i = 0; i < nr; i++)
        if (i == 0 || rows[i] != rows[unique - 1])
            rows[unique++] = rows[i];
    return unique;
}

static double root_mean_square(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return n > 0 ? sqrt(sum / (double)n) : 0;
}

static double *ask_oracle(const struct expected *e, const struct buffers *b,
                          const struct tensor *inputs)
{
    size_t cols = (size_t)tensor_cols(&b->host[e->output]);
    double *values = memory_zeroed(e->nr_rows * cols + 1, sizeof(*values));

    b->kernel->oracle(b->kernel, &b->shape, inputs, e->output, e->rows, e->nr_rows, values);
    return values;
}

static void compute_expected(struct expected *e, const struct buffers *b, const struct tensor *seen,
                             bool differs, int output, bool all_rows, uint64_t seed)
{
    const struct tensor *t = &b->host[output];
    int64_t rows = tensor_rows(t), cols = tensor_cols(t);
    size_t nr = affordable_rows(b, rows, all_rows);

    e->output = output;
    e->rows = memory_zeroed(nr ? nr : 1, sizeof(*e->rows));
    e->nr_rows = choose_rows(e->rows, nr, rows, seed);
    e->values = ask_oracle(e, b, seen);
    e->unrounded = differs ? ask_oracle(e, b, b->host) : NULL;
    e->rms = root_mean_square(e->values, e->nr_rows * (size_t)cols);
}

void check_init(struct check *c, const struct buffers *b, enum math math, double tolerance,
                bool all_rows, uint64_t seed)
{
    bool rounds = seen_inputs_differ(b->kernel, math);
    struct seen_inputs seen;
    double compared = 0, elements = 0;

    *c = (struct check) { .tolerance = tolerance, .weights_error = rounds ? 0 : NAN };
    seen_inputs_make(&seen, b->kernel, &b->shape, b->host, b->nr, math);
    for (int i = 0; i < b->nr; i++) {
        if (b->host[i].role != TENSOR_OUT)
            continue;
        struct expected *e = &c->outputs[c->nr_outputs++];
        compute_expected(e, b, seen.tensor, rounds, i, all_rows, seed);
        compared += (double)e->nr_rows * (double)tensor_cols(&b->host[i]);
        elements += (double)tensor_elements(&b->host[i]);
    }
    c->checked = elements > 0 ? compared / elements : 0;
    seen_inputs_release(&seen);
}

bool check_expects_numbers(const struct check *c, const struct buffers *b)
{
    for (int i = 0; i < c->nr_outputs; i++) {
        const struct expected *e = &c->outputs[i];
        const struct tensor *t = &b->host[e->output];
        size_t nr = e->nr_rows * (size_t)tensor_cols(t);
        for (size_t j = 0; j < nr; j++)
            if (!dtype_holds(t->dtype, e->values[j]))
                return false;
    }
    return true;
}

void check_again(struct check *c, double tolerance)
{
    c->tolerance = tolerance;
    c->max_error = 0;
    c->weights_error = isnan(c->weights_error) ? (double)NAN : 0;
    c->where[0] = '\0';
}

void check_release(struct check *c)
{
    for (int i = 0; i < c->nr_outputs; i++) {
        free(c->outputs[i].rows);
        free(c->outputs[i].values);
        free(c->outputs[i].unrounded);
    }
    c->nr_outputs = 0;
}

static void note_worst(struct check *c, const struct tensor *t, int64_t row, int64_t col,
                       double got, double expected, double error)
{
    c->max_error = error;
    if (isnan(got))
        got = (double)NAN; /* without the sign of the poison */
    snprintf(c->where, sizeof(c->where), "%s[%lld,%lld] = %.9g, expected %.9g", t->name,
             (long long)row, (long long)col, got, expected);
}

/* Elements beside the chosen rows have no expected value, but must have been written. */
static bool compare_row(struct check *c, const struct expected *e, const struct tensor *t,
                        int64_t row, const double *expected)
{
    int64_t cols = tensor_cols(t);
    bool right = true;

    for (int64_t j = 0; j < cols; j++) {
        double got = tensor_get(t, row * cols + j);
        double wanted = expected ? expected[j] : (double)NAN;
        double error = expected ? fabs(got - wanted) / (e->rms > 0 ? e->rms : 1) : 0;
        bool unwritten = tensor_is_poison(t, got) && got != wanted;
        if (unwritten || isnan(error)) { /* or the oracle itself has no number */
            note_worst(c, t, row, j, got, wanted, NAN);
            return false;
        }
        if (error > c->max_error)
            note_worst(c, t, row, j, got, wanted, error);
        right &= error <= c->tolerance;
    }
    return right;
}

/* How far the row is from what the weights as they are would give. */
static void note_unrounded(struct check *c, const struct expected *e, const struct tensor *t,
                           int64_t row, size_t chosen)
{
    int64_t cols = tensor_cols(t);
    const double *wanted = e->unrounded + chosen * (size_t)cols;

    for (int64_t j = 0; j < cols; j++)
        c->weights_error = fmax(c->weights_error, fabs(tensor_get(t, row * cols + j) - wanted[j]) /
                                                      (e->rms > 0 ? e->rms : 1));
}

static bool compare_output(struct check *c, const struct expected *e, const struct tensor *t)
{
    int64_t rows = tensor_rows(t), cols = tensor_cols(t);
    size_t next = 0;
    bool right = true;

    for (int64_t row = 0; row < rows && !isnan(c->max_error); row++) {
        bool chosen = next < e->nr_rows && e->rows[next] == row;
        const double *expected = chosen ? e->values + next * (size_t)cols : NULL;
        if (chosen && e->unrounded)
            note_unrounded(c, e, t, row, next);
        next += chosen;
        right &= compare_row(c, e, t, row, expected);
    }
    return right;
}

bool check_outputs(struct check *c, struct buffers *b, struct error *err)
{
    bool right = true;

    c->where[0] = '\0';
    for (int i = 0; i < c->nr_outputs; i++) {
        struct expected *e = &c->outputs[i];
        struct tensor *t = &b->host[e->output];
        if (b->device->ops->download(b->device, t->data, b->on_device[e->output].data,
                                     (size_t)tensor_bytes(t), err)) {
            c->where[0] = '\0';
            return false;
        }
        right &= compare_output(c, e, t);
    }
    return right;
}

enum { PIECE = 1 << 20 }; /* of an input: what is read stays in the caches until it is compared */

/* 1: as it was, 0: changed, -1: cannot be read. */
static int compare_input(const struct buffers *b, int i, char *piece, struct error *err)
{
    const char *on_device = b->on_device[i].data, *host = b->host[i].data;
    size_t bytes = (size_t)tensor_bytes(&b->host[i]), nr;

    for (size_t at = 0; at < bytes; at += nr) {
        nr = bytes - at < PIECE ? bytes - at : PIECE;
        if (b->device->ops->download(b->device, piece, on_device + at, nr, err))
            return -1;
        if (memcmp(piece, host + at, nr) != 0)
            return 0;
    }
    return 1;
}

static size_t longest_piece(const struct buffers *b)
{
    size_t most = 1;

    for (int i = 0; i < b->nr; i++) {
        size_t bytes = (size_t)tensor_bytes(&b->host[i]);
        most = bytes > most ? bytes : most;
    }
    return most < PIECE ? most : PIECE;
}

bool check_inputs_unchanged(struct check *c, struct buffers *b, struct error *err)
{
    char *piece = memory_zeroed(1, longest_piece(b));
    int same = 1;

    c->where[0] = '\0';
    for (int i = 0; i < b->nr && same == 1; i++) {
        const struct tensor *t = &b->host[i];
        if (t->role != TENSOR_IN && t->role != TENSOR_WEIGHT)
            continue;
        same = compare_input(b, i, piece, err);
        if (same == 0)
            snprintf(c->where, sizeof(c->where), "input %s was changed", t->name);
    }
    free(piece);
    return same == 1;
}
