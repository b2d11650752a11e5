/* SPDX-License-Identifier: MIT */
#include "session/measure/floors.h"

#include <stdio.h>
#include <string.h>

/* Keys have equals signs of their own; the share stands behind the last one. */
static int parse_floor(char *text, struct floors *floors, struct compare_settings *settings,
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
        settings->for_all = true;
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
        if (parse_floor(texts->items[i], floors, settings, err))
            return -1;
    settings->floors = floors->items;
    settings->nr_floors = floors->nr;
    return 0;
}

static bool floor_fits_any(const struct compare_floor *floor,
                           const struct compare_settings *settings, const struct workload *workload)
{
    const struct metric *metrics[COMPARE_METRICS_MAX];
    const struct comparison planned = { .settings = *settings };
    size_t nr = comparison_metrics(&planned, metrics);
    struct benchmark_name name;

    for (size_t i = 0; i < workload->list.nr; i++) {
        benchmark_name_of(&workload->list.items[i], &workload->device, &name);
        for (size_t j = 0; j < nr; j++)
            if (compare_floor_fits(floor, metrics[j], name.key))
                return true;
    }
    return false;
}

void floors_warn(const struct compare_settings *settings, const struct workload *workload,
                 const struct session_sink *sink)
{
    char text[COMPARE_FLOOR_TEXT];

    for (size_t i = 0; i < settings->nr_floors; i++) {
        if (floor_fits_any(&settings->floors[i], settings, workload))
            continue;
        compare_floor_unfit(&settings->floors[i], text);
        sink_note(sink, "note: %s\n", text);
    }
}

void floors_release(struct floors *floors)
{
    array_release(floors);
}
