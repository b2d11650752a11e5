/* SPDX-License-Identifier: MIT */
#include "chart/base/profile_facts.h"

#include "base/file.h"
#include "base/json.h"
#include "core/tensor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SCHEMA_VERSION = 1 };

void profile_roofs_to_json(const struct timeline_roofs *roofs, struct cJSON *json)
{
    cJSON *all = cJSON_CreateObject(), *bandwidth = NULL;

    if (roofs->flops > 0) {
        json_add_string(all, "math", roofs->math);
        json_add_number(all, "flops", roofs->flops);
    }
    for (int i = 0; i < TIMELINE_LEVELS; i++) {
        if (!(roofs->bandwidth[i] > 0))
            continue;
        if (!bandwidth)
            bandwidth = cJSON_AddObjectToObject(all, "bandwidth");
        json_add_number(bandwidth, timeline_level_name(i), roofs->bandwidth[i]);
    }
    if (all->child)
        cJSON_AddItemToObject(json, "roofs", all);
    else
        cJSON_Delete(all);
}

/* The program's own text of the same name, which lives as long as it does; "": another's. */
static const char *known_math(const char *name)
{
    for (int i = 0; i < MATH_NR; i++)
        if (strcmp(math_name((enum math)i), name) == 0)
            return math_name((enum math)i);
    return "";
}

static double profile_facts_positive(const cJSON *object, const char *key)
{
    double value = json_number(object, key, 0);

    return isfinite(value) && value > 0 ? value : 0;
}

static int profile_facts_read_facts(const cJSON *json, struct profile_facts *facts,
                                    struct error *err)
{
    const cJSON *summary = cJSON_GetObjectItemCaseSensitive(json, "summary");
    const cJSON *cost = cJSON_GetObjectItemCaseSensitive(summary ? summary : json, "cost");
    const cJSON *split = cJSON_GetObjectItemCaseSensitive(json, "split");
    int64_t version = 0;

    if (json_get_int(json, summary ? "schema_version" : "schema", &version, err))
        return -1;
    if (version != SCHEMA_VERSION)
        return error_set(err, "it is no profile.json that this harness knows (version %lld)",
                         (long long)version);
    facts->launches = json_count(json, "launches");
    if (facts->launches > 0) /* else it is the name of a file */
        snprintf(facts->benchmark, sizeof(facts->benchmark), "%s",
                 json_string(json, "profile", ""));
    facts->cost = (struct prof_cost) { .on = profile_facts_positive(cost, "on"),
                                       .off = profile_facts_positive(cost, "off"),
                                       .clock = profile_facts_positive(cost, "clock") };
    facts->gap_ns = json_int(split, "gap_ns", 0);
    facts->gap_ns = facts->gap_ns > 0 ? facts->gap_ns : 0;
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(json, "roofs");
    const cJSON *bandwidth = cJSON_GetObjectItemCaseSensitive(all, "bandwidth");
    facts->roofs.math = known_math(json_string(all, "math", ""));
    facts->roofs.flops = profile_facts_positive(all, "flops");
    for (int i = 0; i < TIMELINE_LEVELS; i++)
        facts->roofs.bandwidth[i] = profile_facts_positive(bandwidth, timeline_level_name(i));
    return 0;
}

int profile_facts_read(const char *path, struct profile_facts *facts, struct error *err)
{
    cJSON *json = json_parse_file(path, FILE_RECORDS_MOST, err);

    *facts = (struct profile_facts) { .launches = 0 };
    if (!json)
        return -1;
    int rc = profile_facts_read_facts(json, facts, err);
    cJSON_Delete(json);
    return rc ? error_prefix(err, "%s", path) : 0;
}
