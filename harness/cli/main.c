/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/foreign_options.h"
#include "cli/variables.h"
#include "plugin/plugin_load.h"
#include "terminal/interrupt.h"
#include "terminal/terminal.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the order of `harness help`. A new command is its file and one line here. */
#define COMMANDS(X)                                                                                \
    X(list)                                                                                        \
    X(run)                                                                                         \
    X(verify)                                                                                      \
    X(plugin)                                                                                      \
    X(judge)                                                                                       \
    X(tune)                                                                                        \
    X(profile)                                                                                     \
    X(compare)                                                                                     \
    X(gate)                                                                                        \
    X(bisect)                                                                                      \
    X(baseline)                                                                                    \
    X(history)                                                                                     \
    X(import)                                                                                      \
    X(export)                                                                                      \
    X(trend)                                                                                       \
    X(detect)                                                                                      \
    X(plot)                                                                                        \
    X(report)                                                                                      \
    X(serve)                                                                                       \
    X(roofline)                                                                                    \
    X(model)                                                                                       \
    X(selftest)                                                                                    \
    X(doctor)                                                                                      \
    X(help)                                                                                        \
    X(version)                                                                                     \
    X(internal_launch)

#define DECLARE(name) extern const struct command cmd_##name;
COMMANDS(DECLARE)

#define ROW(name) &cmd_##name,
static const struct command *const commands[] = { COMMANDS(ROW) NULL };

const struct command *const *command_all(void)
{
    return commands;
}

const struct command *command_find(const char *name, struct error *err)
{
    const char *names[sizeof(commands) / sizeof(commands[0])] = { NULL };
    size_t nr = 0;

    for (size_t i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
        if (!commands[i]->hidden)
            names[nr++] = commands[i]->name;
    }
    const char *nearest = text_nearest(name, names);
    error_set(err, "there is no command \"%s\"%s%s%s; see `harness help`", name,
              nearest ? "; did you mean `harness " : "", nearest ? nearest : "",
              nearest ? "`?" : "");
    return NULL;
}

int command_no_more(int argc, char **argv, int most, struct error *err)
{
    return argc <= most ? 0 : error_set(err, "unexpected argument \"%s\"", argv[most]);
}

static const struct option_row *find_option(const struct command *c, const char *name)
{
    const struct option_row *row = c->options;

    while (row->name && strcmp(row->name, name) != 0)
        row++;
    return row;
}

/* A slip in a command's table is told at once, whatever is asked for. */
int command_action_options(const struct command *c, const struct command_action *action,
                           const void *options, struct error *err)
{
    for (const struct command_owned *o = c->owned; o && o->option; o++) {
        const struct option_row *row = find_option(c, o->option);
        if (!row->name)
            return error_set(err, "%s has no option --%s to give to %s", c->name, o->option,
                             o->actions);
        if (!text_lists(o->actions, action->name) && options_has(row, options))
            return error_set(err, "%s has no --%s; %s %s", action->name, o->option, o->actions,
                             strchr(o->actions, ',') ? "have" : "has");
    }
    return 0;
}

int command_no_action(const struct command *c, const char *word, struct error *err)
{
    struct strbuf names;

    strbuf_init(&names);
    for (size_t i = 0; c->action(i); i++)
        strbuf_addf(&names, "%s%s", i ? ", " : "", c->action(i)->name);
    error_set(err, "unknown action \"%s\"; there are %s", word, names.data);
    strbuf_release(&names);
    return -1;
}

static int run_command(const struct command *command, int argc, char **argv, struct error *err)
{
    void *options = memory_zeroed(1, command->options_size + 1);
    int rc = options_parse(command->options, options, &argc, argv, err);
    if (rc == 0)
        rc = command->run(argc, argv, options, err);
    options_release(command->options, options);
    free(options);
    return rc;
}

/* `harness CMD --help` and -h are `harness help CMD`. */
static bool asks_for_help(int argc, char **argv)
{
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

/* Before anything else is done: help must be had whatever the environment says, and what harness
 * starts itself has the environment of a command that was checked. */
static int check_variables(const struct command *command, struct error *err)
{
    struct strbuf warnings;

    if (command == &cmd_help || command == &cmd_version || command->hidden)
        return 0;
    strbuf_init(&warnings);
    int rc = variables_check(&warnings, err);
    for (char *rest = warnings.data, *line; rc == 0 && (line = strsep(&rest, "\n")) && *line;)
        terminal_note("harness: %s\n", line);
    strbuf_release(&warnings);
    return rc;
}

/* ---- an end that main() knows nothing of ---- */

/* The process that has a command to do, 0 once that is done. exit() gives its handlers no argument,
 * so this cannot be handed down. */
static pid_t at_work;

/* A library that gets no thread or no memory writes a line and calls exit(1), as libgomp does: that
 * would say "a regression". What stands in stdio goes out as with any exit(). Children that fork()
 * made inherit the handler, and end as they like: who made them looks. */
static void end_of_a_library(void)
{
    static const char said[] =
        "harness: a library has ended this program; where threads or memory ran out, "
        "the line before says so\n";

    if (getpid() != at_work)
        return;
    fflush(stdout);
    ssize_t written = write(STDERR_FILENO, said, sizeof(said) - 1);
    (void)written;
    _exit(EXIT_USAGE);
}

/* Of a measuring process the one that made it tells how it ended, whoever ended it. */
static void begin_work(const struct command *command)
{
    if (command->hidden || atexit(end_of_a_library))
        return;
    at_work = getpid();
}

static int dispatch_command(int argc, char **argv, struct error *err)
{
    const char *name = argc > 1 ? argv[1] : "help";
    char topic[32], *help_arguments[] = { topic, NULL };

    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0)
        name = "version";
    const struct command *command = command_find(name, err);
    if (!command)
        return -1;
    if (asks_for_help(argc, argv)) {
        snprintf(topic, sizeof(topic), "%s", command->name);
        return run_command(&cmd_help, 1, help_arguments, err);
    }
    if (check_variables(command, err))
        return -1;
    begin_work(command);
    return run_command(command, argc > 2 ? argc - 2 : 0, argv + 2, err);
}

/* `harness list | head -3` is nobody's mistake. */
static bool reader_left(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO };

    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

/* A file that may not grow is an error of write(), with its reason. A handler, as what is started
 * does not inherit it. */
static void ignore_signal(int number)
{
    (void)number;
}

int main(int argc, char **argv)
{
    struct error err = { "" };

    json_begin();
    signal(SIGPIPE, SIG_IGN); /* a reader that went away shows as a write error */
    signal(SIGXFSZ, ignore_signal);
    signal(SIGCHLD, SIG_DFL); /* ignored, as some parents leave it, nothing tells how one ended */
    int rc = dispatch_command(argc, argv, &err);
    at_work = 0;
    if (rc < 0) {
        for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
            foreign_options_hint(argv[i], &err);
        terminal_error(&err);
        rc = interrupt_signal() ? 128 + interrupt_signal() : EXIT_USAGE;
    }
    if (fflush(stdout) || ferror(stdout)) {
        if (!reader_left())
            terminal_note("harness: cannot write to standard output\n");
        rc = EXIT_USAGE;
    }
    /* What a plugin has registered for the end of the process (destructors, atexit()) is a
     * stranger's code, and could change how this process ends, or keep it from ending. */
    if (plugin_is_loaded()) {
        fflush(NULL);
        _exit(rc);
    }
    return rc;
}
