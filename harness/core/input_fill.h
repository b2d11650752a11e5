/* SPDX-License-Identifier: MIT */
/*
 * What the inputs of a benchmark hold where that is asked for (`--fill`): the same arithmetic draws
 * more or less power with other numbers, and with that the clock differs. It is of those tensors
 * that hold random numbers otherwise (FILL_NORMAL); tokens, constants and the parameters of a model
 * stay what they are.
 *
 *     normal   N(mean, scale^2), as the kernel says: no fill at all, NULL
 *     uniform  as wide around the same mean: mean + scale * sqrt(3) * U(-1, 1), fresh from the seed
 *     zeros    0
 *     a file   its elements in their order, from the first on in each tensor, and again from the
 *              first behind the last; rounded to the tensor's type, not scaled
 *     each     one of these for some of the tensors, by their names; the rest as the kernel says
 */
#ifndef HARNESS_CORE_INPUT_FILL_H
#define HARNESS_CORE_INPUT_FILL_H

#include "core/npy.h"

#include <stdbool.h>
#include <stddef.h>

enum input_fill_kind { INPUT_UNIFORM, INPUT_ZEROS, INPUT_FILE, INPUT_EACH };

enum { INPUT_FILL_NAME = 48, INPUT_TENSOR_NAME = 32 };

/* What is read of a file: elements come again and again, so a part of a larger one does. */
enum { INPUT_FILE_MOST = 256 << 20 };

struct input_fill {
    enum input_fill_kind kind;
    char name[INPUT_FILL_NAME];    /* in keys: "zeros", "file-1f3a55c0" by a file's content, of each
                                    * "bias=zeros,x=uniform"; what has no room is "each-1f3a55c0" */
    char *path;                    /* of a file, from the root; owned */
    struct npy array;              /* of a file */
    struct input_fill_part *parts; /* of each, by the tensors' names in their order; owned */
    size_t nr_parts;
};

struct input_fill_part {
    char tensor[INPUT_TENSOR_NAME];
    const struct input_fill *fill; /* borrowed, none of each; NULL: as the kernel says */
};

/* "uniform" or "zeros"; NULL for any other, "normal" too. */
const struct input_fill *input_fill_find(const char *name);
/* A file: see core/npy.h. Release whatever the result. */
int input_fill_read(struct input_fill *f, const char *path, struct error *err);
void input_fill_release(struct input_fill *f);
/* Adds a tensor to one of each (`kind` set, the rest zero at first), whose name follows. -1 where
 * its name is none that a key can hold, or was there already. Release whatever the result. */
int input_fill_add(struct input_fill *f, const char *tensor, const struct input_fill *fill,
                   struct error *err);

/* Whether it is filled, of a layout. */
bool input_fill_reaches(const struct tensor *t);
/* What fills that one; NULL: it is as the kernel says. `f` may be NULL. */
const struct input_fill *input_fill_of(const struct input_fill *f, const struct tensor *t);
/* -1 where it names a tensor that is none of a layout's random ones; the message lists these. */
int input_fill_check_names(const struct input_fill *f, const struct tensor *t, int nr,
                           struct error *err);
/* Does it hold numbers of a file? `f` may be NULL. */
bool input_fill_has_file(const struct input_fill *f);
/* One that is, in host memory; by none of each. */
void input_fill_tensor(const struct input_fill *f, struct tensor *t, uint64_t seed);
/* The first element of the file that is beyond what the tensor's type holds; -1: none is. */
int64_t input_fill_beyond(const struct input_fill *f, const struct tensor *t);

#endif
