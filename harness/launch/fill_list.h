/* SPDX-License-Identifier: MIT */
/*
 * What inputs are to hold, as people say it: "normal", "uniform", "zeros", or a file of NumPy's,
 * which is told by a '/' in it or by ending in .npy; or these for single tensors, "x=zeros". Words
 * of tensors that stand side by side are one fill: "x=zeros", "weight=uniform". See
 * core/input_fill.h.
 */
#ifndef HARNESS_LAUNCH_FILL_LIST_H
#define HARNESS_LAUNCH_FILL_LIST_H

#include "base/options.h"
#include "core/input_fill.h"

enum { FILLS_MAX = 8, FILL_WORDS_MAX = 64 };

/* Benchmarks point into it: it stays where it is. */
struct fill_list {
    const struct input_fill *items[FILLS_MAX]; /* NULL: as the kernel says */
    int nr;                                    /* 0: nothing was said, which means that, too */
    struct input_fill files[FILL_WORDS_MAX];
    int nr_files;
    struct input_fill *each[FILL_WORDS_MAX + 1]; /* of single tensors, one that is being read, too;
                                                  * owned, so that a list fits on the stack */
    int nr_each;
};

bool fill_is_file(const char *text);
/* Reads the files; what is there twice counts once. `what` is whose value it is, for messages:
 * "--fill". fill_list_release() whatever the result. */
int fill_list_parse(struct fill_list *list, const char *what, const struct string_list *texts,
                    struct error *err);
void fill_list_release(struct fill_list *list);
/* By its name in a key: what everybody knows, or one of the list. NULL: there is none. */
const struct input_fill *fill_list_find(const struct fill_list *list, const char *name);
/* The same; what can be told from the name alone, "x=zeros", comes into the list where it lacks. */
const struct input_fill *fill_list_take(struct fill_list *list, const char *name);

#endif
