/* SPDX-License-Identifier: MIT */
#include "http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 1024 }; /* the system waits for seconds where there is no room */

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

static socklen_t listen_address_size(const union address *a)
{
    return a->any.sa_family == AF_INET6 ? sizeof(a->six) : sizeof(a->four);
}

static int listen_parse_address(const char *host, int port, union address *a, struct error *err)
{
    const char *name = strcasecmp(host, "localhost") == 0 ? "127.0.0.1" : host;

    memset(a, 0, sizeof(*a));
    if (inet_pton(AF_INET, name, &a->four.sin_addr) == 1) {
        a->four.sin_family = AF_INET;
        a->four.sin_port = htons((in_port_t)port);
        return 0;
    }
    if (inet_pton(AF_INET6, name, &a->six.sin6_addr) == 1) {
        a->six.sin6_family = AF_INET6;
        a->six.sin6_port = htons((in_port_t)port);
        return 0;
    }
    return error_set(err,
                     "\"%s\" is no address to listen at; take 127.0.0.1 (this machine alone), "
                     "0.0.0.0 (all networks) or one of this machine's own",
                     host);
}

static int listen_bind_error(int number, const char *host, int port, struct error *err)
{
    if (number == EADDRINUSE)
        return error_set(err,
                         "port %d is in use, perhaps by another `harness serve`; take another with "
                         "--port, or --port 0 for any free one",
                         port);
    if (number == EACCES)
        return error_set(err, "port %d needs root; take one from 1024 on with --port", port);
    return error_set(err, "cannot listen at %s, port %d: %s", host, port, strerror(number));
}

static bool listen_loopback(const union address *a)
{
    if (a->any.sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&a->six.sin6_addr);
    return (ntohl(a->four.sin_addr.s_addr) >> 24) == 127;
}

bool listen_is_loopback(const char *host)
{
    struct error ignored;
    union address address;

    return listen_parse_address(host, 0, &address, &ignored) == 0 && listen_loopback(&address);
}

static int listen_describe(const union address *asked, struct listening *out, struct error *err)
{
    char text[INET6_ADDRSTRLEN];
    union address bound = { .six = { .sin6_family = AF_UNSPEC } };
    socklen_t size = sizeof(bound);

    if (getsockname(out->fd, &bound.any, &size))
        return error_set(err, "the listening socket: %s", strerror(errno));
    out->ipv6 = bound.any.sa_family == AF_INET6;
    out->loopback = listen_loopback(asked);
    out->port = ntohs(out->ipv6 ? bound.six.sin6_port : bound.four.sin_port);
    out->everywhere = out->ipv6 ? IN6_IS_ADDR_UNSPECIFIED(&bound.six.sin6_addr)
                                : bound.four.sin_addr.s_addr == htonl(INADDR_ANY);
    /* All addresses: the loopback one is among them. */
    if (out->everywhere && out->ipv6)
        bound.six.sin6_addr = in6addr_loopback;
    else if (out->everywhere)
        bound.four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const void *number = out->ipv6 ? (const void *)&bound.six.sin6_addr : &bound.four.sin_addr;
    inet_ntop(bound.any.sa_family, number, text, sizeof(text));
    snprintf(out->host, sizeof(out->host), out->ipv6 ? "[%s]" : "%s", text);
    return 0;
}

int listen_open(const char *host, int port, struct listening *out, struct error *err)
{
    union address address;
    int on = 1;

    *out = (struct listening) { .fd = -1 };
    if (listen_parse_address(host, port, &address, err))
        return -1;
    out->fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (out->fd < 0)
        return error_set(err, "cannot make a socket: %s", strerror(errno));
    /* Else a port stays taken for a minute after the last connection. */
    setsockopt(out->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    int rc = 0;
    if (bind(out->fd, &address.any, listen_address_size(&address)) || listen(out->fd, BACKLOG))
        rc = listen_bind_error(errno, host, port, err);
    if (rc == 0)
        rc = listen_describe(&address, out, err);
    if (rc) {
        close(out->fd);
        out->fd = -1;
    }
    return rc;
}
