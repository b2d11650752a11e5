/* SPDX-License-Identifier: MIT */
#include "chart/types/trend_marks.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"
#include "metrics/epoch.h"
#include "text/textwidth.h"
#include "trend/mainline.h"
#include "trend/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICKS_MAX = 5 };

const struct run *trend_run_at(const struct trend_runs *runs, int nth)
{
    return &runs->records->runs[runs->order[nth]];
}

bool trend_run_unmerged(const struct trend_runs *runs, int run)
{
    return !mainline_has(runs->branch, &runs->records->runs[run]);
}

static void trend_marks_order_by_time(struct trend_runs *t, const char *machine)
{
    const struct run *runs = t->records->runs;

    for (size_t i = 0; i < t->records->nr_runs; i++) {
        t->position[i] = -1;
        if (strcmp(runs[i].machine.class_name, machine) != 0 || !series_takes(&runs[i]))
            continue;
        int at = t->nr++;
        for (; at > 0 && runs[i].started_ms < runs[t->order[at - 1]].started_ms; at--)
            t->order[at] = t->order[at - 1];
        t->order[at] = (int)i;
    }
}

/* A head that waits to be merged comes after all that is. */
static void move_head(struct trend_runs *t, int head)
{
    int at = 0;

    while (at < t->nr && t->order[at] != head)
        at++;
    if (at == t->nr || !trend_run_unmerged(t, head))
        return;
    for (; at + 1 < t->nr; at++)
        t->order[at] = t->order[at + 1];
    t->order[at] = head;
}

void trend_runs_init(struct trend_runs *t, const struct records *records, int head)
{
    size_t room = records->nr_runs + 1;

    *t = (struct trend_runs) { .records = records };
    t->order = memory_zeroed(room, sizeof(*t->order));
    t->position = memory_zeroed(room, sizeof(*t->position));
    t->merged = memory_zeroed(room, sizeof(*t->merged));
    trend_marks_order_by_time(t, records->runs[head].machine.class_name);
    t->branch = mainline_branch(records, records->runs[head].machine.class_name);
    move_head(t, head);
    for (int i = 0, merged = 0; i < t->nr; i++) {
        int run = t->order[i];
        t->position[run] = i;
        t->merged[run] = merged;
        merged += !trend_run_unmerged(t, run);
    }
}

void trend_runs_release(struct trend_runs *t)
{
    free(t->order);
    free(t->position);
    free(t->merged);
}

/* What a tick has of a run's "2026-11-21 09:54:00Z". */
struct tick_form {
    int begin, end;
};

enum { TICK_YEAR = 0, TICK_DAY = 5, TICK_TIME = 11 };
enum { TICK_YEAR_END = 4, TICK_DAY_END = 10, TICK_MINUTE_END = 16, TICK_SECOND_END = 19 };

enum { TICK_SIZE = 24, TICK_COMMIT = 7 };

static void tick_text(const struct run *run, struct tick_form form, char text[TICK_SIZE])
{
    char when[TEXT_UNIT_SIZE];

    text_timestamp(run->started_ms, when);
    snprintf(text, TICK_SIZE, "%.*s", form.end - form.begin, when + form.begin);
}

static bool tick_differs(const struct trend_runs *t, struct tick_form part)
{
    char first[TICK_SIZE], text[TICK_SIZE];

    for (int i = 1; i < t->nr; i++) {
        tick_text(trend_run_at(t, 0), part, first);
        tick_text(trend_run_at(t, i), part, text);
        if (strcmp(text, first) != 0)
            return true;
    }
    return false;
}

/* "2026-11-21" where runs are of several years, "11-21" of several days, else "09:54". */
static struct tick_form trend_marks_form(const struct trend_runs *t)
{
    if (tick_differs(t, (struct tick_form) { TICK_YEAR, TICK_YEAR_END }))
        return (struct tick_form) { TICK_YEAR, TICK_DAY_END };
    if (tick_differs(t, (struct tick_form) { TICK_DAY, TICK_DAY_END }))
        return (struct tick_form) { TICK_DAY, TICK_DAY_END };
    return (struct tick_form) { TICK_TIME, TICK_MINUTE_END };
}

static bool trend_marks_repeats(const struct trend_runs *t, int every, struct tick_form form,
                                bool hashes)
{
    char before[TICK_SIZE], text[TICK_SIZE];

    for (int i = every; i < t->nr; i += every) {
        const struct run *last = trend_run_at(t, i - every), *run = trend_run_at(t, i);
        tick_text(last, form, before);
        tick_text(run, form, text);
        if (strcmp(before, text) == 0 &&
            (!hashes || strncmp(last->build.commit, run->build.commit, TICK_COMMIT) == 0))
            return true;
    }
    return false;
}

/* Two times that read alike tell nothing: minutes, then seconds, until neighbours differ. */
static void trend_marks_refine(const struct trend_runs *t, int every, bool hashes,
                               struct tick_form *form)
{
    while (form->end < TICK_SECOND_END && trend_marks_repeats(t, every, *form, hashes))
        form->end = form->end < TICK_MINUTE_END ? TICK_MINUTE_END : TICK_SECOND_END;
}

static bool commits_differ(const struct trend_runs *t)
{
    for (int i = 1; i < t->nr; i++)
        if (strcmp(trend_run_at(t, i)->build.commit, trend_run_at(t, 0)->build.commit) != 0)
            return true;
    return false;
}

static void trend_runs_name(const struct trend_runs *t, int every, struct tick_form form,
                            bool hashes, struct ticks *ticks)
{
    for (int i = 0; i < t->nr; i += every) {
        char text[TICK_SIZE], both[2 * TICK_SIZE];
        tick_text(trend_run_at(t, i), form, text);
        snprintf(both, sizeof(both), "%s%s%.*s", text, hashes ? " " : "", TICK_COMMIT,
                 hashes ? trend_run_at(t, i)->build.commit : "");
        ticks_add(ticks, i, both, false);
    }
}

/* Ticks of several days are days, however many runs one has; places tell runs apart. */
void trend_runs_ticks(const struct trend_runs *t, struct axis *axis)
{
    int every = 1 + (t->nr - 1) / TICKS_MAX, next = 1 + (t->nr - 1) / AXIS_PLACES_MOST;
    struct tick_form tick = trend_marks_form(t), place = tick;
    bool commits = commits_differ(t);

    if (tick.begin == TICK_TIME)
        trend_marks_refine(t, every, false, &tick);
    trend_marks_refine(t, next, commits, &place);
    trend_runs_name(t, every, tick, commits && t->nr <= TICKS_MAX && tick.begin != TICK_YEAR,
                    &axis->ticks);
    trend_runs_name(t, next, place, commits, &axis->places);
}

/* Of each kind, in the caption, and bytes of one. */
enum { EXPLAINED_MAX = 6, WORDS_MAX = 120 };

/* Where the texts of a row above the values stand, the lowest being 0: a datum's dy, pixels. The
 * axis makes room for them. */
static double trend_notes_row(int row)
{
    return -9 - 15.0 * row;
}

/* An upright line below the texts, which it would strike through. */
static void trend_marks_add_rule(struct layer *rules, double x, double low, double top)
{
    layer_add(rules, x, low);
    layer_add(rules, x, top);
    layer_add(rules, NAN, NAN);
}

/* ---- changes of the environment ---- */

/* The k-th change of epoch is marked by a letter. */
static bool trend_marks_add_epochs(const struct trend_runs *runs, struct panel *p, double top)
{
    struct layer *rules =
        panel_stroke(p, MARK_LINE, "environment changed", INK_PURPLE, DASH_LONG, 1.2);
    struct layer *letters = panel_layer(p, MARK_TEXT, NULL);
    char letter[2] = "A";

    letters->style.ink = INK_PURPLE;
    for (int i = 1; i < runs->nr; i++) {
        if (epoch_id(trend_run_at(runs, i)) == epoch_id(trend_run_at(runs, i - 1)))
            continue;
        trend_marks_add_rule(rules, i - 0.5, p->y.low, top);
        struct datum *d = layer_add_text(letters, i - 0.5, top, ANCHOR_LEFT, letter);
        d->dx = 5;
        d->dy = trend_notes_row(0);
        letter[0] = letter[0] < 'Z' ? (char)(letter[0] + 1) : '+';
    }
    return letters->nr > 0;
}

/* Cut where a character begins. */
static void trend_marks_add_words(const char *words, struct strbuf *out)
{
    size_t length = strlen(words), cut = length;

    if (length > WORDS_MAX)
        for (cut = WORDS_MAX; cut > 0 && ((unsigned char)words[cut] & 0xc0) == 0x80;)
            cut--;
    strbuf_add(out, words, cut);
    strbuf_adds(out, cut < length ? "…." : ".");
}

/* ---- annotations ---- */

struct placed {
    int position;
    const char *text;
};

struct placed_list {
    struct placed *items;
    size_t nr, capacity;
};

/* From the left to the right. */
static struct placed_list trend_marks_place_annotations(const struct trend_runs *runs,
                                                        const struct chart *chart)
{
    struct placed_list list = { .nr = 0 };

    for (int i = 0; chart->nr_annotations && i < runs->nr; i++)
        for (size_t k = 0; k < chart->nr_annotations; k++)
            if (chart->annotations[k].run == trend_run_at(runs, i)->id)
                *array_push(&list) = (struct placed) { i, chart->annotations[k].text };
    return list;
}

/* A number at its run; of several of one run the first. */
static bool trend_marks_add_annotations(const struct trend_runs *runs, const struct chart *chart,
                                        struct panel *p, double top, int row)
{
    struct placed_list list = trend_marks_place_annotations(runs, chart);

    if (list.nr == 0)
        return false;
    struct layer *rules = panel_stroke(p, MARK_LINE, "annotated", INK_GREEN, DASH_DOT, 1.2);
    struct layer *numbers = panel_layer(p, MARK_TEXT, NULL);
    numbers->style.ink = INK_GREEN;
    for (size_t i = 0; i < list.nr; i++) {
        char number[24];
        if (i > 0 && list.items[i].position == list.items[i - 1].position)
            continue;
        snprintf(number, sizeof(number), "%zu", i + 1);
        trend_marks_add_rule(rules, list.items[i].position, p->y.low, top);
        struct datum *d = layer_add_text(numbers, list.items[i].position, top, ANCHOR_LEFT, number);
        d->dx = 5;
        d->dy = trend_notes_row(row);
    }
    array_release(&list);
    return true;
}

int trend_notes_add(const struct trend_runs *runs, const struct chart *chart, struct panel *p,
                    double top)
{
    int rows = trend_marks_add_epochs(runs, p, top);

    return rows + trend_marks_add_annotations(runs, chart, p, top, rows);
}

void trend_notes_explain(const struct trend_runs *runs, const struct chart *chart,
                         struct strbuf *out)
{
    int nr = 0;
    for (int i = 1; i < runs->nr && nr < EXPLAINED_MAX; i++) {
        const struct run *from = trend_run_at(runs, i - 1), *to = trend_run_at(runs, i);
        struct strbuf words;
        if (epoch_id(from) == epoch_id(to))
            continue;
        strbuf_init(&words);
        epoch_difference(from, to, &words);
        strbuf_addf(out, " %c: ", 'A' + nr++);
        trend_marks_add_words(words.data, out);
        strbuf_release(&words);
    }
    struct placed_list list = trend_marks_place_annotations(runs, chart);
    for (size_t i = 0; i < list.nr && i < EXPLAINED_MAX; i++) {
        strbuf_addf(out, " %zu: ", i + 1);
        trend_marks_add_words(list.items[i].text, out);
    }
    array_release(&list);
}
