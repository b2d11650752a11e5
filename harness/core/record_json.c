/* SPDX-License-Identifier: MIT */
/* Records as JSON and back. Each struct has one field table that serves both directions. */
#include "core/record.h"

#include "base/array.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum field_type { TEXT, NUMBER, INTEGER32, INTEGER64, UNSIGNED32, BOOLEAN };

struct field {
    const char *key;
    enum field_type type;
    size_t offset, size; /* size of the char array for TEXT */
};

#define FIELD(type_, struct_, member_)                                                             \
    {                                                                                              \
        .key = #member_, .type = (type_), .offset = offsetof(struct struct_, member_),             \
        .size = sizeof(((struct struct_ *)0)->member_),                                            \
    }
#define FIELD_END                                                                                  \
    {                                                                                              \
        .key = NULL                                                                                \
    }

static void write_fields(cJSON *json, const struct field *f, const void *from)
{
    for (; f->key; f++) {
        const void *p = (const char *)from + f->offset;
        switch (f->type) {
        case TEXT:
            json_add_string(json, f->key, p);
            break;
        case NUMBER:
            json_add_number(json, f->key, *(const double *)p);
            break;
        case INTEGER32:
            json_add_int(json, f->key, *(const int *)p);
            break;
        case INTEGER64:
            json_add_int(json, f->key, *(const int64_t *)p);
            break;
        case UNSIGNED32:
            json_add_int(json, f->key, *(const unsigned *)p);
            break;
        case BOOLEAN:
            cJSON_AddBoolToObject(json, f->key, *(const bool *)p);
            break;
        }
    }
}

/* What is there must be of the right type; null stands for a number that is not known. */
static int check_type(const cJSON *json, const struct field *f, struct error *err)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, f->key);

    if (!item || cJSON_IsNull(item))
        return 0;
    switch (f->type) {
    case TEXT:
        return cJSON_IsString(item) ? 0 : error_set(err, "\"%s\" is not a string", f->key);
    case BOOLEAN:
        return cJSON_IsBool(item) ? 0 : error_set(err, "\"%s\" is not true or false", f->key);
    default:
        return cJSON_IsNumber(item) ? 0 : error_set(err, "\"%s\" is not a number", f->key);
    }
}

/* JSON readers know doubles only: beyond 2^53 the nearest one, and no further than an int64_t. */
static int read_whole(const cJSON *json, const char *key, int64_t *value, struct error *err)
{
    double number = json_number(json, key, 0);

    if (number != floor(number))
        return error_set(err, "\"%s\" is not a whole number", key);
    *value = number >= 0x1p63 ? INT64_MAX : number <= -0x1p63 ? INT64_MIN : (int64_t)number;
    return 0;
}

/* Absent members read as "", 0, false, and NaN for numbers that may be null. */
static int read_field(const cJSON *json, const struct field *f, void *p, struct error *err)
{
    const char *text = json_string(json, f->key, "");
    bool integer = f->type == INTEGER32 || f->type == UNSIGNED32 || f->type == INTEGER64;
    int64_t whole = 0;

    if (check_type(json, f, err) || (integer && read_whole(json, f->key, &whole, err)))
        return -1;
    switch (f->type) {
    case TEXT:
        if (strlen(text) >= f->size)
            return error_set(err, "\"%s\" is longer than %zu characters", f->key, f->size - 1);
        memcpy(p, text, strlen(text) + 1);
        return 0;
    case NUMBER:
        *(double *)p = json_number(json, f->key, NAN);
        return 0;
    case INTEGER32:
    case UNSIGNED32:
        if (whole < (f->type == INTEGER32 ? INT32_MIN : 0) || whole > INT32_MAX)
            return error_set(err, "\"%s\" is out of range", f->key);
        *(int *)p = (int)whole;
        return 0;
    case INTEGER64:
        *(int64_t *)p = whole;
        return 0;
    case BOOLEAN:
        *(bool *)p = json_bool(json, f->key, false);
        return 0;
    }
    return 0;
}

static int read_fields(const cJSON *json, const struct field *f, void *to, struct error *err)
{
    if (!cJSON_IsObject(json))
        return error_set(err, "not a JSON object");
    for (; f->key; f++)
        if (read_field(json, f, (char *)to + f->offset, err))
            return -1;
    return 0;
}

static const struct field measurement_fields[] = {
    FIELD(BOOLEAN, measurement, vendor),   FIELD(NUMBER, measurement, max_error),
    FIELD(NUMBER, measurement, tolerance), FIELD(NUMBER, measurement, checked),
    FIELD(NUMBER, measurement, flops),     FIELD(NUMBER, measurement, bytes),
    FIELD(NUMBER, measurement, tokens),    FIELD(INTEGER64, measurement, footprint),
    FIELD(UNSIGNED32, measurement, batch), FIELD(UNSIGNED32, measurement, warmups),
    FIELD(TEXT, measurement, clock),       FIELD(INTEGER64, measurement, started_ms),
    FIELD(NUMBER, measurement, seconds),   FIELD_END,
};

static const struct field machine_fields[] = {
    FIELD(TEXT, machine, id),
    FIELD(TEXT, machine, class_name),
    FIELD(TEXT, machine, cpu),
    FIELD(INTEGER32, machine, cores),
    FIELD(INTEGER32, machine, threads),
    FIELD(TEXT, machine, isa),
    FIELD(INTEGER64, machine, l1d),
    FIELD(INTEGER64, machine, l2),
    FIELD(INTEGER64, machine, l3),
    FIELD(INTEGER32, machine, l3_shared_by),
    FIELD(INTEGER64, machine, memory),
    FIELD(TEXT, machine, gpu),
    FIELD_END,
};

static const struct field build_fields[] = {
    FIELD(TEXT, build, version),    FIELD(TEXT, build, commit),
    FIELD(TEXT, build, branch),     FIELD(BOOLEAN, build, dirty),
    FIELD(TEXT, build, compiler),   FIELD(TEXT, build, flags),
    FIELD(TEXT, build, build_type), FIELD_END,
};

static const struct field run_fields[] = {
    FIELD(TEXT, run, uuid),  FIELD(INTEGER64, run, started_ms), FIELD(INTEGER64, run, ended_ms),
    FIELD(TEXT, run, suite), FIELD(TEXT, run, label),           FIELD_END,
};

static const struct field ab_fields[] = {
    FIELD(TEXT, run_ab, id),
    FIELD(TEXT, run_ab, side),
    FIELD(UNSIGNED32, run_ab, block),
    FIELD_END,
};

static const struct field shard_fields[] = {
    FIELD(TEXT, run_shard, sweep),
    FIELD(UNSIGNED32, run_shard, index),
    FIELD(UNSIGNED32, run_shard, count),
    FIELD(TEXT, run_shard, plan),
    FIELD_END,
};

static const struct field roof_fields[] = {
    FIELD(TEXT, roof, name),
    FIELD(TEXT, roof, device),
    FIELD(TEXT, roof, unit),
    FIELD(NUMBER, roof, value),
    FIELD(NUMBER, roof, low),
    FIELD(NUMBER, roof, high),
    FIELD(NUMBER, roof, spec),
    FIELD(INTEGER64, roof, measured_ms),
    FIELD_END,
};

static void write_samples(cJSON *json, const struct measurement *m)
{
    cJSON *samples = cJSON_AddArrayToObject(json, "samples_ns");

    for (size_t i = 0; i < m->nr_samples; i++)
        cJSON_AddItemToArray(samples, cJSON_CreateNumber((double)m->samples[i]));
}

cJSON *measurement_to_json(const struct measurement *m)
{
    cJSON *json = cJSON_CreateObject(), *telemetry;

    cJSON_AddStringToObject(json, "key", m->bench.key);
    json_add_string(json, "fill", m->bench.fill);
    cJSON_AddStringToObject(json, "outcome", outcome_name(m->outcome));
    json_add_string(json, "message", m->message);
    write_fields(json, measurement_fields, m);
    json_add_string(json, "stop", stop_rule_name(m->stop));
    telemetry = cJSON_AddObjectToObject(json, "telemetry");
    for (int i = 0; i < m->nr_telemetry; i++)
        json_add_number(telemetry, m->telemetry[i].name, m->telemetry[i].value);
    cJSON *numbers = numbers_to_json(m->numbers, m->nr_numbers);
    if (numbers)
        cJSON_AddItemToObject(json, "numbers", numbers);
    write_samples(json, m);
    if (m->thinned)
        cJSON_AddTrueToObject(json, "thinned");
    return json;
}

static int read_sample_times(const cJSON *array, struct measurement *m, struct error *err)
{
    int nr = cJSON_GetArraySize(array);
    const cJSON *item;

    if (nr <= 0)
        return 0;
    m->samples = memory_resize(NULL, (size_t)nr, sizeof(*m->samples));
    cJSON_ArrayForEach(item, array)
    {
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble <= 0x1p53))
            return error_set(err, "\"samples_ns\" holds something that is not a time in ns");
        m->samples[m->nr_samples++] = (uint64_t)item->valuedouble;
    }
    return 0;
}

/* A part of the key that is a member, too: the two may not say different things. */
static int check_fill(const cJSON *json, const struct benchmark_name *name, struct error *err)
{
    const char *fill = json_string(json, "fill", name->fill);

    if (strcmp(fill, name->fill) == 0)
        return 0;
    return error_set(err, "\"fill\" is \"%.40s\" in the measurement of %s", fill, name->key);
}

static int read_outcome(const cJSON *json, struct measurement *m, struct error *err)
{
    const char *key, *outcome;

    if (json_get_string(json, "key", &key, err) ||
        json_get_string(json, "outcome", &outcome, err) ||
        benchmark_name_parse(key, &m->bench, err) || check_fill(json, &m->bench, err))
        return -1;
    int found = outcome_find(outcome), stop = stop_rule_find(json_string(json, "stop", ""));
    if (found < 0 || stop < 0)
        return error_set(err, "unknown outcome or stop rule in the measurement of %s", key);
    m->outcome = (enum outcome)found;
    m->stop = (enum stop_rule)stop;
    m->message = memory_string(json_string(json, "message", NULL));
    m->thinned = json_bool(json, "thinned", false);
    return 0;
}

int measurement_from_json(const cJSON *json, struct measurement *m, struct error *err)
{
    const cJSON *telemetry = cJSON_GetObjectItemCaseSensitive(json, "telemetry"), *item;

    *m = (struct measurement) { 0 };
    if (read_fields(json, measurement_fields, m, err) || read_outcome(json, m, err) ||
        read_sample_times(cJSON_GetObjectItemCaseSensitive(json, "samples_ns"), m, err) ||
        numbers_from_json(cJSON_GetObjectItemCaseSensitive(json, "numbers"), m->numbers,
                          &m->nr_numbers, err))
        return -1;
    if (m->nr_samples > 0 && m->batch == 0)
        return error_set(err, "%s has samples but \"batch\" is 0", m->bench.key);
    if (!cJSON_HasObjectItem(json, "tokens"))
        m->tokens = legacy_tokens(&m->bench);
    if (measurement_check(m, err))
        return error_prefix(err, "%s", m->bench.key);
    for (item = cJSON_IsObject(telemetry) ? telemetry->child : NULL; item; item = item->next)
        if (cJSON_IsNumber(item))
            measurement_add_telemetry(m, item->string, item->valuedouble);
    return 0;
}

static void add_raw(cJSON *json, const char *key, const char *text)
{
    cJSON *value = text ? cJSON_Parse(text) : NULL;

    if (value)
        cJSON_AddItemToObject(json, key, value);
}

cJSON *build_to_json(const struct build *b)
{
    cJSON *json = cJSON_CreateObject();

    write_fields(json, build_fields, b);
    return json;
}

int build_from_json(const cJSON *json, struct build *b, struct error *err)
{
    *b = (struct build) { .dirty = false };
    return read_fields(json, build_fields, b, err);
}

/* A member for each that the run is. */
static void write_parts(cJSON *json, const struct run *r)
{
    cJSON_AddStringToObject(json, "kind", run_kind_name(r->kind));
    if (r->ab.block)
        write_fields(cJSON_AddObjectToObject(json, "ab"), ab_fields, &r->ab);
    if (r->shard.count || r->shard.sweep[0])
        write_fields(cJSON_AddObjectToObject(json, "shard"), shard_fields, &r->shard);
}

cJSON *run_to_json(const struct run *r)
{
    cJSON *json = cJSON_CreateObject();

    write_fields(json, run_fields, r);
    write_parts(json, r);
    write_fields(cJSON_AddObjectToObject(json, "machine"), machine_fields, &r->machine);
    cJSON_AddItemToObject(json, "build", build_to_json(&r->build));
    add_raw(json, "environment", r->environment);
    add_raw(json, "settings", r->settings);
    return json;
}

static char *take_raw(const cJSON *json, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, key);

    return value ? cJSON_PrintUnformatted(value) : NULL;
}

static int read_part(const cJSON *json, const char *key, const struct field *fields, void *to,
                     struct error *err)
{
    const cJSON *part = cJSON_GetObjectItemCaseSensitive(json, key);

    if (!part || read_fields(part, fields, to, err) == 0)
        return 0;
    return error_prefix(err, "\"%s\"", key);
}

/* Of JSON that does not state a kind none of these is stated. */
static int read_parts(const cJSON *json, struct run *r, struct error *err)
{
    if (!cJSON_HasObjectItem(json, "kind")) {
        legacy_run_facts(r);
        return 0;
    }
    int kind = run_kind_find(json_string(json, "kind", ""));
    if (kind < 0)
        return error_set(err,
                         "\"kind\" is not \"measured\", \"profile\", \"imported\" or \"trial\"");
    r->kind = (enum run_kind)kind;
    if (read_part(json, "ab", ab_fields, &r->ab, err))
        return -1;
    return read_part(json, "shard", shard_fields, &r->shard, err);
}

int run_from_json(const cJSON *json, struct run *r, struct error *err)
{
    *r = (struct run) { 0 };
    if (read_fields(json, run_fields, r, err))
        return -1;
    if (read_fields(cJSON_GetObjectItemCaseSensitive(json, "machine"), machine_fields, &r->machine,
                    err))
        return error_prefix(err, "\"machine\"");
    if (build_from_json(cJSON_GetObjectItemCaseSensitive(json, "build"), &r->build, err))
        return error_prefix(err, "\"build\"");
    r->environment = take_raw(json, "environment");
    r->settings = take_raw(json, "settings");
    return read_parts(json, r, err);
}

cJSON *roof_to_json(const struct roof *c)
{
    cJSON *json = cJSON_CreateObject();

    write_fields(json, roof_fields, c);
    return json;
}

int roof_from_json(const cJSON *json, struct roof *c, struct error *err)
{
    *c = (struct roof) { 0 };
    return read_fields(json, roof_fields, c, err) || roof_check(c, err) ? -1 : 0;
}

cJSON *records_to_json(const struct records *r)
{
    cJSON *json = cJSON_CreateObject();
    cJSON *runs, *roofs;
    cJSON **lists = memory_zeroed(r->nr_runs + 1, sizeof(*lists));

    cJSON_AddNumberToObject(json, "schema_version", 1);
    runs = cJSON_AddArrayToObject(json, "runs");
    for (size_t i = 0; i < r->nr_runs; i++) {
        cJSON *run = run_to_json(&r->runs[i]);
        cJSON_AddItemToArray(runs, run);
        lists[i] = cJSON_AddArrayToObject(run, "measurements");
    }
    for (size_t i = 0; i < r->nr; i++) {
        cJSON *m = measurement_to_json(&r->items[i].m);
        json_add_int(m, "launch", r->items[i].launch_seq);
        cJSON_AddItemToArray(lists[r->items[i].run], m);
    }
    roofs = cJSON_AddArrayToObject(json, "ceilings");
    for (size_t i = 0; i < r->nr_roofs; i++)
        cJSON_AddItemToArray(roofs, roof_to_json(&r->roofs[i]));
    free(lists);
    return json;
}

static int read_run(const cJSON *json, struct records *r, struct error *err)
{
    int index = (int)r->nr_runs;
    const cJSON *item;

    if (run_from_json(json, records_add_run(r), err))
        return error_prefix(err, "run %d", index + 1);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "measurements"))
    {
        struct record *record = records_add(r, index, (int)json_int(item, "launch", 0));
        if (measurement_from_json(item, &record->m, err))
            return error_prefix(err, "run %d, measurement", index + 1);
    }
    return 0;
}

/* Other things that harness writes, each by a member that it has. */
static const char *other_json(const cJSON *json)
{
    static const struct {
        const char *member, *what;
    } others[] = {
        { "benchmarks", ": this looks like a summary" },
        { "rows", ": this looks like a comparison" },
        { "commands", ": this looks like a comparison" },
        { "cards", ": this looks like a trend" },
        { "panels", ": this looks like a figure" },
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (cJSON_GetObjectItemCaseSensitive(json, others[i].member))
            return others[i].what;
    return "";
}

static int check_runs(const cJSON *json, struct error *err)
{
    const cJSON *runs = cJSON_GetObjectItemCaseSensitive(json, "runs");

    if (cJSON_IsArray(runs))
        return 0;
    return error_set(err,
                     "\"runs\" is %s%s; records are what `harness run --json` and `harness history "
                     "show` write",
                     runs ? "no list" : "missing", other_json(json));
}

int records_from_json(const cJSON *json, struct records *r, struct error *err)
{
    const cJSON *item;
    int64_t version;

    *r = (struct records) { 0 };
    if (json_get_int(json, "schema_version", &version, err))
        return -1;
    if (version != 1)
        return error_set(err, "schema_version is %lld; this harness reads version 1",
                         (long long)version);
    if (check_runs(json, err))
        return -1;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "runs"))
    {
        if (read_run(item, r, err))
            return -1;
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "ceilings"))
    {
        r->roofs = array_grow(r->roofs, r->nr_roofs, &r->roofs_capacity, sizeof(*r->roofs));
        if (roof_from_json(item, &r->roofs[r->nr_roofs++], err))
            return -1;
    }
    return 0;
}
