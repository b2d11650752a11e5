/* SPDX-License-Identifier: MIT */
#include "core/record.h"

#include "base/array.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const outcomes[OUTCOME_NR] = { "OK", "UNSUPPORTED", "WRONG", "FAILED" };
static const char *const stop_rules[STOP_RULE_NR] = { "", "precision", "time", "samples" };

static int find(const char *const *names, int nr, const char *name)
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
    return find(outcomes, OUTCOME_NR, name);
}

const char *stop_rule_name(enum stop_rule rule)
{
    return stop_rules[rule];
}

int stop_rule_find(const char *name)
{
    return find(stop_rules, STOP_RULE_NR, name);
}

bool record_number_is_sane(double value)
{
    return fabs(value) <= RECORD_NUMBER_MOST;
}

bool record_amount_is_sane(double value)
{
    return value >= 0 && value <= RECORD_NUMBER_MOST;
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
                             amounts[i].value, RECORD_NUMBER_MOST);
    return 0;
}

#define CHECK_AMOUNTS(amounts, err)                                                                \
    check_amounts((amounts), sizeof(amounts) / sizeof((amounts)[0]), (err))

int measurement_check(const struct measurement *m, struct error *err)
{
    const struct amount amounts[] = {
        { "flops", m->flops },
        { "bytes", m->bytes },
        { "footprint", (double)m->footprint },
        { "tolerance", m->tolerance },
        { "checked", m->checked },
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
    m->message = NULL;
    m->samples = NULL;
    m->nr_samples = 0;
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
}

void measurement_add_telemetry(struct measurement *m, const char *name, double value)
{
    if (m->nr_telemetry == TELEMETRY_MAX || !record_number_is_sane(value))
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

static bool is_selftest(const char *label)
{
    static const char word[] = "selftest";
    size_t length = sizeof(word) - 1;

    return strncmp(label, word, length) == 0 && (label[length] == '\0' || label[length] == ' ');
}

bool run_is_trial(const char *label, const char *settings)
{
    struct error ignored;

    if (is_selftest(label))
        return true;
    /* Most settings need no parsing to see that. */
    if (!settings || !(strstr(settings, "\"ab\"") || strstr(settings, "\"planted\"")))
        return false;
    cJSON *json = json_parse(settings, strlen(settings), "settings", &ignored);
    bool found = cJSON_GetObjectItemCaseSensitive(json, "ab") || json_bool(json, "planted", false);
    cJSON_Delete(json);
    return found;
}

bool run_is_profile(const char *settings)
{
    struct error ignored;

    if (!settings || !strstr(settings, "\"profile\""))
        return false;
    cJSON *json = json_parse(settings, strlen(settings), "settings", &ignored);
    bool found = json_bool(json, "profile", false);
    cJSON_Delete(json);
    return found;
}

char *run_sweep(const char *settings, char **shard)
{
    struct error ignored;

    *shard = NULL;
    if (!settings || !strstr(settings, "\"sweep\""))
        return NULL;
    cJSON *json = json_parse(settings, strlen(settings), "settings", &ignored);
    char *sweep = memory_string(json_string(json, "sweep", NULL));
    if (sweep)
        *shard = memory_string(json_string(json, "shard", NULL));
    cJSON_Delete(json);
    return sweep;
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
