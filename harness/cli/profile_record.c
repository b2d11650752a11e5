/* SPDX-License-Identifier: MIT */
#include "cli/profile_record.h"

#include "base/json.h"
#include "base/text.h"
#include "cli/history_file.h"
#include "cli/recording.h"
#include "cli/roofs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_reference(const struct benchmark *b)
{
    return (b->variant->flags & (VARIANT_PLAIN | VARIANT_VENDOR)) != 0;
}

static bool has_better(const struct benchmark_list *list, const struct benchmark *b)
{
    for (size_t i = 0; i < list->nr; i++)
        if (list->items[i].variant->kernel == b->variant->kernel && !is_reference(&list->items[i]))
            return true;
    return false;
}

void profile_choose(struct benchmark_list *list)
{
    bool *keep = memory_zeroed(list->nr + 1, sizeof(*keep));
    size_t kept = 0;

    for (size_t i = 0; i < list->nr; i++)
        keep[i] = !is_reference(&list->items[i]) || !has_better(list, &list->items[i]);
    for (size_t i = 0; i < list->nr; i++)
        if (keep[i])
            list->items[kept++] = list->items[i];
    list->nr = kept;
    free(keep);
}

/* Whether `length` characters of `name` are leading parts of `other`, too. */
static bool leads(const char *name, size_t length, const char *other)
{
    return strncmp(name, other, length) == 0 && (other[length] == '/' || other[length] == '\0');
}

static size_t shared(const char *name, size_t length, const char *other)
{
    while (length > 0 && !leads(name, length, other)) {
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
        length = shared(first, length, list->items[i].variant->kernel->name);
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
    if (r->choice.device.kind != DEVICE_CPU)
        return error_set(err, "--plant: a slow-down can be planted on the CPU, not on %s",
                         r->choice.device.label);
    r->planted = memory_string(text);
    r->planted[equals - text] = '\0';
    r->profiling.plant = r->planted;
    return 0;
}

static char *settings_json(const struct profile_request *r)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddBoolToObject(json, "profile", true);
    if (r->profiling.plant)
        cJSON_AddTrueToObject(json, "planted");
    json_add_string(json, "device", r->choice.device.spec);
    json_add_int(json, "launches", r->launches);
    json_add_int(json, "iterations", r->profiling.iterations);
    recording_add_guests(json, &r->choice.guests);
    return json_take_text(json);
}

/* ---- a sink for what is not kept ---- */

static int no_launch(void *context, const struct launch *l, struct error *err)
{
    (void)context;
    (void)l;
    (void)err;
    return 0;
}

static int keep_measurement(void *context, const struct launch *l, const struct measurement *m,
                            struct error *err)
{
    struct recording *r = context;

    (void)err;
    measurement_copy(&records_add(r->records, 0, l->seq)->m, m);
    return 0;
}

static struct sweep_sink sink_of(struct recording *r, bool store)
{
    struct sweep_sink sink = recording_sink(r);

    if (store)
        return sink;
    sink.launch_begin = sink.launch_end = no_launch;
    sink.measurement = keep_measurement;
    return sink;
}

static int measure(const struct profile_request *r, struct recording *recording,
                   const volatile sig_atomic_t *interrupted, enum sweep_end *end, struct error *err)
{
    const struct sweep sweep = {
        .device_spec = r->choice.device.spec,
        .benchmarks = r->choice.list.items,
        .nr = r->choice.list.nr,
        .launches = r->launches,
        .settings = { .sampling = r->choice.suite.sampling,
                      .seed = r->seed,
                      .memory_limit = r->memory_limit,
                      .guests = &r->choice.guests,
                      .profiling = &r->profiling },
        .case_timeout = r->timeout,
        .interrupted = interrupted,
    };
    const struct sweep_sink sink = sink_of(recording, r->store);

    if (r->store && store_begin_run(recording->store, recording->run, err))
        return -1;
    int rc = sweep_run(&sweep, &sink, end, err);
    progress_clear(recording->progress);
    if (rc == 0 && r->store && *end != SWEEP_INTERRUPTED)
        rc = recording_end(recording, err);
    return rc;
}

int profile_record(const struct profile_request *r, const volatile sig_atomic_t *interrupted,
                   struct profile_result *result, struct error *err)
{
    struct store *store = NULL;
    struct run *run;
    struct progress progress;
    enum sweep_end end = SWEEP_DONE;

    *result = (struct profile_result) { 0 };
    if (recording_check_label(r->label, 0, err) || history_open(&store, r->db, STORE_WRITE, err))
        return -1;
    result->history = memory_string(store_path(store));
    run = records_add_run(&result->records);
    recording_describe(run, "", r->label, settings_json(r), &r->choice.guests);
    progress_init(&progress);
    struct recording recording = {
        .store = store, .run = run, .records = &result->records, .progress = &progress
    };
    int rc = roofs_ensure(store, run, &r->choice.device, false, interrupted, err);
    if (rc == 0)
        rc = prof_overhead(&result->cost) ? error_set(err, "no memory for a profile") : 0;
    if (rc == 0)
        rc = measure(r, &recording, interrupted, &end, err);
    if (rc == 0)
        rc = roofs_load(store, run, &r->choice.device, &result->records, err);
    result->run = rc == 0 && r->store ? run->id : 0;
    result->interrupted = end == SWEEP_INTERRUPTED;
    store_close(store);
    return rc;
}

void profile_result_release(struct profile_result *result)
{
    records_release(&result->records);
    free(result->history);
}

struct timeline_roofs profile_roofs(const struct profile_result *result,
                                    const struct benchmark *bench, const struct device *device)
{
    char label[NAME_SIZE];

    snprintf(label, sizeof(label), "%.*s", (int)device_label_hardware(device->label),
             device->label);
    return timeline_roofs_of(result->records.ceilings, result->records.nr_ceilings, label,
                             math_name(bench->variant->math));
}
