/* SPDX-License-Identifier: MIT */
/*
 * Summaries without raw samples: {metadata, benchmarks{NAME{config, timing, ...}}}, as the
 * dashboards of GPT benchmarks write it and as `harness run --format summary-json` does (there the
 * benchmarks are a list), and {metadata, comparisons{NAME{SIDE{mean_ms, ...}, ...}}}.
 */
#include "output/import_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double ms = 1e6; /* ns */

static int read_metadata(struct import_build *b, const cJSON *metadata)
{
    struct machine *m = &b->run->machine;
    struct build *build = &b->run->build;
    double cores = import_optional(metadata, "cores");

    if (!metadata)
        return 0;
    if (!cJSON_IsObject(metadata))
        return import_refuse(b, metadata, "\"metadata\" is no object");
    import_copy(m->class_name, sizeof(m->class_name), json_string(metadata, "machine", ""));
    import_copy(m->cpu, sizeof(m->cpu), json_string(metadata, "cpu", ""));
    import_copy(m->gpu, sizeof(m->gpu),
                json_string(metadata, "gpu", json_string(metadata, "gpu_name", "")));
    if (cores >= 1 && cores < 1e6)
        m->cores = m->threads = (int)cores;
    import_copy(build->commit, sizeof(build->commit), json_string(metadata, "commit", ""));
    import_copy(build->branch, sizeof(build->branch), json_string(metadata, "branch", ""));
    import_copy(build->compiler, sizeof(build->compiler), json_string(metadata, "compiler", ""));
    import_copy(build->flags, sizeof(build->flags), json_string(metadata, "flags", ""));
    build->dirty = json_bool(metadata, "dirty", false);
    import_fact(b, "cuda_version", json_string(metadata, "cuda_version", ""));
    import_fact(b, "cupy_version", json_string(metadata, "cupy_version", ""));
    return import_date(b, metadata, "timestamp");
}

/* Batch and sequence of the seeds' files stand beside the timing. */
static void add_sizes(const cJSON *entry, struct import_name *name)
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

/* The other statistics stay readable as what they are. */
static void keep_statistics(const cJSON *timing, const char *unit, struct import_case *c)
{
    static const char *const keys[] = { "mean", "std", "min", "max", "p95", "p99" };
    char key[32], name[32];

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        snprintf(key, sizeof(key), "%s%s", keys[i], unit);
        snprintf(name, sizeof(name), "summary_%s_ns", keys[i]);
        import_beside(c, name, import_optional(timing, key) * ms);
    }
}

static void read_rates(const cJSON *entry, double time_ms, struct import_case *c)
{
    const cJSON *rates = cJSON_GetObjectItemCaseSensitive(entry, "throughput");
    double tokens = import_optional(entry, "throughput_tokens_per_sec");
    double flops = import_optional(rates, "gflops") * time_ms * ms;
    double bytes = import_optional(rates, "gbs") * time_ms * ms;

    if (flops > 0 && isfinite(flops))
        c->m.flops = flops;
    if (bytes > 0 && isfinite(bytes))
        c->m.bytes = bytes;
    import_beside(c, "tokens_per_second",
                  isnan(tokens) ? import_optional(rates, "tokens_per_second") : tokens);
}

/* `unit` is "" or "_ms", as it stands at the end of the members. */
static int read_timing(struct import_build *b, const cJSON *timing, const char *unit,
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
    keep_statistics(timing, unit, c);
    return import_statistic(b, c, cJSON_GetObjectItemCaseSensitive(timing, key), *time_ms * ms);
}

static int read_entry(struct import_build *b, const cJSON *entry, const char *text)
{
    const cJSON *timing = cJSON_GetObjectItemCaseSensitive(entry, "timing");
    int outcome = outcome_find(json_string(entry, "outcome", "OK"));
    struct import_name name;
    double time_ms = 0;

    import_name_init(&name, text);
    add_sizes(entry, &name);
    struct import_case *c = import_case(b, &name, 0);
    import_name_release(&name);
    if (outcome < 0)
        return import_refuse(b, entry, "\"outcome\" is none of OK, UNSUPPORTED, WRONG, FAILED");
    if (outcome != OUTCOME_OK) {
        import_fail(c, (enum outcome)outcome, json_string(entry, "message", "no reason given"));
        return 0;
    }
    if (!cJSON_IsObject(timing))
        return import_refuse(b, entry, "\"timing\" is missing or no object");
    if (read_timing(b, timing, "", c, &time_ms))
        return -1;
    read_rates(entry, time_ms, c);
    return 0;
}

static int read_comparison(struct import_build *b, const cJSON *entry)
{
    const cJSON *side;
    double time_ms;

    cJSON_ArrayForEach(side, entry)
    {
        struct import_name name;
        if (!cJSON_IsObject(side) || !cJSON_HasObjectItem(side, "mean_ms"))
            continue;
        import_name_init(&name, entry->string);
        import_name_part(&name, side->string);
        add_sizes(entry, &name);
        struct import_case *c = import_case(b, &name, 0);
        import_name_release(&name);
        if (read_timing(b, side, "_ms", c, &time_ms))
            return -1;
    }
    return 0;
}

int import_summary(struct import_build *b)
{
    const cJSON *root = b->source.root, *item;
    const cJSON *benchmarks = cJSON_GetObjectItemCaseSensitive(root, "benchmarks");
    const cJSON *comparisons = cJSON_GetObjectItemCaseSensitive(root, "comparisons");

    b->clock = "summary";
    b->statistic = "the median or mean";
    if (!benchmarks && !comparisons)
        return import_refuse(b, root, "\"benchmarks\" is missing");
    if (read_metadata(b, cJSON_GetObjectItemCaseSensitive(root, "metadata")))
        return -1;
    cJSON_ArrayForEach(item, benchmarks)
    {
        const char *text = item->string;
        if (!cJSON_IsObject(item))
            return import_refuse(b, item, "a benchmark is no object");
        if ((!text && import_text(b, item, "name", &text)) || read_entry(b, item, text))
            return -1;
    }
    cJSON_ArrayForEach(item, comparisons)
    {
        if (!cJSON_IsObject(item) || !item->string)
            return import_refuse(b, item, "a comparison is no object");
        if (read_comparison(b, item))
            return -1;
    }
    return 0;
}
