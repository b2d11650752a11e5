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

enum tick_kind { TICK_COMMIT, TICK_DAY, TICK_MINUTE, TICK_SECOND };

static void tick_text(const struct run *run, enum tick_kind kind, char text[16])
{
    char when[TEXT_UNIT_SIZE];

    text_timestamp(run->started_ms, when); /* "2026-11-21 09:54:00Z" */
    if (kind == TICK_COMMIT && run->build.commit[0])
        snprintf(text, 16, "%.7s", run->build.commit);
    else
        snprintf(text, 16, "%.*s", kind == TICK_SECOND ? 8 : 5, when + (kind > TICK_DAY ? 11 : 5));
}

static bool differs(const struct trend_runs *t, enum tick_kind kind)
{
    char first[16] = "", text[16] = "";

    if (t->nr > 0)
        tick_text(trend_run_at(t, 0), kind, first);
    for (int i = 1; i < t->nr; i++) {
        tick_text(trend_run_at(t, i), kind, text);
        if (strcmp(text, first) != 0)
            return true;
    }
    return false;
}

/* Two times of day that read alike tell nothing. */
static bool trend_marks_repeats(const struct trend_runs *t, enum tick_kind kind, int every)
{
    char before[16], text[16];

    for (int i = every; i < t->nr; i += every) {
        tick_text(trend_run_at(t, i - every), kind, before);
        tick_text(trend_run_at(t, i), kind, text);
        if (strcmp(before, text) == 0)
            return true;
    }
    return false;
}

void trend_runs_ticks(const struct trend_runs *t, struct ticks *ticks)
{
    int every = 1 + (t->nr - 1) / TICKS_MAX;
    enum tick_kind kind = TICK_COMMIT;

    while (kind < TICK_MINUTE && !differs(t, kind))
        kind++;
    if (kind == TICK_MINUTE && trend_marks_repeats(t, kind, every))
        kind = TICK_SECOND;
    for (int i = 0; i < t->nr; i += every) {
        char text[16];
        tick_text(trend_run_at(t, i), kind, text);
        ticks_add(ticks, i, text, false);
    }
}

/* Of each kind, in the caption, and bytes of one. */
enum { EXPLAINED_MAX = 6, WORDS_MAX = 120 };

/* Where the texts of a row above the values stand, the lowest being 0: a datum's dy, pixels. The
 * axis makes room for them. */
static double trend_notes_row(int row)
{
    return -9 - 15.0 * row;
}

/* ---- changes of the surroundings ---- */

/* The k-th change of epoch is marked by a letter. */
static bool trend_marks_add_epochs(const struct trend_runs *runs, struct panel *p, double top)
{
    struct layer *rules =
        panel_stroke(p, MARK_RULES, "surroundings changed", INK_PURPLE, DASH_LONG, 1.2);
    struct layer *letters = panel_layer(p, MARK_TEXT, NULL);
    char letter[2] = "A";

    letters->style.ink = INK_PURPLE;
    for (int i = 1; i < runs->nr; i++) {
        if (epoch_id(trend_run_at(runs, i)) == epoch_id(trend_run_at(runs, i - 1)))
            continue;
        layer_add(rules, i - 0.5, NAN);
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
static struct placed_list trend_marks_place_remarks(const struct trend_runs *runs,
                                                    const struct chart *chart)
{
    struct placed_list list = { .nr = 0 };

    for (int i = 0; chart->nr_remarks && i < runs->nr; i++)
        for (size_t k = 0; k < chart->nr_remarks; k++)
            if (chart->remarks[k].run == trend_run_at(runs, i)->id)
                *array_push(&list) = (struct placed) { i, chart->remarks[k].text };
    return list;
}

/* A number at its run; of several of one run the first. */
static bool trend_marks_add_remarks(const struct trend_runs *runs, const struct chart *chart,
                                    struct panel *p, double top, int row)
{
    struct placed_list list = trend_marks_place_remarks(runs, chart);

    if (list.nr == 0)
        return false;
    struct layer *rules = panel_stroke(p, MARK_RULES, "annotated", INK_GREEN, DASH_DOT, 1.2);
    struct layer *numbers = panel_layer(p, MARK_TEXT, NULL);
    numbers->style.ink = INK_GREEN;
    for (size_t i = 0; i < list.nr; i++) {
        char number[24];
        if (i > 0 && list.items[i].position == list.items[i - 1].position)
            continue;
        snprintf(number, sizeof(number), "%zu", i + 1);
        layer_add(rules, list.items[i].position, NAN);
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

    return rows + trend_marks_add_remarks(runs, chart, p, top, rows);
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
    struct placed_list list = trend_marks_place_remarks(runs, chart);
    for (size_t i = 0; i < list.nr && i < EXPLAINED_MAX; i++) {
        strbuf_addf(out, " %zu: ", i + 1);
        trend_marks_add_words(list.items[i].text, out);
    }
    array_release(&list);
}

enum { TEXT_SIZE = 12, PANEL_WIDTH = 480 }; /* pixels; of the narrower of two panels, about */

static double trend_marks_place(const struct trend *trend, const int *position, size_t point)
{
    return position[trend->series->items[point].run];
}

/* Between the last run of the old level and the first one of the new. */
static double border(const struct trend *trend, const int *position, size_t point)
{
    return (trend_marks_place(trend, position, point - 1) +
            trend_marks_place(trend, position, point)) /
           2;
}

/* In a row above the values, beside the line: on the side of the lower level there is most air,
 * unless it has no room for the text. `left_share`, `right_share`: shares of the panel there. */
static void trend_marks_add_label(struct layer *texts, const struct trend_step *step, double x,
                                  double y, int row, double left_share, double right_share)
{
    char text[TEXT_UNIT_SIZE + 64], change[TEXT_UNIT_SIZE];

    text_percent(step->change, change);
    if (step->accepted)
        snprintf(text, sizeof(text), "%s, accepted: %.36s", change, step->accepted->reason);
    else
        snprintf(text, sizeof(text), "%s%s", change, step->epoch ? ", surroundings" : "");
    double need = (text_width(text, TEXT_SIZE, false) + 10) / PANEL_WIDTH;
    bool rises = step->after > step->before;
    bool left = rises ? left_share >= need || left_share > right_share
                      : right_share < need && left_share > right_share;
    struct datum *d = layer_add_text(texts, x, y, left ? ANCHOR_RIGHT : ANCHOR_LEFT, text);
    d->dx = left ? -5 : 5;
    d->dy = trend_notes_row(row);
}

static void trend_marks_add_level(struct layer *levels, double from, double to, double level)
{
    layer_add(levels, from, level);
    layer_add(levels, to, level);
    layer_add(levels, NAN, NAN);
}

/* Where the step may have come: after the run before `low`, by `high`. */
static void trend_marks_add_window(struct layer *window, const struct trend *trend,
                                   const int *position, const struct trend_step *step)
{
    size_t from = step->low > 0 ? step->low - 1 : 0;

    layer_add_interval(window, trend_marks_place(trend, position, from), -INFINITY, INFINITY);
    layer_add_interval(window, trend_marks_place(trend, position, step->high), -INFINITY, INFINITY);
    layer_add(window, NAN, NAN);
}

static void trend_marks_add_steps(struct panel *p, const struct trend *trend, const int *position,
                                  double top, int row)
{
    struct layer *window = panel_layer(p, MARK_BAND, "where the step may be");
    struct layer *rules = panel_layer(p, MARK_RULES, "step");
    struct layer *levels = panel_stroke(p, MARK_LINE, "level", INK_DARK, DASH_SHORT, 1.6);
    struct layer *texts = panel_layer(p, MARK_TEXT, NULL);
    double from = trend_marks_place(trend, position, 0) - 0.5;
    double first = from, last = trend_marks_place(trend, position, trend->series->nr - 1) + 0.5;

    window->style.ink = INK_GREY;
    window->style.opacity = 0.14;
    rules->style.ink = levels->style.ink = texts->style.ink = INK_DARK;
    rules->style.width = 1.6;
    for (size_t i = 0; i < trend->nr; i++) {
        const struct trend_step *step = &trend->items[i];
        double x = border(trend, position, step->index);
        trend_marks_add_level(levels, from, x, step->before);
        if (i + 1 == trend->nr)
            trend_marks_add_level(levels, x, last, step->after);
        trend_marks_add_window(window, trend, position, step);
        layer_add(rules, x, NAN);
        trend_marks_add_label(texts, step, x, top, row, (x - first) / (last - first),
                              (last - x) / (last - first));
        from = x;
    }
}

/* Its size stands at the end that the line is further from. */
static void trend_marks_add_drift_words(struct panel *p, const struct trend *trend,
                                        const int *position, double top, int row)
{
    struct layer *texts = panel_layer(p, MARK_TEXT, NULL);
    char label[TEXT_UNIT_SIZE + 64], change[TEXT_UNIT_SIZE];
    bool rises = trend->drift.total > 0;
    double x = trend_marks_place(trend, position, rises ? 0 : trend->series->nr - 1);

    snprintf(label, sizeof(label), "drift, %s in all", text_percent(trend->drift.total, change));
    layer_add_text(texts, x, top, rises ? ANCHOR_LEFT : ANCHOR_RIGHT, label)->dy =
        trend_notes_row(row);
}

void trend_marks_add(struct panel *p, const struct trend *trend, const int *position, double top,
                     int rows)
{
    if (trend->nr)
        trend_marks_add_steps(p, trend, position, top, rows);
    if (trend->drifts) {
        struct layer *line = panel_stroke(p, MARK_LINE, "drift", INK_DARK, DASH_DOT, 1.6);
        for (size_t i = 0, step = 0; i < trend->series->nr; i++) {
            bool new_level = step < trend->nr && trend->items[step].index == i;
            step += new_level;
            if (new_level)
                layer_add(line, NAN, NAN);
            layer_add(line, trend_marks_place(trend, position, i), trend_drift_at(trend, i));
        }
        trend_marks_add_drift_words(p, trend, position, top, rows + (trend->nr > 0));
    }
}
