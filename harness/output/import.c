/* SPDX-License-Identifier: MIT */
#include "output/import.h"

#include "output/import_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAUNCH_MAX = 1000000 };

static const cJSON *member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* The first benchmark, of a list or of an object of them. */
static const cJSON *first_of(const cJSON *root, const char *key)
{
    const cJSON *list = member(root, key);

    return cJSON_IsArray(list) || cJSON_IsObject(list) ? list->child : NULL;
}

static bool is_records(const cJSON *root)
{
    return member(root, "schema_version") && cJSON_IsArray(member(root, "runs"));
}

static bool is_hyperfine(const cJSON *root)
{
    return member(first_of(root, "results"), "command") != NULL;
}

static bool is_pytest(const cJSON *root)
{
    return member(first_of(root, "benchmarks"), "stats") || member(root, "machine_info");
}

static bool is_nvbench(const cJSON *root)
{
    return member(first_of(root, "benchmarks"), "states") ||
           member(member(member(root, "meta"), "version"), "nvbench");
}

static bool is_summary(const cJSON *root)
{
    const cJSON *first = first_of(root, "benchmarks");

    return member(first, "timing") || (member(root, "metadata") && first) ||
           cJSON_IsObject(member(root, "comparisons"));
}

static bool is_gbench(const cJSON *root)
{
    const cJSON *first = first_of(root, "benchmarks");

    return cJSON_IsArray(member(root, "benchmarks")) &&
           (member(root, "context") || member(first, "real_time") || member(first, "run_type"));
}

static bool is_criterion(const cJSON *root)
{
    return cJSON_IsString(member(root, "reason"));
}

static bool is_kernels(const cJSON *root)
{
    return cJSON_IsArray(root) && cJSON_IsObject(root->child);
}

/* None fits what another one fits. */
static const struct format {
    const char *name, *title;
    bool (*fits)(const cJSON *root);
    import_fn *parse;
} formats[IMPORT_FORMAT_NR] = {
    [IMPORT_RECORDS] = { "records", "harness", is_records, NULL },
    [IMPORT_HYPERFINE] = { "hyperfine", "hyperfine", is_hyperfine, import_hyperfine },
    [IMPORT_PYTEST] = { "pytest", "pytest-benchmark", is_pytest, import_pytest },
    [IMPORT_NVBENCH] = { "nvbench", "NVBench", is_nvbench, import_nvbench },
    [IMPORT_SUMMARY] = { "summary", "a summary", is_summary, import_summary },
    [IMPORT_GBENCH] = { "gbench", "Google Benchmark", is_gbench, import_gbench },
    [IMPORT_CRITERION] = { "criterion", "criterion", is_criterion, import_criterion },
    [IMPORT_KERNELS] = { "kernels", "a list of kernels", is_kernels, import_kernels },
};

static void list_formats(struct strbuf *out)
{
    for (int i = 1; i < IMPORT_FORMAT_NR; i++)
        strbuf_addf(out, "%s%s", i > 1 ? ", " : "", formats[i].name);
}

int import_format_find(const char *name, enum import_format *format, struct error *err)
{
    struct strbuf list;

    for (int i = 1; i < IMPORT_FORMAT_NR; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            *format = (enum import_format)i;
            return 0;
        }
    }
    strbuf_init(&list);
    list_formats(&list);
    error_set(err, "--format: \"%.60s\" is none that can be imported; there are %s", name,
              list.data);
    strbuf_release(&list);
    return -1;
}

const char *import_format_title(enum import_format format)
{
    return formats[format].title;
}

static void tell_unknown(const struct import_build *b, struct error *err)
{
    struct strbuf list;

    strbuf_init(&list);
    list_formats(&list);
    error_set(err,
              "%s: this is JSON, but of none of the programs that are known; --format NAME forces "
              "one of %s",
              b->what, list.data);
    strbuf_release(&list);
}

/* A stream of messages is many JSON texts: its first line is one of them. */
static enum import_format recognise(struct import_build *b, const char *text, size_t length,
                                    struct error *err)
{
    const char *end = memchr(text, '\n', length);
    struct error ignored;

    if (end && import_read(b, text, (size_t)(end - text), &ignored) == 0 &&
        is_criterion(b->source.root))
        return IMPORT_CRITERION;
    if (import_read(b, text, length, err))
        return IMPORT_ANY;
    for (int i = 1; i < IMPORT_FORMAT_NR; i++)
        if (formats[i].fits(b->source.root))
            return (enum import_format)i;
    tell_unknown(b, err);
    return IMPORT_ANY;
}

/* ---- records of our own ---- */

static bool is_uuid(const char *text)
{
    size_t i = 0;

    for (; text[i]; i++)
        if (i == 8 || i == 13 || i == 18 || i == 23 ? text[i] != '-'
                                                    : !isxdigit((unsigned char)text[i]))
            return false;
    return i == 36;
}

/* Names stand in tables and on terminals. */
static bool is_plain(const char *text)
{
    while (*text && !iscntrl((unsigned char)*text))
        text++;
    return *text == '\0';
}

static int check_run(const struct import_build *b, const struct run *run, struct error *err)
{
    const char *const names[] = { run->label,        run->suite,        run->machine.class_name,
                                  run->build.commit, run->build.branch, run->build.version };
    size_t number = (size_t)(run - b->out->records.runs) + 1;

    if (!is_uuid(run->uuid))
        return error_set(err, "%s: run %zu has no uuid", b->what, number);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!is_plain(names[i]))
            return error_set(err, "%s: a name of run %zu has control characters in it", b->what,
                             number);
    return 0;
}

static int check_record(const struct import_build *b, const struct record *r, struct error *err)
{
    if (r->launch_seq < 0 || r->launch_seq > LAUNCH_MAX)
        return error_set(err, "%s: \"launch\" of a measurement is not in 0 to %d", b->what,
                         LAUNCH_MAX);
    if (!is_plain(r->m.bench.key))
        return error_set(err, "%s: a \"key\" has control characters in it", b->what);
    return 0;
}

static int parse_records(struct import_build *b, struct error *err)
{
    struct records *records = &b->out->records;

    if (records_from_json(b->source.root, records, err))
        return error_prefix(err, "%s", b->what);
    for (size_t i = 0; i < records->nr_runs; i++)
        if (check_run(b, &records->runs[i], err))
            return -1;
    for (size_t i = 0; i < records->nr; i++)
        if (check_record(b, &records->items[i], err))
            return -1;
    return records->nr ? 0 : error_set(err, "%s: there is no measurement in it", b->what);
}

/* ---- all ---- */

static int parse(struct import_build *b, const char *text, size_t length, struct error *err)
{
    enum import_format format = b->options->format;

    if (format == IMPORT_ANY)
        format = recognise(b, text, length, err);
    else if (format != IMPORT_CRITERION && import_read(b, text, length, err))
        return -1;
    if (format == IMPORT_ANY)
        return -1;
    b->out->format = format;
    if (format == IMPORT_RECORDS)
        return parse_records(b, err);
    b->run = records_add_run(&b->out->records);
    b->facts = cJSON_CreateObject();
    b->text = text;
    b->length = length;
    return formats[format].parse(b) ? -1 : import_end(b);
}

int import_parse(const char *text, size_t length, const char *what,
                 const struct import_options *options, struct imported *out, struct error *err)
{
    struct import_build b = { .options = options, .what = what, .out = out, .err = err };

    *out = (struct imported) { .format = IMPORT_ANY };
    int rc = parse(&b, text, length, err);
    import_build_release(&b);
    return rc;
}

void imported_release(struct imported *imported)
{
    records_release(&imported->records);
    string_list_release(&imported->notes);
}

int import_launches(const struct records *records, int run)
{
    int last = -1;

    for (size_t i = 0; i < records->nr; i++)
        if (records->items[i].run == run && records->items[i].launch_seq > last)
            last = records->items[i].launch_seq;
    return last + 1;
}
