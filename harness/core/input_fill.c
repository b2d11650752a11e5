/* SPDX-License-Identifier: MIT */
#include "core/input_fill.h"

#include "base/digest.h"
#include "base/memory.h"
#include "stats/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
    *f = (struct input_fill) { .path = NULL };
}

bool input_fill_reaches(const struct tensor *t)
{
    return t->role != TENSOR_OUT && t->fill == FILL_NORMAL && t->dtype != DTYPE_INT32;
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
