/* SPDX-License-Identifier: MIT */
/* Steps as rows and words, the same for tables, JSON and figures. */
#include "trend/trend.h"

#include "base/memory.h"
#include "base/text.h"
#include "metrics/epoch.h"

#include <stdlib.h>
#include <string.h>

static int64_t time_of(const struct trend_row *row)
{
    return row->trend->series->items[row->step->index].time_ms;
}

static int order_rows(const void *x, const void *y)
{
    const struct trend_row *a = x, *b = y;
    int order = (time_of(a) < time_of(b)) - (time_of(a) > time_of(b));

    /* The trends lie in one array, in reading order. */
    if (!order)
        order = (a->trend > b->trend) - (a->trend < b->trend);
    return order ? order : (a->step < b->step) - (a->step > b->step);
}

struct trend_row *trends_newest(const struct trends *t)
{
    struct trend_row *rows = memory_zeroed(t->steps + 1, sizeof(*rows));
    size_t nr = 0;

    for (size_t i = 0; i < t->nr; i++)
        for (size_t k = 0; k < t->items[i].nr; k++)
            rows[nr++] = (struct trend_row) { &t->items[i], &t->items[i].items[k] };
    qsort(rows, nr, sizeof(*rows), order_rows);
    return rows;
}

const struct run *trend_point_run(const struct trends *t, const struct trend *trend, size_t point)
{
    return &t->records->runs[trend->series->items[point].run];
}

const struct run *trend_run_before(const struct trends *t, const struct trend *trend,
                                   const struct trend_step *step)
{
    return trend_point_run(t, trend, step->low - 1);
}

const struct run *trend_run_after(const struct trends *t, const struct trend *trend,
                                  const struct trend_step *step)
{
    return trend_point_run(t, trend, step->high);
}

static void add_commit(const struct run *run, struct strbuf *out)
{
    strbuf_addf(out, "%.7s%s", run->build.commit[0] ? run->build.commit : "?",
                run->build.dirty ? "+" : "");
}

static bool same_build(const struct run *a, const struct run *b)
{
    return strcmp(a->build.commit, b->build.commit) == 0 && a->build.dirty == b->build.dirty;
}

void trend_commits(const struct trends *t, const struct trend *trend, const struct trend_step *step,
                   struct strbuf *out)
{
    const struct run *before = trend_run_before(t, trend, step);
    const struct run *after = trend_run_after(t, trend, step);

    add_commit(before, out);
    if (same_build(before, after))
        return;
    strbuf_adds(out, "..");
    add_commit(after, out);
}

static void add_place(const struct run *run, struct strbuf *out)
{
    char when[TEXT_UNIT_SIZE];

    add_commit(run, out);
    strbuf_addf(out, ", %.10s", text_timestamp(run->started_ms, when));
}

void trend_state(const struct trends *t, const struct trend *trend, const struct trend_step *step,
                 struct strbuf *out)
{
    if (step->back) {
        strbuf_adds(out, "went back at ");
        add_place(trend_point_run(t, trend, step->back), out);
        return;
    }
    strbuf_adds(out, "still there");
    if (step->left < 0.9)
        strbuf_addf(out, ", %.0f %% of it", 100 * step->left);
}

void trend_withdrawn_state(const struct trends *t, const struct trend *trend,
                           const struct trend_withdrawn *step, struct strbuf *out)
{
    strbuf_adds(out, "withdrawn at ");
    add_place(trend_point_run(t, trend, step->gone - 1), out);
    strbuf_addf(out, ": %s", step_end_words(step->why));
}

void trend_environment(const struct trends *t, const struct trend *trend,
                       const struct trend_step *step, struct strbuf *out)
{
    if (step->epoch)
        epoch_difference(trend_point_run(t, trend, step->epoch - 1),
                         trend_point_run(t, trend, step->epoch), out);
}

static void add_note(struct strbuf *out, size_t begin, const char *text, const char *more)
{
    strbuf_addf(out, "%s%s%s", out->length > begin ? "; " : "", text, more);
}

/* Of the runs at which the step may have come. */
static void add_annotations(const struct trends *t, const struct trend *trend,
                            const struct trend_step *step, size_t begin, struct strbuf *out)
{
    const struct trend_settings *settings = &t->settings;

    for (size_t i = step->low; i <= step->high; i++)
        for (size_t k = 0; k < settings->nr_annotations; k++)
            if (settings->annotations[k].run == trend_point_run(t, trend, i)->id)
                add_note(out, begin, "annotated: ", settings->annotations[k].text);
}

void trend_doubts(const struct trends *t, const struct trend *trend, const struct trend_step *step,
                  struct strbuf *out)
{
    const struct run *before = trend_run_before(t, trend, step);
    size_t begin = out->length;

    if (before->build.commit[0] && !before->build.dirty &&
        same_build(before, trend_run_after(t, trend, step)))
        add_note(out, begin, "the same commit on both sides", "");
    if (2 * (step->high - step->low) > trend->series->nr)
        add_note(out, begin, "when it came is not sure", "");
    if (step->interval.low <= 0 && step->interval.high >= 0)
        add_note(out, begin, "how large it is now is not sure", "");
    add_annotations(t, trend, step, begin, out);
}

void trend_note(const struct trends *t, const struct trend *trend, const struct trend_step *step,
                struct strbuf *out)
{
    size_t begin = out->length;
    struct strbuf words;

    strbuf_init(&words);
    trend_environment(t, trend, step, &words);
    if (words.length)
        add_note(out, begin, "with a change of environment: ", words.data);
    if (step->accepted)
        add_note(out, begin, "accepted: ", step->accepted->reason);
    strbuf_clear(&words);
    trend_doubts(t, trend, step, &words);
    if (words.length)
        add_note(out, begin, words.data, "");
    strbuf_release(&words);
}
