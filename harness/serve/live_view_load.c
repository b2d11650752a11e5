/* SPDX-License-Identifier: MIT */
/* From a request to a view without its history: what is looked at, and why it cannot be. */
#include "serve/live_view.h"

#include "base/memory.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <string.h>

/* Runs that one request looks through, and how long it does. */
enum { SEARCH_MOST = 400, SEARCH_MS = 100 };

/* What is known on the way. */
struct loading {
    struct store *store;
    const struct live_view_source *source;
    const struct parameters *parameters;
    struct live_view *live;
    struct query query;
    struct query_found found;
    int64_t runs[SERVE_RUNS_MAX + 1]; /* looked at */
    size_t nr_runs;
    struct failure *failure;
};

/* Numbers of the runs looked at, and of the base that was asked for. */
struct asked {
    int64_t ids[SERVE_RUNS_MAX + 2];
    size_t nr;
};

static int live_view_fail(struct loading *l, unsigned status)
{
    l->failure->status = status;
    return -1;
}

static int live_view_read_condition(struct loading *l)
{
    struct failure *f = l->failure;

    if (query_parse(&l->query, l->parameters->where, &f->at, &f->err))
        return live_view_fail(l, MHD_HTTP_BAD_REQUEST);
    if (query_check(&l->query, l->store, &f->at, &f->err))
        return live_view_fail(l, MHD_HTTP_BAD_REQUEST);
    f->at = 0;
    return 0;
}

/* The list of runs, and among them those to look at. What comes while it is read is newer than
 * `newest`. */
static int live_view_choose_runs(struct loading *l)
{
    struct query_page page = { l->parameters->from, l->parameters->limit, SEARCH_MOST, SEARCH_MS };
    struct failure *f = l->failure;

    if (query_newest(l->store, &l->live->newest, &f->err) ||
        query_runs(l->store, &l->query, &page, &l->found, &f->err) ||
        query_load_runs(l->store, l->found.ids, l->found.nr, &l->live->listed, &f->err))
        return live_view_fail(l, MHD_HTTP_INTERNAL_SERVER_ERROR);
    l->live->next = l->found.next;
    l->live->gave_up = l->found.gave_up;
    l->live->limit = l->parameters->limit;
    for (size_t i = 0; i < l->parameters->nr_runs; i++)
        l->runs[l->nr_runs++] = l->parameters->runs[i];
    if (l->nr_runs == 0 && l->found.nr > 0)
        l->runs[l->nr_runs++] = l->found.ids[0];
    return 0;
}

static void live_view_list_asked(const struct loading *l, struct asked *asked)
{
    asked->nr = 0;
    for (size_t i = 0; i < l->nr_runs; i++)
        asked->ids[asked->nr++] = l->runs[i];
    if (l->parameters->base > 0)
        asked->ids[asked->nr++] = l->parameters->base;
}

/* A run that is not there is the reader's mistake; what fails after this is the history's. */
static int live_view_check_runs(struct loading *l)
{
    struct failure *f = l->failure;
    struct asked asked;
    int64_t missing;

    live_view_list_asked(l, &asked);
    if (query_missing_run(l->store, asked.ids, asked.nr, &missing, &f->err))
        return live_view_fail(l, MHD_HTTP_INTERNAL_SERVER_ERROR);
    if (missing == 0)
        return 0;
    error_set(&f->err, "there is no run %" PRId64 " in this history", missing);
    return live_view_fail(l, MHD_HTTP_NOT_FOUND);
}

int live_view_weigh(struct store *store, const int64_t *runs, size_t nr,
                    const struct store_filter *filter, struct failure *failure)
{
    int64_t bytes;

    failure->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
    if (query_weigh(store, runs, nr, filter, &bytes, &failure->err))
        return -1;
    if (bytes <= LIVE_VIEW_BYTES_MAX)
        return 0;
    failure->status = MHD_HTTP_SERVICE_UNAVAILABLE;
    return error_set(&failure->err,
                     "these measurements take %" PRId64
                     " MB, and one answer may look at %d MB of "
                     "them; ask for less: fewer runs (run=), or a condition (where=)",
                     bytes >> 20, LIVE_VIEW_BYTES_MAX >> 20);
}

/* Benchmarks that fit in one of the runs looked at. */
static int live_view_choose_benchmarks(struct loading *l)
{
    struct live_view *live = l->live;
    struct string_list keys = { 0 };
    struct asked asked;

    live->narrowed = l->query.of_benchmarks || l->query.of_outcomes;
    live->filtered = live->narrowed || l->source->request->nr_filters > 0;
    if (!live->filtered)
        return 0;
    live_view_list_asked(l, &asked);
    int rc = query_keys(l->store, &l->query, asked.ids, asked.nr, &keys, &l->failure->err);
    for (size_t i = 0; rc == 0 && i < keys.nr; i++)
        if (text_filters_take(l->source->request->filters, l->source->request->nr_filters,
                              keys.items[i]))
            string_list_add(&live->keys, keys.items[i]);
    string_list_release(&keys);
    string_list_sort(&live->keys);
    return rc ? live_view_fail(l, MHD_HTTP_INTERNAL_SERVER_ERROR) : 0;
}

static const char *live_view_base(struct loading *l)
{
    if (l->parameters->base < 0)
        return NULL;
    if (l->parameters->base == 0)
        return l->source->request->baseline;
    strbuf_addf(&l->live->baseline, "run:%" PRId64, l->parameters->base);
    return l->live->baseline.data;
}

static void live_view_fill_request(struct loading *l, struct view_request *request)
{
    static const char *const nothing[] = { "" }; /* an empty list would let all through */
    struct live_view *live = l->live;

    *request = *l->source->request;
    request->run_ids = l->runs;
    request->nr_run_ids = l->nr_runs;
    request->baseline = live_view_base(l);
    request->without_history = true;
    request->head_too = true;
    if (!live->filtered)
        return;
    request->filters = NULL;
    request->nr_filters = 0;
    request->keys = live->keys.nr ? (const char *const *)live->keys.items : nothing;
    request->nr_keys = live->keys.nr ? live->keys.nr : 1;
}

/* Without the base that the server was given: it has gone since. The runs are there to be seen. */
static int live_view_load_without_base(struct loading *l, struct view_request *request)
{
    struct error *err = &l->failure->err;
    struct live_view *live = l->live;

    strbuf_addf(&live->no_base, "nothing is compared: %s", err->message);
    request->baseline = NULL;
    view_release(&live->view);
    return view_load(l->store, request, &live->view, err);
}

/* The base that the server was started with is its owner's choice, and not weighed. */
static int live_view_weigh_all(struct loading *l, const struct view_request *request)
{
    const struct store_filter filter = {
        .filters = request->filters,
        .nr_filters = request->nr_filters,
        .keys = request->keys,
        .nr_keys = request->nr_keys,
    };
    struct asked asked;

    live_view_list_asked(l, &asked);
    return live_view_weigh(l->store, asked.ids, asked.nr, &filter, l->failure);
}

static int live_view_load_runs(struct loading *l)
{
    struct view_request request;

    if (l->nr_runs == 0) { /* nothing fits: a page with nothing on it but a profile */
        l->live->view.head = -1;
        l->live->view.profile = l->source->request->profile;
        l->live->view.profile_base = l->source->request->profile_base;
        return 0;
    }
    live_view_fill_request(l, &request);
    if (live_view_weigh_all(l, &request))
        return -1;
    int rc = view_load(l->store, &request, &l->live->view, &l->failure->err);
    if (rc && l->parameters->base == 0 && request.baseline)
        rc = live_view_load_without_base(l, &request);
    return rc ? live_view_fail(l, MHD_HTTP_INTERNAL_SERVER_ERROR) : 0;
}

struct live_view *live_view_load(struct store *store, const struct live_view_source *source,
                                 const struct parameters *parameters, struct failure *failure)
{
    struct loading l = {
        .store = store, .source = source, .parameters = parameters, .failure = failure
    };

    l.live = memory_zeroed(1, sizeof(*l.live));
    atomic_init(&l.live->holders, 1);
    l.live->view.head = -1;
    strbuf_init(&l.live->baseline);
    strbuf_init(&l.live->no_base);
    *failure = (struct failure) { 0 };
    if (live_view_read_condition(&l) || live_view_choose_runs(&l) || live_view_check_runs(&l) ||
        live_view_choose_benchmarks(&l) || live_view_load_runs(&l)) {
        live_view_drop(l.live);
        l.live = NULL;
    }
    query_release(&l.query);
    query_found_release(&l.found);
    return l.live;
}
