/* SPDX-License-Identifier: MIT */
/* Gungraun's (iai-callgrind's) summary.json, or a line of it a benchmark: events that valgrind's
 * tools counted. There is no time; the numbers stand under the names that the tool has for them. */
#include "importers/base/import_form.h"

#include <stdio.h>
#include <string.h>

static const struct import_field fields[] = {
    { "module_path", FIELD_NAME, NULL },
    { "function_name", FIELD_NAME, NULL },
    { "id", FIELD_NAME, NULL },
    { "version", FIELD_SKIP, NULL },
    { "kind", FIELD_SKIP, NULL },
    { "details", FIELD_SKIP, NULL }, /* how it was called */
    { "project_root", FIELD_SKIP, NULL },
    { "package_dir", FIELD_SKIP, NULL },
    { "benchmark_file", FIELD_SKIP, NULL },
    { "benchmark_exe", FIELD_SKIP, NULL },
    { "baselines", FIELD_SKIP, NULL },
    { "summary_output", FIELD_SKIP, NULL },
    FIELDS_END,
};

/* {"Left": N}, {"Both": [new, old]}; a number may be {"Int": N}. */
static bool gungraun_number(const cJSON *metrics, double *value)
{
    const cJSON *now = import_member(metrics, "Left"), *both = import_member(metrics, "Both");

    if (!now)
        now = cJSON_IsArray(both) ? both->child : NULL;
    if (now && cJSON_IsObject(now))
        now = now->child;
    return import_value(now, value);
}

/* {"Ir": {"metrics": ...}, ...}, however deep it is: each version has it in another place. */
static void gungraun_read_events(struct import_entry *e, const cJSON *node)
{
    const cJSON *item;
    double value;

    cJSON_ArrayForEach(item, node)
    {
        const cJSON *metrics = import_member(item, "metrics");
        if (metrics && gungraun_number(metrics, &value))
            import_beside(e->b, e->c, item->string ? item->string : "", value);
        else if (cJSON_IsObject(item))
            gungraun_read_events(e, item);
    }
}

static int gungraun_read_times(struct import_entry *e)
{
    const cJSON *old = import_entry_at(e, "callgrind_summary"),
                *all = import_entry_at(e, "profiles");
    const cJSON *profile;

    gungraun_read_events(e, import_at(old, "callgrind_run.total"));
    import_take(old);
    import_take(import_entry_at(e, "tool_summaries"));
    cJSON_ArrayForEach(profile, all)
    {
        gungraun_read_events(e, import_at(profile, "summaries.total"));
    }
    import_take(all);
    return 0;
}

static const struct import_form form = {
    .entries = "",
    .unit = "",
    .clock = "valgrind",
    .fields = fields,
    .read_times = gungraun_read_times,
};

static int gungraun_read_message(struct import_build *b)
{
    return import_read_form(b, &form);
}

static int gungraun_parse(struct import_build *b)
{
    return memchr(b->text, '\n', b->length) && import_read(b, b->text, b->length, b->err) == 0
               ? import_read_form(b, &form)
               : import_each_message(b, gungraun_read_message);
}

const struct import_format_row import_gungraun = {
    .signs = { "function_name callgrind_summary", "function_name profiles" },
    .parse = gungraun_parse,
    .stream = true,
};
