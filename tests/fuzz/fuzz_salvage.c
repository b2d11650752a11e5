/* SPDX-License-Identifier: MIT */
/* history/salvage.h: whatever was done to a history, what is salvaged of it is sound. */
#include "fuzz.h"
#include "fuzz_history.h"
#include "history/salvage.h"
#include "history/verify.h"

#include <stdio.h>
#include <unistd.h>

static void check_sound(const char *path)
{
    struct store_health health;
    struct store *s;
    struct error err;

    FUZZ_OK(store_open(&s, path, STORE_READ, &err), &err);
    FUZZ_OK(store_verify(s, &health, &err), &err);
    store_close(s);
}

FUZZ_TARGET(salvage)
{
    const char *from = small_history_damaged(data, size);
    struct salvaged salvaged;
    struct error err;
    char to[600];

    snprintf(to, sizeof(to), "%s/salvaged.db", fuzz_folder());
    unlink(to);
    if (store_salvage(from, to, &salvaged, &err) == 0)
        check_sound(to);
    else
        FUZZ_CHECK(access(to, F_OK) != 0);
    salvaged_release(&salvaged);
}
