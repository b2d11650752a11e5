/* SPDX-License-Identifier: MIT */
#include "judge/deal.h"

#include "base/memory.h"
#include "base/text.h"
#include "measure/buffers.h"
#include "stats/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int allocate(struct deal *d, struct hand *hand, struct error *err)
{
    char text[TEXT_UNIT_SIZE];

    hand->near_row = -1;
    d->nr_tensors = d->kernel->layout(d->kernel, &d->shape, d->dtype, hand->host);
    for (int i = 0; i < d->nr_tensors; i++) {
        struct tensor *t = &hand->host[i];
        size_t bytes = (size_t)tensor_bytes(t);
        if (t->role == TENSOR_OUT)
            continue;
        t->data = malloc(bytes ? bytes : 1);
        if (!t->data)
            return error_set(err, "tensor %s: cannot allocate %s", t->name,
                             text_bytes((double)bytes, text));
        buffers_fill_tensor(d->kernel, &d->shape, t, random_fresh_seed());
    }
    return 0;
}

int deal_open(struct deal *d, const struct kernel *k, const struct shape *s, enum dtype dtype,
              int slots, struct error *err)
{
    *d = (struct deal) { .kernel = k, .shape = *s, .dtype = dtype, .slots = slots };
    d->hands = memory_zeroed((size_t)slots, sizeof(*d->hands));
    for (int slot = 0; slot < slots; slot++)
        if (allocate(d, &d->hands[slot], err))
            return -1;
    return 0;
}

static void drop_looks(struct hand *hand)
{
    for (int i = 0; i < hand->nr_looks; i++) {
        free(hand->looks[i].rows);
        free(hand->looks[i].values);
    }
    hand->nr_looks = 0;
}

void deal_close(struct deal *d)
{
    for (int slot = 0; d->hands && slot < d->slots; slot++) {
        drop_looks(&d->hands[slot]);
        for (int i = 0; i < d->nr_tensors; i++)
            free(d->hands[slot].host[i].data);
    }
    free(d->hands);
    d->hands = NULL;
}

/* ---- inputs ---- */

static bool is_dealt(const struct tensor *t)
{
    return t->role == TENSOR_IN || t->role == TENSOR_INOUT;
}

static void refill(const struct deal *d, struct tensor *t)
{
    buffers_fill_tensor(d->kernel, &d->shape, t, random_fresh_seed());
}

/* A read-only tensor of more than one value, by chance; NULL: there is none to change. */
static struct tensor *choose_input(const struct deal *d, struct hand *hand, struct random *r)
{
    struct tensor *found = NULL;
    uint64_t seen = 0;

    for (int i = 0; i < d->nr_tensors; i++) {
        struct tensor *t = &hand->host[i];
        bool can = t->role == TENSOR_IN && (t->fill == FILL_NORMAL || t->fill == FILL_TOKENS) &&
                   (t->fill == FILL_NORMAL || t->limit > 1);
        if (can && random_below(r, ++seen) == 0)
            found = t;
    }
    return found;
}

/* A value that is surely another, and not much larger than the others. */
static void change_one(struct hand *hand, struct tensor *t, struct random *r)
{
    int64_t i = (int64_t)random_below(r, (uint64_t)tensor_elements(t));
    double old = tensor_get(t, i);

    hand->near_row = i / tensor_cols(t);
    if (t->fill == FILL_TOKENS)
        tensor_set(t, i, (double)((int64_t)(old + 1) % t->limit));
    else
        tensor_set(t, i, old + (old > t->mean ? -3 : 3) * t->scale);
}

static void move_inputs(const struct deal *d, int slot)
{
    const struct hand *from = &d->hands[(slot + 1) % d->slots];

    for (int i = 0; i < d->nr_tensors; i++) {
        struct tensor *t = &d->hands[slot].host[i];
        if (is_dealt(t))
            memcpy(t->data, from->host[i].data, (size_t)tensor_bytes(t));
    }
}

void deal_inputs(struct deal *d, int slot, enum deal_kind kind)
{
    struct hand *hand = &d->hands[slot];
    struct random r;

    random_seed(&r, random_fresh_seed());
    struct tensor *one = kind == DEAL_NEAR ? choose_input(d, hand, &r) : NULL;
    hand->near_row = -1;
    if (kind == DEAL_MOVED)
        move_inputs(d, slot);
    for (int i = 0; i < d->nr_tensors; i++) {
        struct tensor *t = &hand->host[i];
        if (is_dealt(t) && (kind == DEAL_FRESH || (kind == DEAL_NEAR && !one)))
            refill(d, t);
    }
    if (one)
        change_one(hand, one, &r);
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

static size_t affordable(const struct deal *d, int64_t total, double flops)
{
    double fixed, per_row;

    d->kernel->oracle_cost(d->kernel, &d->shape, &fixed, &per_row);
    double rows = per_row > 0 ? (flops - fixed) / per_row : (double)total;
    return rows >= (double)total ? (size_t)total : rows < 1 ? 1 : (size_t)rows;
}

static void look_at(struct deal *d, struct hand *hand, int output, double flops)
{
    const struct tensor *t = &hand->host[output];
    size_t cols = (size_t)tensor_cols(t), nr = affordable(d, tensor_rows(t), flops);
    struct look *look = &hand->looks[hand->nr_looks++];

    *look = (struct look) { .output = output, .rows = memory_zeroed(nr, sizeof(*look->rows)) };
    look->nr = choose_rows(look->rows, nr, tensor_rows(t), hand->near_row);
    look->values = memory_zeroed(look->nr * cols + 1, sizeof(*look->values));
    d->kernel->oracle(d->kernel, &d->shape, hand->host, output, look->rows, look->nr, look->values);
    hand->all = hand->all && (int64_t)look->nr == tensor_rows(t);
    for (size_t i = 0; i < look->nr * cols; i++)
        d->squares[output] += look->values[i] * look->values[i];
    d->counts[output] += (double)(look->nr * cols);
}

void deal_look(struct deal *d, int slot, double flops)
{
    struct hand *hand = &d->hands[slot];

    drop_looks(hand);
    hand->all = true;
    for (int i = 0; i < d->nr_tensors; i++)
        if (hand->host[i].role == TENSOR_OUT)
            look_at(d, hand, i, flops);
}

double deal_scale(const struct deal *d, int output)
{
    double rms = d->counts[output] > 0 ? sqrt(d->squares[output] / d->counts[output]) : 0;

    return rms > 0 ? rms : 1;
}
