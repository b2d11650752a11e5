/* SPDX-License-Identifier: MIT */
#include "cli/history_actions.h"
#include "store/salvage.h"

#include <stdio.h>

static void print_span(const struct salvaged_span *span)
{
    if (span->first == span->last)
        printf("    row %lld", (long long)span->first);
    else if (span->last == INT64_MAX)
        printf("    rows from %lld on", (long long)span->first);
    else
        printf("    rows %lld to %lld", (long long)span->first, (long long)span->last);
    if (span->page)
        printf(": page %u is damaged", span->page);
    puts("");
}

static void print_table(const struct salvaged_table *t)
{
    printf("%-12s %7lld saved", t->name, (long long)t->saved);
    if (t->restored)
        printf(", %lld of them restored from an index", (long long)t->restored);
    if (t->lost)
        printf(", %lld lost", (long long)t->lost);
    if (t->more)
        printf("%s", t->lost ? " and perhaps more" : ", perhaps some lost");
    puts("");
    for (int i = 0; i < t->nr_spans; i++)
        print_span(&t->spans[i]);
    if (t->nr_spans == SALVAGED_SPANS)
        puts("    and perhaps more");
}

int history_salvage(struct store *store, const struct history_options *o, int argc, char **argv,
                    struct error *err)
{
    struct salvaged salvaged;
    int64_t lost = 0;
    bool more = false;

    (void)store;
    (void)o;
    if (argc < 3)
        return error_set(err, "harness history salvage FROM TO");
    int rc = store_salvage(argv[1], argv[2], &salvaged, err);
    for (size_t i = 0; rc == 0 && i < salvaged.tables.nr; i++) {
        const struct salvaged_table *t = &salvaged.tables.items[i];
        lost += t->lost;
        more |= t->more;
        if (t->saved || t->lost || t->more)
            print_table(t);
    }
    if (rc == 0 && salvaged.trees_rebuilt)
        printf("%d table%s built anew from %s leaves\n", salvaged.trees_rebuilt,
               salvaged.trees_rebuilt == 1 ? " was" : "s were",
               salvaged.trees_rebuilt == 1 ? "its" : "their");
    if (rc == 0 && salvaged.start_replaced)
        puts("the start of the file was lost; that of a new history took its place");
    if (rc == 0 && salvaged.strange)
        printf("%lld table%s, view%s or trigger%s that harness did not make: left behind\n",
               (long long)salvaged.strange, salvaged.strange == 1 ? "" : "s",
               salvaged.strange == 1 ? "" : "s", salvaged.strange == 1 ? "" : "s");
    if (rc == 0 && salvaged.cut_off)
        puts("the file is shorter than it was: its end is missing");
    if (rc == 0)
        printf("wrote %s: %s\n", argv[2],
               lost || more ? "what could be read" : "nothing was found to be lost");
    salvaged_release(&salvaged);
    return rc;
}
