/* SPDX-License-Identifier: MIT */
#include "core/run_kind.h"

#include "base/json.h"
#include "base/memory.h"

#include <string.h>

static bool is_selftest_label(const char *label)
{
    static const char word[] = "selftest";
    size_t length = sizeof(word) - 1;

    return strncmp(label, word, length) == 0 && (label[length] == '\0' || label[length] == ' ');
}

bool run_is_trial(const char *label, const char *settings)
{
    struct error ignored;

    if (is_selftest_label(label))
        return true;
    /* Most settings need no parsing to see that. */
    if (!settings || !(strstr(settings, "\"ab\"") || strstr(settings, "\"planted\"")))
        return false;
    cJSON *json = json_parse(settings, strlen(settings), "settings", &ignored);
    bool found = cJSON_GetObjectItemCaseSensitive(json, "ab") || json_bool(json, "planted", false);
    cJSON_Delete(json);
    return found;
}

bool run_is_profile(const char *settings)
{
    struct error ignored;

    if (!settings || !strstr(settings, "\"profile\""))
        return false;
    cJSON *json = json_parse(settings, strlen(settings), "settings", &ignored);
    bool found = json_bool(json, "profile", false);
    cJSON_Delete(json);
    return found;
}

char *run_sweep(const char *settings, char **shard)
{
    struct error ignored;

    *shard = NULL;
    if (!settings || !strstr(settings, "\"sweep\""))
        return NULL;
    cJSON *json = json_parse(settings, strlen(settings), "settings", &ignored);
    char *sweep = memory_string(json_string(json, "sweep", NULL));
    if (sweep)
        *shard = memory_string(json_string(json, "shard", NULL));
    cJSON_Delete(json);
    return sweep;
}
