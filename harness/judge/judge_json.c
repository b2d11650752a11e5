/* SPDX-License-Identifier: MIT */
#include "judge/judge.h"

#include "base/json.h"
#include "core/record.h"
#include "judge/sandbox.h"

#include <math.h>

static void add_interval(cJSON *to, const char *key, struct interval i)
{
    if (isnan(i.low) || isnan(i.high) || i.high <= 0)
        return;
    cJSON *pair = cJSON_AddArrayToObject(to, key);
    cJSON_AddItemToArray(pair, cJSON_CreateNumber(i.low));
    cJSON_AddItemToArray(pair, cJSON_CreateNumber(i.high));
}

static void add_dims(cJSON *to, const char *key, const struct kernel *k, const struct shape *s)
{
    cJSON *dims = cJSON_AddObjectToObject(to, key);

    for (int i = 0; i < kernel_nr_dims(k); i++)
        json_add_int(dims, k->dims[i], s->dim[i]);
}

static void add_time(cJSON *to, const struct judged_time *t)
{
    json_add_number(to, "ns", t->ns);
    add_interval(to, "interval", t->interval);
    json_add_int(to, "samples", (int64_t)t->samples);
    json_add_int(to, "rounds", t->nr_rounds);
}

static void add_middle(cJSON *to, struct judged_middle m)
{
    cJSON *json = cJSON_AddObjectToObject(to, "stopped_in_the_middle");

    json_add_int(json, "tried", m.tried);
    json_add_int(json, "looked_at", m.looked_at);
    json_add_int(json, "wanted", m.wanted);
    json_add_int(json, "missing", m.missing);
}

static void add_references(cJSON *to, const struct judgement *j, const struct judged_shape *s)
{
    cJSON *array = cJSON_AddArrayToObject(to, "references");

    for (int r = 0; r < j->job.nr_references; r++) {
        const struct judged_time *t = &s->references[r];
        if (!t->measured)
            continue;
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "variant", t->variant->name);
        cJSON_AddBoolToObject(one, "vendor", (t->variant->flags & VARIANT_VENDOR) != 0);
        add_time(one, t);
        json_add_number(one, "ratio", t->ratio);
        add_interval(one, "ratio_interval", t->ratio_interval);
        cJSON_AddItemToArray(array, one);
    }
}

/* What errors were measured by, or that they were not. */
static void add_measure(cJSON *to, const struct kernel *k, const struct judged_shape *s)
{
    if (s->textbook_rms > 0)
        json_add_number(to, "textbook_rms_error", s->textbook_rms);
    if (s->textbook_is_smaller)
        add_dims(to, "textbook_dims", k, &s->textbook_shape);
    if (s->rounding_rms > 0)
        json_add_number(to, "rounding_rms_error", s->rounding_rms);
    if (s->precision_unchecked)
        cJSON_AddTrueToObject(to, "precision_unchecked");
}

static cJSON *shape_to_json(const struct judgement *j, const struct judged_shape *s, double roof)
{
    cJSON *json = cJSON_CreateObject();

    add_dims(json, "dims", j->job.spec, &s->shape);
    json_add_int(json, "launches", (int64_t)s->launches);
    json_add_number(json, "compared", s->compared);
    if (s->middle.tried)
        add_middle(json, s->middle);
    if (s->unsupported)
        json_add_string(json, "unsupported", s->why[0] ? s->why : "it does not say why");
    if (s->launches) {
        json_add_number(json, "max_error", s->max_error);
        json_add_number(json, "rms_error", s->rms_error);
        json_add_number(json, "tolerance", s->tolerance);
    }
    add_measure(json, j->job.spec, s);
    if (!s->timed)
        return json;
    cJSON *time = cJSON_AddObjectToObject(json, "time");
    add_time(time, &s->own);
    json_add_int(time, "batch", s->batch);
    json_add_number(time, "clock_share", s->clock_share);
    if (isfinite(roof))
        json_add_number(time, "share_of_roof", roof);
    add_references(json, j, s);
    return json;
}

static void add_reach(cJSON *array, const struct beyond_reach *r)
{
    cJSON *one = cJSON_CreateObject();

    cJSON_AddStringToObject(one, "name", r->name);
    cJSON_AddStringToObject(one, "words", r->words);
    cJSON_AddItemToArray(array, one);
}

static void add_beyond_reach(cJSON *to, enum device_kind kind)
{
    cJSON *array = cJSON_AddArrayToObject(to, "beyond_reach");

    for (const struct beyond_reach *r = reach_beyond(kind); r->name; r++)
        add_reach(array, r);
    if (!sandbox_keeps_files())
        add_reach(array, &reach_files);
}

cJSON *judgement_to_json(const struct judgement *j, const double *roof)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "spec", j->job.spec->name);
    cJSON_AddStringToObject(json, "variant", j->job.variant->name);
    if (*j->job.setting) {
        cJSON_AddStringToObject(json, "setting", j->job.setting);
        cJSON_AddBoolToObject(json, "tuned", j->job.tuned);
    }
    cJSON_AddStringToObject(json, "math", math_name(j->job.variant->math));
    cJSON_AddStringToObject(json, "device", j->job.device->label);
    cJSON_AddBoolToObject(json, "valid", judgement_valid(j));
    if (j->fault.kind != FAULT_NONE) {
        cJSON_AddStringToObject(json, "reason", fault_name(j->fault.kind));
        json_add_string(json, "words", j->fault.words);
        if (fault_has_size(j->fault.kind))
            add_dims(json, "dims", j->job.spec, &j->fault_shape);
    } else if (!j->supported) {
        cJSON_AddStringToObject(json, "reason", "unsupported");
        cJSON_AddStringToObject(json, "words", "it takes none of the shapes that are timed");
    }
    if (judgement_valid(j))
        cJSON_AddStringToObject(json, "confidence", judgement_confident(j) ? "full" : "low");
    json_add_int(json, "seed", (int64_t)j->job.lot);
    cJSON *shapes = cJSON_AddArrayToObject(json, "shapes");
    for (size_t i = 0; i < j->shapes.nr; i++)
        cJSON_AddItemToArray(shapes, shape_to_json(j, &j->shapes.items[i], roof[i]));
    json_add_strings(json, "libraries", j->libraries.items, j->libraries.nr);
    cJSON_AddBoolToObject(json, "vendor_library", j->vendor);
    add_beyond_reach(json, j->job.device->kind);
    return json;
}
