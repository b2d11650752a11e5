/* SPDX-License-Identifier: MIT */
#include "launch/fill_list.h"

#include <string.h>

bool fill_is_file(const char *text)
{
    size_t length = strlen(text);

    return strchr(text, '/') || (length > 4 && strcmp(text + length - 4, ".npy") == 0);
}

static void add_once(struct fill_list *list, const struct input_fill *fill)
{
    for (int i = 0; i < list->nr; i++)
        if (list->items[i] == fill)
            return;
    list->items[list->nr++] = fill;
}

static int add_array(struct fill_list *list, const char *path, struct error *err)
{
    struct input_fill *file = &list->files[list->nr_files++];

    if (input_fill_read(file, path, err))
        return -1;
    for (int i = 0; i + 1 < list->nr_files; i++)
        if (strcmp(list->files[i].name, file->name) == 0)
            return 0;
    add_once(list, file);
    return 0;
}

static int add_fill(struct fill_list *list, const char *text, struct error *err)
{
    const struct input_fill *known = input_fill_find(text);

    if (fill_is_file(text))
        return add_array(list, text, err);
    if (!known && strcmp(text, "normal") != 0)
        return error_set(err,
                         "\"%s\" is neither normal nor uniform nor zeros, nor a file of NumPy's "
                         "(FILE.npy)",
                         text);
    add_once(list, known);
    return 0;
}

int fill_list_parse(struct fill_list *list, const char *what, const struct string_list *texts,
                    struct error *err)
{
    *list = (struct fill_list) { .nr = 0 };
    if (texts->nr > FILLS_MAX)
        return error_set(err, "%s: at most %d, not %zu", what, FILLS_MAX, texts->nr);
    for (size_t i = 0; i < texts->nr; i++)
        if (add_fill(list, texts->items[i], err))
            return error_prefix(err, "%s", what);
    return 0;
}

void fill_list_release(struct fill_list *list)
{
    for (int i = 0; i < list->nr_files; i++)
        input_fill_release(&list->files[i]);
    *list = (struct fill_list) { .nr = 0 };
}

const struct input_fill *fill_list_find(const struct fill_list *list, const char *name)
{
    for (int i = 0; i < list->nr_files; i++)
        if (strcmp(list->files[i].name, name) == 0)
            return &list->files[i];
    return input_fill_find(name);
}
