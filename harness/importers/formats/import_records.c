/* SPDX-License-Identifier: MIT */
/*
 * Records of our own, with raw samples: as JSON, and as the page of a report holds them. They are
 * checked, for they may come from anywhere.
 */
#include "base/json.h"
#include "base/memory.h"
#include "base/pack.h"
#include "base/utf8.h"
#include "importers/base/import_base.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

enum { LAUNCH_MAX = 1000000 };

static bool is_uuid(const char *text)
{
    size_t i = 0;

    for (; text[i]; i++)
        if (i == 8 || i == 13 || i == 18 || i == 23 ? text[i] != '-'
                                                    : !isxdigit((unsigned char)text[i]))
            return false;
    return i == 36;
}

/* Names stand in tables and on terminals: UTF-8 without control characters. */
static bool records_is_plain(const char *text)
{
    uint32_t code;

    for (size_t length; *text; text += length) {
        length = utf8_decode(text, &code);
        if (length == 0 || code < ' ' || code == 0x7f)
            return false;
    }
    return true;
}

static int records_check_run(const struct import_build *b, const struct run *run, struct error *err)
{
    const char *const names[] = { run->label,        run->suite,        run->machine.class_name,
                                  run->build.commit, run->build.branch, run->build.version };
    size_t number = (size_t)(run - b->out->records.runs) + 1;

    if (!is_uuid(run->uuid))
        return error_set(err, "%s: run %zu has no uuid", b->what, number);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!records_is_plain(names[i]))
            return error_set(err,
                             "%s: a name of run %zu has control characters in it, or is no UTF-8",
                             b->what, number);
    return 0;
}

static int records_check_record(const struct import_build *b, const struct record *r,
                                struct error *err)
{
    if (r->launch_seq < 0 || r->launch_seq > LAUNCH_MAX)
        return error_set(err, "%s: \"launch\" of a measurement is not in 0 to %d", b->what,
                         LAUNCH_MAX);
    if (!*r->m.bench.key || !records_is_plain(r->m.bench.key))
        return error_set(err, "%s: a \"key\" has control characters in it, is no UTF-8, or empty",
                         b->what);
    return 0;
}

static int records_read(struct import_build *b, const cJSON *root)
{
    struct records *records = &b->out->records;
    struct error *err = b->err;

    if (records_from_json(root, records, err))
        return error_prefix(err, "%s", b->what);
    for (size_t i = 0; i < records->nr_runs; i++)
        if (records_check_run(b, &records->runs[i], err))
            return -1;
    for (size_t i = 0; i < records->nr; i++)
        if (records_check_record(b, &records->items[i], err))
            return -1;
    return records->nr ? 0 : error_set(err, "%s: there is no measurement in it", b->what);
}

static int records_parse(struct import_build *b)
{
    return records_read(b, b->source.root);
}

const struct import_format_row import_records = { .signs = { "schema_version runs[" },
                                                  .parse = records_parse,
                                                  .own = true };

/*
 * ---- the page of a report ----
 *
 * Three blocks of it are read: "core" has the runs and the benchmarks, "table" who was measured in
 * which run with what outcome, "samples" the raw samples by "RUN:BENCHMARK", of each launch. Times
 * are those of one iteration, of five digits, and may be some of more; figures are not read.
 */

enum { PAGE_BLOCK_MOST = 1 << 29 };

struct report_page {
    struct import_build *b;
    cJSON *core, *table, *samples, *root; /* owned; root is the records made of them */
    const cJSON **benchmarks;             /* of core, by number */
    cJSON **measurements;                 /* of each run in root */
    int nr_benchmarks, nr_runs;
    size_t of, kept;       /* samples that were taken, that the page has */
    size_t times, sampled; /* measurements with a time; with samples in the page */
};

/* What the page has under that name; NULL: there is none. */
static const char *report_block(const struct import_build *b, const char *name, size_t *length)
{
    static const char close[] = "</script>";
    char mark[64];

    snprintf(mark, sizeof(mark), " id=\"harness-%s\">", name);
    const char *from = memmem(b->text, b->length, mark, strlen(mark));
    if (!from)
        return NULL;
    from += strlen(mark);
    *length = (size_t)(b->text + b->length - from);
    const char *end = memmem(from, *length, close, sizeof(close) - 1);
    if (end)
        *length = (size_t)(end - from);
    return from;
}

/* A block as JSON: as it stands, or as base64 of gzip. NULL: there is none, or it is damaged. */
static cJSON *report_json(const struct import_build *b, const char *name, struct error *err)
{
    size_t length = 0;
    const char *text = report_block(b, name, &length);
    struct strbuf packed, plain;
    cJSON *json = NULL;

    error_set(err, "there is none");
    if (!text)
        return NULL;
    strbuf_init(&packed);
    strbuf_init(&plain);
    if (length > 0 && *text == '{')
        json = json_parse(text, length, name, err);
    else if (!base64_undo(&packed, text, length, err) &&
             !gzip_undo(&plain, packed.data, packed.length, PAGE_BLOCK_MOST, err))
        json = json_parse(plain.data, plain.length, name, err);
    strbuf_release(&packed);
    strbuf_release(&plain);
    return json;
}

static int report_blocks(struct report_page *p)
{
    const struct {
        const char *name;
        cJSON **json;
    } blocks[] = { { "core", &p->core }, { "table", &p->table }, { "samples", &p->samples } };

    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        struct error why;
        *blocks[i].json = report_json(p->b, blocks[i].name, &why);
        if (!*blocks[i].json)
            return import_refuse(p->b, NULL,
                                 "this is the page of a report, cut short or damaged: its block "
                                 "\"%s\" cannot be read: %s",
                                 blocks[i].name, why.message);
    }
    return 0;
}

/* Runs as records have them, each with a list of measurements that is empty as yet. */
static void report_runs(struct report_page *p)
{
    const cJSON *item, *list = import_member(p->core, "benchmarks");
    cJSON *runs;

    p->root = cJSON_CreateObject();
    cJSON_AddNumberToObject(p->root, "schema_version", 1);
    runs = cJSON_AddArrayToObject(p->root, "runs");
    p->measurements = memory_zeroed((size_t)cJSON_GetArraySize(import_member(p->core, "runs")) + 1,
                                    sizeof(cJSON *));
    cJSON_ArrayForEach(item, import_member(p->core, "runs"))
    {
        cJSON *run = cJSON_Duplicate(item, true);
        cJSON_DeleteItemFromObjectCaseSensitive(run, "measurements");
        p->measurements[p->nr_runs++] = cJSON_AddArrayToObject(run, "measurements");
        cJSON_AddItemToArray(runs, run);
    }
    p->benchmarks = memory_zeroed((size_t)cJSON_GetArraySize(list) + 1, sizeof(cJSON *));
    cJSON_ArrayForEach(item, list) p->benchmarks[p->nr_benchmarks++] = item;
}

/* A measurement of that benchmark in that run; NULL: there is no such. */
static cJSON *report_measurement(struct report_page *p, double run, double benchmark, int launch,
                                 const char *outcome)
{
    if (!(run >= 0 && run < p->nr_runs && benchmark >= 0 && benchmark < p->nr_benchmarks))
        return NULL;
    const cJSON *of = p->benchmarks[(int)benchmark];
    cJSON *m = cJSON_CreateObject(), *list = p->measurements[(int)run];

    if (!list) { /* cJSON gives none where the run is no object */
        cJSON_Delete(m);
        return NULL;
    }
    cJSON_AddStringToObject(m, "key", json_string(of, "key", ""));
    cJSON_AddBoolToObject(m, "vendor", json_bool(of, "vendor", false));
    cJSON_AddStringToObject(m, "outcome", outcome);
    cJSON_AddNumberToObject(m, "launch", launch);
    cJSON_AddItemToArray(list, m);
    return m;
}

static void report_add_samples(cJSON *m, const cJSON *times, double batch)
{
    cJSON *samples = cJSON_AddArrayToObject(m, "samples_ns");
    const cJSON *time;

    cJSON_ArrayForEach(time, times)
        cJSON_AddItemToArray(samples, cJSON_CreateNumber(rint(time->valuedouble * batch)));
}

/* One "RUN:BENCHMARK": a measurement for each launch. */
static int report_sampled(struct report_page *p, const cJSON *entry)
{
    const cJSON *times, *fact, *start = import_member(entry, "started_ms");
    bool thinned = json_int(entry, "kept", 0) < json_int(entry, "of", 0);
    double run = -1, benchmark = -1, batch = json_number(entry, "batch", 1);
    int launch = 0;

    if (sscanf(entry->string, "%lf:%lf", &run, &benchmark) != 2)
        return import_refuse(p->b, NULL, "samples of \"%.40s\", which is no run and benchmark",
                             entry->string);
    start = start ? start->child : NULL;
    cJSON_ArrayForEach(times, import_member(entry, "launches"))
    {
        cJSON *m = report_measurement(p, run, benchmark, launch++, "OK");
        if (!m)
            return import_refuse(p->b, NULL, "samples of \"%.40s\", which it does not have",
                                 entry->string);
        cJSON_AddBoolToObject(m, "thinned", thinned);
        cJSON_AddNumberToObject(m, "batch", batch);
        cJSON_AddStringToObject(m, "clock", json_string(entry, "clock", ""));
        cJSON_AddNumberToObject(m, "started_ms", start ? start->valuedouble : 0);
        cJSON_ArrayForEach(fact, import_member(entry, "facts"))
            cJSON_AddItemToObject(m, fact->string, cJSON_Duplicate(fact, true));
        report_add_samples(m, times, batch);
        start = start ? start->next : NULL;
    }
    p->of += (size_t)json_int(entry, "of", 0);
    p->kept += (size_t)json_int(entry, "kept", 0);
    p->sampled++;
    return 0;
}

/* What has no time is in the table alone. */
static int report_outcomes(struct report_page *p)
{
    const cJSON *benchmark = import_member(p->table, "benchmark");
    const cJSON *outcome = import_member(p->table, "outcome"), *run;

    benchmark = benchmark ? benchmark->child : NULL;
    outcome = outcome ? outcome->child : NULL;
    cJSON_ArrayForEach(run, import_member(p->table, "run"))
    {
        if (!benchmark || !outcome || !cJSON_IsString(outcome))
            return import_refuse(p->b, NULL, "the table of this report is damaged");
        if (strcmp(outcome->valuestring, "OK") == 0)
            p->times++;
        else if (!report_measurement(p, run->valuedouble, benchmark->valuedouble, 0,
                                     outcome->valuestring))
            return import_refuse(p->b, NULL,
                                 "the table of this report names what it does not have");
        benchmark = benchmark->next;
        outcome = outcome->next;
    }
    return 0;
}

/* Runs of which the page has numbers alone are left out. */
static size_t report_drop_empty(struct report_page *p)
{
    cJSON *runs = cJSON_GetObjectItemCaseSensitive(p->root, "runs"), *run = runs->child;
    size_t dropped = 0;

    while (run) {
        cJSON *next = run->next;
        if (cJSON_GetArraySize(import_member(run, "measurements")) == 0) {
            cJSON_Delete(cJSON_DetachItemViaPointer(runs, run));
            dropped++;
        }
        run = next;
    }
    return dropped;
}

static void report_note(struct report_page *p, size_t dropped)
{
    import_note(p->b, "of a report: times have five digits, and telemetry is not in it");
    if (p->times > p->sampled)
        import_note(p->b,
                    "%zu of %zu measurements have no raw samples in the report and are left out",
                    p->times - p->sampled, p->times);
    if (dropped)
        import_note(p->b, "%zu of its runs %s none at all", dropped, dropped == 1 ? "has" : "have");
    if (p->kept < p->of)
        import_note(p->b, "the report has %zu of %zu samples, evenly spread", p->kept, p->of);
}

static int report_read(struct report_page *p)
{
    const cJSON *entry;

    if (report_blocks(p))
        return -1;
    report_runs(p);
    cJSON_ArrayForEach(entry, p->samples) if (report_sampled(p, entry)) return -1;
    if (report_outcomes(p))
        return -1;
    size_t dropped = report_drop_empty(p);
    if (records_read(p->b, p->root))
        return -1;
    report_note(p, dropped);
    return 0;
}

static int report_parse(struct import_build *b)
{
    struct report_page p = { .b = b };
    int rc = report_read(&p);

    cJSON_Delete(p.core);
    cJSON_Delete(p.table);
    cJSON_Delete(p.samples);
    cJSON_Delete(p.root);
    free(p.benchmarks);
    free(p.measurements);
    return rc;
}

static bool report_fits(const char *text, size_t length)
{
    static const char mark[] = " id=\"harness-core\">";

    return memmem(text, length, mark, sizeof(mark) - 1) != NULL;
}

const struct import_format_row import_report = { .fits_text = report_fits,
                                                 .parse = report_parse,
                                                 .own = true };
