/* SPDX-License-Identifier: MIT */
/* What a model's name stands for, and what could have been meant by a word that selects nothing. */
#include "launch/selection_parts.h"

#include "base/strbuf.h"
#include "base/text.h"
#include "device/devices.h"

#include <stdio.h>
#include <string.h>

/* Without repeats. */
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

/* Names that could have been meant; `device` NULL: on any. */
static void collect(const struct registry *r, const struct device *device, enum selection_item what,
                    struct string_list *names)
{
    const struct variant *v;

    for (size_t i = 0; (v = registry_variant_at(r, i)); i++) {
        if (device && v->device != device->kind)
            continue;
        if (what == SELECTION_OPERATIONS)
            add_name(names, v->kernel->name, strcspn(v->kernel->name, "/"));
        for (size_t n = 0; what == SELECTION_KERNELS && v->kernel->name[n]; n++)
            if (v->kernel->name[n + 1] == '/' || v->kernel->name[n + 1] == '\0')
                add_name(names, v->kernel->name, n + 1);
        if (what == SELECTION_MODELS && v->kernel->model)
            add_name(names, v->kernel->model, strlen(v->kernel->model));
        if (what == SELECTION_VARIANTS)
            add_name(names, v->name, strlen(v->name));
        if (what == SELECTION_MATHS)
            add_name(names, math_name(v->math), strlen(math_name(v->math)));
        for (int d = 0; what == SELECTION_DIMS && d < kernel_nr_dims(v->kernel); d++)
            add_name(names, v->kernel->dims[d], strlen(v->kernel->dims[d]));
    }
}

static const char *nearest_of(const char *word, struct string_list *names)
{
    *array_push(names) = NULL; /* ends the list for text_nearest() */
    names->nr--;
    return text_nearest(word, (const char *const *)names->items);
}

static void join_list(const struct string_list *names, struct strbuf *list)
{
    for (size_t i = 0; i < names->nr; i++)
        strbuf_addf(list, "%s%s", i ? ", " : "", names->items[i]);
}

static int no_such_model(const struct registry *r, const char *model, struct error *err)
{
    struct string_list names = { 0 };
    struct strbuf list;

    collect(r, NULL, SELECTION_MODELS, &names);
    const char *nearest = nearest_of(model, &names);
    strbuf_init(&list);
    join_list(&names, &list);
    error_set(err, "there is no model \"%s\"%s%s%s; there are: %s", model,
              nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "",
              list.data);
    strbuf_release(&list);
    string_list_release(&names);
    return -1;
}

static bool add_forwards(const struct registry *r, const char *model, struct string_list *filters)
{
    const struct variant *v;
    size_t before = filters->nr;
    struct strbuf operations;

    strbuf_init(&operations);
    for (size_t i = 0; (v = registry_variant_at(r, i)); i++) {
        if (!v->kernel->model || strcmp(v->kernel->model, model) != 0)
            continue;
        strbuf_clear(&operations);
        strbuf_addf(&operations, "%s:*", v->kernel->name);
        add_name(filters, v->kernel->name, strlen(v->kernel->name));
        add_name(filters, operations.data, operations.length);
    }
    strbuf_release(&operations);
    return filters->nr > before;
}

int selection_model_filters(const struct registry *r, const struct string_list *models,
                            struct string_list *filters, struct error *err)
{
    for (size_t i = 0; i < models->nr; i++)
        if (!add_forwards(r, models->items[i], filters))
            return no_such_model(r, models->items[i], err);
    return 0;
}

static bool names_variant(enum selection_item what, const char *word, const struct variant *v)
{
    char key[2 * NAME_SIZE];

    if (what == SELECTION_VARIANTS)
        return strcmp(v->name, word) == 0;
    snprintf(key, sizeof(key), "%s/%s", v->kernel->name, v->name);
    return what == SELECTION_OPERATIONS && text_filter_matches(word, key);
}

/* What the word names is of another device than the one that was asked for: that one, or NULL. */
static const char *other_device(const struct registry *r, const struct device *device,
                                enum selection_item what, const char *word)
{
    const struct variant *v;

    for (size_t i = 0; (v = registry_variant_at(r, i)); i++)
        if (v->device != device->kind && !(v->flags & VARIANT_PEER) && names_variant(what, word, v))
            return device_kind_name(v->device);
    return NULL;
}

int selection_nothing_matches(const struct registry *r, const struct device *device,
                              enum selection_item what, const char *kind, const char *word,
                              struct error *err)
{
    struct string_list names = { 0 }, candidates = { 0 };
    struct strbuf list;

    collect(r, device, what, &names);
    collect(r, device, what, &candidates);
    if (what == SELECTION_OPERATIONS)
        collect(r, device, SELECTION_KERNELS, &candidates);
    const char *nearest = nearest_of(word, &candidates);
    strbuf_init(&list);
    join_list(&names, &list);
    const char *other = other_device(r, device, what, word);
    if (string_list_has(&candidates, word))
        error_set(err, "%s \"%s\" matches nothing that the other options leave", kind, word);
    else if (other)
        error_set(err, "%s \"%s\" matches nothing on device %s, but on device %s: give --device %s",
                  kind, word, device->spec, other, other);
    else
        error_set(err, "%s \"%s\" matches nothing on device %s%s%s%s; there are: %s%s", kind, word,
                  device->spec, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                  nearest ? "\"?" : "", list.data,
                  what == SELECTION_OPERATIONS ? " (see `harness list kernels`)" : "");
    strbuf_release(&list);
    string_list_release(&names);
    string_list_release(&candidates);
    return -1;
}
