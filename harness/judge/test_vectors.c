/* SPDX-License-Identifier: MIT */
#include "judge/test_vectors.h"

#include "base/memory.h"
#include "base/text.h"
#include "judge/rounding.h"
#include "measure/buffers.h"
#include "stats/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int make_inputs(struct test_vectors *v, struct test_vector *vector, struct error *err)
{
    char text[TEXT_UNIT_SIZE];

    vector->near_row = -1;
    v->nr_tensors = v->kernel->layout(v->kernel, &v->shape, v->dtype, vector->host);
    for (int i = 0; i < v->nr_tensors; i++) {
        struct tensor *t = &vector->host[i];
        size_t bytes = (size_t)tensor_bytes(t);
        if (t->role == TENSOR_OUT)
            continue;
        t->data = malloc(bytes ? bytes : 1);
        if (!t->data)
            return error_set(err, "tensor %s: cannot allocate %s", t->name,
                             text_bytes((double)bytes, text));
        buffers_fill_tensor(v->kernel, &v->shape, t, random_fresh_seed());
    }
    seen_inputs_make(&vector->seen, v->kernel, &v->shape, vector->host, v->nr_tensors, v->math);
    return 0;
}

int vectors_open(struct test_vectors *v, const struct kernel *k, const struct shape *s,
                 enum dtype dtype, enum math math, int slots, struct error *err)
{
    *v = (struct test_vectors) {
        .kernel = k, .shape = *s, .dtype = dtype, .math = math, .slots = slots
    };
    v->vectors = memory_zeroed((size_t)slots, sizeof(*v->vectors));
    for (int slot = 0; slot < slots; slot++)
        if (make_inputs(v, &v->vectors[slot], err))
            return -1;
    return 0;
}

static void drop_expected(struct test_vector *vector)
{
    for (int i = 0; i < vector->nr_expected; i++) {
        free(vector->expected[i].rows);
        free(vector->expected[i].values);
        free(vector->expected[i].once);
    }
    vector->nr_expected = 0;
}

void vectors_close(struct test_vectors *v)
{
    for (int slot = 0; v->vectors && slot < v->slots; slot++) {
        drop_expected(&v->vectors[slot]);
        seen_inputs_release(&v->vectors[slot].seen);
        for (int i = 0; i < v->nr_tensors; i++)
            free(v->vectors[slot].host[i].data);
    }
    free(v->vectors);
    v->vectors = NULL;
}

/* ---- inputs ---- */

static bool is_input(const struct tensor *t)
{
    return t->role == TENSOR_IN || t->role == TENSOR_INOUT;
}

static void refill_tensor(const struct test_vectors *v, struct tensor *t)
{
    buffers_fill_tensor(v->kernel, &v->shape, t, random_fresh_seed());
}

/* A read-only tensor of more than one value, by chance; NULL: there is none to change. */
static struct tensor *choose_input(const struct test_vectors *v, struct test_vector *vector,
                                   struct random *r)
{
    struct tensor *found = NULL;
    uint64_t seen = 0;

    for (int i = 0; i < v->nr_tensors; i++) {
        struct tensor *t = &vector->host[i];
        bool can = t->role == TENSOR_IN && (t->fill == FILL_NORMAL || t->fill == FILL_TOKENS) &&
                   (t->fill == FILL_NORMAL || t->limit > 1);
        if (can && random_below(r, ++seen) == 0)
            found = t;
    }
    return found;
}

/* A value that is surely another, and not much larger than the others. */
static void change_one(struct test_vector *vector, struct tensor *t, struct random *r)
{
    int64_t i = (int64_t)random_below(r, (uint64_t)tensor_elements(t));
    double old = tensor_get(t, i);

    vector->near_row = i / tensor_cols(t);
    if (t->fill == FILL_TOKENS)
        tensor_set(t, i, (double)((int64_t)(old + 1) % t->limit));
    else
        tensor_set(t, i, old + (old > t->mean ? -3 : 3) * t->scale);
}

static void move_inputs(const struct test_vectors *v, int slot)
{
    const struct test_vector *from = &v->vectors[(slot + 1) % v->slots];

    for (int i = 0; i < v->nr_tensors; i++) {
        struct tensor *t = &v->vectors[slot].host[i];
        if (is_input(t))
            memcpy(t->data, from->host[i].data, (size_t)tensor_bytes(t));
    }
}

void vectors_fill(struct test_vectors *v, int slot, enum inputs_kind kind)
{
    struct test_vector *vector = &v->vectors[slot];
    struct random r;

    random_seed(&r, random_fresh_seed());
    struct tensor *one = kind == INPUTS_NEAR ? choose_input(v, vector, &r) : NULL;
    vector->near_row = -1;
    if (kind == INPUTS_MOVED)
        move_inputs(v, slot);
    for (int i = 0; i < v->nr_tensors; i++) {
        struct tensor *t = &vector->host[i];
        if (is_input(t) && (kind == INPUTS_FRESH || (kind == INPUTS_NEAR && !one)))
            refill_tensor(v, t);
    }
    if (one)
        change_one(vector, one, &r);
}

/* ---- what is expected ---- */

static int compare_rows(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* In ascending order, none twice. The row of the changed element is among them: in most kernels it
 * is that row of the output that differs. */
static size_t choose_rows(int64_t *rows, size_t nr, int64_t total, int64_t wanted)
{
    struct random r;
    size_t unique = 0;

    random_seed(&r, random_fresh_seed());
    for (size_t i = 0; i < nr; i++)
        rows[i] = (int64_t)nr == total ? (int64_t)i : (int64_t)random_below(&r, (uint64_t)total);
    if (wanted >= 0 && wanted < total && (int64_t)nr < total)
        rows[0] = wanted;
    qsort(rows, nr, sizeof(*rows), compare_rows);
    for (size_t i = 0; i < nr; i++)
        if (i == 0 || rows[i] != rows[unique - 1])
            rows[unique++] = rows[i];
    return unique;
}

static size_t rows_for_flops(const struct test_vectors *v, int64_t total, double flops)
{
    double fixed, per_row;

    v->kernel->oracle_cost(v->kernel, &v->shape, &fixed, &per_row);
    double rows = per_row > 0 ? (flops - fixed) / per_row : (double)total;
    return rows >= (double)total ? (size_t)total : rows < 1 ? 1 : (size_t)rows;
}

static double *expect_once(const struct test_vectors *v, const struct test_vector *vector,
                           const struct expected_rows *e)
{
    size_t cols = (size_t)tensor_cols(&vector->host[e->output]);

    if (!rounding_measures(v->dtype, v->math))
        return NULL;
    double *once = memory_zeroed(e->nr * cols + 1, sizeof(*once));
    rounding_rows(v->kernel, &v->shape, vector->seen.tensor, v->nr_tensors, e->output, e->rows,
                  e->nr, v->math, e->values, once);
    return once;
}

static void expect_rows(struct test_vectors *v, struct test_vector *vector, int output,
                        double flops)
{
    const struct tensor *t = &vector->host[output];
    size_t cols = (size_t)tensor_cols(t), nr = rows_for_flops(v, tensor_rows(t), flops);
    struct expected_rows *expected = &vector->expected[vector->nr_expected++];

    *expected = (struct expected_rows) { .output = output,
                                         .rows = memory_zeroed(nr, sizeof(*expected->rows)) };
    expected->nr = choose_rows(expected->rows, nr, tensor_rows(t), vector->near_row);
    expected->values = memory_zeroed(expected->nr * cols + 1, sizeof(*expected->values));
    v->kernel->oracle(v->kernel, &v->shape, vector->seen.tensor, output, expected->rows,
                      expected->nr, expected->values);
    expected->once = expect_once(v, vector, expected);
    vector->all = vector->all && (int64_t)expected->nr == tensor_rows(t);
    for (size_t i = 0; i < expected->nr * cols; i++)
        v->squares[output] += expected->values[i] * expected->values[i];
    v->counts[output] += (double)(expected->nr * cols);
}

void vectors_expect(struct test_vectors *v, int slot, double flops)
{
    struct test_vector *vector = &v->vectors[slot];

    drop_expected(vector);
    vector->all = true;
    for (int i = 0; i < v->nr_tensors; i++)
        if (vector->host[i].role == TENSOR_OUT)
            expect_rows(v, vector, i, flops);
}

double vectors_scale(const struct test_vectors *v, int output)
{
    double rms = v->counts[output] > 0 ? sqrt(v->squares[output] / v->counts[output]) : 0;

    return rms > 0 ? rms : 1;
}
