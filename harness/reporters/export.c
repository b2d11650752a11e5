/* SPDX-License-Identifier: MIT */
#include "reporters/export.h"

#include "base/array.h"
#include "base/json.h"
#include "base/text.h"
#include "metrics/run_rows.h"
#include "reporters/number_table.h"
#include "text/escape.h"

#include <math.h>

static void export_add_metric(cJSON *json, const char *key, const char *metric,
                              const struct run_row *row, const struct metric_context *context,
                              double factor)
{
    double value = metric_get(metric, &row->summary, context).value;

    if (isfinite(value))
        cJSON_AddNumberToObject(json, key, value / factor);
}

static void export_add_metadata(cJSON *json, const struct run *run)
{
    cJSON *metadata = cJSON_AddObjectToObject(json, "metadata");
    char when[TEXT_UNIT_SIZE];

    cJSON_AddStringToObject(metadata, "run", run->uuid);
    cJSON_AddStringToObject(metadata, "timestamp", text_timestamp(run->started_ms, when));
    json_add_string(metadata, "suite", run->suite);
    json_add_string(metadata, "label", run->label);
    json_add_string(metadata, "machine", run->machine.class_name);
    json_add_string(metadata, "cpu", run->machine.cpu);
    json_add_string(metadata, "gpu", run->machine.gpu);
    cJSON_AddNumberToObject(metadata, "cores", run->machine.cores);
    json_add_string(metadata, "version", run->build.version);
    json_add_string(metadata, "commit", run->build.commit);
    json_add_string(metadata, "branch", run->build.branch);
    cJSON_AddBoolToObject(metadata, "dirty", run->build.dirty);
    json_add_string(metadata, "compiler", run->build.compiler);
    json_add_string(metadata, "flags", run->build.flags);
}

static void export_add_config(cJSON *json, const struct benchmark_name *name)
{
    cJSON *config = cJSON_AddObjectToObject(json, "config");

    json_add_string(config, "kernel", name->kernel);
    json_add_string(config, "variant", name->variant);
    json_add_string(config, "math", name->math);
    json_add_string(config, "device", name->device);
    json_add_string(config, "cache", name->cache);
    json_add_string(config, "fill", name->fill);
    for (int i = 0; i < name->nr_dims; i++)
        json_add_int(config, name->dims[i].name, name->dims[i].value);
}

/* Intervals of 95 % where the data carry one, and the percentiles that n is too small for. */
static void export_add_doubts(cJSON *timing, const char *key, const struct metric_value *v,
                              double scale)
{
    cJSON *intervals = cJSON_GetObjectItemCaseSensitive(timing, "intervals");
    cJSON *few = cJSON_GetObjectItemCaseSensitive(timing, "too_few_samples_for");

    if (isfinite(v->interval.low) && isfinite(v->interval.high)) {
        cJSON *interval = cJSON_AddObjectToObject(intervals, key);
        json_add_number(interval, "low", v->interval.low / scale);
        json_add_number(interval, "high", v->interval.high / scale);
    }
    if (v->few)
        cJSON_AddItemToArray(few, cJSON_CreateString(key));
}

static void export_add_timing(cJSON *json, const struct run_row *row,
                              const struct metric_context *context)
{
    static const struct {
        const char *key, *metric;
    } rows[] = {
        { "mean", "mean" },  { "std", "sd" },  { "min", "min" }, { "max", "max" },
        { "median", "p50" }, { "p5", "p5" },   { "p25", "p25" }, { "p75", "p75" },
        { "p90", "p90" },    { "p95", "p95" }, { "p99", "p99" },
    };
    const double ms = 1e6;

    if (!row->summary.n)
        return;
    cJSON *timing = cJSON_AddObjectToObject(json, "timing");
    cJSON_AddStringToObject(timing, "unit", "ms");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        export_add_metric(timing, rows[i].key, rows[i].metric, row, context, ms);
    cJSON_AddNumberToObject(timing, "n", (double)row->summary.n);
    cJSON_AddNumberToObject(timing, "launches", (double)row->summary.nr_launches);
    cJSON_AddObjectToObject(timing, "intervals");
    cJSON_AddArrayToObject(timing, "too_few_samples_for");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct metric_value v = metric_get(rows[i].metric, &row->summary, context);
        export_add_doubts(timing, rows[i].key, &v, ms);
    }
    cJSON *throughput = cJSON_AddObjectToObject(json, "throughput");
    cJSON_AddStringToObject(throughput, "statistic", "median");
    export_add_metric(throughput, "tokens_per_second", "tokens", row, context, 1);
    export_add_metric(throughput, "gflops", "gflops", row, context, 1);
    export_add_metric(throughput, "gbs", "gbs", row, context, 1);
}

cJSON *export_json(const struct records *records, int run)
{
    cJSON *json = cJSON_CreateObject();
    struct run_rows rows;

    run = run < 0 ? run_newest(records) : run;
    cJSON_AddNumberToObject(json, "schema_version", 1);
    if (run >= 0)
        export_add_metadata(json, &records->runs[run]);
    cJSON *benchmarks = cJSON_AddArrayToObject(json, "benchmarks");
    run_rows_init(&rows, records, run);
    for (size_t i = 0; i < rows.nr; i++) {
        const struct run_row *row = &rows.items[i];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "name", row->bench->key);
        export_add_config(item, row->bench);
        cJSON_AddStringToObject(item, "outcome", outcome_name(row->outcome));
        json_add_string(item, "message", row->message);
        if (isfinite(row->summary.m->max_error))
            cJSON_AddNumberToObject(item, "max_error", row->summary.m->max_error);
        export_add_timing(item, row, &rows.context);
        number_add_json(item, &row->summary);
        cJSON_AddItemToArray(benchmarks, item);
    }
    run_rows_release(&rows);
    return json;
}

/* CSV. */

static const char *const percentiles[] = { "min", "p5",  "p25", "p50",  "p75", "p90",
                                           "p95", "p99", "max", "mean", "sd" };

static void export_add_field(struct strbuf *out, const char *text)
{
    escape_csv(out, text);
    strbuf_addc(out, ',');
}

static void export_add_number(struct strbuf *out, double value)
{
    if (isfinite(value))
        strbuf_addf(out, "%.9g", value);
    strbuf_addc(out, ',');
}

/* What only some records have: a column where one does. What programs say of themselves has one for
 * each kind of number. */
struct exported_kinds {
    bool fill;
    const struct number_kind **items;
    size_t nr, capacity;
};

static void export_find_kinds(const struct records *records, struct exported_kinds *kinds)
{
    for (size_t i = 0; i < records->nr; i++) {
        kinds->fill |= records->items[i].m.bench.fill[0] != '\0';
        for (int n = 0; n < records->items[i].m.nr_numbers; n++) {
            const struct number_kind *kind = records->items[i].m.numbers[n].kind;
            bool known = false;
            for (size_t k = 0; k < kinds->nr; k++)
                known |= kinds->items[k] == kind;
            if (!known)
                *array_push(kinds) = kind;
        }
    }
}

/* The median of the launch. */
static void export_add_numbers(struct strbuf *out, const struct exported_kinds *kinds,
                               const struct measurement *m)
{
    for (size_t k = 0; k < kinds->nr; k++) {
        const struct number *number = measurement_number(m, kinds->items[k]);
        strbuf_addc(out, ',');
        if (number && number->nr > 0)
            strbuf_addf(out, "%.9g", number_median(number));
    }
}

static void export_add_line(struct strbuf *out, const struct records *records,
                            const struct record *record, const struct exported_kinds *kinds)
{
    const struct run *run = &records->runs[record->run];
    const struct measurement *m = &record->m;
    struct summary summary;
    char when[TEXT_UNIT_SIZE];

    export_add_field(out, run->uuid);
    export_add_field(out, text_timestamp(run->started_ms, when));
    export_add_field(out, run->build.commit);
    export_add_field(out, run->machine.class_name);
    strbuf_addf(out, "%d,", record->launch_seq);
    const char *const parts[] = { m->bench.key,  m->bench.kernel, m->bench.variant,
                                  m->bench.math, m->bench.device, m->bench.cache };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        export_add_field(out, parts[i]);
    struct strbuf dims;
    strbuf_init(&dims);
    for (int i = 0; i < m->bench.nr_dims; i++)
        strbuf_addf(&dims, "%s%s=%lld", i ? " " : "", m->bench.dims[i].name,
                    (long long)m->bench.dims[i].value);
    export_add_field(out, dims.data);
    strbuf_release(&dims);
    export_add_field(out, outcome_name(m->outcome));
    summary_init_one(&summary, m);
    for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
        export_add_number(out, summary.n ? metric_get(percentiles[i], &summary, NULL).value : NAN);
    strbuf_addf(out, "%zu,", summary.n);
    summary_release(&summary);
    export_add_number(out, m->flops);
    export_add_number(out, m->bytes);
    export_add_number(out, m->max_error);
    escape_csv(out, m->message ? m->message : "");
    if (kinds->fill) {
        strbuf_addc(out, ',');
        escape_csv(out, benchmark_name_fill(&m->bench));
    }
    export_add_numbers(out, kinds, m);
    strbuf_adds(out, "\r\n");
}

void export_csv(const struct records *records, struct strbuf *out)
{
    strbuf_adds(out,
                "run,started,commit,machine,launch,benchmark,kernel,variant,math,device,cache,"
                "shape,outcome,");
    for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
        strbuf_addf(out, "%s_ns,", percentiles[i]);
    strbuf_adds(out, "n,flops,bytes,max_error,message");
    struct exported_kinds kinds = { 0 };
    export_find_kinds(records, &kinds);
    if (kinds.fill)
        strbuf_adds(out, ",fill");
    for (size_t k = 0; k < kinds.nr; k++) {
        strbuf_addc(out, ',');
        escape_csv(out, kinds.items[k]->id);
    }
    strbuf_adds(out, "\r\n");
    for (size_t i = 0; i < records->nr; i++)
        export_add_line(out, records, &records->items[i], &kinds);
    array_release(&kinds);
}
