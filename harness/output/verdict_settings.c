/* SPDX-License-Identifier: MIT */
/* Of what is kept with a verdict, the settings and the result. */
#include "output/verdict_json.h"

#include "base/json.h"
#include "base/memory.h"
#include "output/compare_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char *result_text(const struct compare_row *row)
{
    return json_take_text(compare_row_to_json(row));
}

char *settings_text(const struct compare_settings *settings)
{
    cJSON *json = cJSON_CreateObject();

    json_add_number(json, "delta", settings->delta);
    json_add_number(json, "fdr", settings->q);
    if (settings->metrics) {
        cJSON *metrics = cJSON_AddArrayToObject(json, "metrics");
        for (const char *const *m = settings->metrics; *m; m++)
            cJSON_AddItemToArray(metrics, cJSON_CreateString(*m));
    }
    cJSON *floors = settings->nr_floors ? cJSON_AddArrayToObject(json, "floors") : NULL;
    for (size_t i = 0; i < settings->nr_floors; i++) {
        cJSON *floor = cJSON_CreateObject();
        json_add_string(floor, "pattern", settings->floors[i].pattern);
        json_add_number(floor, "delta", settings->floors[i].delta);
        cJSON_AddItemToArray(floors, floor);
    }
    if (settings->any_machine)
        cJSON_AddTrueToObject(json, "any_machine");
    return json_take_text(json);
}

static void read_metrics(struct kept_settings *kept, const cJSON *array)
{
    size_t nr = 0;

    kept->metrics = memory_zeroed((size_t)cJSON_GetArraySize(array) + 1, sizeof(*kept->metrics));
    for (const cJSON *m = array->child; m; m = m->next)
        if (cJSON_IsString(m))
            kept->metrics[nr++] = m->valuestring;
    kept->settings.metrics = kept->metrics;
}

static void read_floors(struct kept_settings *kept, const cJSON *array)
{
    kept->floors = memory_zeroed((size_t)cJSON_GetArraySize(array) + 1, sizeof(*kept->floors));
    for (const cJSON *f = array->child; f; f = f->next)
        kept->floors[kept->settings.nr_floors++] = (struct compare_floor) {
            .pattern = json_string(f, "pattern", ""),
            .delta = json_number(f, "delta", NAN),
        };
    kept->settings.floors = kept->floors;
}

int kept_settings_init(struct kept_settings *kept, const char *text, struct error *err)
{
    *kept = (struct kept_settings) { .settings = COMPARE_DEFAULTS };
    kept->json = json_parse(text, strlen(text), "its settings", err);
    if (!kept->json)
        return -1;
    const cJSON *metrics = cJSON_GetObjectItemCaseSensitive(kept->json, "metrics"),
                *floors = cJSON_GetObjectItemCaseSensitive(kept->json, "floors");
    if (cJSON_IsArray(metrics))
        read_metrics(kept, metrics);
    if (cJSON_IsArray(floors))
        read_floors(kept, floors);
    kept->settings.any_machine = json_bool(kept->json, "any_machine", false);
    return json_get_number(kept->json, "delta", &kept->settings.delta, err) ||
                   json_get_number(kept->json, "fdr", &kept->settings.q, err)
               ? -1
               : 0;
}

void kept_settings_release(struct kept_settings *kept)
{
    cJSON_Delete(kept->json);
    free(kept->metrics);
    free(kept->floors);
    *kept = (struct kept_settings) { .json = NULL };
}

int kept_result_read(const char *text, struct kept_result *out, struct error *err)
{
    cJSON *json = json_parse(text, strlen(text), "a kept result", err);

    if (!json)
        return -1;
    const cJSON *interval = cJSON_GetObjectItemCaseSensitive(json, "interval");
    *out = (struct kept_result) {
        .change = json_number(json, "change", NAN),
        .interval = { json_number(interval, "low", NAN), json_number(interval, "high", NAN) },
        .worse = json_bool(json, "worse", false),
        .accepted = json_string(json, "accepted", NULL) != NULL,
    };
    cJSON_Delete(json);
    return 0;
}
