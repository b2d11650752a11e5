/* SPDX-License-Identifier: MIT */
#include "chart/profile/profile_base.h"

#include "text/textwidth.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROW_HEIGHT = 25,
    ROOM_FOR_SOME = 60, /* pixels; in less, a name that is cut tells nothing */
};

static const char *profile_plural(size_t nr)
{
    return nr == 1 ? "" : "s";
}

static void profile_add_subtitle(struct figure *f, const struct profile_data *data)
{
    size_t operations = profile_rows(data, PROF_HOST, SIZE_MAX).of;
    char text[QUANTITY_TEXT_SIZE];
    struct strbuf sb;

    strbuf_init(&sb);
    strbuf_addf(&sb, "%s  ·  %zu operation%s, %zu call%s, %s in all", data->name, operations,
                profile_plural(operations), data->rows.calls[PROF_HOST],
                profile_plural(data->rows.calls[PROF_HOST]),
                quantity_text(QUANTITY_TIME, "", (double)data->rows.total[PROF_HOST], text));
    if (data->rows.calls[PROF_DEVICE])
        strbuf_addf(&sb, "  ·  on the device %zu call%s, %s", data->rows.calls[PROF_DEVICE],
                    profile_plural(data->rows.calls[PROF_DEVICE]),
                    quantity_text(QUANTITY_TIME, "", (double)data->rows.total[PROF_DEVICE], text));
    chart_take(&f->subtitle, &sb);
}

bool profile_has_slices(struct figure *f, const struct chart *chart)
{
    if (!chart->profile->trace.nr_slices)
        chart_absent(f, "%s has tables and no trace: nothing in it has a place in time",
                     chart->profile->name);
    return !f->reason;
}

bool profile_head(struct figure *f, const struct chart *chart)
{
    const struct profile_data *data = chart->profile;

    if (!data)
        chart_absent(f, "there is no profile; `harness profile` makes one, --profile names it");
    else if (!data->rows.nr_rows)
        chart_absent(f, "nothing was recorded in %s", data->name);
    else
        profile_add_subtitle(f, data);
    return !f->reason;
}

static void profile_add_threads(struct strbuf *sb, const struct profile_data *data)
{
    if (data->other_threads)
        strbuf_addf(sb, " Of %zu threads the main one%s.", data->other_threads + 1,
                    data->helped ? ", with the backward passes that another one ran for it" : "");
}

static void profile_add_meta(struct strbuf *sb, const struct profile_data *data)
{
    const struct prof_meta *meta = &data->trace.meta;
    char text[QUANTITY_TEXT_SIZE];

    if (meta->rate > 0 && meta->rate < 1)
        strbuf_addf(sb, " Of all outermost calls %s were recorded, chosen at random.",
                    quantity_text(QUANTITY_SHARE, "", meta->rate, text));
    if (meta->dropped)
        strbuf_addf(sb, " %llu scopes found no room and are missing.",
                    (unsigned long long)meta->dropped);
    if (meta->note)
        strbuf_addf(sb, " Of the recording: %s.", meta->note);
}

static void profile_take_caption(struct figure *f, const struct profile_data *data, bool all,
                                 const char *words)
{
    struct strbuf sb;

    strbuf_init(&sb);
    strbuf_adds(&sb, words);
    if (!all)
        profile_add_threads(&sb, data);
    profile_add_meta(&sb, data);
    chart_take(&f->caption, &sb);
}

void profile_caption(struct figure *f, const struct chart *chart, const char *format, ...)
{
    char words[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(words, sizeof(words), format, args);
    va_end(args);
    profile_take_caption(f, chart->profile, false, words);
}

void profile_caption_all(struct figure *f, const struct chart *chart, const char *format, ...)
{
    char words[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(words, sizeof(words), format, args);
    va_end(args);
    profile_take_caption(f, chart->profile, true, words);
}

const char *profile_shown_name(enum prof_side side, const char *name, char buffer[KERNEL_NAME_SIZE])
{
    return side == PROF_DEVICE ? kernel_name_short(name, buffer) : name;
}

const char *profile_whole_line(const char *shown, const char *name, char line[PROFILE_WHOLE_SIZE])
{
    if (!strcmp(shown, name))
        return "";
    snprintf(line, PROFILE_WHOLE_SIZE, "\n%.200s", name);
    return line;
}

struct profile_rows profile_rows(const struct profile_data *data, enum prof_side side, size_t limit)
{
    struct profile_rows rows = { .nr = 0 };

    for (size_t i = 0; i < data->rows.nr_rows; i++) {
        const struct prof_row *row = &data->rows.rows[i];
        if (row->side != side)
            continue;
        rows.items = rows.items ? rows.items : row;
        rows.of++;
        rows.nr += rows.nr < limit && row->self > 0;
    }
    return rows;
}

/* Below this a bar has no length: it would say 0.0 %. */
static const double least_share = 0.0005;

void profile_worst_init(struct profile_worst *w, const struct profile_data *data,
                        enum prof_side side, bool all, size_t limit)
{
    size_t of = profile_rows(data, side, SIZE_MAX).of;

    *w = (struct profile_worst) { .typical = &data->found.typical, .of = of, .iterations = 1 };
    w->list = memory_zeroed(of + 1, sizeof(*w->list));
    w->rows = memory_zeroed(of + 1, sizeof(*w->rows));
    w->names = memory_zeroed(of + 1, sizeof(*w->names));
    if (side == PROF_HOST && w->typical->nr_iterations > 1)
        w->iterations = (double)w->typical->nr_iterations;
    w->nr = timeline_typical_bottlenecks(w->typical, &data->main, side, PROF_BY_SELF, w->list,
                                         limit < of ? limit : of);
    while (!all && w->nr &&
           (w->list[w->nr - 1].row->self == 0 ||
            (w->nr > 1 && w->list[w->nr - 1].share < least_share)))
        w->nr--;
    for (size_t i = 0; i < w->nr; i++) {
        w->rows[i] = *w->list[i].row;
        w->rows[i].name = profile_shown_name(side, w->rows[i].name, w->names[i]);
    }
}

void profile_worst_release(struct profile_worst *w)
{
    free(w->list);
    free(w->rows);
    free(w->names);
}

struct profile_rows profile_worst_rows(const struct profile_worst *w)
{
    return (struct profile_rows) { w->rows, w->nr, w->of };
}

double profile_worst_ns(const struct profile_worst *w, size_t i)
{
    return timeline_typical_self(w->typical, w->list[i].row) / w->iterations;
}

const char *profile_rows_words(const struct profile_rows *rows, char words[PROFILE_WORDS_SIZE])
{
    words[0] = '\0';
    if (rows->nr < rows->of)
        snprintf(words, PROFILE_WORDS_SIZE, " Showing %zu of %zu operations.", rows->nr, rows->of);
    return words;
}

const char *profile_side_name(enum prof_side side)
{
    return side == PROF_HOST ? "on the host" : "on the device";
}

struct panel *profile_rows_panel(struct figure *f, const struct profile_rows *rows, bool joined)
{
    const char **names = memory_zeroed(rows->nr + 1, sizeof(*names));
    char(*shown)[KERNEL_NAME_SIZE] = memory_zeroed(rows->nr + 1, sizeof(*shown));

    for (size_t i = 0; i < rows->nr; i++)
        names[i] = profile_shown_name(rows->items[i].side, rows->items[i].name, shown[i]);
    struct panel *p = figure_rows(f, names, rows->nr, ROW_HEIGHT, 12);
    p->joined = joined;
    p->plot_height = fmax(p->plot_height, 60);
    free(names);
    free(shown);
    return p;
}

static int by_length(const void *x, const void *y)
{
    const double *a = x, *b = y;

    return (*a < *b) - (*a > *b);
}

struct profile_room profile_room(double *lengths, size_t nr, size_t most)
{
    struct profile_room room = { 0, SIZE_MAX };

    if (nr <= most)
        return room;
    qsort(lengths, nr, sizeof(*lengths), by_length);
    room = (struct profile_room) { lengths[most - 1], 1 };
    while (room.ties < most && lengths[most - 1 - room.ties] == room.shortest)
        room.ties++;
    return room;
}

bool profile_room_takes(struct profile_room *room, double length)
{
    if (length != room->shortest)
        return length > room->shortest;
    if (room->ties == 0)
        return false;
    room->ties--;
    return true;
}

void profile_time_axis(struct axis *axis)
{
    axis_set(axis, "time", QUANTITY_TIME, "", AXIS_LINEAR);
    axis->tight = true;
}

double profile_at(const struct profile_window *window, int64_t time)
{
    return (double)(time - window->low);
}

const char *profile_window_words(const struct profile_data *data,
                                 const struct profile_window *window,
                                 char words[PROFILE_WORDS_SIZE])
{
    words[0] = '\0';
    if (!window->whole)
        snprintf(words, PROFILE_WORDS_SIZE,
                 " %zu of %zu outermost calls, around the one of median duration.", window->outer,
                 data->outer);
    return words;
}

/* ---- blocks ---- */

static const struct {
    const char *label;
    enum ink ink;
    bool hollow; /* more kinds than inks that can be seen on both grounds */
} kinds[PROFILE_KINDS] = {
    [PROFILE_SCOPE] = { "scope", INK_BLUE, false },
    [PROFILE_KERNEL] = { "kernel", INK_VERMILLION, false },
    [PROFILE_TO_DEVICE] = { "copy to the device", INK_GREEN, false },
    [PROFILE_TO_HOST] = { "copy to the host", INK_DARK, false },
    [PROFILE_WITHIN] = { "copy within the device", INK_GREY, false },
    [PROFILE_TRANSFER] = { "fill or other copy", INK_GREY, true },
    [PROFILE_CALL] = { "call of the runtime", INK_PURPLE, false },
};

const char *profile_kind_label(enum profile_kind kind)
{
    return kinds[kind].label;
}

/* By the words that CUPTI, Kineto and Nsight Systems use, in whatever case: "Memcpy HtoD (Pageable
 * -> Device)", "memcpy DtoH", "[CUDA memcpy Host-to-Device]", "MemcpyD2H" (XLA); and by those of
 * the legend. Peers are devices. */
static enum profile_kind profile_copy_kind(const struct prof_slice *slice)
{
    static const struct {
        const char *words;
        enum profile_kind kind;
    } directions[] = {
        { "HtoD", PROFILE_TO_DEVICE },
        { "H2D", PROFILE_TO_DEVICE },
        { "Host-to-Device", PROFILE_TO_DEVICE },
        { "to the device", PROFILE_TO_DEVICE },
        { "HtoA", PROFILE_TO_DEVICE },
        { "DtoH", PROFILE_TO_HOST },
        { "D2H", PROFILE_TO_HOST },
        { "Device-to-Host", PROFILE_TO_HOST },
        { "AtoH", PROFILE_TO_HOST },
        { "to the host", PROFILE_TO_HOST },
        { "DtoD", PROFILE_WITHIN },
        { "D2D", PROFILE_WITHIN },
        { "Device-to-Device", PROFILE_WITHIN },
        { "PtoP", PROFILE_WITHIN },
        { "P2P", PROFILE_WITHIN },
        { "Peer-to-Peer", PROFILE_WITHIN },
        { "within the device", PROFILE_WITHIN },
    };

    for (size_t i = 0; i < sizeof(directions) / sizeof(directions[0]); i++)
        if (strcasestr(slice->name, directions[i].words))
            return directions[i].kind;
    return PROFILE_TRANSFER;
}

bool *profile_holders(const struct prof_trace *trace)
{
    bool *holds = memory_zeroed(trace->nr_slices + 1, sizeof(*holds));

    for (size_t i = 0; i < trace->nr_slices; i++)
        if (trace->slices[i].parent >= 0)
            holds[trace->slices[i].parent] = true;
    return holds;
}

enum profile_kind profile_kind_of(const struct prof_trace *trace, const struct prof_slice *slice)
{
    if (profile_is_transfer(slice))
        return profile_copy_kind(slice);
    if (profile_is_call(slice))
        return PROFILE_CALL;
    return profile_on_device(trace, slice) && !strcmp(slice->category, PROF_KERNELS)
               ? PROFILE_KERNEL
               : PROFILE_SCOPE;
}

/* `units`: how long the x axis is; `names`: pixels of the widest name of a row. The plot is as wide
 * as figure_finish() will make it (figure/figure_layout.c). */
void profile_blocks_init(struct profile_blocks *blocks, struct panel *p, double units, double names)
{
    static const double opacity[2] = { 0.5, 0.32 };

    *blocks = (struct profile_blocks) { .width = (1200 - 2 * 24 - 42 - names) / units };
    for (int kind = 0; kind < PROFILE_KINDS; kind++)
        for (int odd = 0; odd < 2; odd++) {
            struct layer *bars = panel_bars(p, kinds[kind].label, kinds[kind].ink);
            bars->thickness = 0.92;
            bars->style.opacity = kinds[kind].hollow ? 1 : opacity[odd];
            bars->style.hollow = kinds[kind].hollow;
            blocks->bars[kind][odd] = bars;
        }
    blocks->texts = panel_layer(p, MARK_TEXT, NULL);
}

void profile_block_name(struct profile_blocks *blocks, double row, double low, double high,
                        const char *name)
{
    double room = (high - low) * blocks->width - 8, whole = text_width(name, 12, false);

    if (room < ROOM_FOR_SOME && whole > room)
        return;
    char *text = text_cut(name, 12, room);
    if (text_width(text, 12, false) <= room)
        layer_add_text(blocks->texts, low, row, ANCHOR_LEFT, text)->dx = 4;
    free(text);
}

void profile_blocks_add(struct profile_blocks *blocks, enum profile_kind kind, bool odd, double row,
                        double low, double high, const char *words)
{
    struct datum *d = layer_add(blocks->bars[kind][odd], high, row);
    size_t length = strcspn(words, "\n");
    char name[256];

    d->low = low;
    d->text = memory_string(words);
    snprintf(name, sizeof(name), "%.*s", (int)(length < 200 ? length : 200), words);
    profile_block_name(blocks, row, low, high, name);
}
