/* SPDX-License-Identifier: MIT */
#include "command/command_numbers.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "command/command_pattern.h"
#include "command/json_path.h"
#include "core/names.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUOTED = 100 }; /* characters of a line that a message shows */

static const char *const picks[NUMBER_PICK_NR + 1] = { "last", "first", "min", "max",
                                                       "sum",  "mean",  NULL };

/* ---- specs ---- */

static int number_pick_find(const char *word, enum number_pick *pick, struct error *err)
{
    *pick = NUMBER_LAST;
    if (!*word)
        return 0;
    for (int i = 0; i < NUMBER_PICK_NR; i++)
        if (strcmp(picks[i], word) == 0) {
            *pick = (enum number_pick)i;
            return 0;
        }
    const char *nearest = text_nearest(word, picks);
    return error_set(err,
                     "behind the last \"/\" stands \"%.40s\"%s%s%s; of several matches it may be "
                     "last, first, min, max, sum or mean",
                     word, nearest ? " (did you mean " : "", nearest ? nearest : "",
                     nearest ? "?)" : "");
}

/* "/PATTERN/PICK": the pattern may have slashes of its own, the last one ends it. */
static int number_spec_pattern(const char *text, struct number_spec *spec, struct error *err)
{
    const char *end = strrchr(text, '/');
    struct pattern compiled;

    if (end == text)
        return error_set(err, "the pattern has no \"/\" at its end");
    spec->pattern = memory_string(text + 1);
    spec->pattern[end - text - 1] = '\0';
    if (number_pick_find(end + 1, &spec->pick, err) ||
        pattern_compile(spec->pattern, &compiled, err))
        return -1;
    pattern_free(&compiled);
    return 0;
}

/* "OF:" before the name, which has no colon; returns what is behind it. */
static const char *number_spec_program(const char *text, struct number_spec *spec,
                                       struct error *err)
{
    size_t length = strcspn(text, ":=");

    if (text[length] != ':')
        return text;
    if (length == 0 || length >= sizeof(spec->of)) {
        error_set(err, "\"%.80s\": before the \":\" stands the name of what prints it", text);
        return NULL;
    }
    memcpy(spec->of, text, length);
    return text + length + 1;
}

int number_spec_parse(const char *text, struct number_spec *spec, struct error *err)
{
    int rc;

    *spec = (struct number_spec) { .name = "" };
    text = number_spec_program(text, spec, err);
    const char *equals = text ? strchr(text, '=') : NULL;
    if (!text)
        return -1;
    if (!equals || equals == text)
        return error_set(err, "\"%.80s\" is not NAME=/PATTERN/ or NAME=$.PATH", text);
    snprintf(spec->name, sizeof(spec->name), "%.*s", (int)(equals - text), text);
    if ((size_t)(equals - text) >= sizeof(spec->name))
        return error_set(err, "the name of a metric has at most %d characters",
                         NUMBER_NAME_SIZE - 1);
    if (number_check_name(spec->name, err))
        return -1;
    if (equals[1] == '/') {
        rc = number_spec_pattern(equals + 1, spec, err);
    } else if (equals[1] == '$') {
        spec->path = memory_string(equals + 1);
        rc = json_path_check(spec->path, err);
    } else {
        rc = error_set(err,
                       "behind the \"=\" stands /PATTERN/ or a path of JSON ($.a.b[0]), not "
                       "\"%.80s\"",
                       equals + 1);
    }
    return rc ? error_prefix(err, "%s", spec->name) : 0;
}

char *number_spec_text(const struct number_spec *spec)
{
    struct strbuf text;

    strbuf_init(&text);
    strbuf_addf(&text, "%s%s", spec->of, spec->of[0] ? ":" : "");
    if (spec->path)
        strbuf_addf(&text, "%s=%s", spec->name, spec->path);
    else
        strbuf_addf(&text, "%s=/%s/%s", spec->name, spec->pattern,
                    spec->pick == NUMBER_LAST ? "" : picks[spec->pick]);
    return strbuf_detach(&text);
}

void number_spec_release(struct number_spec *spec)
{
    free(spec->pattern);
    free(spec->path);
    spec->pattern = spec->path = NULL;
}

int number_specs_check(const struct number_specs *specs, struct error *err)
{
    if (specs->nr > NUMBERS_MAX)
        return error_set(err, "a command has at most %d metrics of its own", NUMBERS_MAX);
    for (size_t i = 0; i < specs->nr; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(specs->items[i].name, specs->items[j].name) == 0 &&
                strcmp(specs->items[i].of, specs->items[j].of) == 0)
                return error_set(err, "the metric \"%s\" is there twice", specs->items[i].name);
    return 0;
}

static bool number_specs_have(const struct number_specs *specs, const char *name)
{
    for (size_t i = 0; i < specs->nr; i++)
        if (strcmp(specs->items[i].name, name) == 0)
            return true;
    return false;
}

void number_specs_of(const struct number_specs *specs, const char *name, struct number_specs *out)
{
    *out = (struct number_specs) { .nr = 0 };
    for (size_t i = 0; i < specs->nr; i++)
        if (specs->items[i].of[0] && strcmp(specs->items[i].of, name) == 0)
            *(struct number_spec *)array_push(out) = specs->items[i];
    for (size_t i = 0; i < specs->nr; i++)
        if (!specs->items[i].of[0] && !number_specs_have(out, specs->items[i].name))
            *(struct number_spec *)array_push(out) = specs->items[i];
}

void number_specs_copy(struct number_specs *to, const struct number_specs *from)
{
    for (size_t i = 0; i < from->nr; i++) {
        struct number_spec *spec = array_push(to);
        *spec = from->items[i];
        spec->pattern = memory_string(from->items[i].pattern);
        spec->path = memory_string(from->items[i].path);
    }
}

void number_specs_release(struct number_specs *specs)
{
    for (size_t i = 0; i < specs->nr; i++)
        number_spec_release(&specs->items[i]);
    array_release(specs);
}

cJSON *number_specs_to_json(const struct number_specs *specs)
{
    cJSON *array = cJSON_CreateArray();

    for (size_t i = 0; i < specs->nr; i++) {
        cJSON *one = cJSON_CreateObject();
        char *text = number_spec_text(&specs->items[i]);
        cJSON_AddStringToObject(one, "metric", text);
        cJSON_AddStringToObject(one, "unit", specs->items[i].unit);
        cJSON_AddStringToObject(one, "better", better_name(specs->items[i].better));
        cJSON_AddItemToArray(array, one);
        free(text);
    }
    return array;
}

/* ---- matches of a run ---- */

/* What one pattern has found in one stream. */
struct found {
    double value;
    size_t nr;
    char text[64];         /* the first that is no number; "": all are */
    char line[QUOTED + 1]; /* where */
};

struct stream {
    struct strbuf line;
    char last[QUOTED + 1]; /* the last line that is not blank */
    struct found *found;   /* of each spec */
};

struct number_hearing {
    const struct number_specs *specs;
    struct pattern *patterns; /* of those that have one */
    bool *compiled;
    bool wants_json, too_long;
    struct strbuf json;
    struct stream streams[NUMBER_STREAM_NR];
};

static void number_quote(char out[QUOTED + 1], const char *line)
{
    snprintf(out, QUOTED + 1, "%s", line);
}

/* A decimal number and nothing else. */
static bool number_text_value(const char *text, size_t length, double *value)
{
    char copy[64], *end;

    if (length == 0 || length >= sizeof(copy))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)copy[i]) && !strchr("+-.eE", copy[i]))
            return false; /* no hexadecimals, "inf" and the like */
    *value = strtod(copy, &end);
    return *end == '\0' && fact_is_finite(*value);
}

static void found_add(struct found *f, enum number_pick pick, double value)
{
    double before = f->value;

    f->nr++;
    if (f->nr == 1 || pick == NUMBER_LAST)
        f->value = value;
    else if (pick == NUMBER_MIN)
        f->value = fmin(before, value);
    else if (pick == NUMBER_MAX)
        f->value = fmax(before, value);
    else if (pick == NUMBER_SUM)
        f->value = before + value;
    else if (pick == NUMBER_MEAN)
        f->value = before + (value - before) / (double)f->nr;
}

static void number_look(const struct number_hearing *h, size_t i, const char *line, struct found *f)
{
    size_t begin, length;
    double value;

    if (!h->compiled[i] || !pattern_find(&h->patterns[i], line, &begin, &length))
        return;
    if (number_text_value(line + begin, length, &value)) {
        found_add(f, h->specs->items[i].pick, value);
    } else if (!f->text[0]) {
        snprintf(f->text, sizeof(f->text), "%.*s", (int)length, line + begin);
        if (!f->text[0])
            snprintf(f->text, sizeof(f->text), " ");
        number_quote(f->line, line);
    }
}

static bool number_is_blank(const char *line)
{
    return line[strspn(line, " \t")] == '\0';
}

static void number_line(struct number_hearing *h, struct stream *s)
{
    if (!number_is_blank(s->line.data)) {
        number_quote(s->last, s->line.data);
        for (size_t i = 0; i < h->specs->nr; i++)
            number_look(h, i, s->line.data, &s->found[i]);
    }
    strbuf_clear(&s->line);
}

/* ---- listening ---- */

static void number_hearing_add_json(struct number_hearing *h, const char *bytes, size_t nr)
{
    h->too_long |= h->json.length + nr > NUMBERS_JSON_MAX;
    if (!h->too_long)
        strbuf_add(&h->json, bytes, nr);
}

/* A line is text: a NUL in it would be its end. */
static void number_line_add(struct strbuf *line, const char *bytes, size_t nr)
{
    size_t from = line->length;

    strbuf_add(line, bytes, nr);
    for (size_t i = from; i < line->length; i++)
        if (line->data[i] == '\0')
            line->data[i] = ' ';
}

static size_t number_line_length(const char *bytes, size_t nr)
{
    size_t i = 0;

    while (i < nr && bytes[i] != '\n' && bytes[i] != '\r')
        i++;
    return i;
}

void number_hearing_add(struct number_hearing *h, enum number_stream stream, const char *bytes,
                        size_t nr)
{
    struct stream *s = &h->streams[stream];

    if (h->wants_json && stream == NUMBER_OUTPUT)
        number_hearing_add_json(h, bytes, nr);
    while (nr > 0) {
        size_t length = number_line_length(bytes, nr), room = NUMBERS_LINE_MAX - s->line.length;
        size_t taken = length < room ? length : room;
        number_line_add(&s->line, bytes, taken);
        bytes += taken;
        nr -= taken;
        if (taken == length && nr > 0) { /* the end of the line */
            number_line(h, s);
            bytes++;
            nr--;
        } else if (s->line.length == NUMBERS_LINE_MAX) {
            number_line(h, s);
        }
    }
}

void number_hearing_begin(struct number_hearing *h)
{
    for (int i = 0; i < NUMBER_STREAM_NR; i++) {
        struct stream *s = &h->streams[i];
        strbuf_clear(&s->line);
        s->last[0] = '\0';
        memset(s->found, 0, h->specs->nr * sizeof(*s->found));
    }
    strbuf_clear(&h->json);
    h->too_long = false;
}

static int number_hearing_compile(struct number_hearing *h, struct error *err)
{
    for (size_t i = 0; i < h->specs->nr; i++) {
        const struct number_spec *spec = &h->specs->items[i];
        h->wants_json |= spec->path != NULL;
        if (spec->pattern && pattern_compile(spec->pattern, &h->patterns[i], err))
            return error_prefix(err, "%s", spec->name);
        h->compiled[i] = spec->pattern != NULL;
    }
    return 0;
}

struct number_hearing *number_hearing_create(const struct number_specs *specs, struct error *err)
{
    struct number_hearing *h = memory_zeroed(1, sizeof(*h));

    h->specs = specs;
    h->patterns = memory_zeroed(specs->nr + 1, sizeof(*h->patterns));
    h->compiled = memory_zeroed(specs->nr + 1, sizeof(*h->compiled));
    strbuf_init(&h->json);
    for (int i = 0; i < NUMBER_STREAM_NR; i++) {
        strbuf_init(&h->streams[i].line);
        h->streams[i].found = memory_zeroed(specs->nr + 1, sizeof(struct found));
    }
    if (number_hearing_compile(h, err) == 0)
        return h;
    number_hearing_free(h);
    return NULL;
}

void number_hearing_free(struct number_hearing *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->specs->nr; i++)
        if (h->compiled[i])
            pattern_free(&h->patterns[i]);
    for (int i = 0; i < NUMBER_STREAM_NR; i++) {
        strbuf_release(&h->streams[i].line);
        free(h->streams[i].found);
    }
    strbuf_release(&h->json);
    free(h->patterns);
    free(h->compiled);
    free(h);
}

/* ---- the end ---- */

static int number_missing(const struct number_hearing *h, const struct number_spec *spec,
                          struct error *err)
{
    const struct stream *out = &h->streams[NUMBER_OUTPUT], *errors = &h->streams[NUMBER_ERRORS];
    const char *last = out->last[0] ? out->last : errors->last;

    if (!last[0])
        return error_set(err, "%s: the program printed nothing", spec->name);
    return error_set(err, "%s: nothing that it printed matches /%s/; its last line is \"%s\"",
                     spec->name, spec->pattern, last);
}

static int number_matched(const struct number_hearing *h, size_t i, double *value,
                          struct error *err)
{
    const struct number_spec *spec = &h->specs->items[i];
    const struct found *f = &h->streams[NUMBER_OUTPUT].found[i];

    if (f->nr == 0 && !f->text[0])
        f = &h->streams[NUMBER_ERRORS].found[i];
    if (f->text[0])
        return error_set(err,
                         "%s: \"%s\" is no number, in the line \"%s\"; put the parentheses round "
                         "the digits alone",
                         spec->name, f->text, f->line);
    *value = f->value;
    return f->nr > 0 ? 0 : number_missing(h, spec, err);
}

static int number_at_path(const cJSON *json, const struct number_spec *spec, double *value,
                          struct error *err)
{
    const cJSON *item = json_path_find(json, spec->path, err);
    const char *text = cJSON_GetStringValue(item);

    if (!item)
        return error_prefix(err, "%s", spec->name);
    if (cJSON_IsNumber(item) && fact_is_finite(item->valuedouble)) {
        *value = item->valuedouble;
        return 0;
    }
    if (text && number_text_value(text, strlen(text), value))
        return 0;
    return error_set(err, "%s: what is at %s is no number", spec->name, spec->path);
}

static cJSON *number_parse_json(const struct number_hearing *h, struct error *err)
{
    if (h->too_long)
        error_set(err,
                  "it printed more than %d MiB: JSON is looked at as a whole; take a /PATTERN/",
                  NUMBERS_JSON_MAX >> 20);
    else if (h->json.length == 0)
        error_set(err, "it printed nothing where JSON was expected");
    return h->too_long || h->json.length == 0 ? NULL : json_path_parse(&h->json, err);
}

int number_hearing_end(struct number_hearing *h, double *values, struct error *err)
{
    cJSON *json = NULL;
    int rc = 0;

    for (int i = 0; i < NUMBER_STREAM_NR; i++)
        number_line(h, &h->streams[i]); /* one without an end */
    if (h->wants_json && !(json = number_parse_json(h, err)))
        return -1;
    for (size_t i = 0; rc == 0 && i < h->specs->nr; i++)
        rc = h->compiled[i] ? number_matched(h, i, &values[i], err)
                            : number_at_path(json, &h->specs->items[i], &values[i], err);
    cJSON_Delete(json);
    return rc;
}
