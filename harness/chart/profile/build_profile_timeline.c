/* SPDX-License-Identifier: MIT */
/* Every call in its place: a row for each depth of each thread, a row for each stream. */
#include "chart/profile/profile_base.h"
#include "text/textwidth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 3000, CALLS = 2, ROWS_MAX = 40, ROW_HEIGHT = 20, TRACK_SIZE = 64 };

/* Where a track's rows are. */
struct rows_of {
    size_t first, nr; /* nr 0: it is not shown */
    size_t depths;    /* rows that one lane of it has */
};

struct lanes {
    const struct prof_trace *trace;
    struct profile_window window;
    struct rows_of *of; /* by track */
    int *lane, *depth;  /* by slice */
    size_t nr;          /* rows */
    size_t tracks_left_out, rows_left_out, slices, all;
    size_t *count; /* bars of a row so far */
};

static size_t profile_timeline_row_in_track(const struct lanes *l, size_t i)
{
    const struct prof_slice *s = &l->trace->slices[i];

    return (size_t)l->lane[i] * l->of[s->track].depths + (size_t)l->depth[i];
}

static bool profile_timeline_is_seen(const struct lanes *l, size_t i)
{
    const struct prof_slice *s = &l->trace->slices[i];

    return !(s->flags & PROF_INSTANT_POINT) && s->start >= l->window.low &&
           s->start < l->window.high;
}

static void measure_tracks(struct lanes *l)
{
    for (size_t i = 0; i < l->trace->nr_slices; i++) {
        struct rows_of *of = &l->of[l->trace->slices[i].track];
        size_t depth = (size_t)l->depth[i] + 1;
        of->depths = depth > of->depths ? depth : of->depths;
    }
    for (size_t i = 0; i < l->trace->nr_slices; i++) {
        struct rows_of *of = &l->of[l->trace->slices[i].track];
        size_t rows = profile_timeline_row_in_track(l, i) + 1;
        if (profile_timeline_is_seen(l, i))
            of->nr = rows > of->nr ? rows : of->nr;
    }
}

static void profile_timeline_take_track(struct lanes *l, struct rows_of *of)
{
    if (of->nr == 0)
        return;
    if (l->nr + of->nr > ROWS_MAX && l->nr > 0) {
        l->tracks_left_out++;
        of->nr = 0;
        return;
    }
    if (of->nr > ROWS_MAX) { /* it nests deeper, or has more side by side, than can be seen */
        l->rows_left_out += of->nr - ROWS_MAX;
        of->nr = ROWS_MAX;
    }
    of->first = l->nr;
    l->nr += of->nr;
}

/* The main thread is on top and the streams below it; other threads have what room is left. */
static void profile_timeline_place_tracks(struct lanes *l, const struct profile_data *data)
{
    const struct prof_track *main = data->track < 0 ? NULL : &data->main.tracks[data->track];

    for (int pass = 0; pass < 3; pass++)
        for (size_t i = 0; i < l->trace->nr_tracks; i++) {
            const struct prof_track *t = &l->trace->tracks[i];
            bool stream = t->kind == PROF_TRACK_STREAM;
            bool is_main =
                main && !stream && t->thread == main->thread && t->process == main->process;
            if (pass == (is_main ? 0 : stream ? 1 : 2))
                profile_timeline_take_track(l, &l->of[i]);
        }
}

static void track_name(const struct prof_track *t, char name[TRACK_SIZE])
{
    const char *kind = t->kind == PROF_TRACK_STREAM ? "stream" : "thread";

    if (t->name && *t->name)
        snprintf(name, TRACK_SIZE, "%.60s", t->name);
    else
        snprintf(name, TRACK_SIZE, "%s %lld", kind, (long long)t->thread);
}

/* A track's name stands at its first row. Returns the width of the widest. */
static double profile_timeline_name_rows(const struct lanes *l, struct panel *p)
{
    const char **names = memory_zeroed(l->nr + 1, sizeof(*names));
    char(*texts)[TRACK_SIZE] = memory_zeroed(l->trace->nr_tracks + 1, TRACK_SIZE);
    double widest = 0;

    for (size_t i = 0; i < l->nr; i++)
        names[i] = "";
    for (size_t i = 0; i < l->trace->nr_tracks; i++) {
        if (l->of[i].nr == 0)
            continue;
        track_name(&l->trace->tracks[i], texts[i]);
        names[l->of[i].first] = texts[i];
        widest = fmax(widest, text_width(texts[i], 12, false));
    }
    axis_names(&p->y, names, l->nr, true);
    free(names);
    free(texts);
    return widest;
}

static bool profile_timeline_has_row(const struct lanes *l, size_t i)
{
    return profile_timeline_is_seen(l, i) &&
           profile_timeline_row_in_track(l, i) < l->of[l->trace->slices[i].track].nr;
}

static struct profile_room profile_timeline_room(struct lanes *l)
{
    double *lengths = memory_zeroed(l->trace->nr_slices + 1, sizeof(*lengths));

    for (size_t i = 0; i < l->trace->nr_slices; i++)
        if (profile_timeline_has_row(l, i))
            lengths[l->all++] = (double)l->trace->slices[i].duration;
    struct profile_room room = profile_room(lengths, l->all, MOST);
    free(lengths);
    return room;
}

static void profile_timeline_slice_words(const struct prof_trace *trace, const struct prof_slice *s,
                                         char *words, size_t size)
{
    char text[QUANTITY_TEXT_SIZE], shown[KERNEL_NAME_SIZE], whole[PROFILE_WHOLE_SIZE];
    enum prof_side side = profile_on_device(trace, s) ? PROF_DEVICE : PROF_HOST;
    const char *name = profile_shown_name(side, s->name, shown);
    struct strbuf sb;

    strbuf_init(&sb);
    strbuf_addf(&sb, "%.200s\n%s", name,
                quantity_text(QUANTITY_TIME, "", (double)s->duration, text));
    if (s->backend)
        strbuf_addf(&sb, ", %.60s", s->backend);
    if (s->flops > 0 && s->duration > 0)
        strbuf_addf(
            &sb, ", %s",
            quantity_text(QUANTITY_RATE, "FLOP/s", s->flops / (double)s->duration * 1e9, text));
    if (s->bytes > 0)
        strbuf_addf(&sb, ", %s", quantity_text(QUANTITY_BYTES, "", (double)s->bytes, text));
    strbuf_adds(&sb, profile_whole_line(name, s->name, whole));
    snprintf(words, size, "%s", sb.data);
    strbuf_release(&sb);
}

static void profile_timeline_add_slices(struct lanes *l, struct panel *p, double names)
{
    struct profile_room room = profile_timeline_room(l);
    struct profile_blocks blocks;
    char words[400 + PROFILE_WHOLE_SIZE];

    profile_blocks_init(&blocks, p, fmax(1, (double)(l->window.high - l->window.low)), names);
    for (size_t i = 0; i < l->trace->nr_slices; i++) {
        const struct prof_slice *s = &l->trace->slices[i];
        if (!profile_timeline_has_row(l, i) || !profile_room_takes(&room, (double)s->duration))
            continue;
        size_t row = l->of[s->track].first + profile_timeline_row_in_track(l, i);
        profile_timeline_slice_words(l->trace, s, words, sizeof(words));
        profile_blocks_add(&blocks, profile_kind_of(l->trace, s), l->count[row]++ % 2 != 0,
                           (double)row, profile_at(&l->window, s->start),
                           profile_at(&l->window, s->start + s->duration), words);
        l->slices++;
    }
}

static void profile_timeline_draw(struct lanes *l, struct figure *f, const struct chart *chart)
{
    struct panel *p = figure_panel(f);

    f->view = "timeline";
    l->count = memory_zeroed(l->nr + 1, sizeof(*l->count));
    profile_time_axis(&p->x);
    p->x.low = 0;
    double names = profile_timeline_name_rows(l, p);
    p->plot_height = fmax(ROW_HEIGHT * (double)l->nr + 8, 36);
    profile_timeline_add_slices(l, p, names);
    char words[PROFILE_WORDS_SIZE], text[QUANTITY_TEXT_SIZE], left[PROFILE_WORDS_SIZE] = "",
                                                              rows[PROFILE_WORDS_SIZE] = "";
    if (l->slices < l->all)
        snprintf(left, sizeof(left), " Showing the %zu longest of %zu calls.", l->slices, l->all);
    if (l->rows_left_out)
        snprintf(rows, sizeof(rows), " %zu rows below those have no room here.", l->rows_left_out);
    profile_caption_all(f, chart,
                        "A call is drawn from its start to its end, below the call that it is in; "
                        "neighbours alternate in tone.%s%s%s%s",
                        profile_window_words(chart->profile, &l->window, words), left, rows,
                        l->tracks_left_out ? " Other threads have no room here." : "");
    figure_set(&f->alt, "Timeline of %zu calls in %zu rows over %s.", l->slices, l->nr,
               quantity_text(QUANTITY_TIME, "", (double)(l->window.high - l->window.low), text));
    free(l->count);
}

void build_profile_timeline(const struct chart *chart, struct figure *f)
{
    if (!profile_has_slices(f, chart))
        return;
    struct lanes l = { .trace = &chart->profile->trace,
                       .window = profile_window_of(chart->profile, MOST, CALLS) };
    l.of = memory_zeroed(l.trace->nr_tracks + 1, sizeof(*l.of));
    l.lane = memory_zeroed(l.trace->nr_slices + 1, sizeof(*l.lane));
    l.depth = profile_depths(l.trace);
    if (prof_trace_lanes(l.trace, l.lane)) {
        chart_absent(f, "there is no memory for the lanes of the timeline");
    } else {
        measure_tracks(&l);
        profile_timeline_place_tracks(&l, chart->profile);
        profile_timeline_draw(&l, f, chart);
    }
    free(l.of);
    free(l.lane);
    free(l.depth);
}
