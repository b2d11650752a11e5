/* SPDX-License-Identifier: MIT */
/* What the files of the live page share. */
#ifndef HARNESS_SERVE_SERVE_BASE_H
#define HARNESS_SERVE_SERVE_BASE_H

#include "http/http.h"
#include "serve/cache.h"
#include "serve/handles.h"
#include "serve/live_view.h"
#include "serve/serve.h"
#include "serve/watcher.h"

enum {
    SERVE_HANDLES = 4,
    SERVE_PATIENCE_MS = 10000, /* that a request waits for a handle */
    SERVE_KEPT = 48 << 20,     /* bytes of answers, views and histories kept */
    SERVE_SAMPLES_MOST = 5000, /* of one launch, in /api/samples */
};

struct serve {
    struct serve_options options;
    const char *html;
    char url[96];
    char others_url[320]; /* "": there is none */
    struct handles *handles;
    struct watcher *watcher;
    struct events *events;
    struct cache *cache;
    struct http *http;
};

/* Answers any request; `context` is a struct serve. */
struct http_answer serve_answer(void *context, const struct http_request *request);

/* A handle that reads one state of the history, until the request is over; NULL and a failure. Give
 * it back. */
struct store *serve_take_store(struct serve *s, const struct http_request *request,
                               struct failure *failure);
void serve_give_store(struct serve *s, struct store *store);
/* Is the request over? Then the failure says why there is no answer. */
bool serve_is_over(const struct http_request *request, struct failure *failure);

/* The view of a request; drop it. NULL and a failure. */
struct live_view *serve_live_view(struct serve *s, const struct http_request *request,
                                  const struct parameters *parameters, struct failure *failure);

extern const struct cache_kind serve_view_kind, serve_body_kind;

#endif
