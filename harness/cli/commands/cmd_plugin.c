/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "plugin/plugin_new.h"
#include "plugin/registry_join.h"
#include "terminal/terminal.h"

#include <string.h>

struct plugin_options {
    bool cuda;
    const char *like, *output;
};

static const struct command_action actions[] = {
    { "new", "a source to begin with, and how it is built" },
};

enum { NR_ACTIONS = sizeof(actions) / sizeof(actions[0]) };

static const struct command_action *plugin_action_at(size_t i)
{
    return i < NR_ACTIONS ? &actions[i] : NULL;
}

static int write_plugin(const char *name, const struct plugin_options *o, struct error *err)
{
    struct plugin_new what = { .name = name,
                               .folder = o->output ? o->output : ".",
                               .cuda = o->cuda };
    struct strbuf told;

    if (o->like && !(what.like = registry_like(registry_builtin(), o->like, err)))
        return error_prefix(err, "--like");
    strbuf_init(&told);
    int rc = plugin_new(&what, &told, err);
    if (rc == 0)
        rc = output_page(&told, NULL, err);
    strbuf_release(&told);
    return rc ? -1 : EXIT_SAME;
}

extern const struct command cmd_plugin;

static int run_plugin(int argc, char **argv, void *options, struct error *err)
{
    if (argc == 0)
        return error_set(err,
                         "what about plugins? harness plugin new NAME writes one; their "
                         "kernels are in harness list --plugin FILE");
    if (strcmp(argv[0], actions[0].name) != 0)
        return command_no_action(&cmd_plugin, argv[0], err);
    if (argc < 2)
        return error_set(err, "new needs a name: harness plugin new NAME");
    return command_no_more(argc, argv, 2, err) ? -1 : write_plugin(argv[1], options, err);
}

static const struct option_row rows[] = {
    OPTION_ROW("cuda", 0, OPTION_FLAG, struct plugin_options, cuda, NULL,
               "for a GPU: NAME.cu, and the line for nvcc"),
    OPTION_ROW("like", 0, OPTION_STRING, struct plugin_options, like, "KERNEL",
               "a variant of this kernel of harness, such as gemm/nn, with its sizes and checks"),
    OPTION_ROW("output", 'o', OPTION_STRING, struct plugin_options, output, "FOLDER",
               "where to write (default: here)"),
    OPTION_END,
};

const struct command cmd_plugin = {
    .name = "plugin",
    .arguments = "new NAME",
    .summary = "a kernel of your own to begin with: source, CMake, and the lines that build it",
    .details =
        "  harness plugin new mine                        a kernel with its oracle, in C\n"
        "  harness plugin new mine --cuda                 the same for a GPU\n"
        "  harness plugin new mine --cuda --like gemm/nn  beside ours and the vendor's\n"
        "\n"
        "No file is written over.",
    .action = plugin_action_at,
    .options = rows,
    .options_size = sizeof(struct plugin_options),
    .run = run_plugin,
};
