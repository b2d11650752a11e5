/* SPDX-License-Identifier: MIT */
/* The child's side of a launch, see launch/launch.h. Not for people. */
#include "cli/command.h"

#include "core/registry.h"
#include "launch/launch.h"

static int run_internal_launch(int argc, char **argv, void *options, struct error *err)
{
    (void)argc;
    (void)argv;
    (void)options;
    return launch_serve(registry_builtin(), err) ? -1 : EXIT_SAME;
}

static const struct option_row rows[] = { OPTION_END };

extern const struct command cmd_internal_launch;
const struct command cmd_internal_launch = {
    .name = "internal-launch",
    .arguments = "",
    .summary = "measure a job given on standard input (started by the harness itself)",
    .options = rows,
    .run = run_internal_launch,
    .hidden = true,
};
