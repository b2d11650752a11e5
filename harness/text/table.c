/* SPDX-License-Identifier: MIT */
#include "text/table.h"

#include "base/array.h"
#include "base/clean.h"
#include "base/text.h"
#include "text/escape.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 32, GAP = 2, ELASTIC_MIN = 16 };

static const char *const tones[] = {
    [TABLE_PLAIN] = "",
    [TABLE_GOOD] = "\033[32m",
    [TABLE_BAD] = "\033[31m",
    [TABLE_DIM] = "\033[2m",
};

void table_init(struct table *t, const struct table_column *columns, size_t nr)
{
    *t = (struct table) { .columns = columns, .nr_columns = nr < COLUMNS_MAX ? nr : COLUMNS_MAX };
}

void table_release(struct table *t)
{
    for (size_t i = 0; i < t->nr; i++)
        free(t->cells[i].text);
    free(t->cells);
    *t = (struct table) { 0 };
}

size_t table_rows(const struct table *t)
{
    return (t->nr + t->nr_columns - 1) / t->nr_columns;
}

static struct table_cell *table_push(struct table *t)
{
    t->cells = array_grow(t->cells, t->nr, &t->capacity, sizeof(*t->cells));
    return &t->cells[t->nr++];
}

void table_row(struct table *t)
{
    while (t->nr % t->nr_columns)
        table_push(t);
}

void table_cell(struct table *t, enum table_tone tone, const char *format, ...)
{
    struct strbuf clean;
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    strbuf_init(&clean);
    escape_plain(&clean, text);
    struct table_cell *cell = table_push(t);
    cell->text = strbuf_detach(&clean);
    cell->tone = tone;
}

void table_empty(struct table *t)
{
    table_cell(t, TABLE_PLAIN, "%s", "");
}

void table_interval(struct table *t, const struct interval *interval)
{
    char text[TEXT_UNIT_SIZE];
    bool known = isfinite(interval->low) && isfinite(interval->high);

    table_cell(t, TABLE_PLAIN, "%s",
               known ? text_percent_range(interval->low, interval->high, text) : "");
}

static const struct table_cell *table_cell_at(const struct table *t, size_t row, size_t column)
{
    static const struct table_cell empty = { NULL, TABLE_PLAIN };
    size_t i = row * t->nr_columns + column;

    return i < t->nr ? &t->cells[i] : &empty;
}

static const char *table_text_of(const struct table_cell *cell)
{
    return cell->text ? cell->text : "";
}

/* Widths in characters; 0 for columns without any text. */
static void table_measure(const struct table *t, size_t *widths)
{
    for (size_t column = 0; column < t->nr_columns; column++) {
        widths[column] = 0;
        for (size_t row = 0; row < table_rows(t); row++) {
            size_t width = clean_columns(table_text_of(table_cell_at(t, row, column)));
            widths[column] = width > widths[column] ? width : widths[column];
        }
        size_t title = clean_columns(t->columns[column].title);
        if (widths[column] && widths[column] < title)
            widths[column] = title;
    }
}

static size_t total_width(const struct table *t, const size_t *widths)
{
    size_t total = 0;

    for (size_t i = 0; i < t->nr_columns; i++)
        total += widths[i] ? widths[i] + GAP : 0;
    return total > GAP ? total - GAP : 0;
}

/* Takes what is too wide from the elastic columns, the widest first. */
static void table_shrink(const struct table *t, size_t *widths, size_t width)
{
    while (width && total_width(t, widths) > width) {
        size_t widest = t->nr_columns;
        for (size_t i = 0; i < t->nr_columns; i++)
            if (t->columns[i].elastic && widths[i] > ELASTIC_MIN &&
                (widest == t->nr_columns || widths[i] > widths[widest]))
                widest = i;
        if (widest == t->nr_columns)
            return;
        widths[widest]--;
    }
}

/* Bytes of the first `columns` characters; from the end if `last`. */
static size_t table_bytes_of(const char *text, size_t columns, bool last)
{
    size_t length = strlen(text), at = last ? length : 0;

    while (last ? at > 0 : at < length) {
        size_t next = at;
        do
            next = last ? next - 1 : next + 1;
        while (next > 0 && next < length && ((unsigned char)text[next] & 0xc0) == 0x80);
        char piece[512];
        size_t from = last ? next : 0, nr = last ? length - next : next;
        snprintf(piece, sizeof(piece), "%.*s", (int)(nr < 511 ? nr : 511), text + from);
        if (clean_columns(piece) > columns)
            break;
        at = next;
    }
    return last ? length - at : at;
}

static void table_add_fitted(struct strbuf *out, const char *text, size_t width)
{
    if (clean_columns(text) <= width) {
        strbuf_adds(out, text);
        return;
    }
    size_t head = (width - 1) * 3 / 5, tail = width - 1 - head;
    size_t tail_bytes = table_bytes_of(text, tail, true);
    strbuf_add(out, text, table_bytes_of(text, head, false));
    strbuf_adds(out, "…");
    strbuf_adds(out, text + strlen(text) - tail_bytes);
}

static void table_add_spaces(struct strbuf *out, size_t nr)
{
    while (nr-- > 0)
        strbuf_addc(out, ' ');
}

struct line {
    const struct table *table;
    const size_t *widths;
    bool colour;
    struct strbuf *out;
};

static void table_add_cell(const struct line *l, size_t column, const char *text,
                           enum table_tone tone, bool last)
{
    struct strbuf fitted;
    bool right = l->table->columns[column].align == TABLE_RIGHT;
    const char *colour = l->colour ? tones[tone] : "";

    strbuf_init(&fitted);
    table_add_fitted(&fitted, text, l->widths[column]);
    size_t used = clean_columns(fitted.data), pad = l->widths[column] - used;
    if (right)
        table_add_spaces(l->out, pad);
    strbuf_addf(l->out, "%s%s%s", colour, fitted.data, *colour ? "\033[0m" : "");
    if (!right && !last)
        table_add_spaces(l->out, pad);
    strbuf_addc(l->out, last ? '\n' : ' ');
    if (!last)
        table_add_spaces(l->out, GAP - 1);
    strbuf_release(&fitted);
}

static size_t table_last_column(const struct table *t, const size_t *widths)
{
    size_t last = t->nr_columns;

    while (last > 0 && widths[last - 1] == 0)
        last--;
    return last;
}

void table_text(const struct table *t, size_t width, bool colour, struct strbuf *out)
{
    size_t widths[COLUMNS_MAX];
    const struct line line = { t, widths, colour, out };

    table_measure(t, widths);
    table_shrink(t, widths, width);
    size_t last = table_last_column(t, widths);
    for (size_t row = 0; last && row <= table_rows(t); row++) {
        for (size_t column = 0; column < last; column++) {
            const struct table_cell *cell = row ? table_cell_at(t, row - 1, column) : NULL;
            if (widths[column])
                table_add_cell(&line, column, cell ? table_text_of(cell) : t->columns[column].title,
                               cell ? cell->tone : TABLE_DIM, column + 1 == last);
        }
        while (out->length > 1 && out->data[out->length - 1] == '\n' &&
               out->data[out->length - 2] == ' ') {
            out->data[--out->length] = '\0';
            out->data[out->length - 1] = '\n';
        }
    }
}

void table_markdown(const struct table *t, struct strbuf *out)
{
    size_t widths[COLUMNS_MAX];

    table_measure(t, widths);
    for (size_t row = 0; row < table_rows(t) + 2; row++) {
        for (size_t column = 0; column < t->nr_columns; column++) {
            if (!widths[column])
                continue;
            strbuf_adds(out, "| ");
            if (row == 0)
                escape_markdown(out, t->columns[column].title);
            else if (row == 1)
                strbuf_adds(out, t->columns[column].align == TABLE_RIGHT ? "---:" : "---");
            else
                escape_markdown(out, table_text_of(table_cell_at(t, row - 2, column)));
            strbuf_addc(out, ' ');
        }
        strbuf_adds(out, "|\n");
    }
}
