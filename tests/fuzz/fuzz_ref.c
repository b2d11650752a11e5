/* SPDX-License-Identifier: MIT */
/* store/store.h: REF, the ways to name runs. */
#include "fuzz.h"
#include "fuzz_history.h"

#include <stdlib.h>

FUZZ_TARGET(ref)
{
    struct store *s = small_history_open();
    char *text = fuzz_text(data, size);
    struct store_runs runs;
    struct error err;

    if (store_resolve(s, text, NULL, &runs, &err) == 0)
        FUZZ_CHECK(runs.nr > 0 && !runs.nothing);
    store_runs_release(&runs);
    free(text);
}
