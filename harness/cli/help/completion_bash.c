/* SPDX-License-Identifier: MIT */
#include "cli/help/completion_base.h"

#include "base/text.h"

/* What is the same whatever commands there are. `word` is the caller's. */
static void add_bash_helpers(struct strbuf *out)
{
    strbuf_adds(out,
                "# bash completion for harness: `harness help --completion bash`.\n\n"
                "_harness_names()\n"
                "{\n"
                "    if [ \"$1\" = baselines ]; then\n"
                "        \"${COMP_WORDS[0]}\" baseline list --names 2>/dev/null\n"
                "    else\n"
                "        \"${COMP_WORDS[0]}\" list \"$1\" --names 2>/dev/null\n"
                "    fi\n"
                "}\n\n");
    strbuf_adds(
        out,
        "# _harness_offer NAME...: those that begin with the word; of a list with commas\n"
        "# the last item counts. A name is a stranger's text: nothing may expand it now or\n"
        "# at Enter, so it is compared here (compgen -W would expand) and quoted. Inside\n"
        "# quotes that are open only names without special characters are offered.\n"
        "_harness_offer()\n"
        "{\n"
        "    local name quoted before= last=$word open=\n"
        "    [[ $last != [\\\"\\']* ]] || open=yes last=${last:1}\n"
        "    [[ $last != *,* ]] || before=${last%,*}, last=${last##*,}\n"
        "    for name in \"$@\"; do\n"
        "        printf -v quoted %q \"$name\"\n"
        "        [[ -z $open || $quoted == \"$name\" ]] || continue\n"
        "        if [[ $name == \"$last\"* || $quoted == \"$last\"* ]]; then\n"
        "            COMPREPLY+=(\"$before$quoted\")\n"
        "        fi\n"
        "    done\n"
        "}\n\n"
        "# _harness_reply KIND [WORD...]\n"
        "_harness_reply()\n"
        "{\n"
        "    local kind=$1 names\n"
        "    shift\n"
        "    case $kind in\n"
        "    files | folders)\n"
        "        compopt -o filenames 2>/dev/null\n"
        "        [ \"$kind\" = files ] && kind=-f || kind=-d\n"
        "        mapfile -t COMPREPLY < <(compgen \"$kind\" -- \"$word\")\n"
        "        ;;\n"
        "    names)\n"
        "        mapfile -t names < <(_harness_names \"$1\")\n"
        "        _harness_offer \"${names[@]}\"\n"
        "        ;;\n"
        "    either)\n"
        "        [[ $word == [./]* ]] && set -- files || set -- names \"$1\"\n"
        "        _harness_reply \"$@\"\n"
        "        ;;\n"
        "    words) _harness_offer \"$@\" ;;\n"
        "    esac\n"
        "}\n\n");
}

/* "words a b", as _harness_reply takes it. */
static void add_bash_reply(struct strbuf *out, const struct completion *c)
{
    static const char *const kinds[] = {
        [COMPLETION_NOTHING] = "words",   [COMPLETION_FILES] = "files",
        [COMPLETION_FOLDERS] = "folders", [COMPLETION_WORDS] = "words",
        [COMPLETION_NAMES] = "names",     [COMPLETION_EITHER] = "either",
    };

    strbuf_addf(out, "'%s%s%s'", kinds[c->kind], c->words[0] ? " " : "", c->words);
}

static void add_bash_value(struct strbuf *out, const struct option_row *row)
{
    struct completion c = completion_of_option(row);

    strbuf_addf(out, "        --%s", row->name);
    if (row->letter)
        strbuf_addf(out, " | -%c", row->letter);
    strbuf_adds(out, ") values=");
    add_bash_reply(out, &c);
    strbuf_adds(out, " ;;\n");
}

/* Behind one of its actions a command's arguments are others. */
static void add_bash_actions(struct strbuf *out, const struct command *command, const char *actions)
{
    struct completion behind = completion_behind_action(command);

    strbuf_addf(out, "        actions='%s' behind=", actions);
    add_bash_reply(out, &behind);
    strbuf_addc(out, '\n');
}

/* Behind an action that lacks some of the command's options, the others alone. */
static void add_bash_action_options(struct strbuf *out, const struct command *command)
{
    for (size_t i = 0; command->action(i); i++) {
        const char *action = command->action(i)->name;
        strbuf_addf(out, "    '%s %s') options='", command->name, action);
        for (const struct option_row *row = command->options; row->name; row++) {
            const char *owners = completion_owners(command, row);
            if (completion_has_name(row) && (!owners || text_lists(owners, action)))
                strbuf_addf(out, "--%s ", row->name);
        }
        strbuf_adds(out, "--help' ;;\n");
    }
}

static void add_bash_command(struct strbuf *out, const struct command *command)
{
    struct completion arguments = completion_of_arguments(command);
    bool values = false;

    strbuf_addf(out, "    %s)\n        options='", command->name);
    for (const struct option_row *row = command->options; row->name; row++) {
        if (!completion_has_name(row))
            continue;
        strbuf_addf(out, "--%s ", row->name);
        values = values || row->argument;
    }
    strbuf_adds(out, "--help'\n        arguments=");
    add_bash_reply(out, &arguments);
    strbuf_addc(out, '\n');
    if (command->action)
        add_bash_actions(out, command, arguments.words);
    if (values)
        strbuf_adds(out, "        case $before in\n");
    for (const struct option_row *row = command->options; row->name; row++)
        if (row->argument && completion_has_name(row))
            add_bash_value(out, row);
    strbuf_adds(out, values ? "        esac\n        ;;\n" : "        ;;\n");
}

void completion_bash(struct strbuf *out)
{
    add_bash_helpers(out);
    strbuf_adds(out,
                "_harness()\n"
                "{\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                "    local options= arguments=words actions= behind= values= i IFS=$' \\t\\n'\n"
                "    local action=\n"
                "    COMPREPLY=()\n"
                "    if [ \"$word\" = = ]; then\n"
                "        word=\n"
                "    elif [ \"$before\" = = ]; then\n"
                "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
                "    fi\n"
                "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                "        _harness_reply words");
    for (const struct command *const *c = command_all(); *c; c++)
        if (!(*c)->hidden)
            strbuf_addf(out, " %s", (*c)->name);
    strbuf_adds(out, "\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (const struct command *const *c = command_all(); *c; c++)
        if (!(*c)->hidden)
            add_bash_command(out, *c);
    strbuf_adds(out,
                "    esac\n"
                "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
                "        [[ -z $actions || \" $actions \" != *\" ${COMP_WORDS[i]} \"* ]] || "
                "arguments=$behind action=${action:-${COMP_WORDS[i]}}\n"
                "    done\n"
                "    case \"${COMP_WORDS[1]} $action\" in\n");
    for (const struct command *const *c = command_all(); *c; c++)
        if (!(*c)->hidden && (*c)->owned)
            add_bash_action_options(out, *c);
    strbuf_adds(out,
                "    esac\n"
                "    if [ -n \"$values\" ]; then\n"
                "        _harness_reply $values\n"
                "    elif [[ $word == -* ]]; then\n"
                "        _harness_reply words $options\n"
                "    else\n"
                "        _harness_reply $arguments\n"
                "    fi\n"
                "}\n"
                "complete -F _harness harness\n");
}
