/* SPDX-License-Identifier: MIT */
#include "store/keeping.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is kept ---- */

static struct keeping *keeping_of(struct store *s)
{
    if (!s->keeping)
        s->keeping = memory_zeroed(1, sizeof(*s->keeping));
    return s->keeping;
}

void keeping_run(struct store *s, const struct run *run)
{
    run_copy(array_push(&keeping_of(s)->runs), run);
}

static void copy_launch(struct launch *to, const struct launch *from)
{
    *to = *from;
    to->error_text = memory_string(from->error_text);
}

void keeping_launch(struct store *s, int64_t run, int64_t id, const struct launch *launch)
{
    struct kept_launch *kept = array_push(&keeping_of(s)->launches);

    kept->run = run;
    kept->id = id;
    copy_launch(&kept->launch, launch);
}

static struct kept_launch *find_launch(struct keeping *k, int64_t id)
{
    for (size_t i = k ? k->launches.nr : 0; i-- > 0;)
        if (k->launches.items[i].id == id)
            return &k->launches.items[i];
    return NULL;
}

void keeping_launch_end(struct store *s, int64_t id, const struct launch *launch)
{
    struct kept_launch *kept = find_launch(s->keeping, id);

    if (!kept)
        return;
    kept->launch.ended_ms = launch->ended_ms;
    kept->launch.exit_status = launch->exit_status;
    free(kept->launch.error_text);
    kept->launch.error_text = memory_string(launch->error_text);
}

void keeping_measurement(struct store *s, int64_t launch, const struct measurement *m)
{
    struct kept_launch *of = find_launch(s->keeping, launch);

    if (!of)
        return;
    struct kept_measurement *kept = array_push(&s->keeping->measurements);
    kept->run = of->run;
    kept->launch = launch;
    measurement_copy(&kept->m, m);
}

void keeping_roofs(struct store *s, const struct machine *machine, const char *epoch,
                   const struct roof *roofs, size_t nr)
{
    struct kept_roofs *kept = array_push(&keeping_of(s)->roofs);

    kept->machine = *machine;
    kept->epoch = memory_string(epoch);
    kept->items = memory_resize(NULL, nr, sizeof(*roofs));
    kept->nr = nr;
    if (nr)
        memcpy(kept->items, roofs, nr * sizeof(*roofs));
}

/* ---- what need not be kept ---- */

static void forget_measurements(struct keeping *k, int64_t run)
{
    size_t left = 0;

    for (size_t i = 0; i < k->measurements.nr; i++) {
        if (k->measurements.items[i].run == run)
            measurement_release(&k->measurements.items[i].m);
        else
            k->measurements.items[left++] = k->measurements.items[i];
    }
    k->measurements.nr = left;
}

static void forget_launches(struct keeping *k, int64_t run)
{
    size_t left = 0;

    for (size_t i = 0; i < k->launches.nr; i++) {
        if (k->launches.items[i].run == run)
            launch_release(&k->launches.items[i].launch);
        else
            k->launches.items[left++] = k->launches.items[i];
    }
    k->launches.nr = left;
}

void keeping_forget(struct store *s, int64_t run)
{
    struct keeping *k = s->keeping;
    size_t left = 0;

    if (!k)
        return;
    forget_measurements(k, run);
    forget_launches(k, run);
    for (size_t i = 0; i < k->runs.nr; i++) {
        if (k->runs.items[i].id == run)
            run_release(&k->runs.items[i]);
        else
            k->runs.items[left++] = k->runs.items[i];
    }
    k->runs.nr = left;
}

void keeping_free(struct store *s)
{
    struct keeping *k = s->keeping;

    if (!k)
        return;
    while (k->runs.nr > 0)
        keeping_forget(s, k->runs.items[0].id);
    for (size_t i = 0; i < k->roofs.nr; i++) {
        free(k->roofs.items[i].epoch);
        free(k->roofs.items[i].items);
    }
    array_release(&k->runs);
    array_release(&k->launches);
    array_release(&k->measurements);
    array_release(&k->roofs);
    free(k);
    s->keeping = NULL;
}

bool keeping_has_run(const struct store *s)
{
    return s->keeping && s->keeping->runs.nr > 0;
}
