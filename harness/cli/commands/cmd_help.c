/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "cli/help/completion.h"
#include "cli/help/manual.h"
#include "cli/variables.h"
#include "terminal/terminal.h"
#include "text/wrap.h"

#include <stdio.h>
#include <string.h>

struct help_options {
    bool manual;
    const char *shell;
};

static void add_program_help(struct strbuf *page)
{
    strbuf_addf(page, "usage: harness COMMAND [OPTION...] [ARGUMENT...]\n\n%s\ncommands:\n",
                manual_purpose);
    for (const struct command *const *c = command_all(); *c; c++)
        if (!(*c)->hidden)
            strbuf_addf(page, "  %-10s %s\n", (*c)->name, (*c)->summary);
    strbuf_addf(page, "\n`harness help COMMAND` tells more.\n%s", manual_statuses);
}

/* On a terminal its paragraphs are as wide as they may be, and can be read with ease. */
static void add_details(const char *details, struct strbuf *page)
{
    enum { EASY = 88 };
    size_t width = terminal_width();
    struct strbuf joined;

    strbuf_init(&joined);
    if (width)
        wrap_join(details, &joined);
    else
        strbuf_adds(&joined, details);
    strbuf_addc(page, '\n');
    wrap_text(joined.data, width < EASY ? width : EASY, page);
    strbuf_addc(page, '\n');
    strbuf_release(&joined);
}

static void add_actions(const struct command *c, struct strbuf *page)
{
    strbuf_adds(page, "\nactions:\n");
    for (size_t i = 0; c->action(i); i++)
        strbuf_addf(page, "  %-10s %s\n", c->action(i)->name, c->action(i)->summary);
}

static void add_command_help(const struct command *c, struct strbuf *page)
{
    struct strbuf options;

    strbuf_addf(page, "usage: harness %s [OPTION...]%s%s\n\n%s\n", c->name,
                *c->arguments ? " " : "", c->arguments, c->summary);
    if (c->action)
        add_actions(c, page);
    if (c->details)
        add_details(c->details, page);
    strbuf_init(&options);
    options_help(c->options, &options);
    if (options.length)
        strbuf_addf(page, "\noptions:\n%s", options.data);
    strbuf_release(&options);
}

static int print_help(const struct command *c, bool manual, struct error *err)
{
    struct strbuf page;
    int rc;

    strbuf_init(&page);
    if (manual)
        manual_page(c, &page);
    else if (c)
        add_command_help(c, &page);
    else
        add_program_help(&page);
    rc = manual ? output_text(&page, NULL, err) : output_page(&page, NULL, err);
    strbuf_release(&page);
    return rc;
}

static int print_variables(struct error *err)
{
    struct strbuf text;

    strbuf_init(&text);
    variables_print(&text);
    int rc = output_page(&text, NULL, err);
    strbuf_release(&text);
    return rc;
}

static int print_completion_file(const struct help_options *o, int argc, char **argv,
                                 struct error *err)
{
    struct strbuf text;

    if (o->manual)
        return error_set(err, "--man and --completion: one of the two");
    if (command_no_more(argc, argv, 0, err))
        return -1;
    strbuf_init(&text);
    int rc = completion_write(o->shell, &text, err);
    if (rc == 0)
        fputs(text.data, stdout);
    strbuf_release(&text);
    return rc;
}

static int run_help(int argc, char **argv, void *options, struct error *err)
{
    const struct help_options *o = options;
    const struct command *c = NULL;

    if (o->shell)
        return print_completion_file(o, argc, argv, err);
    if (command_no_more(argc, argv, 1, err))
        return -1;
    if (argc > 0 && strcmp(argv[0], "environment") == 0 && !o->manual)
        return print_variables(err);
    if (argc > 0 && !(c = command_find(argv[0], err)))
        return -1;
    return print_help(c, o->manual, err);
}

static const struct option_row rows[] = {
    OPTION_ROW("man", 0, OPTION_FLAG, struct help_options, manual, NULL,
               "the manual page, for man -l or to install"),
    OPTION_ROW("completion", 0, OPTION_STRING, struct help_options, shell, "bash,zsh,fish",
               "the completion file of a shell"),
    OPTION_END,
};

extern const struct command cmd_help;
const struct command cmd_help = {
    .name = "help",
    .arguments = "[COMMAND|environment]",
    .summary = "tell about the program or a command",
    .details =
        "  harness help run\n"
        "  harness help environment\n"
        "  harness help run --man | man -l -\n"
        "  source <(harness help --completion bash)",
    .options = rows,
    .options_size = sizeof(struct help_options),
    .run = run_help,
};
