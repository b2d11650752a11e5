/* SPDX-License-Identifier: MIT */
#include "cli/floors.h"

#include <string.h>

/* Keys have equals signs of their own; the share stands behind the last one. */
static int parse_one(char *text, struct floors *floors, struct compare_settings *settings,
                     struct error *err)
{
    char *equals = strrchr(text, '=');
    double share;

    if (text_parse_fraction(equals ? equals + 1 : text, "--delta", &share, err))
        return -1;
    if (!(share > 0))
        return error_set(err, "--delta: %s is not above zero", text);
    if (!equals) {
        settings->delta = share;
        return 0;
    }
    if (equals == text)
        return error_set(err, "--delta: \"%s\" names no metric or benchmark before the \"=\"",
                         text);
    *equals = '\0';
    *(struct compare_floor *)array_push(floors) = (struct compare_floor) { text, share };
    return 0;
}

int floors_parse(struct string_list *texts, struct floors *floors,
                 struct compare_settings *settings, struct error *err)
{
    for (size_t i = 0; i < texts->nr; i++)
        if (parse_one(texts->items[i], floors, settings, err))
            return -1;
    settings->floors = floors->items;
    settings->nr_floors = floors->nr;
    return 0;
}

void floors_release(struct floors *floors)
{
    array_release(floors);
}
