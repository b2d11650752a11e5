/* SPDX-License-Identifier: MIT */
/* The messages of `cargo criterion --message-format=json`: one JSON object a line. What criterion
 * itself leaves in a folder comes in the same form, see import_files.c. */
#include "output/import_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int unit_of(struct import_build *b, const cJSON *object, double *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = { { "ns", 1 }, { "us", 1e3 }, { "µs", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
    const char *unit = json_string(object, "unit", "ns");

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(units[i].name, unit) == 0) {
            *ns = units[i].ns;
            return 0;
        }
    }
    return import_refuse(b, cJSON_GetObjectItemCaseSensitive(object, "unit"),
                         "\"unit\" is \"%.20s\": times alone can be imported", unit);
}

static int read_samples(struct import_build *b, const cJSON *message, struct import_case *c)
{
    const cJSON *counts = cJSON_GetObjectItemCaseSensitive(message, "iteration_count");
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(message, "measured_values");
    const cJSON *count = counts->child, *value = values->child;
    double unit, nr, time;

    if (unit_of(b, message, &unit))
        return -1;
    for (; count && value; count = count->next, value = value->next) {
        if (!import_value(count, &nr) || nr < 1)
            return import_refuse(b, count, "an iteration count is no number of 1 or more");
        if (!import_value(value, &time))
            return import_refuse(b, value, "a measured value is no finite number");
        if (import_time(b, c, value, time * unit / nr, nr))
            return -1;
    }
    if (count || value)
        return import_refuse(b, values, "%d measured values, but %d iteration counts",
                             cJSON_GetArraySize(values), cJSON_GetArraySize(counts));
    return 0;
}

/* Without raw samples: the first of these that is there. */
static int read_estimate(struct import_build *b, const cJSON *message, struct import_case *c)
{
    static const char *const keys[] = { "median", "typical", "mean" };
    double unit, value;

    b->statistic = "the median";
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const cJSON *estimate = cJSON_GetObjectItemCaseSensitive(message, keys[i]);
        if (!cJSON_IsObject(estimate))
            continue;
        return unit_of(b, estimate, &unit) || import_number(b, estimate, "estimate", 0, &value) ||
                       import_statistic(b, c, estimate, value * unit)
                   ? -1
                   : 0;
    }
    return import_refuse(b, message, "there are neither samples nor estimates");
}

static void read_throughput(const cJSON *message, struct import_case *c)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(message, "throughput"))
    {
        double amount = import_optional(item, "per_iteration");
        const char *unit = json_string(item, "unit", "");
        if (!(amount > 0))
            continue;
        if (strncmp(unit, "byte", 4) == 0)
            c->m.bytes = amount;
        else
            import_beside(c, "elements", amount);
    }
}

static int read_message(struct import_build *b, const cJSON *message)
{
    const char *id;
    struct import_name name;

    if (!cJSON_IsObject(message))
        return import_refuse(b, message, "a message is no object");
    if (strcmp(json_string(message, "reason", ""), "benchmark-complete") != 0)
        return 0; /* of groups and of cargo */
    if (import_text(b, message, "id", &id))
        return -1;
    import_name_path(&name, id);
    struct import_case *c = import_case(b, &name, 0);
    import_name_release(&name);
    if (c->times.nr)
        import_note(b, "\"%.80s\" is there more than once: its samples are put together",
                    c->m.bench.key);
    read_throughput(message, c);
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(message, "measured_values");
    const cJSON *counts = cJSON_GetObjectItemCaseSensitive(message, "iteration_count");
    if (cJSON_IsArray(values) && values->child && cJSON_IsArray(counts))
        return read_samples(b, message, c);
    return read_estimate(b, message, c);
}

static bool is_blank(const char *line, size_t length)
{
    size_t i = 0;

    while (i < length && strchr(" \t\r", line[i]) && line[i])
        i++;
    return i == length;
}

int import_criterion(struct import_build *b)
{
    const char *what = b->what, *end = b->text + b->length;
    struct strbuf place;
    int rc = 0, line = 1;

    b->clock = "criterion";
    strbuf_init(&place);
    for (const char *p = b->text, *next; rc == 0 && p < end; p = next, line++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t length = (size_t)((newline ? newline : end) - p);
        next = p + length + 1;
        if (is_blank(p, length))
            continue;
        strbuf_clear(&place);
        strbuf_addf(&place, "%s, message %d", what, line);
        b->what = place.data;
        rc = import_read(b, p, length, b->err) || read_message(b, b->source.root) ? -1 : 0;
        b->what = what;
    }
    strbuf_release(&place);
    return rc;
}
