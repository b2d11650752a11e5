/* SPDX-License-Identifier: MIT */
#include "launch/launch_words.h"

#include "base/json.h"
#include "base/memory.h"
#include "core/clock.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLE_BYTES = 24, OPERATIONS = 4096, OPERATION_BYTES = 4096, SHOWN = 60 };

size_t launch_words_most(const struct job *job)
{
    const struct sampling *s = &job->settings.sampling;
    const struct profiling *profiling = job->settings.profiling;
    double samples = (double)(s->iterations > 0 ? s->iterations : s->max_samples);
    double most = LAUNCH_LINE_MIN + SAMPLE_BYTES * samples;

    if (profiling)
        most += OPERATIONS * (OPERATION_BYTES + SAMPLE_BYTES * (double)profiling->iterations);
    return most < LAUNCH_LINE_MAX ? (size_t)most : LAUNCH_LINE_MAX;
}

static bool begins_with(const char *line, size_t length, const struct launch_secret *secret)
{
    size_t nr = sizeof(secret->text) - 1;

    return length > nr && line[nr] == ' ' && memcmp(line, secret->text, nr) == 0;
}

/* What was wrong, and the line as a reader can bear it. The first counts. */
static int refuse(struct launch_words *w, const char *why, const char *line, size_t length)
{
    char shown[SHOWN + 1];

    for (size_t i = 0; i <= w->wanted; i++)
        if (begins_with(line, length, &w->secrets[i])) {
            line += sizeof(w->secrets[i].text);
            length -= sizeof(w->secrets[i].text);
            break;
        }
    size_t nr = length < SHOWN ? length : SHOWN;

    for (size_t i = 0; i < nr; i++)
        shown[i] = (char)(line[i] >= ' ' && line[i] <= '~' ? line[i] : '?');
    shown[nr] = '\0';
    if (!w->said[0])
        snprintf(w->said, sizeof(w->said), "%s: \"%s\"%s", why, shown, length > nr ? "..." : "");
    return 0;
}

/* ---- answers: 0 where they are taken, or refused; -1 where the sink fails ---- */

static int take_roofs(struct launch_words *w, const cJSON *array)
{
    struct error why;
    const cJSON *item;
    int nr = 0;

    cJSON_ArrayForEach(item, array)
    {
        if (nr < ROOFS_MAX && roof_from_json(item, &w->roofs[nr++], &why))
            return refuse(w, "no roofs", why.message, strlen(why.message));
    }
    w->nr_roofs = nr;
    w->answered = true; /* nothing else is asked in such a job */
    return 0;
}

/* Of one with a setting, "gemm/nn/simd:depth=64", the parameter may be what is not known. */
static void lacking(const char *name, struct error *why)
{
    int plain = (int)strcspn(name, ":");

    if (!name[plain])
        error_set(why, "this program has no variant %s", name);
    else
        error_set(why, "this program does not know %.*s with the parameters %s", plain, name,
                  name + plain + 1);
}

/* The measurement of an answer, or that the program has no such variant. */
static int read_measurement(const cJSON *json, struct measurement *m, struct error *err)
{
    const char *lacks = json_string(json, "lacks", NULL);
    struct error why;

    if (!lacks)
        return measurement_from_json(cJSON_GetObjectItemCaseSensitive(json, "measurement"), m, err);
    lacking(lacks, &why);
    *m = (struct measurement) { .outcome = OUTCOME_UNSUPPORTED,
                                .message = memory_string(why.message) };
    return 0;
}

/* All are read before the first is handed up: a bad one is no half measurement. */
static int check_operations(const cJSON *array, struct error *why)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, array)
    {
        struct measurement m;
        int rc = measurement_from_json(item, &m, why);
        measurement_release(&m);
        if (rc)
            return -1;
    }
    return 0;
}

static int take_operations(struct launch_words *w, size_t index, const cJSON *array,
                           struct error *err)
{
    const cJSON *item;
    int rc = 0;

    if (!w->sink->operation)
        return 0;
    cJSON_ArrayForEach(item, array)
    {
        struct measurement m;
        if (rc == 0) {
            rc = measurement_from_json(item, &m, err);
            if (rc == 0)
                rc = w->sink->operation(w->sink->context, index, &m, err);
            measurement_release(&m);
        }
    }
    return rc;
}

static int take_measurement(struct launch_words *w, size_t index, const cJSON *json,
                            struct error *err)
{
    const cJSON *operations = cJSON_GetObjectItemCaseSensitive(json, "operations");
    struct measurement m;
    struct error why;
    int rc = 0;

    if (read_measurement(json, &m, &why) || check_operations(operations, &why)) {
        measurement_release(&m);
        return refuse(w, "no measurement", why.message, strlen(why.message));
    }
    rc = w->sink->end(w->sink->context, index, &m, err);
    measurement_release(&m);
    if (rc == 0)
        rc = take_operations(w, index, operations, err);
    w->done++;
    w->answered = w->done == w->wanted;
    w->current = -1;
    w->since = clock_ns();
    return rc;
}

static void take_begin(struct launch_words *w, size_t index)
{
    w->current = (long)index;
    w->since = clock_ns();
    if (w->sink->begin)
        w->sink->begin(w->sink->context, index);
}

/* Cases come in order, one at a time. */
static int take_message(struct launch_words *w, const cJSON *json, const char *text, size_t length,
                        struct error *err)
{
    const cJSON *roofs = cJSON_GetObjectItemCaseSensitive(json, "ceilings");
    int64_t begin = json_int(json, "begin", -1), end = json_int(json, "end", -1);
    int64_t next = (int64_t)w->done;
    bool more = w->done < w->wanted;

    if (roofs && w->roofs)
        return take_roofs(w, roofs);
    if (w->current >= 0 && json_int(json, "alive", -1) == w->current) {
        w->since = clock_ns();
        return 0;
    }
    if (more && begin == next && w->current < 0)
        return take_begin(w, (size_t)begin), 0;
    if (more && end == next && w->current == end)
        return take_measurement(w, (size_t)end, json, err);
    return refuse(w, "out of turn", text, length);
}

/* ---- lines ---- */

/* Programs older than this have no secrets: they are known by their first line. This program is
 * never one of them. */
static void greet(struct launch_words *w, const char *line, size_t length)
{
    w->framed = begins_with(line, length, &w->secrets[w->wanted]);
    w->since = clock_ns();
    if (!w->framed && (!w->stranger || line[0] != '{'))
        refuse(w, "no greeting", line, length);
}

static int take_line(struct launch_words *w, const char *line, size_t length, struct error *err)
{
    const struct launch_secret *secret = &w->secrets[w->done]; /* behind the last: the process's */
    bool greeting = !w->greeted;
    struct error why;

    if (greeting)
        greet(w, line, length);
    w->greeted = true;
    if (w->said[0] || (greeting && w->framed))
        return 0;
    if (w->framed && !begins_with(line, length, secret))
        return refuse(w, "without its secret", line, length);
    size_t skip = w->framed ? sizeof(secret->text) : 0;
    cJSON *json = json_parse(line + skip, length - skip, "its words", &why);
    int rc = json ? take_message(w, json, line + skip, length - skip, err)
                  : refuse(w, why.message, line + skip, length - skip);
    cJSON_Delete(json);
    return rc;
}

int launch_words_take(struct launch_words *w, const char *block, size_t nr, struct error *err)
{
    const char *end = block + nr;
    int rc = 0;

    while (rc == 0 && !w->said[0] && !w->answered && block < end) {
        const char *newline = memchr(block, '\n', (size_t)(end - block));
        size_t part = (size_t)((newline ? newline : end) - block);
        if (w->line.length + part > w->most)
            return refuse(w, "a line without end", w->line.length ? w->line.data : block,
                          w->line.length ? w->line.length : part);
        strbuf_add(&w->line, block, part);
        block += part + 1;
        if (newline) {
            rc = take_line(w, w->line.data, w->line.length, err);
            strbuf_clear(&w->line);
        }
    }
    return rc;
}
