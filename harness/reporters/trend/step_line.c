/* SPDX-License-Identifier: MIT */
#include "reporters/trend/step_line.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The heights that are shown, in logs. */
struct step_line_range {
    double low, high;
};

/* The levels, all but the wildest tenth of the points, and air. */
static struct step_line_range step_line_range_of(const struct step_line *line)
{
    double *sorted = memory_zeroed(line->nr + 1, sizeof(*sorted));
    struct step_line_range r = { log(fmin(line->before, line->after)),
                                 log(fmax(line->before, line->after)) };

    memcpy(sorted, line->values, line->nr * sizeof(*sorted));
    stats_sort(sorted, line->nr);
    r.low = fmin(r.low, log(sorted[line->nr / 20]));
    r.high = fmax(r.high, log(sorted[line->nr - 1 - line->nr / 20]));
    double air = 0.12 * (r.high - r.low);
    free(sorted);
    return (struct step_line_range) { r.low - air, r.high + air };
}

static double step_line_height(const struct step_line_range *r, double value)
{
    double share = r->high > r->low ? (log(value) - r->low) / (r->high - r->low) : 0.5;

    return round(STEP_LINE_HEIGHT * fmin(fmax(share, 0), 1));
}

char *step_line_day(int64_t ms, char text[TEXT_UNIT_SIZE])
{
    text_timestamp(ms, text)[strlen("2026-11-21")] = '\0';
    return text;
}

cJSON *step_line_json(const struct step_line *line)
{
    struct step_line_range range = step_line_range_of(line);
    cJSON *json = cJSON_CreateObject(), *points = cJSON_AddArrayToObject(json, "points");
    char text[QUANTITY_TEXT_SIZE];

    for (size_t i = 0; i < line->nr; i++)
        cJSON_AddItemToArray(points, cJSON_CreateNumber(step_line_height(&range, line->values[i])));
    json_add_int(json, "from", (int64_t)line->from);
    json_add_int(json, "at", (int64_t)line->at);
    json_add_int(json, "to", (int64_t)line->to);
    json_add_number(json, "before", step_line_height(&range, line->before));
    json_add_number(json, "after", step_line_height(&range, line->after));
    if (line->before != line->after)
        json_add_string(json, "before_text",
                        chart_text(line->metric, line->before * line->factor, text));
    json_add_string(json, "after_text", chart_text(line->metric, line->after * line->factor, text));
    json_add_string(json, "first", line->first);
    json_add_string(json, "middle", line->middle);
    json_add_string(json, "last", line->last);
    if (line->apart)
        cJSON_AddTrueToObject(json, "apart");
    return json;
}
