/* SPDX-License-Identifier: MIT */
#include "cli/ab.h"

#include "base/json.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/program.h"
#include "cli/recording.h"
#include "core/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const side_names[AB_SIDES] = { [AB_BASE] = "base", [AB_HEAD] = "head" };

/* What the callbacks of one session share. */
struct worker {
    const struct ab_request *r;
    struct ab_session *s;
    struct ab ab;
    struct benchmark_name *names; /* of the benchmarks of the choice */
    struct recording recording[AB_SIDES];
    struct progress progress;
    uint64_t start;
};

static double lesser(double given, double limit)
{
    return given < limit ? given : limit;
}

struct sampling ab_sampling(const struct sampling *suite)
{
    struct sampling s = *suite;

    s.min_time = lesser(s.min_time, 0.01);
    s.max_time = lesser(s.max_time, 0.1);
    s.warmup = lesser(s.warmup, 0.01);
    s.max_samples = s.max_samples < 1000 ? s.max_samples : 1000;
    s.min_samples = s.min_samples < s.max_samples ? s.min_samples : s.max_samples;
    return s;
}

static struct run *run_of(struct ab_session *s, enum ab_side side)
{
    return s->records[side].runs;
}

/* {"ab": {...}, "device": ..., "sampling": {...}}: by "ab" a comparison knows the two for halves of
 * one session. */
static char *settings_json(const struct worker *w, enum ab_side side, const char *id)
{
    cJSON *json = cJSON_CreateObject(), *ab = cJSON_AddObjectToObject(json, "ab");

    json_add_string(ab, "id", id);
    json_add_string(ab, "side", side_names[side]);
    json_add_string(ab, "partner", run_of(w->s, side == AB_BASE ? AB_HEAD : AB_BASE)->uuid);
    json_add_int(ab, "blocks", w->ab.blocks_max);
    json_add_string(json, "device", w->ab.device_spec);
    recording_add_guests(json, w->ab.guests[side]);
    cJSON_AddItemToObject(json, "sampling", sampling_to_json(&w->ab.settings.sampling));
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

/* Another program's, in place of this one's. Nobody knows of which commit a plugin is that is only
 * there to be compared with. */
static int describe_build(const struct ab_request_side *side, struct build *b, struct error *err)
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

static int describe_run(struct worker *w, enum ab_side side, struct error *err)
{
    const struct ab_request *r = w->r;
    struct records *records = &w->s->records[side];
    struct run *run = records_add_run(records);
    bool programs = r->side[AB_BASE].program || r->side[AB_HEAD].program;
    char label[sizeof(run->label)];

    snprintf(label, sizeof(label), "%s %s", r->label ? r->label : "ab", side_names[side]);
    recording_describe(run, r->choice->suite.name, label, NULL,
                       programs ? NULL : &r->choice->guests); /* or the programs are compared */
    w->recording[side] = (struct recording) { .store = r->store, .run = run, .records = records };
    return describe_build(&r->side[side], &run->build, err);
}

static const char *name_of(const struct ab_request_side *side)
{
    if (side->name)
        return side->name;
    return side->program ? side->program : "this program";
}

/* Both runs, with what each says of the other. */
static int begin_runs(struct worker *w, struct error *err)
{
    char id[37];

    random_uuid(id);
    if (describe_run(w, AB_BASE, err) || describe_run(w, AB_HEAD, err))
        return -1;
    for (int i = 0; i < AB_SIDES; i++) {
        struct run *run = run_of(w->s, (enum ab_side)i);
        run->settings = settings_json(w, (enum ab_side)i, id);
        if (store_begin_run(w->r->store, run, err))
            return -1;
        snprintf(w->s->what[i], sizeof(w->s->what[i]), "%.200s (run %lld)", name_of(&w->r->side[i]),
                 (long long)run->id);
    }
    return 0;
}

static int end_runs(struct worker *w, struct error *err)
{
    for (int i = 0; i < AB_SIDES; i++)
        if (recording_end(&w->recording[i], err))
            return -1;
    return 0;
}

static int on_launch_begin(void *context, enum ab_side side, const struct launch *l,
                           struct error *err)
{
    struct worker *w = context;

    return recording_launch_begin(&w->recording[side], l, err);
}

static int on_launch_end(void *context, enum ab_side side, const struct launch *l,
                         struct error *err)
{
    struct worker *w = context;

    return recording_launch_end(&w->recording[side], l, err);
}

static int on_measurement(void *context, enum ab_side side, const struct launch *l,
                          const struct measurement *m, struct error *err)
{
    struct worker *w = context;

    return recording_measurement(&w->recording[side], l, m, err);
}

static int compare(struct worker *w, struct error *err)
{
    struct ab_session *s = w->s;

    comparison_release(&s->comparison);
    s->comparison = (struct comparison) { 0 };
    return compare_run(&s->records[AB_BASE], &s->records[AB_HEAD], &w->r->compare, &s->comparison,
                       err);
}

/* A benchmark needs more as long as one of its rows, one a metric, is undecided. */
static bool undecided(const struct comparison *c, const char *key)
{
    for (size_t i = 0; i < c->nr; i++)
        if (c->rows[i].verdict == VERDICT_UNDECIDED &&
            strcmp(c->rows[i].item->bench->key, key) == 0)
            return true;
    return false;
}

static int on_look(void *context, int blocks, bool *need, size_t nr, struct error *err)
{
    struct worker *w = context;

    w->s->blocks = blocks;
    if (compare(w, err))
        return -1;
    for (size_t i = 0; i < nr && !w->r->whole; i++)
        need[i] = need[i] && undecided(&w->s->comparison, w->names[i].key);
    return 0;
}

static void on_progress(void *context, const struct ab_progress *p)
{
    progress_show_ab(&((struct worker *)context)->progress, p);
}

static int measure(struct worker *w, struct error *err)
{
    struct ab_sink sink = {
        .context = w,
        .launch_begin = on_launch_begin,
        .launch_end = on_launch_end,
        .measurement = on_measurement,
        .look = on_look,
        .progress = w->r->silent ? NULL : on_progress,
    };

    int rc = ab_run(&w->ab, &sink, &w->s->end, err);
    progress_clear(&w->progress);
    w->s->seconds = (double)(clock_ns() - w->start) * 1e-9;
    if (rc || w->s->end == AB_INTERRUPTED)
        return rc;
    return end_runs(w, err);
}

static struct ab make_ab(const struct ab_request *r)
{
    const struct choice *c = r->choice;
    struct ab ab = {
        .device_spec = c->device.spec,
        .benchmarks = c->list.items,
        .nr = c->list.nr,
        .settings = { .sampling = ab_sampling(&c->suite.sampling),
                      .seed = r->seed,
                      .memory_limit = r->memory_limit },
        .case_timeout = r->case_timeout > 0 ? r->case_timeout : 300,
        .budget = r->budget,
        .blocks_max = r->blocks_max > 0 ? r->blocks_max : AB_BLOCKS_MAX,
        .once = r->once,
        .interrupted = r->interrupted,
    };

    for (int i = 0; i < AB_SIDES; i++) {
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
    size_t nr = r->choice->list.nr;

    *s = (struct ab_session) { .blocks = 0 };
    progress_init(&w.progress);
    w.names = memory_zeroed(nr + 1, sizeof(*w.names));
    for (size_t i = 0; i < nr; i++)
        benchmark_name_of(&r->choice->list.items[i], &r->choice->device, &w.names[i]);
    int rc = begin_runs(&w, err);
    if (rc == 0)
        rc = measure(&w, err);
    if (rc == 0)
        rc = compare(&w, err);
    free(w.names);
    return rc;
}

void ab_session_release(struct ab_session *s)
{
    comparison_release(&s->comparison);
    records_release(&s->records[AB_BASE]);
    records_release(&s->records[AB_HEAD]);
}

void ab_session_summary(const struct ab_request *r, const struct ab_session *s, struct strbuf *out)
{
    char spent[TEXT_UNIT_SIZE], budget[TEXT_UNIT_SIZE];

    strbuf_addf(out, "%d block%s of %d launches a side in %s: ", s->blocks,
                s->blocks == 1 ? "" : "s", AB_LAUNCHES, text_time(s->seconds * 1e9, spent));
    switch (s->end) {
    case AB_DECIDED:
        strbuf_adds(out, "every benchmark is decided");
        return;
    case AB_BUDGET:
        strbuf_addf(out, "the budget of %s is spent", text_time(r->budget * 1e9, budget));
        return;
    case AB_BLOCKS:
        strbuf_adds(out, "no more blocks are allowed");
        return;
    case AB_INTERRUPTED:
        strbuf_adds(out, "interrupted");
        return;
    }
}
