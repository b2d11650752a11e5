/* SPDX-License-Identifier: MIT */
/* Names of other programs as keys: "NAME/dim=value,..." where sizes can be told from the rest. */
#include "base/text.h"
#include "base/utf8.h"
#include "importers/base/import_base.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void import_copy(char *to, size_t size, const char *text)
{
    size_t length = 0;

    for (; text[length] && length + 1 < size; length++)
        to[length] = iscntrl((unsigned char)text[length]) ? ' ' : text[length];
    to[length] = '\0';
    utf8_mend(to); /* what the cut left of a character, too */
}

void import_name_init(struct import_name *n, const char *text)
{
    n->nr_dims = 0;
    strbuf_init(&n->text);
    strbuf_adds(&n->text, text);
}

void import_name_release(struct import_name *n)
{
    strbuf_release(&n->text);
}

void import_name_part(struct import_name *n, const char *part)
{
    if (*part)
        strbuf_addf(&n->text, "%s%s", n->text.length ? "/" : "", part);
}

static bool name_is_dim(const char *name)
{
    const struct benchmark_dim *dim = NULL;

    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        return false;
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_.-", *p))
            return false;
    return strlen(name) < sizeof(dim->name);
}

bool import_name_dim(struct import_name *n, const char *name, int64_t value)
{
    if (n->nr_dims == SHAPE_MAX || !name_is_dim(name))
        return false;
    for (int i = 0; i < n->nr_dims; i++)
        if (strcmp(n->dims[i].name, name) == 0)
            return false;
    struct benchmark_dim *dim = &n->dims[n->nr_dims++];
    snprintf(dim->name, sizeof(dim->name), "%s", name);
    dim->value = value;
    return true;
}

bool import_whole(const char *text, int64_t *value)
{
    const char *digits = text + (*text == '-');
    size_t length = strspn(digits, "0123456789");
    struct error ignored;

    if (length == 0 || digits[length] || (digits[0] == '0' && (length > 1 || digits > text)))
        return false;
    return text_parse_int(text, INT64_MIN + 1, INT64_MAX, "", value, &ignored) == 0;
}

void import_name_parameter(struct import_name *n, const char *name, const char *value)
{
    struct strbuf part;
    int64_t whole;

    if (import_whole(value, &whole) && import_name_dim(n, name, whole))
        return;
    strbuf_init(&part);
    strbuf_addf(&part, "%s=%s", name, value);
    import_name_part(n, part.data);
    strbuf_release(&part);
}

/* ---- Google Benchmark's and criterion's paths ---- */

/* How it was measured, behind the arguments: part of the name. */
static bool name_is_manner(const char *part)
{
    static const char *const words[] = { "real_time", "process_time", "manual_time",
                                         "min_time:", "iterations:",  "min_warmup_time:",
                                         "repeats:" };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i]);
        bool open = words[i][length - 1] == ':';
        if (open ? strncmp(part, words[i], length) == 0 : strcmp(part, words[i]) == 0)
            return true;
    }
    return false;
}

/* "1024" or "n:1024"; cuts the name off at the colon. */
static bool name_is_argument(char *part, const char **name, int64_t *value)
{
    char *colon = strrchr(part, ':');

    *name = "";
    if (!colon)
        return import_whole(part, value);
    if (!import_whole(colon + 1, value))
        return false;
    *colon = '\0';
    *name = part;
    if (name_is_dim(part))
        return true;
    *colon = ':';
    return false;
}

enum { PARTS_MAX = 32 };

struct path {
    char *part[PARTS_MAX];
    int nr, first; /* parts, and the first of those behind the name */
    const char *name[PARTS_MAX];
    int64_t value[PARTS_MAX];
    bool argument[PARTS_MAX];
    int unnamed;
};

/* From the end: arguments and manners, until there is something else. */
static void name_find_arguments(struct path *p)
{
    p->unnamed = 0;
    for (p->first = p->nr; p->first > 1; p->first--) {
        int i = p->first - 1;
        p->argument[i] =
            !name_is_manner(p->part[i]) && name_is_argument(p->part[i], &p->name[i], &p->value[i]);
        if (!p->argument[i] && !name_is_manner(p->part[i]))
            return;
        p->unnamed += p->argument[i] && p->name[i][0] == '\0';
    }
}

static bool name_add_arguments(const struct path *p, struct import_name *n)
{
    int nth = 0;

    for (int i = p->first; i < p->nr; i++) {
        char name[24];
        if (!p->argument[i])
            continue;
        bool unnamed = p->name[i][0] == '\0';
        if (unnamed && p->unnamed > 1)
            snprintf(name, sizeof(name), "arg%d", nth++);
        else
            snprintf(name, sizeof(name), "%s", unnamed ? "arg" : p->name[i]);
        if (!import_name_dim(n, name, p->value[i]))
            return false;
    }
    return true;
}

static void name_keep_words(const struct path *p, struct import_name *n)
{
    strbuf_clear(&n->text);
    for (int i = 0; i < p->nr; i++)
        if (i < p->first || !p->argument[i])
            strbuf_addf(&n->text, "%s%s", i ? "/" : "", p->part[i]);
}

void import_name_path(struct import_name *n, const char *text)
{
    char *copy = memory_string(text), *rest = copy, *part;
    struct path p = { .nr = 0 };

    import_name_init(n, text);
    while (p.nr < PARTS_MAX && (part = strsep(&rest, "/")))
        p.part[p.nr++] = part;
    if (p.nr > 0 && !rest && p.part[0][0]) { /* all of it is taken apart, and there is a name */
        name_find_arguments(&p);
        if (name_add_arguments(&p, n))
            name_keep_words(&p, n);
        else
            n->nr_dims = 0; /* the whole stays the name */
    }
    free(copy);
}

/* ---- keys ---- */

static void name_add_dims(const struct import_name *n, struct strbuf *out)
{
    for (int i = 0; i < n->nr_dims; i++)
        strbuf_addf(out, "%c%s=%lld", i ? ',' : '/', n->dims[i].name, (long long)n->dims[i].value);
}

void import_cut(struct strbuf *name, size_t room, char mark)
{
    struct digest digest;

    if (name->length <= room)
        return;
    digest_init(&digest);
    digest_add(&digest, name->data, name->length);
    name->length = room - 9;
    name->data[name->length] = '\0';
    utf8_mend(name->data);
    strbuf_addf(name, "%c%08x", mark, (unsigned)digest.low);
}

void import_name_key(const struct import_name *n, const char *project, struct benchmark_name *out)
{
    struct strbuf name, dims;
    struct error ignored;
    char key[KEY_SIZE];

    strbuf_init(&name);
    strbuf_init(&dims);
    name_add_dims(n, &dims);
    strbuf_addf(&name, "%s%s%s", project ? project : "", project ? "/" : "", n->text.data);
    if (name.length + dims.length >= KEY_SIZE && dims.length < KEY_SIZE / 2)
        import_cut(&name, KEY_SIZE - 1 - dims.length, '~');
    else if (name.length + dims.length >= KEY_SIZE) {
        strbuf_adds(&name, dims.data);
        strbuf_clear(&dims);
        import_cut(&name, KEY_SIZE - 1, '~');
    }
    strbuf_adds(&name, dims.data);
    import_copy(key, sizeof(key), name.data);
    benchmark_name_parse(key, out, &ignored); /* never too long */
    strbuf_release(&name);
    strbuf_release(&dims);
}

void import_path_key(const char *text, const char *project, struct benchmark_name *out)
{
    struct import_name n;

    import_name_path(&n, text);
    import_name_key(&n, project, out);
    import_name_release(&n);
}
