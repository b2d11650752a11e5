/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "cli/commands/serving.h"
#include "cli/shared_options.h"

struct serve_command {
    struct viewing_options viewing;
    const char *host, *token, *token_file, *port, *history;
    struct string_list names;
    bool watch, open, edit;
};

static int run_serve(int argc, char **argv, void *options, struct error *err)
{
    const struct serve_command *o = options;
    int64_t port = SERVING_PORT, history = SERVING_HISTORY;

    if (command_no_more(argc, argv, 0, err))
        return -1;
    if ((o->port && text_parse_int(o->port, 0, 65535, "--port", &port, err)) ||
        (o->history && text_parse_int(o->history, 0, 1000000, "--history", &history, err)))
        return -1;
    struct serving_options serving = {
        .host = o->host,
        .port = &port,
        .token = o->token,
        .token_file = o->token_file,
        .open = o->open,
        .names = &o->names,
        .history = &history,
        .watch = o->watch,
        .edit = o->edit,
    };
    return serving_run(&o->viewing, &serving, err);
}

static const struct option_row rows[] = {
    OPTION_ROW("port", 'p', OPTION_STRING, struct serve_command, port, "N",
               "default 8080; 0: any free one"),
    OPTION_ROW("host", 0, OPTION_STRING, struct serve_command, host, "ADDRESS",
               "to listen at (default 127.0.0.1: this machine alone)"),
    OPTION_ROW("token-file", 0, OPTION_STRING, struct serve_command, token_file, "FILE",
               "with what readers must know, for your eyes alone (or $HARNESS_TOKEN)"),
    OPTION_ROW("token", 0, OPTION_STRING, struct serve_command, token, "TEXT",
               "refused: a list of processes would show it"),
    OPTION_ROW("open", 0, OPTION_FLAG, struct serve_command, open, NULL,
               "no token: every user of this machine may read the history"),
    OPTION_ROW("allow-host", 0, OPTION_STRINGS, struct serve_command, names, "NAME,...",
               "further names under which it may be asked, as behind a proxy"),
    OPTION_ROW("watch", 'w', OPTION_FLAG, struct serve_command, watch, NULL,
               "open pages tell of new runs"),
    OPTION_ROW("edit", 0, OPTION_FLAG, struct serve_command, edit, NULL,
               "who has the token may accept changes and write remarks on runs"),
    OPTION_ROW("history", 0, OPTION_STRING, struct serve_command, history, "N",
               "newest runs that trends reach back to (default 200; 0: all)"),
    VIEWING_OPTION_ROWS(struct serve_command, viewing),
    OPTION_END,
};

extern const struct command cmd_serve;
const struct command cmd_serve = {
    .name = "serve",
    .arguments = "",
    .summary = "show the history as a live page at http://127.0.0.1:8080/ until Ctrl+C",
    .details =
        "  harness serve\n"
        "  harness serve --baseline main --watch\n"
        "  harness serve --port 0                     any free port; the first line says which\n"
        "  harness serve --edit                       accept changes on the page\n"
        "  HARNESS_TOKEN=$(openssl rand -hex 24) harness serve --host 0.0.0.0\n"
        "\n"
        "The page of `harness report`, with all runs of the history to choose from and filters\n"
        "that are worked out here (docs/filters.md). The history is only read; with --edit a step "
        "or\n"
        "drift can be accepted on its card, and remarked on. docs/serve.md has the addresses, and\n"
        "what to know before others may reach it.",
    .options = rows,
    .options_size = sizeof(struct serve_command),
    .run = run_serve,
};
