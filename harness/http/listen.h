/* SPDX-License-Identifier: MIT */
/* The socket that a server listens at. No name is looked up: nothing leaves this machine. */
#ifndef HARNESS_HTTP_LISTEN_H
#define HARNESS_HTTP_LISTEN_H

#include "base/error.h"

#include <stdbool.h>

struct listening {
    int fd;
    int port; /* the real one where 0 was asked for */
    bool ipv6;
    bool everywhere; /* at all addresses of this machine */
    bool loopback;   /* reachable from this machine alone */
    char host[64];   /* as a URL on this machine has it: "127.0.0.1", "[::1]" */
};

/* Is it an address, or localhost, that is reachable from this machine alone? False where it is no
 * address at all. */
bool listen_is_loopback(const char *host);

/* `host`: an IPv4 or IPv6 address, or localhost. `port` 0: any free one. Close `fd`. */
int listen_open(const char *host, int port, struct listening *out, struct error *err);

#endif
