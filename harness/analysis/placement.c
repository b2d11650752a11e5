/* SPDX-License-Identifier: MIT */
#include "analysis/placement.h"

#include "base/json.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACEMENT_TAIL 0.05

/* A variance within blocks, and its limits. */
struct within {
    double squares, df, variance, low, high;
};

static void add_block(struct within *w, const struct evidence_value *v, size_t nr)
{
    double mean = 0;

    for (size_t i = 0; i < nr; i++)
        mean += log(v[i].value) / (double)nr;
    for (size_t i = 0; i < nr; i++)
        w->squares += (log(v[i].value) - mean) * (log(v[i].value) - mean);
    w->df += (double)nr - 1;
}

/* Chi-square quantiles by those of F with endless other degrees of freedom. */
static double chi_square(double p, double df)
{
    return df * stats_f_quantile(p, df, 1e9);
}

static struct within within_of(const struct evidence_side *s)
{
    struct within w = { .squares = 0 };

    for (size_t i = 0, end; i < s->nr; i = end) {
        for (end = i; end < s->nr && s->values[end].occasion == s->values[i].occasion;)
            end++;
        add_block(&w, s->values + i, end - i);
    }
    w.variance = w.squares / w.df;
    w.low = w.squares / chi_square(1 - PLACEMENT_TAIL, w.df);
    w.high = w.squares / chi_square(PLACEMENT_TAIL, w.df);
    return w;
}

static double root(double variance)
{
    return variance > 0 ? sqrt(variance) : 0;
}

bool placement_part_find(const struct evidence *e, struct placement_part *p)
{
    struct within fixed = within_of(&e->base), fresh = within_of(&e->head);
    double more = fresh.variance - fixed.variance;

    if (!(fixed.df > 0 && fresh.df > 0))
        return false;
    p->fixed = root(fixed.variance);
    p->fresh = root(fresh.variance);
    p->part = root(more);
    p->limits.low = root(more - hypot(fresh.variance - fresh.low, fixed.high - fixed.variance));
    p->limits.high = root(more + hypot(fresh.high - fresh.variance, fixed.variance - fixed.low));
    p->launches = e->head.nr;
    return true;
}

double placement_change(const struct placement_part *p)
{
    return p->limits.low > 0 ? expm1(2 * p->part) : 0;
}

cJSON *placement_to_json(const struct placement_part *parts, size_t nr)
{
    cJSON *json = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(json, "benchmarks");

    for (size_t i = 0; i < nr; i++) {
        cJSON *one = cJSON_CreateObject();
        json_add_string(one, "key", parts[i].key);
        json_add_number(one, "fixed", parts[i].fixed);
        json_add_number(one, "fresh", parts[i].fresh);
        json_add_number(one, "part", parts[i].part);
        json_add_number(one, "low", parts[i].limits.low);
        json_add_number(one, "high", parts[i].limits.high);
        json_add_int(one, "launches", (int64_t)parts[i].launches);
        json_add_number(one, "change", placement_change(&parts[i]));
        cJSON_AddItemToArray(list, one);
    }
    return json;
}

static bool read_one(const cJSON *json, struct placement_part *p)
{
    const char *key = json_string(json, "key", "");

    snprintf(p->key, sizeof(p->key), "%s", key);
    p->fixed = json_number(json, "fixed", NAN);
    p->fresh = json_number(json, "fresh", NAN);
    p->part = json_number(json, "part", NAN);
    p->limits.low = json_number(json, "low", NAN);
    p->limits.high = json_number(json, "high", NAN);
    p->launches = (size_t)json_int(json, "launches", 0);
    return *key && strlen(key) < KEY_SIZE && p->part >= 0 && p->part < 10 && p->limits.low >= 0;
}

int placement_from_text(const char *text, struct placement_part **parts, size_t *nr,
                        struct error *err)
{
    cJSON *json = json_parse(text, strlen(text), "placement", err);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "benchmarks"), *item;
    bool fine = cJSON_IsArray(list);

    *nr = 0;
    *parts = memory_zeroed((size_t)(fine ? cJSON_GetArraySize(list) : 0) + 1, sizeof(**parts));
    cJSON_ArrayForEach(item, list)
    {
        fine = fine && read_one(item, &(*parts)[*nr]);
        *nr += fine;
    }
    if (json && !fine)
        error_set(err, "placement: not what a self-test keeps");
    cJSON_Delete(json);
    return fine ? 0 : -1;
}
