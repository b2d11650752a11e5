/* SPDX-License-Identifier: MIT */
#include "host/thread_team.h"

#include <omp.h>

static int threads_given(int wanted)
{
    int given = 0;

#pragma omp parallel num_threads(wanted) reduction(+ : given)
    given++;
    return given;
}

int thread_team_check(int threads, struct error *err)
{
    omp_set_dynamic(0);
    int given = threads > 1 ? threads_given(threads) : threads;

    if (given >= threads)
        return 0;
    if (omp_get_thread_limit() < threads)
        return error_set(err,
                         "%d threads are to be measured, and OpenMP gives %d of them: "
                         "OMP_THREAD_LIMIT is %d here; unset it, or give --device cpu:%d",
                         threads, given, omp_get_thread_limit(), given);
    return error_set(
        err,
        "%d threads are to be measured, and OpenMP gives %d of them: unset what limits "
        "it (`env | grep OMP_` shows what is set), or give --device cpu:%d",
        threads, given, given);
}
