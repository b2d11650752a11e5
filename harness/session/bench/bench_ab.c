/* SPDX-License-Identifier: MIT */
#include "session/bench/bench_ab.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "core/clock.h"
#include "session/bench/bench_keys.h"
#include "session/measure/recording.h"
#include "stats/random.h"
#include "text/redact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench_ab {
    struct bench_ab_request *r;
    struct ab_session *s;
    struct bench_keys keys;
    struct recording recording[AB_SIDES];
    int64_t launch_id[AB_SIDES][AB_LAUNCHES];
    struct random random;
    uint64_t start;
    bool *take;         /* of each bench: it is part of the block */
    double *seconds;    /* of each bench: what its last block took */
    bool *fitted;       /* of each filter: it is of something that was measured */
    size_t done, total; /* calls of the block */
};

static const char *const side_words[AB_SIDES] = { [AB_BASE] = "base", [AB_HEAD] = "head" };

static double bench_ab_elapsed(const struct bench_ab *w)
{
    return (double)(clock_ns() - w->start) * 1e-9;
}

/* ---- what is wanted ---- */

/* Everything is wanted until the first look; then what is undecided. */
static bool is_bench_wanted(const struct bench_ab *w, size_t bench)
{
    if (w->r->left_out && w->r->left_out[bench])
        return false;
    for (size_t i = 0; i < w->keys.known.nr; i++)
        if (w->keys.known.items[i].bench == bench && w->keys.known.items[i].need)
            return true;
    return w->s->blocks == 0;
}

static size_t count_bench_needs(const struct bench_ab *w)
{
    size_t nr = 0;

    for (size_t i = 0; i < w->keys.known.nr; i++)
        nr += w->keys.known.items[i].need;
    return nr;
}

/* The keys of a bench that are wanted, NULL-ended; NULL before the first look. free() it. */
static const char **list_bench_wanted(const struct bench_ab *w, size_t bench)
{
    size_t nr = 0;

    if (w->s->blocks == 0)
        return NULL;
    const char **wanted = memory_zeroed(w->keys.known.nr + 1, sizeof(*wanted));
    for (size_t i = 0; i < w->keys.known.nr; i++)
        if (w->keys.known.items[i].bench == bench && w->keys.known.items[i].need)
            wanted[nr++] = w->keys.known.items[i].key;
    return wanted;
}

static void set_bench_harms(struct bench_ab *w)
{
    struct comparison_harms harms;

    comparison_harms_init(&harms, &w->s->comparison);
    for (size_t i = 0; i < w->keys.known.nr; i++) {
        struct bench_key *key = &w->keys.known.items[i];
        key->harm = key->need ? comparison_harm(&harms, key->key) : -1;
        key->need = key->harm >= 0;
    }
    comparison_harms_release(&harms);
}

static int look_at_bench_blocks(struct bench_ab *w, struct error *err)
{
    struct ab_session *s = w->s;

    comparison_release(&s->comparison);
    s->comparison = (struct comparison) { 0 };
    if (compare_run(&s->records[AB_BASE], &s->records[AB_HEAD], &w->r->compare, &s->comparison,
                    err))
        return -1;
    set_bench_harms(w);
    return 0;
}

/* ---- the two runs ---- */

static void add_bench_text(cJSON *object, const char *key, const char *text)
{
    char *hidden = redact_text(text);

    json_add_string(object, key, hidden);
    free(hidden);
}

static cJSON *bench_settings(const struct bench_ab_request *r)
{
    cJSON *json = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(json, "bench");

    for (size_t i = 0; i < r->benches->nr; i++) {
        const struct bench *b = &r->benches->items[i];
        struct strbuf text;
        strbuf_init(&text);
        strbuf_addf(&text, "%s%s%s", b->named ? b->name : "", b->named ? ": " : "", b->command);
        char *hidden = redact_text(text.data);
        cJSON_AddItemToArray(list, cJSON_CreateString(hidden));
        free(hidden);
        strbuf_release(&text);
    }
    if (r->format != IMPORT_ANY)
        json_add_string(json, "format", import_format_name(r->format));
    if (r->numbers && r->numbers->nr > 0)
        cJSON_AddItemToObject(json, "metrics", number_specs_to_json(r->numbers));
    if (r->betters && r->betters->nr > 0)
        json_add_strings(json, "better", r->betters->items, r->betters->nr);
    add_bench_text(json, "build_command", r->build_command);
    return json;
}

static int describe_bench_run(struct bench_ab *w, enum ab_side side, const char *id,
                              struct error *err)
{
    const struct bench_ab_request *r = w->r;
    struct records *records = &w->s->records[side];
    struct run *run = records_add_run(records);
    cJSON *settings = cJSON_CreateObject();
    char label[sizeof(run->label)];

    snprintf(label, sizeof(label), "%s %s", r->label ? r->label : "gate", side_words[side]);
    cJSON_AddItemToObject(settings, BENCH_SETTINGS, bench_settings(r));
    const struct recorded what = {
        .kind = RUN_TRIAL, .suite = "", .label = label, .settings = json_take_text(settings)
    };
    if (recording_describe(run, &what, err))
        return -1;
    /* What is measured is not this program. */
    run->build = (struct build) { .dirty = false };
    snprintf(run->build.commit, sizeof(run->build.commit), "%s", r->side[side]->commit);
    run->ab.block = AB_LAUNCHES;
    snprintf(run->ab.id, sizeof(run->ab.id), "%s", id);
    snprintf(run->ab.side, sizeof(run->ab.side), "%s", side_words[side]);
    w->recording[side] = (struct recording) {
        .store = r->store, .measuring = &r->measuring, .run = run, .records = records
    };
    return 0;
}

static int begin_bench_runs(struct bench_ab *w, struct error *err)
{
    char id[37];

    random_uuid(id);
    for (int i = 0; i < AB_SIDES; i++) {
        if (describe_bench_run(w, (enum ab_side)i, id, err))
            return -1;
        struct run *run = w->s->records[i].runs;
        if (store_begin_run(w->r->store, run, err))
            return -1;
        snprintf(w->s->what[i], sizeof(w->s->what[i]), "%.200s (run %lld)", w->r->name[i],
                 (long long)run->id);
    }
    return 0;
}

/* All launches of a block are open while it lasts: each bench puts its own into them. */
static int for_bench_launches(struct bench_ab *w, bool begins, struct error *err)
{
    for (int side = 0; side < AB_SIDES; side++)
        for (int i = 0; i < AB_LAUNCHES; i++) {
            struct launch launch = { .seq = w->s->blocks * AB_LAUNCHES + i,
                                     .started_ms = clock_epoch_ms() };
            int64_t *id = &w->launch_id[side][i];
            launch.ended_ms = begins ? 0 : launch.started_ms;
            if (begins ? store_begin_launch(w->r->store, w->s->records[side].runs->id, &launch, id,
                                            err)
                       : store_end_launch(w->r->store, *id, &launch, err))
                return -1;
        }
    return 0;
}

/* ---- one call ---- */

static int keep_bench_measurement(struct bench_ab *w, enum ab_side side, int i,
                                  struct measurement *m, struct error *err)
{
    struct records *records = &w->s->records[side];

    if (store_add_measurement(w->r->store, w->launch_id[side][i], m, err))
        return -1;
    measurement_copy(&records_add(records, 0, w->s->blocks * AB_LAUNCHES + i)->m, m);
    return 0;
}

/* Says of which key it is; a second bench that has the same is a mistake of the names. */
static int note_bench_key(struct bench_ab *w, size_t bench, const char *key, struct error *err)
{
    const struct bench_key *known = bench_keys_find(&w->keys, key);
    const struct bench *all = w->r->benches->items;

    if (known && known->bench != bench)
        return error_set(err,
                         "`%s` and `%s` both measure %s; give each a name, which then stands "
                         "before it: --bench 'NAME: COMMAND'",
                         all[known->bench].command, all[bench].command, key);
    if (!known)
        bench_keys_add(&w->keys, key, bench);
    return 0;
}

/* What results say of compiler and flags is the run's. */
static void heed_bench_build(struct run *run, const struct run *said)
{
    if (!run->build.compiler[0])
        snprintf(run->build.compiler, sizeof(run->build.compiler), "%s", said->build.compiler);
    if (!run->build.flags[0])
        snprintf(run->build.flags, sizeof(run->build.flags), "%s", said->build.flags);
}

static void note_bench_result(const struct bench_ab *w, size_t bench, const struct imported *got)
{
    const struct bench *b = &w->r->benches->items[bench];
    const struct session_sink *sink = w->r->measuring.sink;

    if (b->form == BENCH_TIME)
        sink_note(sink, "note: `%s` gives no result that can be read: the whole command is timed\n",
                  b->command);
    for (size_t i = 0; i < got->notes.nr; i++)
        sink_note(sink, "note: %s: %s\n", b->name, got->notes.items[i]);
}

/* A bench's name is a filter for all that it brings, be it a program that is timed. */
static bool is_bench_key_asked(struct bench_ab *w, const char *key)
{
    const char *const *filters = w->r->filters;

    for (size_t i = 0; i < w->r->nr_filters; i++)
        w->fitted[i] |= compare_filter_fits(filters[i] + (filters[i][0] == '!'), key);
    return text_filters_take_by(filters, w->r->nr_filters, key, compare_filter_fits);
}

static int take_bench_result(struct bench_ab *w, size_t bench, enum ab_side side, int i,
                             struct imported *got, struct error *err)
{
    heed_bench_build(w->s->records[side].runs, got->records.runs);
    for (size_t k = 0; k < got->records.nr; k++) {
        struct measurement *m = &got->records.items[k].m;
        if (!is_bench_key_asked(w, m->bench.key))
            continue;
        if (w->s->blocks == 0 && note_bench_key(w, bench, m->bench.key, err))
            return -1;
        const struct bench_key *key = bench_keys_find(&w->keys, m->bench.key);
        if (!key || !key->need)
            continue;
        m->started_ms = clock_epoch_ms();
        if (keep_bench_measurement(w, side, i, m, err))
            return -1;
    }
    return 0;
}

static void show_bench_progress(const struct bench_ab *w, const char *name)
{
    const struct session_sink *sink = w->r->measuring.sink;
    const struct ab_progress p = {
        .block = w->s->blocks + 1,
        .left = w->s->blocks ? count_bench_needs(w) : w->r->benches->nr,
        .of = w->s->blocks ? w->keys.known.nr : w->r->benches->nr,
        .done = w->done,
        .total = w->total,
        .elapsed = bench_ab_elapsed(w),
        .budget = w->r->measuring.budget,
        .key = name,
    };

    if (sink && sink->blocks)
        sink->blocks(sink->context, &p);
}

/* The `i`th call of that side in the block. */
static int call_bench(struct bench_ab *w, size_t bench, enum ab_side side, int i, struct error *err)
{
    const struct built *built = w->r->side[side];
    char who[GIT_HASH_SIZE + 32];
    struct imported got;

    snprintf(who, sizeof(who), "%s at %.7s", side_words[side], built->commit);
    const struct bench_place place = { who, built->source, built->build, built->folder };
    const char **wanted = list_bench_wanted(w, bench);
    const struct bench_call call = {
        .bench = &w->r->benches->items[bench],
        .place = &place,
        .format = w->r->format,
        .numbers = w->r->numbers,
        .betters = w->r->betters,
        .wanted = wanted,
        .measuring = &w->r->measuring,
    };
    bool first = call.bench->form == BENCH_UNKNOWN;
    show_bench_progress(w, call.bench->name);
    int rc = bench_run(&call, &got, err);
    if (rc < 0)
        w->r->failed = (int)side;
    if (rc == 0 && first)
        note_bench_result(w, bench, &got);
    if (rc == 0)
        rc = take_bench_result(w, bench, side, i, &got, err);
    w->done++;
    imported_release(&got);
    free(wanted);
    return rc;
}

/* ---- blocks ---- */

/* Base head head base, or head base base head. */
static int call_bench_block(struct bench_ab *w, size_t bench, struct error *err)
{
    enum ab_side first = random_below(&w->random, 2) ? AB_HEAD : AB_BASE;
    enum ab_side second = first == AB_BASE ? AB_HEAD : AB_BASE;
    int rc = call_bench(w, bench, first, 0, err);

    if (rc == 0)
        rc = call_bench(w, bench, second, 0, err);
    if (rc == 0)
        rc = call_bench(w, bench, second, 1, err);
    return rc ? rc : call_bench(w, bench, first, 1, err);
}

/* How bad the worst of what is still wanted of a bench looks. */
static double bench_harm(const struct bench_ab *w, size_t bench)
{
    double most = 0;

    for (size_t k = 0; k < w->keys.known.nr; k++)
        if (w->keys.known.items[k].bench == bench && w->keys.known.items[k].harm > most)
            most = w->keys.known.items[k].harm;
    return most;
}

/* At least one block is whole; of a further one only what should end in time. Returns how many
 * benches there are in it. */
static size_t choose_benches(struct bench_ab *w)
{
    size_t nr = w->r->benches->nr, wanted = 0;
    double budget = w->r->measuring.budget;

    for (size_t i = 0; i < nr; i++) {
        w->take[i] = is_bench_wanted(w, i);
        wanted += w->take[i];
    }
    if (!(budget > 0) || w->s->blocks == 0)
        return wanted;
    double *harm = memory_zeroed(nr + 1, sizeof(*harm));
    for (size_t i = 0; i < nr; i++)
        harm[i] = bench_harm(w, i);
    wanted = ab_fit(w->seconds, harm, nr, budget - bench_ab_elapsed(w), w->take);
    free(harm);
    return wanted;
}

static int run_bench_block(struct bench_ab *w, struct error *err)
{
    int rc = for_bench_launches(w, true, err);

    w->done = 0;
    for (size_t i = 0; rc == 0 && i < w->r->benches->nr; i++) {
        double before = bench_ab_elapsed(w);
        if (!w->take[i])
            continue;
        rc = call_bench_block(w, i, err);
        w->seconds[i] = bench_ab_elapsed(w) - before;
    }
    return rc ? rc : for_bench_launches(w, false, err);
}

/* Where benches are left out a filter may be of those. */
static void note_bench_filters(const struct bench_ab *w)
{
    for (size_t i = 0; i < w->r->benches->nr; i++)
        if (w->r->left_out && w->r->left_out[i])
            return;
    for (size_t i = 0; i < w->r->nr_filters; i++)
        if (!w->fitted[i])
            sink_note(w->r->measuring.sink,
                      "note: nothing that was measured fits the filter \"%s\"\n", w->r->filters[i]);
}

/* After the first block. */
static int check_bench_filters(const struct bench_ab *w, struct error *err)
{
    if (w->keys.known.nr > 0) {
        note_bench_filters(w);
        return 0;
    }
    return error_set(err, "nothing that was measured fits the filter%s \"%s\"%s",
                     w->r->nr_filters > 1 ? "s" : "", w->r->filters[0],
                     w->r->nr_filters > 1 ? " ..." : "");
}

static int run_bench_blocks(struct bench_ab *w, struct error *err)
{
    const struct bench_ab_request *r = w->r;
    int most = r->blocks_max > 0 ? r->blocks_max : AB_BLOCKS_MAX;

    for (w->s->blocks = 0; w->s->blocks < most;) {
        size_t benches = choose_benches(w);
        w->total = benches * AB_SIDES * AB_LAUNCHES;
        if (benches == 0) {
            w->s->end = AB_BUDGET;
            return 0;
        }
        int rc = run_bench_block(w, err);
        if (rc == BENCH_INTERRUPTED)
            w->s->end = AB_INTERRUPTED;
        if (rc)
            return rc < 0 ? -1 : 0;
        if (w->s->blocks == 0 && check_bench_filters(w, err))
            return -1;
        w->s->blocks++;
        if (look_at_bench_blocks(w, err))
            return -1;
        if (count_bench_needs(w) == 0) {
            w->s->end = AB_DECIDED;
            return 0;
        }
    }
    w->s->end = AB_BLOCKS;
    return 0;
}

static int end_bench_runs(struct bench_ab *w, struct error *err)
{
    for (int i = 0; i < AB_SIDES; i++)
        if (recording_end(&w->recording[i], err))
            return -1;
    return 0;
}

int bench_ab_run(struct bench_ab_request *r, struct ab_session *s, struct error *err)
{
    struct bench_ab w = { .r = r, .s = s, .start = clock_ns() };

    *s = (struct ab_session) { .blocks = 0 };
    r->failed = -1;
    w.take = memory_zeroed(r->benches->nr + 1, sizeof(*w.take));
    w.seconds = memory_zeroed(r->benches->nr + 1, sizeof(*w.seconds));
    w.fitted = memory_zeroed(r->nr_filters + 1, sizeof(*w.fitted));
    random_seed(&w.random, r->measuring.seed ? (uint64_t)r->measuring.seed : random_fresh_seed());
    int rc = begin_bench_runs(&w, err);
    if (rc == 0)
        rc = run_bench_blocks(&w, err);
    sink_progressed(r->measuring.sink);
    s->seconds = bench_ab_elapsed(&w);
    if (rc == 0 && s->end != AB_INTERRUPTED)
        rc = end_bench_runs(&w, err);
    bench_keys_release(&w.keys);
    free(w.take);
    free(w.seconds);
    free(w.fitted);
    return rc;
}
