/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "measure/environment.h"

#include <stdio.h>

static int run(int argc, char **argv, void *options, struct error *err)
{
    struct build b;

    (void)options;
    if (command_no_more(argc, argv, 0, err))
        return -1;
    environment_build(&b);
    printf("harness %s\n", b.version);
    if (b.commit[0])
        printf("commit %s%s\n", b.commit, b.dirty ? " with changes" : "");
    printf("built by %s, %s, %s\n", b.compiler, b.build_type, b.flags);
    return EXIT_SAME;
}

static const struct option_row rows[] = { OPTION_END };

extern const struct command cmd_version;
const struct command cmd_version = {
    .name = "version",
    .arguments = "",
    .summary = "print version, commit, compiler and flags of this build",
    .options = rows,
    .run = run,
};
