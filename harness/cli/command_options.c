/* SPDX-License-Identifier: MIT */
#include "cli/command_options.h"

#include "guest/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int command_options_unused(const struct command_options *o, struct error *err)
{
    const struct {
        const char *name;
        bool given;
    } options[] = {
        { "--name", o->name },
        { "--prepare", o->prepare },
        { "--expect", o->expect },
        { "--ignore-status", o->ignore_status },
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (options[i].given)
            return error_set(err, "%s is of a command: harness run %s ... -- COMMAND",
                             options[i].name, options[i].name);
    return 0;
}

static void name_it(const struct command_options *o, struct command_spec *spec)
{
    const char *file = o->argv.argc > 0 ? o->argv.argv[0] : "", *slash = strrchr(file, '/');

    if (o->name)
        snprintf(spec->name, sizeof(spec->name), "%s", o->name);
    else
        name_sanitise(slash ? slash + 1 : file, spec->name, NAME_VARIANT_MAX + 1);
}

int command_options_spec(const struct command_options *o, struct command_spec *spec,
                         struct error *err)
{
    if (o->name && strlen(o->name) >= sizeof(spec->name))
        return error_set(err, "--name: at most %d characters", NAME_VARIANT_MAX);
    if (o->argv.argc == 0)
        return error_set(err, "there is no command behind --");
    for (int i = 0; i < o->argv.argc; i++)
        string_list_add(&spec->argv, o->argv.argv[i]);
    name_it(o, spec);
    spec->prepare = memory_string(o->prepare);
    spec->expect = memory_string(o->expect);
    spec->ignore_status = o->ignore_status;
    return 0;
}
