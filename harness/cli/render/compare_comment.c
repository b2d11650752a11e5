/* SPDX-License-Identifier: MIT */
#include "cli/render/compare_comment.h"

#include "metrics/run_rows.h"
#include "reporters/comment/comment.h"
#include "session/compare_history.h"
#include "terminal/terminal.h"
#include "text/escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- commands that show it again ---- */

enum { COMPARE_COMMANDS_MAX = 3 };

struct compare_commands {
    struct comment_command items[COMPARE_COMMANDS_MAX]; /* texts owned */
    size_t nr;
};

enum { COMMIT_DIGITS_MIN = 7, COMMIT_DIGITS = 12 };

static void add_command_option(struct strbuf *text, const char *name, const char *value)
{
    strbuf_addf(text, " %s ", name);
    escape_shell(text, value);
}

/* A number is the surest name of a run; a file has none. */
static void add_side_option(struct strbuf *text, const char *name, const struct history_side *side,
                            const char *ref)
{
    if (side->runs.nr == 1)
        strbuf_addf(text, " %s %" PRId64, name, side->runs.ids[0]);
    else if (ref)
        add_command_option(text, name, ref);
}

static void add_delta_options(struct strbuf *text, const struct compare_settings *settings)
{
    static const struct compare_settings usual = COMPARE_DEFAULTS;
    struct strbuf floor;

    if (settings->for_all && settings->delta != usual.delta)
        strbuf_addf(text, " --delta %.6g%%", settings->delta * 100);
    strbuf_init(&floor);
    for (size_t i = 0; i < settings->nr_floors; i++) {
        strbuf_clear(&floor);
        strbuf_addf(&floor, "%s=%.6g%%", settings->floors[i].pattern,
                    settings->floors[i].delta * 100);
        add_command_option(text, "--delta", floor.data);
    }
    strbuf_release(&floor);
}

static void add_comment_command(struct compare_commands *out, const char *what, struct strbuf *text)
{
    out->items[out->nr++] = (struct comment_command) { what, strbuf_detach(text) };
}

static void add_stored_command(const struct compare_request *asked, const struct compared *c,
                               struct compare_commands *out)
{
    struct strbuf text;

    strbuf_init(&text);
    strbuf_adds(&text, "harness compare");
    add_side_option(&text, "--baseline", &c->base, asked->baseline);
    add_side_option(&text, "--head", &c->head, asked->head);
    for (size_t i = 0; i < asked->metrics.nr; i++)
        add_command_option(&text, "--metric", asked->metrics.items[i]);
    add_delta_options(&text, &c->comparison.settings);
    if (asked->q > 0)
        strbuf_addf(&text, " --fdr %.6g", asked->q);
    if (asked->any_machine)
        strbuf_adds(&text, " --any-machine");
    for (size_t i = 0; !compare_request_measures(asked) && i < asked->nr_filters; i++) {
        strbuf_addc(&text, ' ');
        escape_shell(&text, asked->filters[i]);
    }
    add_comment_command(out, "from the same history", &text);
}

/* The commit of all runs of a side; NULL where there is no such, or more was in the tree. */
static const char *clean_commit_of(const struct records *r)
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

static void add_commit_option(struct strbuf *text, const char *name, const char *commit)
{
    strbuf_addf(text, " %s %.*s", name, COMMIT_DIGITS, commit);
}

static void add_key_argument(struct strbuf *text, const struct compare_row *row)
{
    strbuf_addc(text, ' ');
    escape_shell(text, row->item->bench->key);
}

static void add_build_commands(const char *base, const char *head, const struct compare_row *worst,
                               struct compare_commands *out)
{
    struct strbuf text;

    strbuf_init(&text);
    strbuf_adds(&text, "harness compare --build");
    add_commit_option(&text, "--baseline", base);
    add_commit_option(&text, "--head", head);
    add_key_argument(&text, worst);
    add_comment_command(out, "the largest change measured again, both commits built and in turn",
                        &text);
    if (worst->verdict != VERDICT_REGRESSED)
        return;
    strbuf_init(&text);
    strbuf_adds(&text, "harness bisect");
    add_commit_option(&text, "--good", base);
    add_commit_option(&text, "--bad", head);
    add_key_argument(&text, worst);
    add_comment_command(out, "which commit did it", &text);
}

/* The comparison from this history; where both sides are one commit each, measured again from
 * source; and where something got slower, the search for the commit. */
static void make_comment_commands(const struct compare_request *asked, const struct compared *c,
                                  struct compare_commands *out)
{
    const char *from = clean_commit_of(&c->base.records), *to = clean_commit_of(&c->head.records);
    const struct compare_row **changes;
    size_t nr = comment_changes(&c->comparison, &changes);

    *out = (struct compare_commands) { .nr = 0 };
    add_stored_command(asked, c, out);
    if (nr > 0 && from && to && strcmp(from, to) != 0)
        add_build_commands(from, to, changes[0], out);
    free(changes);
}

static void release_comment_commands(struct compare_commands *commands)
{
    for (size_t i = 0; i < commands->nr; i++)
        free((char *)commands->items[i].text);
    commands->nr = 0;
}

/* ---- the comment ---- */

int compare_comment_check(const struct compare_comment_options *o, bool github, struct error *err)
{
    const struct {
        const char *name, *value;
    } rows[] = {
        { "--comment-id", o->id }, { "--link-report", o->report },    { "--link-plots", o->plots },
        { "--images", o->images }, { "--image-base", o->image_base },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].value && !github)
            return error_set(err, "%s goes with --format github", rows[i].name);
    if (o->image_base && !o->images)
        return error_set(err,
                         "--image-base says where the pictures of --images FOLDER will be "
                         "seen; give both");
    if (comment_check_address("--link-report", o->report, err) ||
        comment_check_address("--link-plots", o->plots, err))
        return -1;
    return comment_check_address("--image-base", o->image_base, err);
}

/* What the comment is found by again: the same for every head of a suite. */
static const char *comment_name(const struct compare_comment *job)
{
    const struct records *head = &job->compared->head.records;
    int newest = run_newest(head);

    if (job->options->id)
        return job->options->id;
    if (newest < 0)
        return NULL;
    const struct run *run = &head->runs[newest];
    return run->suite[0] ? run->suite : run->label[0] ? run->label : NULL;
}

static struct comment_options comment_options_of(const struct compare_comment *job)
{
    return (struct comment_options) {
        .name = comment_name(job),
        .base_name = job->compared->base.what,
        .head_name = job->compared->head.what,
        .base = &job->compared->base.records,
        .head = &job->compared->head.records,
        .report = job->options->report,
        .plots = job->options->plots,
        .images = job->options->image_base,
    };
}

/* The comment is worth more than its decoration: nothing here makes it fail. */
static void add_comment_history(const struct compare_comment *job, struct comment_histories *out)
{
    const struct compared *c = job->compared;
    struct compare_history history;
    struct error err;
    int rc = compare_history_load(&history, c->store, &c->base, &c->head, &err);

    if (rc == 0)
        rc = compare_history_series(&history, &c->comparison, out, &err);
    if (rc == 0 && job->options->images)
        rc = compare_history_draw(&history, job->options->images, out, &err);
    if (rc < 0)
        terminal_note("harness: the comment lacks trends: %s\n", err.message);
    else if (rc > 0)
        terminal_note("harness: --images: %d more trends were not drawn\n", rc);
    compare_history_release(&history);
}

static void add_comment_picture(const struct compare_comment *job, struct comment_picture *out)
{
    const struct compared *c = job->compared;
    const char *name = comment_name(job), *folder = job->options->images;
    struct error err;

    if (folder && compare_history_draw_comparison(&c->comparison, &c->base, &c->head,
                                                  name ? name : "", folder, out, &err))
        terminal_note("harness: the comment lacks its picture: %s\n", err.message);
}

void compare_comment_write(const struct compare_comment *job, struct strbuf *out)
{
    struct comment_options options = comment_options_of(job);
    struct comment_histories histories = { 0 };
    struct comment_picture picture = { 0 };
    struct compare_commands commands;

    add_comment_history(job, &histories);
    add_comment_picture(job, &picture);
    make_comment_commands(job->request, job->compared, &commands);
    options.histories = &histories;
    options.comparison = &picture;
    options.commands = commands.items;
    options.nr_commands = commands.nr;
    comment_github(&job->compared->comparison, &options, out);
    comment_picture_release(&picture);
    release_comment_commands(&commands);
    comment_histories_release(&histories);
}

void compare_comment_nothing(const struct compare_comment *job, const char *reason,
                             struct strbuf *out)
{
    struct comment_options options = comment_options_of(job);

    comment_github_nothing(&options, reason, out);
}
