/* SPDX-License-Identifier: MIT */
#include "cli/help/completion_base.h"

#include <string.h>

/* Inside single quotes, and there inside brackets where `brackets`. */
static void add_zsh_quoted(struct strbuf *out, const char *text, bool brackets)
{
    for (; *text; text++) {
        if (*text == '\'')
            strbuf_adds(out, "'\\''");
        else if (brackets && strchr("[]\\", *text))
            strbuf_addf(out, "\\%c", *text);
        else
            strbuf_addc(out, *text);
    }
}

/* What _arguments does for a value: the end of its specification. */
static void add_zsh_action(struct strbuf *out, const struct completion *c)
{
    static const char *const forms[] = {
        [COMPLETION_NOTHING] = " ",
        [COMPLETION_FILES] = "_files",
        [COMPLETION_FOLDERS] = "_files -/",
        [COMPLETION_WORDS] = "_harness_words %s",
        [COMPLETION_NAMES] = "_harness_names %s",
        [COMPLETION_EITHER] = "_harness_names %s; _files",
    };
    const char *form = forms[c->kind], *place = strchr(form, '%');

    if (!place) {
        strbuf_adds(out, form);
        return;
    }
    strbuf_addc(out, '{');
    strbuf_add(out, form, (size_t)(place - form));
    strbuf_addf(out, "%s%s}", c->words, place + strlen("%s"));
}

/* The message above what is offered; a colon would end it. */
static void add_zsh_message(struct strbuf *out, const char *text)
{
    for (; *text; text++)
        strbuf_adds(out, *text == ':' ? "\\:" : *text == '\'' ? "'\\''" : (char[]) { *text, 0 });
}

static void add_zsh_option(struct strbuf *out, const struct option_row *row)
{
    struct completion c = completion_of_option(row);
    const char *name = row->name, *equals = row->argument ? "=" : "";

    strbuf_adds(out, " \\\n            ");
    if (row->letter)
        strbuf_addf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", row->letter, name, row->letter,
                    row->argument ? "+" : "", name, equals);
    else
        strbuf_addf(out, "'%s--%s%s[", row->type == OPTION_TEXTS ? "*" : "", name, equals);
    add_zsh_quoted(out, row->help, true);
    strbuf_addc(out, ']');
    if (row->argument) {
        strbuf_addc(out, ':');
        add_zsh_message(out, row->argument);
        strbuf_addc(out, ':');
        add_zsh_action(out, &c);
    }
    strbuf_addc(out, '\'');
}

/* A row of what _describe shows: "name:what it is". */
static void add_zsh_described(struct strbuf *out, const char *name, const char *summary)
{
    strbuf_addf(out, "'%s:", name);
    add_zsh_quoted(out, summary, false);
    strbuf_adds(out, "'\n");
}

static void add_zsh_actions(struct strbuf *out, const struct command *command)
{
    strbuf_adds(out, "        actions=(\n");
    for (size_t i = 0; command->action(i); i++) {
        strbuf_adds(out, "            ");
        add_zsh_described(out, command->action(i)->name, command->action(i)->summary);
    }
    strbuf_adds(out, "        )\n");
}

/* Options that some actions lack, into an array: those of the action, and all where there is none
 * yet, which the empty alternative in front of the first action of each stands for. */
static void add_zsh_owned(struct strbuf *out, const struct command *command)
{
    strbuf_adds(out, "        action=${words[(r)(");
    for (size_t i = 0; command->action && command->action(i); i++)
        strbuf_addf(out, "%s%s", i ? "|" : "", command->action(i)->name);
    strbuf_adds(out, ")]}\n");
    for (const struct option_row *row = command->options; row->name; row++) {
        const char *owners = completion_owners(command, row);
        if (!owners)
            continue;
        strbuf_adds(out, "        [[ $action == (");
        completion_add_owners(out, command, owners, true, '|');
        strbuf_adds(out, ") ]] && owned+=(");
        add_zsh_option(out, row);
        strbuf_adds(out, ")\n");
    }
}

static void add_zsh_command(struct strbuf *out, const struct command *command)
{
    struct completion c =
        command->action ? completion_behind_action(command) : completion_of_arguments(command);

    strbuf_addf(out, "    %s)\n", command->name);
    if (command->action)
        add_zsh_actions(out, command);
    if (command->owned)
        add_zsh_owned(out, command);
    strbuf_adds(out, "        _arguments -s -S");
    if (command->owned)
        strbuf_adds(out, " \"${owned[@]}\"");
    for (const struct option_row *row = command->options; row->name; row++)
        if (completion_has_name(row) && !completion_owners(command, row))
            add_zsh_option(out, row);
    if (command->action)
        strbuf_adds(out, " \\\n            '1:action:{_describe action actions}'");
    strbuf_adds(out, " \\\n            '*:");
    add_zsh_message(out, *command->arguments ? command->arguments : " ");
    strbuf_addc(out, ':');
    add_zsh_action(out, &c);
    strbuf_adds(out, "'\n        ;;\n");
}

static void add_zsh_helpers(struct strbuf *out)
{
    strbuf_adds(out, "#compdef harness\n# zsh completion: `harness help --completion zsh`.\n\n");
    strbuf_adds(out,
                "# of a list with commas the last item counts\n"
                "_harness_words() {\n"
                "    compset -P '*,'\n"
                "    compadd -- \"$@\"\n"
                "}\n\n");
    strbuf_adds(out,
                "# one a line, and nothing expands them: compadd quotes what it inserts\n"
                "_harness_names() {\n"
                "    if [[ $1 == baselines ]]; then\n"
                "        set -- \"${(@f)$(harness baseline list --names 2>/dev/null)}\"\n"
                "    else\n"
                "        set -- \"${(@f)$(harness list $1 --names 2>/dev/null)}\"\n"
                "    fi\n"
                "    _harness_words \"${@:#}\"\n"
                "}\n\n");
}

void completion_zsh(struct strbuf *out)
{
    add_zsh_helpers(out);
    strbuf_adds(
        out,
        "_harness() {\n    local action\n    local -a commands actions owned\n    commands=(\n");
    for (const struct command *const *c = command_all(); *c; c++)
        if (!(*c)->hidden) {
            strbuf_adds(out, "        ");
            add_zsh_described(out, (*c)->name, (*c)->summary);
        }
    strbuf_adds(out,
                "    )\n"
                "    if (( CURRENT == 2 )); then\n"
                "        _describe command commands\n"
                "        return\n"
                "    fi\n"
                "    shift words\n"
                "    (( CURRENT-- ))\n"
                "    case $words[1] in\n");
    for (const struct command *const *c = command_all(); *c; c++)
        if (!(*c)->hidden)
            add_zsh_command(out, *c);
    /* Read by `source` it makes itself known; found in $fpath it is called at once. */
    strbuf_adds(out,
                "    esac\n"
                "}\n\n"
                "if [[ $funcstack[1] == _harness ]]; then\n"
                "    _harness \"$@\"\n"
                "else\n"
                "    compdef _harness harness\n"
                "fi\n");
}
