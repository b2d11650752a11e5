/* SPDX-License-Identifier: MIT */
/* Google Benchmark's --benchmark_out_format=csv, with what it prints in front of the table, as the
 * JSON that it would have written. */
#include "importers/base/import_base.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const char csv_head[] = "name,iterations,real_time,cpu_time,time_unit,";

/* "  L1 Data 48 KiB (x2)" */
static void gbench_csv_read_cache(const char *line, cJSON *context)
{
    char type[16] = "";
    double size;
    int level;

    if (sscanf(line, " L%d %15s %lf KiB", &level, type, &size) != 3)
        return;
    if (!cJSON_HasObjectItem(context, "caches"))
        cJSON_AddArrayToObject(context, "caches");
    cJSON *cache = cJSON_CreateObject();
    cJSON_AddStringToObject(cache, "type", type);
    cJSON_AddNumberToObject(cache, "level", level);
    cJSON_AddNumberToObject(cache, "size", size * 1024);
    cJSON_AddItemToArray(cJSON_GetObjectItem(context, "caches"), cache);
}

/* What stands in front of the table, as JSON has it. */
static void gbench_csv_read_context(const char *line, cJSON *context)
{
    double cpus, mhz, load;
    int64_t ms;
    struct error ignored;

    if (sscanf(line, "Run on (%lf X %lf MHz", &cpus, &mhz) == 2) {
        cJSON_AddNumberToObject(context, "num_cpus", cpus);
        cJSON_AddNumberToObject(context, "mhz_per_cpu", mhz);
    } else if (sscanf(line, "Load Average: %lf", &load) == 1)
        cJSON_AddItemToArray(cJSON_AddArrayToObject(context, "load_avg"), cJSON_CreateNumber(load));
    else if (strncmp(line, "***WARNING*** Library was built as DEBUG", 40) == 0)
        cJSON_AddStringToObject(context, "library_build_type", "debug");
    else if (!cJSON_HasObjectItem(context, "date") &&
             text_parse_date(line, "date", &ms, &ignored) == 0)
        cJSON_AddStringToObject(context, "date", line);
    else
        gbench_csv_read_cache(line, context);
}

/* Its lines in front of the head line; the text begins with that then. */
static cJSON *gbench_csv_context(struct import_build *b)
{
    cJSON *context = cJSON_CreateObject();
    const char *at = NULL, *table = b->text;
    struct strbuf line;

    strbuf_init(&line);
    while (import_next_line(b, &at, &line) &&
           strncmp(line.data, csv_head, sizeof(csv_head) - 1) != 0) {
        gbench_csv_read_context(line.data, context);
        table = at;
    }
    size_t before = (size_t)(table - b->text);
    before = before < b->length ? before : b->length;
    b->length -= before;
    b->text += before;
    b->line--;
    strbuf_release(&line);
    return context;
}

/* Names alone say it: BM_Sort_mean is an aggregate where BM_Sort_median follows. */
static void gbench_csv_mark_aggregates(const cJSON *list)
{
    char base[512], last[512] = "", next[512];
    cJSON *row;

    cJSON_ArrayForEach(row, list)
    {
        const char *text = json_string(row, "name", "");
        const char *which = import_gbench_aggregate_of(text, base, sizeof(base));
        const char *behind = json_string(row->next, "name", "");
        bool fit = which && (strcmp(which, "BigO") == 0 || strcmp(which, "RMS") == 0);
        bool first = which && strcmp(which, "mean") == 0 &&
                     import_gbench_aggregate_of(behind, next, sizeof(next)) &&
                     strcmp(base, next) == 0;
        if (!first && !fit && !(which && strcmp(base, last) == 0))
            continue;
        snprintf(last, sizeof(last), "%s", base);
        cJSON_AddStringToObject(row, "run_type", "aggregate");
        cJSON_AddStringToObject(row, "run_name", base);
        cJSON_AddStringToObject(row, "aggregate_name", which);
    }
}

/* From 1.8 on what was skipped for no error says why where errors do. */
static void gbench_csv_mark_skipped(const cJSON *list)
{
    cJSON *row;

    cJSON_ArrayForEach(row, list)
    {
        if (strcmp(json_string(row, "error_occurred", ""), "false") == 0 &&
            !cJSON_HasObjectItem(row, "real_time"))
            cJSON_AddStringToObject(row, "skip_message",
                                    json_string(row, "error_message", "skipped"));
    }
}

static int gbench_csv_parse(struct import_build *b)
{
    cJSON *context = gbench_csv_context(b);
    const cJSON *list;

    if (import_read_csv(b, "benchmarks")) {
        cJSON_Delete(context);
        return -1;
    }
    cJSON_AddItemToObject(b->source.root, "context", context);
    list = import_member(b->source.root, "benchmarks");
    gbench_csv_mark_aggregates(list);
    gbench_csv_mark_skipped(list);
    return import_gbench_parse(b);
}

static bool gbench_csv_fits(const char *text, size_t length)
{
    const char *end = text + length;

    for (int i = 0; i < 50 && text < end; i++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        if ((size_t)(end - text) >= sizeof(csv_head) &&
            memcmp(text, csv_head, sizeof(csv_head) - 1) == 0)
            return true;
        text = newline ? newline + 1 : end;
    }
    return false;
}

const struct import_format_row import_gbench_csv = { .fits_text = gbench_csv_fits,
                                                     .parse = gbench_csv_parse };
