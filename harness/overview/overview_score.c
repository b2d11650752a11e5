/* SPDX-License-Identifier: MIT */
/* How good is it: operations and models against the roof, the library, and what they were. */
#include "base/array.h"
#include "base/text.h"
#include "metrics/epoch.h"
#include "metrics/roofline.h"
#include "overview/overview_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCORE_TIMES   3.0  /* from here on a ratio is told as one, not in percent */
#define SCORE_MATTERS 0.03 /* of a ratio to the past: less is "the same" */

enum { SCORE_STEADY = 6, SCORE_FIRST = 3 };
static const int64_t score_day_ms = 86400000;

/* Sizes of one score; of one size the best of our own and of the library. */
struct score_making {
    const struct overview_making *m;
    const struct run_row **rows; /* with a time; sorted by score, then size */
    size_t nr;
    uint64_t epoch;         /* of the head */
    unsigned char *decided; /* of each row of m->rows: bits of enum score_way */
};

/* Ways in which something is known to have gone. */
enum score_way { SCORE_WORSE = 1 << 0, SCORE_BETTER = 1 << 1 };

/* Sums of logs, for geometric means. */
struct score_sums {
    double roof, vendor, past;
    size_t roofs;
};

static int score_order_group(const struct benchmark_name *a, const struct benchmark_name *b)
{
    int order = strcmp(a->kernel, b->kernel);

    if (!order)
        order = strcmp(a->math, b->math);
    if (!order)
        order = strcmp(a->device, b->device);
    if (!order) /* the kernels' own inputs last, see score_is_second() */
        order = strcmp(b->fill, a->fill);
    return order ? order : strcmp(a->cache, b->cache);
}

static int score_order_rows(const void *x, const void *y)
{
    const struct run_row *const *a = x, *const *b = y;
    int order = score_order_group((*a)->bench, (*b)->bench);

    return order ? order : benchmark_order((*a)->bench, (*b)->bench);
}

static double score_median(const struct run_row *row)
{
    return metric_get("p50", &row->summary, NULL).value;
}

/* As the points of a series are made: the median of the launches. */
static double score_point(const struct run_row *row)
{
    double *medians = memory_zeroed(row->summary.nr_launches + 1, sizeof(*medians));

    memcpy(medians, row->summary.medians, row->summary.nr_launches * sizeof(*medians));
    double median = stats_median(medians, row->summary.nr_launches);
    free(medians);
    return median;
}

static bool score_same_dims(const struct benchmark_name *a, const struct benchmark_name *b)
{
    if (a->nr_dims != b->nr_dims)
        return false;
    for (int i = 0; i < a->nr_dims; i++)
        if (a->dims[i].value != b->dims[i].value)
            return false;
    return true;
}

/* The oldest value of the last days that was measured in the environment of the head: of many
 * points the median of the first ones, which one wild run does not move. NaN: there is none. */
static double score_past_of(const struct score_making *s, const struct run_row *row, int64_t *when)
{
    const struct trend *trend = overview_trend_of(s->m, row->bench->key);
    int64_t now = s->m->head_began_ms, begin = now - OVERVIEW_DAYS * score_day_ms;
    double first[SCORE_FIRST];
    size_t nr = 0, all = 0;

    for (size_t i = 0; trend && i < trend->series->nr; i++) {
        const struct series_point *point = &trend->series->items[i];
        if (point->time_ms < begin || point->time_ms >= now || point->epoch != s->epoch)
            continue;
        if (nr == 0)
            *when = point->time_ms;
        if (nr < SCORE_FIRST)
            first[nr++] = point->value;
        all++;
    }
    if (nr == 0)
        return NAN;
    return all < SCORE_STEADY ? first[0] : stats_median(first, nr);
}

static void score_decide(const struct score_making *s, const char *key, bool worse)
{
    const struct run_row *row = overview_row_of(s->m, key);

    if (row)
        s->decided[row - s->m->rows.items] |= worse ? SCORE_WORSE : SCORE_BETTER;
}

/* Scores are made of medians: more memory makes none of them slower. */
static bool score_tells_of(const struct metric *metric)
{
    return metric->kind == METRIC_RATE || strcmp(metric->id, COMPARE_USUAL_METRIC) == 0;
}

/* What the comparison calls slower or faster, and the steps and drifts that stand; not what
 * somebody accepted. */
static void score_decide_all(const struct score_making *s)
{
    const struct comparison *c = s->m->input->comparison;

    for (size_t i = 0; c && i < c->nr; i++) {
        const struct compare_row *row = &c->rows[i];
        if (!row->accepted && score_tells_of(row->item->metric) &&
            (row->verdict == VERDICT_REGRESSED || row->verdict == VERDICT_IMPROVED))
            score_decide(s, row->item->bench->key, row->verdict == VERDICT_REGRESSED);
    }
    for (size_t i = 0; i < s->m->nr_trends; i++) {
        const struct trend *trend = s->m->trends[i];
        const char *key = trend->series->bench->key;
        for (size_t k = 0; k < trend->nr; k++)
            if (!trend->items[k].back && !trend->items[k].accepted)
                score_decide(s, key, trend->items[k].worse);
        if (trend->drifts && !trend->drift.accepted)
            score_decide(s, key, trend->drift.worse);
    }
}

static void score_add_roof(const struct score_making *s, const struct run_row *row,
                           struct overview_score *score, struct score_sums *sums)
{
    struct binding_roof roof;

    binding_roof_of(row->summary.m, score_median(row), &s->m->rows.context, &roof);
    if (!(roof.fraction > 0) || roof.bound == BOUND_LATENCY)
        return;
    sums->roof += log(roof.fraction);
    score->roof_low = sums->roofs ? fmin(score->roof_low, roof.fraction) : roof.fraction;
    score->roof_high = sums->roofs ? fmax(score->roof_high, roof.fraction) : roof.fraction;
    sums->roofs++;
}

static void score_add_past(const struct score_making *s, const struct run_row *row,
                           struct overview_score *score, struct score_sums *sums)
{
    int64_t when = 0;
    double past = score_past_of(s, row, &when);

    if (!(past > 0))
        return;
    sums->past += log(score_point(row) / past);
    score->past_worse |= s->decided[row - s->m->rows.items] & SCORE_WORSE;
    score->past_better |= s->decided[row - s->m->rows.items] & SCORE_BETTER;
    score->past_ms = score->past_sizes++ && score->past_ms < when ? score->past_ms : when;
}

/* One size: `nr` variants of it. */
static void score_add_size(const struct score_making *s, const struct run_row *const *rows,
                           size_t nr, struct overview_score *score, struct score_sums *sums)
{
    const struct run_row *own = NULL, *vendor = NULL;

    for (size_t i = 0; i < nr; i++) {
        const struct run_row **best = rows[i]->summary.m->vendor ? &vendor : &own;
        if (!*best || score_median(rows[i]) < score_median(*best))
            *best = rows[i];
    }
    if (own && vendor) {
        sums->vendor += log(score_median(vendor) / score_median(own));
        snprintf(score->vendor_name, NAME_SIZE, "%s", vendor->bench->variant);
        score->vendor_sizes++;
    }
    const struct run_row *shown = own ? own : vendor;
    if (score->sizes++ == 0)
        snprintf(score->best, NAME_SIZE, "%s", shown->bench->variant);
    else if (strcmp(score->best, shown->bench->variant) != 0)
        score->best[0] = '\0';
    score->median_ns = score->sizes == 1 ? score_median(shown) : NAN;
    score->weight_ns += score_median(shown);
    score_add_roof(s, shown, score, sums);
    score_add_past(s, shown, score, sums);
}

static size_t score_group_length(const struct score_making *s, size_t at)
{
    size_t nr = 1;

    while (at + nr < s->nr && score_order_group(s->rows[at]->bench, s->rows[at + nr]->bench) == 0)
        nr++;
    return nr;
}

static double score_mean(double sum, size_t nr)
{
    return nr ? exp(sum / (double)nr) : NAN;
}

static const struct plot_model *score_model(const struct overview_input *in, const char *kernel)
{
    for (size_t i = 0; i < in->nr_models; i++)
        for (size_t k = 0; k < PLOT_MODEL_KERNELS; k++)
            if (in->models[i].kernels[k] && strcmp(in->models[i].kernels[k], kernel) == 0)
                return &in->models[i];
    return NULL;
}

/* "gemm/linear", and what tells it from its neighbour of that name. */
static char *score_name(const struct benchmark_name *bench, const struct benchmark_name *other)
{
    struct strbuf name;

    strbuf_init(&name);
    strbuf_adds(&name, bench->kernel);
    if (other && strcmp(bench->math, other->math) != 0)
        strbuf_addf(&name, " %s", bench->math);
    if (other && strcmp(bench->device, other->device) != 0)
        strbuf_addf(&name, " %s", bench->device);
    return strbuf_detach(&name);
}

static const struct benchmark_name *score_neighbour(const struct score_making *s, size_t at,
                                                    size_t nr)
{
    const struct benchmark_name *bench = s->rows[at]->bench;
    const struct benchmark_name *before = at ? s->rows[at - 1]->bench : NULL;
    const struct benchmark_name *after = at + nr < s->nr ? s->rows[at + nr]->bench : NULL;

    if (before && strcmp(before->kernel, bench->kernel) == 0)
        return before;
    return after && strcmp(after->kernel, bench->kernel) == 0 ? after : NULL;
}

/* Cold results are told where there are no warm ones, those of other inputs where there are none of
 * the kernels' own. */
static bool score_is_second(const struct score_making *s, size_t at, size_t nr)
{
    const struct benchmark_name *bench = s->rows[at]->bench;
    const struct benchmark_name *next = at + nr < s->nr ? s->rows[at + nr]->bench : NULL;

    return next && strcmp(bench->kernel, next->kernel) == 0 &&
           strcmp(bench->math, next->math) == 0 && strcmp(bench->device, next->device) == 0;
}

static void score_make(const struct score_making *s, size_t at, size_t nr,
                       struct overview_score *score)
{
    struct score_sums sums = { 0 };

    *score = (struct overview_score) {
        .name = score_name(s->rows[at]->bench, score_neighbour(s, at, nr)),
        .kernel = s->rows[at]->bench->kernel,
        .model = score_model(s->m->input, s->rows[at]->bench->kernel),
        .roof_low = NAN,
        .roof_high = NAN,
    };
    for (size_t i = 0; i < nr;) {
        size_t same = 1;
        while (i + same < nr &&
               score_same_dims(s->rows[at + i]->bench, s->rows[at + i + same]->bench))
            same++;
        score_add_size(s, s->rows + at + i, same, score, &sums);
        i += same;
    }
    score->roof = score_mean(sums.roof, sums.roofs);
    score->vendor = score_mean(sums.vendor, score->vendor_sizes);
    score->past = score_mean(sums.past, score->past_sizes);
}

static int score_kind(const struct overview_score *a, const struct overview_score *b)
{
    return (a->model != NULL) - (b->model != NULL);
}

static int score_order_weight(const void *x, const void *y)
{
    const struct overview_score *a = x, *b = y;
    int kind = score_kind(a, b);

    return kind ? kind : (a->weight_ns < b->weight_ns) - (a->weight_ns > b->weight_ns);
}

/* Operations as they are read, then models from the smallest. */
static int score_order(const void *x, const void *y)
{
    const struct overview_score *a = x, *b = y;
    int kind = score_kind(a, b);

    if (kind)
        return kind;
    if (a->model && a->model->parameters != b->model->parameters)
        return a->model->parameters < b->model->parameters ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Keeps the heaviest of each kind. */
static void score_keep(struct overview *out)
{
    size_t kept = 0, of_kind = 0;

    qsort(out->scores, out->nr_scores, sizeof(*out->scores), score_order_weight);
    for (size_t i = 0; i < out->nr_scores; i++) {
        if (i > 0 && score_kind(&out->scores[i], &out->scores[i - 1]) != 0)
            of_kind = 0;
        if (of_kind++ < OVERVIEW_SCORES)
            out->scores[kept++] = out->scores[i];
        else
            free(out->scores[i].name);
    }
    out->scores_left_out = out->nr_scores - kept;
    out->nr_scores = kept;
    qsort(out->scores, kept, sizeof(*out->scores), score_order);
}

static struct overview_score *score_push(struct overview *out)
{
    out->scores =
        array_grow(out->scores, out->nr_scores, &out->scores_capacity, sizeof(*out->scores));
    return &out->scores[out->nr_scores++];
}

void overview_add_scores(struct overview_making *m)
{
    struct score_making s = { .m = m, .epoch = epoch_id(m->head) };

    s.rows = memory_zeroed(m->rows.nr + 1, sizeof(*s.rows));
    for (size_t i = 0; i < m->rows.nr; i++)
        if (m->rows.items[i].summary.n && score_median(&m->rows.items[i]) > 0)
            s.rows[s.nr++] = &m->rows.items[i];
    qsort(s.rows, s.nr, sizeof(*s.rows), score_order_rows);
    s.decided = memory_zeroed(m->rows.nr + 1, sizeof(*s.decided));
    score_decide_all(&s);
    for (size_t at = 0; at < s.nr;) {
        size_t nr = score_group_length(&s, at);
        if (!score_is_second(&s, at, nr))
            score_make(&s, at, nr, score_push(m->out));
        at += nr;
    }
    free(s.decided);
    free(s.rows);
    if (m->out->nr_scores)
        score_keep(m->out);
}

/* ---- words ---- */

char *overview_roof_text(const struct overview_score *score, char text[QUANTITY_TEXT_SIZE])
{
    if (isnan(score->roof))
        snprintf(text, QUANTITY_TEXT_SIZE, "–");
    else
        snprintf(text, QUANTITY_TEXT_SIZE, score->roof < 0.005 ? "under 1 %%" : "%.0f %%",
                 100 * score->roof);
    return text;
}

char *overview_vendor_text(const struct overview_score *score, char text[QUANTITY_TEXT_SIZE])
{
    if (isnan(score->vendor))
        snprintf(text, QUANTITY_TEXT_SIZE, "–");
    else
        snprintf(text, QUANTITY_TEXT_SIZE, "%.2f×", score->vendor);
    return text;
}

static enum overview_tone score_past_way(const struct overview_score *score)
{
    if (isnan(score->past) || fabs(log(score->past)) < log1p(SCORE_MATTERS))
        return OVERVIEW_PLAIN;
    return score->past > 1 ? OVERVIEW_BAD : OVERVIEW_GOOD;
}

enum overview_tone overview_past_tone(const struct overview_score *score)
{
    enum overview_tone way = score_past_way(score);
    bool decided = way == OVERVIEW_BAD ? score->past_worse : score->past_better;

    return decided ? way : OVERVIEW_PLAIN;
}

char *overview_past_text(const struct overview_score *score, char text[QUANTITY_TEXT_SIZE])
{
    static const char *const words[OVERVIEW_TONES] = {
        [OVERVIEW_GOOD] = " faster", [OVERVIEW_BAD] = " slower"
    };
    enum overview_tone way = score_past_way(score);
    char share[TEXT_UNIT_SIZE];

    if (isnan(score->past))
        snprintf(text, QUANTITY_TEXT_SIZE, "–");
    else if (way == OVERVIEW_PLAIN)
        snprintf(text, QUANTITY_TEXT_SIZE, "the same");
    else if (score->past >= SCORE_TIMES || score->past <= 1 / SCORE_TIMES)
        snprintf(text, QUANTITY_TEXT_SIZE, "%.*f×%s",
                 fmax(score->past, 1 / score->past) < 10 ? 1 : 0,
                 fmax(score->past, 1 / score->past), words[way]);
    else
        snprintf(text, QUANTITY_TEXT_SIZE, "%s%s", text_share(fabs(score->past - 1), share),
                 words[way]);
    return text;
}

char *overview_size_text(const struct overview_score *score, char *text, size_t size)
{
    char time[QUANTITY_TEXT_SIZE];
    const char *comma = score->best[0] ? ", " : "";

    if (score->sizes == 1)
        snprintf(text, size, "%s%s%s", score->best, comma,
                 quantity_text(QUANTITY_TIME, "", score->median_ns, time));
    else
        snprintf(text, size, "%s%s%zu sizes", score->best, comma, score->sizes);
    return text;
}

const char *overview_vendor(const struct overview *overview)
{
    const char *name = "";

    for (size_t i = 0; i < overview->nr_scores; i++) {
        const char *own = overview->scores[i].vendor_name;
        if (*own && *name && strcmp(own, name) != 0)
            return "";
        name = *own ? own : name;
    }
    return name;
}

int64_t overview_past_ms(const struct overview *overview)
{
    int64_t oldest = 0;

    for (size_t i = 0; i < overview->nr_scores; i++) {
        int64_t when = overview->scores[i].past_ms;
        if (when && (!oldest || when < oldest))
            oldest = when;
    }
    return oldest;
}
