/* SPDX-License-Identifier: MIT */
/* The overview as one picture: the answer as its title, the change that matters most with its runs,
 * a row for each operation and model, and what the machine was like. */
#include "base/memory.h"
#include "base/text.h"
#include "chart/types/chart_types.h"
#include "overview/overview.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OVERVIEW_ROW = 21, OVERVIEW_PLOT = 108, OVERVIEW_TICKS = 6 };

/* Where the columns of the scorecard end, or begin, as shares of its width. */
static const double best_at = 0, roof_from = 0.27, roof_to = 0.5, roof_at = 0.515, vendor_at = 0.72,
                    past_at = 1;

/* ---- the change ---- */

static enum ink overview_change_ink(const struct overview_change *change)
{
    return change->worse ? INK_VERMILLION : INK_BLUE;
}

static void overview_add_line(const struct overview_change *change, struct panel *p)
{
    struct layer *line = panel_stroke(p, MARK_LINE, NULL, INK_GREY, DASH_SOLID, 1.5);
    struct layer *before = panel_points(p, NULL, INK_GREY, SHAPE_CIRCLE, 7);
    struct layer *after = panel_points(p, NULL, overview_change_ink(change), SHAPE_CIRCLE, 7);
    struct layer *head = panel_points(p, NULL, overview_change_ink(change),
                                      change->worse ? SHAPE_TRIANGLE_UP : SHAPE_TRIANGLE_DOWN, 13);

    if (change->nr_points > 40)
        before->style.size = after->style.size = 4;
    for (size_t i = 0; i < change->nr_points; i++) {
        const struct overview_point *point = &change->points[i];
        bool is_head = point->head && !change->launches;
        layer_add(is_head ? head : point->after ? after : before, (double)i, point->value);
        if (!change->launches)
            layer_add(line, (double)i, point->value);
    }
}

/* Dotted: the levels; upright: where the new one begins. */
static void overview_add_levels(const struct overview_change *change, struct panel *p)
{
    struct layer *levels = panel_stroke(p, MARK_LINE, NULL, INK_DARK, DASH_DOT, 1.5);
    struct layer *step =
        panel_stroke(p, MARK_RULES, NULL, overview_change_ink(change), DASH_SOLID, 1.5);
    double last = (double)change->nr_points - 0.5, at = (double)change->step - 0.5;

    if (change->source == OVERVIEW_DRIFT || change->step == 0) {
        layer_add(levels, -0.5, change->before);
        layer_add(levels, last, change->source == OVERVIEW_DRIFT ? change->after : change->before);
        return;
    }
    layer_add(levels, -0.5, change->before);
    layer_add(levels, at, change->before);
    layer_add(levels, NAN, NAN);
    layer_add(levels, at, change->after);
    layer_add(levels, last, change->after);
    layer_add(step, at, NAN);
}

/* Days, or the sides where points are launches: `most` names at most. */
static void overview_name_points(const struct overview_change *change, size_t most,
                                 struct ticks *ticks)
{
    size_t every = 1 + (change->nr_points - 1) / most;
    char text[TEXT_UNIT_SIZE + 16];

    if (change->launches) {
        ticks_add(ticks, ((double)change->step - 1) / 2, "launches of the base", false);
        ticks_add(ticks, (double)(change->step + change->nr_points - 1) / 2, "launches of the head",
                  false);
        return;
    }
    for (size_t i = 0; i < change->nr_points; i += every) {
        const struct run *run = change->points[i].run;
        char day[TEXT_UNIT_SIZE];
        snprintf(text, sizeof(text), "%.10s %.7s", text_timestamp(run->started_ms, day),
                 run->build.commit);
        ticks_add(ticks, (double)i, text, false);
    }
}

static void overview_add_change(const struct overview_change *change, struct figure *f)
{
    struct panel *p = figure_panel(f);
    struct chart_metric metric = chart_metric_of(change->metric);

    figure_set(&p->title, "%s %s%s%s", change->worse ? "▲" : "▼", change->title,
               change->since[0] ? " " : "", change->since);
    axis_set(&p->x, NULL, QUANTITY_PLAIN, "", AXIS_LINEAR);
    chart_axis(&p->y, &metric, change->metric->kind == METRIC_LATENCY ? "latency" : NULL,
               AXIS_LINEAR);
    figure_set(&p->x.label, "%s", change->values);
    p->x.low = -0.5;
    p->x.high = (double)change->nr_points - 0.5;
    p->plot_height = OVERVIEW_PLOT;
    overview_name_points(change, OVERVIEW_TICKS, &p->x.ticks);
    overview_name_points(change, AXIS_PLACES_MOST, &p->x.places);
    overview_add_levels(change, p);
    overview_add_line(change, p);
}

/* ---- the scorecard ---- */

struct overview_card {
    const struct overview *overview;
    struct panel *p;
    struct layer *plain, *bad, *good, *heads;
};

/* Without measured roofs there is no column of dashes. */
static bool overview_has_roofs(const struct overview *overview)
{
    for (size_t i = 0; i < overview->nr_scores; i++)
        if (!isnan(overview->scores[i].roof))
            return true;
    return false;
}

static void overview_add_heads(struct overview_card *card)
{
    char past[64] = "since then", day[TEXT_UNIT_SIZE], library[NAME_SIZE + 16];
    const char *vendor = overview_vendor(card->overview);
    int64_t when = overview_past_ms(card->overview);

    if (when)
        snprintf(past, sizeof(past), "since %.10s", text_timestamp(when, day));
    else
        snprintf(past, sizeof(past), "last %d days", OVERVIEW_DAYS);
    layer_add_text(card->heads, best_at, -1, ANCHOR_LEFT, "fastest of ours");
    if (overview_has_roofs(card->overview))
        layer_add_text(card->heads, roof_from, -1, ANCHOR_LEFT, "share of the roof");
    snprintf(library, sizeof(library), "times %s", *vendor ? vendor : "the library");
    layer_add_text(card->heads, vendor_at, -1, ANCHOR_RIGHT, library);
    layer_add_text(card->heads, past_at, -1, ANCHOR_RIGHT, past);
}

static void overview_add_roofs(const struct overview_card *card)
{
    struct layer *whole = panel_bars(card->p, NULL, INK_LIGHT);
    struct layer *bars = panel_bars(card->p, NULL, INK_BLUE);

    whole->thickness = bars->thickness = 0.5;
    for (size_t i = 0; i < card->overview->nr_scores; i++) {
        double roof = card->overview->scores[i].roof;
        if (isnan(roof))
            continue;
        layer_add(whole, roof_to, (double)i)->low = roof_from;
        layer_add(bars, roof_from + fmin(roof, 1) * (roof_to - roof_from), (double)i)->low =
            roof_from;
    }
}

static void overview_add_score(const struct overview_card *card, size_t i)
{
    const struct overview_score *score = &card->overview->scores[i];
    enum overview_tone tone = overview_past_tone(score);
    char text[QUANTITY_TEXT_SIZE], words[2 * NAME_SIZE];
    double y = (double)i;

    layer_add_text(card->plain, best_at, y, ANCHOR_LEFT,
                   overview_size_text(score, words, sizeof(words)));
    if (overview_has_roofs(card->overview))
        layer_add_text(card->plain, isnan(score->roof) ? roof_from : roof_at, y, ANCHOR_LEFT,
                       overview_roof_text(score, text));
    bool named = score->vendor_sizes && !*overview_vendor(card->overview);
    snprintf(words, sizeof(words), "%s%s%s", overview_vendor_text(score, text), named ? " " : "",
             named ? score->vendor_name : "");
    layer_add_text(score->vendor < 1 ? card->bad : card->plain, vendor_at, y, ANCHOR_RIGHT, words);
    layer_add_text(tone == OVERVIEW_BAD    ? card->bad
                   : tone == OVERVIEW_GOOD ? card->good
                                           : card->plain,
                   past_at, y, ANCHOR_RIGHT, overview_past_text(score, text));
}

static void overview_add_scorecard(const struct overview *overview, struct figure *f)
{
    const char **names = memory_zeroed(overview->nr_scores + 1, sizeof(*names));

    for (size_t i = 0; i < overview->nr_scores; i++)
        names[i] = overview->scores[i].name;
    struct overview_card card = {
        .overview = overview,
        .p = figure_table(f, "how good", names, overview->nr_scores, OVERVIEW_ROW),
    };
    overview_add_roofs(&card);
    card.heads = panel_texts(card.p, INK_DARK, true);
    card.plain = panel_texts(card.p, INK_DARK, false);
    card.bad = panel_texts(card.p, INK_VERMILLION, true);
    card.good = panel_texts(card.p, INK_BLUE, true);
    overview_add_heads(&card);
    for (size_t i = 0; i < overview->nr_scores; i++)
        overview_add_score(&card, i);
    free(names);
}

/* ---- words ---- */

static void overview_add_caption(const struct overview *overview, struct figure *f)
{
    struct strbuf sb;

    strbuf_init(&sb);
    if (overview->past[0] && !overview->slower)
        strbuf_addf(&sb, "%s ", overview->past);
    strbuf_adds(&sb, "The machine: ");
    for (size_t i = 0; i < overview->nr_facts; i++)
        strbuf_addf(&sb, "%s%s %s%s", i ? "; " : "", overview->facts[i].name,
                    overview->facts[i].text,
                    overview->facts[i].tone >= OVERVIEW_OPEN ? " (!)" : "");
    strbuf_adds(&sb, overview->nr_facts ? ". " : "nothing is known of it. ");
    strbuf_addf(&sb,
                "Scores are geometric means over sizes, each of the fastest variant of ours%s.",
                overview->scores_left_out ? "; those that take least time are not shown" : "");
    chart_take(&f->caption, &sb);
}

static void overview_add_subtitle(const struct overview *overview, const struct chart *chart,
                                  struct figure *f)
{
    const struct run *run = &chart->records->runs[chart->run];
    char when[TEXT_UNIT_SIZE];

    figure_set(&f->subtitle, "%s%s%s  ·  commit %.9s%s of %.10s", overview->counts,
               overview->counts[0] ? "  ·  " : "",
               run->machine.gpu[0] ? run->machine.gpu : run->machine.cpu,
               run->build.commit[0] ? run->build.commit : "?", run->build.dirty ? "+" : "",
               text_timestamp(run->started_ms, when));
    if (overview->slower)
        figure_set(&f->banner, "%s", overview->past);
}

void build_overview(const struct chart *chart, struct figure *f)
{
    const struct overview_input input = {
        .records = chart->records,
        .run = chart->run,
        .head = chart->compared_head,
        .comparison = chart->comparison,
        .base = chart->base_run,
        .base_label = chart->base_label,
        .trends = chart->past,
        .models = chart->models,
        .nr_models = chart->nr_models,
    };
    struct overview overview;

    overview_make(&input, &overview);
    figure_set(&f->title, "%s %s", overview_sign(overview.tone), overview.verdict);
    overview_add_subtitle(&overview, chart, f);
    f->columns = 1;
    if (overview.change.found && overview.change.nr_points)
        overview_add_change(&overview.change, f);
    if (overview.nr_scores)
        overview_add_scorecard(&overview, f);
    if (f->nr_panels == 0)
        chart_absent(f, "there is no time to show");
    overview_add_caption(&overview, f);
    figure_set(&f->alt, "%s %s", overview.verdict,
               overview.change.found ? overview.change.title : overview.counts);
    overview_release(&overview);
}
