/* SPDX-License-Identifier: MIT */
/* store/samples.h: the blob of raw samples, or a summary of them, as a column of a history. */
#include "fuzz.h"

#include "store/samples.h"

#include <stdlib.h>
#include <string.h>

FUZZ_TARGET(samples)
{
    uint64_t *samples;
    struct error err;
    size_t nr, length;

    if (samples_decode(data, size, &samples, &nr, &err)) {
        FUZZ_CHECK(!samples && nr == 0);
        return;
    }
    if (!samples_are_thin(data, size)) {
        unsigned char *blob = samples_encode(samples, nr, &length);
        FUZZ_CHECK(length == size && memcmp(blob, data, size) == 0);
        free(blob);
    } else {
        for (size_t i = 1; i < nr; i++)
            FUZZ_CHECK(samples[i - 1] <= samples[i]);
    }
    free(samples);
}
