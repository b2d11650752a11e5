/* SPDX-License-Identifier: MIT */
/*
 * serve/: requests to the live page, from the check of who asks to the headers of the answer. The
 * input is the request's text; taking it apart is libmicrohttpd's matter, which something simpler
 * stands in for. Whatever is asked, the server finds no fault of its own (status 500).
 */
#include "fuzz.h"
#include "fuzz_history.h"
#include "http/http_base.h"
#include "serve/serve_base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PAIRS = 32, CACHE = 1 << 20 };

struct pair {
    enum MHD_ValueKind kind;
    const char *name, *value; /* value NULL: there is no "=" */
};

struct MHD_Connection {
    const char *method, *target, *body; /* NULL: none */
    char *path;
    struct pair pairs[PAIRS];
    size_t nr;
    unsigned status;
    struct http_slot slot;
    union MHD_ConnectionInfo info;
};

struct MHD_Response {
    MHD_ContentReaderFreeCallback free;
    void *context;
};

/* ---- in the place of libmicrohttpd ---- */

static const char *lookup(struct MHD_Connection *c, enum MHD_ValueKind kind, const char *name)
{
    for (size_t i = 0; i < c->nr; i++)
        if (c->pairs[i].kind == kind &&
            (kind == MHD_HEADER_KIND ? strcasecmp(c->pairs[i].name, name)
                                     : strcmp(c->pairs[i].name, name)) == 0)
            return c->pairs[i].value;
    return NULL;
}

static enum MHD_Result lookup_n(struct MHD_Connection *c, enum MHD_ValueKind kind, const char *name,
                                size_t length, const char **value, size_t *value_length)
{
    (void)value_length;
    for (size_t i = 0; i < c->nr; i++)
        if (c->pairs[i].kind == kind && strlen(c->pairs[i].name) == length &&
            memcmp(c->pairs[i].name, name, length) == 0) {
            *value = c->pairs[i].value;
            return MHD_YES;
        }
    return MHD_NO;
}

static int values(struct MHD_Connection *c, enum MHD_ValueKind kind, MHD_KeyValueIterator use,
                  void *context)
{
    int nr = 0;

    for (size_t i = 0; i < c->nr; i++)
        if (c->pairs[i].kind == kind && ++nr &&
            use(context, kind, c->pairs[i].name, c->pairs[i].value) == MHD_NO)
            break;
    return nr;
}

static struct MHD_Response *response_with(size_t size, const void *buffer,
                                          MHD_ContentReaderFreeCallback done, void *context)
{
    struct MHD_Response *response = memory_zeroed(1, sizeof(*response));
    volatile char last = size ? ((const char *)buffer)[size - 1] : 0;

    (void)last;
    *response = (struct MHD_Response) { done, context };
    return response;
}

static struct MHD_Response *response_of(size_t size, void *buffer, enum MHD_ResponseMemoryMode mode)
{
    FUZZ_CHECK(mode == MHD_RESPMEM_PERSISTENT);
    return response_with(size, buffer, NULL, NULL);
}

/* No answer may bring headers of its asker's making. */
static enum MHD_Result add_header(struct MHD_Response *response, const char *name,
                                  const char *value)
{
    (void)response;
    FUZZ_CHECK(*name && !strpbrk(name, "\r\n:") && !strpbrk(value, "\r\n"));
    return MHD_YES;
}

static enum MHD_Result queue(struct MHD_Connection *c, unsigned status, struct MHD_Response *r)
{
    (void)r;
    FUZZ_CHECK(c->status == 0);
    c->status = status;
    return MHD_YES;
}

static void destroy(struct MHD_Response *response)
{
    if (response->free)
        response->free(response->context);
    free(response);
}

/* One that belongs to a client, as http_connection_changed() leaves it. */
static const union MHD_ConnectionInfo *info_of(struct MHD_Connection *c,
                                               enum MHD_ConnectionInfoType type, ...)
{
    (void)type;
    c->info.socket_context = &c->slot;
    return &c->info;
}

static const struct microhttpd stand_in = {
    .get_connection_info = info_of,
    .get_connection_values = values,
    .lookup_connection_value = lookup,
    .lookup_connection_value_n = lookup_n,
    .create_response_from_buffer = response_of,
    /* The buffer is const in newer versions. */
    .create_response_from_buffer_with_free_callback_cls =
        (__typeof__(&MHD_create_response_from_buffer_with_free_callback_cls))response_with,
    .add_response_header = add_header,
    .queue_response = queue,
    .destroy_response = destroy,
};

/* ---- the request ---- */

static int digit(char c)
{
    const char *digits = "0123456789abcdefABCDEF", *at = c ? strchr(digits, c) : NULL;
    ptrdiff_t place = at ? at - digits : -1;

    return (int)(place < 16 ? place : place - 6);
}

/* %41 becomes A, in place. */
static char *decode(char *text)
{
    char *to = text;

    for (char *from = text; *from; from++) {
        int high = *from == '%' ? digit(from[1]) : -1, low = high < 0 ? -1 : digit(from[2]);
        *to++ = low < 0 ? *from : (char)(16 * high + low);
        from += low < 0 ? 0 : 2;
    }
    *to = '\0';
    return text;
}

static void add(struct MHD_Connection *c, enum MHD_ValueKind kind, const char *name,
                const char *value)
{
    if (c->nr < PAIRS)
        c->pairs[c->nr++] = (struct pair) { kind, name, value };
}

static void add_arguments(struct MHD_Connection *c, char *query)
{
    for (char *item; (item = strsep(&query, "&"));) {
        char *name = strsep(&item, "=");
        for (char *at = item; at && (at = strchr(at, '+'));)
            *at = ' ';
        add(c, MHD_GET_ARGUMENT_KIND, decode(name), item ? decode(item) : NULL);
    }
}

static void add_headers(struct MHD_Connection *c, char *rest)
{
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *name = strsep(&line, ":");
        if (!line)
            continue;
        line[strcspn(line, "\r")] = '\0';
        line += strspn(line, " \t");
        bool cookie = strcasecmp(name, "Cookie") == 0;
        char *value = cookie ? strchr(line, '=') : NULL;
        add(c, MHD_HEADER_KIND, name, line);
        if (value) {
            *value++ = '\0';
            add(c, MHD_COOKIE_KIND, line, value);
        }
    }
}

/* "GET /api/core?run=3 HTTP/1.1", then a header a line; behind an empty line what a POST brings. */
static void read_request(struct MHD_Connection *c, char *text)
{
    char *body = strstr(text, "\n\n"), *rest = text, *first = strsep(&rest, "\n");

    *c = (struct MHD_Connection) { .method = strsep(&first, " ") };
    if (body) {
        body[1] = '\0';
        c->body = body + 2;
    }
    char *target = first ? strsep(&first, " \r") : NULL;
    c->target = target ? target : "";
    c->path = memory_string(c->target);
    char *query = strchr(c->path, '?');
    if (query)
        *query++ = '\0';
    add_arguments(c, query);
    decode(c->path);
    if (rest)
        add_headers(c, rest);
}

/* ---- the server ---- */

static const char template[] = "<meta content=\"connect-src {{connect}}\">{{title}}{{data}}";

static struct serve *server(void)
{
    static const struct view_request request;
    static struct presets presets;
    static struct serve serve;
    struct error err;

    if (serve.html)
        return &serve;
    const char *path = small_history();
    const struct watcher_options watcher = { .path = path };
    FUZZ_OK(presets_load_embedded(&presets, &err), &err);
    serve.html = template;
    serve.options = (struct serve_options) { .request = &request,
                                             .presets = &presets,
                                             .generator = "harness fuzz",
                                             .db = "",
                                             .path = path };
    FUZZ_OK(handles_open(path, 1, &watcher.tell, &serve.handles, &err), &err);
    FUZZ_OK(watcher_open(&watcher, &serve.watcher, &err), &err);
    return &serve;
}

static void answer(struct http *http, struct MHD_Connection *c, struct serve *serve)
{
    bool short_enough = strlen(c->target) <= GUARD_URI_MAX;
    struct http_visit visit = { .target = short_enough ? memory_string(c->target) : NULL };
    enum MHD_Result result;

    if (!http_refuse(http, c, &visit, c->method, c->path, &result)) {
        const char *posted = strcmp(c->method, "POST") == 0 && c->body ? c->body : NULL;
        struct http_request request = { c->path, visit.target, http,
                                        c,       posted,       posted ? strlen(posted) : 0 };
        struct http_answer made = serve_answer(serve, &request);
        if (made.news)
            http_send_news(http, c);
        else
            http_send(http, c, made);
    }
    FUZZ_CHECK(c->status >= 200 && c->status < 600 && c->status != 500);
    free(visit.target);
}

/* Nothing of one input's answers is there for the next. */
FUZZ_TARGET(http)
{
    static struct http http, guarded;
    char token[] = "0123456789abcdef", key[] = "key", *text = fuzz_text(data, size);
    struct serve *serve = server();
    struct MHD_Connection connection;

    http.mhd = guarded.mhd = stand_in;
    http.guard.loopback = true;
    guarded.token = token;
    http.post_key = key;
    snprintf(guarded.cookie, sizeof(guarded.cookie), "harness_token_8080");
    serve->cache = cache_create(CACHE);
    guarded.quotas = quotas_create();
    read_request(&connection, text);
    const struct client client = { .local = true };
    connection.slot.member = quota_enter(guarded.quotas, &client);
    answer(&guarded, &connection, serve);
    connection.status = 0;
    answer(&http, &connection, serve);
    cache_free(serve->cache);
    quotas_free(guarded.quotas);
    free(connection.path);
    free(text);
}
