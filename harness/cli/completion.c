/* SPDX-License-Identifier: MIT */
#include "cli/completion.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void add_word(struct completion *c, const char *word, size_t length)
{
    size_t used = strlen(c->words);

    c->kind = COMPLETION_WORDS;
    snprintf(c->words + used, sizeof(c->words) - used, "%s%.*s", used ? " " : "", (int)length,
             word);
}

/* Each piece between two separators may begin with a word in lower case. */
static void add_words(struct completion *c, const char *text, char separator)
{
    while (text) {
        text += strspn(text, " [(");
        size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
        if (islower((unsigned char)*text))
            add_word(c, text, length);
        text = strchr(text, separator);
        text += text != NULL;
    }
}

static struct completion names_of(const char *what)
{
    struct completion c = { .kind = COMPLETION_NAMES };

    snprintf(c.words, sizeof(c.words), "%s", what);
    return c;
}

/* Options whose values are names that `harness list SECTION` prints. */
static const char *section_of(const char *option)
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

static bool begins(const char *text, const char *with)
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
    const char *section = section_of(row->name), *argument = row->argument;

    if (!argument)
        return c;
    if (section)
        return names_of(section);
    if (begins(argument, "REF"))
        return names_of("baselines");
    if (begins(argument, "FILE") || begins(argument, "PATH"))
        c.kind = COMPLETION_FILES;
    else if (begins(argument, "FOLDER"))
        c.kind = COMPLETION_FOLDERS;
    else if (begins(argument, "FORM")) /* "text (default), markdown, json" */
        add_words(&c, row->help, ',');
    else if (islower((unsigned char)*argument)) /* "png,svg,pdf" */
        add_words(&c, argument, ',');
    return c;
}

struct completion completion_of_arguments(const struct command *c)
{
    struct completion completion = { .kind = COMPLETION_NOTHING };

    if (strcmp(c->arguments, "[COMMAND|environment]") == 0) {
        for (const struct command *const *all = command_all(); *all; all++)
            if (!(*all)->hidden)
                add_word(&completion, (*all)->name, strlen((*all)->name));
        add_word(&completion, "environment", strlen("environment"));
        return completion;
    }
    if (strchr(c->arguments, '|')) /* "save NAME|list|show NAME" */
        add_words(&completion, c->arguments, '|');
    if (completion.kind != COMPLETION_NOTHING)
        return completion;
    if (strstr(c->arguments, "FILTER"))
        return names_of("kernels");
    if (strstr(c->arguments, "RUN"))
        return names_of("baselines");
    if (strstr(c->arguments, "FILE"))
        completion.kind = COMPLETION_FILES;
    return completion;
}

int completion_write(const char *shell, struct strbuf *out, struct error *err)
{
    static const char *const shells[] = { "bash", "zsh", "fish", NULL };
    static void (*const write[])(struct strbuf *) = {
        completion_bash,
        completion_zsh,
        completion_fish,
    };

    for (size_t i = 0; shells[i]; i++)
        if (strcmp(shells[i], shell) == 0) {
            write[i](out);
            return 0;
        }
    return error_set(err, "--completion: no shell \"%s\"; there are bash, zsh, fish", shell);
}
