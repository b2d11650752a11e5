/* SPDX-License-Identifier: MIT */
/*
 * The objects of a build: what each was made of, and which of them refer to which.
 *
 *     struct reach_objects o;
 *     reach_objects_read(built, &o)
 *     reach_objects_link(&o)
 *     mark = memory_zeroed(o.nr, sizeof(bool))
 *     reach_objects_close(&o, "gemm_simd", stop, mark)
 *     reach_objects_release(&o)
 */
#ifndef HARNESS_SESSION_BENCH_REACH_OBJECTS_H
#define HARNESS_SESSION_BENCH_REACH_OBJECTS_H

#include "base/array.h"
#include "base/options.h"
#include "session/builds/builds.h"

#include <stdbool.h>

struct reach_object {
    char *name;               /* a path, relative to the build folder; owned */
    struct string_list files; /* of the sources, from their top; sorted */
    struct string_list needs; /* symbols that others define */
};

struct reach_symbol {
    char *name; /* owned */
    size_t object;
};

struct reach_objects {
    const struct built *built;
    struct reach_object *items; /* by name */
    size_t nr, capacity;
    ARRAY(struct reach_symbol) defines; /* by name */
};

/* What ninja recorded; where that is nothing, the .d files below the build folder. False: nothing
 * is known. Release `o` whatever the result. */
bool reach_objects_read(const struct built *built, struct reach_objects *o);
/* Their symbols, by nm(1). False: not all can be read. */
bool reach_objects_link(struct reach_objects *o);
/* Marks the objects that define the symbol, and those that they refer to, from one to the next.
 * What is marked in `stop` is not entered (NULL: nothing is). False: none defines it. */
bool reach_objects_close(const struct reach_objects *o, const char *symbol, const bool *stop,
                         bool *mark);
/* Marks those that define the symbol. False: none does. */
bool reach_objects_define(const struct reach_objects *o, const char *symbol, bool *mark);
void reach_objects_release(struct reach_objects *o);

/* Lines of `ninja -t inputs TARGET...`; false where ninja knows none of them. `targets` ends with a
 * NULL. */
bool reach_ninja_inputs(const struct built *built, const char *const *targets,
                        struct string_list *out);
/* From the top of the sources, as a build names it: absolute, relative to the build folder, or
 * through a link that lies there. NULL: it is no file of the sources. free() it. */
char *reach_in_source(const struct built *b, const char *path);

/* Each once, in order. */
void reach_sort(struct string_list *list);
/* In a sorted list. */
bool reach_has(const struct string_list *list, const char *text);

#endif
