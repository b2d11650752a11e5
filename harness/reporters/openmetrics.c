/* SPDX-License-Identifier: MIT */
#include "reporters/openmetrics.h"

#include "base/options.h"
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
    openmetrics_add_label(out, "fill", b->fill);
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

/* Times of a wrong result do not exist, its error is worth a look; and a program may say numbers
 * of itself where nobody took a time. */
static bool openmetrics_needs_time(const struct family *f, const struct metric *metric)
{
    return strcmp(f->metric, "error") != 0 && !metric->number;
}

/* False where no benchmark has it: nothing was written. */
static bool openmetrics_add_family(const struct exposition *x, const struct family *f,
                                   const struct run_rows *rows)
{
    const struct metric *metric = metric_find(f->metric, NULL);
    bool any = false;

    for (size_t i = 0; i < rows->nr; i++) {
        const struct run_row *row = &rows->items[i];
        double value = metric_value(metric, &row->summary, &rows->context).value * f->factor;
        bool timed = row->summary.n > 0;
        if (!isfinite(value) || (!timed && openmetrics_needs_time(f, metric)))
            continue;
        if (!any)
            openmetrics_add_head(x, f->name, "gauge", f->unit, f->help);
        any = true;
        openmetrics_add_sample(x, f->name, row->bench, value);
    }
    return any;
}

/* ---- metrics that programs say of themselves ---- */

enum { OWN_UNIT_SIZE = 2 * NUMBER_UNIT_SIZE + 16, OWN_NAME_SIZE = OWN_UNIT_SIZE + 64 };

/* What Prometheus calls a unit, and what a number in it is multiplied by. */
static const struct base_unit {
    const char *unit, *one, *many;
    double factor;
} base_units[] = {
    { "s", "second", "seconds", 1 },     { "ms", "second", "seconds", 1e-3 },
    { "us", "second", "seconds", 1e-6 }, { "µs", "second", "seconds", 1e-6 },
    { "μs", "second", "seconds", 1e-6 }, { "ns", "second", "seconds", 1e-9 },
    { "min", "second", "seconds", 60 },  { "h", "second", "seconds", 3600 },
    { "B", "byte", "bytes", 1 },         { "kB", "byte", "bytes", 1e3 },
    { "KB", "byte", "bytes", 1e3 },      { "MB", "byte", "bytes", 1e6 },
    { "GB", "byte", "bytes", 1e9 },      { "KiB", "byte", "bytes", 1024 },
    { "MiB", "byte", "bytes", 1 << 20 }, { "GiB", "byte", "bytes", 1 << 30 },
    { "J", "joule", "joules", 1 },       { "W", "watt", "watts", 1 },
    { "%", "ratio", "ratio", 0.01 },
};

static const struct base_unit *find_base_unit(const char *unit, size_t length)
{
    for (size_t i = 0; i < sizeof(base_units) / sizeof(base_units[0]); i++)
        if (strlen(base_units[i].unit) == length && strncmp(base_units[i].unit, unit, length) == 0)
            return &base_units[i];
    return NULL;
}

/* Letters and digits, small; what lies between them is one "_". */
static void add_legal_unit(struct strbuf *out, const char *text, size_t length)
{
    bool between = false;

    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c > 127 || !isalnum(c)) {
            between = out->length > 0;
            continue;
        }
        strbuf_adds(out, between && out->data[out->length - 1] != '_' ? "_" : "");
        strbuf_addc(out, (char)tolower(c));
        between = false;
    }
}

/* "MB/s" is "bytes_per_second", of which it has a million; "Mops/s" is "mops_per_second". Returns
 * the factor. */
static double openmetrics_unit(const char *unit, char name[OWN_UNIT_SIZE])
{
    size_t over = strcspn(unit, "/");
    const char *below = unit[over] ? unit + over + 1 : "";
    const struct base_unit *top = find_base_unit(unit, over);
    const struct base_unit *bottom = find_base_unit(below, strlen(below));
    struct strbuf text;

    strbuf_init(&text);
    if (top)
        strbuf_adds(&text, top->many);
    else
        add_legal_unit(&text, unit, over);
    if (*below) {
        strbuf_addf(&text, "%sper_", text.length ? "_" : "");
        if (bottom)
            strbuf_adds(&text, bottom->one);
        else
            add_legal_unit(&text, below, strlen(below));
    }
    while (text.length && text.data[text.length - 1] == '_')
        text.data[--text.length] = '\0';
    snprintf(name, OWN_UNIT_SIZE, "%s", text.data);
    strbuf_release(&text);
    return (top ? top->factor : 1) / (bottom ? bottom->factor : 1);
}

/* The `nth` of that name: units may differ in nothing but what names of families lack. */
static void own_family_name(const struct number_kind *kind, const char *unit, int nth,
                            char name[OWN_NAME_SIZE])
{
    char again[16] = "";
    size_t length = strlen(kind->name), end = strlen(unit);
    bool ends_in_it = nth == 1 && end > 0 && length >= end &&
                      strcmp(kind->name + length - end, unit) == 0 &&
                      (length == end || kind->name[length - end - 1] == '_');

    if (nth > 1)
        snprintf(again, sizeof(again), "_%d", nth);
    snprintf(name, OWN_NAME_SIZE, "harness_own_%s%s%s%s", kind->name, again,
             end && !ends_in_it ? "_" : "", ends_in_it ? "" : unit);
}

static void own_family_help(const struct number_kind *kind, struct strbuf *help)
{
    strbuf_addf(help, "%s, as programs say it", kind->name);
    if (kind->unit[0])
        strbuf_addf(help, ", there in %s", kind->unit);
    for (char *p = help->data; *p; p++) /* what help would have to escape */
        if (*p == '\\' || *p == '"')
            *p = '_';
    if (kind->better != BETTER_NONE)
        strbuf_addf(help, "; %s is better", better_name(kind->better));
    strbuf_addc(help, '.');
}

static void openmetrics_add_own(const struct exposition *x, const struct metric *metric,
                                const struct run_rows *rows, struct string_list *names)
{
    char unit[OWN_UNIT_SIZE], name[OWN_NAME_SIZE];
    double factor = openmetrics_unit(metric->number->unit, unit);
    struct strbuf help;
    int nth = 1;

    own_family_name(metric->number, unit, nth, name);
    while (string_list_has(names, name))
        own_family_name(metric->number, unit, ++nth, name);
    strbuf_init(&help);
    own_family_help(metric->number, &help);
    const struct family f = { name, unit, metric->id, factor, help.data };
    if (openmetrics_add_family(x, &f, rows))
        string_list_add(names, name);
    strbuf_release(&help);
}

static void openmetrics_add_all_own(const struct exposition *x, const struct run_rows *rows)
{
    struct string_list names = { 0 };
    const struct metric *metric;

    for (size_t i = 0; (metric = metric_at(i)); i++)
        if (metric->number)
            openmetrics_add_own(x, metric, rows, &names);
    string_list_release(&names);
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
    openmetrics_add_all_own(&x, &rows);
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
