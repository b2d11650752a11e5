/* SPDX-License-Identifier: MIT */
/* JMH's -rf json. A fork is a process of its own, so it is a launch. */
#include "importers/base/import_form.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* -bm sample counts every call of a second or ten, in each of five iterations of five forks by
 * default: millions of times a benchmark. Of a fork so many stay that its 99.9th percentile has ten
 * behind it. Of a file so many as 80 benchmarks of five forks come to: at most 24 bytes each until
 * they are stored, so about 100 MB beside the text's own values. */
enum { FORK_SAMPLES_MOST = 10000, FILE_SAMPLES_MOST = 4000000 };

static const struct import_field fields[] = {
    { "benchmark", FIELD_NAME, NULL },
    { "mode", FIELD_NAME, NULL },
    { "threads", FIELD_DIM, "threads" },
    { "params", FIELD_PARAMETERS, NULL },
    { "primaryMetric.scoreUnit", FIELD_UNIT, NULL },
    { "primaryMetric.score", FIELD_TIME, "score" },
    { "primaryMetric.scoreError", FIELD_SUMMARY, "error" },
    { "primaryMetric.scoreConfidence", FIELD_SKIP, NULL }, /* follow from the samples */
    { "primaryMetric.scorePercentiles", FIELD_SKIP, NULL },
    { "jmhVersion", FIELD_SKIP, NULL }, /* settings, and what stands in the environment */
    { "forks", FIELD_SKIP, NULL },
    { "jvm", FIELD_SKIP, NULL },
    { "jvmArgs", FIELD_SKIP, NULL },
    { "jdkVersion", FIELD_SKIP, NULL },
    { "vmName", FIELD_SKIP, NULL },
    { "vmVersion", FIELD_SKIP, NULL },
    { "warmupIterations", FIELD_SKIP, NULL },
    { "warmupTime", FIELD_SKIP, NULL },
    { "warmupBatchSize", FIELD_SKIP, NULL },
    { "measurementIterations", FIELD_SKIP, NULL },
    { "measurementTime", FIELD_SKIP, NULL },
    { "measurementBatchSize", FIELD_SKIP, NULL },
    FIELDS_END,
};

static const struct import_field file[] = {
    { "[].jmhVersion", FIELD_FACT, "tool_version" },
    { "[].jdkVersion", FIELD_FACT, "jdk" },
    { "[].vmName", FIELD_FACT, "vm" },
    { "[].vmVersion", FIELD_FACT, "vm_version" },
    FIELDS_END,
};

/* A fork while its times are read: every `part`-th of them stays, through all of its iterations, so
 * that the shares of all values do. */
struct jmh_fork {
    struct import_case *c;
    double part, seen;
};

/* Samples that a fork with histograms may have: all of them share what a file may. */
static double jmh_share(const cJSON *root)
{
    double forks = 0;
    const cJSON *item;

    cJSON_ArrayForEach(item, root) forks +=
        cJSON_GetArraySize(import_at(item, "primaryMetric.rawDataHistogram"));
    return fmax(1, fmin(FORK_SAMPLES_MOST, floor(FILE_SAMPLES_MOST / fmax(forks, 1))));
}

/* How many times the iterations of a fork have: [value, how often]. */
static int jmh_count(struct import_entry *e, const cJSON *iterations, double *total)
{
    const cJSON *pairs, *pair;
    double value, nr;

    cJSON_ArrayForEach(pairs, iterations)
    {
        cJSON_ArrayForEach(pair, pairs)
        {
            if (!import_value(cJSON_GetArrayItem(pair, 0), &value) ||
                !import_value(cJSON_GetArrayItem(pair, 1), &nr) || !(nr >= 1 && nr < 0x1p53))
                return import_refuse(e->b, pair,
                                     "no pair of a value and how often it was measured");
            *total += nr;
        }
    }
    return 0;
}

static int jmh_begin_fork(struct import_entry *e, const cJSON *iterations, struct jmh_fork *f)
{
    double total = 0;

    if (jmh_count(e, iterations, &total))
        return -1;
    f->part = fmax(1, ceil(total / e->b->share));
    if (f->part > 1)
        import_count(e->b, "times of %zu fork%s thinned, evenly, for there are very many (%s)",
                     e->c->m.bench.key);
    return 0;
}

static int jmh_read_histogram(struct import_entry *e, struct jmh_fork *f, const cJSON *pairs)
{
    const cJSON *pair;
    double value = 0, nr = 0;

    cJSON_ArrayForEach(pair, pairs)
    {
        double before = floor(f->seen / f->part + 0.5);
        import_value(cJSON_GetArrayItem(pair, 0), &value);
        import_value(cJSON_GetArrayItem(pair, 1), &nr);
        f->seen += nr;
        for (size_t left = (size_t)(floor(f->seen / f->part + 0.5) - before); left > 0; left--)
            if (import_entry_sample(e, f->c, pair, value))
                return -1;
    }
    return 0;
}

static int jmh_read_iteration(struct import_entry *e, struct jmh_fork *f, const cJSON *item)
{
    double value;

    if (cJSON_IsArray(item))
        return jmh_read_histogram(e, f, item);
    if (!import_value(item, &value))
        return import_refuse(e->b, item, "a sample is no finite number");
    return import_entry_sample(e, f->c, item, value);
}

/* ---- secondary metrics ---- */

struct jmh_values {
    double sum, low, high;
    size_t nr;
};

static void jmh_add_values(const cJSON *list, struct jmh_values *v)
{
    const cJSON *item;
    double value;

    cJSON_ArrayForEach(item, list)
    {
        if (!import_value(item, &value))
            continue;
        v->sum += value;
        v->low = v->nr ? fmin(v->low, value) : value;
        v->high = v->nr ? fmax(v->high, value) : value;
        v->nr++;
    }
}

/* What JMH makes of the values of all iterations, by the metric: "gc.alloc.rate.norm" is a mean,
 * "gc.count" a sum. */
static double jmh_made_of(const struct jmh_values *v, int way)
{
    const double ways[] = { v->sum / (double)v->nr, v->sum, v->high, v->low };

    return ways[way];
}

/* The file does not say which, but the score is made so; the mean where it is none of them. */
static int jmh_way_of(const struct jmh_values *all, double score)
{
    for (int way = 0; way < 4; way++)
        if (fabs(jmh_made_of(all, way) - score) <= 1e-6 * fabs(score))
            return way;
    return 0;
}

/* Of each fork what JMH makes of its iterations, as it does of all of them for the score; the score
 * where profilers looked at a fork as a whole, for nothing tells what each of them had. */
static void jmh_read_other(struct import_entry *e, const cJSON *metric, const char *name, int forks)
{
    const cJSON *raw = import_member(metric, "rawData"), *fork;
    struct jmh_values all = { 0 };
    double score = NAN;
    int launch = 0;

    import_value(import_member(metric, "score"), &score);
    cJSON_ArrayForEach(fork, raw)
    {
        jmh_add_values(fork, &all);
    }
    if (all.nr == 0 || cJSON_GetArraySize(raw) != forks) {
        import_beside(e->b, e->c, name, score);
        return;
    }
    int way = jmh_way_of(&all, score);
    cJSON_ArrayForEach(fork, raw)
    {
        struct jmh_values own = { 0 };
        jmh_add_values(fork, &own);
        struct import_case *c = import_entry_launch(e, launch++);
        if (own.nr > 0)
            import_beside(e->b, c, name, jmh_made_of(&own, way));
    }
}

/* The unit is a part of the name: "gc.alloc.rate.norm B/op". Up to JMH 1.36 a dot in the middle of
 * the line stands in front of what a profiler found: "·gc.alloc.rate.norm". */
static void jmh_read_others(struct import_entry *e, int forks)
{
    static const char dot[] = "\xc2\xb7";
    const cJSON *all = import_entry_at(e, "secondaryMetrics"), *item;
    char name[512];

    import_take(all);
    cJSON_ArrayForEach(item, all)
    {
        const char *said = item->string ? item->string : "";
        said += strncmp(said, dot, strlen(dot)) == 0 ? strlen(dot) : 0;
        snprintf(name, sizeof(name), "%.400s %.60s", said, json_string(item, "scoreUnit", ""));
        jmh_read_other(e, item, name, forks);
    }
}

static int jmh_read_times(struct import_entry *e)
{
    const cJSON *forks = import_entry_at(e, "primaryMetric.rawData"), *fork, *item;
    int launch = 0;

    if (!cJSON_IsArray(forks))
        forks = import_entry_at(e, "primaryMetric.rawDataHistogram");
    import_take(forks);
    jmh_read_others(e, cJSON_GetArraySize(forks));
    cJSON_ArrayForEach(fork, forks)
    {
        struct jmh_fork f = { .c = import_entry_launch(e, launch++) };
        if (jmh_begin_fork(e, fork, &f))
            return -1;
        cJSON_ArrayForEach(item, fork)
        {
            if (jmh_read_iteration(e, &f, item))
                return -1;
        }
    }
    return 0;
}

static const struct import_form form = {
    .entries = "[]",
    .clock = "JMH",
    .statistic = "the score",
    .fields = fields,
    .file = file,
    .read_times = jmh_read_times,
};

static int jmh_parse(struct import_build *b)
{
    b->share = jmh_share(b->source.root);
    return import_read_form(b, &form);
}

const struct import_format_row import_jmh = { .signs = { "[].primaryMetric [].benchmark" },
                                              .parse = jmh_parse };
