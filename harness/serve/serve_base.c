/* SPDX-License-Identifier: MIT */
#include "serve/serve_base.h"

#include <microhttpd.h>

static void serve_keep_body(void *body)
{
    body_keep(body);
}

static void serve_drop_body(void *body)
{
    body_drop(body);
}

static size_t serve_body_size(void *body)
{
    return body_length(body);
}

const struct cache_kind serve_body_kind = { serve_keep_body, serve_drop_body, serve_body_size };
const struct cache_kind serve_view_kind = { live_view_keep, live_view_drop, live_view_size };

/* ---- views ---- */

static int serve_stop_reading(void *context)
{
    return http_request_over(context) != HTTP_GO_ON;
}

struct store *serve_take_store(struct serve *s, const struct http_request *request,
                               struct failure *failure)
{
    struct store *store = handles_take(s->handles, SERVE_PATIENCE_MS);

    *failure = (struct failure) { .status = MHD_HTTP_SERVICE_UNAVAILABLE };
    if (!store) {
        error_set(&failure->err, "the server is busy; try again");
        return NULL;
    }
    if (store_begin_reading(store, &failure->err)) {
        failure->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
        handles_give(s->handles, store);
        return NULL;
    }
    store_set_stop(store, serve_stop_reading, (void *)request);
    return store;
}

void serve_give_store(struct serve *s, struct store *store)
{
    store_set_stop(store, NULL, NULL);
    store_end_reading(store);
    handles_give(s->handles, store);
}

bool serve_is_over(const struct http_request *request, struct failure *failure)
{
    enum http_over over = http_request_over(request);

    if (over == HTTP_GO_ON)
        return false;
    *failure = (struct failure) { .status = MHD_HTTP_SERVICE_UNAVAILABLE };
    if (over == HTTP_GONE) /* nobody reads it */
        error_set(&failure->err, "the client has left");
    else
        error_set(&failure->err,
                  "this took longer than %d s; ask for less: fewer runs (run=), a condition "
                  "(where=), a shorter list (limit=)",
                  HTTP_WORK_MS / 1000);
    return true;
}

struct live_view_making {
    struct serve *serve;
    const struct http_request *request;
    const struct parameters *parameters;
    struct failure *failure;
};

static void *serve_make_view(void *context)
{
    struct live_view_making *m = context;
    struct serve *s = m->serve;
    struct live_view_source source = {
        .request = s->options.request,
        .history = s->options.db,
        .asked = s->options.asked,
        .repository = s->options.repository,
        .generator = s->options.generator,
    };
    struct store *store = serve_take_store(s, m->request, m->failure);

    if (!store)
        return NULL;
    struct live_view *live = live_view_load(store, &source, m->parameters, m->failure);
    serve_give_store(s, store);
    if (serve_is_over(m->request, m->failure)) {
        live_view_drop(live);
        return NULL;
    }
    if (!live)
        return NULL;
    const char *machine = live_view_machine(live);
    struct class_history *history =
        machine ? watcher_history(s->watcher, machine, &source.history_failed) : NULL;
    source.created_ms = watcher_changed_ms(s->watcher);
    live_view_finish(live, &source, history);
    return live;
}

struct live_view *serve_live_view(struct serve *s, const struct http_request *request,
                                  const struct parameters *parameters, struct failure *failure)
{
    struct live_view_making making = { s, request, parameters, failure };
    struct strbuf name;

    strbuf_init(&name);
    strbuf_adds(&name, "view ");
    parameters_name(parameters, &name);
    const struct cache_name named = { name.data, watcher_version(s->watcher) };
    struct live_view *live = cache_get(s->cache, &serve_view_kind, named, serve_make_view, &making);
    strbuf_release(&name);
    return live;
}
