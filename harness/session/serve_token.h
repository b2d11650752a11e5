/* SPDX-License-Identifier: MIT */
/*
 * The token of the live page: from a file, from $HARNESS_TOKEN, or made at the start. Never from
 * the command line, which every user of the machine can read while the program runs.
 */
#ifndef HARNESS_SESSION_SERVE_TOKEN_H
#define HARNESS_SESSION_SERVE_TOKEN_H

#include "base/error.h"

#include <stdbool.h>

enum { SERVE_TOKEN_SIZE = 257 };

struct serve_token_source {
    const char *word; /* --token: refused, with what to do instead; NULL: not said */
    const char *file; /* --token-file, or NULL */
    bool open;        /* --open: every user of this machine may read it */
    bool elsewhere;   /* it listens where other machines reach it: none is made */
    bool is_public;   /* all users can read the file itself anyway: none is made */
};

struct serve_token {
    char text[SERVE_TOKEN_SIZE]; /* "": there is none */
    bool made;                   /* here, so that nobody knows it yet */
};

/* Takes $HARNESS_TOKEN out of the environment in any case, so that no program started later has
 * it. */
int serve_token_find(const struct serve_token_source *source, struct serve_token *token,
                     struct error *err);
/* One that nobody knows and nothing says: 192 random bits. */
int serve_token_make(struct serve_token *token, struct error *err);
/* Can a token be written to standard output without becoming known to others: it is a terminal, a
 * pipe, or a file that not all users may read. */
bool serve_token_may_be_shown(void);

#endif
