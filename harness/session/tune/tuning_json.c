/* SPDX-License-Identifier: MIT */
#include "session/tune/tuning.h"

#include "base/json.h"

#include <math.h>

static cJSON *runner_to_json(const struct tuning_race *r, size_t which)
{
    const struct tuning_runner *runner = &r->runners.items[which];
    const struct race_runner *x = &r->race.runners[which];
    cJSON *json = cJSON_CreateObject();

    json_add_string(json, "setting", runner->setting);
    json_add_string(json, "state", race_state_name(x->state));
    json_add_string(json, "outcome", outcome_name(runner->outcome));
    if (runner->message)
        json_add_string(json, "message", runner->message);
    json_add_int(json, "rounds", (int64_t)x->rounds);
    if (x->left)
        json_add_int(json, "left", (int64_t)x->left);
    json_add_number(json, "p50_ns", tuning_time(r, which));
    json_add_number(json, "behind", x->behind);
    if (isfinite(x->interval.low)) {
        cJSON *interval = cJSON_AddObjectToObject(json, "interval");
        json_add_number(interval, "low", x->interval.low);
        json_add_number(interval, "high", x->interval.high);
    }
    return json;
}

static cJSON *race_to_json(const struct tuning_race *r)
{
    cJSON *json = cJSON_CreateObject(), *settings;

    json_add_string(json, "key", r->bench.key);
    json_add_string(json, "code", r->key.code);
    json_add_string(json, "digest", r->key.digest);
    json_add_string(json, "driver", r->key.driver);
    if (tuning_race_has_winner(r)) {
        json_add_string(json, "setting", r->runners.items[r->race.leader].setting);
        json_add_number(json, "at_most", tuning_at_most(r));
    }
    cJSON_AddBoolToObject(json, "decided", r->race.decided && tuning_race_has_winner(r));
    cJSON_AddBoolToObject(json, "kept", r->kept);
    if (r->stands)
        json_add_string(json, "stands", r->stands);
    json_add_int(json, "rounds", (int64_t)r->race.rounds);
    settings = cJSON_AddArrayToObject(json, "settings");
    for (size_t i = 0; i < r->runners.nr; i++)
        cJSON_AddItemToArray(settings, runner_to_json(r, i));
    return json;
}

cJSON *tuning_to_json(const struct tuning *t)
{
    cJSON *json = cJSON_CreateObject(), *races;

    json_add_int(json, "schema_version", 1);
    json_add_string(json, "run", t->run.uuid);
    json_add_string(json, "machine", t->run.machine.class_name);
    cJSON_AddNumberToObject(json, "tolerance", t->rule.tolerance);
    cJSON_AddNumberToObject(json, "alpha", t->rule.alpha);
    cJSON_AddNumberToObject(json, "seconds", t->seconds);
    json_add_int(json, "measured", (int64_t)t->measured);
    races = cJSON_AddArrayToObject(json, "races");
    for (size_t i = 0; i < t->races.nr; i++)
        cJSON_AddItemToArray(races, race_to_json(&t->races.items[i]));
    return json;
}
