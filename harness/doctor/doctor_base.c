/* SPDX-License-Identifier: MIT */
#include "doctor/doctor_base.h"

#include "host/folder.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line that starts with `field`, however long, or NULL. */
static char *find_line(const struct doctor_input *in, const char *path, const char *field)
{
    char where[512], *line = NULL;
    size_t room = 0;
    bool found = false;

    snprintf(where, sizeof(where), "%s%s", in->root, path);
    FILE *file = fopen(where, "r");
    while (file && !found && getline(&line, &room, file) > 0)
        found = strncmp(line, field, strlen(field)) == 0;
    if (file)
        fclose(file);
    if (found)
        return line;
    free(line);
    return NULL;
}

/* What stands behind the field. */
static char *rest_of(char *line, const char *field)
{
    char *rest = line + strlen(field);

    rest += strspn(rest, " \t:");
    rest[strcspn(rest, "\n")] = '\0';
    return rest;
}

bool doctor_text(const struct doctor_input *in, const char *path, const char *field, char *text,
                 size_t size)
{
    char *line = find_line(in, path, field);

    if (!line)
        return false;
    snprintf(text, size, "%s", rest_of(line, field));
    free(line);
    return true;
}

double doctor_number(const struct doctor_input *in, const char *path, const char *field)
{
    char text[64], *end;

    if (!doctor_text(in, path, field, text, sizeof(text)))
        return NAN;
    double value = strtod(text, &end);
    return end == text ? (double)NAN : value;
}

void doctor_names(const struct doctor_input *in, const char *folder, const char *prefix,
                  struct string_list *names)
{
    char where[512];
    struct error ignored;

    *names = (struct string_list) { 0 };
    snprintf(where, sizeof(where), "%s%s", in->root, folder);
    folder_names(where, prefix, names, &ignored);
}

double doctor_sum(const struct doctor_input *in, const char *folder, const char *prefix,
                  const char *file)
{
    char path[512];
    struct string_list names;
    double sum = NAN;

    doctor_names(in, folder, prefix, &names);
    for (size_t i = 0; i < names.nr; i++) {
        snprintf(path, sizeof(path), "%s/%s/%s", folder, names.items[i], file);
        double value = doctor_number(in, path, "");
        if (!isnan(value))
            sum = (isnan(sum) ? 0 : sum) + value;
    }
    string_list_release(&names);
    return sum;
}

bool doctor_cpus(const struct doctor_input *in, const char *path, const char *field,
                 struct processors *set)
{
    char *line = find_line(in, path, field), *rest, *range;

    *set = (struct processors) { { 0 } };
    if (!line)
        return false;
    rest = rest_of(line, field);
    while ((range = strsep(&rest, ","))) {
        char *end;
        long first = strtol(range, &end, 10);
        long last = *end == '-' ? strtol(end + 1, NULL, 10) : first;
        if (end == range || first < 0)
            continue;
        for (long cpu = first; cpu <= last && cpu < PROCESSORS_MAX; cpu++)
            processors_add(set, (size_t)cpu);
    }
    free(line);
    return true;
}

bool doctor_is_there(const struct doctor_input *in, const char *path)
{
    char where[512];

    snprintf(where, sizeof(where), "%s%s", in->root, path);
    return access(where, F_OK) == 0;
}

/* ---- variables ---- */

static const char variables_path[] = "/proc/self/environ";

bool doctor_has_variables(const struct doctor_input *in)
{
    return in->root[0] == '\0' || doctor_is_there(in, variables_path);
}

/* "NAME=VALUE" behind "NAME=VALUE", each with a NUL at its end. */
static bool find_variable(const struct doctor_input *in, const char *name,
                          struct doctor_value *value)
{
    char where[512], *line = NULL;
    size_t room = 0, length = strlen(name);
    bool found = false;

    snprintf(where, sizeof(where), "%s%s", in->root, variables_path);
    FILE *file = fopen(where, "r");
    while (file && !found && getdelim(&line, &room, '\0', file) > 0)
        found = strncmp(line, name, length) == 0 && line[length] == '=';
    if (found)
        snprintf(value->text, sizeof(value->text), "%s", line + length + 1);
    if (file)
        fclose(file);
    free(line);
    return found;
}

const char *doctor_variable(const struct doctor_input *in, const char *name,
                            struct doctor_value *room)
{
    const char *own = in->root[0] ? NULL : getenv(name);

    if (own)
        snprintf(room->text, sizeof(room->text), "%s", own);
    return own || (in->root[0] && find_variable(in, name, room)) ? room->text : NULL;
}

bool doctor_has_word(const char *text, const char *word)
{
    static const char between[] = " \t,[]";
    size_t length = strlen(word);

    for (text += strspn(text, between); *text; text += strspn(text, between)) {
        size_t here = strcspn(text, between);
        if (here == length && strncmp(text, word, length) == 0)
            return true;
        text += here;
    }
    return false;
}

void doctor_say(struct doctor_finding *f, enum doctor_state state, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(f->found, sizeof(f->found), format, args);
    va_end(args);
    f->state = state;
}

void doctor_mend(struct doctor_finding *f, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(f->mend, sizeof(f->mend), format, args);
    va_end(args);
}
