/* SPDX-License-Identifier: MIT */
/* What the formats share: reading JSON with places, values, notes, the machine. */
#include "importers/base/import_base.h"

#include "base/digest.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

/* One step of a path; `path` moves behind it. */
static const cJSON *import_step(const cJSON *at, const char **path)
{
    size_t length = strcspn(*path, ". "), name_length = strcspn(*path, ".[ ");
    const char *word = *path;
    char name[64];

    *path += length + (word[length] == '.');
    if (*word == '*')
        return cJSON_IsArray(at) || cJSON_IsObject(at) ? at->child : NULL;
    if (name_length > 0) {
        snprintf(name, sizeof(name), "%.*s", (int)name_length, word);
        at = cJSON_IsObject(at) ? import_member(at, name) : NULL;
    }
    if (name_length == length)
        return at;
    if (!at || !cJSON_IsArray(at))
        return NULL;
    return length - name_length == 1 ? at : at->child; /* "name[", "name[]" */
}

const cJSON *import_at(const cJSON *root, const char *path)
{
    while (root && *path && *path != ' ')
        root = import_step(root, &path);
    return root;
}

bool import_has(const cJSON *root, const char *paths)
{
    for (const char *p = paths; *p; p += strcspn(p, " "), p += *p == ' ')
        if (!import_at(root, p))
            return false;
    return true;
}

/* Does it end inside a text, a list or an object, with all right that was closed before? */
static bool import_is_cut(const char *text, size_t length)
{
    char open[1000]; /* levels that JSON has here at most, see json_parse() */
    size_t depth = 0;
    bool quoted = false;

    for (size_t i = 0; i < length; i++) {
        if (quoted && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted && (text[i] == '{' || text[i] == '[')) {
            if (depth == sizeof(open))
                return false;
            open[depth++] = text[i] == '{' ? '}' : ']';
        } else if (!quoted && (text[i] == '}' || text[i] == ']')) {
            if (depth == 0 || open[--depth] != text[i])
                return false;
        }
    }
    return quoted || depth > 0;
}

int import_read(struct import_build *b, const char *text, size_t length, struct error *err)
{
    char *copy = json_without_no_numbers(text, length);

    json_source_release(&b->source);
    int rc = json_source_parse(&b->source, copy, length, b->what, err);
    if (rc && import_is_cut(copy, length))
        error_set(err, "%s: truncated: the JSON ends inside a value, after %zu bytes", b->what,
                  length);
    free(copy);
    return rc;
}

static bool import_is_blank(const char *line, size_t length)
{
    size_t i = 0;

    while (i < length && strchr(" \t\r", line[i]) && line[i])
        i++;
    return i == length;
}

int import_each_message(struct import_build *b, int (*read)(struct import_build *b))
{
    const char *what = b->what, *end = b->text + b->length;
    struct strbuf place;
    int rc = 0, line = 1;

    strbuf_init(&place);
    for (const char *p = b->text, *next; rc == 0 && p < end; p = next, line++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t length = (size_t)((newline ? newline : end) - p);
        next = p + length + 1;
        if (import_is_blank(p, length))
            continue;
        strbuf_clear(&place);
        strbuf_addf(&place, "%s, message %d", what, line);
        b->what = place.data;
        rc = import_read(b, p, length, b->err) || read(b) ? -1 : 0;
        b->what = what;
    }
    strbuf_release(&place);
    return rc;
}

int import_refuse(struct import_build *b, const cJSON *at, const char *format, ...)
{
    char message[sizeof(b->err->message)];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (b->line > 0)
        return error_set(b->err, "%s:%d: %.800s", b->what, b->line, message);
    return error_set(b->err, "%s:%d:%d: %.800s", b->what, json_source_line(&b->source, at),
                     json_source_column(&b->source, at), message);
}

bool import_value(const cJSON *item, double *value)
{
    char *end;

    if (cJSON_IsNumber(item)) {
        *value = item->valuedouble;
        return isfinite(*value);
    }
    if (!cJSON_IsString(item) || !strchr("-0123456789.", item->valuestring[0]) ||
        !item->valuestring[0])
        return false;
    *value = strtod(item->valuestring, &end);
    return *end == '\0' && isfinite(*value);
}

int import_number(struct import_build *b, const cJSON *object, const char *key, double low,
                  double *value)
{
    const cJSON *item = import_member(object, key);

    if (!item)
        return import_refuse(b, object, "\"%s\" is missing", key);
    if (!import_value(item, value))
        return import_refuse(b, item, "\"%s\" is not a finite number", key);
    if (*value < low)
        return import_refuse(b, item, "\"%s\" is %g, less than %g", key, *value, low);
    return 0;
}

double import_optional(const cJSON *object, const char *key)
{
    double value;

    return import_value(import_member(object, key), &value) ? value : NAN;
}

int import_text(struct import_build *b, const cJSON *object, const char *key, const char **value)
{
    const cJSON *item = import_member(object, key);

    if (!item)
        return import_refuse(b, object, "\"%s\" is missing", key);
    if (!cJSON_IsString(item) || !item->valuestring[0])
        return import_refuse(b, item, "\"%s\" is no text, or an empty one", key);
    *value = item->valuestring;
    return 0;
}

int import_list(struct import_build *b, const cJSON *object, const char *key, const cJSON **list)
{
    *list = import_member(object, key);
    return cJSON_IsArray(*list) ? 0 : import_refuse(b, object, "\"%s\" is missing or no list", key);
}

int import_each(struct import_build *b, const cJSON *list, const char *what, import_item_fn *read,
                void *context)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, list)
    {
        if (what && !cJSON_IsObject(item))
            return import_refuse(b, item, "%s is no object", what);
        if (read(context, item))
            return -1;
    }
    return 0;
}

int import_date_at(struct import_build *b, const cJSON *item, const char *key)
{
    struct error why;
    int64_t ms;

    if (!item || cJSON_IsNull(item))
        return 0;
    if (!cJSON_IsString(item) || text_parse_date(item->valuestring, key, &ms, &why))
        return import_refuse(b, item, "\"%s\" is no date such as 2026-01-31T12:30:00Z", key);
    if (ms <= 0)
        return import_refuse(b, item, "\"%s\" is before 1970", key);
    b->run->started_ms = ms;
    return 0;
}

int import_date(struct import_build *b, const cJSON *object, const char *key)
{
    return import_date_at(b, import_member(object, key), key);
}

void import_commit(struct import_build *b, const char *text)
{
    size_t length = strspn(text, "0123456789abcdefABCDEF");

    if (text[length] == '\0' && length >= 7 && length < COMMIT_SIZE)
        import_copy(b->run->build.commit, sizeof(b->run->build.commit), text);
    else if (*text && strcmp(text, "unversioned") != 0 && strcmp(text, "unknown") != 0)
        import_note(b, "the commit \"%.60s\" is left out: it is no hash", text);
}

void import_fact(struct import_build *b, const char *key, const char *text)
{
    char copy[256];

    if (!text || !*text)
        return;
    import_copy(copy, sizeof(copy), text);
    json_add_string(b->facts, key, copy);
}

void import_fact_of(struct import_build *b, const char *key, const cJSON *object,
                    const char *member)
{
    import_fact(b, key, json_string(object, member, ""));
}

void import_count(struct import_build *b, const char *format, const char *first)
{
    struct import_count *c = NULL;

    for (size_t i = 0; !c && i < b->counts.nr; i++)
        if (strcmp(b->counts.items[i].format, format) == 0)
            c = &b->counts.items[i];
    if (!c) {
        c = array_push(&b->counts);
        c->format = format;
        import_copy(c->first, sizeof(c->first), first);
    }
    c->nr++;
}

void import_left(struct import_build *b, const char *name)
{
    struct import_count *c = NULL;

    for (size_t i = 0; !c && i < b->left.nr; i++)
        if (strcmp(b->left.items[i].first, name) == 0 || i == IMPORT_LEFT_MOST)
            c = &b->left.items[i];
    if (!c) {
        c = array_push(&b->left);
        import_copy(c->first, sizeof(c->first), b->left.nr > IMPORT_LEFT_MOST ? "others" : name);
    }
    c->nr++;
}

void import_note(struct import_build *b, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    string_list_add(&b->out->notes, text);
}

/* ---- machines ---- */

void import_processors(struct machine *m, double nr)
{
    if (nr >= 1 && nr < 1e6)
        m->threads = m->cores = (int)nr;
}

static void machine_add_cache(struct strbuf *out, const char *name, int64_t bytes)
{
    if (bytes > 0)
        strbuf_addf(out, " %s %lldk", name, (long long)(bytes >> 10));
}

/* Not the host's name: runners of a CI system have a new one each day, and are alike. */
static void machine_describe(const struct machine *m, struct strbuf *out)
{
    strbuf_addf(out, "%s %s", m->cpu, m->gpu);
    if (m->threads > 0)
        strbuf_addf(out, " %dc", m->threads);
    machine_add_cache(out, "l1", m->l1d);
    machine_add_cache(out, "l2", m->l2);
    machine_add_cache(out, "l3", m->l3);
}

void import_machine_name(struct machine *m)
{
    struct strbuf text;
    struct digest digest;
    char id[DIGEST_TEXT_SIZE];

    strbuf_init(&text);
    machine_describe(m, &text);
    if (m->class_name[0] == '\0')
        text_slug(text.data, m->class_name, sizeof(m->class_name));
    if (m->class_name[0] == '\0')
        snprintf(m->class_name, sizeof(m->class_name), "unknown");
    if (m->cpu[0] == '\0')
        snprintf(m->cpu, sizeof(m->cpu), "unknown processor");
    digest_init(&digest);
    digest_add_text(&digest, text.data);
    digest_add_text(&digest, m->class_name);
    digest_text(&digest, id);
    snprintf(m->id, sizeof(m->id), "%.16s", id);
    strbuf_release(&text);
}

void import_machine_class(struct machine *m, const char *class_name)
{
    import_copy(m->class_name, sizeof(m->class_name), class_name);
    import_machine_name(m);
}
