/* SPDX-License-Identifier: MIT */
#include "session/measure/param.h"

#include "base/strbuf.h"
#include "base/text.h"
#include "command/command_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 1000 }; /* of one parameter */

/* ---- values ---- */

static int add_param_value(struct param *p, const char *value, struct error *err)
{
    if (!*value)
        return error_set(err, "--param %s: a value is empty", p->name);
    for (size_t i = 0; i < p->values.nr; i++)
        if (strcmp(p->values.items[i], value) == 0)
            return error_set(err, "--param %s: the value %s is there twice", p->name, value);
    if (p->values.nr == VALUES_MAX)
        return error_set(err, "--param %s: more than %d values", p->name, VALUES_MAX);
    string_list_add(&p->values, value);
    return 0;
}

struct range {
    double first, last, step;
    bool multiplies;
};

static bool read_range_number(const char **text, double *value)
{
    char *end;

    if (!strchr("+-.0123456789", **text) || !**text)
        return false;
    *value = strtod(*text, &end);
    bool read = end != *text && isfinite(*value);
    *text = end;
    return read;
}

/* "1:8", "1:64:*2", "0:1:+0.25", "0:1:0.25"; false where it is just a text with colons. */
static bool read_range(const char *text, struct range *r)
{
    *r = (struct range) { .step = 1 };
    if (!read_range_number(&text, &r->first) || *text++ != ':' ||
        !read_range_number(&text, &r->last))
        return false;
    if (!*text)
        return true;
    if (*text++ != ':')
        return false;
    r->multiplies = *text == '*';
    text += r->multiplies;
    return read_range_number(&text, &r->step) && !*text;
}

/* Not by adding up: 0.1 ten times is not 1. */
static int add_range(struct param *p, const struct range *r, struct error *err)
{
    bool grows = r->multiplies ? r->step > 1 && r->first > 0 : r->step > 0;
    double slack = 1e-9 * fabs(r->step);
    char value[32];

    if (!grows || r->first > r->last)
        return error_set(err, "--param %s: the range never comes to its end", p->name);
    for (int i = 0; i <= VALUES_MAX; i++) {
        double x = r->multiplies ? r->first * pow(r->step, i) : r->first + i * r->step;
        if (x > r->last + slack)
            return 0;
        snprintf(value, sizeof(value), "%.10g", x);
        if (add_param_value(p, value, err))
            return -1;
    }
    return 0;
}

static bool is_whole(const char *value)
{
    size_t digits = strspn(value, "0123456789");
    int64_t number;
    struct error ignored;

    return digits > 0 && !value[digits] && (value[0] != '0' || digits == 1) &&
           text_parse_int(value, 0, DIM_LIMIT, "", &number, &ignored) == 0;
}

static int read_values(struct param *p, const char *list, struct error *err)
{
    char *copy = memory_string(list), *rest = copy, *item;
    struct range range;
    int rc = 0;

    while (rc == 0 && (item = strsep(&rest, ",")))
        rc = read_range(item, &range) ? add_range(p, &range, err) : add_param_value(p, item, err);
    free(copy);
    p->whole = true;
    for (size_t i = 0; i < p->values.nr; i++)
        p->whole &= is_whole(p->values.items[i]);
    return rc;
}

int param_parse(const struct string_list *texts, struct param_list *p, struct error *err)
{
    for (size_t i = 0; i < texts->nr; i++) {
        const char *text = texts->items[i], *equals = strchr(text, '=');
        struct param *added = array_push(p);
        if (!equals || equals == text || equals - text >= (long)sizeof(added->name))
            return error_set(err,
                             "--param: \"%s\" is not NAME=VALUE,...; {NAME} in the command is "
                             "replaced by each, and a plugin's variants get each",
                             text);
        snprintf(added->name, sizeof(added->name), "%.*s", (int)(equals - text), text);
        for (size_t j = 0; j + 1 < p->nr; j++)
            if (strcmp(p->items[j].name, added->name) == 0)
                return error_set(err, "--param %s is there twice: give all values at once",
                                 added->name);
        if (read_values(added, equals + 1, err))
            return -1;
    }
    return 0;
}

void param_release(struct param_list *p)
{
    for (size_t i = 0; i < p->nr; i++)
        string_list_release(&p->items[i].values);
    array_release(p);
}

/* ---- settings ---- */

size_t param_settings(const struct param_list *p)
{
    size_t nr = 1;

    for (size_t i = 0; i < p->nr; i++)
        nr *= p->items[i].values.nr;
    return nr;
}

const char *param_value(const struct param_list *p, size_t parameter, size_t setting)
{
    for (size_t i = p->nr - 1; i > parameter; i--)
        setting /= p->items[i].values.nr;
    const struct string_list *values = &p->items[parameter].values;
    return values->items[setting % values->nr];
}

void param_list_settings(const struct param_list *p, struct string_list *settings)
{
    struct strbuf text;

    strbuf_init(&text);
    for (size_t s = 0; p->nr > 0 && s < param_settings(p); s++) {
        strbuf_clear(&text);
        for (size_t i = 0; i < p->nr; i++)
            strbuf_addf(&text, "%s%s=%s", i ? "," : "", p->items[i].name, param_value(p, i, s));
        string_list_add(settings, text.data);
    }
    strbuf_release(&text);
}

static void fill_parameter(char **text, const char *name, const char *value)
{
    char *filled = command_fill(*text, name, value);

    free(*text);
    *text = filled;
}

void param_fill(const struct param_list *p, size_t setting, struct command_spec *spec)
{
    for (size_t i = 0; i < p->nr; i++) {
        const char *name = p->items[i].name, *value = param_value(p, i, setting);
        for (size_t j = 0; j < spec->argv.nr; j++)
            fill_parameter(&spec->argv.items[j], name, value);
        fill_parameter(&spec->prepare, name, value);
        fill_parameter(&spec->conclude, name, value);
        fill_parameter(&spec->input, name, value);
        fill_parameter(&spec->expect, name, value);
    }
}

static int give_dim(const struct param *p, struct command_spec *spec, struct selection *selection,
                    struct error *err)
{
    struct int_list values = { 0 };
    int rc = 0;

    string_list_add(&spec->dims, p->name);
    for (size_t i = 0; rc == 0 && i < p->values.nr; i++)
        rc = text_parse_ints(p->values.items[i], 0, DIM_LIMIT, p->name, &values, err);
    if (rc == 0)
        rc = selection_add_dim(selection, p->name, &values, err);
    array_release(&values);
    return rc;
}

int param_give(const struct param_list *p, struct command_spec *spec, struct selection *selection,
               struct error *err)
{
    for (size_t i = 0; i < p->nr; i++) {
        const struct param *from = &p->items[i];
        if (from->whole) {
            if (give_dim(from, spec, selection, err))
                return -1;
            continue;
        }
        struct command_text *text = array_push(&spec->texts);
        snprintf(text->name, sizeof(text->name), "%s", from->name);
        for (size_t j = 0; j < from->values.nr; j++)
            string_list_add(&text->values, from->values.items[j]);
    }
    return 0;
}
