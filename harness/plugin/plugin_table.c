/* SPDX-License-Identifier: MIT */
/* The table of a plugin as text, on its way from the process that has loaded it to one that shall
 * not. */
#include "plugin/plugin_parts.h"

#include "base/json.h"
#include "base/memory.h"

#include <stdlib.h>

struct plugin_told {
    cJSON *json; /* whose strings the table points to */
    struct harness_plugin plugin;
    struct harness_kernel *kernels; /* each with its lists; as many as plugin.nr_kernels */
};

/* ---- what a loaded one has ---- */

static cJSON *numbers_to_json(const int64_t *numbers, size_t nr)
{
    cJSON *array = cJSON_CreateArray();

    for (size_t i = 0; i < nr; i++)
        cJSON_AddItemToArray(array, cJSON_CreateNumber((double)numbers[i]));
    return array;
}

static cJSON *variant_to_json(const struct harness_variant *v)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "name", v->name);
    json_add_string(json, "summary", v->summary);
    cJSON_AddNumberToObject(json, "device", v->device);
    cJSON_AddNumberToObject(json, "dtype", v->dtype);
    cJSON_AddBoolToObject(json, "vendor", v->vendor != 0);
    cJSON_AddNumberToObject(json, "math", v->math);
    cJSON *params = v->params && *v->params ? cJSON_AddArrayToObject(json, "params") : NULL;
    for (const char *const *p = v->params; params && *p; p++)
        cJSON_AddItemToArray(params, cJSON_CreateString(*p));
    return json;
}

static cJSON *kernel_to_json(const struct harness_kernel *k)
{
    cJSON *json = cJSON_CreateObject(), *dims, *variants;

    json_add_string(json, "name", k->name);
    json_add_string(json, "like", k->like);
    json_add_string(json, "summary", k->summary);
    dims = cJSON_AddArrayToObject(json, "dims");
    for (size_t i = 0; i < k->nr_dims; i++)
        cJSON_AddItemToArray(dims, cJSON_CreateString(k->dims[i]));
    cJSON_AddItemToObject(json, "sizes", numbers_to_json(k->sizes, k->nr_sizes * k->nr_dims));
    cJSON_AddItemToObject(json, "test_sizes",
                          numbers_to_json(k->test_sizes, k->nr_test_sizes * k->nr_dims));
    variants = cJSON_AddArrayToObject(json, "variants");
    for (size_t i = 0; i < k->nr_variants; i++)
        cJSON_AddItemToArray(variants, variant_to_json(&k->variants[i]));
    return json;
}

int plugin_table_print(const struct harness_plugin *table, struct strbuf *out, struct error *err)
{
    cJSON *json = cJSON_CreateObject(), *kernels = cJSON_AddArrayToObject(json, "kernels");

    cJSON_AddNumberToObject(json, "abi", table->abi);
    for (size_t i = 0; i < table->nr_kernels; i++)
        cJSON_AddItemToArray(kernels, kernel_to_json(&table->kernels[i]));
    int rc = json_text(json, false, out, err);
    cJSON_Delete(json);
    if (rc == 0 && out->length > PLUGIN_TABLE_MOST)
        rc = error_set(err, "its tables come to %zu bytes of text, more than %d", out->length,
                       PLUGIN_TABLE_MOST);
    return rc;
}

/* ---- what another process was told ---- */

/* The code is where it is measured; here stands only that there is some. */
static int32_t layout_elsewhere(const int64_t *size, int32_t dtype, struct harness_tensor *tensor)
{
    (void)size, (void)dtype, (void)tensor;
    return 0;
}

static void oracle_elsewhere(const int64_t *size, const struct harness_tensor *tensor,
                             int32_t output, const int64_t *rows, size_t nr_rows, double *expected)
{
    (void)size, (void)tensor, (void)output, (void)rows, (void)nr_rows, (void)expected;
}

static void launch_elsewhere(const struct harness_call *call)
{
    (void)call;
}

static size_t array_length(const cJSON *array)
{
    return cJSON_IsArray(array) ? (size_t)cJSON_GetArraySize(array) : 0;
}

/* What is none of the header's numbers becomes -1, which plugin_check() refuses. */
static int32_t read_choice(const cJSON *json, const char *key)
{
    double x = json_number(json, key, -1);

    return x >= 0 && x <= INT8_MAX ? (int32_t)x : -1;
}

/* What is no size becomes 0, which plugin_check() refuses. */
static const int64_t *read_numbers(const cJSON *array)
{
    int64_t *numbers = memory_zeroed(array_length(array) + 1, sizeof(*numbers));
    const cJSON *item;
    size_t nr = 0;

    if (cJSON_IsArray(array))
        cJSON_ArrayForEach(item, array)
        {
            double x = cJSON_IsNumber(item) ? item->valuedouble : 0;
            numbers[nr++] = x >= 1 && x <= DIM_LIMIT ? (int64_t)x : 0;
        }
    return numbers;
}

/* NULL-ended, also behind what is no text. */
static const char *const *read_names(const cJSON *array)
{
    const char **names = memory_zeroed(array_length(array) + 1, sizeof(*names));
    const cJSON *item;
    size_t nr = 0;

    if (cJSON_IsArray(array))
        cJSON_ArrayForEach(item, array) names[nr++] = cJSON_GetStringValue(item);
    return names;
}

static const struct harness_variant *read_variants(const cJSON *array)
{
    struct harness_variant *variants = memory_zeroed(array_length(array) + 1, sizeof(*variants));
    const cJSON *item;
    size_t nr = 0;

    if (cJSON_IsArray(array))
        cJSON_ArrayForEach(item, array) variants[nr++] = (struct harness_variant) {
            .name = json_string(item, "name", NULL),
            .summary = json_string(item, "summary", NULL),
            .device = read_choice(item, "device"),
            .dtype = read_choice(item, "dtype"),
            .vendor = json_bool(item, "vendor", false),
            .math = read_choice(item, "math"),
            .params = read_names(cJSON_GetObjectItemCaseSensitive(item, "params")),
            .launch = launch_elsewhere,
        };
    return variants;
}

static void read_kernel(const cJSON *json, struct harness_kernel *k)
{
    const cJSON *dims = cJSON_GetObjectItemCaseSensitive(json, "dims");
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(json, "sizes");
    const cJSON *test_sizes = cJSON_GetObjectItemCaseSensitive(json, "test_sizes");
    const cJSON *variants = cJSON_GetObjectItemCaseSensitive(json, "variants");
    const char *like = json_string(json, "like", NULL);
    size_t nr_dims = array_length(dims), each = nr_dims > 0 ? nr_dims : 1;

    *k = (struct harness_kernel) {
        .name = json_string(json, "name", NULL),
        .like = like,
        .summary = json_string(json, "summary", NULL),
        .dims = read_names(dims),
        .nr_dims = nr_dims,
        .sizes = read_numbers(sizes),
        .nr_sizes = array_length(sizes) / each,
        .test_sizes = read_numbers(test_sizes),
        .nr_test_sizes = array_length(test_sizes) / each,
        .layout = like ? NULL : layout_elsewhere,
        .oracle = like ? NULL : oracle_elsewhere,
        .variants = read_variants(variants),
        .nr_variants = array_length(variants),
    };
}

int plugin_table_read(struct plugin_own *own, const char *text, size_t length, struct error *err)
{
    struct plugin_told *told = memory_zeroed(1, sizeof(*told));
    const cJSON *item, *kernels;

    own->told = told;
    told->json = json_parse(text, length, "its tables", err);
    if (!told->json)
        return -1;
    kernels = cJSON_GetObjectItemCaseSensitive(told->json, "kernels");
    told->kernels = memory_zeroed(array_length(kernels) + 1, sizeof(*told->kernels));
    told->plugin = (struct harness_plugin) { (uint32_t)json_int(told->json, "abi", 1),
                                             sizeof(struct harness_plugin),
                                             sizeof(struct harness_kernel),
                                             sizeof(struct harness_variant),
                                             sizeof(struct harness_tensor),
                                             sizeof(struct harness_call),
                                             told->kernels,
                                             0,
                                             NULL };
    if (cJSON_IsArray(kernels))
        cJSON_ArrayForEach(item, kernels)
            read_kernel(item, &told->kernels[told->plugin.nr_kernels++]);
    own->table = &told->plugin;
    return plugin_check(own->table, err);
}

void plugin_table_drop(struct plugin_own *own)
{
    struct plugin_told *told = own->told;

    for (size_t i = 0; told && i < told->plugin.nr_kernels; i++) {
        const struct harness_kernel *k = &told->kernels[i];
        free((void *)k->dims);
        free((void *)k->sizes);
        free((void *)k->test_sizes);
        for (size_t v = 0; v < k->nr_variants; v++)
            free((void *)k->variants[v].params);
        free((void *)k->variants);
    }
    if (told) {
        free(told->kernels);
        cJSON_Delete(told->json);
    }
    free(told);
    own->told = NULL;
}
