/* SPDX-License-Identifier: MIT */
/* pytest-benchmark's --benchmark-json and its storage. */
#include "importers/import_base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double ns = 1e9; /* in a second, pytest-benchmark's unit */

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
    import_fact_of(b, "system", info, "system");
    import_fact_of(b, "kernel_release", info, "release");
    IMPORT_COPY(b->run->build.compiler, info, "python_compiler");
}

static void pytest_read_commit(struct import_build *b, const cJSON *info)
{
    struct build *build = &b->run->build;
    const char *branch = json_string(info, "branch", "");

    IMPORT_COPY(build->commit, info, "id");
    if (branch[0] != '(') /* "(detached head)", "(unknown)" */
        import_copy(build->branch, sizeof(build->branch), branch);
    build->dirty = json_bool(info, "dirty", false);
}

/* A number or text as it stands in a name. */
static bool pytest_parameter_text(const cJSON *item, char text[64])
{
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
static void pytest_read_name(struct import_name *name, const char *text, const cJSON *params)
{
    size_t length = strcspn(text, "[");
    const cJSON *item;
    char value[64];

    import_name_init(name, text);
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

static int pytest_read_times(struct import_build *b, const cJSON *stats, struct import_case *c)
{
    const cJSON *data = import_member(stats, "data"), *item;
    double iterations = import_optional(stats, "iterations");

    if (data && !cJSON_IsArray(data))
        return import_refuse(b, data, "\"data\" is no list");
    if (isnan(iterations))
        iterations = 1;
    if (iterations < 1)
        return import_refuse(b, import_member(stats, "iterations"),
                             "\"iterations\" is %g: nothing was measured", iterations);
    if (!pytest_is_whole(data, import_optional(stats, "rounds"))) {
        b->statistic = "the median of the rounds";
        return import_statistic_of(b, c, stats, "median", ns);
    }
    cJSON_ArrayForEach(item, data)
    {
        double value = 0;
        import_value(item, &value);
        if (import_time(b, c, item, value * ns, iterations))
            return -1;
    }
    return 0;
}

static int pytest_read_benchmark(void *context, const cJSON *entry)
{
    struct import_build *b = context;
    const cJSON *stats = import_member(entry, "stats");
    const cJSON *options = import_member(entry, "options");
    const char *key = cJSON_HasObjectItem(entry, "fullname") ? "fullname" : "name", *text;
    struct import_name name;

    if (import_text(b, entry, key, &text))
        return -1;
    if (!cJSON_IsObject(stats))
        return import_refuse(b, entry, "\"stats\" is missing or no object");
    pytest_read_name(&name, text, import_member(entry, "params"));
    b->clock = json_string(options, "timer", "pytest-benchmark");
    struct import_case *c = import_case(b, &name);
    import_note_again(b, c, "rounds");
    return pytest_read_times(b, stats, c);
}

static bool pytest_fits(const cJSON *root)
{
    return import_member(import_first(root, "benchmarks"), "stats") ||
           import_member(root, "machine_info");
}

static int pytest_parse(struct import_build *b)
{
    const cJSON *root = b->source.root, *benchmarks;

    if (import_list(b, root, "benchmarks", &benchmarks))
        return -1;
    pytest_read_machine(b, import_member(root, "machine_info"));
    pytest_read_commit(b, import_member(root, "commit_info"));
    import_fact_of(b, "tool_version", root, "version");
    return import_date(b, root, "datetime") ||
                   import_each(b, benchmarks, "a benchmark", pytest_read_benchmark, b)
               ? -1
               : 0;
}

const struct import_format_row import_pytest = {
    .name = "pytest", .title = "pytest-benchmark", .fits = pytest_fits, .parse = pytest_parse
};
