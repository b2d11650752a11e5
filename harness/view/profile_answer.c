/* SPDX-License-Identifier: MIT */
#include "view/profile_answer.h"

#include "base/memory.h"
#include "output/ticks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond this the work, the time or the roof is wrong: advice says so, a headline keeps silent. */
static const double believable = 1.1;
/* Nested scopes have roofs of their own. */
static const double leaf_share = 0.9;
/* From here on a GPU's idle time belongs into the first sentence. */
static const double idle_share = 0.2;

static char *time_text(double ns, char text[QUANTITY_TEXT_SIZE])
{
    return quantity_text(QUANTITY_TIME, "", ns, text);
}

static char *share_text(double share, char text[QUANTITY_TEXT_SIZE])
{
    return quantity_text(QUANTITY_SHARE, "", share, text);
}

/* ---- which operations ---- */

/* Work on a GPU is known by the slices of its streams, or by marks of the scopes alone. */
static enum ranked_by ranked_by_of(const struct profile_data *data)
{
    for (size_t i = 0; i < data->rows.nr_rows; i++) {
        const struct prof_row *row = &data->rows.rows[i];
        if (row->side == PROF_HOST && timeline_row_works(row) && row->gpu + row->transfer > 0)
            return RANKED_BY_GPU;
    }
    return data->rows.total[PROF_DEVICE] ? RANKED_BY_KERNEL : RANKED_BY_SELF;
}

/* Calls of the runtime have no part in what they started: their scope has it. */
static bool is_call_row(const struct profile_data *data, const struct prof_row *row)
{
    for (size_t i = 0; i < data->main.nr_slices; i++)
        if (data->main.slices[i].name == row->name)
            return profile_is_call(&data->main.slices[i]);
    return false;
}

static double ranked_ns(const struct profile_data *data, const struct prof_row *row,
                        enum ranked_by by)
{
    if (row->side != (by == RANKED_BY_KERNEL ? PROF_DEVICE : PROF_HOST))
        return 0;
    if (by != RANKED_BY_GPU)
        return (double)row->self;
    return timeline_row_works(row) && !is_call_row(data, row) ? (double)(row->gpu + row->transfer)
                                                              : 0;
}

static int by_time(const void *x, const void *y)
{
    const struct ranked_row *a = x, *b = y;

    return a->ns != b->ns ? (a->ns < b->ns) - (a->ns > b->ns) : strcmp(a->row->name, b->row->name);
}

/* All of what is ranked, and what has no place in it. */
static double whole_ns(const struct profile_data *data, const struct ranked *ranked)
{
    double whole = (double)data->rows.total[ranked->by == RANKED_BY_SELF ? PROF_HOST : PROF_DEVICE];

    for (size_t i = 0;
         ranked->by == RANKED_BY_GPU && !data->rows.total[PROF_DEVICE] && i < ranked->nr; i++)
        whole += ranked->items[i].ns;
    return whole;
}

void ranked_init(struct ranked *ranked, const struct profile_data *data)
{
    *ranked = (struct ranked) { .by = ranked_by_of(data) };
    ranked->items = memory_zeroed(data->rows.nr_rows + 1, sizeof(*ranked->items));
    for (size_t i = 0; i < data->rows.nr_rows; i++) {
        const struct prof_row *row = &data->rows.rows[i];
        double ns = ranked_ns(data, row, ranked->by);
        if (ns > 0)
            ranked->items[ranked->nr++] = (struct ranked_row) { row, ns, 0 };
    }
    double whole = whole_ns(data, ranked);
    for (size_t i = 0; i < ranked->nr; i++)
        ranked->items[i].share = ranked->items[i].ns / whole;
    qsort(ranked->items, ranked->nr, sizeof(*ranked->items), by_time);
}

void ranked_release(struct ranked *ranked)
{
    free(ranked->items);
    *ranked = (struct ranked) { .nr = 0 };
}

const char *ranked_by_words(enum ranked_by by)
{
    static const char *const words[] = {
        [RANKED_BY_SELF] = "own time on the main thread",
        [RANKED_BY_GPU] = "time on the GPU of the work they started",
        [RANKED_BY_KERNEL] = "own time on the GPU",
    };

    return words[by];
}

/* ---- one profile ---- */

/* What all of it is called: by its iterations where it has nothing else. */
static const char *whole_name(const struct profile_data *data)
{
    const struct timeline_layers *l = &data->found.layers;

    return l->nr_iterations > 0 && l->nr_iterations == data->outer ? l->iteration : data->name;
}

static bool roof_of(const struct profile_data *data, const struct prof_row *row,
                    struct timeline_roof *roof)
{
    *roof = timeline_row_roof(&data->facts.roofs, row);
    return roof->bound != TIMELINE_UNBOUND && roof->fraction <= believable &&
           (row->gpu > 0 || (double)row->self >= leaf_share * (double)row->total);
}

static void add_roof(const struct profile_data *data, const struct prof_row *row,
                     const char *before, struct strbuf *out)
{
    struct timeline_roof roof;

    if (roof_of(data, row, &roof))
        strbuf_addf(out, "%s%.0f %% of the %s", before, 100 * roof.fraction, roof.name);
}

static void add_idle(const struct profile_data *data, struct strbuf *out)
{
    const struct timeline_split *s = &data->found.split;
    char share[QUANTITY_TEXT_SIZE];
    double idle = 0;

    for (int part = PART_LAUNCH; s->device >= 0 && part <= PART_OTHER_WAIT; part++)
        idle += timeline_part_share(s, (enum timeline_part)part);
    if (idle >= idle_share)
        strbuf_addf(out, "; the GPU is idle for %s of the time", share_text(idle, share));
}

void profile_headline(const struct profile_data *data, const struct ranked *ranked,
                      struct strbuf *out)
{
    const char *whole = whole_name(data);
    char share[QUANTITY_TEXT_SIZE];

    if (!ranked->nr) {
        strbuf_addf(out, "Nothing was recorded in %.160s that took any time.", data->name);
        return;
    }
    const struct ranked_row *worst = &ranked->items[0];
    bool is_whole = !strcmp(worst->row->name, whole) && ranked->by == RANKED_BY_SELF;
    if (is_whole && ranked->nr == 1) {
        strbuf_addf(out, "%.160s is one operation: nothing inside it was recorded", whole);
        add_roof(data, worst->row, "; it runs at ", out);
    } else if (is_whole) {
        strbuf_addf(out, "%s of %.160s is in none of its operations",
                    share_text(worst->share, share), whole);
    } else {
        strbuf_addf(out, "%.160s takes %s of %s%.160s", worst->row->name,
                    share_text(worst->share, share),
                    ranked->by == RANKED_BY_SELF ? "" : "the GPU's time in ", whole);
        add_roof(data, worst->row, " and runs at ", out);
    }
    add_idle(data, out);
    strbuf_addc(out, '.');
}

void profile_iterations_words(const struct profile_data *data, struct strbuf *out)
{
    const struct timeline_layers *l = &data->found.layers;
    double covered = timeline_covered(l);
    char text[QUANTITY_TEXT_SIZE];
    bool one = l->nr_iterations == 1;

    if (!l->nr_iterations)
        return;
    strbuf_addf(out, "%zu iteration%s of %s%s", l->nr_iterations, one ? "" : "s",
                time_text(timeline_iteration_median(l), text), one ? "" : " (median)");
    if (isfinite(covered))
        strbuf_addf(out, "; the operations cover %s", share_text(covered, text));
    if (data->facts.launches > 1)
        strbuf_addf(out, "; the last of %d launches", data->facts.launches);
    strbuf_addc(out, '.');
}

static void add_rate(double work, double ns, const char *base, struct strbuf *out)
{
    char text[QUANTITY_TEXT_SIZE];

    if (work > 0 && ns > 0)
        strbuf_addf(out, ", %s", quantity_text(QUANTITY_RATE, base, work / ns * 1e9, text));
}

void profile_row_words(const struct profile_data *data, const struct ranked_row *item,
                       struct strbuf *out)
{
    const struct prof_row *row = item->row;
    char text[QUANTITY_TEXT_SIZE], share[QUANTITY_TEXT_SIZE], median[QUANTITY_TEXT_SIZE];

    strbuf_addf(out, "%s, %s of the time, %zu call%s", time_text(item->ns, text),
                share_text(item->share, share), row->calls, row->calls == 1 ? "" : "s");
    if (row->calls > 1)
        strbuf_addf(out, " of %s (median)", time_text((double)row->p50, median));
    add_rate(row->flops, timeline_row_ns(row), "FLOP/s", out);
    add_rate((double)row->bytes, timeline_row_ns(row), "B/s", out);
    add_roof(data, row, ", ", out);
    if (row->memory_peak >= 0)
        strbuf_addf(out, ", peak memory %s",
                    quantity_text(QUANTITY_BYTES, "", (double)row->memory_peak, text));
}

/* ---- two profiles ---- */

enum prof_side profile_change_side(const struct timeline_diff *diff)
{
    return diff->total[PROF_HOST][0] + diff->total[PROF_HOST][1] > 0 ? PROF_HOST : PROF_DEVICE;
}

static void add_relative(const double pair[2], struct strbuf *out)
{
    char text[QUANTITY_TEXT_SIZE];

    if (!(pair[0] > 0))
        strbuf_adds(out, " (not there before)");
    else if (!(pair[1] > 0))
        strbuf_adds(out, " (gone)");
    else
        strbuf_addf(out, " (%s)", quantity_text(QUANTITY_PERCENT, "", pair[1] / pair[0] - 1, text));
}

/* The first row of the side is the one that changed most. */
static const struct diff_row *first_row(const struct timeline_diff *diff, enum prof_side side)
{
    for (size_t i = 0; i < diff->nr_rows; i++)
        if (diff->rows[i].side == side)
            return &diff->rows[i];
    return NULL;
}

static bool has_changed(const struct diff_row *row)
{
    return row && fabs(row->change) > 0;
}

void profile_change_headline(const struct timeline_diff *diff, struct strbuf *out)
{
    const struct diff_row *row = first_row(diff, profile_change_side(diff));
    char time[QUANTITY_TEXT_SIZE], share[QUANTITY_TEXT_SIZE];

    if (!has_changed(row)) {
        strbuf_adds(out, "No operation changed: the times of both profiles are the same.");
        return;
    }
    strbuf_addf(out, "%.160s changed most: %s %s an iteration", row->name,
                time_text(fabs(row->change), time), row->change > 0 ? "more" : "less");
    add_relative(row->self, out);
    strbuf_addf(out, ", %s of all change.", share_text(fabs(row->share), share));
}

void profile_totals_words(const struct timeline_diff *diff, const char *before, const char *after,
                          struct strbuf *out)
{
    const double *total = diff->total[profile_change_side(diff)];
    char text[2][QUANTITY_TEXT_SIZE];

    strbuf_addf(out, "An iteration takes %s in %.160s and %s in %.160s",
                time_text(total[0], text[0]), before, time_text(total[1], text[1]), after);
    if (total[0] > 0 && total[1] > 0)
        add_relative(total, out);
    strbuf_addc(out, '.');
}

void profile_change_words(const struct diff_row *row, struct strbuf *out)
{
    char text[2][QUANTITY_TEXT_SIZE], share[QUANTITY_TEXT_SIZE];

    strbuf_addf(out, "%s before, %s after", time_text(row->self[0], text[0]),
                time_text(row->self[1], text[1]));
    add_relative(row->self, out);
    strbuf_addf(out, ", %s of all change", share_text(fabs(row->share), share));
}
