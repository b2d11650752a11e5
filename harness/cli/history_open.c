/* SPDX-License-Identifier: MIT */
#include "cli/history_open.h"

#include "base/file.h"
#include "cli/progress.h"
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
    const struct store_teller tell = history_teller(&terminal_notes);
    struct strbuf path;

    strbuf_init(&path);
    history_path(given, &path);
    int rc = store_open_telling(store, path.data, mode, &tell, err);
    strbuf_release(&path);
    if (rc == 0)
        store_tell_waits(*store, tell_history_wait);
    return rc;
}

int history_open_there(struct store **store, const char *given, enum store_mode mode,
                       struct error *err)
{
    if (mode != STORE_WRITE)
        return history_open(store, given, mode, err);
    if (history_open(store, given, STORE_READ, err))
        return -1;
    store_close(*store);
    return history_open(store, given, STORE_WRITE, err);
}

/* Without a history nothing can be kept: who made none is told how one comes to be. */
static int check_tuned_history(const char *given, struct error *err)
{
    struct strbuf path;

    strbuf_init(&path);
    history_path(given, &path);
    int there = file_look(path.data, err);
    if (there == 0)
        error_set(err,
                  "--tuned: there is no history %s, so no setting is kept: `harness tune` finds "
                  "one and keeps it",
                  path.data);
    strbuf_release(&path);
    return there > 0 ? 0 : -1;
}

int history_tuned(struct tuned *t, const char *given, struct workload_options *o, struct error *err)
{
    struct store *store;

    if (check_tuned_history(given, err) || history_open(&store, given, STORE_READ, err))
        return -1;
    int rc = tuned_open(t, o, store, &terminal_notes, err);
    store_close(store);
    return rc;
}
