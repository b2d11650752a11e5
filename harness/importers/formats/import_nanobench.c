/* SPDX-License-Identifier: MIT */
/* nanobench's templates::json(): seconds of one iteration, and how many, of each epoch. */
#include "importers/base/import_form.h"

#include <string.h>

static const struct import_field fields[] = {
    { "title", FIELD_NAME, NULL },
    { "name", FIELD_NAME, NULL },
    { "median(elapsed)", FIELD_TIME, "median" },
    { "batch", FIELD_BESIDE, "batch" }, /* units in one iteration */
    { "complexityN", FIELD_DIM, "n" },
    { "median(instructions)", FIELD_BESIDE, "instructions" },
    { "median(cpucycles)", FIELD_BESIDE, "cycles" },
    { "median(branchinstructions)", FIELD_BESIDE, "branches" },
    { "median(branchmisses)", FIELD_BESIDE, "branch_misses" },
    { "median(contextswitches)", FIELD_BESIDE, "context_switches" },
    { "median(pagefaults)", FIELD_BESIDE, "page_faults" },
    { "medianAbsolutePercentError(elapsed)", FIELD_SKIP,
      NULL }, /* of the epochs, which are there */
    { "medianAbsolutePercentError(instructions)", FIELD_SKIP, NULL },
    { "medianAbsolutePercentError(cpucycles)", FIELD_SKIP, NULL },
    { "totalTime", FIELD_SKIP, NULL },
    { "epochs", FIELD_SKIP, NULL }, /* settings */
    { "clockResolution", FIELD_SKIP, NULL },
    { "clockResolutionMultiple", FIELD_SKIP, NULL },
    { "maxEpochTime", FIELD_SKIP, NULL },
    { "minEpochTime", FIELD_SKIP, NULL },
    { "minEpochIterations", FIELD_SKIP, NULL },
    { "epochIterations", FIELD_SKIP, NULL },
    { "warmup", FIELD_SKIP, NULL },
    { "relative", FIELD_SKIP, NULL },
    FIELDS_END,
};

/* "byte" and a batch of 4096: so many bytes of work in one iteration. */
static void nanobench_read_work(struct import_entry *e)
{
    const cJSON *unit = import_entry_at(e, "unit");
    double batch = import_optional(e->node, "batch");

    import_take(unit);
    if (cJSON_IsString(unit) &&
        (strcmp(unit->valuestring, "byte") == 0 || strcmp(unit->valuestring, "B") == 0))
        import_work(e->c, 0, batch);
}

static int nanobench_read_times(struct import_entry *e)
{
    const cJSON *list = import_entry_at(e, "measurements"), *item;
    double seconds;

    nanobench_read_work(e);
    import_take(list); /* counters of an epoch: their medians are there */
    cJSON_ArrayForEach(item, list)
    {
        double iterations = import_optional(item, "iterations");
        if (!import_value(import_member(item, "elapsed"), &seconds))
            return import_refuse(e->b, item, "\"elapsed\" is missing or no number");
        e->batch = iterations >= 1 ? iterations : 1;
        if (import_entry_sample(e, e->c, item, seconds))
            return -1;
    }
    return 0;
}

static const struct import_form form = {
    .entries = "results[]",
    .unit = "s",
    .clock = "nanobench",
    .statistic = "the median of the epochs",
    .fields = fields,
    .read_times = nanobench_read_times,
};

const struct import_format_row import_nanobench = {
    .signs = { "results[].median(elapsed)", "results[].measurements[].elapsed" },
    .form = &form,
};
