/* SPDX-License-Identifier: MIT */
/*
 * What each client has of a server, and may have: connections, requests that are being answered,
 * requests and bytes a second, wrong tokens. Places are kept for those who have none yet, so that
 * some who take all they can get do not lock the others out. Safe between threads.
 */
#ifndef HARNESS_HTTP_QUOTA_H
#define HARNESS_HTTP_QUOTA_H

#include "http/client.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    QUOTA_CONNECTIONS = 64, /* of all */
    QUOTA_CONNECTIONS_EACH = 24,
    QUOTA_CONNECTIONS_KEPT = 16, /* of these, the last go to those who ... */
    QUOTA_CONNECTIONS_FEW = 2,   /* ... have fewer than so many */
    QUOTA_WORKS = 6,             /* answers in the making; the last one for a client without any */
    QUOTA_WORKS_EACH = 3,        /* fewer than there are handles of the history */
    QUOTA_REQUESTS = 1000,       /* a second and client, and twice as many at once; others wait */
    QUOTA_BYTES = 64 << 20,      /* the same */
    QUOTA_GUESSES = 20,          /* wrong tokens at once, and one more each second */
};

struct quotas;
struct quota_client; /* a client; belongs to the quotas */

struct quotas *quotas_create(void);
void quotas_free(struct quotas *quotas); /* NULL is fine */

/* One more connection; NULL where there is no place for it. */
struct quota_client *quota_enter(struct quotas *quotas, const struct client *client);
void quota_leave(struct quotas *quotas, struct quota_client *member);

/* Waits for a place to work in, for so many ms at most; false: there was none. */
bool quota_begin(struct quotas *quotas, struct quota_client *member, int patience_ms);
void quota_end(struct quotas *quotas, struct quota_client *member);

/* How many ms a client has to wait before its request is looked at, and before so many bytes are
 * sent. */
int quota_pace_request(struct quotas *quotas, struct quota_client *member);
int quota_pace_bytes(struct quotas *quotas, struct quota_client *member, size_t bytes);

/* May it try a token? It was wrong. */
bool quota_may_guess(struct quotas *quotas, struct quota_client *member);
void quota_guessed(struct quotas *quotas, struct quota_client *member);

#endif
