/* SPDX-License-Identifier: MIT */
#include "cli/history_actions.h"
#include "cli/terminal.h"
#include "store/salvage.h"

#include <stdio.h>

static void print_span(const struct salvaged_span *span)
{
    if (span->first == span->last)
        terminal_print("    row %lld", (long long)span->first);
    else if (span->last == INT64_MAX)
        terminal_print("    rows from %lld on", (long long)span->first);
    else
        terminal_print("    rows %lld to %lld", (long long)span->first, (long long)span->last);
    if (span->page)
        terminal_print(": page %u is damaged", span->page);
    terminal_print("\n");
}

static void print_table(const struct salvaged_table *t)
{
    terminal_print("%-12s %7lld saved", t->name, (long long)t->saved);
    if (t->restored)
        terminal_print(", %lld of them restored from an index", (long long)t->restored);
    if (t->lost)
        terminal_print(", %lld lost", (long long)t->lost);
    if (t->more)
        terminal_print("%s", t->lost ? " and perhaps more" : ", perhaps some lost");
    terminal_print("\n");
    for (int i = 0; i < t->nr_spans; i++)
        print_span(&t->spans[i]);
    if (t->nr_spans == SALVAGED_SPANS)
        terminal_print("    and perhaps more\n");
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
        terminal_print("%d table%s built anew from %s leaves\n", salvaged.trees_rebuilt,
                       salvaged.trees_rebuilt == 1 ? " was" : "s were",
                       salvaged.trees_rebuilt == 1 ? "its" : "their");
    if (rc == 0 && salvaged.start_replaced)
        terminal_print("the start of the file was lost; that of a new history took its place\n");
    if (rc == 0 && salvaged.strange)
        terminal_print("%lld table%s, view%s or trigger%s that harness did not make: left behind\n",
                       (long long)salvaged.strange, salvaged.strange == 1 ? "" : "s",
                       salvaged.strange == 1 ? "" : "s", salvaged.strange == 1 ? "" : "s");
    if (rc == 0 && salvaged.cut_off)
        terminal_print("the file is shorter than it was: its end is missing\n");
    if (rc == 0)
        terminal_print("wrote %s: %s\n", argv[2],
                       lost || more ? "what could be read" : "nothing was found to be lost");
    salvaged_release(&salvaged);
    return rc;
}
