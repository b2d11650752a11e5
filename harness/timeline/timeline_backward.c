/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_backward.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char suffix[] = " (backward)";
enum { NAME_MOST = 1024 };

/* "backward" at `at` as a word: nothing of the same word before it, no letter behind it. */
static bool backward_is_word(const char *name, const char *at)
{
    bool begins = at == name || !isalpha((unsigned char)at[-1]) || *at == 'B';

    return begins && !isalpha((unsigned char)at[strlen("backward")]);
}

bool timeline_says_backward(const char *name)
{
    if (strcasestr(name, "forward"))
        return false;
    for (const char *at = name; (at = strcasestr(at, "backward")); at++)
        if (backward_is_word(name, at))
            return true;
    return false;
}

/* Work of a GPU, and calls that start it, are what they are in either pass. */
static bool backward_is_scope(const struct prof_slice *s)
{
    static const char *const others[] = { PROF_KERNELS, PROF_MEMCPY, PROF_MEMSET,
                                          PROF_RUNTIME_CALLS, PROF_DRIVER_CALLS };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (!strcmp(s->category, others[i]))
            return false;
    return !(s->flags & PROF_INSTANT_POINT);
}

/* A name that was asked for before has the answer of then: texts of a trace are few. */
struct backward_name {
    const char *name, *renamed;
};

static const char *backward_renamed(struct prof_trace *trace, struct backward_name *last,
                                    const char *name)
{
    char text[NAME_MOST];

    if (last->name == name)
        return last->renamed;
    snprintf(text, sizeof(text), "%.*s%s", NAME_MOST - (int)sizeof(suffix), name, suffix);
    *last = (struct backward_name) { name, prof_trace_text(trace, text) };
    return last->renamed;
}

int timeline_name_backward(struct prof_trace *trace)
{
    bool *inside = memory_zeroed(trace->nr_slices + 1, sizeof(*inside));
    struct backward_name last = { NULL, NULL };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < trace->nr_slices; i++) {
        struct prof_slice *s = &trace->slices[i];
        bool says = timeline_says_backward(s->name);
        bool held = s->parent >= 0 && inside[s->parent]; /* parents come first */
        inside[i] = held || says;
        if (!held || says || !backward_is_scope(s))
            continue;
        const char *renamed = backward_renamed(trace, &last, s->name);
        if (renamed)
            s->name = renamed;
        else
            rc = -1;
    }
    free(inside);
    return rc;
}
