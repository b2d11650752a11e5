/* SPDX-License-Identifier: MIT */
#include "cli/history_actions.h"
#include "cli/history_file.h"
#include "cli/terminal.h"
#include "store/restore.h"

#include <stdio.h>

static void print_content(const char *words, const struct store_content *c)
{
    terminal_print("%s %lld run%s, %lld measurement%s", words, (long long)c->runs,
                   c->runs == 1 ? "" : "s", (long long)c->measurements,
                   c->measurements == 1 ? "" : "s");
}

static void print_restored(const char *path, const char *backup, const struct store_restored *r)
{
    terminal_print("%s: ", path);
    if (r->aside)
        terminal_print("was no sound history, and is kept as %s", r->kept.data);
    else if (r->was_there)
        print_content("had", &r->before);
    else
        terminal_print("was not there");
    print_content("; now has", &r->now);
    terminal_print(", as %s\n", backup);
}

int history_restore(struct store *store, const struct history_options *o, int argc, char **argv,
                    struct error *err)
{
    struct store_restored restored = { .was_there = false };
    struct strbuf path;

    (void)store;
    if (argc < 2)
        return error_set(err, "harness history restore BACKUP");
    strbuf_init(&path);
    history_path(o->db, &path);
    int rc = store_restore(path.data, argv[1], &restored, err);
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
    struct strbuf path;

    (void)store;
    if (argc < 2)
        return error_set(err, "harness history move NEW");
    strbuf_init(&path);
    history_path(o->db, &path);
    int rc = store_move(path.data, argv[1], err);
    if (rc == 0)
        terminal_print("moved %s to %s\n", path.data, argv[1]);
    strbuf_release(&path);
    return rc;
}
