/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include <stdio.h>

static void print_commands(void)
{
    printf(
        "usage: harness COMMAND [OPTION...] [ARGUMENT...]\n\n"
        "Measures GPU and CPU kernels and the GPT forward passes built from them, keeps a\n"
        "history, and says whether something got slower.\n\ncommands:\n");
    for (const struct command *const *c = command_all(); *c; c++)
        if (!(*c)->hidden)
            printf("  %-10s %s\n", (*c)->name, (*c)->summary);
    printf(
        "\n`harness help COMMAND` tells more.\n"
        "exit status: 0 no regression, 1 regression or a wrong result, 2 usage or failure,\n"
        "             77 cannot tell or nothing to compare with\n");
}

static void print_command(const struct command *c)
{
    struct strbuf options;

    printf("usage: harness %s [OPTION...]%s%s\n\n%s\n", c->name, *c->arguments ? " " : "",
           c->arguments, c->summary);
    if (c->details)
        printf("\n%s\n", c->details);
    strbuf_init(&options);
    options_help(c->options, &options);
    if (options.length)
        printf("\noptions:\n%s", options.data);
    strbuf_release(&options);
}

static int run(int argc, char **argv, void *options, struct error *err)
{
    (void)options;
    if (command_no_more(argc, argv, 1, err))
        return -1;
    if (argc == 0) {
        print_commands();
        return EXIT_SAME;
    }
    const struct command *c = command_find(argv[0], err);
    if (!c)
        return -1;
    print_command(c);
    return EXIT_SAME;
}

static const struct option_row rows[] = { OPTION_END };

extern const struct command cmd_help;
const struct command cmd_help = {
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "tell about the program or a command",
    .options = rows,
    .run = run,
};
