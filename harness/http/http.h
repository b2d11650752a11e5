/* SPDX-License-Identifier: MIT */
/*
 * A small HTTP server around libmicrohttpd that does all but the content: limits on connections,
 * sizes and times, who may ask (http/guard.h), tags, compression, the headers that keep a browser
 * from being tricked, and an orderly end. GET and HEAD alone, unless there is a key for POST.
 *
 * One thread a connection, HTTP_CONNECTIONS at most, so a handler may simply take its time, as long
 * as it looks at http_request_over(). What one client may have of all that: http/quota.h.
 */
#ifndef HARNESS_HTTP_HTTP_H
#define HARNESS_HTTP_HTTP_H

#include "http/body.h"
#include "http/events.h"
#include "http/listen.h"
#include "http/quota.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    HTTP_CONNECTIONS = QUOTA_CONNECTIONS,
    HTTP_TIMEOUT_S = 30,         /* without a byte in either direction */
    HTTP_REQUEST_MS = 10000,     /* for a request to arrive whole, however slowly its bytes drip */
    HTTP_PATIENCE_MS = 10000,    /* that a request waits for its client's earlier ones */
    HTTP_WORK_MS = 20000,        /* that an answer is worked on */
    HTTP_ANSWER_MS = 30000,      /* for an answer to be taken away whole, and ... */
    HTTP_ANSWER_RATE = 64 << 10, /* ... a second more for each so many bytes */
    HTTP_GOODBYE_MS = 1000,      /* for pages that wait for news to hear of the end */
    HTTP_HEADERS_MAX = 32768,    /* bytes of one request */
    HTTP_BODY_MAX = 8192,        /* bytes of what a POST brings */
};

#define HTTP_KEY_HEADER "X-Harness-Key"

struct http;

struct http_request {
    const char *path;        /* decoded, without the query */
    const char *target;      /* as it came, with the query, at most GUARD_URI_MAX bytes */
    const struct http *http; /* for http_parameter(), with the next */
    void *connection;
    const char *posted;   /* what a POST brought, then a 0; NULL: it is a GET */
    size_t posted_length; /* of it, without that 0 */
};

/* Why to stop working on an answer: whoever takes long asks for it now and then. */
enum http_over {
    HTTP_GO_ON,
    HTTP_GONE, /* the client has left: nobody waits for the answer */
    HTTP_LATE, /* it was worked on for too long */
};
enum http_over http_request_over(const struct http_request *request);

/* A decoded parameter of the query; NULL if it is not there. "" where it has no value. */
const char *http_parameter(const struct http_request *request, const char *name);
/* The first parameter that is not in the NULL-ended list; NULL: all are. */
const char *http_unknown_parameter(const struct http_request *request, const char *const *names);

struct http_answer {
    unsigned status;
    struct body *body; /* owned */
    bool news;         /* a stream of events instead of a body */
};

/* {"error": message} with "at": column where that is above 0. */
struct http_answer http_error(unsigned status, size_t column, const char *message);

struct http_options {
    const char *host;         /* see listen_open() */
    int port;                 /* 0: any free one */
    const char *token;        /* NULL: none is asked for; then only a loopback address is taken */
    const char *const *names; /* further host names that may be asked for; nr_names of them */
    size_t nr_names;
    /* What a POST must bring in its header HTTP_KEY_HEADER, beside all that a GET needs; it is
     * JSON, and from a page of this server. NULL: there is no POST. */
    const char *post_key;
    struct events *events;               /* for answers with `news`; NULL: there are none */
    int work_ms, answer_ms, answer_rate; /* 0: HTTP_WORK_MS, HTTP_ANSWER_MS, HTTP_ANSWER_RATE */
    /* Called in many threads at once. */
    struct http_answer (*handle)(void *context, const struct http_request *request);
    void *context;
};

/* Listens and answers from here on. The options' texts are copied, the rest is borrowed. */
int http_open(const struct http_options *options, struct http **http, struct error *err);
const struct listening *http_listening(const struct http *http);
/* Takes no new connections, answers what has been asked, at most so long, then closes. False: a
 * handler is still at work, so `http`, and what it borrows, must be left alone: end the process, or
 * call this again. */
bool http_close(struct http *http, int patience_ms);

#endif
