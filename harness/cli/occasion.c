/* SPDX-License-Identifier: MIT */
#include "cli/occasion.h"

#include "base/json.h"
#include "base/random.h"
#include "core/clock.h"
#include "measure/environment.h"

#include <stdio.h>

/* What the callbacks of one run share. */
struct worker {
    const struct occasion *o;
    struct records *out;
    int64_t launch_id;
};

static char *settings_json(const struct occasion *o)
{
    cJSON *json = cJSON_CreateObject();

    json_add_string(json, "device", o->choice->device.spec);
    json_add_int(json, "launches", o->choice->suite.launches);
    if (o->plant)
        cJSON_AddTrueToObject(json, "planted");
    cJSON_AddItemToObject(json, "sampling", sampling_to_json(&o->choice->suite.sampling));
    return json_take_text(json);
}

static void describe(const struct occasion *o, struct run *run)
{
    random_uuid(run->uuid);
    run->started_ms = clock_epoch_ms();
    snprintf(run->suite, sizeof(run->suite), "%s", o->choice->suite.name);
    snprintf(run->label, sizeof(run->label), "%s", o->label);
    environment_machine(&run->machine);
    environment_build(&run->build);
    run->environment = environment_json();
    run->settings = settings_json(o);
}

static int on_launch_begin(void *context, const struct launch *l, struct error *err)
{
    struct worker *w = context;

    return store_begin_launch(w->o->store, w->out->runs[0].id, l, &w->launch_id, err);
}

static int on_launch_end(void *context, const struct launch *l, struct error *err)
{
    struct worker *w = context;

    return store_end_launch(w->o->store, w->launch_id, l, err);
}

static int on_measurement(void *context, const struct launch *l, const struct measurement *m,
                          struct error *err)
{
    struct worker *w = context;

    measurement_copy(&records_add(w->out, 0, l->seq)->m, m);
    return store_add_measurement(w->o->store, w->launch_id, m, err);
}

static void on_progress(void *context, const struct sweep_progress *p)
{
    const struct worker *w = context;

    if (w->o->progress->terminal) /* elsewhere the caller tells of each run, and that is enough */
        progress_show(w->o->progress, p);
}

int occasion_run(const struct occasion *o, struct records *out, struct error *err)
{
    struct worker w = { .o = o, .out = out };
    struct run *run = records_add_run(out);
    enum sweep_end end;
    struct sweep sweep = {
        .device_spec = o->choice->device.spec,
        .benchmarks = o->choice->list.items,
        .nr = o->choice->list.nr,
        .launches = o->choice->suite.launches,
        .settings = { .sampling = o->choice->suite.sampling, .seed = o->seed },
        .case_timeout = o->case_timeout,
        .plant = o->plant,
        .interrupted = o->interrupted,
    };
    struct sweep_sink sink = {
        .context = &w,
        .launch_begin = on_launch_begin,
        .launch_end = on_launch_end,
        .measurement = on_measurement,
        .progress = on_progress,
    };

    describe(o, run);
    if (store_begin_run(o->store, run, err))
        return -1;
    int rc = sweep_run(&sweep, &sink, &end, err);
    progress_clear(o->progress);
    if (rc == 0 && end == SWEEP_INTERRUPTED)
        rc = error_set(err, "interrupted");
    run->ended_ms = clock_epoch_ms();
    return rc ? rc : store_end_run(o->store, run->id, run->ended_ms, err);
}
