/* SPDX-License-Identifier: MIT */
/* A reader of the live page: plain sockets on the loopback address, bytes in and bytes out. */
#ifndef HARNESS_TESTS_SERVE_CLIENT_H
#define HARNESS_TESTS_SERVE_CLIENT_H

#include "base/strbuf.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000 }; /* a machine may be busy; who expects silence does not wait so long */

struct reply {
    int status; /* 0: the connection ended without an answer */
    struct strbuf head, body;
};

static inline int client_connect(int port)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((in_port_t)port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* False: the other side does not take any more. */
static inline bool client_send(int fd, const void *bytes, size_t nr)
{
    const char *at = bytes;

    while (nr > 0) {
        ssize_t sent = send(fd, at, nr, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        at += sent;
        nr -= (size_t)sent;
    }
    return true;
}

/* Until the other side closes, the text is there, or nothing came for so long. */
static inline void client_read(int fd, const char *until, int ms, struct strbuf *out)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    char bytes[16384];
    ssize_t nr;

    while (!(until && strstr(out->data, until)) && poll(&p, 1, ms) > 0 &&
           (nr = recv(fd, bytes, sizeof(bytes), 0)) > 0)
        strbuf_add(out, bytes, (size_t)nr);
}

static inline void reply_parse(const struct strbuf *raw, struct reply *r)
{
    const char *end = strstr(raw->data, "\r\n\r\n");

    *r = (struct reply) { .status = 0 };
    strbuf_init(&r->head);
    strbuf_init(&r->body);
    if (!end || strncmp(raw->data, "HTTP/1.", 7) != 0)
        return;
    size_t head = (size_t)(end - raw->data) + 4, length = raw->length - head;
    r->status = atoi(raw->data + 9);
    strbuf_add(&r->head, raw->data, head);
    /* What follows is the answer to something else. */
    const char *said = strcasestr(r->head.data, "\r\nContent-Length: ");
    size_t own = said ? strtoul(said + 18, NULL, 10) : length;
    strbuf_add(&r->body, raw->data + head, own < length ? own : length);
}

static inline void reply_release(struct reply *r)
{
    strbuf_release(&r->head);
    strbuf_release(&r->body);
}

/* The bytes as they are; reads until the other side closes. */
static inline void client_ask_bytes(int port, const void *bytes, size_t nr, struct reply *r)
{
    struct strbuf raw;
    int fd = client_connect(port);

    strbuf_init(&raw);
    if (fd >= 0) {
        client_send(fd, bytes, nr);
        client_read(fd, NULL, PATIENCE_MS, &raw);
        close(fd);
    }
    reply_parse(&raw, r);
    strbuf_release(&raw);
}

/* "GET", "/api/core", and further header lines, each ended by \r\n. */
static inline void client_ask(int port, const char *method, const char *target, const char *headers,
                              struct reply *r)
{
    struct strbuf request;

    strbuf_init(&request);
    strbuf_addf(&request, "%s %s HTTP/1.1\r\n%s%sConnection: close\r\n\r\n", method, target,
                strcasestr(headers, "host:") ? "" : "Host: localhost\r\n", headers);
    client_ask_bytes(port, request.data, request.length, r);
    strbuf_release(&request);
}

/* Sends a text, with its length and these header lines. */
static inline void client_post(int port, const char *target, const char *headers, const char *body,
                               struct reply *r)
{
    struct strbuf request;

    strbuf_init(&request);
    strbuf_addf(&request,
                "POST %s HTTP/1.1\r\n%s%sContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
                target, strcasestr(headers, "host:") ? "" : "Host: localhost\r\n", headers,
                strlen(body), body);
    client_ask_bytes(port, request.data, request.length, r);
    strbuf_release(&request);
}

/* The status alone. */
static inline int client_status(int port, const char *method, const char *target,
                                const char *headers)
{
    struct reply r;

    client_ask(port, method, target, headers, &r);
    int status = r.status;
    reply_release(&r);
    return status;
}

/* The value of a header, into `value`; "" where it is not there. */
static inline const char *reply_header(const struct reply *r, const char *name, char value[256])
{
    char line[80];

    snprintf(line, sizeof(line), "\r\n%s: ", name);
    const char *at = strcasestr(r->head.data, line);
    value[0] = '\0';
    if (at)
        snprintf(value, 256, "%.*s", (int)strcspn(at + strlen(line), "\r\n"), at + strlen(line));
    return value;
}

#endif
