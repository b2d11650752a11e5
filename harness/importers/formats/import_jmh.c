/* SPDX-License-Identifier: MIT */
/* JMH's -rf json. A fork is a process of its own, so it is a launch. */
#include "importers/base/import_form.h"

#include <math.h>
#include <stdio.h>

enum { HISTOGRAM_MOST = 100000 };

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
    { "jmhVersion", FIELD_SKIP, NULL }, /* settings, and what stands in the surroundings */
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

/* -bm sample: [value, how often], as often; of very many the nth part. */
static int jmh_read_histogram(struct import_entry *e, struct import_case *c, const cJSON *pairs)
{
    const cJSON *pair;
    double total = 0, value, nr;

    cJSON_ArrayForEach(pair, pairs)
    {
        if (!import_value(cJSON_GetArrayItem(pair, 0), &value) ||
            !import_value(cJSON_GetArrayItem(pair, 1), &nr) || nr < 1)
            return import_refuse(e->b, pair, "no pair of a value and how often it was measured");
        total += nr;
    }
    double part = fmax(1, ceil(total / HISTOGRAM_MOST));
    cJSON_ArrayForEach(pair, pairs)
    {
        import_value(cJSON_GetArrayItem(pair, 0), &value);
        import_value(cJSON_GetArrayItem(pair, 1), &nr);
        for (int i = 0, times = (int)ceil(nr / part); i < times; i++)
            if (import_entry_sample(e, c, pair, value))
                return -1;
    }
    if (part > 1)
        import_count(e->b, "%zu histogram%s of very many values made smaller (%s)",
                     e->c->m.bench.key);
    return 0;
}

static int jmh_read_iteration(struct import_entry *e, struct import_case *c, const cJSON *item)
{
    double value;

    if (cJSON_IsArray(item))
        return jmh_read_histogram(e, c, item);
    if (!import_value(item, &value))
        return import_refuse(e->b, item, "a sample is no finite number");
    return import_entry_sample(e, c, item, value);
}

/* The unit is a part of the name: "gc.alloc.rate.norm B/op". */
static void jmh_read_others(struct import_entry *e)
{
    const cJSON *all = import_entry_at(e, "secondaryMetrics"), *item;
    char name[128];
    double score;

    import_take(all);
    cJSON_ArrayForEach(item, all)
    {
        snprintf(name, sizeof(name), "%.60s %.30s", item->string ? item->string : "",
                 json_string(item, "scoreUnit", ""));
        if (import_value(import_member(item, "score"), &score))
            import_beside(e->b, e->c, name, score);
    }
}

static int jmh_read_times(struct import_entry *e)
{
    const cJSON *forks = import_entry_at(e, "primaryMetric.rawData"), *fork, *item;
    int launch = 0;

    jmh_read_others(e);
    if (!cJSON_IsArray(forks))
        forks = import_entry_at(e, "primaryMetric.rawDataHistogram");
    import_take(forks);
    cJSON_ArrayForEach(fork, forks)
    {
        struct import_case *c = import_entry_launch(e, launch++);
        cJSON_ArrayForEach(item, fork)
        {
            if (jmh_read_iteration(e, c, item))
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

const struct import_format_row import_jmh = {
    .signs = { "[].primaryMetric [].benchmark" },
    .form = &form,
};
