/* SPDX-License-Identifier: MIT */
#include "cli/compare_commands.h"

#include "output/escape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { COMMIT_DIGITS_MIN = 7, COMMIT_DIGITS = 12 };

static void add_option(struct strbuf *text, const char *name, const char *value)
{
    strbuf_addf(text, " %s ", name);
    escape_shell(text, value);
}

/* A number is the surest name of a run; a file has none. */
static void add_side(struct strbuf *text, const char *name, const struct history_side *side,
                     const char *ref)
{
    if (side->runs.nr == 1)
        strbuf_addf(text, " %s %" PRId64, name, side->runs.ids[0]);
    else if (ref)
        add_option(text, name, ref);
}

static void add_list(struct strbuf *text, const char *name, const struct string_list *list)
{
    for (size_t i = 0; list && i < list->nr; i++)
        add_option(text, name, list->items[i]);
}

static void add_floors(struct strbuf *text, const struct compare_settings *settings)
{
    static const struct compare_settings usual = COMPARE_DEFAULTS;
    struct strbuf floor;

    if (settings->delta != usual.delta)
        strbuf_addf(text, " --delta %.6g%%", settings->delta * 100);
    strbuf_init(&floor);
    for (size_t i = 0; i < settings->nr_floors; i++) {
        strbuf_clear(&floor);
        strbuf_addf(&floor, "%s=%.6g%%", settings->floors[i].pattern,
                    settings->floors[i].delta * 100);
        add_option(text, "--delta", floor.data);
    }
    strbuf_release(&floor);
}

static void add(struct compare_commands *out, const char *what, struct strbuf *text)
{
    out->items[out->nr++] = (struct comment_command) { what, strbuf_detach(text) };
}

static void add_stored(const struct compare_asked *asked, const struct history_side *base,
                       const struct history_side *head, const struct comparison *c,
                       struct compare_commands *out)
{
    struct strbuf text;

    strbuf_init(&text);
    strbuf_adds(&text, "harness compare");
    add_side(&text, "--baseline", base, asked->baseline);
    add_side(&text, "--head", head, asked->head);
    add_list(&text, "--metric", asked->metrics);
    add_floors(&text, &c->settings);
    if (asked->q > 0)
        strbuf_addf(&text, " --fdr %.6g", asked->q);
    if (asked->any_machine)
        strbuf_adds(&text, " --any-machine");
    for (size_t i = 0; i < asked->nr_filters; i++) {
        strbuf_addc(&text, ' ');
        escape_shell(&text, asked->filters[i]);
    }
    add(out, "from the same history", &text);
}

/* The commit of all runs of a side; NULL where there is no such, or more was in the tree. */
static const char *commit_of(const struct records *r)
{
    for (size_t i = 0; i < r->nr_runs; i++) {
        const struct build *b = &r->runs[i].build;
        size_t digits = strspn(b->commit, "0123456789abcdef");
        if (b->dirty || digits < COMMIT_DIGITS_MIN || b->commit[digits] ||
            strcmp(b->commit, r->runs[0].build.commit) != 0)
            return NULL;
    }
    return r->nr_runs ? r->runs[0].build.commit : NULL;
}

static void add_commit(struct strbuf *text, const char *name, const char *commit)
{
    strbuf_addf(text, " %s %.*s", name, COMMIT_DIGITS, commit);
}

static void add_key(struct strbuf *text, const struct compare_row *row)
{
    strbuf_addc(text, ' ');
    escape_shell(text, row->item->bench->key);
}

static void add_built(const char *base, const char *head, const struct compare_row *worst,
                      struct compare_commands *out)
{
    struct strbuf text;

    strbuf_init(&text);
    strbuf_adds(&text, "harness compare --build");
    add_commit(&text, "--baseline", base);
    add_commit(&text, "--head", head);
    add_key(&text, worst);
    add(out, "the largest change measured again, both commits built and in turn", &text);
    if (worst->verdict != VERDICT_REGRESSED)
        return;
    strbuf_init(&text);
    strbuf_adds(&text, "harness bisect");
    add_commit(&text, "--good", base);
    add_commit(&text, "--bad", head);
    add_key(&text, worst);
    add(out, "which commit did it", &text);
}

void compare_commands_make(const struct compare_asked *asked, const struct history_side *base,
                           const struct history_side *head, const struct comparison *c,
                           struct compare_commands *out)
{
    const char *from = commit_of(&base->records), *to = commit_of(&head->records);
    const struct compare_row **changes;
    size_t nr = comment_changes(c, &changes);

    *out = (struct compare_commands) { .nr = 0 };
    add_stored(asked, base, head, c, out);
    if (nr > 0 && from && to && strcmp(from, to) != 0)
        add_built(from, to, changes[0], out);
    free(changes);
}

void compare_commands_release(struct compare_commands *commands)
{
    for (size_t i = 0; i < commands->nr; i++)
        free((char *)commands->items[i].text);
    commands->nr = 0;
}
