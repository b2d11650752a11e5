/* SPDX-License-Identifier: MIT */
/* A libcuda.so.1 for tests, with what counters ask of it: the thread's context, which is there
 * where CUDA_STUB_CONTEXT is set. */
#include <stddef.h>
#include <stdlib.h>

enum { SUCCESS = 0, NOT_INITIALISED = 3 };

int cuCtxGetCurrent(void **context);
int cuCtxGetCurrent(void **context)
{
    static char it;

    *context = getenv("CUDA_STUB_CONTEXT") ? &it : NULL;
    return *context ? SUCCESS : NOT_INITIALISED;
}
