/* SPDX-License-Identifier: MIT */
/* launch/selection.h: a suite file. */
#include "fuzz.h"

#include "launch/selection.h"

FUZZ_TARGET(suite)
{
    struct suite suite;
    struct error err;

    if (suite_load(&suite, fuzz_file(data, size), &err) == 0)
        FUZZ_CHECK(suite.nr > 0 && suite.launches >= 1);
    suite_release(&suite);
}
