/* SPDX-License-Identifier: MIT */
#include "reporters/verdict_json.h"

#include "base/array.h"
#include "base/json.h"
#include "base/memory.h"
#include "reporters/compare_json.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

enum { VALUES, RUNS, INNER, PROBE };

/* The arrays of a side, and what need not be said. */
static const struct series {
    const char *name;
    size_t offset;
    double otherwise;
} arrays[] = {
    [VALUES] = { "values", offsetof(struct evidence_value, value), INFINITY }, /* always said */
    [RUNS] = { "occasions", offsetof(struct evidence_value, run), 0 },         /* integers */
    [INNER] = { "inner", offsetof(struct evidence_value, inner), 0 },
    [PROBE] = { "probe", offsetof(struct evidence_value, probe), NAN },
};

static double kept_get(const struct evidence_value *v, int which)
{
    const void *at = (const char *)v + arrays[which].offset;

    return which == RUNS ? v->run : *(const double *)at;
}

static void kept_set(struct evidence_value *v, int which, double x)
{
    void *at = (char *)v + arrays[which].offset;

    if (which == RUNS)
        v->run = x >= 0 && x <= KEPT_RUN_MAX ? (int)x : -1;
    else
        *(double *)at = x;
}

enum { NR_ARRAYS = sizeof(arrays) / sizeof(arrays[0]) };

static bool kept_same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void kept_add_array(cJSON *json, int which, const struct evidence_side *side)
{
    char number[JSON_NUMBER_SIZE];
    bool any = false;
    struct strbuf text;

    strbuf_init(&text);
    for (size_t i = 0; i < side->nr; i++) {
        double x = kept_get(&side->values[i], which);
        strbuf_addc(&text, i ? ',' : '[');
        strbuf_adds(&text, json_number_text(x, number));
        any = any || !kept_same_number(x, arrays[which].otherwise);
    }
    strbuf_addc(&text, ']');
    if (any)
        cJSON_AddRawToObject(json, arrays[which].name, text.data);
    strbuf_release(&text);
}

static void kept_add_side(cJSON *evidence, const char *name, const struct evidence_side *side)
{
    cJSON *json = cJSON_AddObjectToObject(evidence, name);

    for (int a = 0; a < NR_ARRAYS; a++)
        kept_add_array(json, a, side);
    if (side->failures)
        json_add_int(json, "failures", (int64_t)side->failures);
    if (side->negatives)
        json_add_int(json, "negatives", (int64_t)side->negatives);
    if (side->outcome != OUTCOME_OK)
        json_add_string(json, "outcome", outcome_name(side->outcome));
    json_add_string(json, "message", side->message);
    if (!side->present)
        cJSON_AddFalseToObject(json, "present");
}

char *evidence_text(const struct compare_item *item)
{
    cJSON *json = cJSON_CreateObject();

    json_add_string(json, "design", compare_design_name(item->evidence.design));
    if (item->vendor)
        cJSON_AddTrueToObject(json, "vendor");
    kept_add_side(json, "base", &item->evidence.base);
    kept_add_side(json, "head", &item->evidence.head);
    if (item->evidence.earlier.nr > 0)
        kept_add_side(json, "earlier", &item->evidence.earlier);
    return json_take_text(json);
}

/* ---- reading evidence ---- */

/* A kept name; the index is found from the item that borrows the name. */
struct kept_name {
    struct benchmark_name name;
    size_t index;
};

static char *kept_own(struct kept_items *kept, void *text)
{
    kept->texts =
        array_grow(kept->texts, kept->nr_texts, &kept->texts_capacity, sizeof(*kept->texts));
    kept->texts[kept->nr_texts++] = text;
    return text;
}

static const cJSON *kept_array_of(const cJSON *json, const char *name)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(json, name);

    return cJSON_IsArray(array) ? array : NULL;
}

static int check_values(const struct evidence_side *side, const char *name, struct error *err)
{
    bool means = strcmp(name, "earlier") == 0; /* of logs, as no launch of 0 has one */

    for (size_t i = 0; i < side->nr; i++) {
        const struct evidence_value *v = &side->values[i];
        bool sound = (v->value > 0 || (v->value == 0 && !means)) && isfinite(v->value);
        if (!sound || v->run < 0 || !(v->inner >= 0))
            return error_set(err, "launch %zu of the %s side has no sound value", i, name);
    }
    return 0;
}

static int kept_read_arrays(const cJSON *json, const char *name, struct evidence_side *side,
                            struct error *err)
{
    size_t nr = (size_t)cJSON_GetArraySize(kept_array_of(json, arrays[0].name));

    side->values = memory_zeroed(nr + 1, sizeof(*side->values));
    side->nr = side->capacity = nr;
    for (int a = 0; a < NR_ARRAYS; a++) {
        const cJSON *array = kept_array_of(json, arrays[a].name);
        if (array && (size_t)cJSON_GetArraySize(array) != nr)
            return error_set(err, "\"%s\" of the %s side is not as long as its values",
                             arrays[a].name, name);
        const cJSON *item = array ? array->child : NULL;
        for (size_t i = 0; i < side->nr; i++, item = item ? item->next : NULL) {
            double x = !array                         ? arrays[a].otherwise
                       : item && cJSON_IsNumber(item) ? item->valuedouble
                                                      : NAN;
            kept_set(&side->values[i], a, x);
        }
    }
    return check_values(side, name, err);
}

static int kept_read_side(struct kept_items *kept, const cJSON *evidence, const char *name,
                          struct evidence_side *side, struct error *err)
{
    const cJSON *json = cJSON_GetObjectItemCaseSensitive(evidence, name);
    int outcome = outcome_find(json_string(json, "outcome", outcome_name(OUTCOME_OK)));
    int64_t failures = json_int(json, "failures", 0), negatives = json_int(json, "negatives", 0);
    const char *message = json_string(json, "message", NULL);

    if (!cJSON_IsObject(json))
        return error_set(err, "it has no %s side", name);
    if (outcome < 0 || failures < 0 || negatives < 0)
        return error_set(err, "the outcome of its %s side is not known", name);
    side->outcome = (enum outcome)outcome;
    side->failures = (size_t)failures;
    side->negatives = (size_t)negatives;
    side->present = json_bool(json, "present", true);
    side->message = message ? kept_own(kept, memory_string(message)) : NULL;
    return kept_read_arrays(json, name, side, err);
}

/* The runs before, if there are any. */
static int kept_read_earlier(struct kept_items *kept, const cJSON *evidence,
                             struct evidence_side *side, struct error *err)
{
    if (!cJSON_GetObjectItemCaseSensitive(evidence, "earlier"))
        return 0;
    if (kept_read_side(kept, evidence, "earlier", side, err))
        return -1;
    for (size_t i = 0; i < side->nr; i++)
        if (side->values[i].run >= COMPARE_EARLIER_MAX)
            return error_set(err, "it has more than %d earlier runs", COMPARE_EARLIER_MAX);
    return 0;
}

static int kept_read_evidence(struct kept_items *kept, const cJSON *json, struct compare_item *item,
                              struct error *err)
{
    const char *design = json_string(json, "design", "");
    int d = compare_design_find(design);

    if (d < 0)
        return error_set(err, "its design \"%s\" is not known", design);
    item->evidence.design = (enum compare_design)d;
    item->vendor = json_bool(json, "vendor", false);
    return kept_read_side(kept, json, "base", &item->evidence.base, err) ||
                   kept_read_side(kept, json, "head", &item->evidence.head, err) ||
                   kept_read_earlier(kept, json, &item->evidence.earlier, err)
               ? -1
               : 0;
}

static int kept_read_item(struct kept_items *kept, struct compare_item *item, const char *key,
                          const char *evidence, struct error *err)
{
    struct kept_name *name = memory_zeroed(1, sizeof(*name));

    kept_own(kept, name);
    name->index = kept->nr - 1;
    item->bench = &name->name;
    if (benchmark_name_parse(key, &name->name, err))
        return -1;
    cJSON *json = json_parse(evidence, strlen(evidence), "its evidence", err);
    if (!json)
        return -1;
    int rc = kept_read_evidence(kept, json, item, err);
    cJSON_Delete(json);
    return rc;
}

int kept_items_add(struct kept_items *kept, const char *key, const char *machine,
                   const char *metric, const char *evidence, struct error *err)
{
    struct compare_item *item = array_push(kept);

    item->machine = kept_own(kept, memory_string(machine));
    item->metric = metric_find(metric, err);
    if (!item->metric || kept_read_item(kept, item, key, evidence, err))
        return error_prefix(err, "%s", key);
    return 0;
}

struct compare_item *kept_items_take(struct kept_items *kept)
{
    struct compare_item *items = kept->items;

    kept->items = NULL;
    kept->nr = kept->capacity = 0;
    return items;
}

size_t kept_items_index(const struct compare_item *item)
{
    return ((const struct kept_name *)(const void *)item->bench)->index;
}

void kept_items_release(struct kept_items *kept)
{
    compare_items_release(kept->items, kept->nr);
    for (size_t i = 0; i < kept->nr_texts; i++)
        free(kept->texts[i]);
    free(kept->texts);
    *kept = (struct kept_items) { 0 };
}

/* Of what is kept with a verdict, the settings and the result. */

char *result_text(const struct compare_row *row)
{
    return json_take_text(compare_row_to_json(row));
}

static cJSON *kept_placement_json(const struct compare_placement *p)
{
    cJSON *json = cJSON_CreateObject();

    json_add_string(json, "key", p->key);
    json_add_string(json, "machine", p->machine);
    json_add_number(json, "part", p->part);
    json_add_number(json, "change", p->change);
    return json;
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
    cJSON *placements = settings->nr_placements ? cJSON_AddArrayToObject(json, "placements") : NULL;
    for (size_t i = 0; i < settings->nr_placements; i++)
        cJSON_AddItemToArray(placements, kept_placement_json(&settings->placements[i]));
    if (settings->rest_by_usual)
        cJSON_AddTrueToObject(json, "rest_by_usual");
    if (settings->for_all)
        cJSON_AddTrueToObject(json, "delta_for_all");
    if (settings->any_machine)
        cJSON_AddTrueToObject(json, "any_machine");
    return json_take_text(json);
}

static void kept_read_metrics(struct kept_settings *kept, const cJSON *array)
{
    size_t nr = 0;

    kept->metrics = memory_zeroed((size_t)cJSON_GetArraySize(array) + 1, sizeof(*kept->metrics));
    for (const cJSON *m = array->child; m; m = m->next)
        if (cJSON_IsString(m))
            kept->metrics[nr++] = m->valuestring;
    kept->settings.metrics = kept->metrics;
}

static void kept_read_floors(struct kept_settings *kept, const cJSON *array)
{
    kept->floors = memory_zeroed((size_t)cJSON_GetArraySize(array) + 1, sizeof(*kept->floors));
    for (const cJSON *f = array->child; f; f = f->next)
        kept->floors[kept->settings.nr_floors++] = (struct compare_floor) {
            .pattern = json_string(f, "pattern", ""),
            .delta = json_number(f, "delta", NAN),
        };
    kept->settings.floors = kept->floors;
}

static void kept_read_placements(struct kept_settings *kept, const cJSON *array)
{
    kept->placements =
        memory_zeroed((size_t)cJSON_GetArraySize(array) + 1, sizeof(*kept->placements));
    for (const cJSON *p = array->child; p; p = p->next)
        kept->placements[kept->settings.nr_placements++] = (struct compare_placement) {
            .key = json_string(p, "key", ""),
            .machine = json_string(p, "machine", ""),
            .part = json_number(p, "part", NAN),
            .change = json_number(p, "change", NAN),
        };
    kept->settings.placements = kept->placements;
}

int kept_settings_init(struct kept_settings *kept, const char *text, struct error *err)
{
    *kept = (struct kept_settings) { .settings = COMPARE_DEFAULTS };
    kept->json = json_parse(text, strlen(text), "its settings", err);
    if (!kept->json)
        return -1;
    const cJSON *metrics = cJSON_GetObjectItemCaseSensitive(kept->json, "metrics"),
                *floors = cJSON_GetObjectItemCaseSensitive(kept->json, "floors"),
                *placements = cJSON_GetObjectItemCaseSensitive(kept->json, "placements");
    if (cJSON_IsArray(metrics))
        kept_read_metrics(kept, metrics);
    if (cJSON_IsArray(floors))
        kept_read_floors(kept, floors);
    if (cJSON_IsArray(placements))
        kept_read_placements(kept, placements);
    kept->settings.any_machine = json_bool(kept->json, "any_machine", false);
    kept->settings.rest_by_usual = json_bool(kept->json, "rest_by_usual", false);
    kept->settings.for_all = json_bool(kept->json, "delta_for_all", false);
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
    free(kept->placements);
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
