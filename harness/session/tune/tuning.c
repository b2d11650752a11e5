/* SPDX-License-Identifier: MIT */
#include "session/tune/tuning.h"

#include "base/json.h"
#include "core/clock.h"
#include "device/devices.h"
#include "plugin/guest_settings.h"
#include "session/measure/ab_session.h"
#include "session/tune/tuned_key.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what races ---- */

/* The values that the variants say themselves of which something was chosen, each parameter once.
 */
static void add_usual_params(const struct workload *w, struct string_list *params)
{
    for (size_t i = 0; i < w->list.nr; i++) {
        struct guest_setting s;
        if (!guests_setting(&w->guests, w->list.items[i].variant, &s))
            continue;
        for (const char *const *p = s.params; p && *p; p++) {
            bool known = !strchr(*p, '=');
            for (size_t j = 0; j < params->nr; j++)
                known |= guest_param_same(params->items[j], *p);
            if (!known)
                string_list_add(params, *p);
        }
    }
}

/* A variant of what was chosen that has parameters, but on another device; NULL: none has. */
static const struct variant *params_elsewhere(const struct workload *w)
{
    const struct registry *own = registry_builtin();
    const struct variant *v;

    for (size_t i = 0; (v = registry_variant_at(own, i)); i++) {
        bool here = !registry_forced(own, v)->params, chosen = false;
        for (size_t d = 0; d < w->devices.nr; d++)
            here |= w->devices.items[d].kind == v->device;
        for (size_t b = 0; !here && !chosen && b < w->list.nr; b++)
            chosen = w->list.items[b].variant->kernel == v->kernel;
        if (chosen)
            return v;
    }
    return NULL;
}

static int no_params(const struct workload *w, struct error *err)
{
    const struct variant *v = params_elsewhere(w);

    if (!v)
        return error_set(err,
                         "there is no parameter to tune: give --param NAME=VALUE,..., or let "
                         "`params` of a variant say which values are to be tried");
    const char *device = device_kind_name(v->device);
    return error_set(err,
                     "what was chosen has no parameter on device %s: those of %s/%s are for device "
                     "%s, give --device %s",
                     w->device.spec, v->kernel->name, v->name, device, device);
}

static int find_usual_params(struct tuning *t, struct error *err)
{
    const struct tuning_request *r = t->request;
    struct workload w;
    int rc = workload_make(&w, &t->what, r->filters, r->nr_filters, "", err);

    if (rc == 0)
        add_usual_params(&w, &t->params);
    if (rc == 0 && t->params.nr == 0)
        rc = no_params(&w, err);
    workload_release(&w);
    t->what.params = t->params;
    return rc;
}

static int check_settings(const struct tuning *t, struct error *err)
{
    struct param_list list = { 0 };
    int rc = param_parse(&t->what.params, &list, err);
    double nr = 1;

    for (size_t i = 0; rc == 0 && i < list.nr; i++)
        nr *= (double)list.items[i].values.nr;
    param_release(&list);
    if (rc == 0 && nr > TUNING_SETTINGS_MAX)
        rc = error_set(err, "--param: %.0f settings, more than %d: give fewer values", nr,
                       TUNING_SETTINGS_MAX);
    return rc;
}

static struct tuning_race *race_of(struct tuning *t, const struct benchmark_name *name)
{
    for (size_t i = 0; i < t->races.nr; i++)
        if (strcmp(t->races.items[i].bench.key, name->key) == 0)
            return &t->races.items[i];
    struct tuning_race *race = array_push(&t->races);
    race->bench = *name;
    return race;
}

static void add_runner(struct tuning *t, size_t which, const struct guest_setting *setting)
{
    const struct benchmark *b = &t->workload.list.items[which];
    const struct device *d = workload_device(&t->workload, which);
    struct benchmark_name name;

    tuned_key_name(b, d, setting, &name);
    struct tuning_race *race = race_of(t, &name);
    if (race->runners.nr == 0)
        tuned_key_fill(&race->key, b, d, setting);
    t->places[which].race = (size_t)(race - t->races.items);
    t->places[which].runner = race->runners.nr;
    *array_push(&race->runners) = (struct tuning_runner) {
        .which = which,
        .setting = setting->setting,
        .time = NAN,
    };
}

/* What has no setting has no race, and is not measured. */
static int find_races(struct tuning *t, struct error *err)
{
    struct workload *w = &t->workload;
    size_t kept = 0, most = 0;

    t->names = memory_zeroed(w->list.nr + 1, sizeof(*t->names));
    t->places = memory_zeroed(w->list.nr + 1, sizeof(*t->places));
    for (size_t i = 0; i < w->list.nr; i++) {
        struct guest_setting setting;
        if (!guests_setting(&w->guests, w->list.items[i].variant, &setting) || !*setting.setting)
            continue;
        w->list.items[kept] = w->list.items[i];
        w->device_of[kept] = w->device_of[i];
        benchmark_name_of(&w->list.items[kept], workload_device(w, kept), &t->names[kept]);
        add_runner(t, kept++, &setting);
    }
    w->list.nr = kept;
    for (size_t i = 0; i < t->races.nr; i++) {
        struct tuning_race *r = &t->races.items[i];
        race_init(&r->race, r->runners.nr, &t->rule);
        most = r->runners.nr > most ? r->runners.nr : most;
    }
    if (most > 1)
        return 0;
    return error_set(err, kept ? "there is one setting alone: give a parameter several values"
                               : "nothing that was chosen has a parameter");
}

int tuning_open(struct tuning *t, const struct tuning_request *request, struct error *err)
{
    const struct race_rule rule = RACE_DEFAULTS;

    *t = (struct tuning) { .request = request, .what = request->what, .rule = rule };
    if (request->tolerance > 0)
        t->rule.tolerance = request->tolerance;
    if ((t->what.params.nr == 0 && find_usual_params(t, err)) || check_settings(t, err) ||
        workload_make(&t->workload, &t->what, request->filters, request->nr_filters, "", err))
        return -1;
    t->workload.suite.sampling = ab_sampling(&t->workload.suite.sampling);
    t->workload.suite.launches = request->rounds ? (int)request->rounds : TUNING_ROUNDS;
    return find_races(t, err);
}

void tuning_close(struct tuning *t)
{
    for (size_t i = 0; i < t->races.nr; i++) {
        struct tuning_race *r = &t->races.items[i];
        for (size_t j = 0; j < r->runners.nr; j++)
            free(r->runners.items[j].message);
        free(r->stands);
        array_release(&r->runners);
        race_release(&r->race);
    }
    array_release(&t->races);
    free(t->names);
    free(t->places);
    run_release(&t->run);
    workload_release(&t->workload);
    string_list_release(&t->params);
}

/* ---- rounds ---- */

static double median_ns(const struct measurement *m)
{
    double *x = memory_zeroed(m->nr_samples + 1, sizeof(*x));

    for (size_t i = 0; i < m->nr_samples; i++)
        x[i] = (double)m->samples[i] / (m->batch ? m->batch : 1);
    double median = m->nr_samples ? stats_median(x, m->nr_samples) : NAN;
    free(x);
    return median;
}

static void take_time(struct tuning *t, size_t which, const struct measurement *m)
{
    struct tuning_race *race = &t->races.items[t->places[which].race];
    struct tuning_runner *runner = &race->runners.items[t->places[which].runner];

    t->measured++;
    t->timed += m->seconds;
    runner->outcome = m->outcome;
    runner->time = m->outcome == OUTCOME_OK ? median_ns(m) : NAN;
    if (runner->time > 0)
        return;
    race_take_out(&race->race, t->places[which].runner);
    free(runner->message);
    runner->message = memory_string(m->message ? m->message : "it has no time above 0");
}

static void on_measured(void *context, const struct measurement *m)
{
    struct tuning *t = context;

    for (size_t i = 0; i < t->workload.list.nr; i++)
        if (strcmp(t->names[i].key, m->bench.key) == 0)
            take_time(t, i, m);
}

static int on_round_end(void *context, struct error *err)
{
    struct tuning *t = context;

    (void)err;
    for (size_t i = 0; i < t->races.nr; i++) {
        struct tuning_race *r = &t->races.items[i];
        double *times = memory_zeroed(r->runners.nr + 1, sizeof(*times));
        for (size_t j = 0; j < r->runners.nr; j++) {
            times[j] = r->runners.items[j].time;
            r->runners.items[j].time = NAN;
        }
        if (!r->race.decided)
            race_round(&r->race, times);
        free(times);
    }
    return 0;
}

static bool wants_setting(void *context, size_t which)
{
    const struct tuning *t = context;
    const struct race *race = &t->races.items[t->places[which].race].race;

    return race_wants(race, t->places[which].runner);
}

static void on_progress(void *context, const struct sweep_progress *p)
{
    const struct tuning *t = context;
    struct sweep_progress shown = *p;

    shown.left = NAN; /* nobody knows who leaves when */
    recording_progress(&t->recording, &shown);
}

static int run_rounds(struct tuning *t, struct error *err)
{
    const struct sweep steered = {
        .context = t,
        .progress = on_progress,
        .round_end = on_round_end,
        .wants = wants_setting,
    };

    return recording_sweep(&t->recording, &steered, &t->end, err);
}

/* ---- winners ---- */

bool tuning_race_has_winner(const struct tuning_race *r)
{
    return r->race.rounds > 0 && race_count(&r->race) > 0;
}

double tuning_time(const struct tuning_race *r, size_t runner)
{
    double *logs = memory_zeroed(r->race.rounds + 1, sizeof(*logs)), median = NAN;
    size_t nr = 0;

    for (size_t i = 0; i < r->race.rounds; i++) {
        double log = r->race.logs[i * r->race.nr + runner];
        if (!isnan(log))
            logs[nr++] = log;
    }
    if (nr > 0 && r->race.runners[runner].state != RACE_OUT)
        median = exp(stats_median(logs, nr));
    free(logs);
    return median;
}

double tuning_at_most(const struct tuning_race *r)
{
    double most = r->race.rule.tolerance;

    for (size_t i = 0; !r->race.decided && i < r->race.nr; i++) {
        const struct race_runner *x = &r->race.runners[i];
        if (x->state == RACE_OPEN)
            most = isnan(x->interval.low) ? NAN : fmax(most, 1 / (1 + x->interval.low) - 1);
    }
    return most;
}

static char *result_text(const struct tuning *t, const struct tuning_race *r)
{
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "settings", (int64_t)r->runners.nr);
    json_add_int(json, "rounds", (int64_t)r->race.rounds);
    cJSON_AddNumberToObject(json, "tolerance", t->rule.tolerance);
    cJSON_AddNumberToObject(json, "alpha", t->rule.alpha);
    json_add_number(json, "p50_ns", tuning_time(r, r->race.leader));
    json_add_number(json, "at_most", tuning_at_most(r));
    return json_take_text(json);
}

static int keep_winner(struct tuning *t, struct tuning_race *r, struct store *store,
                       struct error *err)
{
    struct store_tuned *key = &r->key;

    key->setting = (char *)r->runners.items[r->race.leader].setting;
    key->decided = r->race.decided;
    key->tuned_ms = clock_epoch_ms();
    key->result = result_text(t, r);
    snprintf(key->machine, sizeof(key->machine), "%s", t->run.machine.id);
    snprintf(key->run, sizeof(key->run), "%s", t->run.uuid);
    int rc = store_tuned_add(store, key, err);
    free(key->result);
    key->result = NULL;
    r->kept = rc == 0;
    return rc;
}

/* Whether a race that was not decided leaves what an earlier one has decided. */
static bool stands_aside(struct tuning_race *r, const struct store_tuned_list *kept)
{
    const struct store_tuned *before = r->race.decided ? NULL : tuned_key_find(kept, &r->key);

    if (!before || !before->decided)
        return false;
    for (size_t i = 0; i < r->runners.nr; i++) { /* this one knows better */
        enum race_state state = r->race.runners[i].state;
        if ((state == RACE_SLOWER || state == RACE_OUT) &&
            strcmp(r->runners.items[i].setting, before->setting) == 0)
            return false;
    }
    r->stands = memory_string(before->setting);
    r->stands_ms = before->tuned_ms;
    return true;
}

static int keep_winners(struct tuning *t, struct store *store, struct error *err)
{
    struct store_tuned_list kept = { 0 };
    int rc = store_tuned_newest(store, t->run.machine.id, &kept, err);

    for (size_t i = 0; rc == 0 && i < t->races.nr; i++) {
        struct tuning_race *r = &t->races.items[i];
        if (tuning_race_has_winner(r) && (r->race.decided || t->end != SWEEP_INTERRUPTED) &&
            !stands_aside(r, &kept))
            rc = keep_winner(t, r, store, err);
    }
    store_tuned_release(&kept);
    return rc;
}

int tuning_run(struct tuning *t, struct store *store, struct error *err)
{
    uint64_t start = clock_ns();

    t->measuring = t->request->measuring;
    t->measuring.no_repeat = true; /* behind all rounds it would tell nobody anything */
    t->recording = (struct recording) {
        .workload = &t->workload,
        .store = store,
        .measuring = &t->measuring,
        .run = &t->run,
        .measured = on_measured,
        .context = t,
    };
    const struct recorded what = { .kind = RUN_TRIAL,
                                   .suite = "",
                                   .label = t->request->label ? t->request->label : "tune",
                                   .settings = recording_settings(&t->workload),
                                   .guests = &t->workload.guests,
                                   .sink = t->request->measuring.sink };
    if (recording_describe(&t->run, &what, err) || store_begin_run(store, &t->run, err) ||
        run_rounds(t, err) || (t->end != SWEEP_INTERRUPTED && recording_end(&t->recording, err)) ||
        keep_winners(t, store, err))
        return -1;
    t->seconds = (double)(clock_ns() - start) * 1e-9;
    return 0;
}
