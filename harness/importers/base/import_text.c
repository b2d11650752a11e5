/* SPDX-License-Identifier: MIT */
/* Text that programs print: lines, CSV, units. */
#include "importers/base/import_base.h"

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

/* The next cell of a line (RFC 4180, without line ends in cells); NULL: there is none. */
static const char *csv_next_cell(const char *at, struct strbuf *cell)
{
    bool quoted = *at == '"';

    strbuf_clear(cell);
    if (!quoted) {
        size_t length = strcspn(at, ",");
        strbuf_add(cell, at, length);
        return at[length] ? at + length + 1 : NULL;
    }
    for (at++; *at && !(at[0] == '"' && at[1] != '"'); at++) {
        at += at[0] == '"';
        strbuf_addc(cell, *at);
    }
    at += *at == '"';
    at += strcspn(at, ",");
    return *at ? at + 1 : NULL;
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
 * Google Benchmark tells of an error. */
static int csv_read_row(struct import_build *b, const cJSON *head, const char *line, bool cut,
                        cJSON *list)
{
    struct strbuf cell;
    cJSON *row = cJSON_CreateObject();
    const cJSON *column = head->child;

    strbuf_init(&cell);
    cJSON_AddItemToArray(list, row);
    *array_push(&b->source) = (struct json_line) { row, b->line, 1 };
    for (const char *at = line; at && column; column = column->next) {
        at = csv_next_cell(at, &cell);
        if (!cJSON_HasObjectItem(row, column->valuestring))
            csv_add_cell(b, row, column->valuestring, cell.data);
        if (at && !column->next) {
            strbuf_release(&cell);
            return import_refuse(b, row, "more cells than the head line names");
        }
    }
    strbuf_release(&cell);
    return column && cut ? import_refuse(b, row, "truncated: the last line ends before \"%.40s\"",
                                         column->valuestring)
                         : 0;
}

static cJSON *csv_read_head(const char *line)
{
    cJSON *head = cJSON_CreateArray();
    struct strbuf cell;

    strbuf_init(&cell);
    for (const char *at = line; at;) {
        at = csv_next_cell(at, &cell);
        cJSON_AddItemToArray(head, cJSON_CreateString(cell.data));
    }
    strbuf_release(&cell);
    return head;
}

int import_read_csv(struct import_build *b, const char *name)
{
    const char *at = NULL;
    struct strbuf line;
    cJSON *head = NULL, *list;
    int rc = 0, rows = 0;

    json_source_release(&b->source);
    b->source.root = cJSON_CreateObject();
    list = cJSON_AddArrayToObject(b->source.root, name);
    strbuf_init(&line);
    while (rc == 0 && import_next_line(b, &at, &line)) {
        if (!line.length)
            continue;
        if (!head)
            head = csv_read_head(line.data);
        else if (++rows > IMPORT_CASES_MOST)
            rc =
                import_refuse(b, NULL, "more than %d lines; import it in parts", IMPORT_CASES_MOST);
        else
            rc = csv_read_row(b, head, line.data, at > b->text + b->length, list);
    }
    b->line = 0;
    cJSON_Delete(head);
    strbuf_release(&line);
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
