/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "cli/history_actions.h"
#include "cli/terminal.h"
#include "core/clock.h"
#include "store/prune.h"

#include <stdio.h>

static void print_rules(const struct store_pruned *p, const struct history_options *o)
{
    char before[TEXT_UNIT_SIZE], after[TEXT_UNIT_SIZE];
    const char *would = o->dry_run ? "would be " : "";

    if (o->keep_days || o->keep_runs)
        terminal_print("%lld of %lld runs %sremoved, with %lld measurements\n",
                       (long long)p->removed, (long long)p->runs, would,
                       (long long)p->removed_results);
    if (o->samples_older_than > 0)
        terminal_print("samples of %lld run%s %ssummarised: %lld measurements, %s to %s\n",
                       (long long)p->thinned, p->thinned == 1 ? "" : "s", would,
                       (long long)p->thinned_results, text_bytes((double)p->samples_before, before),
                       text_bytes((double)p->samples_after, after));
    if (p->named)
        terminal_print(
            "%lld run%s stay%s whole: named by a baseline, or by a verdict that found "
            "something\n",
            (long long)p->named, p->named == 1 ? "" : "s", p->named == 1 ? "s" : "");
}

static int print_room(struct store *store, struct error *err)
{
    char size[TEXT_UNIT_SIZE], unused[TEXT_UNIT_SIZE];
    struct store_room room;

    if (store_room(store, &room, err))
        return -1;
    terminal_print("%s has %s, %s of it free for new results (--vacuum gives that back)\n",
                   store_path(store), text_bytes((double)room.size, size),
                   text_bytes((double)room.free, unused));
    return 0;
}

static int vacuum(struct store *store, struct error *err)
{
    char from[TEXT_UNIT_SIZE], to[TEXT_UNIT_SIZE], won[TEXT_UNIT_SIZE];
    struct store_room before, after;

    if (store_room(store, &before, err) || store_vacuum(store, err) ||
        store_room(store, &after, err))
        return -1;
    terminal_print("%s: %s to %s, %s won\n", store_path(store),
                   text_bytes((double)before.size, from), text_bytes((double)after.size, to),
                   text_bytes((double)(before.size - after.size), won));
    return 0;
}

int history_prune(struct store *store, const struct history_options *o, int argc, char **argv,
                  struct error *err)
{
    struct store_prune rules = {
        .now_ms = clock_epoch_ms(),
        .keep_ms = o->keep_days * 86400 * 1000,
        .keep_runs = o->keep_runs,
        .samples_ms = (int64_t)(o->samples_older_than * 1000),
        .dry_run = o->dry_run,
        .trust_clock = o->trust_clock,
    };
    struct store_pruned pruned;
    bool any = o->keep_days || o->keep_runs || o->samples_older_than > 0;

    (void)argc;
    (void)argv;
    if (!any && !o->vacuum)
        return error_set(err,
                         "say what may go: runs beyond --keep-days N or --keep-runs N, "
                         "samples with --samples-older-than TIME, free room with --vacuum");
    if (o->vacuum && o->dry_run)
        return error_set(err, "--dry-run changes nothing; leave out --vacuum");
    if (any) {
        if (store_prune(store, &rules, &pruned, err))
            return -1;
        print_rules(&pruned, o);
    }
    return o->vacuum ? vacuum(store, err) : print_room(store, err);
}
