/* SPDX-License-Identifier: MIT */
/* Writes a long history, as years of nights would leave it: for tests of what must stay small or
 * quick. The times in it are made up, and the same on every machine.
 *
 *     make_history FILE RUNS [BENCHMARKS [SAMPLES [LAUNCHES [FIRST]]]]
 *
 * FIRST is the number of the first run: histories of other runs for `history merge`.
 */
#include "long_history.h"

#include "store/store.h"

#include <stdlib.h>

struct plan {
    int runs, benchmarks, samples, launches, first;
};

static int write_launches(struct store *store, const struct records *r, int launches,
                          struct error *err)
{
    int64_t launch_id = 0;

    for (size_t i = 0; i < r->nr; i++) {
        const struct launch launch = { .seq = r->items[i].launch_seq,
                                       .started_ms = r->runs[0].started_ms,
                                       .ended_ms = r->runs[0].ended_ms };
        if (launch.seq >= launches)
            continue;
        bool first = i == 0 || launch.seq != r->items[i - 1].launch_seq;
        if (first && store_begin_launch(store, r->runs[0].id, &launch, &launch_id, err))
            return -1;
        if (store_add_measurement(store, launch_id, &r->items[i].m, err))
            return -1;
    }
    return 0;
}

static int write_run(struct store *store, int nth, const struct plan *plan, struct error *err)
{
    struct records r = { 0 };

    long_history_add(&r, nth, plan->first + plan->runs, plan->benchmarks, (size_t)plan->samples);
    struct run *run = &r.runs[0];
    int rc = store_begin_run(store, run, err);
    if (rc == 0)
        rc = write_launches(store, &r, plan->launches, err);
    if (rc == 0 && nth == 0) {
        made_roofs(&r);
        rc = store_add_roofs(store, &run->machine, "", r.roofs, r.nr_roofs, err);
    }
    if (rc == 0)
        rc = store_end_run(store, run->id, run->ended_ms, err);
    records_release(&r);
    return rc;
}

int main(int argc, char **argv)
{
    const struct plan plan = {
        .runs = argc > 2 ? atoi(argv[2]) : 0,
        .benchmarks = argc > 3 ? atoi(argv[3]) : LONG_HISTORY_BENCHMARKS,
        .samples = argc > 4 ? atoi(argv[4]) : 200,
        .launches = argc > 5 ? atoi(argv[5]) : LONG_HISTORY_LAUNCHES,
        .first = argc > 6 ? atoi(argv[6]) : 0,
    };
    struct store *store;
    struct error err;

    if (plan.runs < 1 || plan.benchmarks < 1 || plan.samples < 1 || plan.launches < 1 ||
        plan.launches > LONG_HISTORY_LAUNCHES || plan.first < 0) {
        fprintf(stderr,
                "usage: make_history FILE RUNS [BENCHMARKS [SAMPLES [LAUNCHES [FIRST]]]]\n");
        return 2;
    }
    int rc = store_open(&store, argv[1], STORE_WRITE, &err);
    for (int i = 0; rc == 0 && i < plan.runs; i++)
        rc = write_run(store, plan.first + i, &plan, &err);
    store_close(store);
    if (rc)
        fprintf(stderr, "make_history: %s\n", err.message);
    return rc ? 1 : 0;
}
