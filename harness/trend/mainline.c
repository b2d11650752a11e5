/* SPDX-License-Identifier: MIT */
#include "trend/mainline.h"

#include "base/array.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static bool run_is_counted(const struct run *run, const char *machine)
{
    return strcmp(run->machine.class_name, machine) == 0 && series_takes(run);
}

/* The only branch that more than half of the runs can have is found by pairing off runs of
 * different branches (Boyer and Moore, "MJRTY: a fast majority vote algorithm", 1981). */
static const char *candidate_of(const struct records *records, const char *machine)
{
    const char *candidate = "";
    int lead = 0;

    for (size_t i = 0; i < records->nr_runs; i++) {
        const char *branch = records->runs[i].build.branch;
        if (!run_is_counted(&records->runs[i], machine))
            continue;
        if (lead == 0)
            candidate = branch;
        lead += strcmp(branch, candidate) == 0 ? 1 : -1;
    }
    return candidate;
}

/* The name as the records have it; NULL if no run is of that branch, or with `most` not more than
 * half of them. */
static const char *branch_of(const struct records *records, const char *machine, const char *name,
                             bool most)
{
    const char *found = NULL;
    size_t nr = 0, all = 0;

    for (size_t i = 0; i < records->nr_runs; i++) {
        if (!run_is_counted(&records->runs[i], machine))
            continue;
        all++;
        if (strcmp(records->runs[i].build.branch, name) == 0) {
            found = records->runs[i].build.branch;
            nr++;
        }
    }
    return most && 2 * nr <= all ? NULL : found;
}

const char *mainline_branch(const struct records *records, const char *machine)
{
    const char *candidate = candidate_of(records, machine);
    const char *branch = candidate[0] ? branch_of(records, machine, candidate, true) : NULL;

    if (!branch)
        branch = branch_of(records, machine, "main", false);
    return branch ? branch : branch_of(records, machine, "master", false);
}

bool mainline_has(const char *branch, const struct run *run)
{
    return !branch || !run->build.branch[0] || strcmp(run->build.branch, branch) == 0;
}

/* From the first run of a machine class on. */
static void mark_class(const struct records *records, size_t first, bool *known, bool *has)
{
    const char *machine = records->runs[first].machine.class_name;
    const char *branch = mainline_branch(records, machine);

    for (size_t i = first; i < records->nr_runs; i++) {
        if (strcmp(records->runs[i].machine.class_name, machine) != 0)
            continue;
        has[i] = mainline_has(branch, &records->runs[i]);
        known[i] = true;
    }
}

bool *mainline_runs(const struct records *records)
{
    bool *has = memory_zeroed(records->nr_runs + 1, sizeof(*has));
    bool *known = memory_zeroed(records->nr_runs + 1, sizeof(*known));

    for (size_t i = 0; i < records->nr_runs; i++)
        if (!known[i])
            mark_class(records, i, known, has);
    free(known);
    return has;
}

struct series mainline_points(const struct series *all, const struct records *records,
                              const bool *has)
{
    struct series series = { .bench = all->bench, .machine = all->machine };

    for (size_t i = 0; i < all->nr; i++)
        if ((size_t)all->items[i].run >= records->nr_runs || has[all->items[i].run])
            *array_push(&series) = all->items[i];
    return series;
}
