/* SPDX-License-Identifier: MIT */
#include "doctor/doctor_base.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool doctor_text(const struct doctor_input *in, const char *path, const char *field, char *text,
                 size_t size)
{
    char where[512], line[4096];
    size_t length = strlen(field);
    bool found = false;

    snprintf(where, sizeof(where), "%s%s", in->root, path);
    FILE *file = fopen(where, "r");
    while (file && !found && fgets(line, sizeof(line), file))
        found = strncmp(line, field, length) == 0;
    if (file)
        fclose(file);
    if (!found)
        return false;
    const char *rest = line + length + strspn(line + length, " \t:");
    snprintf(text, size, "%.*s", (int)strcspn(rest, "\n"), rest);
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

bool doctor_cpus(const struct doctor_input *in, const char *path, const char *field, cpu_set_t *set)
{
    char text[1024], *rest = text, *range;

    CPU_ZERO(set);
    if (!doctor_text(in, path, field, text, sizeof(text)))
        return false;
    while ((range = strsep(&rest, ","))) {
        char *end;
        long first = strtol(range, &end, 10);
        long last = *end == '-' ? strtol(end + 1, NULL, 10) : first;
        if (end == range || first < 0)
            continue;
        for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            CPU_SET((size_t)cpu, set);
    }
    return true;
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
