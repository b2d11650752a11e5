/* SPDX-License-Identifier: MIT */
/*
 * What one request shows, loaded: the runs asked for and their base as a view and a page, the list
 * of runs beside them, and the past of their machine. Shared by all requests that ask for the same;
 * it does not change.
 */
#ifndef HARNESS_SERVE_SCENE_H
#define HARNESS_SERVE_SCENE_H

#include "serve/past.h"
#include "serve/wanted.h"
#include "store/query.h"
#include "view/page.h"

#include <stdatomic.h>

struct scene {
    atomic_int holders;
    struct view view;
    struct page page;
    struct past *past;     /* NULL: not made yet */
    struct records listed; /* facts of the listed runs, newest first */
    struct page_run *more; /* the same for the page */
    int64_t next;          /* run that the next part of the list begins with; 0: none */
    int64_t newest;        /* finished run of the whole history, when it was read; 0: none */
    bool gave_up;          /* looking for more; they may be there */
    size_t limit;
    struct string_list keys; /* benchmarks that the condition lets through ... */
    bool filtered;           /* ... where it says anything about benchmarks */
    struct strbuf baseline;  /* REF that was asked for */
    struct strbuf no_base;   /* why there is no base although the server has one; empty: there is */
    const char *notes[3];
};

/* Why there is no scene, as an answer. */
struct failure {
    unsigned status;
    size_t at; /* column of the condition; 0: none */
    struct error err;
};

struct scene_source {
    const struct view_request *request; /* what all scenes have in common */
    const char *history;                /* for the commands that the page shows */
    const char *generator;
    int64_t created_ms;
    bool past_failed; /* there is no past, and there will be none */
};

/* Bytes of measurements that one answer may look at. */
enum { SCENE_BYTES_MAX = 96 << 20 };
/* -1 and a failure where these runs have more. */
int scene_weigh(struct store *store, const int64_t *runs, size_t nr,
                const struct store_filter *filter, struct failure *failure);

/* With everything but the past. NULL and a failure. */
struct scene *scene_load(struct store *store, const struct scene_source *source,
                         const struct wanted *wanted, struct failure *failure);
/* Takes the past (may be NULL) and makes the page; once, after scene_load(). */
void scene_finish(struct scene *scene, const struct scene_source *source, struct past *past);
/* Of the head; NULL where there is no run. */
const char *scene_machine(const struct scene *scene);

void scene_keep(void *scene);
void scene_drop(void *scene); /* NULL is fine */
size_t scene_size(void *scene);

/* {"id", ...} of one preset; free with figure_free(). */
struct figure *scene_figure(const struct scene *scene, const struct preset *preset);
/* page_core() and "paging": {"limit", "next"}, "newest": its run. */
struct cJSON *scene_core(const struct scene *scene, const struct presets *presets);

#endif
