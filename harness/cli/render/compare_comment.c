/* SPDX-License-Identifier: MIT */
#include "cli/render/compare_comment.h"

#include "cli/render/comment_commands.h"
#include "metrics/run_rows.h"
#include "reporters/comment/comment.h"
#include "session/compare/compare_history.h"
#include "terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>

enum { FORGE_ADDRESS_MAX = 800 };

/* ---- the comment ---- */

const char *compare_comment_option(const struct compare_comment_options *o)
{
    const struct option_given options[] = {
        { "--comment-id", o->id }, { "--link-report", o->report },    { "--link-plots", o->plots },
        { "--images", o->images }, { "--image-base", o->image_base },
    };

    return options_first_given(options, sizeof(options) / sizeof(options[0]));
}

int compare_comment_check(const struct compare_comment_options *o, bool github, struct error *err)
{
    const char *given = compare_comment_option(o);

    if (given && !github)
        return error_set(err, "%s goes with --format github", given);
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

/* Where the forge that this job runs on shows a commit; NULL where it is none. */
static const char *commits_address(char *address, size_t size)
{
    const char *server = getenv("GITHUB_SERVER_URL"), *name = getenv("GITHUB_REPOSITORY");
    const char *project = getenv("CI_PROJECT_URL");
    struct error err;
    int length = 0;

    if (server && name && *name)
        length = snprintf(address, size, "%s/%s/commit/", server, name);
    else if (project && *project)
        length = snprintf(address, size, "%s/-/commit/", project);
    bool fits = length > 0 && (size_t)length < size;
    return fits && comment_check_address("the forge", address, &err) == 0 ? address : NULL;
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
        .explanations = &job->compared->explanations,
    };
}

static void add_comment_picture(const struct compare_comment *job,
                                const struct compare_history *history, struct comment_picture *out)
{
    const struct compared *c = job->compared;
    const char *name = comment_name(job), *folder = job->options->images;
    struct error err;

    if (folder && compare_history_draw_overview(history, &c->comparison, &c->base, name ? name : "",
                                                folder, out, &err))
        terminal_note("harness: the comment lacks its picture: %s\n", err.message);
}

/* The comment is worth more than its decoration: nothing here makes it fail. */
static void add_comment_history(const struct compare_comment *job, struct comment_histories *out,
                                struct comment_picture *picture)
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
    add_comment_picture(job, &history, picture);
    compare_history_release(&history);
}

void compare_comment_write(const struct compare_comment *job, struct strbuf *out)
{
    struct comment_options options = comment_options_of(job);
    char address[FORGE_ADDRESS_MAX];
    struct comment_histories histories = { 0 };
    struct comment_picture picture = { 0 };
    struct comment_commands commands;

    add_comment_history(job, &histories, &picture);
    comment_commands_make(job, &commands);
    options.histories = &histories;
    options.picture = &picture;
    options.commits = commits_address(address, sizeof(address));
    options.commands = commands.items;
    options.nr_commands = commands.nr;
    comment_github(&job->compared->comparison, &options, out);
    comment_picture_release(&picture);
    comment_commands_release(&commands);
    comment_histories_release(&histories);
}

void compare_comment_nothing(const struct compare_comment *job, const char *reason,
                             struct strbuf *out)
{
    struct comment_options options = comment_options_of(job);

    comment_github_nothing(&options, reason, out);
}
