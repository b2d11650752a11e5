/* SPDX-License-Identifier: MIT */
/* measure/selection.h: a suite file. */
#include "fuzz.h"

#include "measure/selection.h"

FUZZ_TARGET(suite)
{
    struct suite suite;
    struct error err;

    if (suite_load(&suite, fuzz_file(data, size), &err) == 0)
        FUZZ_CHECK(suite.nr > 0 && suite.launches >= 1);
    suite_release(&suite);
}
