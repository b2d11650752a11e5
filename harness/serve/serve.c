/* SPDX-License-Identifier: MIT */
#include "serve/edits.h"

#include "base/memory.h"
#include "view/history_side.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A base that is nowhere is a mistake of whoever starts the server. In an empty history there is
 * none yet. */
static int serve_check_baseline(struct serve *s, struct error *err)
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

static int serve_open_history(struct serve *s, struct error *err)
{
    const struct serve_options *o = &s->options;

    if (o->edit_key && !o->token)
        return error_set(err, "who can ask could write: with --edit there is a token");
    if ((o->edit_key && edits_check(o->path, &o->tell, err)) ||
        handles_open(o->path, SERVE_HANDLES, &o->tell, &s->handles, err) ||
        serve_check_baseline(s, err))
        return -1;
    return watcher_open(&(struct watcher_options) { .path = o->path,
                                                    .tell = o->tell,
                                                    .public_only = o->public_only,
                                                    .window = o->history,
                                                    .handles = s->handles,
                                                    .events = s->events,
                                                    .cache = s->cache },
                        &s->watcher, err);
}

static int serve_open_http(struct serve *s, struct error *err)
{
    const struct serve_options *o = &s->options;
    struct http_options http = {
        .host = o->host,
        .port = o->port,
        .token = o->token,
        .names = o->names,
        .nr_names = o->nr_names,
        .post_key = o->edit_key,
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

static void serve_release(struct serve *s)
{
    watcher_close(s->watcher); /* whose thread tidies up the cache */
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
    if (serve_open_history(s, err) || serve_open_http(s, err)) {
        serve_release(s);
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
    serve_release(s);
    return true;
}
