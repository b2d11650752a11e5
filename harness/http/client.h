/* SPDX-License-Identifier: MIT */
/*
 * Who is at the other end of a connection, as far as limits are concerned: another machine is its
 * address (of IPv6 the network, the first 64 bits), a user of this machine is the user. Else all
 * of this machine would be one, and any user of it could take all places of the others.
 */
#ifndef HARNESS_HTTP_CLIENT_H
#define HARNESS_HTTP_CLIENT_H

#include "http/listen.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct client {
    bool local;   /* by its number `user`, else by `address` */
    bool unknown; /* the system does not tell which user: all of these are one */
    uint32_t user;
    unsigned char address[16];
};

/* `peer` as accept() gives it; the connection must still be there. */
void client_find(const struct sockaddr *peer, const struct listening *listening,
                 struct client *client);
bool client_same(const struct client *a, const struct client *b);

#endif
