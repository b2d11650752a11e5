/* SPDX-License-Identifier: MIT */
#include "core/benchmark.h"

#include "base/strbuf.h"
#include "base/text.h"
#include "core/names.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char *const cache_states[CACHE_NR] = { "warm", "cold", "rotate" };

const char *cache_state_name(enum cache_state cache)
{
    return cache_states[cache];
}

int cache_state_find(const char *name)
{
    return name_find(cache_states, CACHE_NR, name);
}

const char *benchmark_name_fill(const struct benchmark_name *name)
{
    return name->fill[0] || !name->cache[0] ? name->fill : "normal";
}

/* In a key, where a program without sizes has its dims. */
static const char no_dims[] = "-";

/* Too long a key is cut; kernels and dims of this program stay far below KEY_SIZE. */
void benchmark_name_make_key(struct benchmark_name *name)
{
    struct strbuf key;

    strbuf_init(&key);
    strbuf_addf(&key, "%s/%s/%s/", name->kernel, name->variant, name->math);
    if (name->nr_dims == 0)
        strbuf_adds(&key, no_dims);
    for (int i = 0; i < name->nr_dims; i++)
        strbuf_addf(&key, "%s%s=%lld", i ? "," : "", name->dims[i].name,
                    (long long)name->dims[i].value);
    strbuf_addf(&key, "/%s/%s%s%s", name->device, name->cache, name->fill[0] ? "+" : "",
                name->fill);
    snprintf(name->key, sizeof(name->key), "%s", key.data);
    strbuf_release(&key);
}

void benchmark_name_of(const struct benchmark *b, const struct device *d,
                       struct benchmark_name *name)
{
    const struct kernel *k = b->variant->kernel;

    *name = (struct benchmark_name) { 0 };
    snprintf(name->kernel, sizeof(name->kernel), "%s", k->name);
    snprintf(name->variant, sizeof(name->variant), "%s", b->variant->name);
    snprintf(name->math, sizeof(name->math), "%s", math_name(b->variant->math));
    snprintf(name->device, sizeof(name->device), "%s", d->label);
    snprintf(name->cache, sizeof(name->cache), "%s", cache_state_name(b->cache));
    if (b->inputs)
        snprintf(name->fill, sizeof(name->fill), "%s", b->inputs->name);
    name->nr_dims = kernel_nr_dims(k);
    for (int i = 0; i < name->nr_dims; i++) {
        snprintf(name->dims[i].name, sizeof(name->dims[i].name), "%s", k->dims[i]);
        name->dims[i].value = b->shape.dim[i];
    }
    benchmark_name_make_key(name);
}

void benchmark_name_operation(struct benchmark_name *name, const char *operation)
{
    size_t length = strlen(name->kernel);

    snprintf(name->kernel + length, sizeof(name->kernel) - length, ":%s", operation);
    for (char *p = name->kernel + length; *p; p++)
        if (*p == ' ' || *p == '/')
            *p = '-';
    benchmark_name_make_key(name);
}

static int parse_dims(char *text, struct benchmark_name *name)
{
    char *rest = text, *item;
    struct error ignored;

    name->nr_dims = 0;
    if (strcmp(text, no_dims) == 0)
        return 0;
    while ((item = strsep(&rest, ","))) {
        char *equals = strchr(item, '=');
        if (!equals || name->nr_dims == SHAPE_MAX)
            return -1;
        struct benchmark_dim *dim = &name->dims[name->nr_dims++];
        *equals = '\0';
        snprintf(dim->name, sizeof(dim->name), "%s", item);
        if (text_parse_int(equals + 1, INT64_MIN, INT64_MAX, item, &dim->value, &ignored))
            return -1;
    }
    return 0;
}

/* "warm" or "warm+zeros". */
static int parse_state(char *text, struct benchmark_name *name)
{
    char *rest = text, *cache = strsep(&rest, "+");

    if (cache_state_find(cache) < 0 || (rest && (!*rest || strlen(rest) >= sizeof(name->fill))))
        return -1;
    snprintf(name->cache, sizeof(name->cache), "%s", cache);
    snprintf(name->fill, sizeof(name->fill), "%s", rest ? rest : "");
    return 0;
}

/* kernel.../variant/math/dims/device/cache: the last five parts are fixed, the kernel may hold
 * slashes of its own. */
static int parse_parts(const char *key, struct benchmark_name *name)
{
    char copy[KEY_SIZE], *part[5];

    snprintf(copy, sizeof(copy), "%s", key);
    for (int i = 4; i >= 0; i--) {
        char *slash = strrchr(copy, '/');
        if (!slash)
            return -1;
        *slash = '\0';
        part[i] = slash + 1;
    }
    if (parse_state(part[4], name))
        return -1;
    snprintf(name->kernel, sizeof(name->kernel), "%.*s", NAME_SIZE - 1, copy);
    snprintf(name->variant, sizeof(name->variant), "%.*s", NAME_SIZE - 1, part[0]);
    snprintf(name->math, sizeof(name->math), "%.15s", part[1]);
    snprintf(name->device, sizeof(name->device), "%.*s", NAME_SIZE - 1, part[3]);
    return parse_dims(part[2], name);
}

/* kernel.../dims: what imports make of a name with sizes in it. */
static int parse_sized(const char *key, struct benchmark_name *name)
{
    const char *slash = strrchr(key, '/');
    char dims[KEY_SIZE];

    if (!slash || slash == key)
        return -1;
    snprintf(dims, sizeof(dims), "%s", slash + 1);
    snprintf(name->kernel, sizeof(name->kernel), "%.*s",
             (int)(slash - key < NAME_SIZE ? slash - key : NAME_SIZE - 1), key);
    if (parse_dims(dims, name))
        return -1;
    for (int i = 0; i < name->nr_dims; i++)
        if (name->dims[i].name[0] == '\0')
            return -1;
    return 0;
}

static void parse_any(const char *key, struct benchmark_name *name)
{
    *name = (struct benchmark_name) { 0 };
    if (parse_parts(key, name) == 0)
        return;
    *name = (struct benchmark_name) { 0 };
    if (parse_sized(key, name) == 0)
        return;
    *name = (struct benchmark_name) { 0 };
    snprintf(name->kernel, sizeof(name->kernel), "%.*s", NAME_SIZE - 1, key);
}

int benchmark_name_parse(const char *key, struct benchmark_name *name, struct error *err)
{
    if (strlen(key) >= KEY_SIZE)
        return error_set(err, "a benchmark key has %zu characters, more than %d", strlen(key),
                         KEY_SIZE - 1);
    parse_any(key, name);
    snprintf(name->key, sizeof(name->key), "%s", key);
    return 0;
}

int64_t benchmark_name_dim(const struct benchmark_name *name, const char *dim, int64_t otherwise)
{
    for (int i = 0; i < name->nr_dims; i++)
        if (strcmp(name->dims[i].name, dim) == 0)
            return name->dims[i].value;
    return otherwise;
}
