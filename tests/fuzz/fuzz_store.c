/* SPDX-License-Identifier: MIT */
/* A history: its names, its questions, and what is salvaged of it. */
#include "fuzz.h"
#include "fuzz_history.h"

#include "history/salvage.h"
#include "history/verify.h"
#include "query/query.h"
#include "query/ref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* store/store.h: REF, the ways to name runs. */
FUZZ_TARGET(ref)
{
    struct store *s = small_history_open();
    char *text = fuzz_text(data, size);
    struct ref_runs runs;
    struct error err;

    if (ref_resolve(s, text, NULL, &runs, &err) == 0)
        FUZZ_CHECK(runs.nr > 0 && !runs.nothing);
    ref_runs_release(&runs);
    free(text);
}

/* What was understood is SQL that works. */
static void ask(struct store *s, const struct query *q)
{
    const struct query_page page = { .limit = 2 };
    struct query_found found = { 0 };
    struct string_list keys = { 0 };
    struct error err;

    FUZZ_OK(query_runs(s, q, &page, &found, &err), &err);
    FUZZ_OK(query_keys(s, q, found.ids, found.nr, &keys, &err), &err);
    query_found_release(&found);
    string_list_release(&keys);
}

/* query/query.h: conditions on runs and benchmarks, as the page and its addresses have them. */
FUZZ_TARGET(query)
{
    struct store *s = small_history_open();
    char *text = fuzz_text(data, size);
    struct query query;
    struct error err;
    size_t column;

    if (query_parse(&query, text, &column, &err))
        FUZZ_CHECK(column >= 1 && column <= strlen(text) + 1);
    else if (query_check(&query, s, &column, &err))
        FUZZ_CHECK(column >= 1 && column <= strlen(text) + 1);
    else
        ask(s, &query);
    query_release(&query);
    free(text);
}

static void check_sound(const char *path)
{
    struct store_health health;
    struct store *s;
    struct error err;

    FUZZ_OK(store_open(&s, path, STORE_READ, &err), &err);
    FUZZ_OK(store_verify(s, &health, &err), &err);
    store_close(s);
}

/* history/salvage.h: whatever was done to a history, what is salvaged of it is sound. */
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
