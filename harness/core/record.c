/* SPDX-License-Identifier: MIT */
#include "core/record.h"

#include "base/array.h"
#include "base/memory.h"
#include "core/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const outcomes[OUTCOME_NR] = { "OK", "UNSUPPORTED", "WRONG", "FAILED" };
static const char *const stop_rules[STOP_RULE_NR] = { "", "precision", "time", "samples" };
static const char *const run_kinds[RUN_KIND_NR] = { "measured", "profile", "imported", "trial" };

static int index_of_name(const char *const *names, int nr, const char *name)
{
    for (int i = 0; i < nr; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

const char *outcome_name(enum outcome outcome)
{
    return outcomes[outcome];
}

int outcome_find(const char *name)
{
    return index_of_name(outcomes, OUTCOME_NR, name);
}

const char *stop_rule_name(enum stop_rule rule)
{
    return stop_rules[rule];
}

int stop_rule_find(const char *name)
{
    return index_of_name(stop_rules, STOP_RULE_NR, name);
}

const char *run_kind_name(enum run_kind kind)
{
    return run_kinds[kind];
}

int run_kind_find(const char *name)
{
    return index_of_name(run_kinds, RUN_KIND_NR, name);
}

bool record_amount_is_sane(double value)
{
    return !isnan(value) && fact_is_amount(value);
}

struct amount {
    const char *name;
    double value;
};

static int check_amounts(const struct amount *amounts, size_t nr, struct error *err)
{
    for (size_t i = 0; i < nr; i++)
        if (!isnan(amounts[i].value) && !record_amount_is_sane(amounts[i].value))
            return error_set(err, "\"%s\" is %g, not a number from 0 to %.0e", amounts[i].name,
                             amounts[i].value, FACT_AMOUNT_MAX);
    return 0;
}

#define CHECK_AMOUNTS(amounts, err)                                                                \
    check_amounts((amounts), sizeof(amounts) / sizeof((amounts)[0]), (err))

int measurement_check(const struct measurement *m, struct error *err)
{
    const struct amount amounts[] = {
        { "flops", m->flops },         { "bytes", m->bytes },
        { "tokens", m->tokens },       { "footprint", (double)m->footprint },
        { "tolerance", m->tolerance }, { "checked", m->checked },
        { "seconds", m->seconds },
    };

    return CHECK_AMOUNTS(amounts, err);
}

int ceiling_check(const struct ceiling *c, struct error *err)
{
    const struct amount amounts[] = {
        { "value", c->value },
        { "low", c->low },
        { "high", c->high },
        { "spec", c->spec },
    };

    return CHECK_AMOUNTS(amounts, err);
}

void measurement_release(struct measurement *m)
{
    free(m->message);
    free(m->samples);
    numbers_release(m->numbers, m->nr_numbers);
    m->message = NULL;
    m->samples = NULL;
    m->nr_samples = 0;
    m->nr_numbers = 0;
}

void measurement_copy(struct measurement *to, const struct measurement *from)
{
    *to = *from;
    to->message = memory_string(from->message);
    to->samples = NULL;
    if (from->nr_samples > 0) {
        to->samples = memory_resize(NULL, from->nr_samples, sizeof(*to->samples));
        memcpy(to->samples, from->samples, from->nr_samples * sizeof(*to->samples));
    }
    numbers_copy(to->numbers, from->numbers, from->nr_numbers);
}

void measurement_add_telemetry(struct measurement *m, const char *name, double value)
{
    if (m->nr_telemetry == TELEMETRY_MAX || !fact_is_finite(value))
        return;
    struct telemetry *t = &m->telemetry[m->nr_telemetry++];
    snprintf(t->name, sizeof(t->name), "%s", name);
    t->value = value;
}

double measurement_telemetry(const struct measurement *m, const char *name)
{
    for (int i = 0; i < m->nr_telemetry; i++)
        if (strcmp(m->telemetry[i].name, name) == 0)
            return m->telemetry[i].value;
    return NAN;
}

const struct number *measurement_number(const struct measurement *m, const struct number_kind *kind)
{
    for (int i = 0; i < m->nr_numbers; i++)
        if (m->numbers[i].kind == kind)
            return &m->numbers[i];
    return NULL;
}

void launch_release(struct launch *l)
{
    free(l->error_text);
    l->error_text = NULL;
}

void run_release(struct run *r)
{
    free(r->environment);
    free(r->settings);
    r->environment = r->settings = NULL;
}

void run_copy(struct run *to, const struct run *from)
{
    *to = *from;
    to->environment = memory_string(from->environment);
    to->settings = memory_string(from->settings);
}

void records_release(struct records *r)
{
    for (size_t i = 0; i < r->nr_runs; i++)
        run_release(&r->runs[i]);
    for (size_t i = 0; i < r->nr; i++)
        measurement_release(&r->items[i].m);
    free(r->runs);
    free(r->items);
    free(r->ceilings);
    *r = (struct records) { 0 };
}

struct run *records_add_run(struct records *r)
{
    r->runs = array_grow(r->runs, r->nr_runs, &r->runs_capacity, sizeof(*r->runs));
    return &r->runs[r->nr_runs++];
}

struct record *records_add(struct records *r, int run, int launch_seq)
{
    r->items = array_grow(r->items, r->nr, &r->capacity, sizeof(*r->items));
    struct record *record = &r->items[r->nr++];
    record->run = run;
    record->launch_seq = launch_seq;
    return record;
}
