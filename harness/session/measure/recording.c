/* SPDX-License-Identifier: MIT */
#include "session/measure/recording.h"

#include "base/json.h"
#include "core/clock.h"
#include "launch/launch_job.h"
#include "machine/environment.h"
#include "session/builds/git.h"
#include "stats/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int recording_check_label(const char *label, size_t more, struct error *err)
{
    const struct run *run = NULL;
    size_t room = sizeof(run->label) - 1 - more;

    if (!label || strlen(label) <= room)
        return 0;
    return error_set(err, "--label: at most %zu characters, not %zu", room, strlen(label));
}

char *recording_settings(const struct workload *workload)
{
    cJSON *json = cJSON_CreateObject();
    struct strbuf devices;

    strbuf_init(&devices);
    workload_devices(workload, &devices);
    json_add_string(json, "device", devices.data);
    strbuf_release(&devices);
    json_add_int(json, "launches", workload->suite.launches);
    recording_add_guests(json, &workload->guests);
    recording_add_fills(json, &workload->fills);
    recording_add_clock(json, workload);
    cJSON_AddItemToObject(json, "sampling", sampling_to_json(&workload->suite.sampling));
    return json_take_text(json);
}

/* git says more below its first line: how to go on. */
static void describe_work_tree(struct build *build, const struct session_sink *sink)
{
    struct error why;

    if (git_tree_describe(build, &why))
        sink_note(sink, "harness: git does not tell of which commit and branch the run is: %.*s\n",
                  (int)strcspn(why.message, "\n"), why.message);
}

int recording_describe(struct run *run, const struct recorded *what, struct error *err)
{
    random_uuid(run->uuid);
    run->kind = what->kind;
    run->started_ms = clock_epoch_ms();
    snprintf(run->suite, sizeof(run->suite), "%s", what->suite);
    snprintf(run->label, sizeof(run->label), "%s", what->label ? what->label : "");
    environment_build(&run->build);
    if (what->guests && guests_any(what->guests))
        describe_work_tree(&run->build, what->sink);
    run->environment = environment_json();
    run->settings = what->settings;
    return environment_machine(&run->machine, err);
}

void recording_add_guests(cJSON *settings, const struct guests *guests)
{
    struct build own;

    if (guests_to_be_told(guests))
        guests_describe(guests, settings);
    if (!guests_any(guests))
        return;
    cJSON *harness = cJSON_AddObjectToObject(settings, "harness");
    environment_build(&own);
    json_add_string(harness, "commit", own.commit);
    cJSON_AddBoolToObject(harness, "dirty", own.dirty);
}

void recording_add_fills(cJSON *settings, const struct fill_list *fills)
{
    bool any = fills->nr_files || fills->nr_each;
    cJSON *array = any ? cJSON_AddArrayToObject(settings, "fill") : NULL;

    for (int i = 0; i < fills->nr_files; i++) {
        const struct input_fill *f = &fills->files[i];
        cJSON *item = cJSON_CreateObject();
        json_add_string(item, "name", f->name);
        json_add_string(item, "file", strrchr(f->path, '/') + 1);
        json_add_string(item, "dtype", dtype_name(f->array.dtype));
        json_add_int(item, "elements", f->array.elements);
        cJSON_AddItemToArray(array, item);
    }
    for (int i = 0; i < fills->nr_each; i++) {
        cJSON *item = cJSON_CreateObject();
        json_add_string(item, "name", fills->each[i]->name);
        cJSON_AddItemToObject(item, "tensors", job_fill_tensors(fills->each[i]));
        cJSON_AddItemToArray(array, item);
    }
}

void recording_add_clock(cJSON *settings, const struct workload *workload)
{
    cJSON *clock = workload->asks_clock ? cJSON_AddObjectToObject(settings, "clock") : NULL;

    if (!clock)
        return;
    json_add_string(clock, "mode", workload->suite.sampling.steady ? "steady" : "free");
    cJSON_AddBoolToObject(clock, "seen", workload->hold.seen);
    cJSON_AddBoolToObject(clock, "held", workload->hold.held);
    json_add_string(clock, "how", workload->hold.how);
}

/* That the log of another file was put aside, or that a run is kept elsewhere; each once. */
static void note_place(const struct recording *r)
{
    char *note = store_take_note(r->store);

    if (note)
        sink_note(r->measuring->sink, "harness: %s\n", note);
    free(note);
}

/* Where the run goes on in another file, that is told at once: an interrupted one has no end. */
static int note_elsewhere(const struct recording *r, int rc)
{
    if (store_is_elsewhere(r->store))
        note_place(r);
    return rc;
}

static int record_launch_begin(void *recording, const struct launch *l, struct error *err)
{
    struct recording *r = recording;

    r->launch_seq = l->seq;
    if (r->unkept)
        return 0;
    return note_elsewhere(r, store_begin_launch(r->store, r->run->id, l, &r->launch_id, err));
}

static int record_launch_end(void *recording, const struct launch *l, struct error *err)
{
    const struct recording *r = recording;

    return r->unkept ? 0 : note_elsewhere(r, store_end_launch(r->store, r->launch_id, l, err));
}

static void note_timed_device(struct recording *r, const struct measurement *m)
{
    if (!r->timed || m->outcome != OUTCOME_OK)
        return;
    const struct device_list *devices = &r->workload->devices;

    for (size_t i = 0; i < devices->nr; i++)
        r->timed[i] |= strcmp(devices->items[i].label, m->bench.device) == 0;
}

static int record_measurement(void *recording, const struct launch *l, const struct measurement *m,
                              struct error *err)
{
    struct recording *r = recording;
    int64_t id = r->launch_id;

    if (r->measured)
        r->measured(r->context, m);
    note_timed_device(r, m);
    /* What was made again belongs to an earlier launch. */
    if (!r->unkept && l->seq != r->launch_seq &&
        store_find_launch(r->store, r->run->id, l->seq, &id, err))
        return -1;
    if (r->records)
        measurement_copy(&records_add(r->records, 0, l->seq)->m, m);
    return r->unkept ? 0 : note_elsewhere(r, store_add_measurement(r->store, id, m, err));
}

int recording_end(struct recording *r, struct error *err)
{
    r->run->ended_ms = clock_epoch_ms();
    int rc = store_end_run(r->store, r->run->id, r->run->ended_ms, err);
    note_place(r);
    return rc;
}

void recording_progress(const struct recording *r, const struct sweep_progress *p)
{
    const struct session_sink *sink = r->measuring->sink;

    if (sink && sink->sweep && (!r->quiet || sink->rewrites))
        sink->sweep(sink->context, p);
}

static void on_recording_progress(void *recording, const struct sweep_progress *p)
{
    recording_progress(recording, p);
}

struct measurement_sink recording_sink(struct recording *r)
{
    return (struct measurement_sink) {
        .context = r,
        .launch_begin = record_launch_begin,
        .launch_end = record_launch_end,
        .measurement = record_measurement,
    };
}

int recording_sweep(struct recording *r, const struct sweep *steered, enum sweep_end *end,
                    struct error *err)
{
    const struct workload *w = r->workload;
    const struct measurement_sink sink = recording_sink(r);
    struct sweep sweep = *steered;
    struct strbuf devices;

    strbuf_init(&devices);
    workload_devices(w, &devices);
    sweep.what = measuring_set(r->measuring, w, devices.data);
    sweep.what.settings.profiling = r->profiling;
    sweep.device_of = w->device_of;
    sweep.launches = w->suite.launches;
    sweep.plant = r->plant;
    int rc = sweep_run(&sweep, &sink, end, err);
    sink_progressed(r->measuring->sink);
    strbuf_release(&devices);
    return rc;
}

int recording_run(struct recording *r, enum sweep_end *end, struct error *err)
{
    const struct sweep steered = { .context = r, .progress = on_recording_progress };
    int rc = r->unkept ? 0 : store_begin_run(r->store, r->run, err);

    if (rc == 0)
        rc = recording_sweep(r, &steered, end, err);
    return rc || r->unkept || *end == SWEEP_INTERRUPTED ? rc : recording_end(r, err);
}

static char *sample_settings(const struct workload *w, bool planted)
{
    cJSON *json = cJSON_CreateObject();

    json_add_string(json, "device", w->device.spec);
    json_add_int(json, "launches", w->suite.launches);
    if (planted)
        cJSON_AddTrueToObject(json, "planted");
    recording_add_guests(json, &w->guests);
    recording_add_fills(json, &w->fills);
    recording_add_clock(json, w);
    cJSON_AddItemToObject(json, "sampling", sampling_to_json(&w->suite.sampling));
    return json_take_text(json);
}

int recording_sample(struct store *store, const struct workload *workload, const char *label,
                     const double *plant, const struct measuring *how, struct records *out,
                     struct error *err)
{
    struct run *run = records_add_run(out);
    enum sweep_end end = SWEEP_DONE;
    struct recording r = {
        .workload = workload,
        .store = store,
        .measuring = how,
        .plant = plant,
        .run = run,
        .records = out,
        .quiet = true, /* the caller tells enough */
    };

    const struct recorded what = { .kind = RUN_TRIAL,
                                   .suite = workload->suite.name,
                                   .label = label,
                                   .settings = sample_settings(workload, plant != NULL),
                                   .guests = &workload->guests };
    int rc = recording_describe(run, &what, err);
    if (rc == 0)
        rc = recording_run(&r, &end, err);
    return rc == 0 && end == SWEEP_INTERRUPTED ? error_set(err, "interrupted") : rc;
}
