/* SPDX-License-Identifier: MIT */
/* History: one panel a benchmark, p50 over the runs with a p5 to p95 band, what got worse and still
 * is first. Runs without this benchmark leave a gap; runs from a dirty tree are hollow; a change of
 * the environment is a dashed line, a run that somebody wrote about has a number. */
#include "base/memory.h"
#include "base/text.h"
#include "chart/types/chart_types.h"
#include "chart/types/trend_marks.h"
#include "metrics/label.h"
#include "trend/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIMIT = 6,
    FEW = 4,       /* points: less is hardly a history */
    LIMIT_FEW = 2, /* panels where no series has more */
};

/* So many runs have points of their own; more are a thin line. */
enum { POINTS_MOST = 40 };

struct trend_chart {
    const struct chart *chart;
    const struct series_list *list;
    const struct trends *found;  /* one for each series of the list */
    struct series_list own_list; /* where the chart has none */
    struct trends own_found;
    struct trend_card *cards; /* of all that was found, ranked */
    size_t nr_cards;
    const struct series **shown;
    size_t nr, all;
    char common[512]; /* what the names of all that are shown share; "" of one alone */
    struct trend_runs runs;
    struct figure *f;
};

/* How far the last point lies from the median of those before. */
static double trend_last_move(const struct series *s)
{
    double *before = memory_zeroed(s->nr, sizeof(*before));

    for (size_t i = 0; i + 1 < s->nr; i++)
        before[i] = s->items[i].value;
    double median = stats_median(before, s->nr - 1);
    free(before);
    return fabs(log(s->items[s->nr - 1].value / median));
}

static const struct trend *found_in(const struct trend_chart *t, const struct series *s)
{
    return &t->found->items[s - t->list->items];
}

/* What is there for the worse, whether the code did it or the environment; then for the better;
 * then what does not count any more. */
static double trend_class_of(const struct trend_card *card)
{
    return card->rank == TREND_REGRESSION || card->rank == TREND_ENVIRONMENT ? 3
           : card->rank == TREND_IMPROVEMENT                                 ? 2
                                                                             : 1;
}

/* Series with cards come first: what stands and matters, and of that the largest. */
static double trend_interest(const struct trend_chart *t, const struct series *s)
{
    static const double apart = 1e6; /* logs of changes are small */
    double most = trend_last_move(s);

    for (size_t i = 0; i < t->nr_cards; i++)
        if (t->cards[i].trend == found_in(t, s))
            most = fmax(most, apart * trend_class_of(&t->cards[i]) + t->cards[i].weight);
    return most;
}

/* The most interesting ones, and those first. */
static void trend_keep_series(struct trend_chart *t, size_t limit)
{
    double *interests = memory_zeroed(t->nr + 1, sizeof(*interests));

    for (size_t i = 0; i < t->nr; i++) {
        const struct series *s = t->shown[i];
        double interest = trend_interest(t, s);
        size_t at = i;
        for (; at > 0 && interests[at - 1] < interest; at--) {
            t->shown[at] = t->shown[at - 1];
            interests[at] = interests[at - 1];
        }
        t->shown[at] = s;
        interests[at] = interest;
    }
    t->nr = t->nr < limit ? t->nr : limit;
    free(interests);
}

static bool trend_takes(const struct chart *chart, const struct series *s)
{
    const char *machine = chart->records->runs[chart->run].machine.class_name, *key = s->bench->key;

    return s->nr >= 2 && strcmp(s->machine, machine) == 0 && preset_takes(chart->preset, key) &&
           (!chart->only || string_list_has_sorted(chart->only, key));
}

static void trend_choose_series(struct trend_chart *t)
{
    size_t most = 0;

    t->shown = memory_zeroed(t->list->nr + 1, sizeof(*t->shown));
    for (size_t i = 0; i < t->list->nr; i++) {
        const struct series *s = &t->list->items[i];
        if (!trend_takes(t->chart, s))
            continue;
        t->shown[t->nr++] = s;
        most = s->nr > most ? s->nr : most;
    }
    t->all = t->nr;
    trend_keep_series(t, chart_limit(t->chart->preset, most < FEW ? LIMIT_FEW : LIMIT));
}

/* A gap where runs lie between that lack this benchmark; `last` is the run of the point before. */
static void break_at_gap(const struct trend_chart *t, int last, int run, struct layer *line,
                         struct layer *band)
{
    if (last < 0 || t->runs.merged[run] == t->runs.merged[last] + 1)
        return;
    layer_add(line, NAN, NAN);
    layer_add(band, NAN, NAN);
}

static void trend_point_is_about(const struct trend_chart *t, const struct series *s, size_t i)
{
    figure_about(t->f, s->bench->key, t->chart->records->runs[s->items[i].run].uuid);
}

static void trend_add_rolling(const struct trend_chart *t, struct panel *p, const struct series *s)
{
    size_t window = (size_t)t->chart->preset->rolling_window;
    char label[64];

    if (window < 2)
        return;
    double *values = memory_zeroed(2 * s->nr, sizeof(*values)), *medians = values + s->nr;
    for (size_t i = 0; i < s->nr; i++)
        values[i] = s->items[i].value;
    stats_rolling_median(values, s->nr, window, medians);
    snprintf(label, sizeof(label), "median of the last %zu", window);
    struct layer *line = panel_stroke(p, MARK_LINE, label, INK_VERMILLION, DASH_SHORT, 1.6);
    for (size_t i = 0; i < s->nr; i++) {
        trend_point_is_about(t, s, i);
        layer_add(line, t->runs.position[s->items[i].run], medians[i]);
    }
    free(values);
}

/* What a panel shows of the heights: all medians and levels, and air for the usual band. What is
 * wilder goes on beyond the frame. */
struct trend_heights {
    double low, high;
};

static struct trend_heights trend_heights_of(const struct trend_chart *t, const struct series *s)
{
    static const double air = 0.3, least = 0.03; /* of the span; of the height, where it is small */
    const struct trend *found = found_in(t, s);
    double *p5 = memory_zeroed(2 * s->nr, sizeof(*p5)), *p95 = p5 + s->nr;
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < s->nr; i++) {
        low = fmin(low, s->items[i].value);
        high = fmax(high, s->items[i].value);
        p5[i] = isfinite(s->items[i].p5) ? s->items[i].p5 : s->items[i].value;
        p95[i] = isfinite(s->items[i].p95) ? s->items[i].p95 : s->items[i].value;
    }
    for (size_t i = 0; i < found->nr; i++) {
        low = fmin(low, fmin(found->items[i].before, found->items[i].after));
        high = fmax(high, fmax(found->items[i].before, found->items[i].after));
    }
    low = fmin(low, stats_median(p5, s->nr));
    high = fmax(high, stats_median(p95, s->nr));
    free(p5);
    double pad = fmax(air * (high - low), least * high);
    bool log = t->chart->preset->y_scale == SCALE_LOG;
    return (struct trend_heights) { fmax(low - pad, log ? low / 2 : 0), high + pad };
}

static double trend_beyond(double value, double frame, bool above)
{
    if (above)
        return value > frame ? INFINITY : value;
    return value < frame ? -INFINITY : value;
}

static void trend_add_points(const struct trend_chart *t, struct panel *p, const struct series *s,
                             const struct trend_heights *h)
{
    bool few = s->nr <= POINTS_MOST;
    double size = s->nr <= POINTS_MOST / 2 ? 7 : few ? 5 : 1.2;
    struct layer *band = panel_layer(p, MARK_BAND, "p5 to p95");
    struct layer *line = panel_layer(p, MARK_LINE, "p50");
    struct layer *range = panel_layer(p, MARK_INTERVALS, NULL);
    trend_add_rolling(t, p, s);
    struct layer *clean = panel_points(p, "p50", INK_DARK, SHAPE_CIRCLE, size);
    struct layer *dirty = panel_points(p, "p50, dirty tree", INK_DARK, SHAPE_CIRCLE, few ? 7 : 5);
    struct layer *apart = panel_points(p, "p50, not merged", INK_DARK, SHAPE_DIAMOND, 12);
    int last = -1;

    dirty->style.hollow = apart->style.hollow = true;
    band->style.opacity = 0.16;
    band->style.ink = INK_GREY;
    line->style.ink = range->style.ink = INK_DARK;
    line->style.width = few ? 1.4 : 1.1;
    range->style.width = 1;
    for (size_t i = 0; i < s->nr; i++) {
        const struct series_point *point = &s->items[i];
        double x = t->runs.position[point->run];
        trend_point_is_about(t, s, i);
        if (trend_run_unmerged(&t->runs, point->run)) {
            layer_add_interval(range, x, fmax(point->p5, h->low), fmin(point->p95, h->high));
            layer_add(apart, x, point->value);
            continue;
        }
        break_at_gap(t, last, point->run, line, band);
        last = point->run;
        layer_add(line, x, point->value);
        layer_add_interval(band, x, trend_beyond(point->p5, h->low, false),
                           trend_beyond(point->p95, h->high, true));
        layer_add(point->dirty ? dirty : clean, x, point->value);
    }
}

static void trend_add_panel(const struct trend_chart *t, const struct series *s, const char *label)
{
    struct panel *p = figure_panel(t->f);
    struct trend_heights heights = trend_heights_of(t, s);
    bool log = t->chart->preset->y_scale == SCALE_LOG;

    figure_set(&p->title, "%s", label);
    axis_set(&p->x, NULL, QUANTITY_PLAIN, "", AXIS_LINEAR);
    axis_set(&p->y, "latency", QUANTITY_TIME, "", log ? AXIS_LOG : AXIS_LINEAR);
    p->x.low = -0.5;
    p->x.high = t->runs.nr - 0.5;
    p->y.low = heights.low;
    p->y.high = heights.high;
    p->plot_height = t->nr > 2 ? 210 : 360;
    trend_runs_ticks(&t->runs, &p->x);
    int rows = trend_notes_add(&t->runs, t->chart, p, heights.high);
    trend_add_points(t, p, s, &heights);
    figure_about(t->f, s->bench->key, NULL);
    trend_marks_add(p, t->found, found_in(t, s), &t->runs, heights.high, rows,
                    t->nr > 1 ? 480 : 1060);
    figure_about(t->f, NULL, NULL);
}

static bool shows_steps(const struct trend_chart *t)
{
    for (size_t i = 0; i < t->nr; i++)
        if (found_in(t, t->shown[i])->nr)
            return true;
    return false;
}

static bool shows_unmerged(const struct trend_chart *t)
{
    for (int i = 0; i < t->runs.nr; i++)
        if (trend_run_unmerged(&t->runs, t->runs.order[i]))
            return true;
    return false;
}

/* Ticks may be times of a day, or commits: the days stand here. */
static void trend_add_subtitle(struct trend_chart *t, const char *machine)
{
    char first[TEXT_UNIT_SIZE], last[TEXT_UNIT_SIZE];

    text_timestamp(trend_run_at(&t->runs, 0)->started_ms, first);
    text_timestamp(trend_run_at(&t->runs, t->runs.nr - 1)->started_ms, last);
    bool one_day = strncmp(first, last, strlen("2026-11-21")) == 0;
    figure_set(&t->f->subtitle, "%s%s%d runs  ·  %.10s%s%.10s  ·  %s", t->common,
               t->common[0] ? "  ·  " : "", t->runs.nr, first, one_day ? "" : " to ",
               one_day ? "" : last, machine);
}

/* "3 slower (worst +18.6 %), 1 faster", of all that the figure is about, drawn or not. */
static void trend_conclude(const struct trend_chart *t)
{
    const struct trend_card *worst = NULL;
    size_t worse = 0, better = 0, found = 0;
    char change[TEXT_UNIT_SIZE];
    struct strbuf words;

    for (size_t i = 0; i < t->nr_cards; i++) {
        const struct trend_card *card = &t->cards[i];
        if (!trend_takes(t->chart, card->trend->series))
            continue;
        bool stands = card->rank == TREND_REGRESSION || card->rank == TREND_ENVIRONMENT;
        worst = stands && (!worst || card->weight > worst->weight) ? card : worst;
        worse += stands;
        better += card->rank == TREND_IMPROVEMENT;
        found++;
    }
    strbuf_init(&words);
    if (worst)
        strbuf_addf(&words, "%zu slower (worst %s%s)", worse, worst->step ? "" : "drift, ",
                    text_percent(worst->change, change));
    if (better)
        strbuf_addf(&words, "%s%zu faster", worst ? ", " : "", better);
    if (!worst && !better)
        strbuf_adds(&words, found ? "what changed is accepted, or went back" : "no step, no drift");
    chart_conclude(t->f, t->chart, "%s", words.data);
    strbuf_release(&words);
}

static void trend_add_caption(const struct trend_chart *t)
{
    struct strbuf sb;

    strbuf_init(&sb);
    strbuf_adds(&sb,
                "Median of each run; band: p5 to p95 of its samples, beyond the frame where "
                "that is wilder. Axes need not begin at 0.");
    if (shows_steps(t))
        strbuf_adds(&sb,
                    " Upright line: a step, orange for the worse, blue for the better, grey "
                    "where it is accepted or went back, with the commits between which it "
                    "came; its ground is the 95 % interval of its place.");
    if (shows_unmerged(t))
        strbuf_addf(&sb, " Diamonds: runs of a branch that is not %s.", t->runs.branch);
    if (t->all > t->nr)
        strbuf_addf(&sb,
                    " Showing %zu of %zu: what got worse and is still there comes first, then "
                    "other steps and drifts, then the largest last moves.",
                    t->nr, t->all);
    trend_notes_explain(&t->runs, t->chart, &sb);
    chart_take(&t->f->caption, &sb);
}

/* `name` is what the first panel is called. */
static void trend_add_words(struct trend_chart *t, const char *name)
{
    const struct series *most = t->shown[0];
    const struct run *run = &t->chart->records->runs[t->chart->run];
    char first[QUANTITY_TEXT_SIZE], last[QUANTITY_TEXT_SIZE];

    trend_conclude(t);
    trend_add_caption(t);
    trend_add_subtitle(t, run->machine.cpu);
    quantity_text(QUANTITY_TIME, "", most->items[0].value, first);
    quantity_text(QUANTITY_TIME, "", most->items[most->nr - 1].value, last);
    figure_set(&t->f->alt, "Latency of %zu benchmark%s over %d runs; %s went from %s to %s.", t->nr,
               t->nr == 1 ? "" : "s", t->runs.nr, name, first, last);
}

static void trend_draw(struct trend_chart *t)
{
    const struct benchmark_name **names = memory_zeroed(t->nr, sizeof(*names));

    for (size_t i = 0; i < t->nr; i++)
        names[i] = t->shown[i]->bench;
    char **labels = labels_create(names, t->nr);
    if (t->nr > 1)
        labels_common(names, t->nr, t->common, sizeof(t->common));
    t->f->columns = t->nr > 1 ? 2 : 1;
    for (size_t i = 0; i < t->nr; i++)
        trend_add_panel(t, t->shown[i], t->nr == 1 ? t->shown[i]->bench->key : labels[i]);
    trend_add_words(t, t->nr == 1 ? t->shown[0]->bench->key : labels[0]);
    labels_free(labels, t->nr);
    free(names);
}

static void trend_find_series(struct trend_chart *t)
{
    t->list = t->chart->series ? t->chart->series : &t->own_list;
    t->found = t->chart->series ? t->chart->trends : &t->own_found;
    if (t->chart->series)
        return;
    series_list_init(&t->own_list, t->chart->records);
    /* As `harness trend` judges them: all series of the history are one family. */
    struct trend_settings settings = {
        .metric = trend_metric("p50", NULL),
        .fdr = TREND_FDR,
        .accepted = t->chart->accepted,
        .nr_accepted = t->chart->nr_accepted,
    };
    struct error err;
    /* It cannot fail on positive numbers; if it does, nothing is marked. */
    if (trends_find(t->list, t->chart->records, &settings, &t->own_found, &err))
        for (size_t i = 0; i < t->own_found.nr; i++)
            t->own_found.items[i].nr = 0; /* and t->own_found.steps counts none yet */
}

void build_trend(const struct chart *chart, struct figure *f)
{
    struct trend_chart t = { .chart = chart, .f = f };

    trend_find_series(&t);
    t.cards = trends_cards(t.found, &t.nr_cards);
    trend_runs_init(&t.runs, chart->records, chart->run);
    trend_choose_series(&t);
    if (t.nr)
        trend_draw(&t);
    else
        chart_absent(f,
                     "no benchmark has times from two or more runs of one machine; the "
                     "history given has %d run%s of this one",
                     t.runs.nr, t.runs.nr == 1 ? "" : "s");
    trends_release(&t.own_found);
    series_list_release(&t.own_list);
    free(t.cards);
    free(t.shown);
    trend_runs_release(&t.runs);
}
