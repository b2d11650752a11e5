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

static void profile_add_meta(struct strbuf *sb, const struct profile_data *data)
{
    const struct prof_meta *meta = &data->trace.meta;
    char text[QUANTITY_TEXT_SIZE];

    if (data->other_threads)
        strbuf_addf(sb, " Of %zu threads the main one.", data->other_threads + 1);
    if (meta->rate > 0 && meta->rate < 1)
        strbuf_addf(sb, " Of all outermost calls %s were recorded, chosen at random.",
                    quantity_text(QUANTITY_SHARE, "", meta->rate, text));
    if (meta->dropped)
        strbuf_addf(sb, " %llu scopes found no room and are missing.",
                    (unsigned long long)meta->dropped);
}

void profile_caption(struct figure *f, const struct chart *chart, const char *format, ...)
{
    char words[1024];
    struct strbuf sb;
    va_list args;

    va_start(args, format);
    vsnprintf(words, sizeof(words), format, args);
    va_end(args);
    strbuf_init(&sb);
    strbuf_adds(&sb, words);
    profile_add_meta(&sb, chart->profile);
    chart_take(&f->caption, &sb);
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

struct profile_rows profile_long_rows(const struct profile_data *data, enum prof_side side,
                                      size_t limit)
{
    struct profile_rows rows = profile_rows(data, side, limit);
    double least = 0.0005 * (double)data->rows.total[side];

    while (rows.nr > 1 && (double)rows.items[rows.nr - 1].self < least)
        rows.nr--;
    return rows;
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

    for (size_t i = 0; i < rows->nr; i++)
        names[i] = rows->items[i].name;
    struct panel *p = figure_rows(f, names, rows->nr, ROW_HEIGHT, 12);
    p->joined = joined;
    p->plot_height = fmax(p->plot_height, 60);
    free(names);
    return p;
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
} kinds[PROFILE_KINDS] = {
    [PROFILE_SCOPE] = { "scope", INK_BLUE },
    [PROFILE_KERNEL] = { "kernel", INK_VERMILLION },
    [PROFILE_TRANSFER] = { "copy or fill", INK_GREEN },
    [PROFILE_CALL] = { "call of the runtime", INK_PURPLE },
};

enum profile_kind profile_kind_of(const struct prof_trace *trace, const struct prof_slice *slice)
{
    if (profile_is_transfer(slice))
        return PROFILE_TRANSFER;
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
            bars->style.opacity = opacity[odd];
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
