/* SPDX-License-Identifier: MIT */
/* Records of our own, with raw samples: checked, for they may come from anywhere. */
#include "importers/import_base.h"

#include <ctype.h>

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

/* Names stand in tables and on terminals. */
static bool records_is_plain(const char *text)
{
    while (*text && !iscntrl((unsigned char)*text))
        text++;
    return *text == '\0';
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
            return error_set(err, "%s: a name of run %zu has control characters in it", b->what,
                             number);
    return 0;
}

static int records_check_record(const struct import_build *b, const struct record *r,
                                struct error *err)
{
    if (r->launch_seq < 0 || r->launch_seq > LAUNCH_MAX)
        return error_set(err, "%s: \"launch\" of a measurement is not in 0 to %d", b->what,
                         LAUNCH_MAX);
    if (!records_is_plain(r->m.bench.key))
        return error_set(err, "%s: a \"key\" has control characters in it", b->what);
    return 0;
}

static int records_parse(struct import_build *b)
{
    struct records *records = &b->out->records;
    struct error *err = b->err;

    if (records_from_json(b->source.root, records, err))
        return error_prefix(err, "%s", b->what);
    for (size_t i = 0; i < records->nr_runs; i++)
        if (records_check_run(b, &records->runs[i], err))
            return -1;
    for (size_t i = 0; i < records->nr; i++)
        if (records_check_record(b, &records->items[i], err))
            return -1;
    return records->nr ? 0 : error_set(err, "%s: there is no measurement in it", b->what);
}

const struct import_format_row import_records = { .signs = { "schema_version runs[" },
                                                  .parse = records_parse,
                                                  .own = true };
