/* SPDX-License-Identifier: MIT */
/* Who may ask, and what: the checks of a request before anything is looked up. Pure functions. */
#ifndef HARNESS_HTTP_GUARD_H
#define HARNESS_HTTP_GUARD_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    GUARD_URI_MAX = 8192,
    GUARD_TOKEN_MIN = 16,
    GUARD_TOKEN_MAX = 256,
};

/* Names under which a server may be asked. A page of another site that made its own name point
 * here (DNS rebinding) comes with that name, and is refused. */
struct guard_names {
    bool loopback; /* only reachable from this machine: numbers of other hosts are wrong */
    const char *const *names; /* further ones, such as behind a proxy; nr_names of them */
    size_t nr_names;
};

/* A Host header: a name or address, perhaps with a port. localhost and loopback addresses always
 * fit; other addresses, and this machine's own name, where the server is reachable from others. */
bool guard_host_fits(const char *host, const struct guard_names *names);

/* An Origin header: of a page of this server, as the Host header calls it. A proxy may speak TLS.
 */
bool guard_origin_fits(const char *origin, const char *host);

/* Of a further name: a host name alone, as a Host header brings it before the port. */
int guard_check_name(const char *name, struct error *err);

/* Letters, digits, - . _ ~ alone, and enough of them. */
int guard_check_token(const char *token, struct error *err);
/* In a time that depends on the lengths alone. */
bool guard_equal(const char *a, const char *b);

/* A request target that begins with one slash and holds neither control characters nor %00. */
bool guard_uri_fits(const char *uri);
/* The target without its parameter `token`, on the heap; NULL where it has none. */
char *guard_uri_without_token(const char *uri);

#endif
