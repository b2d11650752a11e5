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

static inline void serving_open(struct serving *s, const char *path, bool watch)
{
    struct error err;

    *s = (struct serving) { .port = 0 };
    assert_ok(presets_load_embedded(&s->presets, &err), &err);
    struct serve_options options = {
        .path = path,
        .host = "127.0.0.1",
        .watch = watch,
        .history = 200,
        .request = &s->request,
        .presets = &s->presets,
        .generator = "harness test",
        .db = "",
        .html = serving_template,
    };
    assert_ok(serve_open(&options, &s->serve, &err), &err);
    s->port = atoi(strrchr(serve_url(s->serve), ':') + 1);
}

static inline void serving_close(struct serving *s)
{
    assert_true(serve_close(s->serve, 5000));
    presets_release(&s->presets);
}

#endif
