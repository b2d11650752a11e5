/* SPDX-License-Identifier: MIT */
/* From options to commands that can be measured: commands_compare_prepare(). */
#include "session/compare/compare_commands.h"

#include "base/memory.h"
#include "session/measure/recording.h"
#include "text/redact.h"

#include <stdlib.h>
#include <string.h>

/* A launch lasts as long as this, or one run: so blocks of short programs are worth their while,
 * and those of long ones no longer than they must be. */
static const struct sampling command_sampling = {
    .min_time = 0.2,
    .max_time = 0.2,
    .precision = 0,
    .min_samples = 1,
    .max_samples = 1000,
    .unwarmed = true,
};

/* As it could be typed, without secrets. */
static char *join_words(const struct string_list *words)
{
    struct strbuf line;

    strbuf_init(&line);
    for (size_t i = 0; i < words->nr; i++) {
        const char *word = words->items[i], *quote = *word && !strpbrk(word, " \t\n\"'") ? "" : "'";
        strbuf_addf(&line, "%s%s%s%s", i ? " " : "", quote, word, quote);
    }
    return strbuf_detach(&line);
}

/* The line of a shell is what its user typed. */
static char *name_shown(const struct commands_request *r, const struct string_list *argv)
{
    return r->command.shell ? memory_string(argv->items[argv->nr - 1]) : join_words(argv);
}

static void show_commands(const struct commands_request *r, struct commands_compared *c)
{
    const struct string_list *names = &r->command.names;

    c->report.commands = memory_zeroed(c->nr, sizeof(*c->report.commands));
    c->report.nr_commands = c->nr;
    for (size_t i = 0; i < c->nr; i++) {
        struct command_shown *shown = &c->report.commands[i];
        redact_words(&c->specs[i].argv, &shown->argv);
        shown->name = names->nr > 1 && names->nr == c->nr ? memory_string(names->items[i])
                                                          : name_shown(r, &shown->argv);
    }
}

/* With one command, the values of its parameters are what is compared. */
static int make_settings_commands(const struct param_list *p, struct commands_compared *c,
                                  struct error *err)
{
    size_t nr = param_settings(p);
    struct command_spec whole = c->specs[0];

    if (nr < 2)
        return error_set(err,
                         "there is only one command: give another one behind --versus, or several "
                         "values for a {NAME} in it: --param NAME=1,2");
    if (nr > COMMANDS_MAX)
        return error_set(err, "%zu settings of one command: at most %d are compared at a time", nr,
                         COMMANDS_MAX);
    c->specs[0] = (struct command_spec) { .name = "" };
    for (size_t i = 0; i < nr; i++) {
        command_spec_copy(&c->specs[i], &whole);
        param_fill(p, i, &c->specs[i]);
    }
    command_spec_release(&whole);
    c->nr = nr;
    return 0;
}

static int check_commands(const struct commands_compared *c, struct error *err)
{
    for (size_t i = 0; i < c->nr; i++) {
        const char *typed = c->specs[i].argv.items[0];
        if (command_spec_check(&c->specs[i], err) == 0)
            continue;
        if (c->specs[i].argv.nr == 1 && strchr(typed, ' '))
            return error_set(err,
                             "there is no program \"%s\": leave out the quotes (its words are its "
                             "arguments), or give --shell sh to have a shell read the line",
                             typed);
        return i ? error_prefix(err, "behind --versus") : -1;
    }
    return 0;
}

static int open_commands(const struct commands_request *r, const struct param_list *p,
                         struct commands_compared *c, struct error *err)
{
    if (workload_make_command(&c->workload, &r->what, p, c->specs, c->nr, err))
        return -1;
    for (size_t i = 1; i < c->nr; i++)
        if (guests_open(&c->guests[i], registry_builtin(),
                        &(struct guests_asked) { .command = &c->specs[i] }, err))
            return -1;
    c->workload.suite.sampling = command_sampling;
    if (r->runs)
        c->workload.suite.sampling.iterations = 1;
    return 0;
}

static int check_request(const struct commands_request *r, struct error *err)
{
    if (r->runs % AB_LAUNCHES)
        return error_set(err, "--runs: an even number, because a block has %d of each command",
                         AB_LAUNCHES);
    if (r->runs && r->blocks)
        return error_set(err, "--runs and --blocks exclude each other");
    if (measuring_check_counted(r->rule->settings.metrics, err))
        return -1;
    return recording_check_label(r->label, sizeof(" head15") - 1, err);
}

int commands_compare_prepare(const struct commands_request *r, struct commands_compared *c,
                             struct error *err)
{
    static const struct param_list none = { NULL, 0, 0 };
    struct param_list parameters = { 0 };

    if (check_request(r, err))
        return -1;
    int rc = command_options_specs(&r->command, &r->what, true, c->specs, &c->nr, err);
    for (size_t i = 0; rc == 0 && i < c->nr; i++)
        number_specs_copy(&c->specs[i].numbers, &r->rule->numbers);
    if (rc == 0)
        rc = param_parse(&r->command.params, &parameters, err);
    bool scan = rc == 0 && c->nr == 1;
    if (scan)
        rc = make_settings_commands(&parameters, c, err);
    if (rc == 0)
        rc = check_commands(c, err);
    if (rc == 0) {
        show_commands(r, c);
        rc = open_commands(r, scan ? &none : &parameters, c, err);
    }
    param_release(&parameters);
    return rc;
}
