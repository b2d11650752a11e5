/* SPDX-License-Identifier: MIT */
#include "output/verdict_json.h"

#include "base/array.h"
#include "base/json.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* ---- writing ---- */

static double value_of(const struct evidence_value *v)
{
    return v->value;
}

static double occasion_of(const struct evidence_value *v)
{
    return v->occasion;
}

static double inner_of(const struct evidence_value *v)
{
    return v->inner;
}

static double probe_of(const struct evidence_value *v)
{
    return v->probe;
}

/* The arrays of a side, and what need not be said. */
static const struct series {
    const char *name;
    double (*get)(const struct evidence_value *v);
    double otherwise;
} arrays[] = {
    { "values", value_of, INFINITY }, /* always said */
    { "occasions", occasion_of, 0 },
    { "inner", inner_of, 0 },
    { "probe", probe_of, NAN },
};

enum { NR_ARRAYS = sizeof(arrays) / sizeof(arrays[0]) };

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void add_array(cJSON *json, const struct series *a, const struct evidence_side *side)
{
    char number[JSON_NUMBER_SIZE];
    bool any = false;
    struct strbuf text;

    strbuf_init(&text);
    for (size_t i = 0; i < side->nr; i++) {
        double x = a->get(&side->values[i]);
        strbuf_addc(&text, i ? ',' : '[');
        strbuf_adds(&text, json_number_text(x, number));
        any = any || !same_number(x, a->otherwise);
    }
    strbuf_addc(&text, ']');
    if (any)
        cJSON_AddRawToObject(json, a->name, text.data);
    strbuf_release(&text);
}

static void add_side(cJSON *evidence, const char *name, const struct evidence_side *side)
{
    cJSON *json = cJSON_AddObjectToObject(evidence, name);

    for (int a = 0; a < NR_ARRAYS; a++)
        add_array(json, &arrays[a], side);
    if (side->failures)
        json_add_int(json, "failures", (int64_t)side->failures);
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
    add_side(json, "base", &item->evidence.base);
    add_side(json, "head", &item->evidence.head);
    return json_take_text(json);
}

/* ---- reading evidence ---- */

/* A kept name; the index is found from the item that borrows the name. */
struct kept_name {
    struct benchmark_name name;
    size_t index;
};

static char *own(struct kept_items *kept, void *text)
{
    kept->texts =
        array_grow(kept->texts, kept->nr_texts, &kept->texts_capacity, sizeof(*kept->texts));
    kept->texts[kept->nr_texts++] = text;
    return text;
}

static const cJSON *array_of(const cJSON *json, const char *name)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(json, name);

    return cJSON_IsArray(array) ? array : NULL;
}

static void set_values(struct evidence_side *side, int which, const cJSON *array)
{
    const cJSON *item = array ? array->child : NULL;

    for (size_t i = 0; i < side->nr; i++, item = item ? item->next : NULL) {
        struct evidence_value *v = &side->values[i];
        double x = !array                         ? arrays[which].otherwise
                   : item && cJSON_IsNumber(item) ? item->valuedouble
                                                  : NAN;
        switch (which) {
        case 0:
            v->value = x;
            break;
        case 1:
            v->occasion = x >= 0 && x <= KEPT_OCCASION_MAX ? (int)x : -1;
            break;
        case 2:
            v->inner = x;
            break;
        default:
            v->probe = x;
        }
    }
}

static int check_values(const struct evidence_side *side, const char *name, struct error *err)
{
    for (size_t i = 0; i < side->nr; i++) {
        const struct evidence_value *v = &side->values[i];
        if (!(v->value > 0 && isfinite(v->value)) || v->occasion < 0 || !(v->inner >= 0))
            return error_set(err, "launch %zu of the %s side has no sound value", i, name);
    }
    return 0;
}

static int read_arrays(const cJSON *json, const char *name, struct evidence_side *side,
                       struct error *err)
{
    size_t nr = (size_t)cJSON_GetArraySize(array_of(json, arrays[0].name));

    side->values = memory_zeroed(nr + 1, sizeof(*side->values));
    side->nr = side->capacity = nr;
    for (int a = 0; a < NR_ARRAYS; a++) {
        const cJSON *array = array_of(json, arrays[a].name);
        if (array && (size_t)cJSON_GetArraySize(array) != nr)
            return error_set(err, "\"%s\" of the %s side is not as long as its values",
                             arrays[a].name, name);
        set_values(side, a, array);
    }
    return check_values(side, name, err);
}

static int read_side(struct kept_items *kept, const cJSON *evidence, const char *name,
                     struct evidence_side *side, struct error *err)
{
    const cJSON *json = cJSON_GetObjectItemCaseSensitive(evidence, name);
    int outcome = outcome_find(json_string(json, "outcome", outcome_name(OUTCOME_OK)));
    int64_t failures = json_int(json, "failures", 0);
    const char *message = json_string(json, "message", NULL);

    if (!cJSON_IsObject(json))
        return error_set(err, "it has no %s side", name);
    if (outcome < 0 || failures < 0)
        return error_set(err, "the outcome of its %s side is not known", name);
    side->outcome = (enum outcome)outcome;
    side->failures = (size_t)failures;
    side->present = json_bool(json, "present", true);
    side->message = message ? own(kept, memory_string(message)) : NULL;
    return read_arrays(json, name, side, err);
}

static int read_evidence(struct kept_items *kept, const cJSON *json, struct compare_item *item,
                         struct error *err)
{
    const char *design = json_string(json, "design", "");
    int d = compare_design_find(design);

    if (d < 0)
        return error_set(err, "its design \"%s\" is not known", design);
    item->evidence.design = (enum compare_design)d;
    item->vendor = json_bool(json, "vendor", false);
    return read_side(kept, json, "base", &item->evidence.base, err) ||
                   read_side(kept, json, "head", &item->evidence.head, err)
               ? -1
               : 0;
}

static int read_item(struct kept_items *kept, struct compare_item *item, const char *key,
                     const char *evidence, struct error *err)
{
    struct kept_name *name = memory_zeroed(1, sizeof(*name));

    own(kept, name);
    name->index = kept->nr - 1;
    item->bench = &name->name;
    if (benchmark_name_parse(key, &name->name, err))
        return -1;
    cJSON *json = json_parse(evidence, strlen(evidence), "its evidence", err);
    if (!json)
        return -1;
    int rc = read_evidence(kept, json, item, err);
    cJSON_Delete(json);
    return rc;
}

int kept_items_add(struct kept_items *kept, const char *key, const char *machine,
                   const char *metric, const char *evidence, struct error *err)
{
    struct compare_item *item = array_push(kept);

    item->machine = own(kept, memory_string(machine));
    item->metric = metric_find(metric, err);
    if (!item->metric || read_item(kept, item, key, evidence, err))
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
