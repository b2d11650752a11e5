/* SPDX-License-Identifier: MIT */
/* A live page over a made-up history, for programs that ask it. */
#ifndef HARNESS_TESTS_SERVING_H
#define HARNESS_TESTS_SERVING_H

#include "testing.h"

#include "page/page.h"
#include "serve/serve.h"
#include "serve_client.h"

#include <stdlib.h>

/* Stands in for the page, which only a build with npm has. */
static const char serving_template[] =
    "<!doctype html><meta http-equiv=\"Content-Security-Policy\" content=\"connect-src "
    "{{connect}}\"><title>{{title}}</title>{{data}}";

struct serving {
    struct view_request request;
    struct presets presets;
    struct serve *serve;
    int port;
};

/* Of a server that takes what readers write. */
#define SERVING_TOKEN "a-token-of-the-tests"
#define SERVING_KEY   "a-key-of-the-tests-1"

static inline void serving_open_with(struct serving *s, struct serve_options options)
{
    struct error err;

    *s = (struct serving) { .port = 0 };
    if (options.request)
        s->request = *options.request;
    assert_ok(presets_load_embedded(&s->presets, &err), &err);
    options.host = "127.0.0.1";
    options.history = 200;
    options.request = &s->request;
    options.presets = &s->presets;
    options.generator = "harness test";
    options.db = "";
    options.html = serving_template;
    assert_ok(serve_open(&options, &s->serve, &err), &err);
    s->port = atoi(strrchr(serve_url(s->serve), ':') + 1);
}

static inline void serving_open(struct serving *s, const char *path, bool watch)
{
    serving_open_with(s, (struct serve_options) { .path = path, .watch = watch });
}

static inline void serving_close(struct serving *s)
{
    assert_true(serve_close(s->serve, 5000));
    presets_release(&s->presets);
}

#endif
