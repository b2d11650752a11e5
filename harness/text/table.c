/* SPDX-License-Identifier: MIT */
#include "text/table.h"

#include "base/array.h"
#include "base/clean.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/escape.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void table_init(struct table *t, const struct table_column *columns, size_t nr)
{
    *t = (struct table) { .columns = columns,
                          .nr_columns = nr < TABLE_COLUMNS_MAX ? nr : TABLE_COLUMNS_MAX };
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
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    size_t size = 1 + (size_t)vsnprintf(NULL, 0, format, args);
    char *text = memory_zeroed(size, 1);
    vsnprintf(text, size, format, again);
    va_end(again);
    va_end(args);
    strbuf_init(&clean);
    escape_plain(&clean, text);
    free(text);
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

const struct table_cell *table_at(const struct table *t, size_t row, size_t column)
{
    static char nothing[] = "";
    static const struct table_cell empty = { nothing, TABLE_PLAIN };
    size_t i = row * t->nr_columns + column;

    return i < t->nr && t->cells[i].text ? &t->cells[i] : &empty;
}

void table_widths(const struct table *t, size_t widths[TABLE_COLUMNS_MAX])
{
    for (size_t column = 0; column < t->nr_columns; column++) {
        widths[column] = 0;
        for (size_t row = 0; row < table_rows(t); row++) {
            size_t width = clean_columns(table_at(t, row, column)->text);
            widths[column] = width > widths[column] ? width : widths[column];
        }
        size_t title = clean_columns(t->columns[column].title);
        if (widths[column] && widths[column] < title)
            widths[column] = title;
    }
}

void table_markdown(const struct table *t, struct strbuf *out)
{
    size_t widths[TABLE_COLUMNS_MAX];

    table_widths(t, widths);
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
                escape_markdown(out, table_at(t, row - 2, column)->text);
            strbuf_addc(out, ' ');
        }
        strbuf_adds(out, "|\n");
    }
}
