/* SPDX-License-Identifier: MIT */
#include "session/measure/ab_session.h"

#include "base/json.h"
#include "base/text.h"
#include "core/clock.h"
#include "session/builds/program.h"
#include "session/measure/recording.h"
#include "stats/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "base", "head", "head2", ... */
static void name_ab_side(enum ab_side side, char *name, size_t size)
{
    if (side <= AB_HEAD)
        snprintf(name, size, "%s", side == AB_BASE ? "base" : "head");
    else
        snprintf(name, size, "head%d", (int)side);
}

/* What the callbacks of one session share. */
struct worker {
    const struct ab_request *r;
    struct ab_session *s;
    struct ab ab;
    struct benchmark_name *names; /* of the benchmarks of the workload */
    struct recording recording[AB_SIDES_MAX];
    uint64_t start;
};

static double lesser_of(double given, double limit)
{
    return given < limit ? given : limit;
}

struct sampling ab_sampling(const struct sampling *suite)
{
    struct sampling s = *suite;

    if (s.unwarmed) /* is short as it is */
        return s;
    s.min_time = lesser_of(s.min_time, 0.01);
    s.max_time = lesser_of(s.max_time, 0.1);
    s.warmup = lesser_of(s.warmup, 0.01);
    s.max_samples = s.max_samples < 1000 ? s.max_samples : 1000;
    s.min_samples = s.min_samples < s.max_samples ? s.min_samples : s.max_samples;
    return s;
}

static struct run *ab_run_of(struct ab_session *s, enum ab_side side)
{
    return s->records[side].runs;
}

static char *ab_settings(const struct worker *w, enum ab_side side)
{
    cJSON *json = cJSON_CreateObject(), *ab = cJSON_AddObjectToObject(json, "ab");

    json_add_string(ab, "partner", ab_run_of(w->s, side == AB_BASE ? AB_HEAD : AB_BASE)->uuid);
    json_add_int(ab, "blocks", w->ab.blocks_max);
    json_add_string(json, "device", w->ab.what.device_spec);
    recording_add_guests(json, w->ab.guests[side]);
    recording_add_fills(json, &w->r->workload->fills);
    recording_add_clock(json, w->r->workload);
    cJSON_AddItemToObject(json, "sampling", sampling_to_json(&w->ab.what.settings.sampling));
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

/* Another program's, in place of this one's. Nobody knows of which commit a plugin is that is only
 * there to be compared with. */
static int describe_ab_build(const struct ab_request_side *side, struct build *b, struct error *err)
{
    if (side->program && program_build(side->program, b, err))
        return -1;
    if (side->guests) {
        b->commit[0] = b->branch[0] = '\0';
        b->dirty = false;
    }
    if (side->commit) {
        snprintf(b->commit, sizeof(b->commit), "%s", side->commit);
        b->dirty = false;
    }
    return 0;
}

static int describe_ab_run(struct worker *w, enum ab_side side, struct error *err)
{
    const struct ab_request *r = w->r;
    struct records *records = &w->s->records[side];
    struct run *run = records_add_run(records);
    bool programs = r->side[AB_BASE].program || r->side[AB_HEAD].program;
    char label[sizeof(run->label)], name[sizeof(run->ab.side)];

    name_ab_side(side, name, sizeof(name));
    snprintf(label, sizeof(label), "%s %s", r->label ? r->label : "ab", name);
    const struct recorded what = {
        .kind = RUN_TRIAL,
        .suite = r->workload->suite.name,
        .label = label,
        .guests = programs ? NULL : &r->workload->guests, /* or the programs are compared */
        .sink = side == AB_HEAD ? r->measuring.sink : NULL,
    };
    if (recording_describe(run, &what, err))
        return -1;
    w->recording[side] = (struct recording) {
        .store = r->store, .measuring = &r->measuring, .run = run, .records = records
    };
    return describe_ab_build(&r->side[side], &run->build, err);
}

static const char *ab_side_name(const struct ab_request_side *side)
{
    if (side->name)
        return side->name;
    return side->program ? side->program : "this program";
}

/* By this a comparison knows the two for halves of one session. */
static void name_ab_run(struct run *run, enum ab_side side, const char *id)
{
    run->ab.block = AB_LAUNCHES;
    snprintf(run->ab.id, sizeof(run->ab.id), "%s", id);
    name_ab_side(side, run->ab.side, sizeof(run->ab.side));
}

/* The runs, with what each says of another. */
static int begin_ab_runs(struct worker *w, struct error *err)
{
    char id[37];

    random_uuid(id);
    for (int i = 0; i < w->ab.nr_sides; i++)
        if (describe_ab_run(w, (enum ab_side)i, err))
            return -1;
    for (int i = 0; i < w->ab.nr_sides; i++) {
        struct run *run = ab_run_of(w->s, (enum ab_side)i);
        run->settings = ab_settings(w, (enum ab_side)i);
        name_ab_run(run, (enum ab_side)i, id);
        if (store_begin_run(w->r->store, run, err))
            return -1;
        snprintf(w->s->what[i], sizeof(w->s->what[i]), "%.200s (run %lld)",
                 ab_side_name(&w->r->side[i]), (long long)run->id);
    }
    return 0;
}

static int end_ab_runs(struct worker *w, struct error *err)
{
    for (int i = 0; i < w->ab.nr_sides; i++)
        if (recording_end(&w->recording[i], err))
            return -1;
    return 0;
}

struct comparison *ab_session_comparison(struct ab_session *s, int side)
{
    return side == AB_HEAD ? &s->comparison : &s->others[side - AB_SIDES];
}

static int compare_ab(struct worker *w, struct error *err)
{
    struct ab_session *s = w->s;

    for (int i = AB_HEAD; i < w->ab.nr_sides; i++) {
        struct comparison *c = ab_session_comparison(s, i);
        comparison_release(c);
        *c = (struct comparison) { 0 };
        if (compare_run(&s->records[AB_BASE], &s->records[i], &w->r->compare, c, err))
            return -1;
    }
    return 0;
}

/* A benchmark needs more as long as one of its rows, one a metric, is undecided on any side that is
 * compared with the base. */
static void set_ab_harms(const struct worker *w, double *harm, size_t nr)
{
    struct comparison_harms harms[AB_SIDES_MAX];

    for (int side = AB_HEAD; side < w->ab.nr_sides; side++)
        comparison_harms_init(&harms[side], ab_session_comparison(w->s, side));
    for (size_t i = 0; i < nr; i++) {
        double most = -1;
        for (int side = AB_HEAD; side < w->ab.nr_sides; side++)
            most = fmax(most, comparison_harm(&harms[side], w->names[i].key));
        harm[i] = harm[i] >= 0 ? most : harm[i];
    }
    for (int side = AB_HEAD; side < w->ab.nr_sides; side++)
        comparison_harms_release(&harms[side]);
}

static int on_ab_look(void *context, int blocks, double *harm, size_t nr, struct error *err)
{
    struct worker *w = context;

    w->s->blocks = blocks;
    if (compare_ab(w, err))
        return -1;
    if (!w->r->whole)
        set_ab_harms(w, harm, nr);
    return 0;
}

static void on_ab_progress(void *context, const struct ab_progress *p)
{
    const struct worker *w = context;
    const struct session_sink *sink = w->r->measuring.sink;

    if (sink && sink->blocks && (!w->r->quiet || sink->rewrites))
        sink->blocks(sink->context, p);
}

static int measure_ab(struct worker *w, struct error *err)
{
    struct measurement_sink sinks[AB_SIDES_MAX];

    for (int i = 0; i < w->ab.nr_sides; i++)
        sinks[i] = recording_sink(&w->recording[i]);
    w->ab.context = w;
    w->ab.look = on_ab_look;
    w->ab.progress = w->r->silent ? NULL : on_ab_progress;
    int rc = ab_run(&w->ab, sinks, &w->s->end, err);
    sink_progressed(w->r->measuring.sink);
    w->s->seconds = (double)(clock_ns() - w->start) * 1e-9;
    if (rc || w->s->end == AB_INTERRUPTED)
        return rc;
    return end_ab_runs(w, err);
}

static struct ab make_ab(const struct ab_request *r)
{
    const struct workload *c = r->workload;
    struct ab ab = {
        .what = measuring_set(&r->measuring, c, c->device.spec),
        .nr_sides = r->nr_sides ? r->nr_sides : AB_SIDES,
        .blocks_max = r->blocks_max > 0 ? r->blocks_max : AB_BLOCKS_MAX,
        .blocks_least = r->blocks_least,
        .whole = r->whole,
    };

    ab.what.settings.sampling = ab_sampling(&c->suite.sampling);
    for (int i = 0; i < ab.nr_sides; i++) {
        ab.program[i] = r->side[i].program;
        ab.plant[i] = r->side[i].plant;
        ab.fixed[i] = r->side[i].fixed;
        ab.guests[i] = r->side[i].guests ? r->side[i].guests : &c->guests;
    }
    return ab;
}

int ab_session_run(const struct ab_request *r, struct ab_session *s, struct error *err)
{
    struct worker w = { .r = r, .s = s, .ab = make_ab(r), .start = clock_ns() };
    size_t nr = r->workload->list.nr;

    *s = (struct ab_session) { .blocks = 0 };
    w.names = memory_zeroed(nr + 1, sizeof(*w.names));
    for (size_t i = 0; i < nr; i++)
        benchmark_name_of(&r->workload->list.items[i], &r->workload->device, &w.names[i]);
    int rc = begin_ab_runs(&w, err);
    if (rc == 0)
        rc = measure_ab(&w, err);
    if (rc == 0)
        rc = compare_ab(&w, err);
    free(w.names);
    return rc;
}

void ab_session_release(struct ab_session *s)
{
    for (int i = 0; i < AB_SIDES_MAX; i++) {
        records_release(&s->records[i]);
        if (i >= AB_HEAD)
            comparison_release(ab_session_comparison(s, i));
    }
}

void ab_session_summary(const struct ab_session *s, const struct measuring *m, struct strbuf *out)
{
    char spent[TEXT_UNIT_SIZE], budget[TEXT_UNIT_SIZE];

    strbuf_addf(out, "%d block%s of %d launches a side in %s: ", s->blocks,
                s->blocks == 1 ? "" : "s", AB_LAUNCHES, text_time(s->seconds * 1e9, spent));
    switch (s->end) {
    case AB_DECIDED:
        strbuf_adds(out, "every benchmark is decided");
        return;
    case AB_BUDGET:
        strbuf_addf(out, "the budget of %s is spent", text_time(m->budget * 1e9, budget));
        return;
    case AB_BLOCKS:
        strbuf_adds(out, "no more blocks are allowed");
        return;
    case AB_INTERRUPTED:
        strbuf_adds(out, "interrupted");
        return;
    }
}
