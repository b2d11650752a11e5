/* SPDX-License-Identifier: MIT */
/* BenchmarkDotNet's JSON. The full one has each measurement, with the number of its process. */
#include "importers/base/import_form.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct import_field fields[] = {
    { "Namespace", FIELD_SKIP, NULL }, /* jointly the name, see below */
    { "Type", FIELD_SKIP, NULL },
    { "Method", FIELD_SKIP, NULL },
    { "MethodTitle", FIELD_SKIP, NULL },
    { "Parameters", FIELD_SKIP, NULL },
    { "FullName", FIELD_SKIP, NULL },
    { "DisplayInfo", FIELD_SKIP, NULL },
    { "HardwareIntrinsics", FIELD_SKIP, NULL }, /* of the machine */
    { "Statistics.Median", FIELD_TIME, "median" },
    { "Statistics.Mean", FIELD_TIME, "mean" },
    { "Statistics.Min", FIELD_SUMMARY, "min" },
    { "Statistics.Max", FIELD_SUMMARY, "max" },
    { "Statistics.StandardDeviation", FIELD_SUMMARY, "std" },
    { "Statistics.Percentiles.P95", FIELD_SUMMARY, "p95" },
    { "Statistics", FIELD_SKIP, NULL },
    { "Memory.BytesAllocatedPerOperation", FIELD_BESIDE, "allocated_bytes" },
    { "Memory.Gen0Collections", FIELD_BESIDE, "gen0_collections" },
    { "Memory.Gen1Collections", FIELD_BESIDE, "gen1_collections" },
    { "Memory.Gen2Collections", FIELD_BESIDE, "gen2_collections" },
    { "Memory.TotalOperations", FIELD_SKIP, NULL },
    FIELDS_END,
};

static const struct import_field file[] = {
    { "HostEnvironmentInfo.BenchmarkDotNetVersion", FIELD_FACT, "tool_version" },
    { "HostEnvironmentInfo.OsVersion", FIELD_FACT, "system" },
    { "HostEnvironmentInfo.ProcessorName", FIELD_CPU, NULL },
    { "HostEnvironmentInfo.LogicalCoreCount", FIELD_PROCESSORS, NULL },
    { "HostEnvironmentInfo.RuntimeVersion", FIELD_FACT, "runtime" },
    { "HostEnvironmentInfo.DotNetCliVersion", FIELD_FACT, "dotnet" },
    { "HostEnvironmentInfo.Configuration", FIELD_FACT, "configuration" },
    FIELDS_END,
};

/* "N=10&Mode=Fast", or with ", " between them. */
static void dotnet_read_parameters(struct import_entry *e, const char *text)
{
    char copy[512], *rest = copy, *part;

    snprintf(copy, sizeof(copy), "%s", text);
    while ((part = strsep(&rest, "&,"))) {
        char *value = strchr(part, '=');
        part += strspn(part, " ");
        if (!value) {
            import_name_part(&e->name, part);
            continue;
        }
        *value = '\0';
        import_name_parameter(&e->name, part, value + 1);
    }
}

/* "Sort.Quick: Job-ABCDEF(Runtime=.NET 8.0) [N=10]": what sets the job apart, for a file may have
 * several. The letters of a job are new each time. */
static void dotnet_read_job(struct import_entry *e, const char *text)
{
    const char *job = strstr(text, ": ");
    size_t length = job ? strcspn(job + 2, "([") : 0;
    char name[200];

    if (!job)
        return;
    job += 2;
    bool own = strncmp(job, "Job-", 4) == 0;
    if (own && job[length] == '(') {
        job += length + 1;
        length = strcspn(job, ")");
    }
    while (length && job[length - 1] == ' ')
        length--;
    snprintf(name, sizeof(name), "%.*s", (int)(length < 150 ? length : 150), job);
    if (strcmp(name, "DefaultJob") != 0 && strncmp(name, "Job-", 4) != 0)
        import_name_part(&e->name, name);
}

static int dotnet_read_name(struct import_entry *e)
{
    static const char *const keys[] = { "Namespace", "Type", "Method" };
    struct strbuf *name = &e->name.text;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *text = json_string(e->node, keys[i], "");
        strbuf_addf(name, "%s%s", name->length && *text ? "." : "", text);
    }
    if (!name->length)
        strbuf_adds(name, json_string(e->node, "FullName", ""));
    dotnet_read_job(e, json_string(e->node, "DisplayInfo", ""));
    dotnet_read_parameters(e, json_string(e->node, "Parameters", ""));
    return 0;
}

static void dotnet_read_metrics(struct import_entry *e)
{
    const cJSON *all = import_entry_at(e, "Metrics"), *item;

    import_take(all);
    cJSON_ArrayForEach(item, all)
    {
        const char *id = json_string(import_member(item, "Descriptor"), "Id", "");
        if (strcmp(id, "Allocated Memory") != 0 && strstr(id, "Gen") != id) /* those of "Memory" */
            import_beside(e->b, e->c, id, import_optional(item, "Value"));
    }
}

/* Of those that count: the workload's, less the overhead. */
static int dotnet_read_measurement(struct import_entry *e, const cJSON *item)
{
    double operations = import_optional(item, "Operations");
    double ns = import_optional(item, "Nanoseconds"), index = import_optional(item, "LaunchIndex");

    if (strcmp(json_string(item, "IterationStage", ""), "Result") != 0)
        return 0;
    if (!(operations >= 1) || !(index >= 1 && index <= 100000) || index != floor(index) ||
        isnan(ns))
        return import_refuse(e->b, item,
                             "a measurement needs Operations, Nanoseconds and LaunchIndex");
    e->batch = operations;
    return import_entry_sample(e, import_entry_launch(e, (int)index - 1), item, ns / operations);
}

static int dotnet_read_times(struct import_entry *e)
{
    const cJSON *all = import_entry_at(e, "Measurements"), *item;
    const cJSON *statistics = import_entry_at(e, "Statistics");

    dotnet_read_metrics(e);
    if (!cJSON_IsObject(statistics))
        import_fail(e->c, OUTCOME_FAILED, "the file has no result for it");
    import_take(all);
    cJSON_ArrayForEach(item, all)
    {
        if (dotnet_read_measurement(e, item))
            return -1;
    }
    e->batch = 1;
    if (e->c->times.nr > e->times)
        return 0;
    cJSON_ArrayForEach(item, import_member(statistics, "OriginalValues"))
    {
        double ns;
        if (!import_value(item, &ns))
            return import_refuse(e->b, item, "a sample is no finite number");
        if (import_entry_sample(e, e->c, item, ns))
            return -1;
    }
    return 0;
}

static const struct import_form form = {
    .entries = "Benchmarks[]",
    .unit = "ns",
    .clock = "BenchmarkDotNet",
    .statistic = "the median or mean",
    .fields = fields,
    .file = file,
    .read_name = dotnet_read_name,
    .read_times = dotnet_read_times,
};

const struct import_format_row import_benchmarkdotnet = {
    .signs = { "Benchmarks[ HostEnvironmentInfo", "Benchmarks[].Statistics" },
    .form = &form,
};
