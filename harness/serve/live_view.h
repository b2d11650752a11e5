/* SPDX-License-Identifier: MIT */
/*
 * What one request shows, loaded: the runs asked for and their base as a view and a page, the list
 * of runs beside them, and the history of their machine class. Shared by all requests that ask for
 * the same; it does not change.
 */
#ifndef HARNESS_SERVE_LIVE_VIEW_H
#define HARNESS_SERVE_LIVE_VIEW_H

#include "page/page.h"
#include "query/query.h"
#include "serve/class_history.h"
#include "serve/parameters.h"

#include <stdatomic.h>

struct live_view {
    atomic_int holders;
    struct view view;
    struct page page;
    struct class_history *history; /* NULL: not made yet */
    struct records listed;         /* facts of the listed runs, newest first */
    struct page_run *more;         /* the same for the page */
    int64_t next;                  /* run that the next part of the list begins with; 0: none */
    int64_t newest; /* finished run of the whole history, when it was read; 0: none */
    bool gave_up;   /* looking for more; they may be there */
    size_t limit;
    struct string_list keys; /* benchmarks that the condition lets through, sorted ... */
    bool filtered;           /* ... where it says anything about benchmarks */
    bool narrowed;           /* ... beside the server's own filters */
    struct strbuf baseline;  /* REF that was asked for */
    struct strbuf no_base;   /* why there is no base although the server has one; empty: there is */
    struct string_list notes;
};

/* Why there is no view, as an answer. */
struct failure {
    unsigned status;
    size_t at; /* column of the condition; 0: none */
    struct error err;
};

struct live_view_source {
    const struct view_request *request; /* what all views have in common */
    const char *history;                /* for the commands that the page shows, as the next two */
    const struct page_asked *asked;
    const struct trend_repository *repository;
    const char *generator;
    int64_t created_ms;
    bool history_failed; /* that of the class cannot be made */
};

/* Bytes of measurements that one answer may look at. */
enum { LIVE_VIEW_BYTES_MAX = 96 << 20 };
/* -1 and a failure where these runs have more. */
int live_view_weigh(struct store *store, const int64_t *runs, size_t nr,
                    const struct store_filter *filter, struct failure *failure);

/* With everything but the class history. NULL and a failure. */
struct live_view *live_view_load(struct store *store, const struct live_view_source *source,
                                 const struct parameters *parameters, struct failure *failure);
/* Takes the class history (may be NULL) and makes the page; once, after live_view_load(). */
void live_view_finish(struct live_view *live, const struct live_view_source *source,
                      struct class_history *history);
/* Of the head; NULL where there is no run. */
const char *live_view_machine(const struct live_view *live);

void live_view_keep(void *live);
void live_view_drop(void *live); /* NULL is fine */
size_t live_view_size(void *live);

/* page_core() and "paging": {"limit", "next", "most"}, "newest": its run. */
struct cJSON *live_view_core(const struct live_view *live, const struct presets *presets);

#endif
