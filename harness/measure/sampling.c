/* SPDX-License-Identifier: MIT */
#include "measure/sampling.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct sampling sampling_default = {
    .min_time = 0.05,
    .max_time = 0.5,
    .warmup = 0.02,
    .precision = 0.01,
    .min_samples = 20,
    .max_samples = 20000,
};

/* A sample of this many clock steps has a quantisation error of at most half a percent. */
static const double steps_per_sample = 200;
enum { BATCH_MAX = 1 << 20, TIME_LIMIT = 1000000000, SAMPLES_LIMIT = 1000000 };

static double *as_doubles(const uint64_t *samples, size_t nr)
{
    double *x = memory_resize(NULL, nr, sizeof(*x));

    for (size_t i = 0; i < nr; i++)
        x[i] = (double)samples[i];
    return x;
}

static bool is_precise(const struct sampling *s, const uint64_t *samples, size_t nr)
{
    double *x = as_doubles(samples, nr);

    stats_sort(x, nr);
    struct interval ci = stats_quantile_interval(x, nr, 0.5, 0.95);
    double median = stats_quantile(x, nr, 0.5);
    free(x);
    return (ci.high - ci.low) / 2 <= s->precision * median; /* false for NaN */
}

enum stop_rule sampling_decide(const struct sampling *s, const uint64_t *samples, size_t nr,
                               double elapsed)
{
    if (s->iterations > 0)
        return nr >= (size_t)s->iterations ? STOP_SAMPLES : STOP_NONE;
    if (nr >= (size_t)s->max_samples)
        return STOP_SAMPLES;
    if (elapsed >= s->max_time && nr >= (s->unwarmed ? 1 : 3))
        return STOP_TIME;
    if (nr >= (size_t)s->min_samples && elapsed >= s->min_time && is_precise(s, samples, nr))
        return STOP_PRECISION;
    return STOP_NONE;
}

unsigned sampling_batch(double launch_ns, double clock_step_ns)
{
    unsigned batch = 1;

    while (batch < BATCH_MAX && launch_ns * batch < steps_per_sample * clock_step_ns)
        batch *= 2;
    return batch;
}

typedef int quantity_parser(const char *text, const char *what, double *value, struct error *err);

/* A number, or a text with its unit ("20ms", "1%"); absent ones stay as they are. */
static int read_quantity(const cJSON *json, const char *key, quantity_parser *parse, double *value,
                         struct error *err)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);

    if (cJSON_IsString(item))
        return parse(item->valuestring, key, value, err);
    if (cJSON_IsNumber(item))
        *value = item->valuedouble;
    else if (item)
        return error_set(err, "\"%s\" is neither a number nor a text like \"20ms\" or \"1%%\"",
                         key);
    return 0;
}

static int read_count(const cJSON *json, const char *key, int64_t *value, struct error *err)
{
    return cJSON_HasObjectItem(json, key) ? json_get_int(json, key, value, err) : 0;
}

static int read_clock(const cJSON *json, bool *steady, struct error *err)
{
    const char *clock = json_string(json, "clock", *steady ? "steady" : "free");

    *steady = strcmp(clock, "steady") == 0;
    return *steady || strcmp(clock, "free") == 0
               ? 0
               : error_set(err, "\"clock\" is \"free\" or \"steady\", not \"%.40s\"", clock);
}

int sampling_from_json(const cJSON *json, struct sampling *s, struct error *err)
{
    static const char *const keys[] = { "min_time",     "max_time",    "warmup",     "precision",
                                        "min_samples",  "max_samples", "iterations", "unwarmed",
                                        "warmup_limit", "clock",       NULL };

    if (json_only_keys(json, keys, "sampling", err) ||
        read_quantity(json, "min_time", text_parse_duration, &s->min_time, err) ||
        read_quantity(json, "max_time", text_parse_duration, &s->max_time, err) ||
        read_quantity(json, "warmup", text_parse_duration, &s->warmup, err) ||
        read_quantity(json, "warmup_limit", text_parse_duration, &s->warmup_limit, err) ||
        read_clock(json, &s->steady, err) ||
        read_quantity(json, "precision", text_parse_fraction, &s->precision, err) ||
        read_count(json, "min_samples", &s->min_samples, err) ||
        read_count(json, "max_samples", &s->max_samples, err) ||
        read_count(json, "iterations", &s->iterations, err))
        return -1;
    s->unwarmed = json_bool(json, "unwarmed", s->unwarmed);
    if (!(s->min_time >= 0 && s->max_time >= s->min_time && s->warmup >= 0 && s->warmup_limit >= 0))
        return error_set(err, "sampling times must be positive, and max_time not under min_time");
    if (!(s->max_time <= TIME_LIMIT && s->warmup <= TIME_LIMIT && s->warmup_limit <= TIME_LIMIT))
        return error_set(err, "sampling times must not be over %d s", TIME_LIMIT);
    if (!(s->precision >= 0 && s->precision < 1))
        return error_set(err, "\"precision\" must be from 0 to below 1, such as 0.01");
    if (s->min_samples < 1 || s->max_samples < s->min_samples || s->iterations < 0)
        return error_set(err,
                         "sample counts must be positive, and max_samples not under "
                         "min_samples");
    if (s->max_samples > SAMPLES_LIMIT || s->iterations > SAMPLES_LIMIT)
        return error_set(err, "\"%s\" must not be over %d",
                         s->iterations > SAMPLES_LIMIT ? "iterations" : "max_samples",
                         SAMPLES_LIMIT);
    return 0;
}

cJSON *sampling_to_json(const struct sampling *s)
{
    cJSON *json = cJSON_CreateObject();

    json_add_number(json, "min_time", s->min_time);
    json_add_number(json, "max_time", s->max_time);
    json_add_number(json, "warmup", s->warmup);
    json_add_number(json, "precision", s->precision);
    json_add_int(json, "min_samples", s->min_samples);
    json_add_int(json, "max_samples", s->max_samples);
    json_add_int(json, "iterations", s->iterations);
    if (s->warmup_limit > 0) /* an older program knows none of these, and says so */
        json_add_number(json, "warmup_limit", s->warmup_limit);
    if (s->steady)
        cJSON_AddStringToObject(json, "clock", "steady");
    if (s->unwarmed)
        cJSON_AddTrueToObject(json, "unwarmed");
    return json;
}
