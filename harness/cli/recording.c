/* SPDX-License-Identifier: MIT */
#include "cli/recording.h"

#include "base/json.h"
#include "base/random.h"
#include "cli/git_tree.h"
#include "cli/history_file.h"
#include "core/clock.h"
#include "measure/environment.h"

#include <stdio.h>
#include <string.h>

int recording_check_label(const char *label, size_t more, struct error *err)
{
    const struct run *run = NULL;
    size_t room = sizeof(run->label) - 1 - more;

    if (!label || strlen(label) <= room)
        return 0;
    return error_set(err, "--label: at most %zu characters, not %zu", room, strlen(label));
}

void recording_describe(struct run *run, const char *suite, const char *label, char *settings,
                        const struct guests *guests)
{
    random_uuid(run->uuid);
    run->started_ms = clock_epoch_ms();
    snprintf(run->suite, sizeof(run->suite), "%s", suite);
    snprintf(run->label, sizeof(run->label), "%s", label ? label : "");
    environment_machine(&run->machine);
    environment_build(&run->build);
    if (guests && guests_any(guests))
        git_tree_describe(&run->build);
    run->environment = environment_json();
    run->settings = settings;
}

void recording_add_guests(cJSON *settings, const struct guests *guests)
{
    struct build own;

    if (!guests_any(guests))
        return;
    guests_describe(guests, settings);
    cJSON *harness = cJSON_AddObjectToObject(settings, "harness");
    environment_build(&own);
    json_add_string(harness, "commit", own.commit);
    cJSON_AddBoolToObject(harness, "dirty", own.dirty);
}

/* Where the run goes on in another file, that is told at once: an interrupted one has no end. */
static int tell(struct recording *r, int rc)
{
    if (store_is_elsewhere(r->store))
        history_tell(r->store);
    return rc;
}

int recording_launch_begin(struct recording *r, const struct launch *l, struct error *err)
{
    r->launch_seq = l->seq;
    return tell(r, store_begin_launch(r->store, r->run->id, l, &r->launch_id, err));
}

int recording_launch_end(struct recording *r, const struct launch *l, struct error *err)
{
    return tell(r, store_end_launch(r->store, r->launch_id, l, err));
}

int recording_measurement(struct recording *r, const struct launch *l, const struct measurement *m,
                          struct error *err)
{
    int64_t id = r->launch_id;

    /* What was made again belongs to an earlier launch. */
    if (l->seq != r->launch_seq && store_find_launch(r->store, r->run->id, l->seq, &id, err))
        return -1;
    if (r->records)
        measurement_copy(&records_add(r->records, 0, l->seq)->m, m);
    return tell(r, store_add_measurement(r->store, id, m, err));
}

static int on_launch_begin(void *context, const struct launch *l, struct error *err)
{
    return recording_launch_begin(context, l, err);
}

static int on_launch_end(void *context, const struct launch *l, struct error *err)
{
    return recording_launch_end(context, l, err);
}

static int on_measurement(void *context, const struct launch *l, const struct measurement *m,
                          struct error *err)
{
    return recording_measurement(context, l, m, err);
}

static void on_progress(void *context, const struct sweep_progress *p)
{
    const struct recording *r = context;

    if (r->progress)
        progress_show(r->progress, p);
}

struct sweep_sink recording_sink(struct recording *r)
{
    return (struct sweep_sink) {
        .context = r,
        .launch_begin = on_launch_begin,
        .launch_end = on_launch_end,
        .measurement = on_measurement,
        .progress = on_progress,
    };
}

int recording_end(struct recording *r, struct error *err)
{
    r->run->ended_ms = clock_epoch_ms();
    int rc = store_end_run(r->store, r->run->id, r->run->ended_ms, err);
    history_tell(r->store);
    return rc;
}
