/* SPDX-License-Identifier: MIT */
/* What is known of one benchmark: gathered, and reduced to medians. */
#include "base/memory.h"
#include "explain/explain_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a normal distribution: sd from the median absolute deviation, and the standard error of a
 * median over that of a mean. */
#define SD_OF_MAD    1.4826
#define MEDIAN_ERROR 1.2533

static void series_release(struct explain_series *s)
{
    for (int side = 0; side < EXPLAIN_SIDES; side++)
        array_release(&s->of[side]);
}

void explain_case_init(struct explain_case *c, const char *key)
{
    *c = (struct explain_case) { .key = key };
}

void explain_case_release(struct explain_case *c)
{
    for (int q = 0; q < EXPLAIN_QUANTITIES; q++)
        series_release(&c->of[q]);
    for (size_t i = 0; i < c->operations.nr; i++) {
        free(c->operations.items[i].name);
        series_release(&c->operations.items[i].self);
    }
    array_release(&c->operations);
    for (size_t i = 0; i < c->facts.nr; i++) {
        free(c->facts.items[i].name);
        free(c->facts.items[i].base);
        free(c->facts.items[i].head);
    }
    array_release(&c->facts);
}

static bool may_be_zero(enum explain_quantity quantity)
{
    return quantity == EXPLAIN_WAITED || quantity == EXPLAIN_PREEMPTED;
}

void explain_add(struct explain_case *c, enum explain_quantity quantity, enum explain_side side,
                 double value)
{
    if (isfinite(value) && (value > 0 || (may_be_zero(quantity) && value >= 0)))
        *array_push(&c->of[quantity].of[side]) = value;
}

void explain_add_operation(struct explain_case *c, const char *name, enum explain_side side,
                           double ns)
{
    size_t i = 0;

    if (!isfinite(ns) || ns < 0)
        return;
    while (i < c->operations.nr && strcmp(c->operations.items[i].name, name) != 0)
        i++;
    if (i == c->operations.nr)
        *array_push(&c->operations) = (struct explain_operation) { .name = memory_string(name) };
    *array_push(&c->operations.items[i].self.of[side]) = ns;
}

void explain_add_fact(struct explain_case *c, enum explain_fact_kind kind, const char *name,
                      const char *base, const char *head)
{
    for (size_t i = 0; i < c->facts.nr; i++)
        if (strcmp(c->facts.items[i].name, name) == 0)
            return;
    *array_push(&c->facts) = (struct explain_fact) {
        .kind = kind,
        .name = memory_string(name),
        .base = base ? memory_string(base) : NULL,
        .head = head ? memory_string(head) : NULL,
    };
}

struct middle middle_of(double *x, size_t nr)
{
    struct middle m = { NAN, NAN };

    if (nr > 0)
        m.median = stats_median(x, nr);
    for (size_t i = 0; i < nr; i++)
        x[i] = fabs(x[i] - m.median);
    if (nr > 2)
        m.error = MEDIAN_ERROR * SD_OF_MAD * stats_median(x, nr) / sqrt((double)nr);
    return m;
}

static struct middle middle_of_logs(const double *values, size_t nr)
{
    double *logs = memory_zeroed(nr + 1, sizeof(*logs));

    for (size_t i = 0; i < nr; i++)
        logs[i] = log(values[i]);
    struct middle m = middle_of(logs, nr);
    free(logs);
    return m;
}

struct explain_change explain_change_of(const struct explain_series *series)
{
    size_t nr[2] = { series->of[EXPLAIN_BASE].nr, series->of[EXPLAIN_HEAD].nr };
    struct middle m[EXPLAIN_SIDES];
    struct explain_change c = { NAN, NAN, NAN, NAN, NAN };

    for (int side = 0; side < EXPLAIN_SIDES; side++)
        m[side] = middle_of_logs(series->of[side].items, nr[side]);
    c.base = exp(m[EXPLAIN_BASE].median);
    c.head = exp(m[EXPLAIN_HEAD].median);
    c.mid = m[EXPLAIN_HEAD].median - m[EXPLAIN_BASE].median;
    if (nr[0] > 2 && nr[1] > 2) {
        double error = hypot(m[EXPLAIN_BASE].error, m[EXPLAIN_HEAD].error);
        double reach = error * stats_t_quantile(0.975, (double)(nr[0] + nr[1] - 2));
        c.low = c.mid - reach;
        c.high = c.mid + reach;
    }
    return c;
}

void explanation_note(struct explanation *e, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    *array_push(&e->notes) = memory_string(text);
}

void explanation_release(struct explanation *e)
{
    free(e->key);
    free(e->what);
    free(e->machine);
    for (size_t i = 0; i < e->causes.nr; i++) {
        free(e->causes.items[i].name);
        free(e->causes.items[i].evidence);
    }
    array_release(&e->causes);
    for (size_t i = 0; i < e->notes.nr; i++)
        free(e->notes.items[i]);
    array_release(&e->notes);
    e->key = e->what = e->machine = NULL;
}

void explanations_release(struct explanations *e)
{
    for (size_t i = 0; i < e->items.nr; i++)
        explanation_release(&e->items.items[i]);
    array_release(&e->items);
}
