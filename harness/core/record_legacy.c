/* SPDX-License-Identifier: MIT */
#include "core/record_legacy.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- runs ---- */

static bool is_selftest_label(const char *label)
{
    static const char word[] = "selftest";
    size_t length = sizeof(word) - 1;

    return strncmp(label, word, length) == 0 && (label[length] == '\0' || label[length] == ' ');
}

static enum run_kind legacy_kind(const char *label, const cJSON *settings)
{
    if (is_selftest_label(label) || cJSON_GetObjectItemCaseSensitive(settings, "ab") ||
        json_bool(settings, "planted", false))
        return RUN_TRIAL;
    if (json_bool(settings, "profile", false))
        return RUN_PROFILE;
    return cJSON_GetObjectItemCaseSensitive(settings, "import") ? RUN_IMPORTED : RUN_MEASURED;
}

/* Imported as measured in turn means one launch of each side at a time. */
static void legacy_ab(struct run_ab *ab, const cJSON *settings)
{
    enum { LAUNCHES_MEASURED = 2, LAUNCHES_IMPORTED = 1 };
    const cJSON *measured = cJSON_GetObjectItemCaseSensitive(settings, "ab");
    const char *imported = json_string(settings, "in_turn", NULL);

    snprintf(ab->id, sizeof(ab->id), "%s", imported ? imported : json_string(measured, "id", ""));
    snprintf(ab->side, sizeof(ab->side), "%s", json_string(measured, "side", ""));
    if (ab->id[0])
        ab->block = imported ? LAUNCHES_IMPORTED : LAUNCHES_MEASURED;
}

static void legacy_shard(struct run_shard *shard, const cJSON *settings)
{
    enum { COUNT_MAX = 100000 };
    unsigned index, count;

    snprintf(shard->sweep, sizeof(shard->sweep), "%s", json_string(settings, "sweep", ""));
    snprintf(shard->plan, sizeof(shard->plan), "%s", json_string(settings, "shard_plan", ""));
    if (sscanf(json_string(settings, "shard", ""), "%u/%u", &index, &count) == 2 && index >= 1 &&
        index <= count && count <= COUNT_MAX) {
        shard->index = index;
        shard->count = count;
    }
}

void legacy_run_facts(struct run *run)
{
    struct error ignored;
    cJSON *settings = run->settings
                          ? json_parse(run->settings, strlen(run->settings), "settings", &ignored)
                          : NULL;

    run->kind = legacy_kind(run->label, settings);
    legacy_ab(&run->ab, settings);
    legacy_shard(&run->shard, settings);
    cJSON_Delete(settings);
}

/* ---- forward passes ---- */

/* gpt/<model>/prefill works on the whole sequences, gpt/<model>/decode on one token of each;
 * another phase counts as the first. A profile puts ":operation" behind it. */
static bool is_decode(const char *kernel)
{
    static const char phase[] = "/decode";
    const char *last = strrchr(kernel, '/');
    size_t length = sizeof(phase) - 1;

    return strncmp(last, phase, length) == 0 && (last[length] == '\0' || last[length] == ':');
}

double legacy_tokens(const struct benchmark_name *bench)
{
    static const char family[] = "gpt/";

    if (strncmp(bench->kernel, family, sizeof(family) - 1) != 0)
        return NAN;
    double tokens = (double)benchmark_name_dim(bench, "batch", 0);
    if (!is_decode(bench->kernel))
        tokens *= (double)benchmark_name_dim(bench, "seq", 0);
    return tokens > 0 && record_amount_is_sane(tokens) ? tokens : (double)NAN;
}
