/* SPDX-License-Identifier: MIT */
/* The member names are those of Google Benchmark's JSON reporter (v1.7 to v1.9, json_schema_version
 * 1), so that its tools, and those made for it, read the file. What is not known is absent; where
 * its readers need a number it is 0. */
#include "reporters/export.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "metrics/roofline.h"
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

/* Mean over what was measured; of imported runs what their tool said. */
static double gbench_mhz(const struct run_rows *rows, const cJSON *environment)
{
    double sum = 0;
    size_t nr = 0;

    for (size_t i = 0; i < rows->nr; i++) {
        double mhz = measurement_telemetry(rows->items[i].summary.m, "cpu_mhz");
        if (isfinite(mhz)) {
            sum += mhz;
            nr++;
        }
    }
    return nr ? sum / (double)nr : json_number(environment, "cpu_mhz", NAN);
}

/* A governor other than this one changes clocks with the load. */
static void gbench_add_scaling(cJSON *context, const cJSON *environment)
{
    const cJSON *known = cJSON_GetObjectItemCaseSensitive(environment, "cpu_scaling");
    const char *governor = json_string(environment, "governor", "");

    if (cJSON_IsBool(known))
        cJSON_AddBoolToObject(context, "cpu_scaling_enabled", cJSON_IsTrue(known));
    else if (*governor)
        cJSON_AddBoolToObject(context, "cpu_scaling_enabled", strcmp(governor, "performance") != 0);
}

/* What Google Benchmark reads of the machine when it starts. */
static void gbench_add_machine(cJSON *context, const struct run *run, const struct run_rows *rows)
{
    struct error err;
    cJSON *environment = run->environment ? json_parse(run->environment, strlen(run->environment),
                                                       "environment", &err)
                                          : NULL;
    double mhz = gbench_mhz(rows, environment), load = json_number(environment, "load1", NAN);
    char version[64];

    cJSON_AddNumberToObject(context, "num_cpus", run->machine.threads);
    if (isfinite(mhz))
        cJSON_AddNumberToObject(context, "mhz_per_cpu", round(mhz));
    gbench_add_scaling(context, environment);
    gbench_add_caches(context, &run->machine);
    cJSON *loads = cJSON_AddArrayToObject(context, "load_avg");
    if (isfinite(load))
        cJSON_AddItemToArray(loads, cJSON_CreateNumber(load));
    snprintf(version, sizeof(version), "harness %s", run->build.version);
    cJSON_AddStringToObject(context, "library_version",
                            json_string(environment, "tool_version", version));
    cJSON_Delete(environment);
}

static void gbench_add_context(cJSON *json, const struct run *run, const struct run_rows *rows,
                               const char *executable)
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
    gbench_add_machine(context, run, rows);
    cJSON_AddStringToObject(context, "library_build_type",
                            strcmp(run->build.build_type, "Debug") == 0 ? "debug" : "release");
    cJSON_AddNumberToObject(context, "json_schema_version", 1);
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

/* ---- benchmarks ---- */

/* Threads that work on one launch. */
static int gbench_threads(const struct benchmark_name *name)
{
    int threads = device_label_threads(name->device);

    for (int i = 0; i < name->nr_dims; i++)
        if (strcmp(name->dims[i].name, "threads") == 0 && name->dims[i].value < 100000)
            threads = (int)name->dims[i].value;
    return threads > 0 ? threads : 1;
}

/* Processor time of all threads over real time, of a launch whose median is `ns`: of a program its
 * own, else of the process that measured, while it did. 0: not known. */
static double gbench_cpu_share(const struct measurement *m, double ns)
{
    double user = measurement_telemetry(m, "command_user_ms");
    double system = measurement_telemetry(m, "command_system_ms");
    double imported = measurement_telemetry(m, "cpu_time_ns");
    double share = measurement_telemetry(m, "cpu_seconds_per_second");

    if (isfinite(user + system))
        share = (user + system) * 1e6 / ns;
    else if (isfinite(imported))
        share = imported / ns;
    else if (strncmp(m->bench.cache, "cold", 4) == 0)
        share = NAN; /* most of it emptied the caches */
    return isfinite(share) ? share : 0;
}

static void gbench_add_times(cJSON *entry, double ns, double cpu)
{
    cJSON_AddNumberToObject(entry, "real_time", ns);
    cJSON_AddNumberToObject(entry, "cpu_time", cpu);
    cJSON_AddStringToObject(entry, "time_unit", "ns");
}

/* A user's number has a name of its own: a second `iterations` would hide the first. */
static void gbench_add_counter(cJSON *entry, const struct number *number)
{
    struct strbuf name;

    strbuf_init(&name);
    strbuf_adds(&name, number->kind->name);
    while (cJSON_GetObjectItemCaseSensitive(entry, name.data))
        strbuf_addc(&name, '_');
    json_add_number(entry, name.data, number_median(number));
    strbuf_release(&name);
}

static void gbench_add_rates(cJSON *entry, const struct measurement *m, double ns)
{
    double tokens = m->tokens;
    double items = measurement_telemetry(m, "items_per_second"); /* imported */

    if (m->bytes > 0)
        cJSON_AddNumberToObject(entry, "bytes_per_second", m->bytes / ns * 1e9);
    if (tokens > 0)
        items = tokens / ns * 1e9;
    if (items > 0)
        cJSON_AddNumberToObject(entry, "items_per_second", items);
    if (m->flops > 0)
        cJSON_AddNumberToObject(entry, "FLOPS", m->flops / ns * 1e9);
    for (int i = 0; i < m->nr_numbers; i++) /* a user's counters, to Google Benchmark */
        gbench_add_counter(entry, &m->numbers[i]);
}

/* A launch with times: its first measurement that has some, and what was measured in all of it. */
struct gbench_repetition {
    const struct measurement *m;
    double ns, cpu;
    size_t samples;
};

/* As many as the summary has medians; free() them. */
static struct gbench_repetition *gbench_repetitions(const struct summary *s)
{
    struct gbench_repetition *list = memory_zeroed(s->nr_launches + 1, sizeof(*list));
    size_t nr = 0, launch = 0;

    for (size_t i = 0; i < s->nr_of; i++) {
        const struct summary_of *of = &s->of[i];
        if (of->m->nr_samples == 0 || of->m->batch == 0)
            continue;
        if (nr == 0 || of->launch != launch)
            list[nr++].m = of->m;
        launch = of->launch;
        list[nr - 1].samples += of->m->nr_samples;
    }
    for (size_t i = 0; i < nr; i++) {
        list[i].ns = s->medians[i];
        list[i].cpu = s->medians[i] * gbench_cpu_share(list[i].m, s->medians[i]);
    }
    return list;
}

static void gbench_add_repetitions(cJSON *benchmarks, const struct run_row *row,
                                   const struct gbench_repetition *repetitions, size_t family)
{
    size_t nr = row->summary.nr_launches;

    for (size_t i = 0; i < nr; i++) {
        const struct gbench_repetition *r = &repetitions[i];
        cJSON *entry = gbench_add_entry(benchmarks, row->bench, "", family);
        cJSON_AddStringToObject(entry, "run_type", "iteration");
        cJSON_AddNumberToObject(entry, "repetitions", (double)nr);
        cJSON_AddNumberToObject(entry, "repetition_index", (double)i);
        cJSON_AddNumberToObject(entry, "threads", gbench_threads(row->bench));
        cJSON_AddNumberToObject(entry, "iterations", (double)r->samples);
        gbench_add_times(entry, r->ns, r->cpu);
        gbench_add_rates(entry, r->m, r->ns);
    }
}

enum { GBENCH_MEAN, GBENCH_MEDIAN, GBENCH_STDDEV, GBENCH_CV, GBENCH_AGGREGATES };

/* All are 0 of times that are not known. Sorts the values. */
static void gbench_aggregate(double *values, size_t nr, double out[GBENCH_AGGREGATES])
{
    out[GBENCH_MEAN] = stats_mean(values, nr);
    out[GBENCH_STDDEV] = stats_sd(values, nr);
    out[GBENCH_MEDIAN] = stats_median(values, nr);
    out[GBENCH_CV] = out[GBENCH_MEAN] > 0 ? out[GBENCH_STDDEV] / out[GBENCH_MEAN] : 0;
}

static void gbench_add_aggregates(cJSON *benchmarks, const struct run_row *row,
                                  const struct gbench_repetition *repetitions, size_t family)
{
    static const char *const names[GBENCH_AGGREGATES] = { "mean", "median", "stddev", "cv" };
    size_t nr = row->summary.nr_launches;
    double real[GBENCH_AGGREGATES], cpu[GBENCH_AGGREGATES];
    double *values = memory_zeroed(nr + 1, sizeof(*values));

    for (size_t i = 0; i < nr; i++)
        values[i] = repetitions[i].ns;
    gbench_aggregate(values, nr, real);
    for (size_t i = 0; i < nr; i++)
        values[i] = repetitions[i].cpu;
    gbench_aggregate(values, nr, cpu);
    free(values);
    for (int i = 0; i < GBENCH_AGGREGATES; i++) {
        char suffix[16];
        snprintf(suffix, sizeof(suffix), "_%s", names[i]);
        cJSON *entry = gbench_add_entry(benchmarks, row->bench, suffix, family);
        cJSON_AddStringToObject(entry, "run_type", "aggregate");
        cJSON_AddNumberToObject(entry, "repetitions", (double)nr);
        cJSON_AddNumberToObject(entry, "threads", gbench_threads(row->bench));
        cJSON_AddStringToObject(entry, "aggregate_name", names[i]);
        cJSON_AddStringToObject(entry, "aggregate_unit", i == GBENCH_CV ? "percentage" : "time");
        cJSON_AddNumberToObject(entry, "iterations", (double)nr);
        gbench_add_times(entry, real[i], cpu[i]);
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
    cJSON_AddNumberToObject(entry, "threads", gbench_threads(row->bench));
    cJSON_AddTrueToObject(entry, "error_occurred");
    cJSON_AddStringToObject(entry, "error_message", message);
    cJSON_AddNumberToObject(entry, "iterations", 0);
    gbench_add_times(entry, 0, 0);
}

cJSON *export_gbench(const struct records *records, int run, const char *executable)
{
    cJSON *json = cJSON_CreateObject();
    struct run_rows rows;

    run = run < 0 ? run_newest(records) : run;
    run_rows_init(&rows, records, run);
    if (run >= 0)
        gbench_add_context(json, &records->runs[run], &rows, executable);
    cJSON *benchmarks = cJSON_AddArrayToObject(json, "benchmarks");
    for (size_t i = 0; i < rows.nr; i++) {
        const struct run_row *row = &rows.items[i];
        struct gbench_repetition *repetitions = gbench_repetitions(&row->summary);
        gbench_add_repetitions(benchmarks, row, repetitions, i);
        if (row->summary.nr_launches > 1)
            gbench_add_aggregates(benchmarks, row, repetitions, i);
        free(repetitions);
        if (!row->summary.nr_launches)
            gbench_add_failure(benchmarks, row, i);
    }
    run_rows_release(&rows);
    return json;
}
