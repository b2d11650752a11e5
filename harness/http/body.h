/* SPDX-License-Identifier: MIT */
/*
 * What an answer carries: bytes that do not change, shared by all who send them, with their tag and
 * their compressed form. Safe between threads.
 */
#ifndef HARNESS_HTTP_BODY_H
#define HARNESS_HTTP_BODY_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

struct body;

/* Media types; the last is that of Prometheus' classic form. */
extern const char body_json[], body_html[], body_text[], body_metrics[];

/* Takes the bytes and leaves `bytes` as after strbuf_release(). One holder. */
struct body *body_create(struct strbuf *bytes, const char *type);
struct body *body_keep(struct body *body); /* one more holder */
void body_drop(struct body *body);         /* one less; NULL is fine */

enum { BODY_TAG_SIZE = 48 };

struct body_form {
    char *bytes; /* not to be changed */
    size_t length;
    bool gzip;
    char tag[BODY_TAG_SIZE]; /* for ETag, quotes included; each form has its own */
};

/* As it is, or compressed where the reader can and it pays. Valid while the body is held. */
void body_form(struct body *body, bool can_gzip, struct body_form *form);
const char *body_type(const struct body *body);
size_t body_length(struct body *body); /* bytes of all its forms, with those still to be made */

/* Does one of the tags of an If-None-Match header mean this form? */
bool body_is_named(const struct body_form *form, const char *if_none_match);

/* "gzip" with a weight above 0 in an Accept-Encoding header; NULL: no. */
bool body_gzip_accepted(const char *accept_encoding);

#endif
