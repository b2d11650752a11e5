/* SPDX-License-Identifier: MIT */
#include "cli/choice.h"

#include "base/array.h"

#include <stdio.h>
#include <string.h>

/* "heads=8,16": dim names of kernels that have no option of their own. */
static int add_dim_option(struct selection *s, const char *text, struct error *err)
{
    char name[32];
    const char *equals = strchr(text, '=');
    struct int_list values = { 0 };

    if (!equals || equals == text || equals - text >= (long)sizeof(name))
        return error_set(err, "--dim: \"%s\" is not NAME=LIST", text);
    snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
    int rc = text_parse_ints(equals + 1, 1, DIM_LIMIT, name, &values, err);
    if (rc == 0)
        rc = selection_add_dim(s, name, &values, err);
    array_release(&values);
    return rc;
}

static int set_caches(struct selection *s, const struct string_list *caches, struct error *err)
{
    for (size_t i = 0; i < caches->nr; i++) {
        bool cold = strcmp(caches->items[i], "cold") == 0;
        if (!cold && strcmp(caches->items[i], "warm") != 0)
            return error_set(err, "--cache: \"%s\" is neither warm nor cold", caches->items[i]);
        s->cold |= cold;
        s->warm |= !cold;
    }
    return 0;
}

static void copy_strings(struct string_list *to, const struct string_list *from)
{
    for (size_t i = 0; i < from->nr; i++)
        string_list_add(to, from->items[i]);
}

/* Whether anything but a filter narrows what is chosen. */
static bool has_options(const struct choice_options *o)
{
    return o->models.nr || o->variants.nr || o->dtypes.nr || o->caches.nr || o->dims.nr ||
           o->batch.nr || o->seq.nr || o->test_shapes;
}

static int select_by_options(struct choice *c, const struct choice_options *o, char **filters,
                             int nr, struct error *err)
{
    struct selection *selection;

    c->suite = (struct suite) { .sampling = sampling_default, .launches = 3 };
    c->suite.selections = array_grow(NULL, 0, &c->suite.capacity, sizeof(*selection));
    c->suite.nr = 1;
    selection = c->suite.selections;
    for (int i = 0; i < nr; i++)
        string_list_add(&selection->filters, filters[i]);
    copy_strings(&selection->models, &o->models);
    copy_strings(&selection->variants, &o->variants);
    copy_strings(&selection->maths, &o->dtypes);
    selection->test_shapes = o->test_shapes;
    if (set_caches(selection, &o->caches, err) ||
        (o->batch.nr && selection_add_dim(selection, "batch", &o->batch, err)) ||
        (o->seq.nr && selection_add_dim(selection, "seq", &o->seq, err)))
        return -1;
    for (size_t i = 0; i < o->dims.nr; i++)
        if (add_dim_option(selection, o->dims.items[i], err))
            return -1;
    return 0;
}

/* True where the text is the whole key of a benchmark that this program has for the device. */
static bool find_by_key(const char *key, const struct device *device, struct benchmark *b)
{
    struct benchmark_name name, found;
    struct error ignored;

    if (strpbrk(key, "*?[") || benchmark_name_parse(key, &name, &ignored))
        return false;
    *b = (struct benchmark) { .variant =
                                  registry_variant(registry_builtin(), name.kernel, name.variant) };
    if (!b->variant)
        return false;
    for (int i = 0; i < SHAPE_MAX && b->variant->kernel->dims[i]; i++)
        b->shape.dim[i] = benchmark_name_dim(&name, b->variant->kernel->dims[i], 0);
    b->cache = strcmp(name.cache, cache_state_name(CACHE_COLD)) == 0 ? CACHE_COLD : CACHE_WARM;
    benchmark_name_of(b, device, &found);
    return strcmp(found.key, key) == 0;
}

/* Takes whole keys out of the filters; where nothing is left of these, nothing else is chosen. */
static void take_keys(struct choice *c, struct benchmark_list *all)
{
    struct string_list *filters = &c->suite.selections[0].filters;
    size_t kept = 0;
    struct benchmark b;

    for (size_t i = 0; i < filters->nr; i++) {
        if (!find_by_key(filters->items[i], &c->device, &b)) {
            filters->items[kept++] = filters->items[i];
            continue;
        }
        *array_push(all) = b;
        free(filters->items[i]);
    }
    filters->nr = kept;
    if (kept == 0 && all->nr > 0)
        selection_release(&c->suite.selections[--c->suite.nr]);
}

static bool known(const struct benchmark_list *list, const struct benchmark *b)
{
    for (size_t i = 0; i < list->nr; i++)
        if (list->items[i].variant == b->variant && list->items[i].cache == b->cache &&
            shape_equal(&list->items[i].shape, &b->shape))
            return true;
    return false;
}

/* Selections of a suite may overlap: every benchmark is measured once. */
static int expand(struct choice *c, bool by_key, struct error *err)
{
    struct benchmark_list all = { 0 };
    int rc = 0;

    if (by_key)
        take_keys(c, &all);
    for (size_t i = 0; rc == 0 && i < c->suite.nr; i++)
        rc = selection_expand(&c->suite.selections[i], registry_builtin(), &c->device, &all, err);
    for (size_t i = 0; rc == 0 && i < all.nr; i++)
        if (!known(&c->list, &all.items[i]))
            *array_push(&c->list) = all.items[i];
    array_release(&all);
    return rc;
}

/* A suite is a complete statement of what to measure; mixing it with a selection would make runs
 * of the "same" suite incomparable. */
int choice_make(struct choice *c, const struct choice_options *o, char **filters, int nr,
                const char *otherwise, struct error *err)
{
    bool selects = nr > 0 || has_options(o);

    *c = (struct choice) { 0 };
    if (o->suite && selects)
        return error_set(err,
                         "--suite says what to measure: leave out filters, --model, "
                         "--variant, --dtype, --cache, --batch, --seq and --dim");
    if (selects ? select_by_options(c, o, filters, nr, err)
                : suite_load(&c->suite, o->suite ? o->suite : otherwise, err))
        return -1;
    if (device_open(&c->device, o->device ? o->device : "cpu", err))
        return -1;
    return expand(c, nr > 0 && !has_options(o), err);
}

void choice_release(struct choice *c)
{
    array_release(&c->list);
    if (c->device.ops)
        device_close(&c->device);
    suite_release(&c->suite);
}
