/* SPDX-License-Identifier: MIT */
/* The addresses of the live page, and what each answers. */
#include "serve/edits.h"
#include "serve/history_figure.h"
#include "serve/serve_base.h"

#include "base/json.h"
#include "base/text.h"
#include "reporters/openmetrics.h"

#include <inttypes.h>
#include <math.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

struct route;

/* "range=p50:1e3:5e6" of an exploration: the benchmarks of a view whose value of a metric lies in a
 * range. The page knows which these are, but an address has no room for hundreds of keys. */
struct value_range {
    const struct metric *metric; /* NULL: everything is in it */
    double low, high;            /* in base units: ns, bytes, per second, a fraction */
};

/* A request on its way to a body. */
struct api_request {
    struct serve *serve;
    const struct http_request *request;
    const struct route *route;
    struct parameters parameters;
    const struct preset *preset; /* of a figure */
    struct value_range range;    /* of an exploration */
    struct failure failure;
};

/* Each address, and what answers it. */
struct route {
    const char *path;
    bool whole; /* else what begins with it */
    struct http_answer (*answer)(struct api_request *a);
    const char *more[3];     /* parameters of this address alone, NULL-ended */
    const char *what, *type; /* of what shows a view: its name in the cache, its media type */
    int (*write)(struct api_request *a, const struct live_view *live, struct strbuf *out);
};

static struct http_answer api_body(struct body *body)
{
    return (struct http_answer) { .status = MHD_HTTP_OK, .body = body };
}

static struct http_answer api_text(struct strbuf *text, const char *type)
{
    return api_body(body_create(text, type));
}

static struct http_answer api_failure(const struct failure *f)
{
    return http_error(f->status, f->at, f->err.message);
}

/* ---- the range of an exploration ---- */

static int value_range_end(const char *text, double *end, struct error *err)
{
    return *text ? text_parse_double(text, -INFINITY, INFINITY, "range", end, err) : 0;
}

/* "METRIC:LOW:HIGH", where an end that is left out is open; at the last two colons: the name of a
 * program's own metric may have some. */
static int value_range_parse(const char *text, struct value_range *range, struct error *err)
{
    char *metric = memory_string(text), *high = strrchr(metric, ':'), *low = NULL;
    int rc = 0;

    *range = (struct value_range) { NULL, -INFINITY, INFINITY };
    if (high) {
        *high++ = '\0';
        low = strrchr(metric, ':');
    }
    if (low) {
        *low++ = '\0';
        range->metric = metric_find(metric, err);
        rc = !range->metric || value_range_end(low, &range->low, err) ||
                     value_range_end(high, &range->high, err)
                 ? -1
                 : 0;
    } else {
        rc = error_set(err, "range: \"%.64s\" is no METRIC:LOW:HIGH", text);
    }
    free(metric);
    return rc;
}

static size_t value_range_metric(const struct metric *metric)
{
    size_t at = 0;

    while (at < run_values_metrics() && strcmp(metric_at(at)->id, metric->id) != 0)
        at++;
    return at;
}

/* Keys of benchmarks with such a value in one of the runs of the view, sorted. */
static void value_range_keys(const struct value_range *range, const struct view *view,
                             const struct page *page, struct string_list *keys)
{
    size_t metric = value_range_metric(range->metric);

    for (size_t i = 0; i < view->nr_runs; i++) {
        int run = page_find_run(page, &view->records.runs[view->runs[i]]);
        const struct run_values *values = run < 0 ? NULL : page->runs[run].values;
        for (size_t k = 0; values && k < values->nr; k++) {
            double value = run_value_of(&values->items[k], metric) * range->metric->factor;
            if (value >= range->low && value <= range->high)
                string_list_add(keys, values->items[k].key);
        }
    }
    string_list_sort(keys);
}

/* ---- what depends on a view ---- */

static void *api_make_body(void *context)
{
    struct api_request *a = context;
    struct live_view *live = serve_live_view(a->serve, a->request, &a->parameters, &a->failure);
    struct strbuf text;

    if (!live)
        return NULL;
    strbuf_init(&text);
    int rc = a->route->write(a, live, &text);
    live_view_drop(live);
    if (rc == 0 && !serve_is_over(a->request, &a->failure))
        return body_create(&text, a->route->type);
    a->failure.status = a->failure.status ? a->failure.status : MHD_HTTP_INTERNAL_SERVER_ERROR;
    strbuf_release(&text);
    return NULL;
}

/* Equal questions about an unchanged history have equal answers, made once. */
static struct http_answer api_cached(struct api_request *a)
{
    struct strbuf name;

    strbuf_init(&name);
    strbuf_addf(&name, "%s %s ", a->route->what, a->preset ? a->preset->name : "");
    parameters_name(&a->parameters, &name);
    const struct cache_name named = { name.data, watcher_version(a->serve->watcher) };
    struct body *body = cache_get(a->serve->cache, &serve_body_kind, named, api_make_body, a);
    strbuf_release(&name);
    return body ? api_body(body) : api_failure(&a->failure);
}

/* Says whether there are events, so that a page does not ask for what is not there, and what its
 * changes must bring, where there can be some. */
static cJSON *api_core(const struct api_request *a, const struct live_view *live)
{
    cJSON *core = live_view_core(live, a->serve->options.presets);

    cJSON_AddBoolToObject(core, "watch", a->serve->events != NULL);
    json_add_string(core, "edit_key", a->serve->options.edit_key);
    return core;
}

static int api_write_core(struct api_request *a, const struct live_view *live, struct strbuf *out)
{
    json_take_script(api_core(a, live), out);
    return 0;
}

static int api_write_page(struct api_request *a, const struct live_view *live, struct strbuf *out)
{
    cJSON *core = api_core(a, live);
    char *title = memory_string(json_string(core, "title", "harness"));
    struct strbuf text;

    strbuf_init(&text);
    json_take_script(core, &text);
    struct page_document document = { .title = title, .live = true, .core = text.data };
    int rc = page_html(a->serve->html, &document, out, &a->failure.err);
    strbuf_release(&text);
    free(title);
    return rc;
}

static int api_write_table(struct api_request *a, const struct live_view *live, struct strbuf *out)
{
    (void)a;
    page_table(&live->page, out);
    return 0;
}

static int api_write_trace(struct api_request *a, const struct live_view *live, struct strbuf *out)
{
    (void)a;
    if (page_trace(&live->view, PAGE_SLICES_MOST, out) == 0)
        strbuf_adds(out, "null");
    return 0;
}

static int api_write_figure(struct api_request *a, const struct live_view *live, struct strbuf *out)
{
    struct figure *figure = page_figure(&live->view, a->preset, PAGE_POINTS);

    json_take_script(figure_to_json(figure), out);
    figure_free(figure);
    return 0;
}

static int api_write_explored(struct api_request *a, const struct live_view *live,
                              struct strbuf *out)
{
    const struct preset *asked = a->preset;
    struct preset narrowed = *asked;
    struct string_list keys = { .nr = 0 };

    if (a->range.metric) {
        value_range_keys(&a->range, &live->view, &live->page, &keys);
        narrowed.only = &keys;
    }
    a->preset = &narrowed;
    int rc = api_write_figure(a, live, out);
    a->preset = asked;
    string_list_release(&keys);
    return rc;
}

/* Steps that stand are of the whole machine class, whatever the condition lets through. */
static int api_write_metrics(struct api_request *a, const struct live_view *live,
                             struct strbuf *out)
{
    const struct view *view = &live->view;
    const char *machine = live_view_machine(live);

    (void)a;
    if (!machine)
        strbuf_adds(out, "# no finished run fits\n");
    else
        prometheus_add(&view->records, view->head, out);
    if (machine && view->compared)
        prometheus_add_compared(&view->comparison, machine, out);
    if (machine && live->history)
        prometheus_add_trends(&live->history->trends, machine, out);
    return 0;
}

/* -1 and an answer where the query is no good. */
static int api_parameters(struct api_request *a, struct http_answer *answer)
{
    struct error err;

    if (parameters_parse(a->request, a->route->more, &a->parameters, &err) == 0)
        return 0;
    *answer = http_error(MHD_HTTP_BAD_REQUEST, 0, err.message);
    return -1;
}

static struct http_answer api_view(struct api_request *a)
{
    struct http_answer answer;

    return api_parameters(a, &answer) ? answer : api_cached(a);
}

static struct http_answer api_figure(struct api_request *a)
{
    const char *name = a->request->path + strlen(a->route->path);
    struct http_answer answer;
    struct error err;

    if (api_parameters(a, &answer))
        return answer;
    a->preset = presets_find(a->serve->options.presets, name, &err);
    return a->preset ? api_cached(a) : http_error(MHD_HTTP_NOT_FOUND, 0, err.message);
}

/* A figure of the page's own making is made anew each time: few ask for the same. */
static struct http_answer api_explore(struct api_request *a)
{
    const char *text = http_parameter(a->request, "preset");
    const char *range = http_parameter(a->request, "range");
    struct http_answer answer;
    struct preset preset;
    struct error err;

    if (api_parameters(a, &answer))
        return answer;
    if (!text)
        return http_error(MHD_HTTP_BAD_REQUEST, 0, "the parameter preset is missing");
    if (range && *range && value_range_parse(range, &a->range, &err))
        return http_error(MHD_HTTP_BAD_REQUEST, 0, err.message);
    if (preset_parse(&preset, text, strlen(text), "preset", &err))
        return http_error(MHD_HTTP_BAD_REQUEST, 0, err.message);
    a->preset = &preset;
    struct body *body = api_make_body(a);
    preset_release(&preset);
    return body ? api_body(body) : api_failure(&a->failure);
}

/* ---- samples ---- */

static int api_read_samples(struct store *store, int64_t run, const char *key, struct strbuf *out,
                            struct failure *f)
{
    struct store_filter filter = { .keys = &key, .nr_keys = 1, .without_telemetry = true };
    struct page_samples count = { 0 };
    struct records records = { 0 };
    int64_t missing = 0;

    f->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
    int rc = query_missing_run(store, &run, 1, &missing, &f->err);
    if (rc == 0 && missing == 0)
        rc = live_view_weigh(store, &run, 1, &filter, f);
    if (rc == 0 && missing == 0)
        rc = store_load(store, &run, 1, &filter, &records, &f->err);
    if (rc == 0 && !page_samples_add(&records, 0, key, SERVE_SAMPLES_MOST, &count, out)) {
        f->status = MHD_HTTP_NOT_FOUND;
        rc = error_set(&f->err, "run %" PRId64 " %s", run,
                       missing ? "is not in this history" : "has no samples of that benchmark");
    }
    records_release(&records);
    return rc;
}

static struct http_answer api_samples(struct api_request *a)
{
    const char *key = http_parameter(a->request, "key");
    struct http_answer answer;
    struct strbuf text;

    if (api_parameters(a, &answer))
        return answer;
    if (!key || a->parameters.nr_runs != 1)
        return http_error(MHD_HTTP_BAD_REQUEST, 0, "one run=ID and key=BENCHMARK are needed");
    struct store *store = serve_take_store(a->serve, a->request, &a->failure);
    if (!store)
        return api_failure(&a->failure);
    strbuf_init(&text);
    int rc = api_read_samples(store, a->parameters.runs[0], key, &text, &a->failure);
    serve_give_store(a->serve, store);
    if (rc == 0 && !serve_is_over(a->request, &a->failure))
        return api_text(&text, body_json);
    strbuf_release(&text);
    return api_failure(&a->failure);
}

/* ---- the whole history ---- */

/* Any metric of one benchmark over all runs: whoever looks at it asks for another one each time. */
static struct http_answer api_history(struct api_request *a)
{
    const char *key = http_parameter(a->request, "key"), *id = http_parameter(a->request, "metric");
    struct http_answer answer;
    struct strbuf text;
    struct error err;

    if (api_parameters(a, &answer))
        return answer;
    const struct metric *metric = id ? metric_find(id, &err) : NULL;
    if (!key || !metric)
        return http_error(MHD_HTTP_BAD_REQUEST, 0,
                          id && key ? err.message : "key=BENCHMARK and metric=ID are needed");
    struct store *store = serve_take_store(a->serve, a->request, &a->failure);
    if (!store)
        return api_failure(&a->failure);
    struct figure *figure = history_figure(store, key, metric, &a->failure);
    serve_give_store(a->serve, store);
    if (!figure || serve_is_over(a->request, &a->failure)) {
        figure_free(figure);
        return api_failure(&a->failure);
    }
    strbuf_init(&text);
    json_take_script(figure_to_json(figure), &text);
    figure_free(figure);
    return api_text(&text, body_json);
}

/* ---- the rest ---- */

static struct http_answer api_health(struct api_request *a)
{
    struct strbuf text;

    (void)a;
    strbuf_init(&text);
    strbuf_adds(&text, "ok\n");
    return api_text(&text, body_text);
}

static struct http_answer api_news(struct api_request *a)
{
    if (!a->serve->events)
        return http_error(MHD_HTTP_NOT_FOUND, 0, "this server was started without --watch");
    return (struct http_answer) { .status = MHD_HTTP_OK, .news = true };
}

struct http_answer serve_answer(void *context, const struct http_request *request)
{
    static const struct route routes[] = {
        { "/", true, api_view, { NULL }, "page", body_html, api_write_page },
        { "/api/core", true, api_view, { NULL }, "core", body_json, api_write_core },
        { "/api/trace", true, api_view, { NULL }, "trace", body_json, api_write_trace },
        { "/api/table", true, api_view, { NULL }, "table", body_json, api_write_table },
        { "/api/figure/", false, api_figure, { NULL }, "figure", body_json, api_write_figure },
        { "/api/explore",
          true,
          api_explore,
          { "preset", "range" },
          NULL,
          body_json,
          api_write_explored },
        { "/api/samples", true, api_samples, { "key" }, NULL, NULL, NULL },
        { "/api/history", true, api_history, { "key", "metric" }, NULL, NULL, NULL },
        { "/api/events", true, api_news, { NULL }, NULL, NULL, NULL },
        { "/metrics", true, api_view, { NULL }, "metrics", body_metrics, api_write_metrics },
        { "/healthz", true, api_health, { NULL }, NULL, NULL, NULL },
    };

    if (request->posted)
        return edits_answer(context, request);
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        size_t length = strlen(routes[i].path) + routes[i].whole;
        struct api_request a = { .serve = context, .request = request, .route = &routes[i] };
        if (strncmp(request->path, routes[i].path, length) == 0)
            return routes[i].answer(&a);
    }
    return http_error(MHD_HTTP_NOT_FOUND, 0, "there is nothing at this address");
}
