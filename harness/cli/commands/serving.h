/* SPDX-License-Identifier: MIT */
/* The live page until Ctrl+C: what `harness serve` does, and `harness plot --host`. */
#ifndef HARNESS_CLI_COMMANDS_SERVING_H
#define HARNESS_CLI_COMMANDS_SERVING_H

#include "base/options.h"
#include "session/viewing.h"

#include <stdbool.h>
#include <stdint.h>

enum { SERVING_PORT = 8080, SERVING_HISTORY = 200 };

/* Members that are NULL or false mean the usual. */
struct serving_options {
    const char *host;       /* address to listen at; 127.0.0.1 */
    const int64_t *port;    /* NULL: SERVING_PORT; 0: any free one */
    const char *token;      /* refused, see session/serve_token.h; NULL: not said */
    const char *token_file; /* NULL: $HARNESS_TOKEN, or what serve_token_find() says */
    bool open;              /* without a token, for every user of this machine */
    const struct string_list
        *names;             /* further host names under which it may be asked; NULL: none */
    const int64_t *history; /* runs that trends reach back to; NULL: SERVING_HISTORY */
    int argc;               /* what is looked at, as viewing_open() takes it; 0: the history */
    char **argv;
    bool watch;
    bool edit; /* readers may accept changes and annotate runs; needs a token */
};

/* Runs of the history that are named are those that the address shows. Where files are among them,
 * all of them are put into a history of the server's own, which is gone when it ends.
 *
 * The first line on standard output is the address; on a terminal, and where the token was made at
 * the start, with the token. Returns when
 * SIGINT or SIGTERM came and what had been asked is answered; -1 where it cannot start. */
int serving_run(const struct viewing_options *viewing, const struct serving_options *options,
                struct error *err);

#endif
