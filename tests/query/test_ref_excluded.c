/* SPDX-License-Identifier: MIT */
/* What is left of sweeps of which a part is excluded, of years of nights. Features: U-06. */
#include "query/ref_parts.h"
#include "testing.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

enum { NIGHTS = 400, PARTS = 64 };

struct years {
    struct run *head;  /* the newest sweep */
    char (*uuids)[37]; /* of all runs, newest first */
    struct ref_lookup lookup;
};

/* One name and one commit for all nights: nothing but whole sweeps tells them apart. */
static void make_years(struct years *y, struct ref_scope *scope)
{
    static char nothing[] = "", name[] = "nightly", class_name[] = "epyc";

    y->head = memory_zeroed(PARTS, sizeof(*y->head));
    y->uuids = memory_zeroed((size_t)NIGHTS * PARTS, sizeof(*y->uuids));
    y->lookup = (struct ref_lookup) { .scope = scope };
    for (int i = 0; i < NIGHTS * PARTS; i++) {
        snprintf(y->uuids[i], sizeof(y->uuids[i]), "%08d-0000-4000-8000-000000000000", i);
        if (i < PARTS)
            snprintf(y->head[i].uuid, sizeof(y->head[i].uuid), "%s", y->uuids[i]);
        *array_push(&y->lookup.runs) = (struct ref_run) { .uuid = y->uuids[i],
                                                          .label = nothing,
                                                          .commit = nothing,
                                                          .class_name = class_name,
                                                          .sweep = name,
                                                          .shard = i % PARTS + 1,
                                                          .shards = PARTS,
                                                          .finished = true };
    }
    *scope = (struct ref_scope) { .exclude = y->head, .nr_exclude = PARTS };
}

static size_t count_left_over(const struct years *y)
{
    size_t nr = 0;

    for (size_t i = 0; i < y->lookup.runs.nr; i++)
        nr += y->lookup.runs.items[i].left_over;
    return nr;
}

/* 25,600 runs: whatever looks at each beside each takes minutes. */
TEST(nights_of_years)
{
    struct ref_scope scope;
    struct years y;

    make_years(&y, &scope);
    ref_mark_excluded(&y.lookup);
    assert_int_equal(count_left_over(&y), 0);        /* all nights are whole */
    y.lookup.runs.items[PARTS + 4].finished = false; /* a part of the night before the head's */
    ref_mark_excluded(&y.lookup);
    assert_int_equal(count_left_over(&y), PARTS - 1);
    for (size_t i = 0; i < y.lookup.runs.nr; i++)
        assert_int_equal(y.lookup.runs.items[i].left_over,
                         i >= PARTS && i < (size_t)2 * PARTS && i != PARTS + 4);
    array_release(&y.lookup.runs);
    free(y.head);
    free(y.uuids);
}

RUN_TESTS(NULL, NULL)
