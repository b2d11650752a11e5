/* SPDX-License-Identifier: MIT */
#include "launch/fill_list.h"

#include "base/memory.h"
#include "core/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fill_is_file(const char *text)
{
    return strchr(text, '/') || name_has_ending(text, ".npy");
}

static int add_once(struct fill_list *list, const struct input_fill *fill, struct error *err)
{
    for (int i = 0; i < list->nr; i++)
        if (list->items[i] == fill)
            return 0;
    if (list->nr == FILLS_MAX)
        return error_set(err, "at most %d", FILLS_MAX);
    list->items[list->nr++] = fill;
    return 0;
}

static int read_array(struct fill_list *list, const char *path, const struct input_fill **fill,
                      struct error *err)
{
    struct input_fill *file = &list->files[list->nr_files++];

    if (input_fill_read(file, path, err))
        return -1;
    *fill = fill_list_find(list, file->name); /* the first with these numbers */
    if (*fill != file) {
        input_fill_release(file);
        list->nr_files--;
    }
    return 0;
}

/* NULL for normal. */
static int read_fill(struct fill_list *list, const char *text, const struct input_fill **fill,
                     struct error *err)
{
    *fill = input_fill_find(text);
    if (fill_is_file(text))
        return read_array(list, text, fill, err);
    if (!*fill && strcmp(text, "normal") != 0)
        return error_set(err,
                         "\"%s\" is neither normal nor uniform nor zeros, nor a file of NumPy's "
                         "(FILE.npy)",
                         text);
    return 0;
}

/* ---- single tensors ---- */

/* The place of the '=' of "x=zeros"; NULL: a word for all, or a path. */
static const char *find_tensor_end(const char *text)
{
    size_t length = strcspn(text, "=/");

    return text[length] == '=' ? text + length : NULL;
}

/* "x=zeros" to the last of each. */
static int read_part(struct fill_list *list, const char *text, struct error *err)
{
    const char *end = find_tensor_end(text);
    const struct input_fill *fill;
    char tensor[INPUT_TENSOR_NAME + 1];

    snprintf(tensor, sizeof(tensor), "%.*s", (int)(end - text), text);
    if (read_fill(list, end + 1, &fill, err))
        return error_prefix(err, "%s", tensor);
    return input_fill_add(list->each[list->nr_each - 1], tensor, fill, err);
}

static int begin_each(struct fill_list *list, struct error *err)
{
    if (list->nr_each > FILL_WORDS_MAX)
        return error_set(err, "at most %d", FILL_WORDS_MAX);
    struct input_fill *each = memory_zeroed(1, sizeof(*each));
    each->kind = INPUT_EACH;
    list->each[list->nr_each++] = each;
    return 0;
}

static void drop_each(struct fill_list *list)
{
    struct input_fill *last = list->each[--list->nr_each];

    input_fill_release(last);
    free(last);
}

/* The last of each is whole: the same as another of them counts once, and one in which all is as
 * the kernel says still has names that are to be looked at. */
static const struct input_fill *end_each(struct fill_list *list)
{
    const struct input_fill *last = list->each[list->nr_each - 1];

    for (int i = 0; i + 1 < list->nr_each; i++) {
        if (strcmp(list->each[i]->name, last->name) != 0)
            continue;
        drop_each(list);
        return list->each[i];
    }
    return last;
}

static int add_each(struct fill_list *list, const struct string_list *texts, size_t *next,
                    struct error *err)
{
    if (begin_each(list, err))
        return -1;
    while (*next < texts->nr && find_tensor_end(texts->items[*next]))
        if (read_part(list, texts->items[(*next)++], err))
            return -1;
    return add_once(list, end_each(list), err);
}

/* ---- all of it ---- */

static int add_words(struct fill_list *list, const struct string_list *texts, struct error *err)
{
    const struct input_fill *fill;
    size_t next = 0;

    if (texts->nr > FILL_WORDS_MAX)
        return error_set(err, "at most %d words, not %zu", FILL_WORDS_MAX, texts->nr);
    while (next < texts->nr) {
        if (find_tensor_end(texts->items[next])) {
            if (add_each(list, texts, &next, err))
                return -1;
            continue;
        }
        if (read_fill(list, texts->items[next++], &fill, err) || add_once(list, fill, err))
            return -1;
    }
    return 0;
}

int fill_list_parse(struct fill_list *list, const char *what, const struct string_list *texts,
                    struct error *err)
{
    *list = (struct fill_list) { .nr = 0 };
    return add_words(list, texts, err) ? error_prefix(err, "%s", what) : 0;
}

void fill_list_release(struct fill_list *list)
{
    for (int i = 0; i < list->nr_files; i++)
        input_fill_release(&list->files[i]);
    while (list->nr_each > 0)
        drop_each(list);
    *list = (struct fill_list) { .nr = 0 };
}

const struct input_fill *fill_list_find(const struct fill_list *list, const char *name)
{
    for (int i = 0; i < list->nr_files; i++)
        if (strcmp(list->files[i].name, name) == 0)
            return &list->files[i];
    for (int i = 0; i < list->nr_each; i++)
        if (*name && strcmp(list->each[i]->name, name) == 0)
            return list->each[i];
    return input_fill_find(name);
}

/* Of a name: files by their names, too. */
static int take_part(struct fill_list *list, const char *text, struct error *err)
{
    const char *end = find_tensor_end(text);
    char tensor[INPUT_TENSOR_NAME + 1];

    if (!end)
        return error_set(err, "\"%s\" is of no tensor", text);
    const struct input_fill *fill = fill_list_find(list, end + 1);
    if (!fill || fill->kind == INPUT_EACH)
        return error_set(err, "no inputs are called \"%s\"", end + 1);
    snprintf(tensor, sizeof(tensor), "%.*s", (int)(end - text), text);
    return input_fill_add(list->each[list->nr_each - 1], tensor, fill, err);
}

const struct input_fill *fill_list_take(struct fill_list *list, const char *name)
{
    const struct input_fill *known = fill_list_find(list, name);
    struct string_list words = { 0 };
    struct error ignored;

    if (known || !find_tensor_end(name) || begin_each(list, &ignored))
        return known;
    string_list_add_split(&words, name, ',');
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < words.nr; i++)
        rc = take_part(list, words.items[i], &ignored);
    string_list_release(&words);
    const struct input_fill *made = list->each[list->nr_each - 1];
    if (rc == 0 && strcmp(made->name, name) == 0)
        return made;
    drop_each(list);
    return NULL;
}
