/* SPDX-License-Identifier: MIT */
#include "verdict/selftest.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>

static void add_interval(cJSON *object, const char *key, struct interval i)
{
    cJSON *json = cJSON_AddObjectToObject(object, key);

    json_add_number(json, "low", i.low);
    json_add_number(json, "high", i.high);
}

static void add_rate(cJSON *object, const char *key, struct selftest_rate r)
{
    cJSON *json = cJSON_AddObjectToObject(object, key);

    json_add_int(json, "hits", (int64_t)r.hits);
    json_add_int(json, "of", (int64_t)r.of);
    add_interval(json, "interval", selftest_interval(r));
}

static cJSON *tally_to_json(const struct selftest_tally *tally)
{
    cJSON *json = cJSON_CreateObject();

    json_add_number(json, "size", tally->size);
    add_rate(json, "comparisons", tally->comparisons);
    add_rate(json, "found", tally->found);
    add_rate(json, "alarms", tally->alarms);
    json_add_int(json, "same", (int64_t)tally->same);
    json_add_int(json, "undecided", (int64_t)tally->undecided);
    json_add_int(json, "lost", (int64_t)tally->lost);
    return json;
}

cJSON *selftest_to_json(const struct selftest *t)
{
    static const char *const answers[] = {
        [SELFTEST_CARRIES] = "yes",
        [SELFTEST_CANNOT] = "no",
        [SELFTEST_UNKNOWN] = "unknown",
    };
    char text[SELFTEST_TEXT_SIZE];
    struct interval limits;
    cJSON *json = cJSON_CreateObject();

    json_add_string(json, "kind", t->kind);
    json_add_string(json, "what", t->what);
    json_add_number(json, "delta", t->delta);
    json_add_number(json, "fdr", t->q);
    json_add_int(json, "launches", t->launches);
    json_add_int(json, "benchmarks", (int64_t)t->benchmarks);
    cJSON *sizes = cJSON_AddArrayToObject(json, "sizes");
    for (size_t i = 0; i < t->nr; i++)
        cJSON_AddItemToArray(sizes, tally_to_json(&t->tallies[i]));
    cJSON *noise = cJSON_AddObjectToObject(json, "noise");
    json_add_number(noise, "launch", t->launch_noise);
    json_add_number(noise, "occasion", t->run_noise);
    json_add_number(json, "visible", t->visible);
    json_add_number(json, "smallest", selftest_smallest(t, &limits));
    add_interval(json, "smallest_interval", limits);
    json_add_string(json, "carries", answers[selftest_gate(t, t->delta, text)]);
    json_add_string(json, "answer", text);
    return json;
}

static int read_rate(const cJSON *object, const char *key, struct selftest_rate *r,
                     struct error *err)
{
    const cJSON *json = cJSON_GetObjectItemCaseSensitive(object, key);
    int64_t hits, of;

    if (json_get_int(json, "hits", &hits, err) || json_get_int(json, "of", &of, err))
        return error_prefix(err, "%s", key);
    if (hits < 0 || hits > of)
        return error_set(err, "%s: %lld of %lld", key, (long long)hits, (long long)of);
    *r = (struct selftest_rate) { (size_t)hits, (size_t)of };
    return 0;
}

static int read_tally(const cJSON *json, struct selftest_tally *tally, struct error *err)
{
    *tally = (struct selftest_tally) {
        .same = (size_t)json_count(json, "same"),
        .undecided = (size_t)json_count(json, "undecided"),
        .lost = (size_t)json_count(json, "lost"),
    };
    if (json_get_number(json, "size", &tally->size, err) ||
        read_rate(json, "comparisons", &tally->comparisons, err) ||
        read_rate(json, "found", &tally->found, err) ||
        read_rate(json, "alarms", &tally->alarms, err))
        return -1;
    return 0;
}

int selftest_from_json(const cJSON *json, struct selftest *t, struct error *err)
{
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(json, "sizes"), *size;
    const cJSON *noise = cJSON_GetObjectItemCaseSensitive(json, "noise");
    const char *kind, *what = json_string(json, "what", "");
    int64_t launches;

    *t = (struct selftest) { 0 };
    if (json_get_string(json, "kind", &kind, err) ||
        json_get_number(json, "delta", &t->delta, err) ||
        json_get_int(json, "launches", &launches, err))
        return -1;
    snprintf(t->kind, sizeof(t->kind), "%s", kind);
    snprintf(t->what, sizeof(t->what), "%s", what);
    t->launches = (int)launches;
    t->q = json_number(json, "fdr", NAN);
    t->benchmarks = (size_t)json_count(json, "benchmarks");
    t->launch_noise = json_number(noise, "launch", NAN);
    t->run_noise = json_number(noise, "occasion", NAN);
    t->visible = json_number(json, "visible", NAN);
    if (cJSON_GetArraySize(sizes) > SELFTEST_SIZES_MAX)
        return error_set(err, "sizes: more than %d", SELFTEST_SIZES_MAX);
    cJSON_ArrayForEach(size, sizes)
    {
        if (read_tally(size, &t->tallies[t->nr++], err))
            return -1;
    }
    return 0;
}

enum selftest_answer selftest_kept_gate(const char *result, double delta,
                                        char text[SELFTEST_TEXT_SIZE])
{
    enum selftest_answer answer = SELFTEST_UNKNOWN;
    struct error ignored;
    struct selftest t;
    cJSON *json = json_parse(result, strlen(result), "self-test", &ignored);

    text[0] = '\0';
    if (json && selftest_from_json(json, &t, &ignored) == 0)
        answer = selftest_gate(&t, delta, text);
    cJSON_Delete(json);
    return answer;
}
