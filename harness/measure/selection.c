/* SPDX-License-Identifier: MIT */
#include "measure/selection.h"

#include "base/strbuf.h"

#include <stdio.h>
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

/* "nano" selects the kernels gpt/nano/... */
static bool model_selected(const struct selection *s, const char *kernel, struct hits *hits)
{
    bool found = s->models.nr == 0;
    struct strbuf prefix;

    strbuf_init(&prefix);
    for (size_t i = 0; i < s->models.nr; i++) {
        strbuf_clear(&prefix);
        strbuf_addf(&prefix, "gpt/%s/", s->models.items[i]);
        if (strncmp(kernel, prefix.data, prefix.length) == 0) {
            hits->models[i] = true;
            found = true;
        }
    }
    strbuf_release(&prefix);
    return found;
}

static bool filter_selected(const struct selection *s, const char *key, struct hits *hits)
{
    bool found = s->filters.nr == 0;

    for (size_t i = 0; i < s->filters.nr; i++) {
        if (text_filter_matches(s->filters.items[i], key)) {
            hits->filters[i] = true;
            found = true;
        }
    }
    return found;
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

static int add_shape(struct walk *w, const struct variant *v, const struct shape *shape)
{
    for (int cache = CACHE_WARM; cache <= CACHE_COLD; cache++) {
        struct benchmark b = { v, *shape, (enum cache_state)cache };
        struct benchmark_name name;
        bool wanted = cache == CACHE_COLD ? w->s->cold : w->s->warm || !w->s->cold;

        if (!wanted)
            continue;
        benchmark_name_of(&b, w->device, &name);
        if (!filter_selected(w->s, name.key, w->hits))
            continue;
        if (w->out->nr >= BENCHMARKS_MAX)
            return error_set(w->err, "the selection has more than %d benchmarks", BENCHMARKS_MAX);
        *array_push(w->out) = b;
        mark_dims(w, v->kernel);
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

    if (v->device != w->device->kind || !model_selected(w->s, k->name, w->hits) ||
        !in_list(&w->s->variants, v->name, w->hits->variants) ||
        !in_list(&w->s->maths, math_name(v->math), w->hits->maths))
        return 0;
    for (size_t i = 0; i < nr; i++)
        if (!repeated(w->s, k, shapes, i) && expand_dims(w, v, shapes[i], 0))
            return -1;
    return 0;
}

/* Names that could have been meant, without repeats. */
static void add_name(struct string_list *names, const char *name, size_t length)
{
    char *copy = memory_string(name);

    copy[length] = '\0';
    for (size_t i = 0; i < names->nr; i++) {
        if (strcmp(names->items[i], copy) == 0) {
            free(copy);
            return;
        }
    }
    *array_push(names) = copy;
}

/* The part of a '/'-separated name with this index, or nothing. */
static void add_part(struct string_list *names, const char *name, int part)
{
    while (part-- > 0 && name)
        name = strchr(name, '/') ? strchr(name, '/') + 1 : NULL;
    if (name)
        add_name(names, name, strcspn(name, "/"));
}

/* Filters are listed by operation only: the kernels are too many for an error message. KERNELS are
 * all leading runs of their names' parts: "gpt", "gpt/nano", "gpt/nano/decode". */
enum what { OPERATIONS, KERNELS, MODELS, VARIANTS, MATHS, DIMS };

static void collect(const struct registry *r, const struct device *device, enum what what,
                    struct string_list *names)
{
    const struct variant *v;

    for (size_t i = 0; (v = registry_variant_at(r, i)); i++) {
        if (v->device != device->kind)
            continue;
        if (what == OPERATIONS)
            add_part(names, v->kernel->name, 0);
        for (size_t n = 0; what == KERNELS && v->kernel->name[n]; n++)
            if (v->kernel->name[n + 1] == '/' || v->kernel->name[n + 1] == '\0')
                add_name(names, v->kernel->name, n + 1);
        if (what == MODELS && strncmp(v->kernel->name, "gpt/", 4) == 0)
            add_part(names, v->kernel->name, 1);
        if (what == VARIANTS)
            add_name(names, v->name, strlen(v->name));
        if (what == MATHS)
            add_name(names, math_name(v->math), strlen(math_name(v->math)));
        for (int d = 0; what == DIMS && d < kernel_nr_dims(v->kernel); d++)
            add_name(names, v->kernel->dims[d], strlen(v->kernel->dims[d]));
    }
}

static const char *nearest_of(const char *word, struct string_list *names)
{
    *array_push(names) = NULL; /* ends the list for text_nearest() */
    names->nr--;
    return text_nearest(word, (const char *const *)names->items);
}

static bool is_one_of(const struct string_list *names, const char *word)
{
    for (size_t i = 0; i < names->nr; i++)
        if (strcmp(names->items[i], word) == 0)
            return true;
    return false;
}

static int nothing_matches(const struct registry *r, const struct device *device, enum what what,
                           const char *kind, const char *word, struct error *err)
{
    struct string_list names = { 0 }, candidates = { 0 };
    struct strbuf list;

    collect(r, device, what, &names);
    collect(r, device, what, &candidates);
    if (what == OPERATIONS)
        collect(r, device, KERNELS, &candidates);
    const char *nearest = nearest_of(word, &candidates);
    strbuf_init(&list);
    for (size_t i = 0; i < names.nr; i++)
        strbuf_addf(&list, "%s%s", i ? ", " : "", names.items[i]);
    if (is_one_of(&candidates, word))
        error_set(err, "%s \"%s\" matches nothing that the other options leave", kind, word);
    else
        error_set(err, "%s \"%s\" matches nothing on device %s%s%s%s; there are: %s%s", kind, word,
                  device->spec, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                  nearest ? "\"?" : "", list.data,
                  what == OPERATIONS ? " (see `harness list kernels`)" : "");
    strbuf_release(&list);
    string_list_release(&names);
    string_list_release(&candidates);
    return -1;
}

static int check_list(const struct string_list *list, const bool *hits, const struct registry *r,
                      const struct device *device, enum what what, const char *kind,
                      struct error *err)
{
    for (size_t i = 0; i < list->nr; i++)
        if (!hits[i])
            return nothing_matches(r, device, what, kind, list->items[i], err);
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
                   : nothing_matches(r, device, VARIANTS, "variant", name, err);
    }
    return 0;
}

static int check_hits(const struct selection *s, const struct registry *r,
                      const struct device *device, const struct hits *hits, struct error *err)
{
    if (check_list(&s->models, hits->models, r, device, MODELS, "model", err) ||
        check_variants(s, r, device, hits, err) ||
        check_list(&s->maths, hits->maths, r, device, MATHS, "dtype", err) ||
        check_list(&s->filters, hits->filters, r, device, OPERATIONS, "filter", err))
        return -1;
    for (int i = 0; i < s->nr_dims; i++)
        if (!hits->dims[i])
            return nothing_matches(r, device, DIMS, "dim", s->dims[i].name, err);
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
    if (rc == 0 && out->nr == before)
        rc = error_set(err, "nothing is selected: no benchmark has all that was asked for");
    free(hits.filters);
    free(hits.models);
    free(hits.variants);
    free(hits.maths);
    return rc;
}
