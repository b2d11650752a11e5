/* SPDX-License-Identifier: MIT */
/* Writes a long history, as years of nights would leave it: for tests of what must stay small or
 * quick. The times in it are made up, and the same on every machine.
 *
 *     make_history FILE RUNS [BENCHMARKS [SAMPLES]]
 */
#include "long_history.h"

#include "store/store.h"

#include <stdlib.h>

static int write_launches(struct store *store, const struct records *r, struct error *err)
{
    int64_t launch_id = 0;

    for (size_t i = 0; i < r->nr; i++) {
        const struct launch launch = { .seq = r->items[i].launch_seq,
                                       .started_ms = r->runs[0].started_ms,
                                       .ended_ms = r->runs[0].ended_ms };
        bool first = i == 0 || launch.seq != r->items[i - 1].launch_seq;
        if (first && store_begin_launch(store, r->runs[0].id, &launch, &launch_id, err))
            return -1;
        if (store_add_measurement(store, launch_id, &r->items[i].m, err))
            return -1;
    }
    return 0;
}

static int write_run(struct store *store, int nth, int runs, int benchmarks, size_t samples,
                     struct error *err)
{
    struct records r = { 0 };

    long_history_add(&r, nth, runs, benchmarks, samples);
    struct run *run = &r.runs[0];
    int rc = store_begin_run(store, run, err);
    if (rc == 0)
        rc = write_launches(store, &r, err);
    if (rc == 0 && nth == 0) {
        made_ceilings(&r);
        rc = store_add_ceilings(store, &run->machine, "", r.ceilings, r.nr_ceilings, err);
    }
    if (rc == 0)
        rc = store_end_run(store, run->id, run->ended_ms, err);
    records_release(&r);
    return rc;
}

int main(int argc, char **argv)
{
    int runs = argc > 2 ? atoi(argv[2]) : 0;
    int benchmarks = argc > 3 ? atoi(argv[3]) : LONG_HISTORY_BENCHMARKS;
    int samples = argc > 4 ? atoi(argv[4]) : 200;
    struct store *store;
    struct error err;

    if (runs < 1 || benchmarks < 1 || samples < 1) {
        fprintf(stderr, "usage: make_history FILE RUNS [BENCHMARKS [SAMPLES]]\n");
        return 2;
    }
    int rc = store_open(&store, argv[1], STORE_WRITE, &err);
    for (int i = 0; rc == 0 && i < runs; i++)
        rc = write_run(store, i, runs, benchmarks, (size_t)samples, &err);
    store_close(store);
    if (rc)
        fprintf(stderr, "make_history: %s\n", err.message);
    return rc ? 1 : 0;
}
