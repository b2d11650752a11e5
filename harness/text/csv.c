/* SPDX-License-Identifier: MIT */
#include "text/csv.h"

#include "base/array.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void csv_open(struct csv *csv, const char *text, size_t length, const char *what)
{
    *csv = (struct csv) { .text = text, .end = text + length, .what = what, .line = 1 };
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        csv->text += 3; /* a byte-order mark */
}

void csv_skip_line(struct csv *csv)
{
    const char *line_end = memchr(csv->text, '\n', (size_t)(csv->end - csv->text));

    csv->text = line_end ? line_end + 1 : csv->end;
    csv->line++;
}

const char *csv_text(const struct csv_row *row, size_t field)
{
    return field < row->nr ? row->text + row->items[field].at : "";
}

void csv_row_release(struct csv_row *row)
{
    free(row->items);
    free(row->text);
    *row = (struct csv_row) { 0 };
}

static void csv_add(struct csv_row *row, char c)
{
    if (row->length == row->text_capacity) {
        row->text_capacity = row->text_capacity ? row->text_capacity * 2 : 256;
        row->text = memory_resize(row->text, row->text_capacity, 1);
    }
    row->text[row->length++] = c;
}

/* From behind the opening quote to behind the closing one. `start` is the beginning of the line
 * that columns count from. */
static int read_quoted(struct csv *csv, struct csv_row *row, const char **start, struct error *err)
{
    unsigned line = csv->line, column = (unsigned)(csv->text - *start);

    for (; csv->text < csv->end; csv->text++) {
        if (*csv->text == '"' && (csv->text + 1 == csv->end || csv->text[1] != '"')) {
            csv->text++;
            return 0;
        }
        if (*csv->text == '"')
            csv->text++;
        csv_add(row, *csv->text);
        if (*csv->text == '\n') {
            csv->line++;
            *start = csv->text + 1;
        }
    }
    return error_set(err, "%s:%u:%u: the quote is never closed", csv->what, line, column);
}

static bool at_field_end(const struct csv *csv)
{
    const char *c = csv->text;

    if (c == csv->end || *c == ',' || *c == '\n')
        return true;
    return *c == '\r' && (c + 1 == csv->end || c[1] == '\n');
}

static int read_field(struct csv *csv, struct csv_row *row, const char **start, struct error *err)
{
    *array_push(row) = (struct csv_field) { row->length, (unsigned)(csv->text - *start) + 1 };
    if (csv->text < csv->end && *csv->text == '"') {
        csv->text++;
        if (read_quoted(csv, row, start, err))
            return -1;
        if (!at_field_end(csv))
            return error_set(err, "%s:%u:%u: a comma must follow the closing quote", csv->what,
                             csv->line, (unsigned)(csv->text - *start) + 1);
    }
    while (!at_field_end(csv))
        csv_add(row, *csv->text++);
    csv_add(row, '\0');
    return 0;
}

int csv_next(struct csv *csv, struct csv_row *row, struct error *err)
{
    const char *start = csv->text;

    row->nr = row->length = 0;
    row->line = csv->line;
    if (csv->text == csv->end)
        return 0;
    for (;;) {
        if (read_field(csv, row, &start, err))
            return -1;
        if (csv->text == csv->end || *csv->text != ',')
            break;
        csv->text++;
    }
    csv_skip_line(csv); /* what is left of it: the line end */
    return 1;
}
