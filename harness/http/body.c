/* SPDX-License-Identifier: MIT */
#include "http/body.h"

#include "base/memory.h"
#include "base/pack.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char body_json[] = "application/json; charset=utf-8";
const char body_html[] = "text/html; charset=utf-8";
const char body_text[] = "text/plain; charset=utf-8";
const char body_metrics[] = "text/plain; version=0.0.4; charset=utf-8";

enum { GZIP_FROM = 1024 }; /* less fits into one packet anyway */

struct body {
    atomic_size_t holders;
    const char *type;
    struct strbuf plain, packed;
    uint64_t digest;
    bool tried; /* whether packing pays is known */
    pthread_mutex_t lock;
};

/* FNV-1a: tells versions of a page apart, and guards nothing. */
static uint64_t body_digest(const char *bytes, size_t length)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < length; i++)
        digest = (digest ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return digest;
}

/* What it was grown to is up to twice of what it holds. */
static void body_fit(struct strbuf *bytes)
{
    bytes->data = memory_resize(bytes->data, bytes->length + 1, 1);
    bytes->capacity = bytes->length + 1;
}

struct body *body_create(struct strbuf *bytes, const char *type)
{
    struct body *body = memory_zeroed(1, sizeof(*body));

    atomic_init(&body->holders, 1);
    body->type = type;
    body->plain = *bytes;
    body_fit(&body->plain);
    *bytes = (struct strbuf) { .data = NULL };
    strbuf_init(&body->packed);
    body->digest = body_digest(body->plain.data, body->plain.length);
    pthread_mutex_init(&body->lock, NULL);
    return body;
}

struct body *body_keep(struct body *body)
{
    atomic_fetch_add(&body->holders, 1);
    return body;
}

void body_drop(struct body *body)
{
    if (!body || atomic_fetch_sub(&body->holders, 1) > 1)
        return;
    strbuf_release(&body->plain);
    strbuf_release(&body->packed);
    pthread_mutex_destroy(&body->lock);
    free(body);
}

/* Once, by whoever needs it first. */
static bool body_pack(struct body *body)
{
    pthread_mutex_lock(&body->lock);
    bool tried = body->tried;
    if (!tried && body->plain.length >= GZIP_FROM)
        gzip_add(&body->packed, body->plain.data, body->plain.length, GZIP_FAST);
    body->tried = true;
    bool pays = body->packed.length > 0 && body->packed.length < body->plain.length;
    if (pays && !tried)
        body_fit(&body->packed);
    else if (!pays)
        strbuf_release(&body->packed);
    pthread_mutex_unlock(&body->lock);
    return pays;
}

void body_form(struct body *body, bool can_gzip, struct body_form *form)
{
    bool gzip = can_gzip && body_pack(body);
    const struct strbuf *bytes = gzip ? &body->packed : &body->plain;

    *form = (struct body_form) { .bytes = bytes->data, .length = bytes->length, .gzip = gzip };
    snprintf(form->tag, sizeof(form->tag), "\"%016" PRIx64 "-%zx%s\"", body->digest,
             body->plain.length, gzip ? "-gz" : "");
}

const char *body_type(const struct body *body)
{
    return body->type;
}

size_t body_length(struct body *body)
{
    pthread_mutex_lock(&body->lock);
    size_t packed = body->tried ? body->packed.capacity : body->plain.length;
    pthread_mutex_unlock(&body->lock);
    return sizeof(*body) + body->plain.capacity + packed;
}

bool body_is_named(const struct body_form *form, const char *if_none_match)
{
    const char *at = if_none_match ? if_none_match : "";
    size_t length = strlen(form->tag);

    /* RFC 9110, 13.1.2: a list of tags, compared without regard to W/; or * for any. */
    while (*at) {
        at += strspn(at, " \t,");
        if (*at == '*')
            return true;
        if (strncmp(at, "W/", 2) == 0)
            at += 2;
        if (strncmp(at, form->tag, length) == 0)
            return true;
        at += strcspn(at, ",");
    }
    return false;
}

bool body_gzip_accepted(const char *accept_encoding)
{
    const char *at = accept_encoding ? accept_encoding : "";

    for (; *at; at += strcspn(at, ",")) {
        at += strspn(at, " \t,");
        size_t name = strcspn(at, " \t;,");
        if (name != 4 || strncasecmp(at, "gzip", 4) != 0)
            continue;
        const char *weight = at + name + strspn(at + name, " \t;");
        return strncasecmp(weight, "q=", 2) != 0 || strtod(weight + 2, NULL) > 0;
    }
    return false;
}
