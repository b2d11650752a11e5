/* SPDX-License-Identifier: MIT */
/* session/measure/sharding.h: how long benchmarks last, for --durations. */
#include "fuzz.h"

#include "session/measure/sharding.h"

#include <math.h>

FUZZ_TARGET(durations)
{
    static const char *const keys[] = { "gemm/nn/simd/fp32/batch=1,seq=512,n=512,k=512/cpu-1t/warm",
                                        "a" };
    double seconds[2] = { 0 };
    struct error err;

    if (durations_of_file(fuzz_file(data, size), keys, 2, seconds, &err) == 0)
        FUZZ_CHECK(!(seconds[0] < 0) && !(seconds[1] < 0));
}
