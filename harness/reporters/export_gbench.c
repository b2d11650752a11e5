/* SPDX-License-Identifier: MIT */
/* The member names are those of Google Benchmark's JSON reporter (v1.7), so that its tools, and
 * those made for it, read the file. */
#include "reporters/export.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "metrics/run_rows.h"
#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void gbench_add_caches(cJSON *context, const struct machine *machine)
{
    const struct {
        const char *type;
        int level;
        int64_t size;
        int sharing;
    } rows[] = {
        { "Data", 1, machine->l1d, 1 },
        { "Unified", 2, machine->l2, 1 },
        { "Unified", 3, machine->l3, machine->l3_shared_by },
    };
    cJSON *caches = cJSON_AddArrayToObject(context, "caches");

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].size <= 0)
            continue;
        cJSON *cache = cJSON_CreateObject();
        cJSON_AddStringToObject(cache, "type", rows[i].type);
        cJSON_AddNumberToObject(cache, "level", rows[i].level);
        json_add_int(cache, "size", rows[i].size);
        cJSON_AddNumberToObject(cache, "num_sharing", rows[i].sharing);
        cJSON_AddItemToArray(caches, cache);
    }
}

static void gbench_add_context(cJSON *json, const struct run *run, const char *executable)
{
    cJSON *context = cJSON_AddObjectToObject(json, "context");

    /* ISO 8601 with an offset, as Google Benchmark writes it. */
    char when[TEXT_UNIT_SIZE], date[TEXT_UNIT_SIZE + 8];
    text_timestamp(run->started_ms, when);
    when[10] = 'T';
    snprintf(date, sizeof(date), "%.19s+00:00", when);
    cJSON_AddStringToObject(context, "date", date);
    cJSON_AddStringToObject(context, "host_name", run->machine.class_name);
    json_add_string(context, "executable", executable);
    cJSON_AddNumberToObject(context, "num_cpus", run->machine.threads);
    gbench_add_caches(context, &run->machine);
    cJSON_AddArrayToObject(context, "load_avg");
    cJSON_AddStringToObject(context, "library_build_type",
                            strcmp(run->build.build_type, "Debug") == 0 ? "debug" : "release");
    cJSON_AddTrueToObject(context, "harness_launches"); /* what its repetitions are */
    json_add_string(context, "harness_version", run->build.version);
    json_add_string(context, "harness_commit", run->build.commit);
}

static cJSON *gbench_add_entry(cJSON *benchmarks, const struct benchmark_name *name,
                               const char *suffix, size_t family)
{
    cJSON *entry = cJSON_CreateObject();
    char text[KEY_SIZE + 16];

    snprintf(text, sizeof(text), "%s%s", name->key, suffix);
    cJSON_AddStringToObject(entry, "name", text);
    cJSON_AddNumberToObject(entry, "family_index", (double)family);
    cJSON_AddNumberToObject(entry, "per_family_instance_index", 0);
    cJSON_AddStringToObject(entry, "run_name", name->key);
    cJSON_AddItemToArray(benchmarks, entry);
    return entry;
}

/* The device's time stands for both: harness measures one clock, and says which. */
static void gbench_add_times(cJSON *entry, double ns, const char *unit)
{
    cJSON_AddNumberToObject(entry, "real_time", ns);
    cJSON_AddNumberToObject(entry, "cpu_time", ns);
    cJSON_AddStringToObject(entry, "time_unit", unit);
}

static void gbench_add_rates(cJSON *entry, const struct measurement *m, double ns)
{
    if (m->bytes > 0)
        cJSON_AddNumberToObject(entry, "bytes_per_second", m->bytes / ns * 1e9);
    if (m->flops > 0)
        cJSON_AddNumberToObject(entry, "FLOPS", m->flops / ns * 1e9);
}

static void gbench_add_repetitions(cJSON *benchmarks, const struct run_row *row, size_t family)
{
    const struct summary *s = &row->summary;

    for (size_t i = 0; i < s->nr_launches; i++) {
        cJSON *entry = gbench_add_entry(benchmarks, row->bench, "", family);
        cJSON_AddStringToObject(entry, "run_type", "iteration");
        cJSON_AddNumberToObject(entry, "repetitions", (double)s->nr_launches);
        cJSON_AddNumberToObject(entry, "repetition_index", (double)i);
        cJSON_AddNumberToObject(entry, "threads", 1);
        cJSON_AddNumberToObject(entry, "iterations", floor((double)s->n / (double)s->nr_launches));
        gbench_add_times(entry, s->medians[i], "ns");
        gbench_add_rates(entry, s->m, s->medians[i]);
    }
}

static void gbench_add_aggregates(cJSON *benchmarks, const struct run_row *row, size_t family)
{
    const struct summary *s = &row->summary;
    double *copy, mean = stats_mean(s->medians, s->nr_launches);
    double sd = stats_sd(s->medians, s->nr_launches);

    copy = memcpy(memory_zeroed(s->nr_launches, sizeof(*copy)), s->medians,
                  s->nr_launches * sizeof(*copy));
    const struct {
        const char *name;
        double value;
        bool ratio;
    } rows[] = {
        { "mean", mean, false },
        { "median", stats_median(copy, s->nr_launches), false },
        { "stddev", sd, false },
        { "cv", sd / mean, true },
    };
    free(copy);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char suffix[16];
        snprintf(suffix, sizeof(suffix), "_%s", rows[i].name);
        cJSON *entry = gbench_add_entry(benchmarks, row->bench, suffix, family);
        cJSON_AddStringToObject(entry, "run_type", "aggregate");
        cJSON_AddNumberToObject(entry, "repetitions", (double)s->nr_launches);
        cJSON_AddNumberToObject(entry, "threads", 1);
        cJSON_AddStringToObject(entry, "aggregate_name", rows[i].name);
        cJSON_AddStringToObject(entry, "aggregate_unit", rows[i].ratio ? "percentage" : "time");
        cJSON_AddNumberToObject(entry, "iterations", (double)s->nr_launches);
        gbench_add_times(entry, rows[i].value, "ns");
    }
}

static void gbench_add_failure(cJSON *benchmarks, const struct run_row *row, size_t family)
{
    cJSON *entry = gbench_add_entry(benchmarks, row->bench, "", family);
    char message[256];

    snprintf(message, sizeof(message), "%s%s%.200s", outcome_name(row->outcome),
             row->message ? ": " : "", row->message ? row->message : "");
    cJSON_AddStringToObject(entry, "run_type", "iteration");
    cJSON_AddNumberToObject(entry, "repetitions", 1);
    cJSON_AddNumberToObject(entry, "repetition_index", 0);
    cJSON_AddNumberToObject(entry, "threads", 1);
    cJSON_AddTrueToObject(entry, "error_occurred");
    cJSON_AddStringToObject(entry, "error_message", message);
    cJSON_AddNumberToObject(entry, "iterations", 0);
    gbench_add_times(entry, 0, "ns");
}

cJSON *export_gbench(const struct records *records, int run, const char *executable)
{
    cJSON *json = cJSON_CreateObject();
    struct run_rows rows;

    run = run < 0 ? run_newest(records) : run;
    run_rows_init(&rows, records, run);
    if (run >= 0)
        gbench_add_context(json, &records->runs[run], executable);
    cJSON *benchmarks = cJSON_AddArrayToObject(json, "benchmarks");
    for (size_t i = 0; i < rows.nr; i++) {
        const struct run_row *row = &rows.items[i];
        gbench_add_repetitions(benchmarks, row, i);
        if (row->summary.nr_launches > 1)
            gbench_add_aggregates(benchmarks, row, i);
        if (!row->summary.nr_launches)
            gbench_add_failure(benchmarks, row, i);
    }
    run_rows_release(&rows);
    return json;
}
