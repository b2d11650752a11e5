/* SPDX-License-Identifier: MIT */
/* What the figures of a profile share: heads, captions, rows of operations, names inside bars. */
#ifndef HARNESS_CHART_PROFILE_PROFILE_PARTS_H
#define HARNESS_CHART_PROFILE_PROFILE_PARTS_H

#include "chart/base/chart_base.h"
#include "gputrace/kernel_name.h"

/* The subtitle. False where the figure got a reason: no profile, or nothing was recorded. */
bool profile_head(struct figure *f, const struct chart *chart);
/* False, with the reason in the figure, where the profile has tables alone. */
bool profile_has_slices(struct figure *f, const struct chart *chart);
/* The caption: what is said here, then what holds for any figure of this profile (threads that are
 * not shown, scopes that were not recorded). */
void profile_caption(struct figure *f, const struct chart *chart, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Of a figure that has all threads. */
void profile_caption_all(struct figure *f, const struct chart *chart, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The name of an operation or a slice as figures show it: a kernel's is cut short. */
const char *profile_shown_name(enum prof_side side, const char *name,
                               char buffer[KERNEL_NAME_SIZE]);
/* A line with the whole name, for the words of a block; "" where that is what is shown. */
enum { PROFILE_WHOLE_SIZE = 240 };
const char *profile_whole_line(const char *shown, const char *name, char line[PROFILE_WHOLE_SIZE]);

/* The first rows of one side, in the order of the summary: by self time, none without any.
 * `of` is how many there are. */
struct profile_rows {
    const struct prof_row *items;
    size_t nr, of;
};
struct profile_rows profile_rows(const struct profile_data *data, enum prof_side side,
                                 size_t limit);
/* The operations of one side by their own time in the median iteration, or by that of all calls
 * where there are no iterations: one slow iteration puts none on top. Without `all` those are left
 * out whose bars would have no length. */
struct profile_worst {
    const struct timeline_typical *typical;
    struct prof_bottleneck *list; /* owned, as the rows and names */
    struct prof_row *rows;        /* the same ones, with names as they are shown */
    char (*names)[KERNEL_NAME_SIZE];
    size_t nr, of;
    double iterations; /* that the times are divided by; 1: sums of all calls */
};
void profile_worst_init(struct profile_worst *w, const struct profile_data *data,
                        enum prof_side side, bool all, size_t limit);
void profile_worst_release(struct profile_worst *w);
struct profile_rows profile_worst_rows(const struct profile_worst *w);
/* ns of one iteration, or of all. */
double profile_worst_ns(const struct profile_worst *w, size_t i);
/* " Showing 20 of 31 operations." where some are left out; else "". */
enum { PROFILE_WORDS_SIZE = 96 };
const char *profile_rows_words(const struct profile_rows *rows, char words[PROFILE_WORDS_SIZE]);
/* "on the host", "on the device". */
const char *profile_side_name(enum prof_side side);

/* A panel with a row for each, by its name as it is shown; `joined` to the one before. */
struct panel *profile_rows_panel(struct figure *f, const struct profile_rows *rows, bool joined);
/* A time axis that begins where `window` does: data are profile_at() of their time. */
void profile_time_axis(struct axis *axis);
double profile_at(const struct profile_window *window, int64_t time);
/* "3 of 30 outermost calls, around the one of median duration." or "". */
const char *profile_window_words(const struct profile_data *data,
                                 const struct profile_window *window,
                                 char words[PROFILE_WORDS_SIZE]);

/* Of more things than there is room for the longest are drawn, and of those as long as the shortest
 * of them the first: equal lengths are common where times are whole microseconds. */
struct profile_room {
    double shortest;
    size_t ties; /* how many of that length there is room for */
};
/* Sorts the lengths. */
struct profile_room profile_room(double *lengths, size_t nr, size_t most);
/* To be asked once for each thing, in order. */
bool profile_room_takes(struct profile_room *room, double length);

/* Rectangles with names in them, as far as they fit: lanes of a timeline, frames of a flame graph.
 * Bars are laid out from `low` to `high` in row `row`; the first line of `words` is the name. */
enum profile_kind {
    PROFILE_SCOPE,
    PROFILE_KERNEL,
    PROFILE_TO_DEVICE, /* copies, by their direction */
    PROFILE_TO_HOST,
    PROFILE_WITHIN,
    PROFILE_TRANSFER, /* fills, and copies that do not say it */
    PROFILE_CALL,
    PROFILE_KINDS
};
struct profile_blocks {
    struct layer *bars[PROFILE_KINDS][2]; /* neighbours alternate */
    struct layer *texts;
    double width; /* pixels of the plot for one unit of the axis */
};
/* By slice: whether another one is inside it. Owned by the caller. */
bool *profile_holders(const struct prof_trace *trace);
enum profile_kind profile_kind_of(const struct prof_trace *trace, const struct prof_slice *slice);
/* As in the legend: "kernel", "call of the runtime". */
const char *profile_kind_label(enum profile_kind kind);
void profile_blocks_init(struct profile_blocks *blocks, struct panel *p, double units,
                         double names);
void profile_blocks_add(struct profile_blocks *blocks, enum profile_kind kind, bool odd, double row,
                        double low, double high, const char *words);
/* The name alone, over whichever layer. */
void profile_block_name(struct profile_blocks *blocks, double row, double low, double high,
                        const char *name);

/* The types of figures of a profile by name, for the table in chart.c. */
chart_draw_fn build_profile_bottlenecks, build_profile_shares, build_profile_launches,
    build_profile_depth, build_profile_times, build_profile_rates, build_profile_lanes,
    build_profile_memory, build_profile_split, build_profile_timeline, build_profile_flame,
    build_profile_table;

#endif
