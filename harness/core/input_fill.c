/* SPDX-License-Identifier: MIT */
#include "core/input_fill.h"

#include "base/digest.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "stats/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TENSOR_NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

const struct input_fill *input_fill_find(const char *name)
{
    static const struct input_fill known[] = {
        { .kind = INPUT_UNIFORM, .name = "uniform" },
        { .kind = INPUT_ZEROS, .name = "zeros" },
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].name, name) == 0)
            return &known[i];
    return NULL;
}

/* By the elements and their type, wherever the file lies and whoever wrote its header. */
static void name_by_content(struct input_fill *f)
{
    uint64_t sum =
        checksum_xxh64(f->array.data, (size_t)f->array.elements * dtype_size(f->array.dtype),
                       (uint64_t)f->array.dtype);

    snprintf(f->name, sizeof(f->name), "file-%08x", (unsigned)(sum & 0xffffffffU));
}

int input_fill_read(struct input_fill *f, const char *path, struct error *err)
{
    struct stat st;

    *f = (struct input_fill) { .kind = INPUT_FILE };
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > INPUT_FILE_MOST)
        return error_set(err,
                         "%s: is larger than %d MiB; elements are repeated, so a part of them "
                         "does: numpy.save(FILE, array.ravel()[:1000000])",
                         path, INPUT_FILE_MOST >> 20);
    if (npy_read(&f->array, path, INPUT_FILE_MOST, err))
        return -1;
    f->path = realpath(path, NULL);
    if (!f->path)
        return error_set(err, "%s: is no longer there", path);
    name_by_content(f);
    return 0;
}

void input_fill_release(struct input_fill *f)
{
    npy_release(&f->array);
    free(f->path);
    free(f->parts);
    *f = (struct input_fill) { .path = NULL };
}

bool input_fill_reaches(const struct tensor *t)
{
    return t->role != TENSOR_OUT && t->fill == FILL_NORMAL && t->dtype != DTYPE_INT32;
}

/* ---- one for each of some tensors ---- */

/* Those that are as the kernel says are left out: so the same inputs have one name. */
static void name_by_parts(struct input_fill *f)
{
    struct strbuf text;

    strbuf_init(&text);
    for (size_t i = 0; i < f->nr_parts; i++)
        if (f->parts[i].fill)
            strbuf_addf(&text, "%s%s=%s", text.length ? "," : "", f->parts[i].tensor,
                        f->parts[i].fill->name);
    if (text.length < sizeof(f->name))
        snprintf(f->name, sizeof(f->name), "%s", text.length ? text.data : "");
    else
        snprintf(f->name, sizeof(f->name), "each-%08x",
                 (unsigned)(checksum_xxh64(text.data, text.length, 0) & 0xffffffffU));
    strbuf_release(&text);
}

static int check_tensor_name(const char *name, struct error *err)
{
    size_t length = strlen(name);

    if (length > 0 && length < INPUT_TENSOR_NAME && strspn(name, TENSOR_NAME_LETTERS) == length)
        return 0;
    return error_set(err,
                     "\"%.60s\" is no name of a tensor: up to %d letters, digits, \"_\", \".\" and "
                     "\"-\"",
                     name, INPUT_TENSOR_NAME - 1);
}

int input_fill_add(struct input_fill *f, const char *tensor, const struct input_fill *fill,
                   struct error *err)
{
    size_t place = 0;

    if (check_tensor_name(tensor, err))
        return -1;
    while (place < f->nr_parts && strcmp(f->parts[place].tensor, tensor) < 0)
        place++;
    if (place < f->nr_parts && strcmp(f->parts[place].tensor, tensor) == 0)
        return error_set(err, "tensor \"%s\" is filled twice", tensor);
    f->parts = memory_resize(f->parts, f->nr_parts + 1, sizeof(*f->parts));
    memmove(&f->parts[place + 1], &f->parts[place], (f->nr_parts - place) * sizeof(*f->parts));
    f->parts[place] = (struct input_fill_part) { .fill = fill };
    snprintf(f->parts[place].tensor, sizeof(f->parts[place].tensor), "%s", tensor);
    f->nr_parts++;
    name_by_parts(f);
    return 0;
}

static const struct input_fill_part *find_part(const struct input_fill *f, const char *tensor)
{
    for (size_t i = 0; i < f->nr_parts; i++)
        if (strcmp(f->parts[i].tensor, tensor) == 0)
            return &f->parts[i];
    return NULL;
}

const struct input_fill *input_fill_of(const struct input_fill *f, const struct tensor *t)
{
    if (!f || !input_fill_reaches(t))
        return NULL;
    if (f->kind != INPUT_EACH)
        return f;
    const struct input_fill_part *part = find_part(f, t->name);
    return part ? part->fill : NULL;
}

static int unknown_tensor(const char *name, const struct tensor *t, int nr, struct error *err)
{
    struct strbuf known;

    strbuf_init(&known);
    for (int i = 0; i < nr; i++)
        if (input_fill_reaches(&t[i]))
            strbuf_addf(&known, "%s%s", known.length ? ", " : "", t[i].name);
    int rc = error_set(err, "\"%s\" is none of its tensors of random numbers: %s", name,
                       known.length ? known.data : "it has none");
    strbuf_release(&known);
    return rc;
}

int input_fill_check_names(const struct input_fill *f, const struct tensor *t, int nr,
                           struct error *err)
{
    for (size_t i = 0; i < f->nr_parts; i++) {
        bool found = false;
        for (int j = 0; j < nr; j++)
            found |= input_fill_reaches(&t[j]) && strcmp(t[j].name, f->parts[i].tensor) == 0;
        if (!found)
            return unknown_tensor(f->parts[i].tensor, t, nr, err);
    }
    return 0;
}

bool input_fill_has_file(const struct input_fill *f)
{
    bool has = f && f->kind == INPUT_FILE;

    for (size_t i = 0; f && i < f->nr_parts; i++)
        has |= f->parts[i].fill && f->parts[i].fill->kind == INPUT_FILE;
    return has;
}

static void fill_uniform(struct tensor *t, uint64_t seed)
{
    struct random r;
    int64_t nr = tensor_elements(t);

    random_seed(&r, seed);
    for (int64_t i = 0; i < nr; i++)
        tensor_set(t, i, t->mean + t->scale * sqrt(3.0) * (2 * random_uniform(&r) - 1));
}

static void fill_from(const struct npy *a, struct tensor *t)
{
    const struct tensor from = { .dtype = a->dtype, .data = (void *)a->data };
    int64_t nr = tensor_elements(t), next = 0;

    for (int64_t i = 0; i < nr; i++) {
        tensor_set(t, i, tensor_get(&from, next));
        next = next + 1 < a->elements ? next + 1 : 0;
    }
}

void input_fill_tensor(const struct input_fill *f, struct tensor *t, uint64_t seed)
{
    switch (f->kind) {
    case INPUT_UNIFORM:
        fill_uniform(t, seed);
        break;
    case INPUT_ZEROS:
        memset(t->data, 0, (size_t)tensor_bytes(t));
        break;
    case INPUT_FILE:
        fill_from(&f->array, t);
        break;
    case INPUT_EACH: /* see input_fill_of() */
        break;
    }
}

int64_t input_fill_beyond(const struct input_fill *f, const struct tensor *t)
{
    const struct tensor from = { .dtype = f->array.dtype, .data = (void *)f->array.data };
    int64_t nr = tensor_elements(t);

    for (int64_t i = 0; f->kind == INPUT_FILE && i < nr && i < f->array.elements; i++)
        if (!dtype_holds(t->dtype, tensor_get(&from, i)))
            return i;
    return -1;
}
