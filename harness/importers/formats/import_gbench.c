/* SPDX-License-Identifier: MIT */
/* Google Benchmark's --benchmark_out (JSON), from 1.3 on. */
#include "base/text.h"
#include "core/names.h"
#include "importers/base/import_base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct gbench {
    struct import_build *b;
    bool ours;     /* written by `harness export`: its repetitions are launches, its names keys */
    bool launches; /* repetitions count as launches */
};

/* ---- context ---- */

static void gbench_read_cache(struct machine *m, const cJSON *cache)
{
    double level = import_optional(cache, "level"), size = import_optional(cache, "size");
    bool code = strcmp(json_string(cache, "type", ""), "Instruction") == 0;

    if (code || !(size > 0 && size < 1e12))
        return;
    if (level == 1)
        m->l1d = (int64_t)size;
    if (level == 2)
        m->l2 = (int64_t)size;
    if (level == 3) {
        double sharing = import_optional(cache, "num_sharing");
        m->l3 = (int64_t)size;
        m->l3_shared_by = sharing > 0 && sharing < 1e6 ? (int)sharing : 0;
    }
}

static void gbench_read_machine(const struct gbench *g, const cJSON *context)
{
    struct machine *m = &g->b->run->machine;
    double threads = import_optional(context, "num_cpus");
    const cJSON *cache;

    import_processors(m, threads);
    cJSON_ArrayForEach(cache, import_member(context, "caches"))
    {
        gbench_read_cache(m, cache);
    }
    if (g->ours)
        IMPORT_COPY(m->class_name, context, "host_name");
}

/* What --benchmark_context=commit=...,branch=... put there, by these names and no others: a
 * context may hold anything. */
static void gbench_read_build(const struct gbench *g, const cJSON *context)
{
    struct build *build = &g->b->run->build;
    const char *commit = json_string(context, "harness_commit", "");

    import_copy(build->commit, sizeof(build->commit), json_string(context, "commit", commit));
    IMPORT_COPY(build->branch, context, "branch");
    IMPORT_COPY(build->compiler, context, "compiler");
    IMPORT_COPY(build->flags, context, "flags");
    /* Of the library, not of the code measured: no build type of the run. */
    if (strcmp(json_string(context, "library_build_type", ""), "debug") == 0)
        import_note(g->b,
                    "Google Benchmark itself was a debug build, as Debian's package is: its "
                    "loop costs a little more");
}

/* Facts that a context may add: each of them is looked for among those before it. */
enum { FACTS_MOST = 256 };

/* Of --benchmark_context=KEY=VALUE, by its key. */
static void gbench_read_facts(const struct gbench *g, const cJSON *context)
{
    static const char *const known[] = {
        "date",     "host_name", "executable",         "library_version", "commit", "branch",
        "compiler", "flags",     "library_build_type", "harness_commit",  NULL
    };
    const cJSON *item;
    int nr = 0;

    cJSON_ArrayForEach(item, context)
    {
        size_t i = 0;
        while (known[i] && strcmp(known[i], item->string) != 0)
            i++;
        if (!cJSON_IsString(item) || known[i])
            continue;
        if (nr++ >= FACTS_MOST)
            import_count(g->b, "%zu fact%s of \"context\" not taken, for there are very many (%s)",
                         item->string);
        else if (!cJSON_HasObjectItem(g->b->facts, item->string))
            import_fact(g->b, item->string, item->valuestring);
    }
}

static int gbench_read_context(struct gbench *g, const cJSON *context)
{
    const cJSON *scaling = import_member(context, "cpu_scaling_enabled");
    const cJSON *load = import_member(context, "load_avg");
    double mhz = import_optional(context, "mhz_per_cpu");

    if (!context)
        return 0;
    if (!cJSON_IsObject(context))
        return import_refuse(g->b, context, "\"context\" is no object");
    g->ours = json_bool(context, "harness_launches", false);
    g->launches = g->ours || g->b->options->repetitions;
    gbench_read_machine(g, context);
    gbench_read_build(g, context);
    import_fact_of(g->b, "tool_version", context, "library_version");
    if (!g->ours)
        import_fact_of(g->b, "host", context, "host_name");
    gbench_read_facts(g, context);
    if (cJSON_IsBool(scaling))
        cJSON_AddBoolToObject(g->b->facts, "cpu_scaling", cJSON_IsTrue(scaling));
    if (isfinite(mhz))
        json_add_number(g->b->facts, "cpu_mhz", mhz);
    if (cJSON_IsArray(load) && cJSON_IsNumber(load->child))
        json_add_number(g->b->facts, "load1", load->child->valuedouble);
    return import_date(g->b, context, "date");
}

/* ---- benchmarks ---- */

static void gbench_read_name(const struct gbench *g, const char *text, struct benchmark_name *name)
{
    struct import_name n;

    if (!g->ours) {
        import_path_key(text, g->b->options->project, name);
        return;
    }
    import_name_init(&n, text);
    import_name_key(&n, g->b->options->project, name);
    import_name_release(&n);
}

const char *import_gbench_aggregate_of(const char *text, char *base, size_t size)
{
    static const char *const ends[] = { "_mean", "_median", "_stddev", "_cv",
                                        "_BigO", "_RMS",    "_min",    "_max" };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (name_has_ending(text, ends[i])) {
            snprintf(base, size, "%.*s", (int)(strlen(text) - strlen(ends[i])), text);
            return ends[i] + 1;
        }
    return NULL;
}

/* Before 1.5 nothing but the end of its name told an aggregate: "BM_Sort_mean" beside BM_Sort. */
static bool gbench_is_old_aggregate(const struct gbench *g, const char *text)
{
    char base[512];
    struct benchmark_name name;

    if (!import_gbench_aggregate_of(text, base, sizeof(base)))
        return false;
    gbench_read_name(g, base, &name);
    return import_case_find(g->b, name.key, 0) != NULL;
}

/* A counter of a user's may be called "rms", too. Before there was a run_type, a fit had it in
 * place of a time. */
static bool gbench_is_fit(const cJSON *entry)
{
    const char *which = json_string(entry, "aggregate_name", "");

    if (import_member(entry, "run_type"))
        return strcmp(which, "BigO") == 0 || strcmp(which, "RMS") == 0;
    return !import_member(entry, "real_time") &&
           (import_member(entry, "big_o") || import_member(entry, "rms"));
}

static bool gbench_is_aggregate(const struct gbench *g, const cJSON *entry)
{
    const char *type = json_string(entry, "run_type", NULL);

    if (type)
        return strcmp(type, "aggregate") == 0;
    return gbench_is_fit(entry) || gbench_is_old_aggregate(g, json_string(entry, "name", ""));
}

static int gbench_read_unit(struct gbench *g, const cJSON *entry, double *ns)
{
    const char *unit;

    if (import_text(g->b, entry, "time_unit", &unit))
        return -1;
    *ns = import_unit_ns(unit);
    return *ns > 0 ? 0
                   : import_refuse(g->b, import_member(entry, "time_unit"),
                                   "\"time_unit\" is \"%.20s\", none of ns, us, ms, s", unit);
}

static int gbench_read_launch(struct gbench *g, const cJSON *entry, int *launch)
{
    double index = import_optional(entry, "repetition_index");

    *launch = 0;
    if (!g->launches || isnan(index))
        return 0;
    if (index < 0 || index > 100000 || index != floor(index))
        return import_refuse(g->b, import_member(entry, "repetition_index"),
                             "\"repetition_index\" is not in 0 to 100000");
    *launch = (int)index;
    return 0;
}

/* Our own export puts the outcome in front. */
static void gbench_read_failure(const struct gbench *g, const cJSON *entry, struct import_case *c)
{
    const char *message = json_string(entry, "error_message", "failed");
    const char *colon = strchr(message, ':');
    enum outcome outcome = OUTCOME_FAILED;

    if (import_member(entry, "skip_message"))
        import_fail(c, OUTCOME_UNSUPPORTED, json_string(entry, "skip_message", "skipped"));
    else {
        char word[16];
        snprintf(word, sizeof(word), "%.*s", (int)strcspn(message, ":"), message);
        int found = g->ours ? outcome_find(word) : -1;
        if (found > OUTCOME_OK) {
            outcome = (enum outcome)found;
            message = colon ? colon + 1 + strspn(colon + 1, " ") : "";
        }
        import_fail(c, outcome, message);
    }
}

static bool gbench_is_reserved(const char *key)
{
    static const char *const keys[] = {
        "name",        "run_name",     "run_type",
        "repetitions", "threads",      "repetition_index",
        "iterations",  "real_time",    "cpu_time",
        "time_unit",   "family_index", "per_family_instance_index",
        "FLOPS",       "flops",        "bytes_per_second",
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

/* A rate is work over the processor's time, unless the name says that real time counts, as it
 * always does in our own export. */
static double gbench_rate_seconds(const struct gbench *g, const cJSON *entry, const char *name,
                                  double unit)
{
    bool real = g->ours || strstr(name, "/real_time") || strstr(name, "/manual_time");
    double cpu = import_optional(entry, "cpu_time"), wall = import_optional(entry, "real_time");

    return (real || !(cpu > 0) ? wall : cpu) * unit * 1e-9;
}

static void gbench_read_counters(const struct gbench *g, const cJSON *entry, const char *name,
                                 double unit, struct import_case *c)
{
    double seconds = gbench_rate_seconds(g, entry, name, unit),
           flops = import_optional(entry, "FLOPS");
    double bytes = import_optional(entry, "bytes_per_second");
    double cpu = import_optional(entry, "cpu_time");
    const cJSON *item;

    if (isnan(flops))
        flops = import_optional(entry, "flops");
    if (c->m.flops == 0 && flops > 0 && isfinite(flops * seconds))
        c->m.flops = flops * seconds;
    if (c->m.bytes == 0 && bytes > 0 && isfinite(bytes * seconds))
        c->m.bytes = bytes * seconds;
    if (isfinite(cpu * unit) && (cpu > 0 || !g->ours)) /* 0 is not known there */
        import_beside(g->b, c, "cpu_time_ns", cpu * unit);
    cJSON_ArrayForEach(item, entry)
    {
        if (cJSON_IsNumber(item) && !gbench_is_reserved(item->string))
            import_beside(g->b, c, item->string, item->valuedouble);
    }
}

/* In CSV it is the word "true". */
static bool gbench_has_failed(const cJSON *entry)
{
    return json_bool(entry, "error_occurred", false) ||
           strcmp(json_string(entry, "error_occurred", ""), "true") == 0;
}

/* A launch with numbers alone, as our own export has it. */
static bool gbench_is_timeless(const struct gbench *g, const cJSON *entry)
{
    return g->ours && import_optional(entry, "iterations") == 0 &&
           import_optional(entry, "real_time") == 0;
}

static int gbench_read_entry(struct gbench *g, const cJSON *entry, const char *text, bool aggregate)
{
    const char *key = g->b->options->cpu_time ? "cpu_time" : "real_time";
    struct benchmark_name name;
    double unit = 1, time = 0, iterations = 1;
    int launch;

    gbench_read_name(g, text, &name);
    if (gbench_read_launch(g, entry, &launch))
        return -1;
    struct import_case *c = import_case_of(g->b, &name, launch);
    if (gbench_has_failed(entry) || json_bool(entry, "skipped", false) ||
        import_member(entry, "skip_message")) {
        gbench_read_failure(g, entry, c);
        return 0;
    }
    if (!aggregate && gbench_is_timeless(g, entry)) {
        gbench_read_counters(g, entry, text, unit, c);
        import_timeless(c);
        return 0;
    }
    if (import_number(g->b, entry, key, 0, &time) || gbench_read_unit(g, entry, &unit) ||
        (!aggregate && import_number(g->b, entry, "iterations", 1, &iterations)))
        return -1;
    if (time > 0) /* what took no time did nothing */
        gbench_read_counters(g, entry, text, unit, c);
    const cJSON *at = import_member(entry, key);
    return aggregate ? import_statistic(g->b, c, at, time * unit)
                     : import_time(g->b, c, at, time * unit, iterations);
}

static int gbench_read_iteration(void *context, const cJSON *entry)
{
    struct gbench *g = context;
    const char *name;

    if (import_text(g->b, entry, "name", &name))
        return -1;
    const char *run_name = json_string(entry, "run_name", "");
    if (gbench_is_fit(entry))
        import_count(g->b, "%zu fit%s of complexity (BigO, RMS) not taken (%s)", name);
    if (*json_string(entry, "label", "") && !gbench_is_aggregate(g, entry))
        import_count(g->b, "%zu label%s not taken (%s)", json_string(entry, "label", ""));
    if (gbench_is_aggregate(g, entry))
        return 0;
    return gbench_read_entry(g, entry, *run_name ? run_name : name, false);
}

/* Of benchmarks that have nothing else: --benchmark_report_aggregates_only. `which` NULL: any time
 * that is no spread, such as a statistic of one's own. */
static bool gbench_is_wanted(const cJSON *entry, const char *which)
{
    const char *name = json_string(entry, "aggregate_name", "");

    if (strcmp(json_string(entry, "run_type", ""), "aggregate") != 0 || gbench_is_fit(entry))
        return false;
    return which ? strcmp(name, which) == 0
                 : strcmp(name, "stddev") != 0 && strcmp(name, "cv") != 0 &&
                       strcmp(json_string(entry, "aggregate_unit", ""), "percentage") != 0;
}

static int gbench_read_aggregates(struct gbench *g, const cJSON *benchmarks, const char *which)
{
    const cJSON *entry;

    cJSON_ArrayForEach(entry, benchmarks)
    {
        const char *text = json_string(entry, "run_name", "");
        struct benchmark_name name;
        if (!*text || !gbench_is_wanted(entry, which))
            continue;
        gbench_read_name(g, text, &name);
        if (import_case_find(g->b, name.key, 0))
            continue;
        g->b->statistic = "the median or mean of the repetitions, or what else there is,";
        if (gbench_read_entry(g, entry, text, true))
            return -1;
    }
    return 0;
}

/* Where an aggregate stands for the repetitions, the others stand beside it. */
static void gbench_keep_aggregates(struct gbench *g, const cJSON *benchmarks)
{
    const char *key = g->b->options->cpu_time ? "cpu_time" : "real_time";
    const cJSON *entry;

    cJSON_ArrayForEach(entry, benchmarks)
    {
        const char *text = json_string(entry, "run_name", "");
        const char *which = json_string(entry, "aggregate_name", "");
        bool share = strcmp(json_string(entry, "aggregate_unit", ""), "percentage") == 0;
        struct benchmark_name name;
        char beside[64];
        if (!*text || !*which || gbench_is_fit(entry) || strcmp(which, "cv") == 0)
            continue; /* cv follows from stddev and mean, and CSV has it in "ns" */
        gbench_read_name(g, text, &name);
        struct import_case *c = import_case_find(g->b, name.key, 0);
        double unit = share ? 1 : import_unit_ns(json_string(entry, "time_unit", "ns"));
        if (!c || !c->stands)
            continue;
        snprintf(beside, sizeof(beside), "summary_%.40s%s", which, share ? "" : "_ns");
        import_beside(g->b, c, beside, import_optional(entry, key) * unit);
    }
}

int import_gbench_parse(struct import_build *b)
{
    static const char *const which[] = { "median", "mean", "min", "max", NULL };
    struct gbench g = { .b = b, .launches = b->options->repetitions };
    const cJSON *benchmarks;

    b->clock = b->options->cpu_time ? "cpu_time" : "real_time";
    if (import_list(b, b->source.root, "benchmarks", &benchmarks) ||
        gbench_read_context(&g, import_member(b->source.root, "context")) ||
        import_each(b, benchmarks, "a benchmark", gbench_read_iteration, &g))
        return -1;
    for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++)
        if (gbench_read_aggregates(&g, benchmarks, which[i]))
            return -1;
    gbench_keep_aggregates(&g, benchmarks);
    return 0;
}

const struct import_format_row import_gbench = {
    .signs = { "context benchmarks[", "benchmarks[].real_time", "benchmarks[].run_type" },
    .parse = import_gbench_parse,
};
