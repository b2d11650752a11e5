/* SPDX-License-Identifier: MIT */
/* The member names are those of Google Benchmark's JSON reporter (v1.7 to v1.9, json_schema_version
 * 1), so that its tools, and those made for it, read the file. What is not known is absent; where
 * its readers need a number it is 0. */
#include "reporters/export.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "core/device_label.h"
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
    int threads = device_label_of(name->device).threads;

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

/* It has a name of its own: a second `iterations` would hide the first. */
static void gbench_add_counter(cJSON *entry, const char *said, double value)
{
    struct strbuf name;

    strbuf_init(&name);
    strbuf_adds(&name, said);
    while (cJSON_GetObjectItemCaseSensitive(entry, name.data))
        strbuf_addc(&name, '_');
    json_add_number(entry, name.data, value);
    strbuf_release(&name);
}

/* A user's counters, to Google Benchmark. */
static void gbench_add_counters(cJSON *entry, const struct measurement *m)
{
    for (int i = 0; i < m->nr_numbers; i++)
        gbench_add_counter(entry, m->numbers[i].kind->name, number_median(&m->numbers[i]));
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
    gbench_add_counters(entry, m);
}

/* What was measured without a time (events of valgrind, sizes of files) is all that there is. */
static void gbench_add_timeless(cJSON *entry, const struct measurement *m)
{
    gbench_add_counters(entry, m);
    for (int i = 0; i < m->nr_telemetry; i++)
        gbench_add_counter(entry, m->telemetry[i].name, m->telemetry[i].value);
}

/* What a launch says of a benchmark: all that is OK together, and each failure by itself, as Google
 * Benchmark has it: its aggregates leave out the repetitions that failed. */
struct gbench_repetition {
    const struct measurement *m; /* the first with times, where one has some */
    double ns, cpu;
    size_t samples; /* 0: no times */
};

static void gbench_take_measurement(struct gbench_repetition *r, const struct measurement *m)
{
    size_t samples = m->batch > 0 ? m->nr_samples : 0;

    if (!r->m || (samples > 0 && r->samples == 0))
        r->m = m;
    r->samples += samples;
}

/* free() them. The summary is of the same group: it has medians of the launches with times. */
static struct gbench_repetition *gbench_repetitions(const struct group *g, const struct summary *s,
                                                    size_t *nr)
{
    struct gbench_repetition *list = memory_zeroed(g->nr + 1, sizeof(*list));
    size_t timed = 0;

    *nr = 0;
    for (size_t at = 0, end; at < g->nr; at = end) {
        struct gbench_repetition good = { 0 };
        end = at + group_launch_length(g, at);
        for (size_t i = at; i < end; i++) {
            const struct measurement *m = &g->items[i]->m;
            if (m->outcome == OUTCOME_OK)
                gbench_take_measurement(&good, m);
            else
                list[(*nr)++].m = m;
        }
        if (good.samples > 0) {
            good.ns = s->medians[timed++];
            good.cpu = good.ns * gbench_cpu_share(good.m, good.ns);
        }
        if (good.m)
            list[(*nr)++] = good;
    }
    return list;
}

static void gbench_add_failure(cJSON *entry, const struct measurement *m)
{
    char message[256];

    snprintf(message, sizeof(message), "%s%s%.200s", outcome_name(m->outcome),
             m->message ? ": " : "", m->message ? m->message : "");
    cJSON_AddTrueToObject(entry, "error_occurred");
    cJSON_AddStringToObject(entry, "error_message", message);
}

static void gbench_add_repetitions(cJSON *benchmarks, const struct run_row *row,
                                   const struct gbench_repetition *repetitions, size_t nr,
                                   size_t family)
{
    for (size_t i = 0; i < nr; i++) {
        const struct gbench_repetition *r = &repetitions[i];
        cJSON *entry = gbench_add_entry(benchmarks, row->bench, "", family);
        cJSON_AddStringToObject(entry, "run_type", "iteration");
        cJSON_AddNumberToObject(entry, "repetitions", (double)nr);
        cJSON_AddNumberToObject(entry, "repetition_index", (double)i);
        cJSON_AddNumberToObject(entry, "threads", gbench_threads(row->bench));
        if (r->m->outcome != OUTCOME_OK)
            gbench_add_failure(entry, r->m);
        cJSON_AddNumberToObject(entry, "iterations", (double)r->samples);
        gbench_add_times(entry, r->ns, r->cpu);
        if (r->samples > 0)
            gbench_add_rates(entry, r->m, r->ns);
        else if (r->m->outcome == OUTCOME_OK)
            gbench_add_timeless(entry, r->m);
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

/* Of the repetitions with times, where there are several. */
static void gbench_add_aggregates(cJSON *benchmarks, const struct run_row *row,
                                  const struct gbench_repetition *repetitions, size_t nr,
                                  size_t family)
{
    static const char *const names[GBENCH_AGGREGATES] = { "mean", "median", "stddev", "cv" };
    size_t timed = 0;
    double real[GBENCH_AGGREGATES], cpu[GBENCH_AGGREGATES];
    double *values = memory_zeroed(2 * nr + 1, sizeof(*values)), *cpus = values + nr;

    for (size_t i = 0; i < nr; i++) {
        values[timed] = repetitions[i].ns;
        cpus[timed] = repetitions[i].cpu;
        timed += repetitions[i].samples > 0;
    }
    if (timed > 1) {
        gbench_aggregate(values, timed, real);
        gbench_aggregate(cpus, timed, cpu);
    }
    free(values);
    for (int i = 0; timed > 1 && i < GBENCH_AGGREGATES; i++) {
        char suffix[16];
        snprintf(suffix, sizeof(suffix), "_%s", names[i]);
        cJSON *entry = gbench_add_entry(benchmarks, row->bench, suffix, family);
        cJSON_AddStringToObject(entry, "run_type", "aggregate");
        cJSON_AddNumberToObject(entry, "repetitions", (double)nr);
        cJSON_AddNumberToObject(entry, "threads", gbench_threads(row->bench));
        cJSON_AddStringToObject(entry, "aggregate_name", names[i]);
        cJSON_AddStringToObject(entry, "aggregate_unit", i == GBENCH_CV ? "percentage" : "time");
        cJSON_AddNumberToObject(entry, "iterations", (double)timed);
        gbench_add_times(entry, real[i], cpu[i]);
    }
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
        size_t nr;
        struct gbench_repetition *repetitions =
            gbench_repetitions(&rows.groups.items[i], &row->summary, &nr);
        gbench_add_repetitions(benchmarks, row, repetitions, nr, i);
        gbench_add_aggregates(benchmarks, row, repetitions, nr, i);
        free(repetitions);
    }
    run_rows_release(&rows);
    return json;
}
