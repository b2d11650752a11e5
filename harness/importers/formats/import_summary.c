/* SPDX-License-Identifier: MIT */
/*
 * Summaries without raw samples: {metadata, benchmarks{NAME{config, timing, ...}}}, as the
 * dashboards of GPT benchmarks write it and as `harness run --format summary-json` does (there the
 * benchmarks are a list), and {metadata, comparisons{NAME{SIDE{mean_ms, ...}, ...}}}.
 */
#include "importers/base/import_base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double ms = 1e6; /* ns */

/* A fact of the run under its own name. */
static void summary_keep_fact(struct import_build *b, const cJSON *item)
{
    static const char *const placed[] = { "machine",  "cpu",    "gpu",    "gpu_name",
                                          "cores",    "commit", "branch", "dirty",
                                          "compiler", "flags",  "run",    "timestamp" };
    char number[32];

    for (size_t i = 0; i < sizeof(placed) / sizeof(placed[0]); i++)
        if (strcmp(placed[i], item->string) == 0)
            return;
    snprintf(number, sizeof(number), "%.9g", item->valuedouble);
    if (cJSON_IsString(item) || cJSON_IsNumber(item))
        import_fact(b, item->string, cJSON_IsString(item) ? item->valuestring : number);
    else if (!cJSON_IsNull(item))
        import_left(b, item->string);
}

static int summary_read_metadata(struct import_build *b, const cJSON *metadata)
{
    struct machine *m = &b->run->machine;
    struct build *build = &b->run->build;
    double cores = import_optional(metadata, "cores");
    const cJSON *item;

    if (!metadata)
        return 0;
    if (!cJSON_IsObject(metadata))
        return import_refuse(b, metadata, "\"metadata\" is no object");
    IMPORT_COPY(m->class_name, metadata, "machine");
    IMPORT_COPY(m->cpu, metadata, "cpu");
    import_copy(m->gpu, sizeof(m->gpu),
                json_string(metadata, "gpu", json_string(metadata, "gpu_name", "")));
    import_processors(m, cores);
    IMPORT_COPY(build->commit, metadata, "commit");
    IMPORT_COPY(build->branch, metadata, "branch");
    IMPORT_COPY(build->compiler, metadata, "compiler");
    IMPORT_COPY(build->flags, metadata, "flags");
    build->dirty = json_bool(metadata, "dirty", false);
    cJSON_ArrayForEach(item, metadata)
    {
        summary_keep_fact(b, item);
    }
    return import_date(b, metadata, "timestamp");
}

/* Batch and sequence of the seeds' files stand beside the timing. */
static void summary_add_sizes(const cJSON *entry, struct import_name *name)
{
    static const struct {
        const char *key, *dim;
    } rows[] = { { "batch_size", "batch" }, { "seq_len", "seq" } };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double value = import_optional(entry, rows[i].key);
        if (value >= 1 && value <= 1e9 && value == floor(value))
            import_name_dim(name, rows[i].dim, (int64_t)value);
    }
}

/* Layers, heads and widths of a model; our own lists say theirs in the name. */
static void summary_keep_config(struct import_build *b, const cJSON *entry, struct import_case *c)
{
    const cJSON *item;

    if (!entry->string)
        return;
    cJSON_ArrayForEach(item, import_member(entry, "config"))
    {
        if (cJSON_IsNumber(item))
            import_beside(b, c, item->string, item->valuedouble);
        else
            import_left(b, "config");
    }
}

/* A note tells of a member that nobody reads: none of `known`, up to a NULL, each with `unit`
 * behind it. In the note it is `in` and its name: "throughput.qps". */
static void summary_count_left_member(struct import_build *b, const cJSON *item,
                                      const char *const *known, const char *unit, const char *in)
{
    const char *key = item->string ? item->string : "";
    char name[128];

    for (; *known; known++) {
        size_t length = strlen(*known);
        if (strncmp(key, *known, length) == 0 && strcmp(key + length, unit) == 0)
            return;
    }
    snprintf(name, sizeof(name), "%s%.100s", in, key);
    if (!cJSON_IsNull(item))
        import_left(b, name);
}

static void summary_count_left(struct import_build *b, const cJSON *object,
                               const char *const *known, const char *unit, const char *in)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, object)
    {
        summary_count_left_member(b, item, known, unit, in);
    }
}

/* The other statistics stay readable as what they are. */
static void summary_keep_statistics(struct import_build *b, const cJSON *timing, const char *unit,
                                    struct import_case *c)
{
    enum { STATISTICS = 10 };
    static const char *const known[] = {
        "mean",   "std",  "min", "max",      "p5",        "p25",
        "p75",    "p90",  "p95", "p99", /* and what else there is: */
        "median", "unit", "n",   "launches", "intervals", "too_few_samples_for",
        NULL
    };
    char key[32], name[32];

    for (int i = 0; i < STATISTICS; i++) {
        snprintf(key, sizeof(key), "%s%s", known[i], unit);
        snprintf(name, sizeof(name), "summary_%s_ns", known[i]);
        import_beside(b, c, name, import_optional(timing, key) * ms);
    }
    if (!*unit)
        import_beside(b, c, "summary_samples", import_optional(timing, "n"));
    summary_count_left(b, timing, known, unit, "timing.");
}

static void summary_read_rates(struct import_build *b, const cJSON *entry, double time_ms,
                               struct import_case *c)
{
    static const char *const known[] = { "statistic", "tokens_per_second", "gflops", "gbs", NULL };
    const cJSON *rates = import_member(entry, "throughput");
    double tokens = import_optional(entry, "throughput_tokens_per_sec");
    double flops = import_optional(rates, "gflops") * time_ms * ms;
    double bytes = import_optional(rates, "gbs") * time_ms * ms;

    import_work(c, flops, bytes);
    import_beside(b, c, "tokens_per_second",
                  isnan(tokens) ? import_optional(rates, "tokens_per_second") : tokens);
    summary_count_left(b, rates, known, "", "throughput.");
}

/* {NAME: {"value", "unit", "better"}}, as our own export has them: where two differ in their unit
 * alone, NAME is "rate (req/s, higher)". */
static void summary_read_metrics(struct import_build *b, const cJSON *entry, struct import_case *c)
{
    const cJSON *item;
    char name[128];

    cJSON_ArrayForEach(item, import_member(entry, "metrics"))
    {
        const char *said = item->string ? item->string : "";
        const char *bracket = strstr(said, " (");
        int better = better_find(json_string(item, "better", "none"));
        double value = import_optional(item, "value");
        snprintf(name, sizeof(name), "%.*s", (int)(bracket ? bracket - said : 120), said);
        if (isnan(value) || !*name)
            import_left(b, "metrics");
        else
            import_metric(b, c, name, json_string(item, "unit", ""),
                          better < 0 ? BETTER_NONE : (enum better)better, value);
    }
}

/* Of a benchmark of ours that was right there may be numbers alone, or nothing. */
static int summary_read_timeless(struct import_build *b, const cJSON *entry, struct import_case *c)
{
    if (!import_member(entry, "outcome") || import_member(entry, "timing"))
        return import_refuse(b, entry, "\"timing\" is missing or no object");
    if (c->m.nr_numbers == 0 && c->m.nr_telemetry == 0)
        import_count(b, "%zu benchmark%s left out, with neither a time nor a number (%s)",
                     c->m.bench.key);
    import_timeless(c);
    return 0;
}

/* `unit` is "" or "_ms", as it stands at the end of the members. */
static int summary_read_timing(struct import_build *b, const cJSON *timing, const char *unit,
                               struct import_case *c, double *time_ms)
{
    char key[32];

    snprintf(key, sizeof(key), "median%s", unit);
    if (!cJSON_HasObjectItem(timing, key))
        snprintf(key, sizeof(key), "mean%s", unit);
    if (strcmp(json_string(timing, "unit", "ms"), "ms") != 0)
        return import_refuse(b, timing, "\"unit\" of a timing is not ms");
    if (import_number(b, timing, key, 0, time_ms))
        return -1;
    summary_keep_statistics(b, timing, unit, c);
    return import_statistic(b, c, import_member(timing, key), *time_ms * ms);
}

static int summary_read_entry(void *context, const cJSON *entry)
{
    static const char *const known[] = {
        "name",       "config",     "outcome",   "message",
        "timing",     "throughput", "metrics",   "throughput_tokens_per_sec",
        "batch_size", "seq_len",    "max_error", /* nobody here checked it */
        NULL
    };
    struct import_build *b = context;
    const char *text = entry->string;
    const cJSON *timing = import_member(entry, "timing");
    int outcome = outcome_find(json_string(entry, "outcome", "OK"));
    struct import_name name;
    double time_ms = 0;

    if (!text && import_text(b, entry, "name", &text))
        return -1;
    import_name_init(&name, text);
    summary_add_sizes(entry, &name);
    struct import_case *c = import_case(b, &name);
    if (outcome < 0)
        return import_refuse(b, entry, "\"outcome\" is none of OK, UNSUPPORTED, WRONG, FAILED");
    if (outcome != OUTCOME_OK) {
        import_fail(c, (enum outcome)outcome, json_string(entry, "message", "no reason given"));
        return 0;
    }
    summary_count_left(b, entry, known, "", "");
    summary_read_metrics(b, entry, c);
    if (!cJSON_IsObject(timing))
        return summary_read_timeless(b, entry, c);
    if (summary_read_timing(b, timing, "", c, &time_ms))
        return -1;
    summary_read_rates(b, entry, time_ms, c);
    summary_keep_config(b, entry, c);
    return 0;
}

static int summary_read_comparison(void *context, const cJSON *entry)
{
    static const char *const known[] = { "config", "batch_size", "seq_len",
                                         "speedup", /* follows from the sides */
                                         NULL };
    struct import_build *b = context;
    const cJSON *side;
    double time_ms;

    cJSON_ArrayForEach(side, entry)
    {
        struct import_name name;
        if (!cJSON_IsObject(side) || !cJSON_HasObjectItem(side, "mean_ms")) {
            summary_count_left_member(b, side, known, "", "");
            continue;
        }
        import_name_init(&name, entry->string);
        import_name_part(&name, side->string);
        summary_add_sizes(entry, &name);
        struct import_case *c = import_case(b, &name);
        if (summary_read_timing(b, side, "_ms", c, &time_ms))
            return -1;
        summary_keep_config(b, entry, c);
    }
    return 0;
}

static int summary_parse(struct import_build *b)
{
    const cJSON *root = b->source.root;
    const cJSON *benchmarks = import_member(root, "benchmarks");
    const cJSON *comparisons = import_member(root, "comparisons");

    b->clock = "summary";
    b->statistic = "the median or mean";
    if (!benchmarks && !comparisons)
        return import_refuse(b, root, "\"benchmarks\" is missing");
    if (summary_read_metadata(b, import_member(root, "metadata")) ||
        import_each(b, benchmarks, "a benchmark", summary_read_entry, b))
        return -1;
    if (cJSON_IsArray(comparisons) && comparisons->child)
        return import_refuse(b, comparisons->child, "a comparison is no object");
    return import_each(b, comparisons, "a comparison", summary_read_comparison, b);
}

const struct import_format_row import_summary = {
    .signs = { "benchmarks.*.timing", "metadata benchmarks.*", "comparisons.*" },
    .parse = summary_parse,
};
