/* SPDX-License-Identifier: MIT */
/* Pictures of what the history says of single benchmarks. */
#include "cli/compare_history.h"

#include "base/memory.h"
#include "output/chart.h"
#include "output/paint_gnuplot.h"
#include "output/run_rows.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PICTURES_MAX = 24, SLUG_MAX = 64, ID_SIZE = 96 };

static uint32_t hash_text(const char *text)
{
    uint32_t hash = 0x811c9dc5; /* FNV-1a, 32 bits */

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x01000193;
    return hash;
}

/* "trend-<key>-<hash>": a file name of plain characters for any text; the hash tells apart what the
 * rest does not. */
static void name_of(const char *what, const char *text, char id[ID_SIZE])
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
             hash_text(text));
}

/* Draws a preset under a name of its own. A figure that has nothing to show leaves `out` empty. */
static int draw(const struct chart *chart, char *id, const char *folder,
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
 * points of a trend (series_takes()), by what its settings say: without these it does here. */
static void add_head(struct records *records, const struct records *head, const char *key)
{
    int *place = memory_zeroed(head->nr_runs + 1, sizeof(*place));

    for (size_t i = 0; i < head->nr_runs; i++) {
        struct run copy = head->runs[i];
        copy.settings = NULL;
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

static int load(const struct compare_past *past, const char *key, struct records *out,
                struct error *err)
{
    struct store_filter filter = { .keys = &key, .nr_keys = 1, .without_telemetry = true };
    int64_t *ids = memory_zeroed(past->runs.nr_runs + 1, sizeof(*ids));

    for (size_t i = 0; i < past->runs.nr_runs; i++)
        ids[i] = past->runs.runs[i].id;
    int rc = store_load(past->store, ids, past->runs.nr_runs, &filter, out, err);
    if (rc == 0)
        add_head(out, &past->head->records, key);
    free(ids);
    return rc;
}

static int draw_trend(const struct compare_past *past, const struct preset *trend,
                      const char *folder, struct comment_history *h, struct error *err)
{
    const char *key = h->item->bench->key;
    struct records records = { 0 };
    char id[ID_SIZE];
    int rc = load(past, key, &records, err);

    name_of("trend", key, id);
    struct chart chart = { .preset = trend, .records = &records, .run = run_newest(&records) };
    if (rc == 0)
        rc = draw(&chart, id, folder, &h->picture, err);
    records_release(&records);
    return rc;
}

/* Several metrics of one benchmark share its picture. */
static const struct comment_history *drawn_before(const struct comment_histories *histories,
                                                  size_t nr)
{
    const char *key = histories->items[nr].item->bench->key;

    for (size_t i = 0; i < nr; i++)
        if (strcmp(histories->items[i].item->bench->key, key) == 0)
            return &histories->items[i];
    return NULL;
}

int compare_past_draw(const struct compare_past *past, const char *folder,
                      struct comment_histories *histories, struct error *err)
{
    struct presets presets = { 0 };
    int rc = presets_load_embedded(&presets, err), drawn = 0, left_out = 0;
    const struct preset *trend = rc == 0 ? presets_find(&presets, "trend", err) : NULL;

    rc = trend ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < histories->nr; i++) {
        if (drawn_before(histories, i))
            continue;
        if (drawn == PICTURES_MAX) {
            left_out++;
            continue;
        }
        rc = draw_trend(past, trend, folder, &histories->items[i], err);
        drawn += histories->items[i].picture.file != NULL;
    }
    presets_release(&presets);
    return rc ? -1 : left_out;
}

int compare_draw(const struct comparison *c, const struct history_side *base,
                 const struct history_side *head, const char *name, const char *folder,
                 struct comment_picture *out, struct error *err)
{
    struct presets presets = { 0 };
    char id[ID_SIZE];
    int rc = presets_load_embedded(&presets, err);
    struct chart chart = {
        .preset = rc == 0 ? presets_find(&presets, "comparison", err) : NULL,
        .records = &head->records,
        .comparison = c,
        .base_label = base->what,
        .run = run_newest(&head->records),
    };

    name_of("comparison", name, id);
    rc = chart.preset ? draw(&chart, id, folder, out, err) : -1;
    presets_release(&presets);
    return rc;
}
