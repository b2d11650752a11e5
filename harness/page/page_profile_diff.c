/* SPDX-License-Identifier: MIT */
/* What changed from one profile to the next, as the page says it. */
#include "page/page_parts.h"

#include "base/json.h"
#include "chart/base/profile_data.h"
#include "chart/profile/profile_base.h"
#include "text/ticks.h"
#include "timeline/timeline_diff.h"

#include <math.h>

enum { TOP = 5 };

static char *diff_time_text(double ns, char text[QUANTITY_TEXT_SIZE])
{
    return quantity_text(QUANTITY_TIME, "", ns, text);
}

static char *diff_share_text(double share, char text[QUANTITY_TEXT_SIZE])
{
    return quantity_text(QUANTITY_SHARE, "", fabs(share), text);
}

/* The side that the words on changes are about. */
static enum prof_side profile_change_side(const struct timeline_diff *diff)
{
    return diff->total[PROF_HOST][0] + diff->total[PROF_HOST][1] > 0 ? PROF_HOST : PROF_DEVICE;
}

/* Before and after: medians of iterations where they are known. */
static const double *profile_pair(const struct diff_row *row)
{
    return isfinite(row->median[0]) ? row->median : row->self;
}

static void profile_add_relative(const double pair[2], struct strbuf *out)
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
static const struct diff_row *profile_first_change(const struct timeline_diff *diff,
                                                   enum prof_side side)
{
    for (size_t i = 0; i < diff->nr_rows; i++)
        if (diff->rows[i].side == side)
            return &diff->rows[i];
    return NULL;
}

static bool profile_has_changed(const struct diff_row *row)
{
    return row && fabs(row->change) > 0;
}

/* "fc changed most: 161 µs more an iteration (+25.0 %), 98.2 % of all change." Of the host where it
 * recorded anything, else of the device. */
static void profile_change_headline(const struct timeline_diff *diff, struct strbuf *out)
{
    const struct diff_row *row = profile_first_change(diff, profile_change_side(diff));
    char time[QUANTITY_TEXT_SIZE], share[QUANTITY_TEXT_SIZE], shown[KERNEL_NAME_SIZE];

    if (!profile_has_changed(row)) {
        strbuf_adds(out, "No operation changed: the times of both profiles are the same.");
        return;
    }
    strbuf_addf(out, "%.160s changed most: %s %s an iteration",
                profile_shown_name(row->side, row->name, shown),
                diff_time_text(fabs(row->change), time), row->change > 0 ? "more" : "less");
    profile_add_relative(profile_pair(row), out);
    strbuf_addf(out, ", %s of all change.", diff_share_text(row->share, share));
}

/* "An iteration of new takes 3.71 ms, one of old 3.52 ms (+5.3 %)." */
static void profile_totals_words(const struct timeline_diff *diff, const char *before,
                                 const char *after, struct strbuf *out)
{
    bool by_median = isfinite(diff->iteration[0]) && profile_change_side(diff) == PROF_HOST;
    const double *total = by_median ? diff->iteration : diff->total[profile_change_side(diff)];
    char text[2][QUANTITY_TEXT_SIZE];

    strbuf_addf(out, "An iteration takes %s in %.160s and %s in %.160s",
                diff_time_text(total[0], text[0]), before, diff_time_text(total[1], text[1]),
                after);
    if (total[0] > 0 && total[1] > 0)
        profile_add_relative(total, out);
    strbuf_adds(out, by_median ? ", the median." : ".");
}

/* "644 µs before, 805 µs after (+25.0 %, 95 % interval +155 to +167 µs), 98.2 % of all change; by
 * the mean +170 µs" */
static void profile_change_words(const struct diff_row *row, struct strbuf *out)
{
    char text[2][QUANTITY_TEXT_SIZE], share[QUANTITY_TEXT_SIZE];
    const double *pair = profile_pair(row);

    strbuf_addf(out, "%s before, %s after", diff_time_text(pair[0], text[0]),
                diff_time_text(pair[1], text[1]));
    profile_add_relative(pair, out);
    strbuf_addf(out, ", %s of all change", diff_share_text(row->share, share));
    if (isfinite(row->change_of[0]))
        strbuf_addf(out, "; 95 %% interval of the change %s to %s",
                    diff_time_text(row->change_of[0], text[0]),
                    diff_time_text(row->change_of[1], text[1]));
    if (isfinite(row->median[0]))
        strbuf_addf(out, "; medians, the means changed by %s",
                    diff_time_text(row->self[1] - row->self[0], text[0]));
}

static void profile_add_changes(const struct timeline_diff *diff, cJSON *json)
{
    cJSON *changes = cJSON_AddArrayToObject(json, "changes");
    enum prof_side side = profile_change_side(diff);
    char shown[KERNEL_NAME_SIZE];
    struct strbuf words;

    strbuf_init(&words);
    for (size_t i = 0; i < diff->nr_rows && cJSON_GetArraySize(changes) < TOP; i++) {
        const struct diff_row *row = &diff->rows[i];
        if (row->side != side || row->change == 0)
            continue;
        profile_change_words(row, &words);
        page_add_operation(changes, profile_shown_name(side, row->name, shown), &words);
    }
    strbuf_release(&words);
}

void page_profile_difference(const struct view *view, struct strbuf *headline, cJSON *json,
                             cJSON *sentences)
{
    const struct profile_data *before = view->profile_base, *after = view->profile;
    struct timeline_diff diff;
    struct strbuf text;
    struct error err;

    cJSON_AddStringToObject(json, "base", before->name);
    if (timeline_diff(&before->trace, &after->trace, NULL, &diff, &err))
        return;
    strbuf_init(&text);
    profile_totals_words(&diff, before->name, after->name, &text);
    page_add_words(sentences, &text);
    strbuf_adds(&text,
                "One pair of profiles shows no noise: whether this is more than chance "
                "launches tell (harness compare).");
    page_add_words(sentences, &text);
    page_add_words(sentences, headline);
    profile_change_headline(&diff, headline);
    profile_add_changes(&diff, json);
    timeline_diff_release(&diff);
    strbuf_release(&text);
}
