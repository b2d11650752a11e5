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

/* One run on its way into either form. */
struct exposition {
    struct strbuf *out;
    const struct run *run;
    bool classic;
};

/* The classic form knows neither the type info nor units. */
static void openmetrics_add_head(const struct exposition *x, const char *name, const char *type,
                                 const char *unit, const char *help)
{
    if (x->classic) {
        strbuf_addf(x->out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
        return;
    }
    strbuf_addf(x->out, "# TYPE %s %s\n", name, type);
    if (*unit)
        strbuf_addf(x->out, "# UNIT %s %s\n", name, unit);
    strbuf_addf(x->out, "# HELP %s %s\n", name, help);
}

/* A stamp of long ago makes Prometheus drop a series that it scrapes; who fills in the past needs
 * one. */
static void openmetrics_end_sample(const struct exposition *x, const char *value)
{
    int64_t ms = x->run->started_ms;

    strbuf_addf(x->out, " %s", value);
    if (!x->classic)
        strbuf_addf(x->out, " %lld.%03lld", (long long)(ms / 1000), (long long)(ms % 1000));
    strbuf_addc(x->out, '\n');
}

static void openmetrics_add_sample(const struct exposition *x, const char *name,
                                   const struct benchmark_name *bench, double value)
{
    char text[TEXT_UNIT_SIZE];

    snprintf(text, sizeof(text), "%.12g", value);
    strbuf_adds(x->out, name);
    openmetrics_add_labels(x->out, bench, x->run->machine.class_name);
    openmetrics_end_sample(x, text);
}

static void openmetrics_add_family(const struct exposition *x, const struct family *f,
                                   const struct run_rows *rows)
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
            openmetrics_add_head(x, f->name, "gauge", f->unit, f->help);
        any = true;
        openmetrics_add_sample(x, f->name, row->bench, value);
    }
}

static void openmetrics_add_outcomes(const struct exposition *x, const struct run_rows *rows)
{
    openmetrics_add_head(x, "harness_ok", "gauge", "", "1 where all launches were right, else 0.");
    for (size_t i = 0; i < rows->nr; i++)
        openmetrics_add_sample(x, "harness_ok", rows->items[i].bench,
                               rows->items[i].outcome == OUTCOME_OK);
}

static void openmetrics_add_start(const struct exposition *x)
{
    static const char name[] = "harness_run_start_time_seconds";
    int64_t ms = x->run->started_ms;
    char text[TEXT_UNIT_SIZE];

    snprintf(text, sizeof(text), "%lld.%03lld", (long long)(ms / 1000), (long long)(ms % 1000));
    openmetrics_add_head(x, name, "gauge", "seconds", "When the run began, since the epoch.");
    strbuf_addf(x->out, "%s{", name);
    openmetrics_add_label(x->out, "machine", x->run->machine.class_name);
    strbuf_addc(x->out, '}');
    openmetrics_end_sample(x, text);
}

/* In OpenMetrics a family of type info has the name without the suffix of its sample. */
static void openmetrics_add_run(const struct exposition *x)
{
    const struct run *run = x->run;
    struct strbuf *out = x->out;

    openmetrics_add_head(x, x->classic ? "harness_run_info" : "harness_run", "info", "",
                         "The run that these numbers are of.");
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
    openmetrics_end_sample(x, "1");
    openmetrics_add_start(x);
}

static void exposition_add(const struct records *records, int run, bool classic, struct strbuf *out)
{
    struct run_rows rows;

    run = run < 0 ? run_newest(records) : run;
    if (run < 0)
        return;
    const struct exposition x = { out, &records->runs[run], classic };
    run_rows_init(&rows, records, run);
    openmetrics_add_run(&x);
    openmetrics_add_outcomes(&x, &rows);
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        openmetrics_add_family(&x, &families[i], &rows);
    run_rows_release(&rows);
}

void openmetrics_add(const struct records *records, int run, struct strbuf *out)
{
    exposition_add(records, run, false, out);
    strbuf_adds(out, "# EOF\n");
}

void prometheus_add(const struct records *records, int run, struct strbuf *out)
{
    exposition_add(records, run, true, out);
}

/* ---- what was decided ---- */

void prometheus_add_compared(const struct comparison *c, const char *machine, struct strbuf *out)
{
    static const char name[] = "harness_compared_benchmarks";
    const struct exposition x = { .out = out, .classic = true };

    openmetrics_add_head(&x, name, "gauge", "",
                         "Benchmarks of the run beside the base, by verdict.");
    for (int verdict = 0; verdict < VERDICT_NR; verdict++) {
        strbuf_addf(out, "%s{", name);
        openmetrics_add_label(out, "verdict", verdict_name((enum verdict)verdict));
        openmetrics_add_label(out, "machine", machine);
        strbuf_addf(out, "} %zu\n", c->count[verdict]);
    }
}

void prometheus_add_trends(const struct trends *t, const char *machine, struct strbuf *out)
{
    static const char name[] = "harness_regressions_standing";
    const struct exposition x = { .out = out, .classic = true };

    openmetrics_add_head(&x, name, "gauge", "",
                         "Steps for the worse in the history that nobody accepted and nothing "
                         "undid.");
    strbuf_addf(out, "%s{", name);
    openmetrics_add_label(out, "metric", t->settings.metric->id);
    openmetrics_add_label(out, "machine", machine);
    strbuf_addf(out, "} %zu\n", t->standing);
}
