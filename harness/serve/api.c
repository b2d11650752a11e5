/* SPDX-License-Identifier: MIT */
/* The addresses of the live page, and what each answers. */
#include "serve/serve_parts.h"

#include "base/json.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

/* A request on its way to a body. */
struct asking {
    struct serve *serve;
    const struct http_request *request;
    struct wanted wanted;
    const struct preset *preset; /* of a figure */
    struct failure failure;
    /* Writes the body of a scene. */
    int (*write)(struct asking *a, const struct scene *scene, struct strbuf *out);
    const char *type;
};

static struct http_answer answer_body(struct body *body)
{
    return (struct http_answer) { .status = MHD_HTTP_OK, .body = body };
}

static struct http_answer answer_text(struct strbuf *text, const char *type)
{
    return answer_body(body_create(text, type));
}

static struct http_answer answer_failure(const struct failure *f)
{
    return http_error(f->status, f->at, f->err.message);
}

/* ---- what depends on a scene ---- */

static void *make_body(void *context)
{
    struct asking *a = context;
    struct scene *scene = serve_scene(a->serve, a->request, &a->wanted, &a->failure);
    struct strbuf text;

    if (!scene)
        return NULL;
    strbuf_init(&text);
    int rc = a->write(a, scene, &text);
    scene_drop(scene);
    if (rc == 0 && !serve_is_over(a->request, &a->failure))
        return body_create(&text, a->type);
    a->failure.status = a->failure.status ? a->failure.status : MHD_HTTP_INTERNAL_SERVER_ERROR;
    strbuf_release(&text);
    return NULL;
}

/* Equal questions about an unchanged history have equal answers, made once. */
static struct http_answer ask(struct asking *a, const char *what)
{
    struct strbuf name;

    strbuf_init(&name);
    strbuf_addf(&name, "%s %s ", what, a->preset ? a->preset->name : "");
    wanted_name(&a->wanted, &name);
    const struct cache_name named = { name.data, keeper_version(a->serve->keeper) };
    struct body *body = cache_get(a->serve->cache, &serve_body_kind, named, make_body, a);
    strbuf_release(&name);
    return body ? answer_body(body) : answer_failure(&a->failure);
}

/* Says whether there are events, so that a page does not ask for what is not there. */
static cJSON *core_of(const struct asking *a, const struct scene *scene)
{
    cJSON *core = scene_core(scene, a->serve->options.presets);

    cJSON_AddBoolToObject(core, "watch", a->serve->events != NULL);
    return core;
}

static int write_core(struct asking *a, const struct scene *scene, struct strbuf *out)
{
    page_json_take(core_of(a, scene), out);
    return 0;
}

static int write_page(struct asking *a, const struct scene *scene, struct strbuf *out)
{
    cJSON *core = core_of(a, scene);
    char *title = memory_string(json_string(core, "title", "harness"));
    struct strbuf text;

    strbuf_init(&text);
    page_json_take(core, &text);
    struct page_document document = { .title = title, .live = true, .core = text.data };
    int rc = page_html(a->serve->html, &document, out, &a->failure.err);
    strbuf_release(&text);
    free(title);
    return rc;
}

static int write_table(struct asking *a, const struct scene *scene, struct strbuf *out)
{
    (void)a;
    page_table(&scene->page, out);
    return 0;
}

static int write_figure(struct asking *a, const struct scene *scene, struct strbuf *out)
{
    struct figure *figure = scene_figure(scene, a->preset);

    page_json_take(figure_to_json(figure), out);
    figure_free(figure);
    return 0;
}

/* -1 and an answer where the query is no good. */
static int read_wanted(struct asking *a, const struct http_request *request,
                       const char *const *more, struct http_answer *answer)
{
    struct error err;

    if (wanted_parse(request, more, &a->wanted, &err) == 0)
        return 0;
    *answer = http_error(MHD_HTTP_BAD_REQUEST, 0, err.message);
    return -1;
}

static struct http_answer answer_page(struct serve *s, const struct http_request *request)
{
    struct asking a = { .serve = s, .request = request, .write = write_page, .type = body_html };
    struct http_answer answer;

    return read_wanted(&a, request, NULL, &answer) ? answer : ask(&a, "page");
}

static struct http_answer answer_core(struct serve *s, const struct http_request *request)
{
    struct asking a = { .serve = s, .request = request, .write = write_core, .type = body_json };
    struct http_answer answer;

    return read_wanted(&a, request, NULL, &answer) ? answer : ask(&a, "core");
}

static struct http_answer answer_table(struct serve *s, const struct http_request *request)
{
    struct asking a = { .serve = s, .request = request, .write = write_table, .type = body_json };
    struct http_answer answer;

    return read_wanted(&a, request, NULL, &answer) ? answer : ask(&a, "table");
}

static struct http_answer answer_figure(struct serve *s, const struct http_request *request)
{
    const char *name = request->path + strlen("/api/figure/");
    struct asking a = { .serve = s, .request = request, .write = write_figure, .type = body_json };
    struct http_answer answer;
    struct error err;

    if (read_wanted(&a, request, NULL, &answer))
        return answer;
    a.preset = presets_find(s->options.presets, name, &err);
    return a.preset ? ask(&a, "figure") : http_error(MHD_HTTP_NOT_FOUND, 0, err.message);
}

/* A figure of the page's own making is made anew each time: few ask for the same. */
static struct http_answer answer_explore(struct serve *s, const struct http_request *request)
{
    static const char *const more[] = { "preset", NULL };
    struct asking a = { .serve = s, .request = request, .write = write_figure, .type = body_json };
    const char *text = http_parameter(request, "preset");
    struct http_answer answer;
    struct preset preset;
    struct error err;

    if (read_wanted(&a, request, more, &answer))
        return answer;
    if (!text)
        return http_error(MHD_HTTP_BAD_REQUEST, 0, "the parameter preset is missing");
    if (preset_parse(&preset, text, strlen(text), "preset", &err))
        return http_error(MHD_HTTP_BAD_REQUEST, 0, err.message);
    a.preset = &preset;
    struct body *body = make_body(&a);
    preset_release(&preset);
    return body ? answer_body(body) : answer_failure(&a.failure);
}

/* ---- samples ---- */

static int read_samples(struct store *store, int64_t run, const char *key, struct strbuf *out,
                        struct failure *f)
{
    struct store_filter filter = { .keys = &key, .nr_keys = 1, .without_telemetry = true };
    struct page_samples count = { 0 };
    struct records records = { 0 };
    int64_t missing = 0;

    f->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
    int rc = query_missing_run(store, &run, 1, &missing, &f->err);
    if (rc == 0 && missing == 0)
        rc = scene_weigh(store, &run, 1, &filter, f);
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

static struct http_answer answer_samples(struct serve *s, const struct http_request *request)
{
    static const char *const more[] = { "key", NULL };
    const char *key = http_parameter(request, "key");
    struct asking a = { .serve = s, .request = request };
    struct http_answer answer;
    struct strbuf text;

    if (read_wanted(&a, request, more, &answer))
        return answer;
    if (!key || a.wanted.nr_runs != 1)
        return http_error(MHD_HTTP_BAD_REQUEST, 0, "one run=ID and key=BENCHMARK are needed");
    struct store *store = serve_take_store(s, request, &a.failure);
    if (!store)
        return answer_failure(&a.failure);
    strbuf_init(&text);
    int rc = read_samples(store, a.wanted.runs[0], key, &text, &a.failure);
    serve_give_store(s, store);
    if (rc == 0 && !serve_is_over(request, &a.failure))
        return answer_text(&text, body_json);
    strbuf_release(&text);
    return answer_failure(&a.failure);
}

/* ---- the rest ---- */

static struct http_answer answer_health(struct serve *s, const struct http_request *request)
{
    struct strbuf text;

    (void)s;
    (void)request;
    strbuf_init(&text);
    strbuf_adds(&text, "ok\n");
    return answer_text(&text, body_text);
}

static struct http_answer answer_news(struct serve *s, const struct http_request *request)
{
    (void)request;
    if (!s->events)
        return http_error(MHD_HTTP_NOT_FOUND, 0, "this server was started without --watch");
    return (struct http_answer) { .status = MHD_HTTP_OK, .news = true };
}

struct http_answer serve_answer(void *context, const struct http_request *request)
{
    static const struct {
        const char *path;
        bool whole; /* else what begins with it */
        struct http_answer (*answer)(struct serve *s, const struct http_request *request);
    } routes[] = {
        { "/", true, answer_page },
        { "/api/core", true, answer_core },
        { "/api/table", true, answer_table },
        { "/api/figure/", false, answer_figure },
        { "/api/explore", true, answer_explore },
        { "/api/samples", true, answer_samples },
        { "/api/events", true, answer_news },
        { "/healthz", true, answer_health },
    };

    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        size_t length = strlen(routes[i].path) + routes[i].whole;
        if (strncmp(request->path, routes[i].path, length) == 0)
            return routes[i].answer(context, request);
    }
    return http_error(MHD_HTTP_NOT_FOUND, 0, "there is nothing at this address");
}
