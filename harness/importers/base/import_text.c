/* SPDX-License-Identifier: MIT */
/* Text that programs print: lines, CSV, units. */
#include "importers/base/import_base.h"

#include "text/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool import_next_line(struct import_build *b, const char **at, struct strbuf *line)
{
    const char *end = b->text + b->length, *begin = *at ? *at : b->text;

    if (begin >= end)
        return false;
    const char *newline = memchr(begin, '\n', (size_t)(end - begin));
    size_t length = (size_t)((newline ? newline : end) - begin);
    *at = begin + length + 1;
    b->line++;
    strbuf_clear(line);
    strbuf_add(line, begin, length - (length && begin[length - 1] == '\r'));
    line->length = strlen(line->data); /* what comes behind a NUL is no text */
    return true;
}

/* ---- CSV ---- */

struct csv_head {
    struct csv_row row;
    bool *first; /* of each column: none before it has its name */
};

struct csv_column {
    const char *name;
    size_t at;
};

static int csv_order_columns(const void *a, const void *b)
{
    const struct csv_column *left = a, *right = b;
    int order = strcmp(left->name, right->name);

    return order ? order : (left->at > right->at) - (left->at < right->at);
}

/* Once, in order: there may be hundreds of thousands of columns. */
static bool *csv_find_first(const struct csv_row *row)
{
    struct csv_column *sorted = memory_zeroed(row->nr, sizeof(*sorted));
    bool *first = memory_zeroed(row->nr, sizeof(*first));

    for (size_t i = 0; i < row->nr; i++)
        sorted[i] = (struct csv_column) { csv_text(row, i), i };
    qsort(sorted, row->nr, sizeof(*sorted), csv_order_columns);
    for (size_t i = 0; i < row->nr; i++)
        first[sorted[i].at] = i == 0 || strcmp(sorted[i].name, sorted[i - 1].name) != 0;
    free(sorted);
    return first;
}

static void csv_add_cell(struct import_build *b, cJSON *row, const char *column, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    bool number = strchr("-0123456789.", *text) && *end == '\0' && isfinite(value);

    if (*text == '\0')
        return;
    cJSON *item = number ? cJSON_AddNumberToObject(row, column, value)
                         : cJSON_AddStringToObject(row, column, text);
    *array_push(&b->source) = (struct json_line) { item, b->line, 1 };
}

/* `cut`: the text ends in this line. Elsewhere cells may be missing at its end, as they are where
 * Google Benchmark tells of an error. Of columns of one name the first counts. */
static int csv_read_row(struct import_build *b, const struct csv_head *head,
                        const struct csv_row *row, bool cut, cJSON *list)
{
    cJSON *object = cJSON_CreateObject();

    b->line = (int)row->line;
    cJSON_AddItemToArray(list, object);
    *array_push(&b->source) = (struct json_line) { object, b->line, 1 };
    for (size_t i = 0; i < row->nr; i++) {
        if (i == head->row.nr)
            return import_refuse(b, object, "more cells than the head line names");
        if (head->first[i])
            csv_add_cell(b, object, csv_text(&head->row, i), csv_text(row, i));
        if (b->source.nr > JSON_VALUES_MOST)
            return import_refuse(b, object,
                                 "more than %zu values, which is more than one file may have",
                                 JSON_VALUES_MOST);
    }
    return cut && row->nr < head->row.nr
               ? import_refuse(b, object, "truncated: the last line ends before \"%.40s\"",
                               csv_text(&head->row, row->nr))
               : 0;
}

/* The next row that is not blank, as csv_next(). */
static int csv_next_filled(struct csv *csv, struct csv_row *row, struct error *err)
{
    int rc;

    do
        rc = csv_next(csv, row, err);
    while (rc > 0 && row->nr == 1 && !*csv_text(row, 0));
    return rc;
}

static int csv_read_rows(struct import_build *b, struct csv *csv, struct csv_head *head,
                         struct csv_row *row, cJSON *list)
{
    int rc = csv_next_filled(csv, &head->row, b->err);

    if (rc > 0)
        head->first = csv_find_first(&head->row);
    for (int nr = 1; rc > 0 && (rc = csv_next_filled(csv, row, b->err)) > 0; nr++) {
        bool cut = csv->text == csv->end && csv->end[-1] != '\n';
        if (nr > IMPORT_CASES_MOST)
            return import_refuse(b, NULL, "more than %d lines; import it in parts",
                                 IMPORT_CASES_MOST);
        if (csv_read_row(b, head, row, cut, list))
            return -1;
    }
    return rc;
}

int import_read_csv(struct import_build *b, const char *name)
{
    struct csv csv;
    struct csv_head head = { .first = NULL };
    struct csv_row row = { 0 };

    json_source_release(&b->source);
    b->source.root = cJSON_CreateObject();
    csv_open(&csv, b->text, b->length, b->what);
    csv.line += (unsigned)b->line; /* those in front of it, which were read */
    int rc = csv_read_rows(b, &csv, &head, &row, cJSON_AddArrayToObject(b->source.root, name));
    b->line = 0;
    csv_row_release(&head.row);
    free(head.first);
    csv_row_release(&row);
    return rc;
}

/* ---- units ---- */

struct unit_row {
    const char *name;
    double size;
};

static double unit_find(const struct unit_row *rows, const char *text, size_t length)
{
    for (; rows->name; rows++)
        if (strlen(rows->name) == length && strncmp(rows->name, text, length) == 0)
            return rows->size;
    return 0;
}

static double unit_time(const char *text, size_t length)
{
    static const struct unit_row rows[] = { { "ns", 1 },
                                            { "us", 1e3 },
                                            { "µs", 1e3 },
                                            { "μs", 1e3 },
                                            { "ms", 1e6 },
                                            { "s", 1e9 },
                                            { "sec", 1e9 },
                                            { "min", 6e10 },
                                            { "second", 1e9 },
                                            { "seconds", 1e9 },
                                            { "m", 6e10 },
                                            { "nanoseconds", 1 },
                                            { "milliseconds", 1e6 },
                                            { "microseconds", 1e3 },
                                            { "minutes", 6e10 },
                                            { "hr", 3.6e12 },
                                            { NULL, 0 } };

    return unit_find(rows, text, length);
}

static double unit_bytes(const char *text, size_t length)
{
    static const struct unit_row rows[] = { { "B", 1 },        { "bytes", 1 },    { "kB", 1e3 },
                                            { "KB", 1e3 },     { "MB", 1e6 },     { "GB", 1e9 },
                                            { "KiB", 0x1p10 }, { "MiB", 0x1p20 }, { "GiB", 0x1p30 },
                                            { NULL, 0 } };

    return unit_find(rows, text, length);
}

double import_unit_ns(const char *unit)
{
    return unit_time(unit, strlen(unit));
}

struct import_unit import_unit_of(const char *text)
{
    size_t length = strlen(text), first = strcspn(text, "/ ");
    const char *slash = strchr(text, '/');
    struct import_unit u = { .kind = IMPORT_UNIT_OTHER };

    u.ns = unit_time(text, slash ? (size_t)(slash - text) : length);
    if (u.ns == 0 && strncmp(text + first, " per ", 5) == 0)
        u.ns = unit_time(text, first);
    if (u.ns > 0) {
        u.kind = IMPORT_UNIT_TIME; /* "ns/op": of one, whatever it is called */
        return u;
    }
    if (strcasecmp(text, "Hz") == 0)
        u.ns = 1e9;
    else if (slash)
        u.ns = unit_time(slash + 1, strlen(slash + 1));
    if (u.ns > 0) {
        u.kind = IMPORT_UNIT_RATE;
        u.bytes = slash ? unit_bytes(text, (size_t)(slash - text)) : 0;
    }
    return u;
}

int import_quantity(struct import_build *b, struct import_case *c, const cJSON *at, double value,
                    const char *unit, const char *name)
{
    struct import_unit u = import_unit_of(unit);

    if (u.kind == IMPORT_UNIT_OTHER) {
        import_main_number(b, c, name, "value", unit, value);
        return 0;
    }
    if (u.kind == IMPORT_UNIT_TIME)
        return import_statistic(b, c, at, value * u.ns);
    if (value <= 0)
        return import_refuse(b, at, "a rate of %g %.40s gives no time", value, unit);
    b->rates++;
    import_work(c, 0, u.bytes);
    return import_statistic(b, c, at, u.ns / value);
}
