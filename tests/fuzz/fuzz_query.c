/* SPDX-License-Identifier: MIT */
/* query/query.h: conditions on runs and benchmarks, as the page and its addresses have them. */
#include "fuzz.h"
#include "fuzz_history.h"
#include "query/query.h"

#include <stdlib.h>
#include <string.h>

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
