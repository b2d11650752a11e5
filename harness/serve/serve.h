/* SPDX-License-Identifier: MIT */
/*
 * The live page: the page of `harness report`, sent by a server that answers its requests from the
 * history. docs/serve.md has its addresses, docs/decisions/0015 what it is guarded against.
 *
 *     struct serve *serve;
 *     if (serve_open(&options, &serve, err))
 *         return -1;
 *     puts(serve_url(serve));
 *     ... wait until it shall end ...
 *     serve_close(serve, 5000);
 */
#ifndef HARNESS_SERVE_SERVE_H
#define HARNESS_SERVE_SERVE_H

#include "view/view.h"

#include <stdbool.h>
#include <stddef.h>

enum { SERVE_RUNS_MAX = 12 }; /* that a request may name */

struct page_asked;

struct serve_options {
    const char *path;         /* of the history; only read, but for edit_key */
    struct store_teller tell; /* of what lay beside it, by any thread of the server */
    const char *host;         /* an address of this machine, see http/listen.h */
    int port;                 /* 0: any free one */
    const char *token;        /* what every request must know; NULL: only on a loopback address */
    const char *const *names; /* further host names under which it may be asked; nr_names of them */
    size_t nr_names;
    /* There is no token because every user may read the history anyway: a file that takes its place
     * and that not all may read is not shown. */
    bool public_only;
    /* What a page that was sent from here brings with what it writes (serve/edits.h), unguessable.
     * NULL: nothing can be written. Then there is a token, too: who may not write to the file could
     * do it here else. */
    const char *edit_key;
    const char *author; /* of acceptances; NULL: nobody knows */
    bool watch;         /* tell open pages of new runs */
    size_t history;     /* runs that trends reach back to, at least; 0: all */
    /* What all pages have in common: configuration, models, base, filters. Borrowed. */
    const struct view_request *request;
    const struct presets *presets;             /* borrowed */
    const char *generator;                     /* "harness 0.1.0 (3f2a91c)" */
    const struct trend_repository *repository; /* for cards of trends; borrowed, may be NULL */
    const char *db; /* for the commands that the page shows, see page_options; as the next */
    const struct page_asked *asked; /* borrowed */
    const char *html;               /* the page's template; NULL: page_template() */
};

struct serve;

/* Answers from here on, in threads of its own. */
int serve_open(const struct serve_options *options, struct serve **serve, struct error *err);
/* "http://127.0.0.1:8080/": where a reader on this machine finds it. */
const char *serve_url(const struct serve *serve);
/* "http://bench7:8080/": where readers on other machines may find it, if they know the name of this
 * one. NULL where it listens at one address alone. */
const char *serve_others_url(const struct serve *serve);
/* Answers what has been asked, for at most so long, then ends. False: an answer is still being
 * made; leave everything alone, the process should end. */
bool serve_close(struct serve *serve, int patience_ms);

#endif
