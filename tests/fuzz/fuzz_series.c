/* SPDX-License-Identifier: MIT */
/* session/series_file.h: a series of numbers as JSON or as lines, for `harness detect`. */
#include "fuzz.h"

#include "base/array.h"
#include "session/series_file.h"

#include <math.h>

FUZZ_TARGET(series)
{
    struct series_values values;
    struct error err;

    if (series_parse((const char *)data, size, "text", &values, &err) == 0)
        for (size_t i = 0; i < values.nr; i++)
            FUZZ_CHECK(isfinite(values.items[i]));
    array_release(&values);
}
