/* SPDX-License-Identifier: MIT */
#include "cli/help/completion_base.h"

#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void add_completion_word(struct completion *c, const char *word, size_t length)
{
    size_t used = strlen(c->words);

    c->kind = COMPLETION_WORDS;
    snprintf(c->words + used, sizeof(c->words) - used, "%s%.*s", used ? " " : "", (int)length,
             word);
}

/* Each piece between two separators may begin with a word in lower case. */
static void add_completion_words(struct completion *c, const char *text, char separator)
{
    while (text) {
        text += strspn(text, " [(");
        size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
        if (islower((unsigned char)*text))
            add_completion_word(c, text, length);
        text = strchr(text, separator);
        text += text != NULL;
    }
}

static struct completion completion_names(const char *what)
{
    struct completion c = { .kind = COMPLETION_NAMES };

    snprintf(c.words, sizeof(c.words), "%s", what);
    return c;
}

/* Options whose values are names that `harness list SECTION` prints. */
static const char *completion_section(const char *option)
{
    static const struct {
        const char *option, *section;
    } sections[] = {
        { "suite", "suites" }, { "model", "models" },   { "metric", "metrics" },
        { "only", "figures" }, { "device", "devices" }, { "machine", "machines" },
    };

    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        if (strcmp(sections[i].option, option) == 0)
            return sections[i].section;
    return NULL;
}

static bool text_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool completion_has_name(const struct option_row *row)
{
    return row->type != OPTION_REST;
}

struct completion completion_of_option(const struct option_row *row)
{
    struct completion c = { .kind = COMPLETION_NOTHING };
    const char *section = completion_section(row->name), *argument = row->argument;

    if (!argument)
        return c;
    if (section)
        return completion_names(section);
    if (text_begins(argument, "REF"))
        return completion_names("baselines");
    if (text_begins(argument, "FILE") || text_begins(argument, "PATH"))
        c.kind = COMPLETION_FILES;
    else if (text_begins(argument, "FOLDER"))
        c.kind = COMPLETION_FOLDERS;
    else if (row->values)
        add_completion_words(&c, row->values, ',');
    else if (islower((unsigned char)*argument)) /* "png,svg,pdf" */
        add_completion_words(&c, argument, ',');
    return c;
}

struct completion completion_of_arguments(const struct command *c)
{
    struct completion completion = { .kind = COMPLETION_NOTHING };

    if (strcmp(c->arguments, "[COMMAND|environment]") == 0) {
        for (const struct command *const *all = command_all(); *all; all++)
            if (!(*all)->hidden)
                add_completion_word(&completion, (*all)->name, strlen((*all)->name));
        add_completion_word(&completion, "environment", strlen("environment"));
        return completion;
    }
    for (size_t i = 0; c->action && c->action(i); i++)
        add_completion_word(&completion, c->action(i)->name, strlen(c->action(i)->name));
    if (!c->action && strchr(c->arguments, '|')) /* "[kernels|variants]" */
        add_completion_words(&completion, c->arguments, '|');
    if (completion.kind != COMPLETION_NOTHING)
        return completion;
    bool plugin = strstr(c->arguments, "PLUGIN") != NULL;
    if (strstr(c->arguments, "FILTER"))
        completion = completion_names("kernels");
    else if (strstr(c->arguments, "RUN") || strstr(c->arguments, "REF"))
        completion = completion_names("baselines");
    else if (plugin || strstr(c->arguments, "FILE"))
        completion.kind = COMPLETION_FILES;
    if (plugin && completion.kind == COMPLETION_NAMES)
        completion.kind = COMPLETION_EITHER;
    return completion;
}

struct completion completion_behind_action(const struct command *c)
{
    struct completion completion = { .kind = COMPLETION_NOTHING };

    if (strstr(c->arguments, "FILE"))
        completion.kind = COMPLETION_FILES;
    else if (strstr(c->arguments, "show NAME"))
        completion = completion_names("baselines");
    return completion;
}

const char *completion_owners(const struct command *c, const struct option_row *row)
{
    for (const struct command_owned *o = c->owned; o && o->option; o++)
        if (strcmp(o->option, row->name) == 0)
            return o->actions;
    return NULL;
}

void completion_add_owners(struct strbuf *out, const struct command *c, const char *owners,
                           bool have, char separator)
{
    for (size_t i = 0; c->action(i); i++)
        if (text_lists(owners, c->action(i)->name) == have)
            strbuf_addf(out, "%c%s", separator, c->action(i)->name);
}
