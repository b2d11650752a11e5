/* SPDX-License-Identifier: MIT */
#include "cli/occasion.h"

#include "base/json.h"
#include "cli/recording.h"

static char *settings_json(const struct occasion *o)
{
    cJSON *json = cJSON_CreateObject();

    json_add_string(json, "device", o->choice->device.spec);
    json_add_int(json, "launches", o->choice->suite.launches);
    if (o->plant)
        cJSON_AddTrueToObject(json, "planted");
    recording_add_guests(json, &o->choice->guests);
    cJSON_AddItemToObject(json, "sampling", sampling_to_json(&o->choice->suite.sampling));
    return json_take_text(json);
}

int occasion_run(const struct occasion *o, struct records *out, struct error *err)
{
    struct run *run = records_add_run(out);
    enum sweep_end end;
    struct sweep sweep = {
        .device_spec = o->choice->device.spec,
        .benchmarks = o->choice->list.items,
        .nr = o->choice->list.nr,
        .launches = o->choice->suite.launches,
        .settings = { .sampling = o->choice->suite.sampling,
                      .seed = o->seed,
                      .memory_limit = o->memory_limit,
                      .guests = &o->choice->guests },
        .case_timeout = o->case_timeout,
        .plant = o->plant,
        .once = o->once,
        .interrupted = o->interrupted,
    };
    struct recording recording = {
        .store = o->store,
        .run = run,
        .records = out,
        .progress = o->progress->terminal ? o->progress : NULL, /* else the caller tells enough */
    };
    struct sweep_sink sink = recording_sink(&recording);

    recording_describe(run, o->choice->suite.name, o->label, settings_json(o), &o->choice->guests);
    if (store_begin_run(o->store, run, err))
        return -1;
    int rc = sweep_run(&sweep, &sink, &end, err);
    progress_clear(o->progress);
    if (rc == 0 && end == SWEEP_INTERRUPTED)
        rc = error_set(err, "interrupted");
    return rc ? rc : recording_end(&recording, err);
}
