/* SPDX-License-Identifier: MIT */
#include "cli/help/manual.h"

#include "cli/variables.h"
#include "machine/environment.h"

#include <ctype.h>
#include <string.h>

const char manual_purpose[] =
    "Measures GPU and CPU kernels and the GPT forward passes built from them, keeps a\n"
    "history, and says whether something got slower.\n";
const char manual_statuses[] =
    "exit status: 0 no regression, 1 regression or a wrong result,\n"
    "             2 usage or failure, 77 cannot tell or nothing to compare with\n";

static const char failure[] = "bad usage, or a failure of the program itself";

struct status {
    const char *value, *meaning;
};

/* Of all commands together. */
static const struct status all_statuses[] = {
    { "0", "no regression" },
    { "1", "a regression, or a wrong result" },
    { "2", failure },
    { "77", "cannot tell, or nothing to compare with" },
    { "128 + N", "ended by signal N: 130 for Ctrl+C, 143 for SIGTERM" },
};
/* Of a command that says nothing of its own. */
static const struct status usual_statuses[] = { { "0", "done" }, { "2", failure } };

/* Plain text. Signs that troff reads, or draws as others than were typed, have names of their own:
 * examples shall be fit for copying. */
static void add_man_text(struct strbuf *out, const char *text)
{
    static const char *const names[256] = {
        ['\\'] = "\\e",  ['-'] = "\\-",   ['\''] = "\\(aq",
        ['`'] = "\\(ga", ['^'] = "\\(ha", ['~'] = "\\(ti",
    };

    for (bool start = true; *text; text++) {
        const char *name = names[(unsigned char)*text];
        if (start && *text == '.')
            strbuf_adds(out, "\\&");
        start = *text == '\n';
        if (name)
            strbuf_adds(out, name);
        else
            strbuf_addc(out, *text);
    }
}

static void add_man_heading(struct strbuf *out, const char *name)
{
    strbuf_addf(out, ".SH %s\n", name);
}

/* As it stands, line by line. */
static void add_man_lines(struct strbuf *out, const char *text)
{
    size_t length = strlen(text);

    strbuf_adds(out, ".nf\n");
    add_man_text(out, text);
    strbuf_adds(out, length && text[length - 1] == '\n' ? ".fi\n" : "\n.fi\n");
}

static void add_man_entry(struct strbuf *out, const char *term, const char *text)
{
    strbuf_adds(out, ".TP\n\\fB");
    add_man_text(out, term);
    strbuf_adds(out, "\\fR\n");
    add_man_text(out, text);
    strbuf_addc(out, '\n');
}

static void add_man_option(struct strbuf *out, const struct option_row *row)
{
    strbuf_adds(out, ".TP\n");
    if (row->letter)
        strbuf_addf(out, "\\fB\\-%c\\fR, ", row->letter);
    strbuf_adds(out, "\\fB\\-\\-");
    add_man_text(out, row->name);
    strbuf_adds(out, "\\fR");
    if (row->argument) {
        strbuf_adds(out, " \\fI");
        add_man_text(out, row->argument);
        strbuf_adds(out, "\\fR");
    }
    strbuf_addc(out, '\n');
    add_man_text(out, row->help);
    strbuf_addc(out, '\n');
}

/* "harness-run" for a command. */
static void add_man_name(struct strbuf *out, const struct command *c)
{
    add_man_text(out, "harness");
    if (c) {
        add_man_text(out, "-");
        add_man_text(out, c->name);
    }
}

static void add_man_title(struct strbuf *out, const struct command *c)
{
    struct build build;
    size_t start;

    environment_build(&build);
    strbuf_adds(out, ".TH ");
    start = out->length;
    add_man_name(out, c);
    for (; start < out->length; start++)
        out->data[start] = (char)toupper((unsigned char)out->data[start]);
    strbuf_addf(out, " 1 \"%s\" \"harness %s\" \"User Commands\"\n", environment_build_date(),
                build.version);
    add_man_heading(out, "NAME");
    add_man_name(out, c);
    strbuf_adds(out, " \\- ");
    add_man_text(out, c ? c->summary : "a benchmark suite that says whether something got slower");
    strbuf_addc(out, '\n');
}

static void add_command_page(struct strbuf *out, const struct command *c)
{
    add_man_heading(out, "SYNOPSIS");
    strbuf_adds(out, "\\fBharness ");
    add_man_text(out, c->name);
    strbuf_adds(out, *c->arguments ? "\\fR [OPTION...] " : "\\fR [OPTION...]");
    add_man_text(out, c->arguments);
    strbuf_addc(out, '\n');
    if (c->details) {
        add_man_heading(out, "DESCRIPTION");
        add_man_lines(out, c->details);
    }
    if (c->action)
        add_man_heading(out, "ACTIONS");
    for (size_t i = 0; c->action && c->action(i); i++)
        add_man_entry(out, c->action(i)->name, c->action(i)->summary);
    if (c->options->name)
        add_man_heading(out, "OPTIONS");
    for (const struct option_row *row = c->options; row->name; row++)
        add_man_option(out, row);
}

static void add_program_page(struct strbuf *out)
{
    add_man_heading(out, "SYNOPSIS");
    strbuf_adds(out, "\\fBharness\\fR COMMAND [OPTION...] [ARGUMENT...]\n");
    add_man_heading(out, "DESCRIPTION");
    add_man_lines(out, manual_purpose);
    add_man_heading(out, "COMMANDS");
    for (const struct command *const *c = command_all(); *c; c++)
        if (!(*c)->hidden)
            add_man_entry(out, (*c)->name, (*c)->summary);
    add_man_heading(out, "ENVIRONMENT");
    for (const struct variable *v = variables; v->name; v++)
        add_man_entry(out, v->name, v->meaning);
    add_man_entry(out, "NO_COLOR", "tables without colours");
    add_man_entry(out, "TERM", "where it is dumb or not set: no escape codes");
    add_man_entry(out, "COLUMNS", "the width of a terminal that does not say its own");
    add_man_heading(out, "FILES");
    add_man_entry(out, ".harness/history.db", "the history, at the top of the project");
    add_man_entry(out, "harness.json", "at the top of the project: figures, formats and peaks");
    add_man_entry(out, "baselines/CLASS/NAME.json", "reviewed baselines of a machine class");
}

static void add_man_statuses(struct strbuf *out, const struct status *list, size_t nr)
{
    add_man_heading(out, "EXIT STATUS");
    for (size_t i = 0; i < nr; i++)
        add_man_entry(out, list[i].value, list[i].meaning);
}

static bool says_statuses(const struct command *c)
{
    return c->details && strstr(c->details, "Exit status");
}

void manual_page(const struct command *c, struct strbuf *out)
{
    add_man_title(out, c);
    if (c)
        add_command_page(out, c);
    else
        add_program_page(out);
    if (!c)
        add_man_statuses(out, all_statuses, sizeof(all_statuses) / sizeof(all_statuses[0]));
    else if (!says_statuses(c))
        add_man_statuses(out, usual_statuses, sizeof(usual_statuses) / sizeof(usual_statuses[0]));
    add_man_heading(out, "SEE ALSO");
    if (c) {
        strbuf_adds(out, ".BR harness (1)\n");
        return;
    }
    for (const struct command *const *all = command_all(); *all; all++)
        if (!(*all)->hidden) {
            strbuf_adds(out, ".BR harness\\-");
            add_man_text(out, (*all)->name);
            strbuf_adds(out, " (1)\n");
        }
}
