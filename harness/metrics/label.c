/* SPDX-License-Identifier: MIT */
#include "metrics/label.h"

#include "base/memory.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Members of a name that are texts: those said before the dims and those after them. */
static const size_t front[] = { offsetof(struct benchmark_name, variant),
                                offsetof(struct benchmark_name, math) };
static const size_t back[] = { offsetof(struct benchmark_name, device),
                               offsetof(struct benchmark_name, cache),
                               offsetof(struct benchmark_name, fill) };
enum { FRONT = sizeof(front) / sizeof(front[0]), BACK = sizeof(back) / sizeof(back[0]) };

static const char *label_field(const struct benchmark_name *name, size_t offset)
{
    return (const char *)name + offset;
}

/* A set of names and what they have in common. Of their kernels: characters to cut off both ends,
 * always whole '/'-separated parts. */
struct name_set {
    const struct benchmark_name *const *names;
    size_t nr;
    size_t kernel_head, kernel_tail;
    bool kernel_differs, front_differs[FRONT], back_differs[BACK];
    bool dim_common[SHAPE_MAX]; /* of the dims of the first name: all have it, and its value */
};

static bool label_field_differs(const struct name_set *set, size_t field)
{
    for (size_t i = 1; i < set->nr; i++)
        if (strcmp(label_field(set->names[0], field), label_field(set->names[i], field)) != 0)
            return true;
    return false;
}

static bool label_same_dim(const struct benchmark_dim *a, const struct benchmark_dim *b)
{
    return strcmp(a->name, b->name) == 0 && a->value == b->value;
}

static bool label_has_dim(const struct benchmark_name *name, const struct benchmark_dim *dim)
{
    for (int i = 0; i < name->nr_dims; i++)
        if (strcmp(name->dims[i].name, dim->name) == 0)
            return name->dims[i].value == dim->value;
    return false;
}

static bool label_all_have_dim(const struct name_set *set, const struct benchmark_dim *dim)
{
    for (size_t i = 0; i < set->nr; i++)
        if (!label_has_dim(set->names[i], dim))
            return false;
    return true;
}

/* What all have the first has, too. */
static bool label_dim_differs(const struct name_set *set, const struct benchmark_dim *dim)
{
    for (int i = 0; i < set->names[0]->nr_dims; i++)
        if (set->dim_common[i] && label_same_dim(&set->names[0]->dims[i], dim))
            return false;
    return true;
}

/* Once for the set: sets are long, and each of their names asks. */
static void label_compare_names(struct name_set *set)
{
    set->kernel_differs = label_field_differs(set, offsetof(struct benchmark_name, kernel));
    for (size_t i = 0; i < FRONT; i++)
        set->front_differs[i] = label_field_differs(set, front[i]);
    for (size_t i = 0; i < BACK; i++)
        set->back_differs[i] = label_field_differs(set, back[i]);
    for (int i = 0; i < set->names[0]->nr_dims; i++)
        set->dim_common[i] = label_all_have_dim(set, &set->names[0]->dims[i]);
}

/* Length of the common leading parts of two texts, slash included, leaving each at least one
 * part. */
static size_t label_common_head(const char *a, const char *b)
{
    size_t length = 0;

    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            length = i + 1;
    return length;
}

static size_t label_common_tail(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b), length = 0;

    for (size_t i = 1; i <= la && i <= lb && a[la - i] == b[lb - i]; i++)
        if (a[la - i] == '/')
            length = i;
    return length;
}

/* Cuts what is common, unless a name would lose its last character. */
static void label_measure_kernels(struct name_set *set)
{
    const char *first = set->names[0]->kernel;
    size_t head = strlen(first), tail = head;

    for (size_t i = 1; i < set->nr; i++) {
        size_t h = label_common_head(first, set->names[i]->kernel);
        size_t t = label_common_tail(first, set->names[i]->kernel);
        head = h < head ? h : head;
        tail = t < tail ? t : tail;
    }
    for (size_t i = 0; i < set->nr; i++)
        if (head + tail >= strlen(set->names[i]->kernel))
            tail = 0;
    set->kernel_head = head;
    set->kernel_tail = tail;
}

static void label_add_part(struct strbuf *out, const char *word, size_t length)
{
    if (length == 0)
        return;
    if (out->length > 0)
        strbuf_addc(out, ' ');
    strbuf_add(out, word, length);
}

static void label_add(struct strbuf *out, const char *word)
{
    label_add_part(out, word, strlen(word));
}

static void label_add_dim(struct strbuf *out, const struct benchmark_dim *dim)
{
    char text[64];

    snprintf(text, sizeof(text), "%s=%lld", dim->name, (long long)dim->value);
    label_add(out, text);
}

/* Kernels' own inputs go without saying, but not beside others. */
static const char *label_back_word(const struct benchmark_name *name, size_t offset, bool differing)
{
    return differing && offset == offsetof(struct benchmark_name, fill) ? benchmark_name_fill(name)
                                                                        : label_field(name, offset);
}

/* Says the fields that differ within the set, or those that do not. */
static void label_add_fields(const struct name_set *set, const struct benchmark_name *name,
                             bool differing, struct strbuf *out)
{
    for (size_t i = 0; i < FRONT; i++)
        if (set->front_differs[i] == differing)
            label_add(out, label_field(name, front[i]));
    for (int i = 0; i < name->nr_dims; i++)
        if (label_dim_differs(set, &name->dims[i]) == differing)
            label_add_dim(out, &name->dims[i]);
    for (size_t i = 0; i < BACK; i++)
        if (set->back_differs[i] == differing)
            label_add(out, label_back_word(name, back[i], differing));
}

static char *label_make(const struct name_set *set, const struct benchmark_name *name)
{
    struct strbuf out;

    strbuf_init(&out);
    if (set->kernel_differs)
        label_add_part(&out, name->kernel + set->kernel_head,
                       strlen(name->kernel) - set->kernel_head - set->kernel_tail);
    label_add_fields(set, name, true, &out);
    if (out.length == 0) { /* alone in its set */
        label_add(&out, name->kernel);
        label_add(&out, name->variant);
    }
    return strbuf_detach(&out);
}

struct labelled {
    char **label;
    const char *key;
};

static int label_order(const void *x, const void *y)
{
    const struct labelled *a = x, *b = y;
    int order = strcmp(*a->label, *b->label);

    return order ? order : strcmp(a->key, b->key);
}

/* The end of the run of equal labels that starts at `begin`. */
static size_t label_equal(const struct labelled *sorted, size_t nr, size_t begin)
{
    size_t end = begin + 1;

    while (end < nr && strcmp(*sorted[end].label, *sorted[begin].label) == 0)
        end++;
    return end;
}

static void label_use_keys(struct labelled *sorted, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        free(*sorted[i].label);
        *sorted[i].label = memory_string(sorted[i].key);
    }
}

/* Where several keys have one label, those get their keys for labels. Returns whether any did. */
static bool label_replace_alike(struct labelled *sorted, size_t nr)
{
    bool any = false;

    qsort(sorted, nr, sizeof(*sorted), label_order);
    for (size_t i = 0, end; i < nr; i = end) {
        end = label_equal(sorted, nr, i);
        if (strcmp(sorted[i].key, sorted[end - 1].key) == 0)
            continue;
        label_use_keys(sorted, i, end);
        any = true;
    }
    return any;
}

static void label_make_unique(const struct name_set *set, char **labels)
{
    struct labelled *sorted = memory_zeroed(set->nr, sizeof(*sorted));

    for (size_t i = 0; i < set->nr; i++)
        sorted[i] = (struct labelled) { &labels[i], set->names[i]->key };
    /* A key might be another benchmark's label; then everyone gets the key. */
    if (label_replace_alike(sorted, set->nr) && label_replace_alike(sorted, set->nr))
        label_use_keys(sorted, 0, set->nr);
    free(sorted);
}

char **labels_create(const struct benchmark_name *const *names, size_t nr)
{
    struct name_set set = { .names = names, .nr = nr };
    char **labels = memory_zeroed(nr ? nr : 1, sizeof(*labels));

    if (nr == 0)
        return labels;
    label_measure_kernels(&set);
    label_compare_names(&set);
    for (size_t i = 0; i < nr; i++)
        labels[i] = label_make(&set, names[i]);
    label_make_unique(&set, labels);
    return labels;
}

void labels_free(char **labels, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        free(labels[i]);
    free(labels);
}

/* The kernel of all, or the parts that labels cut off both ends of their kernels, as a filter. */
static void label_add_kernels(struct name_set *set, struct strbuf *out)
{
    const char *kernel = set->names[0]->kernel;

    if (!set->kernel_differs) {
        label_add(out, kernel);
        return;
    }
    label_measure_kernels(set);
    if (set->kernel_head + set->kernel_tail == 0)
        return;
    label_add_part(out, kernel, set->kernel_head);
    strbuf_addc(out, '*');
    strbuf_adds(out, kernel + strlen(kernel) - set->kernel_tail);
}

void labels_common(const struct benchmark_name *const *names, size_t nr, char *out, size_t size)
{
    struct name_set set = { .names = names, .nr = nr };
    struct strbuf text;

    strbuf_init(&text);
    if (nr > 0) {
        label_compare_names(&set);
        label_add_kernels(&set, &text);
        label_add_fields(&set, names[0], false, &text);
    }
    snprintf(out, size, "%s", text.data);
    strbuf_release(&text);
}
