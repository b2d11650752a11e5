/* SPDX-License-Identifier: MIT */
/* The child's side of a launch, see launch/launch.h, or of a judge's cell, see judge/cell.h. Not
 * for people. */
#include "cli/command.h"

#include "core/registry.h"
#include "judge/cell.h"
#include "launch/launch.h"

#include <string.h>

static int run_internal_launch(int argc, char **argv, void *options, struct error *err)
{
    (void)options;
    if (argc == 1 && strcmp(argv[0], "cell") == 0)
        return cell_serve(registry_builtin(), err) ? -1 : EXIT_SAME;
    return launch_serve(registry_builtin(), err) ? -1 : EXIT_SAME;
}

static const struct option_row rows[] = { OPTION_END };

extern const struct command cmd_internal_launch;
const struct command cmd_internal_launch = {
    .name = "internal-launch",
    .arguments = "[cell]",
    .summary = "measure a job given on standard input (started by the harness itself)",
    .options = rows,
    .run = run_internal_launch,
    .hidden = true,
};
