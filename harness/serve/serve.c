/* SPDX-License-Identifier: MIT */
#include "serve/serve_parts.h"

#include "base/memory.h"
#include "view/history_side.h"

#include <inttypes.h>
#include <malloc.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void keep_body(void *body)
{
    body_keep(body);
}

static void drop_body(void *body)
{
    body_drop(body);
}

static size_t size_of_body(void *body)
{
    return body_length(body);
}

const struct cache_kind serve_body_kind = { keep_body, drop_body, size_of_body };
const struct cache_kind serve_scene_kind = { scene_keep, scene_drop, scene_size };

/* ---- scenes ---- */

static int stop_reading(void *context)
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
    store_set_stop(store, stop_reading, (void *)request);
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

struct scene_making {
    struct serve *serve;
    const struct http_request *request;
    const struct wanted *wanted;
    struct failure *failure;
};

static void *make_scene(void *context)
{
    struct scene_making *m = context;
    struct serve *s = m->serve;
    struct scene_source source = {
        .request = s->options.request,
        .history = s->options.db,
        .generator = s->options.generator,
    };
    struct store *store = serve_take_store(s, m->request, m->failure);

    if (!store)
        return NULL;
    struct scene *scene = scene_load(store, &source, m->wanted, m->failure);
    serve_give_store(s, store);
    if (serve_is_over(m->request, m->failure)) {
        scene_drop(scene);
        return NULL;
    }
    if (!scene)
        return NULL;
    const char *machine = scene_machine(scene);
    struct past *past = machine ? keeper_past(s->keeper, machine, &source.past_failed) : NULL;
    source.created_ms = keeper_changed_ms(s->keeper);
    scene_finish(scene, &source, past);
    return scene;
}

struct scene *serve_scene(struct serve *s, const struct http_request *request,
                          const struct wanted *wanted, struct failure *failure)
{
    struct scene_making making = { s, request, wanted, failure };
    struct strbuf name;

    strbuf_init(&name);
    strbuf_adds(&name, "scene ");
    wanted_name(wanted, &name);
    const struct cache_name named = { name.data, keeper_version(s->keeper) };
    struct scene *scene = cache_get(s->cache, &serve_scene_kind, named, make_scene, &making);
    strbuf_release(&name);
    return scene;
}

/* ---- beginning and end ---- */

static void tell_pages(void *context, int64_t newest)
{
    struct serve *s = context;

    if (s->events && newest > 0) /* else all runs are gone: a page has nothing new to show */
        events_tell(s->events, newest);
}

/* What was let go of goes back to the system: else what is held is the most that ever was. */
static void tidy(void *context)
{
    struct serve *s = context;
    size_t pasts = keeper_size(s->keeper);

    cache_forget(s->cache, keeper_version(s->keeper));
    cache_reserve(s->cache, pasts);
    size_t dropped = cache_dropped(s->cache);
    if (dropped - s->dropped < SERVE_TRIM)
        return;
    s->dropped = dropped;
    malloc_trim(0);
}

static void renew_handles(void *context)
{
    struct serve *s = context;

    handles_renew(s->handles);
}

static void empty_handles(void *context)
{
    struct serve *s = context;

    handles_empty(s->handles);
}

/* A base that is nowhere is a mistake of whoever starts the server. In an empty history there is
 * none yet. */
static int check_baseline(struct serve *s, struct error *err)
{
    const struct view_request *request = s->options.request;
    struct store_filter filter = { .without_samples = true, .without_telemetry = true };
    struct history_side side = { 0 };
    struct query_state state;

    if (!request->baseline)
        return 0;
    struct store *store = handles_take(s->handles, SERVE_PATIENCE_MS);
    const struct history_source source = { store, request->baselines, &filter };
    int rc = query_state(store, &state, err);
    if (rc == 0 && state.runs > 0)
        rc = history_side_load(&source, request->baseline, NULL, &side, err);
    if (rc && side.nothing)
        rc = 0;
    history_side_release(&side);
    handles_give(s->handles, store);
    return rc;
}

static int open_history(struct serve *s, struct error *err)
{
    struct keeper_options keeper = {
        .path = s->options.path,
        .public_only = s->options.public_only,
        .window = s->options.history,
        .tell = tell_pages,
        .renew = renew_handles,
        .tidy = tidy,
        .empty = empty_handles,
        .context = s,
    };

    return handles_open(s->options.path, SERVE_HANDLES, &s->handles, err) ||
                   check_baseline(s, err) || keeper_open(&keeper, &s->keeper, err)
               ? -1
               : 0;
}

static int open_http(struct serve *s, struct error *err)
{
    const struct serve_options *o = &s->options;
    struct http_options http = {
        .host = o->host,
        .port = o->port,
        .token = o->token,
        .names = o->names,
        .nr_names = o->nr_names,
        .events = s->events,
        .handle = serve_answer,
        .context = s,
    };

    if (http_open(&http, &s->http, err))
        return -1;
    const struct listening *l = http_listening(s->http);
    snprintf(s->url, sizeof(s->url), "http://%s:%d/", l->host, l->port);
    char name[256] = ""; /* the one that guard_host_fits() lets in */
    if (l->everywhere && gethostname(name, sizeof(name) - 1) == 0 && name[0])
        snprintf(s->others_url, sizeof(s->others_url), "http://%s:%d/", name, l->port);
    return 0;
}

static void release(struct serve *s)
{
    keeper_close(s->keeper); /* whose thread tidies up the cache */
    cache_free(s->cache);
    handles_close(s->handles);
    events_free(s->events);
    free(s);
}

int serve_open(const struct serve_options *options, struct serve **out, struct error *err)
{
    const char *html = options->html ? options->html : page_template(err);

    *out = NULL;
    if (!html)
        return -1;
    struct serve *s = memory_zeroed(1, sizeof(*s));
    s->options = *options;
    s->html = html;
    s->events = options->watch ? events_create() : NULL;
    s->cache = cache_create(SERVE_KEPT);
    if (open_history(s, err) || open_http(s, err)) {
        release(s);
        return -1;
    }
    *out = s;
    return 0;
}

const char *serve_url(const struct serve *serve)
{
    return serve->url;
}

const char *serve_others_url(const struct serve *serve)
{
    return serve->others_url[0] ? serve->others_url : NULL;
}

bool serve_close(struct serve *s, int patience_ms)
{
    if (!http_close(s->http, patience_ms))
        return false;
    release(s);
    return true;
}
