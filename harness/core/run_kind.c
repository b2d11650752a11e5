/* SPDX-License-Identifier: MIT */
#include "core/run_kind.h"

#include <string.h>

static const struct {
    const char *name;
    bool history, times;
} kinds[RUN_KIND_NR] = {
    [RUN_MEASURED] = { "measured", true, true },
    [RUN_PROFILE] = { "profile", true, false },
    [RUN_IMPORTED] = { "imported", true, true },
    [RUN_TRIAL] = { "trial", false, true },
};

const char *run_kind_name(enum run_kind kind)
{
    return kinds[kind].name;
}

int run_kind_find(const char *name)
{
    for (int kind = 0; kind < RUN_KIND_NR; kind++)
        if (strcmp(kinds[kind].name, name) == 0)
            return kind;
    return -1;
}

bool run_kind_is_history(enum run_kind kind)
{
    return kinds[kind].history;
}

bool run_kind_tells_times(enum run_kind kind)
{
    return kinds[kind].times;
}
