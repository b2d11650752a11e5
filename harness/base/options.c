/* SPDX-License-Identifier: MIT */
#include "base/options.h"

#include "base/clean.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void string_list_add(struct string_list *list, const char *text)
{
    *array_push(list) = memory_string(text);
}

void string_list_add_split(struct string_list *list, const char *text, char separator)
{
    char *copy = memory_string(text), *rest = copy, *item, separators[2] = { separator, 0 };

    while ((item = strsep(&rest, separators)))
        if (*item)
            string_list_add(list, item);
    free(copy);
}

void string_list_release(struct string_list *list)
{
    for (size_t i = 0; i < list->nr; i++)
        free(list->items[i]);
    array_release(list);
}

bool string_list_has(const struct string_list *list, const char *text)
{
    for (size_t i = 0; i < list->nr; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

static int string_list_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void string_list_sort(struct string_list *list)
{
    if (list->nr > 1)
        qsort(list->items, list->nr, sizeof(*list->items), string_list_order);
}

bool string_list_has_sorted(const struct string_list *sorted, const char *text)
{
    return sorted->nr > 0 && bsearch(&text, sorted->items, sorted->nr, sizeof(*sorted->items),
                                     string_list_order) != NULL;
}

/* An empty item is a mistake, such as an unset shell variable: nothing must stand for "all". */
static int set_strings(const char *text, const char *what, struct string_list *list,
                       struct error *err)
{
    for (const char *item = text; item; item = strchr(item, ',') ? strchr(item, ',') + 1 : NULL)
        if (*item == ',' || *item == '\0')
            return error_set(err, "%s: \"%s\" has an empty name in the list", what, text);
    string_list_add_split(list, text, ',');
    return 0;
}

/* 0 would read as "not given". */
static int above_zero(const double *value, const char *text, const char *what, struct error *err)
{
    return *value > 0 ? 0 : error_set(err, "%s: %s is not above zero", what, text);
}

static int set_value(const struct option_row *row, void *target, const char *text,
                     struct error *err)
{
    void *member = (char *)target + row->offset;
    char what[64];

    snprintf(what, sizeof(what), "--%s", row->name);
    switch (row->type) {
    case OPTION_FLAG:
        *(bool *)member = true;
        return 0;
    case OPTION_STRING:
        *(const char **)member = text;
        return 0;
    case OPTION_LINE:
        *(const char **)member = text;
        return clean_check(text, what, err);
    case OPTION_STRINGS:
        return set_strings(text, what, member, err);
    case OPTION_TEXTS:
        string_list_add(member, text);
        return 0;
    case OPTION_INT:
        return text_parse_int(text, row->low, row->high, what, member, err);
    case OPTION_INTS:
        return text_parse_ints(text, row->low, row->high, what, member, err);
    case OPTION_DOUBLE:
        return text_parse_double(text, (double)row->low, (double)row->high, what, member, err);
    case OPTION_DURATION:
        return text_parse_duration(text, what, member, err) || above_zero(member, text, what, err)
                   ? -1
                   : 0;
    case OPTION_SIZE:
        return text_parse_size(text, row->low, what, member, err);
    case OPTION_FRACTION:
        return text_parse_fraction(text, what, member, err) || above_zero(member, text, what, err)
                   ? -1
                   : 0;
    case OPTION_REST: /* has no value of its own */
        break;
    }
    return error_set(err, "%s: unknown option type", what);
}

static int unknown_option(const struct option_row *rows, const char *arg, struct error *err)
{
    const char *names[128] = { NULL };
    char word[64] = "";
    size_t nr = 0;

    for (; rows->name && nr < 127; rows++)
        if (rows->type != OPTION_REST)
            names[nr++] = rows->name;
    snprintf(word, sizeof(word), "%.*s", (int)strcspn(arg + 2, "="), arg + 2);
    const char *nearest = arg[1] == '-' ? text_nearest(word, names) : NULL;
    if (nearest)
        return error_set(err, "unknown option %s; did you mean --%s?", arg, nearest);
    return error_set(err, "unknown option %s", arg);
}

static const struct option_row *find_row(const struct option_row *rows, const char *arg)
{
    size_t length = strcspn(arg, "=");

    for (; rows->name; rows++) {
        if (rows->type == OPTION_REST) {
            continue;
        } else if (arg[1] == '-') {
            if (strlen(rows->name) == length - 2 && !strncmp(rows->name, arg + 2, length - 2))
                return rows;
        } else if (rows->letter && rows->letter == arg[1] && !arg[2]) {
            return rows;
        }
    }
    return NULL;
}

/* Where what is behind "--" goes; NULL: to the other arguments. */
static struct option_rest *find_rest(const struct option_row *rows, void *target)
{
    for (; rows->name; rows++)
        if (rows->type == OPTION_REST)
            return (struct option_rest *)((char *)target + rows->offset);
    return NULL;
}

int options_parse(const struct option_row *rows, void *target, int *argc, char **argv,
                  struct error *err)
{
    int kept = 0, i = 0;
    bool dashes = false;

    for (; i < *argc && !dashes; i++) {
        char *arg = argv[i];
        dashes = strcmp(arg, "--") == 0;
        if (dashes)
            continue;
        if (arg[0] != '-' || arg[1] == '\0') {
            argv[kept++] = arg;
            continue;
        }
        const struct option_row *row = find_row(rows, arg);
        if (!row)
            return unknown_option(rows, arg, err);
        char *equals = arg[1] == '-' ? strchr(arg, '=') : NULL;
        const char *value = equals ? equals + 1 : NULL;
        if (row->type == OPTION_FLAG && value)
            return error_set(err, "--%s takes no value", row->name);
        if (row->type != OPTION_FLAG && !value && ++i >= *argc)
            return error_set(err, "--%s needs a value: %s", row->name, row->argument);
        if (set_value(row, target, value ? value : argv[i], err))
            return -1;
    }
    struct option_rest *rest = dashes ? find_rest(rows, target) : NULL;
    if (rest) {
        *rest = (struct option_rest) { .argv = argv + i, .argc = *argc - i };
        i = *argc;
    }
    for (; i < *argc; i++)
        argv[kept++] = argv[i];
    *argc = kept;
    return 0;
}

bool options_has(const struct option_row *row, const void *target)
{
    const void *member = (const char *)target + row->offset;

    switch (row->type) {
    case OPTION_FLAG:
        return *(const bool *)member;
    case OPTION_STRING:
    case OPTION_LINE:
        return *(const char *const *)member != NULL;
    case OPTION_STRINGS:
    case OPTION_TEXTS:
        return ((const struct string_list *)member)->nr > 0;
    case OPTION_INT:
    case OPTION_SIZE:
        return *(const int64_t *)member != 0;
    case OPTION_INTS:
        return ((const struct int_list *)member)->nr > 0;
    case OPTION_DOUBLE:
    case OPTION_DURATION:
    case OPTION_FRACTION:
        return *(const double *)member != 0;
    case OPTION_REST:
        return ((const struct option_rest *)member)->argv != NULL;
    }
    return false;
}

void options_release(const struct option_row *rows, void *target)
{
    for (; rows->name; rows++) {
        void *member = (char *)target + rows->offset;
        if (rows->type == OPTION_STRINGS || rows->type == OPTION_TEXTS)
            string_list_release(member);
        if (rows->type == OPTION_INTS)
            array_release((struct int_list *)member);
    }
}

const char *options_first_given(const struct option_given *options, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        if (options[i].given)
            return options[i].name;
    return NULL;
}

void options_help(const struct option_row *rows, struct strbuf *out)
{
    for (; rows->name; rows++) {
        size_t start = out->length;
        strbuf_adds(out, "  ");
        if (rows->letter)
            strbuf_addf(out, "-%c, ", rows->letter);
        strbuf_addf(out, "--%s%s%s", rows->name, rows->argument ? " " : "",
                    rows->argument ? rows->argument : "");
        strbuf_pad(out, start + 27, ' ');
        strbuf_addf(out, " %s\n", rows->help);
    }
}
