/* SPDX-License-Identifier: MIT */
/* What the files of the HTTP server share. */
#ifndef HARNESS_HTTP_HTTP_BASE_H
#define HARNESS_HTTP_HTTP_BASE_H

#include "base/strbuf.h"
#include "http/guard.h"
#include "http/http.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* libmicrohttpd, opened when a server starts (http_open()): it brings ten libraries along, and
 * every launch of a benchmark is a fresh process that would load them all for nothing. These are
 * its functions that are used here; their types are those of its own header. */
#define MICROHTTPD_FUNCTIONS(X)                                                                    \
    X(start_daemon)                                                                                \
    X(quiesce_daemon)                                                                              \
    X(stop_daemon)                                                                                 \
    X(get_connection_info)                                                                         \
    X(get_connection_values)                                                                       \
    X(lookup_connection_value)                                                                     \
    X(lookup_connection_value_n)                                                                   \
    X(create_response_from_buffer)                                                                 \
    X(create_response_from_buffer_with_free_callback_cls)                                          \
    X(create_response_from_callback)                                                               \
    X(add_response_header)                                                                         \
    X(queue_response)                                                                              \
    X(destroy_response)

#define MICROHTTPD_MEMBER(name) __typeof__(MHD_##name) *name;

struct microhttpd {
    void *handle;
    MICROHTTPD_FUNCTIONS(MICROHTTPD_MEMBER)
};

/* A connection, as far as its client and its deadline are concerned. */
struct http_slot {
    bool used;
    int fd;
    struct quota_client *member;
    int64_t deadline_ms; /* monotonic; 0: none */
    int64_t work_ms;     /* when the work on an answer began; 0: there is none */
    atomic_bool gone;    /* the client, while it is worked on */
};

struct http {
    struct microhttpd mhd;
    struct http_options options;
    char *token, *post_key;
    char **names;
    struct guard_names guard;
    char cookie[32]; /* its name: cookies do not know ports */
    struct listening listening;
    struct MHD_Daemon *daemon;
    struct quotas *quotas;
    struct quota_client *arriving; /* let in, and not yet a connection; the listening thread's */
    atomic_int answering;          /* requests whose answer is not yet sent */
    atomic_int handling;           /* of these, those that a handler is busy with */
    atomic_bool closing;
    pthread_t watchman;
    bool has_watchman;
    pthread_mutex_t lock; /* of what follows */
    struct http_slot slots[2 * HTTP_CONNECTIONS];
};

/* One request, from its first line to the end of its answer. */
struct http_visit {
    char *target; /* owned; NULL: longer than GUARD_URI_MAX */
    bool begun;   /* its headers have been looked at */
    bool posts;   /* it is a POST, so `body` is taken in */
    struct strbuf body;
    bool counted; /* among those being answered */
};

/* Cuts connections whose time is up, until the server closes. */
void *http_watch(void *http);
void http_connection_changed(void *http, struct MHD_Connection *connection, void **slot,
                             enum MHD_ConnectionNotificationCode what);
/* Is there a place for a new connection? */
enum MHD_Result http_admit(void *http, const struct sockaddr *peer, socklen_t size);
/* NULL where the library lost it. */
struct http_slot *http_slot_of(const struct http *http, struct MHD_Connection *connection);
/* Around the work on an answer: false, there is no place for it. */
bool http_begin_work(struct http *http, struct MHD_Connection *connection);
void http_end_work(struct http *http, struct MHD_Connection *connection);
/* Waits, as long as the server is not closing. */
void http_pause(struct http *http, int ms);
/* From now on so many ms; 0: no end. */
void http_set_deadline(struct http *http, struct MHD_Connection *connection, int64_t ms);

/* False: go on; else the answer that refuses the request is on its way, with that result. */
bool http_refuse(struct http *http, struct MHD_Connection *connection, struct http_visit *visit,
                 const char *method, const char *path, enum MHD_Result *result);
enum MHD_Result http_send(struct http *http, struct MHD_Connection *connection,
                          struct http_answer answer);
/* The same with one more header; the name may be NULL. */
enum MHD_Result http_send_with(struct http *http, struct MHD_Connection *connection,
                               struct http_answer answer, const char *name, const char *value);
/* The headers of all answers; `type` is one of http/body.h. */
void http_add_headers(const struct http *http, struct MHD_Response *response, const char *type);
/* Hands a response over to the library; NULL: there is no memory for one. */
enum MHD_Result http_queue(const struct http *http, struct MHD_Connection *connection,
                           unsigned status, struct MHD_Response *response);
/* A header of the request; NULL: it has none of that name. */
const char *http_header(const struct http *http, struct MHD_Connection *connection,
                        const char *name);
enum MHD_Result http_send_news(struct http *http, struct MHD_Connection *connection);

#endif
