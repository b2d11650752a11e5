/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "cli/shared_options.h"
#include "core/record.h"
#include "machine/environment.h"
#include "terminal/terminal.h"

#include <stdio.h>

struct version_options {
    bool json;
};

static int run_version(int argc, char **argv, void *options, struct error *err)
{
    const struct version_options *o = options;
    struct build b;

    if (command_no_more(argc, argv, 0, err))
        return -1;
    environment_build(&b);
    if (o->json)
        return output_json(build_to_json(&b), NULL, err);
    terminal_print("harness %s\n", b.version);
    if (b.commit[0])
        terminal_print("commit %s%s\n", b.commit, b.dirty ? " with changes" : "");
    terminal_print("built by %s, %s, %s\n", b.compiler, b.build_type, b.flags);
    return EXIT_SAME;
}

static const struct option_row rows[] = {
    JSON_ROW(struct version_options, json),
    OPTION_END,
};

extern const struct command cmd_version;
const struct command cmd_version = {
    .name = "version",
    .arguments = "",
    .summary = "print version, commit, compiler and flags of this build",
    .options = rows,
    .options_size = sizeof(struct version_options),
    .run = run_version,
};
