/* SPDX-License-Identifier: MIT */
/* pytest-benchmark's --benchmark-json and its storage. */
#include "importers/base/import_form.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void pytest_read_machine(struct import_build *b, const cJSON *info)
{
    const cJSON *cpu = import_member(info, "cpu");
    const char *brand = json_string(cpu, "brand_raw", json_string(cpu, "brand", ""));
    double count = import_optional(cpu, "count");
    struct machine *m = &b->run->machine;
    char python[128];

    import_copy(m->cpu, sizeof(m->cpu), *brand ? brand : json_string(info, "machine", ""));
    import_processors(m, count);
    snprintf(python, sizeof(python), "%.60s %.60s", json_string(info, "python_implementation", ""),
             json_string(info, "python_version", ""));
    if (python[0] != ' ')
        import_fact(b, "python", python);
    import_fact_of(b, "host", info, "node");
    import_fact_of(b, "system", info, "system");
    import_fact_of(b, "kernel_release", info, "release");
    IMPORT_COPY(b->run->build.compiler, info, "python_compiler");
}

static void pytest_read_commit(struct import_build *b, const cJSON *info)
{
    struct build *build = &b->run->build;
    const char *branch = json_string(info, "branch", "");

    import_commit(b, json_string(info, "id", "")); /* "unversioned" is none */
    if (branch[0] != '(')                          /* "(detached head)", "(unknown)" */
        import_copy(build->branch, sizeof(build->branch), branch);
    build->dirty = json_bool(info, "dirty", false);
}

/* A number or text as it stands in a name. What pytest-benchmark cannot write stands there with its
 * address ("UNSERIALIZABLE[<function quick at 0x7f3a>]"), another one in each process. */
static bool pytest_parameter_text(const cJSON *item, char text[64])
{
    static const char unwritten[] = "UNSERIALIZABLE[";

    if (cJSON_IsString(item) && strncmp(item->valuestring, unwritten, sizeof(unwritten) - 1) == 0)
        return false;
    if (cJSON_IsString(item) && strlen(item->valuestring) < 64)
        snprintf(text, 64, "%s", item->valuestring);
    else if (cJSON_IsNumber(item) && isfinite(item->valuedouble))
        snprintf(text, 64, "%.12g", item->valuedouble);
    else if (cJSON_IsBool(item))
        snprintf(text, 64, "%s", cJSON_IsTrue(item) ? "True" : "False");
    else
        return false;
    return text[0] && !strchr(text, '/');
}

/* "bench.py::test_sort[8-quick]" with params becomes "bench.py::test_sort/how=quick/n=8". Without
 * them, or where one is no plain value, the name stays. */
static void pytest_make_name(struct import_name *name, const char *text, const cJSON *params)
{
    size_t length = strcspn(text, "[");
    const cJSON *item;
    char value[64];

    strbuf_adds(&name->text, text);
    if (!cJSON_IsObject(params) || !params->child || text[length] == '\0')
        return;
    cJSON_ArrayForEach(item, params)
    {
        if (!pytest_parameter_text(item, value) || strpbrk(item->string, "/,="))
            return;
    }
    strbuf_clear(&name->text);
    strbuf_add(&name->text, text, length);
    cJSON_ArrayForEach(item, params)
    {
        pytest_parameter_text(item, value);
        import_name_parameter(name, item->string, value);
    }
}

static int pytest_read_name(struct import_entry *e)
{
    const char *key = cJSON_HasObjectItem(e->node, "fullname") ? "fullname" : "name", *text;

    if (import_text(e->b, e->node, key, &text))
        return -1;
    if (!cJSON_IsObject(import_entry_at(e, "stats")))
        return import_refuse(e->b, e->node, "\"stats\" is missing or no object");
    pytest_make_name(&e->name, text, import_entry_at(e, "params"));
    e->b->clock = json_string(import_entry_at(e, "options"), "timer", "pytest-benchmark");
    return 0;
}

/* Raw samples are whole if they are as many as the rounds; some tools shorten files. */
static bool pytest_is_whole(const cJSON *data, double rounds)
{
    const cJSON *item;
    double nr = 0, value;

    cJSON_ArrayForEach(item, data)
    {
        if (!import_value(item, &value))
            return false;
        nr++;
    }
    return nr > 0 && (isnan(rounds) || nr == rounds);
}

static int pytest_check_times(struct import_entry *e)
{
    const cJSON *stats = import_entry_at(e, "stats"), *data = import_member(stats, "data");

    if (data && !cJSON_IsArray(data))
        return import_refuse(e->b, data, "\"data\" is no list");
    if (data && !pytest_is_whole(data, import_optional(stats, "rounds")))
        import_take(data);
    return 0;
}

static const struct import_field fields[] = {
    { "fullname", FIELD_SKIP, NULL },
    { "name", FIELD_SKIP, NULL },
    { "params", FIELD_SKIP, NULL },
    { "param", FIELD_SKIP, NULL },
    { "options", FIELD_SKIP, NULL },
    { "extra_info.*", FIELD_BESIDE, NULL },
    { "stats.iterations", FIELD_BATCH, NULL },
    { "stats.data", FIELD_SAMPLES, NULL },
    { "stats.median", FIELD_TIME, "median" },
    { "stats.mean", FIELD_SUMMARY, "mean" },
    { "stats.min", FIELD_SUMMARY, "min" },
    { "stats.max", FIELD_SUMMARY, "max" },
    { "stats.stddev", FIELD_SUMMARY, "std" },
    { "stats.q1", FIELD_SUMMARY, "p25" },
    { "stats.q3", FIELD_SUMMARY, "p75" },
    { "stats", FIELD_SKIP, NULL }, /* the rest follows */
    FIELDS_END,
};

static const struct import_field file[] = {
    { "version", FIELD_FACT, "tool_version" },
    { "datetime", FIELD_DATE, NULL },
    FIELDS_END,
};

/* Samples are of one call; those of several calls are means of as many. */
static const struct import_form form = {
    .entries = "benchmarks[]",
    .unit = "s",
    .statistic = "the median of the rounds",
    .fields = fields,
    .file = file,
    .read_name = pytest_read_name,
    .read_times = pytest_check_times,
};

static int pytest_parse(struct import_build *b)
{
    pytest_read_machine(b, import_member(b->source.root, "machine_info"));
    pytest_read_commit(b, import_member(b->source.root, "commit_info"));
    return import_read_form(b, &form);
}

const struct import_format_row import_pytest = {
    .signs = { "benchmarks[].stats", "machine_info benchmarks[" }, .parse = pytest_parse
};
