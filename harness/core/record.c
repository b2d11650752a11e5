/* SPDX-License-Identifier: MIT */
#include "core/record.h"

#include "base/array.h"
#include "base/json.h"
#include "base/memory.h"
#include "core/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const outcomes[OUTCOME_NR] = { "OK", "UNSUPPORTED", "WRONG", "FAILED" };
static const char *const stop_rules[STOP_RULE_NR] = { "", "precision", "time", "samples" };

const char *outcome_name(enum outcome outcome)
{
    return outcomes[outcome];
}

int outcome_find(const char *name)
{
    return name_find(outcomes, OUTCOME_NR, name);
}

const char *stop_rule_name(enum stop_rule rule)
{
    return stop_rules[rule];
}

int stop_rule_find(const char *name)
{
    return name_find(stop_rules, STOP_RULE_NR, name);
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

int roof_check(const struct roof *c, struct error *err)
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
    free(r->roofs);
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

/* ---- runs of before schema 5 ---- */

static bool is_selftest_label(const char *label)
{
    static const char word[] = "selftest";
    size_t length = sizeof(word) - 1;

    return strncmp(label, word, length) == 0 && (label[length] == '\0' || label[length] == ' ');
}

static enum run_kind legacy_kind(const char *label, const cJSON *settings)
{
    if (is_selftest_label(label) || cJSON_GetObjectItemCaseSensitive(settings, "ab") ||
        json_bool(settings, "planted", false))
        return RUN_TRIAL;
    if (json_bool(settings, "profile", false))
        return RUN_PROFILE;
    return cJSON_GetObjectItemCaseSensitive(settings, "import") ? RUN_IMPORTED : RUN_MEASURED;
}

/* Imported as measured in turn means one launch of each side at a time. */
static void legacy_ab(struct run_ab *ab, const cJSON *settings)
{
    enum { LAUNCHES_MEASURED = 2, LAUNCHES_IMPORTED = 1 };
    const cJSON *measured = cJSON_GetObjectItemCaseSensitive(settings, "ab");
    const char *imported = json_string(settings, "in_turn", NULL);

    snprintf(ab->id, sizeof(ab->id), "%s", imported ? imported : json_string(measured, "id", ""));
    snprintf(ab->side, sizeof(ab->side), "%s", json_string(measured, "side", ""));
    if (ab->id[0])
        ab->block = imported ? LAUNCHES_IMPORTED : LAUNCHES_MEASURED;
}

static void legacy_shard(struct run_shard *shard, const cJSON *settings)
{
    enum { COUNT_MAX = 100000 };
    unsigned index, count;

    snprintf(shard->sweep, sizeof(shard->sweep), "%s", json_string(settings, "sweep", ""));
    snprintf(shard->plan, sizeof(shard->plan), "%s", json_string(settings, "shard_plan", ""));
    if (sscanf(json_string(settings, "shard", ""), "%u/%u", &index, &count) == 2 && index >= 1 &&
        index <= count && count <= COUNT_MAX) {
        shard->index = index;
        shard->count = count;
    }
}

void legacy_run_facts(struct run *run)
{
    struct error ignored;
    cJSON *settings = run->settings
                          ? json_parse(run->settings, strlen(run->settings), "settings", &ignored)
                          : NULL;

    run->kind = legacy_kind(run->label, settings);
    legacy_ab(&run->ab, settings);
    legacy_shard(&run->shard, settings);
    cJSON_Delete(settings);
}

/* ---- forward passes of before schema 5 ---- */

/* gpt/<model>/prefill works on the whole sequences, gpt/<model>/decode on one token of each;
 * another phase counts as the first. A profile puts ":operation" behind it. */
static bool is_decode(const char *kernel)
{
    static const char phase[] = "/decode";
    const char *last = strrchr(kernel, '/');
    size_t length = sizeof(phase) - 1;

    return strncmp(last, phase, length) == 0 && (last[length] == '\0' || last[length] == ':');
}

double legacy_tokens(const struct benchmark_name *bench)
{
    static const char family[] = "gpt/";

    if (strncmp(bench->kernel, family, sizeof(family) - 1) != 0)
        return NAN;
    double tokens = (double)benchmark_name_dim(bench, "batch", 0);
    if (!is_decode(bench->kernel))
        tokens *= (double)benchmark_name_dim(bench, "seq", 0);
    return tokens > 0 && record_amount_is_sane(tokens) ? tokens : (double)NAN;
}
