/* SPDX-License-Identifier: MIT */
#include "cli/history_open.h"

#include "terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>

static void tell_history_wait(const char *path, int seconds)
{
    fprintf(stderr, "harness: waiting for another process that keeps %s locked (%d s at most)\n",
            path, seconds);
}

void history_tell(struct store *store)
{
    char *note = store_take_note(store);

    if (note)
        terminal_note("harness: %s\n", note);
    free(note);
}

int history_open(struct store **store, const char *given, enum store_mode mode, struct error *err)
{
    struct strbuf path;

    strbuf_init(&path);
    history_path(given, &path);
    int rc = store_open(store, path.data, mode, err);
    strbuf_release(&path);
    if (rc == 0) {
        store_tell_waits(*store, tell_history_wait);
        history_tell(*store);
    }
    return rc;
}
