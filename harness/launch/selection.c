/* SPDX-License-Identifier: MIT */
#include "launch/selection_parts.h"

#include "base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BENCHMARKS_MAX = 100000 };

void selection_release(struct selection *s)
{
    string_list_release(&s->filters);
    string_list_release(&s->models);
    string_list_release(&s->variants);
    string_list_release(&s->maths);
    for (int i = 0; i < s->nr_dims; i++)
        array_release(&s->dims[i].values);
    if (s->own_fills)
        fill_list_release(s->own_fills);
    free(s->own_fills);
    *s = (struct selection) { 0 };
}

static struct dim_values *find_dim(struct selection *s, const char *name)
{
    for (int i = 0; i < s->nr_dims; i++)
        if (strcmp(s->dims[i].name, name) == 0)
            return &s->dims[i];
    return NULL;
}

static bool has_value(const struct int_list *list, int64_t value)
{
    for (size_t i = 0; i < list->nr; i++)
        if (list->items[i] == value)
            return true;
    return false;
}

int selection_add_dim(struct selection *s, const char *name, const struct int_list *values,
                      struct error *err)
{
    struct dim_values *dim = find_dim(s, name);

    if (!dim) {
        if (s->nr_dims == SHAPE_MAX || strlen(name) >= sizeof(dim->name))
            return error_set(err, "too many dims, or too long a name: \"%s\"", name);
        dim = &s->dims[s->nr_dims++];
        *dim = (struct dim_values) { 0 };
        snprintf(dim->name, sizeof(dim->name), "%s", name);
    }
    for (size_t i = 0; i < values->nr; i++)
        if (!has_value(&dim->values, values->items[i]))
            *array_push(&dim->values) = values->items[i];
    return 0;
}

/* What each item of the selection matched, to refuse those that matched nothing. */
struct hits {
    bool *filters, *models, *variants, *maths, dims[SHAPE_MAX];
};

static bool in_list(const struct string_list *list, const char *word, bool *hits)
{
    bool found = list->nr == 0;

    for (size_t i = 0; i < list->nr; i++) {
        if (strcmp(list->items[i], word) == 0) {
            hits[i] = true;
            found = true;
        }
    }
    return found;
}

/* Of "simd:depth=64", what names it without the setting; "cc=a:b" has none. */
static size_t length_without_setting(const struct variant *v)
{
    size_t length = strcspn(v->name, ":=");

    return v->name[length] == ':' ? length : strlen(v->name);
}

static bool word_names(const char *word, size_t length, const struct variant *v)
{
    return (length == strlen(v->name) || length == length_without_setting(v)) &&
           strncmp(word, v->name, length) == 0;
}

bool selection_word_names(const char *word, const struct variant *v)
{
    return word_names(word, strlen(word), v);
}

static bool variant_in_list(const struct string_list *list, const struct variant *v, bool *hits)
{
    bool found = list->nr == 0;

    for (size_t i = 0; i < list->nr; i++) {
        if (selection_word_names(list->items[i], v)) {
            hits[i] = true;
            found = true;
        }
    }
    return found;
}

/* True where a part of the filter is the variant's name itself, not a glob that it fits. */
static bool filter_names(const char *filter, const struct variant *v)
{
    for (const char *part = strchr(filter, '/'); part; part = strchr(part + 1, '/'))
        if (word_names(part + 1, strcspn(part + 1, "/"), v))
            return true;
    return false;
}

static bool variant_named(const struct selection *s, const struct variant *v)
{
    for (size_t i = 0; i < s->variants.nr; i++)
        if (selection_word_names(s->variants.items[i], v))
            return true;
    return false;
}

/* Does the filter match the key, or what it would be without the variant's setting? */
static bool filter_matches(const char *filter, const struct variant *v, const char *key)
{
    size_t before = strlen(v->kernel->name) + 1, length = strlen(v->name);
    char plain[KEY_SIZE];

    if (text_filter_matches(filter, key))
        return true;
    if (length_without_setting(v) == length || strncmp(key + before, v->name, length) != 0)
        return false;
    snprintf(plain, sizeof(plain), "%.*s%s", (int)(before + length_without_setting(v)), key,
             key + before + length);
    return text_filter_matches(filter, plain);
}

/* As text_filters_take(), but that a peer is selected only by what gives its name. `hits` may be
 * NULL. */
static bool filter_selected(const struct selection *s, const struct variant *v, const char *key,
                            struct hits *hits)
{
    bool named = !(v->flags & VARIANT_PEER) || variant_named(s, v);
    bool found = named && !s->beside_keys;

    for (size_t i = 0; i < s->filters.nr; i++)
        found &= s->filters.items[i][0] == '!';
    for (size_t i = 0; i < s->filters.nr; i++) {
        const char *filter = s->filters.items[i];
        bool leaves_out = *filter == '!';
        if ((leaves_out || named || filter_names(filter, v)) &&
            filter_matches(filter + leaves_out, v, key)) {
            if (hits)
                hits->filters[i] = true;
            found = !leaves_out;
        }
    }
    return found;
}

bool selection_takes(const struct selection *s, const struct variant *v, const char *key)
{
    return filter_selected(s, v, key, NULL);
}

int selection_add_cache(struct selection *s, const char *name, struct error *err)
{
    int cache = cache_state_find(name);

    if (cache < 0)
        return error_set(err, "\"%s\" is neither warm nor cold nor rotate", name);
    s->caches[cache] = true;
    return 0;
}

/* What expand_*() share while they walk through one variant. */
struct walk {
    const struct selection *s;
    const struct device *device;
    struct hits *hits;
    struct benchmark_list *out;
    struct error *err;
};

/* A dim counts as used once a selected kernel has it. */
static void mark_dims(struct walk *w, const struct kernel *k)
{
    for (int i = 0; i < w->s->nr_dims; i++)
        if (kernel_dim_index(k, w->s->dims[i].name) >= 0)
            w->hits->dims[i] = true;
}

/* A plugin's layout() is code that only the process of its cases runs: there it is looked at. */
static bool is_own_kernel(const struct kernel *k)
{
    return registry_kernel(registry_builtin(), k->name) == k;
}

/* Names of tensors are those of the kernel. */
static int check_inputs(const struct walk *w, const struct benchmark *b)
{
    const struct kernel *k = b->variant->kernel;
    struct tensor t[TENSOR_MAX] = { { 0 } };

    if (!b->inputs || b->inputs->kind != INPUT_EACH || !is_own_kernel(k))
        return 0;
    int nr = k->layout(k, &b->shape, b->variant->dtype, t);
    if (input_fill_check_names(b->inputs, t, nr, w->err) == 0)
        return 0;
    return error_prefix(w->err, "%s: %s", w->s->own_fills ? "\"fill\"" : "--fill", k->name);
}

static int add_benchmark(struct walk *w, const struct benchmark *b)
{
    struct benchmark_name name;

    benchmark_name_of(b, w->device, &name);
    if (!filter_selected(w->s, b->variant, name.key, w->hits))
        return 0;
    if (w->out->nr >= BENCHMARKS_MAX)
        return error_set(w->err, "the selection has more than %d benchmarks", BENCHMARKS_MAX);
    if (check_inputs(w, b))
        return -1;
    struct benchmark *added = array_push(w->out);
    *added = *b;
    if (b->inputs && !*b->inputs->name) /* all as the kernel says */
        added->inputs = NULL;
    mark_dims(w, b->variant->kernel);
    return 0;
}

static int add_shape(struct walk *w, const struct variant *v, const struct shape *shape)
{
    const struct selection *s = w->s;
    int fills = s->fills ? s->fills->nr : 0;
    bool none = true;

    for (int cache = 0; cache < CACHE_NR; cache++)
        none &= !s->caches[cache];
    for (int cache = 0; cache < CACHE_NR; cache++)
        for (int f = 0; f < (fills ? fills : 1); f++) {
            const struct benchmark b = { .variant = v,
                                         .shape = *shape,
                                         .cache = (enum cache_state)cache,
                                         .inputs = fills ? s->fills->items[f] : NULL };
            bool wanted = s->caches[cache] || (none && cache == CACHE_WARM);
            if (wanted && add_benchmark(w, &b))
                return -1;
        }
    return 0;
}

/* Replaces the dims from `next` on by every combination of the lists given for them. */
static int expand_dims(struct walk *w, const struct variant *v, struct shape shape, int next)
{
    for (; next < w->s->nr_dims; next++) {
        const struct dim_values *dim = &w->s->dims[next];
        int index = kernel_dim_index(v->kernel, dim->name);
        if (index < 0)
            continue;
        for (size_t i = 0; i < dim->values.nr; i++) {
            shape.dim[index] = dim->values.items[i];
            if (expand_dims(w, v, shape, next + 1))
                return -1;
        }
        return 0;
    }
    return add_shape(w, v, &shape);
}

static bool replaced(const struct selection *s, const char *dim)
{
    for (int i = 0; i < s->nr_dims; i++)
        if (strcmp(s->dims[i].name, dim) == 0)
            return true;
    return false;
}

/* True if an earlier one of the kernel's shapes becomes the same by the replacements. */
static bool repeated(const struct selection *s, const struct kernel *k, const struct shape *shapes,
                     size_t i)
{
    for (size_t j = 0; j < i; j++) {
        bool same = true;
        for (int d = 0; d < kernel_nr_dims(k); d++)
            same &= shapes[i].dim[d] == shapes[j].dim[d] || replaced(s, k->dims[d]);
        if (same)
            return true;
    }
    return false;
}

static int expand_variant(struct walk *w, const struct variant *v)
{
    const struct kernel *k = v->kernel;
    const struct shape *shapes = w->s->test_shapes ? k->test_shapes : k->shapes;
    size_t nr = w->s->test_shapes ? k->nr_test_shapes : k->nr_shapes;

    if (v->device != w->device->kind ||
        !in_list(&w->s->models, k->model ? k->model : "", w->hits->models) ||
        !variant_in_list(&w->s->variants, v, w->hits->variants) ||
        !in_list(&w->s->maths, math_name(v->math), w->hits->maths))
        return 0;
    for (size_t i = 0; i < nr; i++)
        if (!repeated(w->s, k, shapes, i) && expand_dims(w, v, shapes[i], 0))
            return -1;
    return 0;
}

static int check_list(const struct string_list *list, const bool *hits, const struct registry *r,
                      const struct device *device, enum selection_item what, const char *kind,
                      struct error *err)
{
    for (size_t i = 0; i < list->nr; i++)
        if (!hits[i])
            return selection_nothing_matches(r, device, what, kind, list->items[i], err);
    return 0;
}

/* Why this build lacks a variant, or NULL where it never heard of it. */
static const char *missing_why(const struct registry *r, const char *variant)
{
    for (const struct missing_variant *m = r->missing; m && m->name; m++)
        if (strcmp(m->name, variant) == 0)
            return m->why;
    return NULL;
}

/* A suite names every variant there may be; what could be built is measured. */
static int check_variants(const struct selection *s, const struct registry *r,
                          const struct device *device, const struct hits *hits, struct error *err)
{
    bool any = false;

    for (size_t i = 0; i < s->variants.nr; i++)
        any |= hits->variants[i];
    for (size_t i = 0; i < s->variants.nr; i++) {
        const char *name = s->variants.items[i], *why = missing_why(r, name);
        if (hits->variants[i] || (why && any))
            continue;
        return why ? error_set(err, "variant %s is not in this build: %s", name, why)
                   : selection_nothing_matches(r, device, SELECTION_VARIANTS, "variant", name, err);
    }
    return 0;
}

static int check_hits(const struct selection *s, const struct registry *r,
                      const struct device *device, const struct hits *hits, struct error *err)
{
    if (check_list(&s->models, hits->models, r, device, SELECTION_MODELS, "model", err) ||
        check_variants(s, r, device, hits, err) ||
        check_list(&s->maths, hits->maths, r, device, SELECTION_MATHS, "dtype", err) ||
        check_list(&s->filters, hits->filters, r, device, SELECTION_OPERATIONS, "filter", err))
        return -1;
    for (int i = 0; i < s->nr_dims; i++)
        if (!hits->dims[i])
            return selection_nothing_matches(r, device, SELECTION_DIMS, "dim", s->dims[i].name,
                                             err);
    return 0;
}

int selection_expand(const struct selection *s, const struct registry *r,
                     const struct device *device, struct benchmark_list *out, struct error *err)
{
    struct hits hits = {
        .filters = memory_zeroed(s->filters.nr + 1, sizeof(bool)),
        .models = memory_zeroed(s->models.nr + 1, sizeof(bool)),
        .variants = memory_zeroed(s->variants.nr + 1, sizeof(bool)),
        .maths = memory_zeroed(s->maths.nr + 1, sizeof(bool)),
    };
    struct walk walk = { .s = s, .device = device, .hits = &hits, .out = out, .err = err };
    size_t before = out->nr;
    const struct variant *v;
    int rc = 0;

    for (size_t i = 0; rc == 0 && (v = registry_variant_at(r, i)); i++)
        rc = expand_variant(&walk, v);
    if (rc == 0)
        rc = check_hits(s, r, device, &hits, err);
    if (rc == 0 && out->nr == before && !s->beside_keys)
        rc = error_set(err, "nothing is selected: no benchmark has all that was asked for");
    free(hits.filters);
    free(hits.models);
    free(hits.variants);
    free(hits.maths);
    return rc;
}
