/* SPDX-License-Identifier: MIT */
#include "session/replay.h"

#include "base/array.h"
#include "base/text.h"
#include "reporters/verdict_json.h"
#include "store/verdicts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_replay_difference(struct replay *r, const struct store_comparison *record,
                                  const struct store_verdict *was, const struct compare_row *now)
{
    struct replay_difference *d = array_push(&r->differences);
    struct error ignored;

    *d = (struct replay_difference) {
        .comparison = record->id,
        .key = memory_string(was->key),
        .machine = memory_string(was->machine),
        .was = memory_string(was->verdict),
        .metric = now->item->metric,
        .result = { .change = NAN, .interval = { NAN, NAN } },
        .now = now->verdict,
        .change = now->change,
        .interval = now->interval,
    };
    kept_result_read(was->result, &d->result, &ignored); /* unreadable: just not shown */
    snprintf(d->why, sizeof(d->why), "%s", now->why);
}

static size_t compare_with_record(struct replay *r, const struct store_comparison *record,
                                  const struct comparison *c)
{
    size_t before = r->differences.nr;

    for (size_t i = 0; i < c->nr; i++) {
        const struct store_verdict *was = &record->items[kept_items_index(c->rows[i].item)];
        if (strcmp(was->verdict, verdict_name(c->rows[i].verdict)) != 0)
            add_replay_difference(r, record, was, &c->rows[i]);
    }
    return r->differences.nr - before;
}

static int decide_again(struct replay *r, const struct store_comparison *record,
                        struct kept_items *kept, size_t *differ, struct error *err)
{
    struct kept_settings settings;
    struct comparison c = { 0 };
    int rc = kept_settings_init(&settings, record->settings, err);

    for (size_t i = 0; rc == 0 && i < record->nr; i++) {
        const struct store_verdict *v = &record->items[i];
        rc = kept_items_add(kept, v->key, v->machine, v->metric, v->evidence, err);
    }
    if (rc == 0) {
        size_t nr = kept->nr;
        rc = compare_decide(kept_items_take(kept), nr, &settings.settings, &c, err);
    }
    if (rc == 0)
        *differ = compare_with_record(r, record, &c);
    comparison_release(&c);
    kept_settings_release(&settings);
    return rc;
}

/* A record that cannot be decided again does not keep the others from it. */
static int replay_one(struct replay *r, int64_t id, struct error *err)
{
    struct store_comparison record;
    struct kept_items kept = { 0 };
    struct error problem;
    size_t differ = 0;
    int rc = store_comparison_load(r->store, id, &record, err);

    if (rc == 0 && decide_again(r, &record, &kept, &differ, &problem)) {
        sink_note(r->sink, "harness: comparison %" PRId64 " cannot be replayed: %s\n", id,
                  problem.message);
        r->unreadable++;
    } else if (rc == 0) {
        struct replay_done *done = array_push(&r->done);
        *done = (struct replay_done) { id, "", record.rule, record.nr, differ };
        snprintf(done->uuid, sizeof(done->uuid), "%s", record.uuid);
        r->verdicts += record.nr;
    }
    kept_items_release(&kept);
    store_comparison_release(&record);
    return rc;
}

static int replay_all(struct replay *r, struct error *err)
{
    struct store_comparisons all = { 0 };
    int rc = store_comparison_list(r->store, 0, &all, err);

    for (size_t i = all.nr; rc == 0 && i > 0; i--) /* oldest first */
        rc = replay_one(r, all.items[i - 1].id, err);
    store_comparisons_release(&all);
    return rc;
}

static int replay_those(struct replay *r, char **ids, int nr, struct error *err)
{
    int64_t id;

    for (int i = 0; i < nr; i++)
        if (text_parse_int(ids[i], 1, INT64_MAX, "the number of a comparison", &id, err) ||
            replay_one(r, id, err))
            return -1;
    return 0;
}

enum exit_status replay_exit_status(const struct replay *r)
{
    if (r->unreadable)
        return EXIT_USAGE;
    if (r->verdicts == 0)
        return EXIT_UNDECIDED;
    return r->differences.nr ? EXIT_REGRESSION : EXIT_SAME;
}

void replay_release(struct replay *r)
{
    for (size_t i = 0; i < r->differences.nr; i++) {
        free(r->differences.items[i].key);
        free(r->differences.items[i].machine);
        free(r->differences.items[i].was);
    }
    array_release(&r->differences);
    array_release(&r->done);
}

int replay_run(struct replay *r, char **ids, int nr, struct error *err)
{
    bool all = nr == 0 || (nr == 1 && strcmp(ids[0], "all") == 0);

    return all ? replay_all(r, err) : replay_those(r, ids, nr, err);
}
