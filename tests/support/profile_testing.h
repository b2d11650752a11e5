/* SPDX-License-Identifier: MIT */
/* What tests of the scopes library share. */
#ifndef HARNESS_TESTS_PROFILE_TESTING_H
#define HARNESS_TESTS_PROFILE_TESTING_H

#include "testing.h"

#include "profile/trace.h"

#include <stdlib.h>

/* A trace that keeps all promises. */
static inline void take_snapshot(struct prof *prof, struct prof_trace *trace)
{
    char why[256];

    assert_int_equal(prof_snapshot(prof, trace), 0);
    if (prof_trace_check(trace, why, sizeof(why)) != 0)
        fail_msg("%s", why);
}

static inline struct prof *create_on(const struct prof_options *options)
{
    struct prof *prof = prof_create(options);

    assert_non_null(prof);
    assert_int_equal(prof_set_on(prof, 1), 0);
    return prof;
}

static inline size_t count_named(const struct prof_trace *trace, const char *name)
{
    size_t nr = 0;

    for (size_t i = 0; i < trace->nr_slices; i++)
        nr += !strcmp(trace->slices[i].name, name);
    return nr;
}

/* The first of the name. */
static inline const struct prof_slice *slice_named(const struct prof_trace *trace, const char *name)
{
    for (size_t i = 0; i < trace->nr_slices; i++) {
        if (!strcmp(trace->slices[i].name, name))
            return &trace->slices[i];
    }
    fail_msg("no slice is called %s", name);
    return NULL;
}

static inline const char *parent_name(const struct prof_trace *trace, const struct prof_slice *s)
{
    return s->parent < 0 ? "" : trace->slices[s->parent].name;
}

/* Whatever a writer wrote, NUL-terminated; free() it. */
#define written(call)                                                                              \
    __extension__({                                                                                \
        char *text_ = NULL;                                                                        \
        size_t size_ = 0;                                                                          \
        FILE *file = open_memstream(&text_, &size_);                                               \
        assert_non_null(file);                                                                     \
        assert_int_equal((call), 0);                                                               \
        fclose(file);                                                                              \
        text_;                                                                                     \
    })

#endif
