/* SPDX-License-Identifier: MIT */
#include "session/measure/fresh_run.h"

#include "session/measure/recording.h"
#include "session/measure/roofs.h"

static int fresh_run_measure(struct store *store, const struct workload *workload,
                             const struct fresh_run *request, struct run *run, struct error *err)
{
    enum sweep_end end = SWEEP_DONE;
    struct recording recording = {
        .workload = workload,
        .store = store,
        .measuring = request->how,
        .run = run,
    };

    recording_describe(run, RUN_MEASURED, workload->suite.name, request->label,
                       recording_settings(workload), &workload->guests);
    if (roofs_recording_run(&recording, &end, err))
        return -1;
    if (!measuring_interrupted(request->how))
        return 0;
    return error_set(err, "interrupted: what was finished is kept as run %lld (unfinished)",
                     (long long)run->id);
}

int fresh_run(struct store *store, const struct fresh_run *request, int64_t *id, struct error *err)
{
    struct workload workload;
    struct run run = { .id = 0 };
    int rc = workload_make(&workload, request->what, request->filters, (int)request->nr_filters,
                           request->otherwise, err);

    if (rc == 0)
        rc = fresh_run_measure(store, &workload, request, &run, err);
    *id = run.id;
    run_release(&run);
    workload_release(&workload);
    return rc;
}
