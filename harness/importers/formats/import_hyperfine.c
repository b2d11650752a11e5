/* SPDX-License-Identifier: MIT */
/* hyperfine's --export-json. */
#include "importers/base/import_form.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS_MOST = 8, SCAN_MOST = 64, COMMAND_MOST = 500 };

/* ---- parameters: one benchmark for all of their values ---- */

struct hyperfine_parameter {
    const char *name, *value; /* as text: JSON has no other, a number of CSV is written again */
    char number[32];
};

struct hyperfine_parameters {
    struct hyperfine_parameter items[PARAMETERS_MOST];
    int nr;
};

static void hyperfine_add_parameter(struct hyperfine_parameters *p, const char *name,
                                    const cJSON *item)
{
    if (p->nr == PARAMETERS_MOST || !(cJSON_IsString(item) || cJSON_IsNumber(item)))
        return;
    struct hyperfine_parameter *to = &p->items[p->nr++];
    *to = (struct hyperfine_parameter) { .name = name, .value = item->valuestring };
    if (cJSON_IsNumber(item)) {
        snprintf(to->number, sizeof(to->number), "%.15g", item->valuedouble);
        to->value = NULL;
    }
}

static const char *hyperfine_value(const struct hyperfine_parameter *p)
{
    return p->value ? p->value : p->number;
}

/* {"parameters": {"n": "8"}}, or the column parameter_n of CSV. */
static void hyperfine_find_parameters(const cJSON *result, struct hyperfine_parameters *p)
{
    static const char column[] = "parameter_";
    const cJSON *item;

    p->nr = 0;
    cJSON_ArrayForEach(item, import_member(result, "parameters"))
    {
        hyperfine_add_parameter(p, item->string, item);
    }
    cJSON_ArrayForEach(item, result)
    {
        if (strncmp(item->string, column, sizeof(column) - 1) == 0)
            hyperfine_add_parameter(p, item->string + sizeof(column) - 1, item);
    }
}

/* The parameter whose value stands at both places, and is not the same; -1: none. */
static int hyperfine_place(const struct hyperfine_parameters *p, const char *a,
                           const struct hyperfine_parameters *q, const char *b)
{
    for (int i = 0; i < p->nr; i++) {
        const char *one = hyperfine_value(&p->items[i]), *other = hyperfine_value(&q->items[i]);
        if (strcmp(one, other) != 0 && *one && *other && strncmp(a, one, strlen(one)) == 0 &&
            strncmp(b, other, strlen(other)) == 0)
            return i;
    }
    return -1;
}

/* "sort -j8" with n = 8 and "sort -j16" with n = 16 are "sort -j{n}": what is the same in both, and
 * parameters in the places where their values differ. False: they are other commands. */
static bool hyperfine_unify(const cJSON *x, const cJSON *y, struct strbuf *out)
{
    struct hyperfine_parameters p, q;
    const char *a = json_string(x, "command", ""), *b = json_string(y, "command", "");

    hyperfine_find_parameters(x, &p);
    hyperfine_find_parameters(y, &q);
    for (int i = 0; i < p.nr; i++)
        if (p.nr != q.nr || strcmp(p.items[i].name, q.items[i].name) != 0)
            return false;
    strbuf_clear(out);
    while (*a || *b) {
        int i = hyperfine_place(&p, a, &q, b);
        if (i >= 0) {
            strbuf_addf(out, "{%s}", p.items[i].name);
            a += strlen(hyperfine_value(&p.items[i]));
            b += strlen(hyperfine_value(&q.items[i]));
        } else if (*a++ == *b++)
            strbuf_addc(out, a[-1]);
        else
            return false;
    }
    return true;
}

static bool hyperfine_is_word_character(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.';
}

/* Alone in its file, or a value that is the same in all: each place where it is a whole word. */
static void hyperfine_generalise(struct strbuf *text, const char *name, const char *value)
{
    size_t length = strlen(value);
    struct strbuf out;

    if (!length)
        return;
    strbuf_init(&out);
    for (const char *p = text->data; *p;) {
        bool whole = strncmp(p, value, length) == 0 && !hyperfine_is_word_character(p[length]) &&
                     (p == text->data || !hyperfine_is_word_character(p[-1]));
        if (whole)
            strbuf_addf(&out, "{%s}", name);
        else
            strbuf_addc(&out, *p);
        p += whole ? length : 1;
    }
    strbuf_release(text);
    *text = out;
}

/* Another result of the same scan: the nearest before or behind, not too far away, for every result
 * looks for one. */
static bool hyperfine_find_scan(const cJSON *result, struct strbuf *out)
{
    const cJSON *before = result, *behind = result;
    bool first = false;

    if (strlen(json_string(result, "command", "")) > COMMAND_MOST)
        return false;
    for (int i = 0; i < SCAN_MOST && (before || behind); i++) {
        first = first || !before || !before->prev || !before->prev->next; /* prev is a circle */
        before = first ? NULL : before->prev;
        behind = behind ? behind->next : NULL;
        if ((behind && hyperfine_unify(result, behind, out)) ||
            (before && hyperfine_unify(result, before, out)))
            return true;
    }
    return false;
}

static void hyperfine_take_parameters(const cJSON *result)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, result)
    {
        if (strncmp(item->string, "parameter", 9) == 0)
            import_take(item);
    }
}

static int hyperfine_read_name(struct import_entry *e)
{
    const char *command;
    struct hyperfine_parameters p;
    struct strbuf text;

    if (import_text(e->b, e->node, "command", &command))
        return -1;
    strbuf_init(&text);
    hyperfine_find_parameters(e->node, &p);
    hyperfine_take_parameters(e->node);
    if (p.nr == 0 || !hyperfine_find_scan(e->node, &text)) {
        strbuf_clear(&text);
        strbuf_adds(&text, command);
    }
    for (int i = 0; i < p.nr; i++) {
        char place[64];
        snprintf(place, sizeof(place), "{%.60s}", p.items[i].name);
        if (!strstr(text.data, place))
            hyperfine_generalise(&text, p.items[i].name, hyperfine_value(&p.items[i]));
        import_name_parameter(&e->name, p.items[i].name, hyperfine_value(&p.items[i]));
    }
    /* The command is first, whatever parts parameters made. */
    strbuf_addf(&text, "%s%s", e->name.text.length ? "/" : "", e->name.text.data);
    strbuf_release(&e->name.text);
    e->name.text = text;
    return 0;
}

/* ---- results ---- */

/* Statuses other than 0, and ends by a signal, which are null. */
static void hyperfine_count_failures(struct import_entry *e)
{
    const cJSON *codes = import_entry_at(e, "exit_codes"), *item;
    char first[128];
    int nr = 0;

    import_take(codes);
    cJSON_ArrayForEach(item, codes)
    {
        nr += !cJSON_IsNumber(item) || item->valuedouble != 0;
    }
    if (!nr)
        return;
    snprintf(first, sizeof(first), "%.80s: %d of them", e->c->m.bench.key, nr);
    import_count(e->b, "%zu command%s with runs that failed, whose times count all the same (%s)",
                 first);
}

/* A number for each run. */
static void hyperfine_read_memory(struct import_entry *e)
{
    const cJSON *all = import_entry_at(e, "memory_usage_byte"), *item;
    double most = NAN, value;

    import_take(all);
    cJSON_ArrayForEach(item, all)
    {
        if (import_value(item, &value))
            most = fmax(most, value);
    }
    import_beside(e->b, e->c, "command_max_rss_bytes", most);
}

static int hyperfine_read_others(struct import_entry *e)
{
    hyperfine_count_failures(e);
    hyperfine_read_memory(e);
    return 0;
}

static const struct import_field fields[] = {
    { "command", FIELD_SKIP, NULL },
    { "times", FIELD_SAMPLES, NULL },
    { "median", FIELD_TIME, "median" },
    { "mean", FIELD_TIME, "mean" },
    { "stddev", FIELD_SUMMARY, "std" },
    { "min", FIELD_SUMMARY, "min" },
    { "max", FIELD_SUMMARY, "max" },
    { "user", FIELD_BESIDE, "user_seconds" },
    { "system", FIELD_BESIDE, "system_seconds" },
    FIELDS_END,
};

static const struct import_form form = {
    .entries = "results[]",
    .unit = "s",
    .clock = "hyperfine",
    .statistic = "the median or mean of the runs",
    .fields = fields,
    .read_name = hyperfine_read_name,
    .read_times = hyperfine_read_others,
};

static int hyperfine_csv_parse(struct import_build *b)
{
    return import_read_csv(b, "results") ? -1 : import_read_form(b, &form);
}

static bool hyperfine_csv_fits(const char *text, size_t length)
{
    static const char head[] = "command,mean,stddev,median,user,system,min,max";

    return length >= sizeof(head) - 1 && memcmp(text, head, sizeof(head) - 1) == 0;
}

const struct import_format_row import_hyperfine = { .signs = { "results[].command" },
                                                    .form = &form };

const struct import_format_row import_hyperfine_csv = { .fits_text = hyperfine_csv_fits,
                                                        .parse = hyperfine_csv_parse };
