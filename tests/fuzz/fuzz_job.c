/* SPDX-License-Identifier: MIT */
/* launch/launch_job.h: what a measuring process is told to do. */
#include "fuzz.h"

#include "launch/launch_job.h"

FUZZ_TARGET(job)
{
    static const struct kernel *const *const operations[] = { NULL };
    static const struct variant *const files[] = { NULL };
    static const struct missing_variant missing[] = { { .name = NULL } };
    static const struct registry nothing = { operations, files, missing, NULL };
    struct owned_job job;
    struct error err;

    if (job_parse((const char *)data, size, &nothing, &job, &err) == 0)
        for (size_t i = 0; i < job.job.nr; i++)
            for (int d = 0; d < SHAPE_MAX; d++)
                FUZZ_CHECK(job.cases[i].shape.dim[d] >= 0 &&
                           job.cases[i].shape.dim[d] <= DIM_LIMIT);
    job_release(&job);
}
