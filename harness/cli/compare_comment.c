/* SPDX-License-Identifier: MIT */
#include "cli/compare_comment.h"

#include "cli/compare_history.h"
#include "cli/terminal.h"
#include "output/comment.h"
#include "output/run_rows.h"

#include <stdio.h>

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
static const char *name_of(const struct compare_comment *job)
{
    const struct records *head = &job->head->records;
    int newest = run_newest(head);

    if (job->options->id)
        return job->options->id;
    if (newest < 0)
        return NULL;
    const struct run *run = &head->runs[newest];
    return run->suite[0] ? run->suite : run->label[0] ? run->label : NULL;
}

static struct comment_options options_of(const struct compare_comment *job)
{
    return (struct comment_options) {
        .name = name_of(job),
        .base_name = job->base->what,
        .head_name = job->head->what,
        .base = &job->base->records,
        .head = &job->head->records,
        .report = job->options->report,
        .plots = job->options->plots,
        .images = job->options->image_base,
    };
}

/* The comment is worth more than its decoration: nothing here makes it fail. */
static void add_history(const struct compare_comment *job, const struct comparison *c,
                        struct comment_histories *out)
{
    struct compare_past past;
    struct error err;
    int rc = compare_past_load(&past, job->store, job->base, job->head, &err);

    if (rc == 0)
        rc = compare_past_series(&past, c, out, &err);
    if (rc == 0 && job->options->images)
        rc = compare_past_draw(&past, job->options->images, out, &err);
    if (rc < 0)
        terminal_note("harness: the comment lacks trends: %s\n", err.message);
    else if (rc > 0)
        terminal_note("harness: --images: %d more trends were not drawn\n", rc);
    compare_past_release(&past);
}

static void add_picture(const struct compare_comment *job, const struct comparison *c,
                        struct comment_picture *out)
{
    const char *name = name_of(job), *folder = job->options->images;
    struct error err;

    if (folder && compare_draw(c, job->base, job->head, name ? name : "", folder, out, &err))
        terminal_note("harness: the comment lacks its picture: %s\n", err.message);
}

void compare_comment_write(const struct compare_comment *job, const struct comparison *c,
                           struct strbuf *out)
{
    struct comment_options options = options_of(job);
    struct comment_histories histories = { 0 };
    struct comment_picture picture = { 0 };
    struct compare_commands commands;

    add_history(job, c, &histories);
    add_picture(job, c, &picture);
    compare_commands_make(job->asked, job->base, job->head, c, &commands);
    options.histories = &histories;
    options.comparison = &picture;
    options.commands = commands.items;
    options.nr_commands = commands.nr;
    comment_github(c, &options, out);
    comment_picture_release(&picture);
    compare_commands_release(&commands);
    comment_histories_release(&histories);
}

void compare_comment_nothing(const struct compare_comment *job, const char *reason,
                             struct strbuf *out)
{
    struct comment_options options = options_of(job);

    comment_github_nothing(&options, reason, out);
}
