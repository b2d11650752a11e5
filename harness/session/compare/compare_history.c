/* SPDX-License-Identifier: MIT */
#include "session/compare/compare_history.h"

#include "base/array.h"
#include "base/memory.h"
#include "chart/chart.h"
#include "chart/presets.h"
#include "figure/paint_gnuplot.h"
#include "metrics/run_rows.h"
#include "session/history_file.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 200, HISTORIES_MAX = 400 };

static bool has_head_run(const struct records *r, const char *uuid)
{
    for (size_t i = 0; i < r->nr_runs; i++)
        if (strcmp(r->runs[i].uuid, uuid) == 0)
            return true;
    return false;
}

/* Marks what is earlier; with a branch, what is of it. Returns how many. */
static size_t mark_earlier(const struct compare_history *earlier, const char *branch, bool *keep)
{
    int64_t begin = history_first_start(&earlier->head->records, "");
    size_t nr = 0;

    for (size_t i = earlier->runs.nr_runs; i-- > 0;) {
        const struct run *run = &earlier->runs.runs[i];
        keep[i] = nr < RUNS_MAX && run->started_ms < begin && series_takes(run) &&
                  !has_head_run(&earlier->head->records, run->uuid) &&
                  (!branch || strcmp(run->build.branch, branch) == 0);
        nr += keep[i];
    }
    return nr;
}

int compare_history_load(struct compare_history *earlier, struct store *store,
                         const struct history_side *base, const struct history_side *head,
                         struct error *err)
{
    int newest = run_newest(&head->records), old = run_newest(&base->records);

    *earlier = (struct compare_history) { .store = store, .head = head };
    if (newest < 0 || !store)
        return 0;
    const char *machine = head->records.runs[newest].machine.class_name;
    const char *branch = old < 0 ? "" : base->records.runs[old].build.branch;
    if (store_finished_runs(store, machine, &earlier->runs, err))
        return -1;
    bool *keep = memory_zeroed(earlier->runs.nr_runs + 1, sizeof(*keep));
    if (!branch[0] || mark_earlier(earlier, branch, keep) == 0)
        mark_earlier(earlier, NULL, keep);
    history_keep_runs(&earlier->runs, keep);
    free(keep);
    return 0;
}

void compare_history_release(struct compare_history *earlier)
{
    records_release(&earlier->runs);
}

static const struct series *find_item_series(const struct series_list *list,
                                             const struct compare_item *item)
{
    for (size_t i = 0; i < list->nr; i++) {
        const struct series *s = &list->items[i];
        bool here = !item->machine[0] || strcmp(s->machine, item->machine) == 0;
        if (here && strcmp(s->bench->key, item->bench->key) == 0)
            return s;
    }
    return NULL;
}

/* The rows of one metric: one look at the history. */
static int load_metric_series(const struct compare_history *earlier, const struct metric *metric,
                              const struct compare_row *const *rows, size_t nr,
                              struct comment_histories *out, struct error *err)
{
    const char **keys = memory_zeroed(nr + 1, sizeof(*keys));
    struct store_filter filter = { .keys = keys };
    struct series_list list = { 0 };

    for (size_t i = 0; i < nr; i++)
        if (rows[i]->item->metric == metric)
            keys[filter.nr_keys++] = rows[i]->item->bench->key;
    int rc = filter.nr_keys
                 ? history_series(earlier->store, &earlier->runs, metric, &filter, &list, err)
                 : 0;
    for (size_t i = 0; rc == 0 && i < nr; i++) {
        const struct series *s =
            rows[i]->item->metric == metric ? find_item_series(&list, rows[i]->item) : NULL;
        if (!s)
            continue;
        struct comment_history *h = array_push(out);
        h->item = rows[i]->item;
        h->values = memory_zeroed(s->nr, sizeof(*h->values));
        for (; h->nr < s->nr; h->nr++)
            h->values[h->nr] = s->items[h->nr].value;
    }
    series_list_release(&list);
    free(keys);
    return rc;
}

int compare_history_series(const struct compare_history *earlier, const struct comparison *c,
                           struct comment_histories *out, struct error *err)
{
    const struct metric *metrics[COMPARE_METRICS_MAX];
    size_t nr_metrics = comparison_metrics(c, metrics);
    const struct compare_row **rows;
    size_t nr = comment_changes(c, &rows);
    int rc = 0;

    if (nr > HISTORIES_MAX)
        nr = HISTORIES_MAX;
    for (size_t i = 0; rc == 0 && earlier->runs.nr_runs && i < nr_metrics; i++)
        rc = load_metric_series(earlier, metrics[i], rows, nr, out, err);
    free(rows);
    return rc;
}

/* ---- pictures ---- */

enum { PICTURES_MAX = 24, SLUG_MAX = 64, ID_SIZE = 96 };

static uint32_t hash_name(const char *text)
{
    uint32_t hash = 0x811c9dc5; /* FNV-1a, 32 bits */

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x01000193;
    return hash;
}

/* "trend-<key>-<hash>": a file name of plain characters for any text; the hash tells apart what the
 * rest does not. */
static void picture_name(const char *what, const char *text, char id[ID_SIZE])
{
    char slug[SLUG_MAX + 1];
    size_t nr = 0;

    for (size_t i = 0; text[i] && nr < SLUG_MAX; i++) {
        if (isalnum((unsigned char)text[i]))
            slug[nr++] = text[i];
        else if (nr > 0 && slug[nr - 1] != '-')
            slug[nr++] = '-';
    }
    slug[nr] = '\0';
    snprintf(id, ID_SIZE, "%s-%s%s%08" PRIx32, what, slug, nr && slug[nr - 1] == '-' ? "" : "-",
             hash_name(text));
}

/* Draws a preset under a name of its own. A figure that has nothing to show leaves `out` empty. */
static int draw_picture(const struct chart *chart, char *id, const char *folder,
                        struct comment_picture *out, struct error *err)
{
    struct preset preset = *chart->preset; /* all but the name stays its own */
    struct chart renamed = *chart;
    int rc = 0;

    preset.name = id;
    renamed.preset = &preset;
    struct figure *f = chart_build(&renamed);
    if (!f->reason) {
        rc = paint_gnuplot(f, folder, 1u << PICTURE_PNG, err);
        if (rc == 0) {
            struct strbuf file;
            strbuf_init(&file);
            strbuf_addf(&file, "%s.png", id);
            *out = (struct comment_picture) { strbuf_detach(&file), memory_string(f->alt) };
        }
    }
    figure_free(f);
    return rc;
}

/* What the head has of this benchmark, as runs of its own at the end. A half of a session makes no
 * points of a trend (series_takes()); here it does. */
static void add_head_runs(struct records *records, const struct records *head, const char *key)
{
    int *place = memory_zeroed(head->nr_runs + 1, sizeof(*place));

    for (size_t i = 0; i < head->nr_runs; i++) {
        struct run copy = head->runs[i];
        copy.kind = RUN_MEASURED;
        place[i] = (int)records->nr_runs;
        run_copy(records_add_run(records), &copy);
    }
    for (size_t i = 0; i < head->nr; i++) {
        const struct record *r = &head->items[i];
        if (strcmp(r->m.bench.key, key) == 0)
            measurement_copy(&records_add(records, place[r->run], r->launch_seq)->m, &r->m);
    }
    free(place);
}

static int load_key_records(const struct compare_history *earlier, const char *key,
                            struct records *out, struct error *err)
{
    struct store_filter filter = { .keys = &key, .nr_keys = 1, .without_telemetry = true };
    int64_t *ids = memory_zeroed(earlier->runs.nr_runs + 1, sizeof(*ids));

    for (size_t i = 0; i < earlier->runs.nr_runs; i++)
        ids[i] = earlier->runs.runs[i].id;
    int rc = store_load(earlier->store, ids, earlier->runs.nr_runs, &filter, out, err);
    if (rc == 0)
        add_head_runs(out, &earlier->head->records, key);
    free(ids);
    return rc;
}

static int draw_trend_picture(const struct compare_history *earlier, const struct preset *trend,
                              const char *folder, struct comment_history *h, struct error *err)
{
    const char *key = h->item->bench->key;
    struct records records = { 0 };
    char id[ID_SIZE];
    int rc = load_key_records(earlier, key, &records, err);

    picture_name("trend", key, id);
    struct chart chart = { .preset = trend, .records = &records, .run = run_newest(&records) };
    if (rc == 0)
        rc = draw_picture(&chart, id, folder, &h->picture, err);
    records_release(&records);
    return rc;
}

/* Several metrics of one benchmark share its picture. */
static const struct comment_history *find_drawn(const struct comment_histories *histories,
                                                size_t nr)
{
    const char *key = histories->items[nr].item->bench->key;

    for (size_t i = 0; i < nr; i++)
        if (strcmp(histories->items[i].item->bench->key, key) == 0)
            return &histories->items[i];
    return NULL;
}

int compare_history_draw(const struct compare_history *earlier, const char *folder,
                         struct comment_histories *histories, struct error *err)
{
    struct presets presets = { 0 };
    int rc = presets_load_embedded(&presets, err), drawn = 0, left_out = 0;
    const struct preset *trend = rc == 0 ? presets_find(&presets, "trend", err) : NULL;

    rc = trend ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < histories->nr; i++) {
        if (find_drawn(histories, i))
            continue;
        if (drawn == PICTURES_MAX) {
            left_out++;
            continue;
        }
        rc = draw_trend_picture(earlier, trend, folder, &histories->items[i], err);
        drawn += histories->items[i].picture.file != NULL;
    }
    presets_release(&presets);
    return rc ? -1 : left_out;
}

/* What the earlier runs say, of all benchmarks; nothing where they cannot be read. */
static int find_past(const struct compare_history *earlier, struct series_list *list,
                     struct trends *past, struct error *err)
{
    const struct trend_settings settings = { .metric = trend_metric("p50", NULL),
                                             .fdr = TREND_FDR };
    const struct store_filter all = { 0 };

    if (earlier->runs.nr_runs == 0)
        return 0;
    return history_series(earlier->store, &earlier->runs, settings.metric, &all, list, err) ||
                   trends_find(list, &earlier->runs, &settings, past, err)
               ? -1
               : 0;
}

int compare_history_draw_overview(const struct compare_history *earlier, const struct comparison *c,
                                  const struct history_side *base, const char *name,
                                  const char *folder, struct comment_picture *out,
                                  struct error *err)
{
    const struct records *head = &earlier->head->records;
    int newest = run_newest(&base->records);
    struct presets presets = { 0 };
    struct series_list list = { 0 };
    struct trends past = { 0 };
    char id[ID_SIZE];

    int rc = find_past(earlier, &list, &past, err);
    if (rc == 0)
        rc = presets_load_embedded(&presets, err);
    struct chart chart = {
        .preset = rc == 0 ? presets_find(&presets, "overview", err) : NULL,
        .records = head,
        .comparison = c,
        .base_label = base->what,
        .base_run = newest < 0 ? NULL : &base->records.runs[newest],
        .past = past.nr ? &past : NULL,
        .run = run_newest(head),
    };
    picture_name("overview", name, id);
    rc = chart.preset ? draw_picture(&chart, id, folder, out, err) : -1;
    presets_release(&presets);
    trends_release(&past);
    series_list_release(&list);
    return rc;
}
