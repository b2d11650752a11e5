/* SPDX-License-Identifier: MIT */
#include "cli/help/completion_base.h"

/* In single quotes, where a backslash and a quote need a backslash. */
static void add_fish_quoted(struct strbuf *out, const char *text)
{
    strbuf_addc(out, '\'');
    for (; *text; text++)
        strbuf_addf(out, "%s%c", *text == '\'' || *text == '\\' ? "\\" : "", *text);
    strbuf_addc(out, '\'');
}

/* How the value is found; -x wants one and offers no files. */
static void add_fish_values(struct strbuf *out, const struct completion *c, const char *exclusive)
{
    switch (c->kind) {
    case COMPLETION_NOTHING:
        strbuf_adds(out, exclusive);
        break;
    case COMPLETION_FILES:
        strbuf_addf(out, "%s -F", *exclusive ? " -r" : "");
        break;
    case COMPLETION_FOLDERS:
        strbuf_addf(out, "%s -a '(__fish_complete_directories)'", exclusive);
        break;
    case COMPLETION_WORDS:
        strbuf_addf(out, "%s -a '%s'", exclusive, c->words);
        break;
    case COMPLETION_EITHER:
        strbuf_addf(out, " -F -a '(__harness_names %s)'", c->words);
        break;
    case COMPLETION_NAMES:
        strbuf_addf(out, "%s -a '(__harness_names %s)'", exclusive, c->words);
        break;
    }
}

static void add_fish_condition(struct strbuf *out, const struct command *command)
{
    strbuf_addf(out, "complete -c harness -n '__harness_command %s'", command->name);
}

/* Not behind an action that lacks the option. */
static void add_fish_option_condition(struct strbuf *out, const struct command *command,
                                      const struct option_row *row)
{
    const char *owners = completion_owners(command, row);

    if (!owners) {
        add_fish_condition(out, command);
        return;
    }
    strbuf_addf(out,
                "complete -c harness -n '__harness_command %s; and not "
                "__fish_seen_subcommand_from",
                command->name);
    completion_add_owners(out, command, owners, false, ' ');
    strbuf_addc(out, '\'');
}

static void add_fish_option(struct strbuf *out, const struct command *command,
                            const struct option_row *row)
{
    struct completion c = completion_of_option(row);

    add_fish_option_condition(out, command, row);
    if (row->letter)
        strbuf_addf(out, " -s %c", row->letter);
    strbuf_addf(out, " -l %s", row->name);
    if (row->argument)
        add_fish_values(out, &c, " -x");
    strbuf_adds(out, " -d ");
    add_fish_quoted(out, row->help);
    strbuf_addc(out, '\n');
}

/* Each with what it is; behind one of them, what it may be asked for. */
static void add_fish_actions(struct strbuf *out, const struct command *command)
{
    struct completion c = completion_behind_action(command);
    struct strbuf names;

    strbuf_init(&names);
    for (size_t i = 0; command->action(i); i++)
        strbuf_addf(&names, " %s", command->action(i)->name);
    for (size_t i = 0; command->action(i); i++) {
        strbuf_addf(out,
                    "complete -c harness -n '__harness_command %s; and not "
                    "__fish_seen_subcommand_from%s' -a %s -d ",
                    command->name, names.data, command->action(i)->name);
        add_fish_quoted(out, command->action(i)->summary);
        strbuf_addc(out, '\n');
    }
    if (c.kind != COMPLETION_NOTHING) {
        strbuf_addf(out,
                    "complete -c harness -n '__harness_command %s; and "
                    "__fish_seen_subcommand_from%s'",
                    command->name, names.data);
        add_fish_values(out, &c, "");
        strbuf_addc(out, '\n');
    }
    strbuf_release(&names);
}

static void add_fish_command(struct strbuf *out, const struct command *command)
{
    struct completion c = completion_of_arguments(command);

    strbuf_addf(out, "complete -c harness -n __fish_use_subcommand -a %s -d ", command->name);
    add_fish_quoted(out, command->summary);
    strbuf_addc(out, '\n');
    for (const struct option_row *row = command->options; row->name; row++)
        if (completion_has_name(row))
            add_fish_option(out, command, row);
    if (command->action)
        add_fish_actions(out, command);
    if (command->action || c.kind == COMPLETION_NOTHING)
        return;
    add_fish_condition(out, command);
    add_fish_values(out, &c, "");
    strbuf_addc(out, '\n');
}

void completion_fish(struct strbuf *out)
{
    strbuf_adds(out, "# fish completion for harness: `harness help --completion fish`.\n\n");
    strbuf_adds(out,
                "# one a line, and fish quotes what it inserts\n"
                "function __harness_names\n"
                "    if test $argv[1] = baselines\n"
                "        harness baseline list --names 2>/dev/null\n"
                "    else\n"
                "        harness list $argv[1] --names 2>/dev/null\n"
                "    end\n"
                "end\n\n"
                "# the command is the first word: an action may be called as another command is\n"
                "function __harness_command\n"
                "    set -l words (commandline -opc)\n"
                "    test (count $words) -gt 1; and test $words[2] = $argv[1]\n"
                "end\n\ncomplete -c harness -f\n");
    for (const struct command *const *c = command_all(); *c; c++)
        if (!(*c)->hidden)
            add_fish_command(out, *c);
}
