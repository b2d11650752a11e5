/* SPDX-License-Identifier: MIT */
#include "cli/commands/history_change.h"

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/history_open.h"
#include "cli/progress.h"
#include "core/clock.h"
#include "history/merge.h"
#include "history/prune.h"
#include "history/restore.h"
#include "history/salvage.h"
#include "session/history_file.h"
#include "terminal/terminal.h"

#include <stdio.h>

/* ---- merge ---- */

/* What was added beside runs. */
struct added {
    int64_t nr;
    const char *one, *many, *key;
};

enum { KINDS = 7 };

static void list_merged(const struct store_merged *m, struct added added[KINDS])
{
    const struct added all[KINDS] = {
        { m->baselines, "baseline", "baselines", "baselines" },
        { m->comparisons, "comparison", "comparisons", "comparisons" },
        { m->roofs, "roof", "roofs", "ceilings" },
        { m->acceptances, "acceptance", "acceptances", "acceptances" },
        { m->selftests, "self-test", "self-tests", "selftests" },
        { m->tuned, "tuned setting", "tuned settings", "tuned" },
        { m->annotations, "annotation", "annotations", "annotations" },
    };

    for (int i = 0; i < KINDS; i++)
        added[i] = all[i];
}

/* Lines that were put together from pieces, whole: a terminal breaks them where it has to. */
static void print_page(struct strbuf *page)
{
    struct error ignored; /* of standard output; main.c tells */

    output_page(page, NULL, &ignored);
    strbuf_release(page);
}

static void print_merged(const struct store *store, const struct store_merged *m)
{
    struct added added[KINDS];
    const char *separator = "also ";
    struct strbuf page;

    strbuf_init(&page);
    list_merged(m, added);
    terminal_add(
        &page, "%lld file%s into %s: %lld new run%s (%lld measurements), %lld there already",
        (long long)m->files, m->files == 1 ? "" : "s", store_path(store), (long long)m->runs_new,
        m->runs_new == 1 ? "" : "s", (long long)m->measurements, (long long)m->runs_known);
    if (m->runs_grown)
        terminal_add(&page, ", %lld brought up to date", (long long)m->runs_grown);
    terminal_add(&page, "\n");
    for (int i = 0; i < KINDS; i++) {
        if (!added[i].nr)
            continue;
        terminal_add(&page, "%s%lld new %s", separator, (long long)added[i].nr,
                     added[i].nr == 1 ? added[i].one : added[i].many);
        separator = ", ";
    }
    if (separator[0] == ',')
        terminal_add(&page, "\n");
    print_page(&page);
}

static int print_merged_json(const struct store_merged *m, struct error *err)
{
    cJSON *json = cJSON_CreateObject();
    struct added added[KINDS];

    list_merged(m, added);
    json_add_int(json, "schema_version", 1);
    json_add_int(json, "files", m->files);
    json_add_int(json, "runs_new", m->runs_new);
    json_add_int(json, "runs_known", m->runs_known);
    json_add_int(json, "runs_grown", m->runs_grown);
    json_add_int(json, "measurements", m->measurements);
    for (int i = 0; i < KINDS; i++)
        json_add_int(json, added[i].key, added[i].nr);
    json_add_strings(json, "conflicts", m->conflicts.items, m->conflicts.nr);
    return output_json(json, NULL, err);
}

static void tell_merge_conflicts(const struct store_merged *m)
{
    for (size_t i = 0; i < m->conflicts.nr; i++)
        terminal_note("conflict: %s\n", m->conflicts.items[i]);
    if (m->conflicts.nr)
        terminal_note("harness: %zu conflict%s: what was here stays, the rest was merged\n",
                      m->conflicts.nr, m->conflicts.nr == 1 ? "" : "s");
}

static int check_sources(const struct history_options *o, int argc, char **argv, struct error *err)
{
    struct strbuf path;
    int rc = 0;

    strbuf_init(&path);
    history_path(o->db, &path);
    for (int i = 1; rc == 0 && i < argc; i++)
        rc = store_merge_check(path.data, argv[i], err);
    strbuf_release(&path);
    return rc ? error_prefix(err, "nothing was merged") : 0;
}

static int merge_into(struct store *store, const struct history_options *o, int argc, char **argv,
                      struct error *err)
{
    struct store_merged merged = { 0 };
    int rc = 0;

    for (int i = 1; rc == 0 && i < argc; i++)
        rc = store_merge(store, argv[i], &merged, err);
    if (rc == 0 && o->json)
        rc = print_merged_json(&merged, err);
    else if (rc == 0)
        print_merged(store, &merged);
    else
        error_prefix(err, "%lld of %d files were merged (merging them again is fine)",
                     (long long)merged.files, argc - 1);
    tell_merge_conflicts(&merged);
    if (rc == 0 && merged.conflicts.nr)
        rc = EXIT_REGRESSION;
    store_merged_release(&merged);
    return rc;
}

/* All files are looked at before the first is merged, and before a history is made. */
int history_merge(struct store *none, const struct history_options *o, int argc, char **argv,
                  struct error *err)
{
    struct store *store;

    (void)none;
    if (argc < 2)
        return error_set(err, "harness history merge FILE...");
    if (check_sources(o, argc, argv, err) || history_open(&store, o->db, STORE_WRITE, err))
        return -1;
    int rc = merge_into(store, o, argc, argv, err);
    store_close(store);
    return rc;
}

/* ---- prune ---- */

static void print_pruned(const struct store_pruned *p, const struct history_options *o)
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

static int print_history_room(struct store *store, struct error *err)
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

static int vacuum_history(struct store *store, struct error *err)
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
        print_pruned(&pruned, o);
    }
    return o->vacuum ? vacuum_history(store, err) : print_history_room(store, err);
}

/* ---- restore and move ---- */

static void add_history_content(struct strbuf *page, const char *words,
                                const struct store_content *c)
{
    terminal_add(page, "%s %lld run%s, %lld measurement%s", words, (long long)c->runs,
                 c->runs == 1 ? "" : "s", (long long)c->measurements,
                 c->measurements == 1 ? "" : "s");
}

static void print_restored(const char *path, const char *backup, const struct store_restored *r)
{
    struct strbuf page;

    strbuf_init(&page);
    terminal_add(&page, "%s: ", path);
    if (r->aside)
        terminal_add(&page, "was no sound history, and is kept as %s", r->kept.data);
    else if (r->was_there)
        add_history_content(&page, "had", &r->before);
    else
        terminal_add(&page, "was not there");
    add_history_content(&page, "; now has", &r->now);
    terminal_add(&page, ", as %s\n", backup);
    print_page(&page);
}

int history_restore(struct store *store, const struct history_options *o, int argc, char **argv,
                    struct error *err)
{
    const struct store_teller tell = history_teller(&terminal_notes);
    struct store_restored restored = { .was_there = false };
    struct strbuf path;

    (void)store;
    if (argc < 2)
        return error_set(err, "harness history restore BACKUP");
    strbuf_init(&path);
    history_path(o->db, &path);
    int rc = store_restore(path.data, argv[1], &tell, &restored, err);
    if (rc == 0)
        print_restored(path.data, argv[1], &restored);
    else if (restored.aside)
        error_prefix(err, "what was there is kept as %s", restored.kept.data);
    store_restored_release(&restored);
    strbuf_release(&path);
    return rc;
}

int history_move(struct store *store, const struct history_options *o, int argc, char **argv,
                 struct error *err)
{
    const struct store_teller tell = history_teller(&terminal_notes);
    struct strbuf path;

    (void)store;
    if (argc < 2)
        return error_set(err, "harness history move NEW");
    strbuf_init(&path);
    history_path(o->db, &path);
    int rc = store_move(path.data, argv[1], &tell, err);
    if (rc == 0)
        terminal_print("moved %s to %s\n", path.data, argv[1]);
    strbuf_release(&path);
    return rc;
}

/* ---- salvage ---- */

static void print_lost_span(const struct salvaged_span *span)
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

static void print_salvaged_table(const struct salvaged_table *t)
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
        print_lost_span(&t->spans[i]);
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
            print_salvaged_table(t);
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
