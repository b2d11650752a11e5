/* SPDX-License-Identifier: MIT */
/* pytest-benchmark's --benchmark-json and its storage. */
#include "output/import_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double ns = 1e9; /* in a second, pytest-benchmark's unit */

static void read_machine(struct import_build *b, const cJSON *info)
{
    const cJSON *cpu = cJSON_GetObjectItemCaseSensitive(info, "cpu");
    const char *brand = json_string(cpu, "brand_raw", json_string(cpu, "brand", ""));
    double count = import_optional(cpu, "count");
    struct machine *m = &b->run->machine;
    char python[128];

    import_copy(m->cpu, sizeof(m->cpu), *brand ? brand : json_string(info, "machine", ""));
    if (count >= 1 && count < 1e6)
        m->threads = m->cores = (int)count;
    snprintf(python, sizeof(python), "%.60s %.60s", json_string(info, "python_implementation", ""),
             json_string(info, "python_version", ""));
    if (python[0] != ' ')
        import_fact(b, "python", python);
    import_fact(b, "system", json_string(info, "system", ""));
    import_fact(b, "kernel_release", json_string(info, "release", ""));
    import_copy(b->run->build.compiler, sizeof(b->run->build.compiler),
                json_string(info, "python_compiler", ""));
}

static void read_commit(struct import_build *b, const cJSON *info)
{
    struct build *build = &b->run->build;
    const char *branch = json_string(info, "branch", "");

    import_copy(build->commit, sizeof(build->commit), json_string(info, "id", ""));
    if (branch[0] != '(') /* "(detached head)", "(unknown)" */
        import_copy(build->branch, sizeof(build->branch), branch);
    build->dirty = json_bool(info, "dirty", false);
}

/* A number or text as it stands in a name. */
static bool parameter_text(const cJSON *item, char text[64])
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
static void read_name(struct import_name *name, const char *text, const cJSON *params)
{
    size_t length = strcspn(text, "[");
    const cJSON *item;
    char value[64];

    import_name_init(name, text);
    if (!cJSON_IsObject(params) || !params->child || text[length] == '\0')
        return;
    cJSON_ArrayForEach(item, params)
    {
        if (!parameter_text(item, value) || strpbrk(item->string, "/,="))
            return;
    }
    strbuf_clear(&name->text);
    strbuf_add(&name->text, text, length);
    cJSON_ArrayForEach(item, params)
    {
        parameter_text(item, value);
        import_name_parameter(name, item->string, value);
    }
}

/* Raw samples are whole if they are as many as the rounds; some tools shorten files. */
static bool is_whole(const cJSON *data, double rounds)
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

static int read_times(struct import_build *b, const cJSON *stats, struct import_case *c)
{
    const cJSON *data = cJSON_GetObjectItemCaseSensitive(stats, "data"), *item;
    double iterations = import_optional(stats, "iterations"), median;

    if (data && !cJSON_IsArray(data))
        return import_refuse(b, data, "\"data\" is no list");
    if (isnan(iterations))
        iterations = 1;
    if (iterations < 1)
        return import_refuse(b, cJSON_GetObjectItemCaseSensitive(stats, "iterations"),
                             "\"iterations\" is %g: nothing was measured", iterations);
    if (!is_whole(data, import_optional(stats, "rounds"))) {
        b->statistic = "the median of the rounds";
        return import_number(b, stats, "median", 0, &median) ||
                       import_statistic(b, c, cJSON_GetObjectItemCaseSensitive(stats, "median"),
                                        median * ns)
                   ? -1
                   : 0;
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

static int read_benchmark(struct import_build *b, const cJSON *entry)
{
    const cJSON *stats = cJSON_GetObjectItemCaseSensitive(entry, "stats");
    const cJSON *options = cJSON_GetObjectItemCaseSensitive(entry, "options");
    const char *key = cJSON_HasObjectItem(entry, "fullname") ? "fullname" : "name", *text;
    struct import_name name;

    if (import_text(b, entry, key, &text))
        return -1;
    if (!cJSON_IsObject(stats))
        return import_refuse(b, entry, "\"stats\" is missing or no object");
    read_name(&name, text, cJSON_GetObjectItemCaseSensitive(entry, "params"));
    b->clock = json_string(options, "timer", "pytest-benchmark");
    struct import_case *c = import_case(b, &name, 0);
    import_name_release(&name);
    if (c->times.nr)
        import_note(b, "\"%.80s\" is there more than once: its rounds are put together",
                    c->m.bench.key);
    return read_times(b, stats, c);
}

int import_pytest(struct import_build *b)
{
    const cJSON *root = b->source.root, *item;
    const cJSON *benchmarks = cJSON_GetObjectItemCaseSensitive(root, "benchmarks");

    if (!cJSON_IsArray(benchmarks))
        return import_refuse(b, root, "\"benchmarks\" is missing or no list");
    read_machine(b, cJSON_GetObjectItemCaseSensitive(root, "machine_info"));
    read_commit(b, cJSON_GetObjectItemCaseSensitive(root, "commit_info"));
    import_fact(b, "tool_version", json_string(root, "version", ""));
    if (import_date(b, root, "datetime"))
        return -1;
    cJSON_ArrayForEach(item, benchmarks)
    {
        if (!cJSON_IsObject(item))
            return import_refuse(b, item, "a benchmark is no object");
        if (read_benchmark(b, item))
            return -1;
    }
    return 0;
}
