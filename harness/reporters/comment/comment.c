/* SPDX-License-Identifier: MIT */
#include "reporters/comment/comment.h"

#include "base/memory.h"
#include "base/text.h"
#include "metrics/label.h"
#include "reporters/comment/comment_parts.h"
#include "reporters/compare_words.h"
#include "reporters/explain_report.h"
#include "text/escape.h"
#include "text/table.h"
#include "verdict/differences.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ADDRESS_MAX = 1000, NAME_SHOWN = 64, COMMAND_MAX = 1500 };

static const struct comment_level levels[] = {
    { true, true, ROWS_ALL, SIZE_MAX, 20 },
    { false, true, ROWS_ALL, SIZE_MAX, 20 },
    { false, true, ROWS_NOT_SAME, SIZE_MAX, 20 },
    { false, true, ROWS_NONE, 200, 20 },
    { false, true, ROWS_NONE, 50, 10 },
    { false, false, ROWS_NONE, 10, 4 },
    { false, false, ROWS_NONE, 0, 0 },
};
enum { LEVELS = sizeof(levels) / sizeof(levels[0]) };

void comment_picture_release(struct comment_picture *picture)
{
    free(picture->file);
    free(picture->description);
    *picture = (struct comment_picture) { 0 };
}

void comment_histories_release(struct comment_histories *histories)
{
    for (size_t i = 0; i < histories->nr; i++) {
        free(histories->items[i].values);
        comment_picture_release(&histories->items[i].picture);
    }
    free(histories->items);
    *histories = (struct comment_histories) { 0 };
}

int comment_check_address(const char *what, const char *address, struct error *err)
{
    if (!address)
        return 0;
    if (strncmp(address, "https://", 8) != 0 && strncmp(address, "http://", 7) != 0)
        return error_set(err, "%s: \"%.100s\" does not begin with https:// or http://", what,
                         address);
    if (strlen(address) >= ADDRESS_MAX)
        return error_set(err, "%s: an address of %zu characters; less than %d are taken", what,
                         strlen(address), ADDRESS_MAX);
    return 0;
}

/* Not accepted before accepted, slower before faster, then the larger change. */
static int order_changes(const void *x, const void *y)
{
    const struct compare_row *const *a = x, *const *b = y;
    int rank_a = ((*a)->verdict == VERDICT_IMPROVED) * 2 + ((*a)->accepted != NULL);
    int rank_b = ((*b)->verdict == VERDICT_IMPROVED) * 2 + ((*b)->accepted != NULL);
    double size_a = fabs(log1p((*a)->change)), size_b = fabs(log1p((*b)->change));

    if (rank_a != rank_b)
        return rank_a - rank_b;
    if (size_a != size_b)
        return size_a < size_b ? 1 : -1;
    return (*a > *b) - (*a < *b); /* rows of one array */
}

size_t comment_changes(const struct comparison *c, const struct compare_row ***rows)
{
    size_t nr = 0;

    *rows = memory_zeroed(c->nr + 1, sizeof(**rows));
    for (size_t i = 0; i < c->nr; i++)
        if (c->rows[i].verdict == VERDICT_REGRESSED || c->rows[i].verdict == VERDICT_IMPROVED)
            (*rows)[nr++] = &c->rows[i];
    qsort(*rows, nr, sizeof(**rows), order_changes);
    return nr;
}

/* Nothing in it may end the HTML comment. */
static void add_marker(const char *name, struct strbuf *out)
{
    bool dash = false;

    strbuf_adds(out, "<!-- harness:");
    for (size_t i = 0; i < NAME_SHOWN && name[i]; i++) {
        bool plain = isalnum((unsigned char)name[i]) || strchr("._", name[i]);
        if (plain || !dash)
            strbuf_addc(out, plain ? name[i] : '-');
        dash = !plain;
    }
    strbuf_adds(out, " -->\n");
}

static void add_picture(const struct comment *k, const struct comment_picture *picture)
{
    strbuf_adds(k->out, "![");
    escape_markdown(k->out, picture->description ? picture->description : "picture");
    strbuf_adds(k->out, "](");
    comment_address(k, k->o->images);
    strbuf_adds(k->out, k->o->images[strlen(k->o->images) - 1] == '/' ? "" : "/");
    comment_address(k, picture->file);
    strbuf_adds(k->out, ")\n");
}

static void comment_picture(const struct comment *k)
{
    if (!comment_is_shown(k, k->o->picture))
        return;
    add_picture(k, k->o->picture);
    strbuf_addc(k->out, '\n');
}

static void comment_pictures(const struct comment *k)
{
    const struct comment_histories *h = k->o->histories;
    size_t nr = 0, shown = 0;

    for (size_t i = 0; h && i < h->nr; i++)
        nr += comment_is_shown(k, &h->items[i].picture);
    if (nr == 0)
        return;
    comment_open(k, "Trends of %zu benchmark%s as pictures", nr, nr == 1 ? "" : "s");
    for (size_t i = 0; i < h->nr; i++) {
        if (!comment_is_shown(k, &h->items[i].picture))
            continue;
        add_picture(k, &h->items[i].picture);
        strbuf_adds(k->out, ++shown < nr ? "\n" : "");
    }
    comment_close(k);
}

/* The first cause stands on the fold, so that it is read without opening it. */
static void comment_why(const struct comment *k)
{
    const struct explanations *why = k->o->explanations;
    size_t most = k->level->changes < k->level->broken ? k->level->changes : k->level->broken;
    struct strbuf first;

    if (!why || why->items.nr == 0 || most == 0)
        return;
    strbuf_init(&first);
    explain_cause_words(&why->items.items[0].causes.items[0], &first);
    strbuf_adds(k->out, "<details><summary>Why it got slower: ");
    escape_markdown(k->out, first.data);
    strbuf_adds(k->out, "</summary>\n\n");
    explain_markdown(why, most, k->out);
    comment_close(k);
    strbuf_release(&first);
}

/* ---- how it was measured ---- */

static void add_fact(struct strbuf *out, const char *name, const char *value)
{
    if (!value[0])
        return;
    strbuf_addf(out, ", %s ", name);
    escape_markdown(out, value);
}

/* "- Base: 3 runs, the newest of TIME, commit ..., on CPU" */
static void add_environment_side(const struct comment *k, const char *name,
                                 const struct records *records, const struct run *run)
{
    char when[TEXT_UNIT_SIZE];

    strbuf_addf(k->out, "- %s: %zu run%s of %s", name, records->nr_runs,
                records->nr_runs == 1 ? "" : "s, the newest",
                text_timestamp(run->started_ms, when));
    add_fact(k->out, "suite", run->suite);
    add_fact(k->out, "label", run->label);
    add_fact(k->out, "commit", run->build.commit);
    if (run->build.dirty)
        strbuf_adds(k->out, " with uncommitted changes");
    add_fact(k->out, "branch", run->build.branch);
    add_fact(k->out, "on", run->machine.cpu);
    add_fact(k->out, "and", run->machine.gpu);
    add_fact(k->out, "built by", run->build.compiler);
    add_fact(k->out, "with", run->build.flags);
    strbuf_addc(k->out, '\n');
}

static void add_environment_differences(const struct comment *k, const struct run *base,
                                        const struct run *head)
{
    static const struct table_column columns[] = {
        { .title = "what differs" },
        { .title = "base" },
        { .title = "head" },
    };
    struct differences d;
    struct table t;

    differences_find(base, head, &d);
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < d.nr; i++) {
        if (d.items[i].weather)
            continue;
        table_row(&t);
        table_cell(&t, TABLE_PLAIN, "%.100s", d.items[i].name);
        table_cell(&t, TABLE_PLAIN, "%.300s", d.items[i].base ? d.items[i].base : "(not told)");
        table_cell(&t, TABLE_PLAIN, "%.300s", d.items[i].head ? d.items[i].head : "(not told)");
    }
    strbuf_addc(k->out, '\n');
    if (t.nr)
        table_markdown(&t, k->out);
    else
        strbuf_adds(k->out, "Machine, build, environment and settings are the same.\n");
    table_release(&t);
    differences_release(&d);
}

/* Where and how both sides were measured, and what differs. */
static void comment_environment(const struct comment *k)
{
    const struct run *base = comment_newest(k->o->base), *head = comment_newest(k->o->head);

    if (!k->level->environment || (!base && !head && k->c->nr_notes == 0))
        return;
    comment_open(k, "How it was measured, and what differs");
    if (base)
        add_environment_side(k, "Base", k->o->base, base);
    if (head)
        add_environment_side(k, "Head", k->o->head, head);
    if (base && head)
        add_environment_differences(k, base, head);
    for (size_t i = 0; i < k->c->nr_notes; i++) {
        strbuf_adds(k->out, i ? "- " : base || head ? "\n- " : "- ");
        escape_markdown(k->out, k->c->notes[i]);
        strbuf_addc(k->out, '\n');
    }
    comment_close(k);
}

/* ---- its end ---- */

static void add_commands(const struct comment *k)
{
    size_t nr = 0;

    for (size_t i = 0; i < k->o->nr_commands; i++) {
        const struct comment_command *command = &k->o->commands[i];
        if (strlen(command->text) > COMMAND_MAX)
            continue;
        if (nr++ == 0)
            strbuf_adds(k->out, "The same on your machine:\n\n```sh\n");
        strbuf_addf(k->out, "# %s\n%s\n", command->what, command->text);
    }
    if (nr)
        strbuf_adds(k->out, "```\n\n");
}

static void add_links(const struct comment *k)
{
    if (k->o->report)
        comment_link(k, "Report", k->o->report);
    if (k->o->report && k->o->plots)
        strbuf_adds(k->out, " · ");
    if (k->o->plots)
        comment_link(k, "Plots", k->o->plots);
    if (k->o->report || k->o->plots)
        strbuf_adds(k->out, "\n\n");
}

/* "60 rows that are the same", with a comma before all but the first. */
static void add_omission(struct strbuf *out, size_t nr, const char *what)
{
    if (nr == 0)
        return;
    strbuf_adds(out, out->length ? ", " : "");
    if (nr == SIZE_MAX)
        strbuf_adds(out, what);
    else
        strbuf_addf(out, "%zu %s", nr, what);
}

static void add_omissions(const struct comment *k)
{
    const struct comment_level *l = k->level;
    size_t same = k->c->count[VERDICT_SAME], shown = k->nr_changes;
    struct strbuf what;

    if (l == &levels[0])
        return;
    if (l->changes < shown)
        shown = l->changes;
    strbuf_init(&what);
    add_omission(&what, SIZE_MAX, "charts");
    if (l->rows == ROWS_NOT_SAME)
        add_omission(&what, same, same == 1 ? "row that is the same" : "rows that are the same");
    if (l->rows == ROWS_NONE)
        add_omission(&what, SIZE_MAX, "the list of all rows");
    add_omission(&what, k->nr_changes - shown, "of what got slower or faster");
    if (!l->environment)
        add_omission(&what, SIZE_MAX, "what differs between the sides");
    strbuf_addf(k->out, "Left out to stay below %d bytes: %s.%s\n\n", COMMENT_LIMIT, what.data,
                k->o->report ? " The report has it all." : "");
    strbuf_release(&what);
}

static void add_end(const struct comment *k)
{
    add_omissions(k);
    add_commands(k);
    add_links(k);
    while (k->out->length > 1 && k->out->data[k->out->length - 2] == '\n')
        k->out->data[--k->out->length] = '\0';
}

static void write_comment(const struct comment *k)
{
    add_marker(k->o->name ? k->o->name : "compare", k->out);
    comment_verdict(k);
    comment_broken(k);
    comment_table(k);
    comment_why(k);
    comment_picture(k);
    comment_trend(k);
    comment_all_rows(k);
    comment_pictures(k);
    comment_environment(k);
    add_end(k);
}

void comment_github(const struct comparison *c, const struct comment_options *options,
                    struct strbuf *out)
{
    struct strbuf text;
    struct comment k = { .c = c, .o = options, .labels = compare_labels(c), .out = &text };

    k.nr_changes = comment_changes(c, &k.changes);
    strbuf_init(&text);
    for (size_t i = 0; i < LEVELS && (i == 0 || text.length > COMMENT_LIMIT); i++) {
        strbuf_clear(&text);
        k.level = &levels[i];
        write_comment(&k);
    }
    strbuf_add(out, text.data, text.length);
    strbuf_release(&text);
    labels_free(k.labels, c->nr);
    free(k.changes);
}

void comment_github_nothing(const struct comment_options *options, const char *reason,
                            struct strbuf *out)
{
    struct comparison none = { 0 };
    struct comment k = { .c = &none, .o = options, .level = &levels[0], .out = out };

    add_marker(options->name ? options->name : "compare", out);
    strbuf_adds(out, "### ? Nothing to compare with\n\n");
    escape_markdown(out, reason);
    strbuf_adds(out, "\n\n");
    add_end(&k);
}
