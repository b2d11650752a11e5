/* SPDX-License-Identifier: MIT */
#include "gputrace/import.h"

#include "base/file.h"
#include "base/text.h"
#include "gputrace/units.h"
#include "text/csv.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Columns that say what a row is about; every other one of a wide table is a metric. */
enum column { ID, KERNEL, CONTEXT, STREAM, BLOCK, GRID, DEVICE, METRIC, UNIT, VALUE, COLUMN_NR };

static const char *const names[COLUMN_NR] = {
    [ID] = "ID",
    [KERNEL] = "Kernel Name",
    [CONTEXT] = "Context",
    [STREAM] = "Stream",
    [BLOCK] = "Block Size",
    [GRID] = "Grid Size",
    [DEVICE] = "Device",
    [METRIC] = "Metric Name",
    [UNIT] = "Metric Unit",
    [VALUE] = "Metric Value",
};

static const char *const not_metrics[] = {
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Time",
    "CC",
    "Section Name",
    "Rule Name",
    "Rule Type",
    "Rule Description",
    "Estimated Speedup Type",
    "Estimated Speedup",
    "Invocations",
    "Range Name",
    "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
};

struct ncu {
    struct csv csv;
    struct csv_row header, units, row;
    size_t at[COLUMN_NR]; /* field of each column; SIZE_MAX where there is none */
    struct counter_list *list;
};

static const char *ncu_cell(const struct ncu *n, enum column column)
{
    return n->at[column] == SIZE_MAX ? "" : csv_text(&n->row, n->at[column]);
}

static int bad_cell(const struct ncu *n, size_t field, const char *problem, struct error *err)
{
    return error_set(err, "%s:%u:%u: %s: \"%.60s\" %s", n->csv.what, n->row.line,
                     n->row.items[field].column, csv_text(&n->header, field),
                     csv_text(&n->row, field), problem);
}

/* "12", "-1.5e3", "1,234.5" with three digits between commas. What follows the number may be a list
 * of its parts: "12 (5; 7)". */
static bool read_number(const char *text, double *value)
{
    char digits[64];
    size_t nr = 0, run = 0;
    bool commas = false, fraction = false;

    for (; *text && *text != ' ' && nr + 1 < sizeof(digits); text++) {
        if (*text == ',' && (fraction || run == 0 || run > 3 || (commas && run != 3)))
            return false;
        if (*text == ',') {
            commas = true;
            run = 0;
            continue;
        }
        if (!fraction && !isdigit((unsigned char)*text) && commas && run != 3)
            return false;
        fraction = fraction || !(isdigit((unsigned char)*text) || *text == '-' || *text == '+');
        run += isdigit((unsigned char)*text) && !fraction;
        digits[nr++] = *text;
    }
    if (*text && (*text != ' ' || !strchr("({;", text[1])))
        return false;
    digits[nr] = '\0';
    char *end;
    *value = strtod(digits, &end);
    return nr > 0 && *end == '\0' && isfinite(*value) && (!commas || fraction || run == 3);
}

static bool says_nothing(const char *text)
{
    return !*text || strcmp(text, "n/a") == 0 || strcmp(text, "nan") == 0 ||
           strcmp(text, "-nan") == 0 || strcmp(text, "inf") == 0;
}

/* Words without a unit are no error: some metrics are words ("CachePreferNone"). */
static int add_metric(struct ncu *n, struct kernel_counters *k, const char *metric,
                      const char *unit, size_t field, struct error *err)
{
    const char *text = csv_text(&n->row, field);
    char plain[COUNTER_UNIT_SIZE];
    double value = 0;

    if (says_nothing(text))
        return 0;
    if (!read_number(text, &value))
        return *unit ? bad_cell(n, field, "is no number", err) : 0;
    double factor = counter_unit(unit, plain);
    kernel_counters_add(n->list, k, metric, plain, value * factor);
    return 0;
}

/* "(256, 1, 1)". */
static void read_extent(const char *text, int32_t extent[3])
{
    for (int i = 0; i < 3; i++) {
        text += strcspn(text, "0123456789");
        char *end;
        extent[i] = *text ? (int32_t)strtol(text, &end, 10) : 0;
        text = *text ? end : text;
    }
}

static uint32_t read_small(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

/* The launch that this row is about: the last one again, where the ID is the same. */
static struct kernel_counters *launch_of_row(struct ncu *n, size_t first, struct error *err)
{
    struct counter_list *list = n->list;
    int64_t id = 0;

    if (text_parse_int(ncu_cell(n, ID), 0, INT64_MAX, "ID", &id, err)) {
        bad_cell(n, n->at[ID], "is no number of a launch", err);
        return NULL;
    }
    if (n->at[METRIC] != SIZE_MAX && list->nr > first && list->items[list->nr - 1].id == id)
        return &list->items[list->nr - 1];
    struct kernel_counters *k = counter_list_add(list, ncu_cell(n, KERNEL), id);
    read_extent(ncu_cell(n, BLOCK), k->block);
    read_extent(ncu_cell(n, GRID), k->grid);
    k->context = read_small(ncu_cell(n, CONTEXT));
    k->stream = read_small(ncu_cell(n, STREAM));
    if (*ncu_cell(n, DEVICE))
        k->device = (int32_t)read_small(ncu_cell(n, DEVICE));
    return k;
}

static bool is_metric(const struct ncu *n, size_t field)
{
    const char *name = csv_text(&n->header, field);

    for (int i = 0; i < COLUMN_NR; i++)
        if (n->at[i] == field)
            return false;
    for (size_t i = 0; i < sizeof(not_metrics) / sizeof(*not_metrics); i++)
        if (strcmp(not_metrics[i], name) == 0)
            return false;
    return true;
}

static int read_wide(struct ncu *n, struct kernel_counters *k, struct error *err)
{
    for (size_t i = 0; i < n->header.nr; i++)
        if (is_metric(n, i) &&
            add_metric(n, k, csv_text(&n->header, i), csv_text(&n->units, i), i, err))
            return -1;
    return 0;
}

static int read_row(struct ncu *n, size_t first, struct error *err)
{
    if (n->row.nr < n->header.nr)
        return error_set(err, "%s:%u: %zu fields, the header has %zu", n->csv.what, n->row.line,
                         n->row.nr, n->header.nr);
    struct kernel_counters *k = launch_of_row(n, first, err);
    if (!k)
        return -1;
    if (n->at[METRIC] == SIZE_MAX)
        return read_wide(n, k, err);
    /* The advice of ncu's rules stands in rows without a metric. */
    if (!*ncu_cell(n, METRIC))
        return 0;
    return add_metric(n, k, ncu_cell(n, METRIC), ncu_cell(n, UNIT), n->at[VALUE], err);
}

/* A program may print lines that start alike, but hardly a quoted "ID" or the other column. */
static bool is_header(const struct csv *csv)
{
    size_t left = (size_t)(csv->end - csv->text);
    const char *line_end = memchr(csv->text, '\n', left);
    size_t length = line_end ? (size_t)(line_end - csv->text) : left;

    if (length > 5 && memcmp(csv->text, "\"ID\",", 5) == 0)
        return true;
    return length > 3 && memcmp(csv->text, "ID,", 3) == 0 &&
           memmem(csv->text, length, names[KERNEL], strlen(names[KERNEL]));
}

/* Whatever the profiled program printed stands in front of the table. */
static int find_header(struct ncu *n, struct error *err)
{
    for (; n->csv.text < n->csv.end; csv_skip_line(&n->csv))
        if (is_header(&n->csv))
            return csv_next(&n->csv, &n->header, err) < 0 ? -1 : 0;
    return error_set(err, "%s: no table of `ncu --csv`: no line starts with \"ID\"", n->csv.what);
}

static int find_columns(struct ncu *n, struct error *err)
{
    for (int c = 0; c < COLUMN_NR; c++) {
        n->at[c] = SIZE_MAX;
        for (size_t i = 0; i < n->header.nr; i++)
            if (strcmp(csv_text(&n->header, i), names[c]) == 0)
                n->at[c] = i;
    }
    if (n->at[KERNEL] == SIZE_MAX)
        return error_set(err, "%s:%u: the table has no column \"Kernel Name\"", n->csv.what,
                         n->header.line);
    if (n->at[METRIC] != SIZE_MAX && n->at[VALUE] == SIZE_MAX)
        return error_set(err, "%s:%u: the table has \"Metric Name\", but no \"Metric Value\"",
                         n->csv.what, n->header.line);
    return 0;
}

/* Below the header of a wide table, units without an ID. */
static int read_units(struct ncu *n, struct error *err)
{
    struct csv before = n->csv;

    if (n->at[METRIC] != SIZE_MAX)
        return 0;
    int rc = csv_next(&n->csv, &n->units, err);
    if (rc > 0 && *csv_text(&n->units, n->at[ID])) {
        n->csv = before;
        n->units.nr = 0;
    }
    return rc < 0 ? -1 : 0;
}

static bool is_message(const struct csv *csv)
{
    return csv->end - csv->text >= 2 && memcmp(csv->text, "==", 2) == 0;
}

static int read_rows(struct ncu *n, struct error *err)
{
    size_t first = n->list->nr;

    for (;;) {
        while (is_message(&n->csv))
            csv_skip_line(&n->csv);
        int rc = csv_next(&n->csv, &n->row, err);
        if (rc <= 0)
            return rc;
        bool blank = n->row.nr == 1 && !*csv_text(&n->row, 0);
        if (!blank && read_row(n, first, err))
            return -1;
    }
}

int activity_import_ncu_text(const char *text, size_t length, const char *what,
                             struct counter_list *list, struct error *err)
{
    struct ncu n = { .list = list };

    csv_open(&n.csv, text, length, what);
    int rc =
        find_header(&n, err) || find_columns(&n, err) || read_units(&n, err) || read_rows(&n, err)
            ? -1
            : 0;
    csv_row_release(&n.header);
    csv_row_release(&n.units);
    csv_row_release(&n.row);
    return rc;
}

int activity_import_ncu_csv(const char *path, struct counter_list *list, struct error *err)
{
    size_t length = 0;
    char *text = file_read(path, FILE_RECORDS_MOST, &length, err);

    if (!text)
        return -1;
    int rc = activity_import_ncu_text(text, length, path, list, err);
    free(text);
    return rc;
}
