/* SPDX-License-Identifier: MIT */
/*
 * What each client has of a server, and may have: connections, requests that are being answered,
 * requests and bytes a second, wrong tokens. Places are kept for those who have none yet, so that
 * some who take all they can get do not lock the others out. Safe between threads.
 */
#ifndef HARNESS_SERVE_CROWD_H
#define HARNESS_SERVE_CROWD_H

#include "serve/client.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    CROWD_CONNECTIONS = 64, /* of all */
    CROWD_CONNECTIONS_EACH = 24,
    CROWD_CONNECTIONS_KEPT = 16, /* of these, the last go to those who ... */
    CROWD_CONNECTIONS_FEW = 2,   /* ... have fewer than so many */
    CROWD_WORKS = 6,             /* answers in the making; the last one for a client without any */
    CROWD_WORKS_EACH = 3,        /* fewer than there are handles of the history */
    CROWD_REQUESTS = 1000,       /* a second and client, and twice as many at once; others wait */
    CROWD_BYTES = 64 << 20,      /* the same */
    CROWD_GUESSES = 20,          /* wrong tokens at once, and one more each second */
};

struct crowd;
struct crowd_member; /* a client; belongs to the crowd */

struct crowd *crowd_create(void);
void crowd_free(struct crowd *crowd); /* NULL is fine */

/* One more connection; NULL where there is no place for it. */
struct crowd_member *crowd_enter(struct crowd *crowd, const struct client *client);
void crowd_leave(struct crowd *crowd, struct crowd_member *member);

/* Waits for a place to work in, for so many ms at most; false: there was none. */
bool crowd_begin(struct crowd *crowd, struct crowd_member *member, int patience_ms);
void crowd_end(struct crowd *crowd, struct crowd_member *member);

/* How many ms a client has to wait before its request is looked at, and before so many bytes are
 * sent. */
int crowd_pace_request(struct crowd *crowd, struct crowd_member *member);
int crowd_pace_bytes(struct crowd *crowd, struct crowd_member *member, size_t bytes);

/* May it try a token? It was wrong. */
bool crowd_may_guess(struct crowd *crowd, struct crowd_member *member);
void crowd_guessed(struct crowd *crowd, struct crowd_member *member);

#endif
