/* SPDX-License-Identifier: MIT */
#include "core/number.h"

#include "base/json.h"
#include "base/memory.h"
#include "core/names.h"
#include "stats/stats.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const betters[BETTER_NR] = { "none", "lower", "higher" };

const char *better_name(enum better better)
{
    return betters[better];
}

int better_find(const char *name)
{
    return name_find(betters, BETTER_NR, name);
}

/* ---- kinds ---- */

/* Only ever grows, and what is in it never changes: readers keep the pointers. */
static struct {
    pthread_mutex_t lock;
    const struct number_kind *items[NUMBER_KINDS_MAX];
    size_t nr;
} kinds = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool number_name_may_have(char c, bool first)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (!first && c >= '0' && c <= '9');
}

int number_check_name(const char *name, struct error *err)
{
    size_t length = strlen(name);
    bool fine = length > 0 && length < NUMBER_NAME_SIZE;

    for (size_t i = 0; i < length && fine; i++)
        fine = number_name_may_have(name[i], i == 0);
    return fine ? 0
                : error_set(err,
                            "\"%.60s\" cannot be the name of a metric: 1 to %d letters, digits and "
                            "\"_\", not first a digit",
                            name, NUMBER_NAME_SIZE - 1);
}

int number_check_unit(const char *unit, struct error *err)
{
    if (*unit == '\0' || (strlen(unit) < NUMBER_UNIT_SIZE && name_is_line(unit)))
        return 0;
    return error_set(err, "\"%.60s\" cannot be a unit: one line of at most %d bytes", unit,
                     NUMBER_UNIT_SIZE - 1);
}

/* With the lock held. */
static const struct number_kind *number_kind_search(const char *name, const char *unit,
                                                    enum better better, bool *taken)
{
    *taken = false;
    for (size_t i = 0; i < kinds.nr; i++) {
        const struct number_kind *k = kinds.items[i];
        if (strcmp(k->name, name) != 0)
            continue;
        if (strcmp(k->unit, unit) == 0 && k->better == better)
            return k;
        *taken = true;
    }
    return NULL;
}

static const struct number_kind *number_kind_add(const char *name, const char *unit,
                                                 enum better better, bool taken)
{
    struct number_kind *k = memory_zeroed(1, sizeof(*k));

    snprintf(k->name, sizeof(k->name), "%s", name);
    snprintf(k->unit, sizeof(k->unit), "%s", unit);
    k->better = better;
    if (taken)
        snprintf(k->id, sizeof(k->id), "%s (%s%s%s)", k->name, k->unit, *k->unit ? ", " : "",
                 better_name(better));
    else
        snprintf(k->id, sizeof(k->id), "%s", k->name);
    kinds.items[kinds.nr++] = k;
    return k;
}

const struct number_kind *number_kind_of(const char *name, const char *unit, enum better better,
                                         struct error *err)
{
    bool taken;

    if (number_check_name(name, err) || number_check_unit(unit, err))
        return NULL;
    pthread_mutex_lock(&kinds.lock);
    const struct number_kind *k = number_kind_search(name, unit, better, &taken);
    if (!k && kinds.nr < NUMBER_KINDS_MAX)
        k = number_kind_add(name, unit, better, taken);
    pthread_mutex_unlock(&kinds.lock);
    if (!k)
        error_set(err, "there are more than %d metrics of programs", NUMBER_KINDS_MAX);
    return k;
}

const struct number_kind *number_kind_at(size_t i)
{
    pthread_mutex_lock(&kinds.lock);
    const struct number_kind *k = i < kinds.nr ? kinds.items[i] : NULL;
    pthread_mutex_unlock(&kinds.lock);
    return k;
}

/* ---- values ---- */

void number_keep(struct number *number)
{
    if (number->nr <= NUMBER_VALUES_MAX)
        return;
    double *kept = memory_zeroed(NUMBER_VALUES_MAX, sizeof(*kept));
    stats_sort(number->values, number->nr);
    for (size_t i = 0; i < NUMBER_VALUES_MAX; i++)
        kept[i] = stats_quantile(number->values, number->nr,
                                 ((double)i + 0.5) / (double)NUMBER_VALUES_MAX);
    free(number->values);
    number->values = kept;
    number->nr = NUMBER_VALUES_MAX;
}

double number_median(const struct number *number)
{
    double *copy = memory_zeroed(number->nr + 1, sizeof(*copy));

    if (number->nr > 0)
        memcpy(copy, number->values, number->nr * sizeof(*copy));
    double median = number->nr > 0 ? stats_median(copy, number->nr) : (double)NAN;
    free(copy);
    return median;
}

void numbers_release(struct number *numbers, int nr)
{
    for (int i = 0; i < nr; i++)
        free(numbers[i].values);
}

void numbers_copy(struct number *to, const struct number *from, int nr)
{
    for (int i = 0; i < nr; i++) {
        to[i] = from[i];
        to[i].values = memory_zeroed(from[i].nr ? from[i].nr : 1, sizeof(*to[i].values));
        if (from[i].nr > 0)
            memcpy(to[i].values, from[i].values, from[i].nr * sizeof(*to[i].values));
    }
}

/* ---- JSON ---- */

/* cJSON's own numbers would be rounded. */
static void number_add_value(cJSON *array, double value)
{
    char text[JSON_NUMBER_SIZE];

    cJSON_AddItemToArray(array, cJSON_CreateRaw(json_number_text(value, text)));
}

cJSON *numbers_to_json(const struct number *numbers, int nr)
{
    cJSON *json = nr > 0 ? cJSON_CreateObject() : NULL;

    for (int i = 0; i < nr; i++) {
        cJSON *one = cJSON_AddObjectToObject(json, numbers[i].kind->name);
        cJSON_AddStringToObject(one, "unit", numbers[i].kind->unit);
        cJSON_AddStringToObject(one, "better", better_name(numbers[i].kind->better));
        cJSON *values = cJSON_AddArrayToObject(one, "values");
        for (size_t v = 0; v < numbers[i].nr; v++)
            number_add_value(values, numbers[i].values[v]);
    }
    return json;
}

static int number_read_values(const cJSON *array, struct number *number, struct error *err)
{
    int nr = cJSON_GetArraySize(array);
    const cJSON *item;

    if (!cJSON_IsArray(array) || nr > NUMBER_VALUES_MAX)
        return error_set(err, "\"values\" is no list of at most %d numbers", NUMBER_VALUES_MAX);
    number->values = memory_zeroed(nr > 0 ? (size_t)nr : 1, sizeof(*number->values));
    cJSON_ArrayForEach(item, array)
    {
        if (!cJSON_IsNumber(item) || !fact_is_finite(item->valuedouble))
            return error_set(err, "\"values\" holds something that is no number up to %.0e",
                             FACT_AMOUNT_MAX);
        number->values[number->nr++] = item->valuedouble;
    }
    return 0;
}

static int number_read(const cJSON *json, struct number *number, struct error *err)
{
    int better = better_find(json_string(json, "better", ""));

    if (better < 0)
        return error_set(err, "\"better\" is not \"none\", \"lower\" or \"higher\"");
    number->kind =
        number_kind_of(json->string, json_string(json, "unit", ""), (enum better)better, err);
    return number->kind
               ? number_read_values(cJSON_GetObjectItemCaseSensitive(json, "values"), number, err)
               : -1;
}

int numbers_from_json(const cJSON *json, struct number *numbers, int *nr, struct error *err)
{
    *nr = 0;
    if (!json || cJSON_IsNull(json))
        return 0;
    if (!cJSON_IsObject(json))
        return error_set(err, "\"numbers\" is no object");
    for (const cJSON *item = json->child; item; item = item->next) {
        if (*nr == NUMBERS_MAX)
            return error_set(err, "\"numbers\" has more than %d members", NUMBERS_MAX);
        struct number *number = &numbers[(*nr)++];
        *number = (struct number) { .kind = NULL };
        if (number_read(item, number, err))
            return error_prefix(err, "\"numbers\": %s", item->string);
    }
    return 0;
}
