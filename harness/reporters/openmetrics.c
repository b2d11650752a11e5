/* SPDX-License-Identifier: MIT */
#include "reporters/openmetrics.h"

#include "base/text.h"
#include "metrics/run_rows.h"
#include "text/escape.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name ends in the unit, as OpenMetrics wants it; `factor` brings our unit to it. */
static const struct family {
    const char *name, *unit, *metric;
    double factor;
    const char *help;
} families[] = {
    { "harness_latency_p50_seconds", "seconds", "p50", 1e-9, "Median time of one launch." },
    { "harness_latency_p5_seconds", "seconds", "p5", 1e-9, "5th percentile of the time." },
    { "harness_latency_p95_seconds", "seconds", "p95", 1e-9, "95th percentile of the time." },
    { "harness_latency_p99_seconds", "seconds", "p99", 1e-9, "99th percentile of the time." },
    { "harness_latency_min_seconds", "seconds", "min", 1e-9, "Fastest sample." },
    { "harness_latency_max_seconds", "seconds", "max", 1e-9, "Slowest sample." },
    { "harness_latency_mean_seconds", "seconds", "mean", 1e-9, "Mean time of one launch." },
    { "harness_latency_sd_seconds", "seconds", "sd", 1e-9, "Standard deviation of the time." },
    { "harness_samples", "", "n", 1, "Raw samples behind the times." },
    { "harness_compute_flops_per_second", "flops_per_second", "gflops", 1e9,
      "FLOPs of the work model over the median time." },
    { "harness_memory_bytes_per_second", "bytes_per_second", "gbs", 1e9,
      "Compulsory bytes over the median time." },
    { "harness_tokens_per_second", "tokens_per_second", "tokens", 1,
      "Tokens over the median time." },
    { "harness_roof_ratio", "ratio", "roof", 1, "Share of the binding measured roof." },
    { "harness_error_ratio", "ratio", "error", 1,
      "Largest difference from the oracle over the rms of what was expected." },
};

/* ---- labels ---- */

static void openmetrics_add_label(struct strbuf *out, const char *name, const char *value)
{
    if (!*value)
        return; /* an empty label is the same as none */
    strbuf_adds(out, out->length && out->data[out->length - 1] != '{' ? "," : "");
    strbuf_addf(out, "%s=", name);
    escape_openmetrics(out, value);
}

/* "dim_<name>" with what a label's name may hold. */
static void dim_label(const char *dim, char name[40])
{
    snprintf(name, 40, "dim_%s", dim);
    for (char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) || (unsigned char)*p > 127)
            *p = '_';
}

/* Two dims whose names differ only in what labels lack: the first has it. */
static bool dim_is_taken(const struct benchmark_name *b, int nth, const char *name)
{
    char other[40];

    for (int i = 0; i < nth; i++) {
        dim_label(b->dims[i].name, other);
        if (strcmp(other, name) == 0)
            return true;
    }
    return false;
}

/* What names a series. The key alone would do; its parts are there to be summed and filtered by. */
static void openmetrics_add_labels(struct strbuf *out, const struct benchmark_name *b,
                                   const char *machine)
{
    strbuf_addc(out, '{');
    openmetrics_add_label(out, "benchmark", b->key);
    openmetrics_add_label(out, "kernel", b->kernel);
    openmetrics_add_label(out, "variant", b->variant);
    openmetrics_add_label(out, "math", b->math);
    openmetrics_add_label(out, "device", b->device);
    openmetrics_add_label(out, "cache", b->cache);
    openmetrics_add_label(out, "machine", machine);
    char name[40], value[24];
    for (int i = 0; i < b->nr_dims; i++) {
        dim_label(b->dims[i].name, name);
        snprintf(value, sizeof(value), "%lld", (long long)b->dims[i].value);
        if (!dim_is_taken(b, i, name))
            openmetrics_add_label(out, name, value);
    }
    strbuf_addc(out, '}');
}

/* ---- families ---- */

static void openmetrics_add_head(struct strbuf *out, const char *name, const char *type,
                                 const char *unit, const char *help)
{
    strbuf_addf(out, "# TYPE %s %s\n", name, type);
    if (*unit)
        strbuf_addf(out, "# UNIT %s %s\n", name, unit);
    strbuf_addf(out, "# HELP %s %s\n", name, help);
}

static void openmetrics_add_number(struct strbuf *out, double value, int64_t ms)
{
    strbuf_addf(out, " %.12g %lld.%03lld\n", value, (long long)(ms / 1000), (long long)(ms % 1000));
}

static void openmetrics_add_family(struct strbuf *out, const struct family *f,
                                   const struct run_rows *rows, const struct run *run)
{
    bool any = false;

    for (size_t i = 0; i < rows->nr; i++) {
        const struct run_row *row = &rows->items[i];
        double value = metric_get(f->metric, &row->summary, &rows->context).value * f->factor;
        bool timed = row->summary.n > 0;
        /* The error of a wrong result is worth a look, its times do not exist. */
        if (!isfinite(value) || (!timed && strcmp(f->metric, "error") != 0))
            continue;
        if (!any)
            openmetrics_add_head(out, f->name, "gauge", f->unit, f->help);
        any = true;
        strbuf_adds(out, f->name);
        openmetrics_add_labels(out, row->bench, run->machine.class_name);
        openmetrics_add_number(out, value, run->started_ms);
    }
}

static void openmetrics_add_outcomes(struct strbuf *out, const struct run_rows *rows,
                                     const struct run *run)
{
    openmetrics_add_head(out, "harness_ok", "gauge", "",
                         "1 where all launches were right, else 0.");
    for (size_t i = 0; i < rows->nr; i++) {
        strbuf_adds(out, "harness_ok");
        openmetrics_add_labels(out, rows->items[i].bench, run->machine.class_name);
        openmetrics_add_number(out, rows->items[i].outcome == OUTCOME_OK, run->started_ms);
    }
}

static void openmetrics_add_run(struct strbuf *out, const struct run *run)
{
    openmetrics_add_head(out, "harness_run", "info", "", "The run that these numbers are of.");
    strbuf_adds(out, "harness_run_info{");
    openmetrics_add_label(out, "uuid", run->uuid);
    openmetrics_add_label(out, "machine", run->machine.class_name);
    openmetrics_add_label(out, "label", run->label);
    openmetrics_add_label(out, "suite", run->suite);
    openmetrics_add_label(out, "commit", run->build.commit);
    openmetrics_add_label(out, "branch", run->build.branch);
    openmetrics_add_label(out, "dirty", run->build.dirty ? "true" : "");
    openmetrics_add_label(out, "version", run->build.version);
    strbuf_adds(out, "}");
    openmetrics_add_number(out, 1, run->started_ms);
}

void openmetrics_add(const struct records *records, int run, struct strbuf *out)
{
    struct run_rows rows;

    run = run < 0 ? run_newest(records) : run;
    if (run >= 0) {
        run_rows_init(&rows, records, run);
        openmetrics_add_run(out, &records->runs[run]);
        openmetrics_add_outcomes(out, &rows, &records->runs[run]);
        for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
            openmetrics_add_family(out, &families[i], &rows, &records->runs[run]);
        run_rows_release(&rows);
    }
    strbuf_adds(out, "# EOF\n");
}
