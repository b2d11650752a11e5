/* SPDX-License-Identifier: MIT */
/* From a request to a scene without its past: what is looked at, and why it cannot be. */
#include "serve/scene.h"

#include "base/memory.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <string.h>

/* Runs that one request looks through, and how long it does. */
enum { SEARCH_MOST = 400, SEARCH_MS = 100 };

/* What is known on the way. */
struct loading {
    struct store *store;
    const struct scene_source *source;
    const struct wanted *wanted;
    struct scene *scene;
    struct query query;
    struct query_found found;
    int64_t runs[WANTED_RUNS_MAX + 1]; /* looked at */
    size_t nr_runs;
    struct failure *failure;
};

/* Numbers of the runs looked at, and of the base that was asked for. */
struct asked {
    int64_t ids[WANTED_RUNS_MAX + 2];
    size_t nr;
};

static int fail(struct loading *l, unsigned status)
{
    l->failure->status = status;
    return -1;
}

static int read_condition(struct loading *l)
{
    struct failure *f = l->failure;

    if (query_parse(&l->query, l->wanted->where, &f->at, &f->err))
        return fail(l, MHD_HTTP_BAD_REQUEST);
    if (query_check(&l->query, l->store, &f->at, &f->err))
        return fail(l, MHD_HTTP_BAD_REQUEST);
    f->at = 0;
    return 0;
}

/* The list of runs, and among them those to look at. What comes while it is read is newer than
 * `newest`. */
static int choose_runs(struct loading *l)
{
    struct query_page page = { l->wanted->from, l->wanted->limit, SEARCH_MOST, SEARCH_MS };
    struct failure *f = l->failure;

    if (query_newest(l->store, &l->scene->newest, &f->err) ||
        query_runs(l->store, &l->query, &page, &l->found, &f->err) ||
        query_load_runs(l->store, l->found.ids, l->found.nr, &l->scene->listed, &f->err))
        return fail(l, MHD_HTTP_INTERNAL_SERVER_ERROR);
    l->scene->next = l->found.next;
    l->scene->gave_up = l->found.gave_up;
    l->scene->limit = l->wanted->limit;
    for (size_t i = 0; i < l->wanted->nr_runs; i++)
        l->runs[l->nr_runs++] = l->wanted->runs[i];
    if (l->nr_runs == 0 && l->found.nr > 0)
        l->runs[l->nr_runs++] = l->found.ids[0];
    return 0;
}

static void list_asked(const struct loading *l, struct asked *asked)
{
    asked->nr = 0;
    for (size_t i = 0; i < l->nr_runs; i++)
        asked->ids[asked->nr++] = l->runs[i];
    if (l->wanted->base > 0)
        asked->ids[asked->nr++] = l->wanted->base;
}

/* A run that is not there is the reader's mistake; what fails after this is the history's. */
static int check_runs(struct loading *l)
{
    struct failure *f = l->failure;
    struct asked asked;
    int64_t missing;

    list_asked(l, &asked);
    if (query_missing_run(l->store, asked.ids, asked.nr, &missing, &f->err))
        return fail(l, MHD_HTTP_INTERNAL_SERVER_ERROR);
    if (missing == 0)
        return 0;
    error_set(&f->err, "there is no run %" PRId64 " in this history", missing);
    return fail(l, MHD_HTTP_NOT_FOUND);
}

int scene_weigh(struct store *store, const int64_t *runs, size_t nr,
                const struct store_filter *filter, struct failure *failure)
{
    int64_t bytes;

    failure->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
    if (query_weigh(store, runs, nr, filter, &bytes, &failure->err))
        return -1;
    if (bytes <= SCENE_BYTES_MAX)
        return 0;
    failure->status = MHD_HTTP_SERVICE_UNAVAILABLE;
    return error_set(&failure->err,
                     "these measurements take %" PRId64
                     " MB, and one answer may look at %d MB of "
                     "them; ask for less: fewer runs (run=), or a condition (where=)",
                     bytes >> 20, SCENE_BYTES_MAX >> 20);
}

static bool is_wanted(const struct view_request *request, const char *key)
{
    for (size_t i = 0; i < request->nr_filters; i++)
        if (text_filter_matches(request->filters[i], key))
            return true;
    return request->nr_filters == 0;
}

/* Benchmarks that fit in one of the runs looked at. */
static int choose_benchmarks(struct loading *l)
{
    struct scene *scene = l->scene;
    struct string_list keys = { 0 };
    struct asked asked;

    scene->filtered =
        l->query.of_benchmarks || l->query.of_outcomes || l->source->request->nr_filters > 0;
    if (!scene->filtered)
        return 0;
    list_asked(l, &asked);
    int rc = query_keys(l->store, &l->query, asked.ids, asked.nr, &keys, &l->failure->err);
    for (size_t i = 0; rc == 0 && i < keys.nr; i++)
        if (is_wanted(l->source->request, keys.items[i]))
            string_list_add(&scene->keys, keys.items[i]);
    string_list_release(&keys);
    return rc ? fail(l, MHD_HTTP_INTERNAL_SERVER_ERROR) : 0;
}

static const char *base_of(struct loading *l)
{
    if (l->wanted->base < 0)
        return NULL;
    if (l->wanted->base == 0)
        return l->source->request->baseline;
    strbuf_addf(&l->scene->baseline, "run:%" PRId64, l->wanted->base);
    return l->scene->baseline.data;
}

static void fill_request(struct loading *l, struct view_request *request)
{
    static const char *const nothing[] = { "" }; /* an empty list would let all through */
    struct scene *scene = l->scene;

    *request = *l->source->request;
    request->run_ids = l->runs;
    request->nr_run_ids = l->nr_runs;
    request->baseline = base_of(l);
    request->without_history = true;
    request->head_too = true;
    if (!scene->filtered)
        return;
    request->filters = NULL;
    request->nr_filters = 0;
    request->keys = scene->keys.nr ? (const char *const *)scene->keys.items : nothing;
    request->nr_keys = scene->keys.nr ? scene->keys.nr : 1;
}

/* Without the base that the server was given: it has gone since. The runs are there to be seen. */
static int load_without_base(struct loading *l, struct view_request *request)
{
    struct error *err = &l->failure->err;
    struct scene *scene = l->scene;

    strbuf_addf(&scene->no_base, "nothing is compared: %s", err->message);
    request->baseline = NULL;
    view_release(&scene->view);
    return view_load(l->store, request, &scene->view, err);
}

/* The base that the server was started with is its owner's choice, and not weighed. */
static int weigh_view(struct loading *l, const struct view_request *request)
{
    const struct store_filter filter = {
        .filters = request->filters,
        .nr_filters = request->nr_filters,
        .keys = request->keys,
        .nr_keys = request->nr_keys,
    };
    struct asked asked;

    list_asked(l, &asked);
    return scene_weigh(l->store, asked.ids, asked.nr, &filter, l->failure);
}

static int load_view(struct loading *l)
{
    struct view_request request;

    if (l->nr_runs == 0) { /* nothing fits: a page with nothing on it but a profile */
        l->scene->view.head = -1;
        l->scene->view.profile = l->source->request->profile;
        l->scene->view.profile_base = l->source->request->profile_base;
        return 0;
    }
    fill_request(l, &request);
    if (weigh_view(l, &request))
        return -1;
    int rc = view_load(l->store, &request, &l->scene->view, &l->failure->err);
    if (rc && l->wanted->base == 0 && request.baseline)
        rc = load_without_base(l, &request);
    return rc ? fail(l, MHD_HTTP_INTERNAL_SERVER_ERROR) : 0;
}

struct scene *scene_load(struct store *store, const struct scene_source *source,
                         const struct wanted *wanted, struct failure *failure)
{
    struct loading l = { .store = store, .source = source, .wanted = wanted, .failure = failure };

    l.scene = memory_zeroed(1, sizeof(*l.scene));
    atomic_init(&l.scene->holders, 1);
    l.scene->view.head = -1;
    strbuf_init(&l.scene->baseline);
    strbuf_init(&l.scene->no_base);
    *failure = (struct failure) { 0 };
    if (read_condition(&l) || choose_runs(&l) || check_runs(&l) || choose_benchmarks(&l) ||
        load_view(&l)) {
        scene_drop(l.scene);
        l.scene = NULL;
    }
    query_release(&l.query);
    query_found_release(&l.found);
    return l.scene;
}
