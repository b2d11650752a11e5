/* SPDX-License-Identifier: MIT */
#include "verdict/placement_noise.h"

#include "base/json.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACEMENT_ALPHA 0.05

/* How far the launches of a side in a block lie apart: absolute differences of logs, sorted. */
struct differences {
    double *items;
    size_t nr;
};

static struct differences differences_of(const struct evidence_side *s)
{
    struct differences d = { memory_zeroed(s->nr + 1, sizeof(*d.items)), 0 };

    for (size_t i = 0; i + 1 < s->nr; i++) {
        if (s->values[i].run != s->values[i + 1].run)
            continue;
        d.items[d.nr++] = fabs(log(s->values[i + 1].value / s->values[i].value));
        i++; /* a launch is in one difference */
    }
    stats_sort(d.items, d.nr);
    return d;
}

/* The sd of normal launches whose difference has this absolute median. */
static double sd_of_median(double median)
{
    return median / (stats_normal_quantile(0.75) * sqrt(2));
}

struct spread {
    double variance, low, high;
};

static struct spread spread_of(const struct differences *d)
{
    struct interval i = stats_quantile_interval(d->items, d->nr, 0.5, 0.9);
    double sd = sd_of_median(stats_quantile(d->items, d->nr, 0.5));
    double low = isnan(i.low) ? 0 : sd_of_median(i.low);
    double high = isnan(i.high) ? (double)INFINITY : sd_of_median(i.high);

    return (struct spread) { sd * sd, low * low, high * high };
}

static double root_or_0(double variance)
{
    return variance > 0 ? sqrt(variance) : 0;
}

static void find_part(const struct differences *fixed, const struct differences *fresh,
                      struct placement_part *p)
{
    struct spread a = spread_of(fixed), b = spread_of(fresh);
    double more = b.variance - a.variance;

    p->fixed = root_or_0(a.variance);
    p->fresh = root_or_0(b.variance);
    p->part = root_or_0(more);
    p->limits.low = root_or_0(more - hypot(b.variance - b.low, a.high - a.variance));
    p->limits.high = root_or_0(more + hypot(b.high - b.variance, a.variance - a.low));
    p->p = stats_rank_test_greater(fixed->items, fixed->nr, fresh->items, fresh->nr);
}

bool placement_part_find(const struct evidence *e, struct placement_part *p)
{
    struct differences fixed = differences_of(&e->base), fresh = differences_of(&e->head);
    bool told = fixed.nr > 0 && fresh.nr > 0;

    if (told)
        find_part(&fixed, &fresh, p);
    p->launches = e->head.nr;
    free(fixed.items);
    free(fresh.items);
    return told;
}

double placement_change(const struct placement_part *p)
{
    return p->p <= PLACEMENT_ALPHA ? expm1(2 * p->part) : 0;
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
        json_add_number(one, "p", parts[i].p);
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
    p->p = json_number(json, "p", NAN);
    p->launches = (size_t)json_int(json, "launches", 0);
    return *key && strlen(key) < KEY_SIZE && p->part >= 0 && p->part < 10 && p->p >= 0;
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
