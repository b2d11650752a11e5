/* SPDX-License-Identifier: MIT */
#include "session/measure/profile_record.h"

#include "base/json.h"
#include "base/text.h"
#include "core/device_label.h"
#include "session/measure/recording.h"
#include "session/measure/roofs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_reference_variant(const struct benchmark *b)
{
    return (b->variant->flags & (VARIANT_PLAIN | VARIANT_VENDOR)) != 0;
}

/* What a CPU has in other types than fp32 is profiled where it is named. */
static bool is_narrow_on_cpu(const struct benchmark *b)
{
    return b->variant->device == DEVICE_CPU && b->variant->math != MATH_FP32;
}

static bool stands_behind(const struct benchmark *b, const struct benchmark *other)
{
    if (other->variant->kernel != b->variant->kernel || is_reference_variant(other))
        return false;
    return is_reference_variant(b) || (is_narrow_on_cpu(b) && !is_narrow_on_cpu(other));
}

static bool has_better_variant(const struct benchmark_list *list, const struct benchmark *b)
{
    for (size_t i = 0; i < list->nr; i++)
        if (stands_behind(b, &list->items[i]))
            return true;
    return false;
}

void profile_choose(struct benchmark_list *list)
{
    bool *keep = memory_zeroed(list->nr + 1, sizeof(*keep));
    size_t kept = 0;

    for (size_t i = 0; i < list->nr; i++)
        keep[i] = !has_better_variant(list, &list->items[i]);
    for (size_t i = 0; i < list->nr; i++)
        if (keep[i])
            list->items[kept++] = list->items[i];
    list->nr = kept;
    free(keep);
}

/* Whether `length` characters of `name` are leading parts of `other`, too. */
static bool is_leading_part(const char *name, size_t length, const char *other)
{
    return strncmp(name, other, length) == 0 && (other[length] == '/' || other[length] == '\0');
}

static size_t shared_length(const char *name, size_t length, const char *other)
{
    while (length > 0 && !is_leading_part(name, length, other)) {
        length--;
        while (length > 0 && name[length] != '/')
            length--;
    }
    return length;
}

void profile_name(const struct benchmark_list *list, struct strbuf *name)
{
    const char *first = list->items[0].variant->kernel->name;
    size_t length = strlen(first);

    for (size_t i = 1; i < list->nr; i++)
        length = shared_length(first, length, list->items[i].variant->kernel->name);
    if (length > 0)
        strbuf_addf(name, "%.*s", (int)length, first);
    else
        strbuf_adds(name, "several");
}

int profile_set_plant(struct profile_request *r, const char *text, struct error *err)
{
    const char *equals = text ? strrchr(text, '=') : NULL;

    if (!text)
        return 0;
    if (!equals || equals == text)
        return error_set(err, "--plant: \"%s\" is not OPERATION=SHARE, such as head=50%%", text);
    if (text_parse_fraction(equals + 1, "--plant", &r->profiling.plant_share, err))
        return -1;
    if (!(r->profiling.plant_share > 0))
        return error_set(err, "--plant: a slow-down of 0 is none");
    if (r->workload.device.kind != DEVICE_CPU)
        return error_set(err, "--plant: a slow-down can be planted on the CPU, not on %s",
                         r->workload.device.label);
    r->planted = memory_string(text);
    r->planted[equals - text] = '\0';
    r->profiling.plant = r->planted;
    return 0;
}

static char *profile_settings(const struct profile_request *r)
{
    cJSON *json = cJSON_CreateObject();

    if (r->profiling.plant)
        cJSON_AddTrueToObject(json, "planted");
    json_add_string(json, "device", r->workload.device.spec);
    json_add_int(json, "launches", r->workload.suite.launches);
    json_add_int(json, "iterations", r->profiling.iterations);
    recording_add_guests(json, &r->workload.guests);
    return json_take_text(json);
}

int profile_record(const struct profile_request *r, struct profile_result *result,
                   struct error *err)
{
    enum sweep_end end = SWEEP_DONE;

    *result = (struct profile_result) { 0 };
    struct run *run = records_add_run(&result->records);
    /* What something was planted in is no time of the code. */
    const struct recorded what = { .kind = r->profiling.plant ? RUN_TRIAL : RUN_PROFILE,
                                   .suite = "",
                                   .label = r->label,
                                   .settings = profile_settings(r),
                                   .guests = &r->workload.guests,
                                   .sink = r->measuring->sink };
    int rc = recording_describe(run, &what, err);
    struct recording recording = {
        .workload = &r->workload,
        .store = r->store,
        .measuring = r->measuring,
        .profiling = &r->profiling,
        .run = run,
        .records = &result->records,
        .unkept = r->unkept,
    };
    if (rc == 0 && prof_overhead(&result->cost))
        rc = error_set(err, "no memory for a profile");
    if (rc == 0)
        rc = roofs_recording_run(&recording, &end, err);
    if (rc == 0)
        rc = roofs_load(r->store, run, &r->workload.device, &result->records, err);
    result->run = rc == 0 && !r->unkept ? run->id : 0;
    result->interrupted = end == SWEEP_INTERRUPTED;
    return rc;
}

void profile_result_release(struct profile_result *result)
{
    records_release(&result->records);
}

struct timeline_roofs profile_roofs(const struct profile_result *result,
                                    const struct benchmark *bench, const struct device *device)
{
    char label[NAME_SIZE];

    device_label_hardware(device->label, label, sizeof(label));
    return timeline_roofs_of(result->records.roofs, result->records.nr_roofs, label,
                             math_name(bench->variant->math));
}
