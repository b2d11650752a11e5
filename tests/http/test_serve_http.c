/* SPDX-License-Identifier: MIT */
/* S1-21, S1-26: the server by itself, over real sockets: who may ask, limits, tags, compression,
 * slow and hostile clients, and its end. */
#include "testing.h"

#include "base/pack.h"
#include "http/http.h"
#include "knocks.h"
#include "serve_client.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <time.h>

/* ---- a server with a small site of its own ---- */

struct site {
    struct http *http;
    struct events *events;
    int port;
    atomic_int asked, release;
    atomic_int over; /* what ended the work of /work */
};

static struct body *text_body(const char *text, size_t times)
{
    struct strbuf sb;

    strbuf_init(&sb);
    for (size_t i = 0; i < times; i++)
        strbuf_adds(&sb, text);
    return body_create(&sb, body_json);
}

static struct http_answer answer(void *context, const struct http_request *request)
{
    struct site *site = context;
    const char *name = http_parameter(request, "name");

    atomic_fetch_add(&site->asked, 1);
    if (strcmp(request->path, "/large") == 0)
        return (struct http_answer) { 200, text_body("0123456789abcdef", 65536), false };
    if (strcmp(request->path, "/name") == 0)
        return (struct http_answer) { 200, text_body(name ? name : "(none)", 1), false };
    if (request->posted)
        return (struct http_answer) { 200, text_body(request->posted, 1), false };
    if (strcmp(request->path, "/news") == 0)
        return (struct http_answer) { 200, NULL, true };
    if (strcmp(request->path, "/huge") == 0)
        return (struct http_answer) { 200, text_body("0123456789abcdef", 2 << 20), false };
    if (strcmp(request->path, "/work") == 0) {
        enum http_over over;
        while ((over = http_request_over(request)) == HTTP_GO_ON && !atomic_load(&site->release))
            usleep(1000);
        atomic_store(&site->over, (int)over + 1);
        return http_error(503, 0, "over");
    }
    if (strcmp(request->path, "/wait") == 0)
        while (!atomic_load(&site->release))
            usleep(1000);
    if (strcmp(request->path, "/") == 0 || strcmp(request->path, "/wait") == 0)
        return (struct http_answer) { 200, text_body("hello", 1), false };
    return http_error(404, 0, request->path);
}

static void open_site_with(struct site *site, struct http_options options)
{
    struct error err;

    *site = (struct site) { .events = events_create() };
    options.handle = answer;
    options.context = site;
    options.events = site->events;
    assert_ok(http_open(&options, &site->http, &err), &err);
    site->port = http_listening(site->http)->port;
    assert_true(site->port > 0);
}

static void open_site(struct site *site, const char *host, const char *token,
                      const char *const *names, size_t nr_names)
{
    open_site_with(site, (struct http_options) {
                             .host = host, .token = token, .names = names, .nr_names = nr_names });
}

static void close_site(struct site *site)
{
    assert_true(http_close(site->http, PATIENCE_MS));
    events_free(site->events);
}

/* With a site for whoever is on this machine. */
#define SITE_TEST(name)                                                                            \
    static void name##_of(struct site *site);                                                      \
    TEST(name)                                                                                     \
    {                                                                                              \
        struct site site;                                                                          \
        open_site(&site, "127.0.0.1", NULL, NULL, 0);                                              \
        name##_of(&site);                                                                          \
        close_site(&site);                                                                         \
    }                                                                                              \
    static void name##_of(struct site *site)

SITE_TEST(test_methods)
{
    struct reply r;
    char value[256];

    assert_int_equal(client_status(site->port, "GET", "/", ""), 200);
    client_ask(site->port, "HEAD", "/large", "", &r);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.body.length, 0);
    assert_string_equal(reply_header(&r, "Content-Length", value), "1048576");
    reply_release(&r);
    static const char *const others[] = { "POST",  "PUT",   "DELETE", "OPTIONS",
                                          "PATCH", "TRACE", "get",    "NONSENSE" };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        client_ask(site->port, others[i], "/", "", &r);
        assert_int_equal(r.status, 405);
        assert_string_equal(reply_header(&r, "Allow", value), "GET, HEAD");
        reply_release(&r);
    }
    assert_int_equal(client_status(site->port, "GET", "/", "Content-Length: 5\r\n"), 413);
    assert_int_equal(client_status(site->port, "GET", "/", "Transfer-Encoding: chunked\r\n"), 413);
    assert_int_equal(client_status(site->port, "POST", "/", "Content-Length: 99999999\r\n"), 405);
    assert_int_equal(atomic_load(&site->asked), 2); /* the rest never came so far */
}

#define POST_KEY    "0123456789abcdef-key"
#define POST_TYPE   "Content-Type: application/json\r\n"
#define POST_ORIGIN "Origin: http://localhost\r\n"
#define POST_BRINGS HTTP_KEY_HEADER ": " POST_KEY "\r\n"

/* What changes something comes from a page of this server, and says so in ways that a page of
 * another site cannot; a token does not make up for it. */
TEST(test_posts)
{
    static const struct {
        const char *headers;
        int status;
    } rows[] = {
        { POST_TYPE POST_ORIGIN POST_BRINGS, 200 },
        { POST_TYPE POST_ORIGIN POST_BRINGS "Sec-Fetch-Site: same-origin\r\n", 200 },
        { "Content-Type: application/json; charset=utf-8\r\n" POST_ORIGIN POST_BRINGS, 200 },
        { POST_TYPE "Origin: https://localhost\r\n" POST_BRINGS, 200 }, /* behind a proxy */
        { POST_TYPE "Origin: http://127.0.0.1:8080\r\nHost: 127.0.0.1:8080\r\n" POST_BRINGS, 200 },
        { POST_TYPE POST_ORIGIN, 403 },
        { POST_TYPE POST_ORIGIN HTTP_KEY_HEADER ": \r\n", 403 },
        { POST_TYPE POST_ORIGIN HTTP_KEY_HEADER ": 0123456789abcdef-kex\r\n", 403 },
        { POST_TYPE POST_ORIGIN HTTP_KEY_HEADER ": " POST_KEY "x\r\n", 403 },
        { POST_TYPE POST_BRINGS, 403 }, /* no origin: no browser, or one that hides it */
        { POST_TYPE "Origin: null\r\n" POST_BRINGS, 403 },
        { POST_TYPE "Origin: http://evil.example\r\n" POST_BRINGS, 403 },
        { POST_TYPE "Origin: http://127.0.0.1:81\r\n" POST_BRINGS, 403 },
        { POST_TYPE "Origin: http://localhost.evil.example\r\n" POST_BRINGS, 403 },
        { POST_TYPE "Origin: ftp://localhost\r\n" POST_BRINGS, 403 },
        { POST_TYPE POST_ORIGIN POST_BRINGS "Sec-Fetch-Site: cross-site\r\n", 403 },
        { POST_TYPE POST_ORIGIN POST_BRINGS "Sec-Fetch-Site: same-site\r\n", 403 },
        { POST_TYPE POST_ORIGIN POST_BRINGS "Sec-Fetch-Site: none\r\n", 403 },
        { "Content-Type: text/plain\r\n" POST_ORIGIN POST_BRINGS, 415 },
        { "Content-Type: application/jsonx\r\n" POST_ORIGIN POST_BRINGS, 415 },
        { POST_ORIGIN POST_BRINGS, 415 },
        { POST_TYPE "Origin: http://evil.example\r\nHost: evil.example\r\n" POST_BRINGS, 421 },
    };
    struct site site;
    struct reply r;
    int taken = 0;

    open_site_with(&site, (struct http_options) { .host = "127.0.0.1", .post_key = POST_KEY });
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        client_post(site.port, "/x", rows[i].headers, "{\"a\":1}", &r);
        if (r.status != rows[i].status)
            fail_msg("%s: %d, not %d", rows[i].headers, r.status, rows[i].status);
        if (r.status == 200)
            assert_string_equal(r.body.data, "{\"a\":1}");
        taken += r.status == 200;
        assert_null(strcasestr(r.head.data, "Access-Control"));
        reply_release(&r);
    }
    assert_int_equal(client_status(site.port, "OPTIONS", "/x", POST_ORIGIN), 405);
    assert_int_equal(client_status(site.port, "PUT", "/x", POST_TYPE POST_ORIGIN POST_BRINGS), 405);
    assert_int_equal(atomic_load(&site.asked), taken);
    close_site(&site);
}

/* Neither a long text nor one whose length nobody knows is taken in. */
TEST(test_posts_have_a_length)
{
    static const char about[] = POST_TYPE POST_ORIGIN POST_BRINGS;
    static char longest[HTTP_BODY_MAX + 2];
    struct site site;
    struct reply r;

    open_site_with(&site, (struct http_options) { .host = "127.0.0.1", .post_key = POST_KEY });
    for (int more = 0; more < 2; more++) {
        memset(longest, ' ', HTTP_BODY_MAX + (size_t)more);
        client_post(site.port, "/x", about, longest, &r);
        assert_int_equal(r.status, more ? 413 : 200);
        if (!more)
            assert_int_equal(r.body.length, HTTP_BODY_MAX);
        reply_release(&r);
    }
    assert_int_equal(client_status(site.port, "POST", "/x", POST_TYPE POST_ORIGIN POST_BRINGS),
                     411);
    assert_int_equal(client_status(site.port, "POST", "/x",
                                   POST_TYPE POST_ORIGIN POST_BRINGS
                                   "Content-Length: 18446744073709551617\r\n"),
                     413);
    assert_int_equal(client_status(site.port, "POST", "/x",
                                   POST_TYPE POST_ORIGIN POST_BRINGS
                                   "Transfer-Encoding: chunked\r\n"),
                     411);
    assert_int_equal(atomic_load(&site.asked), 1);
    close_site(&site);
}

SITE_TEST(test_headers_for_browsers)
{
    static const char *const parameters[][2] = {
        { "X-Content-Type-Options", "nosniff" },
        { "Referrer-Policy", "no-referrer" },
        { "X-Frame-Options", "DENY" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'" },
    };
    static const char *const targets[] = { "/", "/nothing", "/name?name=%3Cscript%3E" };
    struct reply r;
    char value[256];

    for (size_t t = 0; t < sizeof(targets) / sizeof(targets[0]); t++) {
        client_ask(site->port, "GET", targets[t], "", &r);
        for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
            assert_string_equal(reply_header(&r, parameters[i][0], value), parameters[i][1]);
        assert_string_equal(reply_header(&r, "Access-Control-Allow-Origin", value), "");
        reply_release(&r);
    }
}

/* What a browser sends when a foreign name points here. */
TEST(test_foreign_hosts)
{
    static const struct {
        const char *host;
        int status;
    } cases[] = {
        { "localhost", 200 },
        { "LocalHost:9999", 200 },
        { "127.0.0.1", 200 },
        { "127.9.8.7:80", 200 },
        { "[::1]:8080", 200 },
        { "localhost.", 200 },
        { "bench.example.org", 200 },
        { "evil.example", 421 },
        { "localhost.evil.example", 421 },
        { "10.1.2.3", 421 },
        { "[2001:db8::1]", 421 },
        { "", 421 },
        { "127.0.0.1.evil.org", 421 },
        { "localhost:80a", 421 },
        { "[::1", 421 },
        { "0x7f.1", 421 },
        { "localhost, evil", 421 },
    };
    static const char *const names[] = { "bench.example.org" };
    struct site site;

    open_site(&site, "127.0.0.1", NULL, names, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char header[128];
        snprintf(header, sizeof(header), "Host: %s\r\n", cases[i].host);
        int status = client_status(site.port, "GET", "/", header);
        if (status != cases[i].status)
            fail_msg("Host \"%s\": %d", cases[i].host, status);
    }
    assert_int_equal(
        client_status(site.port, "GET", "/", "Host: localhost\r\nHost: evil.example\r\n"), 421);
    struct reply r;
    static const char none[] = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
    client_ask_bytes(site.port, none, sizeof(none) - 1, &r);
    assert_true(r.status == 400 || r.status == 421);
    reply_release(&r);
    close_site(&site);
}

SITE_TEST(test_addresses)
{
    static const struct {
        const char *target;
        int status;
    } cases[] = {
        { "/../../etc/passwd", 404 },
        { "/..%2f..%2fetc/passwd", 404 },
        { "/%2e%2e/%2e%2e/etc/passwd", 404 },
        { "//evil.example/", 400 },
        { "http://evil.example/", 400 },
        { "/name?name=a%00b", 400 },
        { "/a\\b", 400 },
        { "*", 400 },
        { "/name?name=x", 200 },
        { "/name?name", 200 },
        { "/name", 200 },
        { "/%", 404 },
        { "/%zz", 404 },
    };
    struct strbuf text;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int status = client_status(site->port, "GET", cases[i].target, "");
        if (status != cases[i].status)
            fail_msg("\"%s\": %d", cases[i].target, status);
    }
    strbuf_init(&text);
    strbuf_adds(&text, "/name?name=");
    strbuf_pad(&text, 8192, 'x');
    assert_int_equal(client_status(site->port, "GET", text.data, ""), 200);
    strbuf_pad(&text, 8193, 'x');
    assert_int_equal(client_status(site->port, "GET", text.data, ""), 414);
    strbuf_release(&text);
}

SITE_TEST(test_a_header_of_1_mb)
{
    struct strbuf text;
    struct reply r;

    strbuf_init(&text);
    strbuf_adds(&text, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ");
    strbuf_pad(&text, 1 << 20, 'x');
    strbuf_adds(&text, "\r\n\r\n");
    client_ask_bytes(site->port, text.data, text.length, &r);
    /* 431, or reset while it was still being sent. */
    assert_true(r.status == 431 || r.status == 413 || r.status == 0);
    reply_release(&r);
    strbuf_clear(&text);
    strbuf_adds(&text, "GET / HTTP/1.1\r\nHost: localhost\r\n");
    for (int i = 0; i < 20000; i++)
        strbuf_addf(&text, "X-%d: y\r\n", i);
    strbuf_adds(&text, "\r\n");
    client_ask_bytes(site->port, text.data, text.length, &r);
    assert_true(r.status == 431 || r.status == 413 || r.status == 0);
    reply_release(&r);
    assert_int_equal(client_status(site->port, "GET", "/", ""), 200);
    strbuf_release(&text);
}

SITE_TEST(test_tags)
{
    struct reply r;
    char tag[256], header[512], again[256];

    client_ask(site->port, "GET", "/large", "", &r);
    reply_header(&r, "ETag", tag);
    assert_true(strlen(tag) > 10);
    reply_release(&r);
    snprintf(header, sizeof(header), "If-None-Match: \"other\", W/%s\r\n", tag);
    client_ask(site->port, "GET", "/large", header, &r);
    assert_int_equal(r.status, 304);
    assert_int_equal(r.body.length, 0);
    assert_string_equal(reply_header(&r, "ETag", again), tag);
    reply_release(&r);
    assert_int_equal(client_status(site->port, "HEAD", "/large", header), 304);
    assert_int_equal(client_status(site->port, "GET", "/", header), 200); /* another's tag */
    assert_int_equal(client_status(site->port, "GET", "/large", "If-None-Match: *\r\n"), 304);
    client_ask(site->port, "GET", "/nothing", "", &r);
    assert_string_equal(reply_header(&r, "ETag", again), "");
    assert_string_equal(reply_header(&r, "Cache-Control", again), "no-store");
    reply_release(&r);
}

SITE_TEST(test_compression)
{
    struct strbuf plain;
    struct reply r;
    struct error err;
    char value[256], tag[256];

    client_ask(site->port, "GET", "/large", "Accept-Encoding: br, gzip;q=0.5\r\n", &r);
    assert_string_equal(reply_header(&r, "Content-Encoding", value), "gzip");
    reply_header(&r, "ETag", tag);
    assert_non_null(strstr(tag, "-gz"));
    assert_non_null(strstr(reply_header(&r, "Vary", value), "Accept-Encoding"));
    strbuf_init(&plain);
    assert_ok(gzip_undo(&plain, r.body.data, r.body.length, 1 << 21, &err), &err);
    assert_int_equal(plain.length, 1 << 20);
    strbuf_release(&plain);
    reply_release(&r);
    static const char *const refusing[] = { "", "Accept-Encoding: gzip;q=0\r\n",
                                            "Accept-Encoding: br, x-gzip\r\n" };
    for (size_t i = 0; i < sizeof(refusing) / sizeof(refusing[0]); i++) {
        client_ask(site->port, "GET", "/large", refusing[i], &r);
        assert_string_equal(reply_header(&r, "Content-Encoding", value), "");
        assert_int_equal(r.body.length, 1 << 20);
        reply_release(&r);
    }
    client_ask(site->port, "GET", "/", "Accept-Encoding: gzip\r\n", &r); /* too short to pay */
    assert_string_equal(r.body.data, "hello");
    reply_release(&r);
}

SITE_TEST(test_several_requests_on_one_connection)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct strbuf raw;

    int fd = client_connect(site->port);
    strbuf_init(&raw);
    for (int i = 0; i < 3; i++) {
        strbuf_clear(&raw);
        assert_true(client_send(fd, request, sizeof(request) - 1));
        client_read(fd, "hello", PATIENCE_MS, &raw);
        assert_non_null(strstr(raw.data, "hello"));
    }
    strbuf_release(&raw);
    close(fd);
}

static const char token[] = "a-token.of_24~characters";

TEST(test_token)
{
    struct site site;
    struct reply r;
    char value[256], header[512], target[256];

    open_site(&site, "0.0.0.0", token, NULL, 0);
    assert_int_equal(client_status(site.port, "GET", "/", ""), 401);
    assert_int_equal(client_status(site.port, "HEAD", "/large", ""), 401);
    assert_int_equal(client_status(site.port, "GET", "/?token=wrong-token.of-24-chars.", ""), 401);
    assert_int_equal(client_status(site.port, "GET", "/?token=", ""), 401);
    assert_int_equal(atomic_load(&site.asked), 0);
    assert_int_equal(client_status(site.port, "GET", "/healthz", ""), 404); /* the site has none */
    assert_int_equal(atomic_load(&site.asked), 1);

    snprintf(target, sizeof(target), "/name?a=1&token=%s&name=b%%20c", token);
    client_ask(site.port, "GET", target, "", &r);
    assert_int_equal(r.status, 303);
    assert_string_equal(reply_header(&r, "Location", value), "/name?a=1&name=b%20c");
    assert_non_null(strstr(reply_header(&r, "Set-Cookie", value), "; HttpOnly; SameSite=Strict"));
    reply_release(&r);

    snprintf(header, sizeof(header), "Cookie: other=1; harness_token_%d=%s\r\n", site.port, token);
    assert_int_equal(client_status(site.port, "GET", "/", header), 200);
    snprintf(header, sizeof(header), "Cookie: harness_token_%d=%.10s\r\n", site.port, token);
    assert_int_equal(client_status(site.port, "GET", "/", header), 401);
    snprintf(header, sizeof(header), "Authorization: Bearer %s\r\n", token);
    assert_int_equal(client_status(site.port, "GET", "/", header), 200);
    snprintf(header, sizeof(header), "Authorization: Bearer %sx\r\n", token);
    assert_int_equal(client_status(site.port, "GET", "/", header), 401);
    /* Reachable by number from other machines, and still not by any name. */
    snprintf(header, sizeof(header), "Host: 10.0.0.7:80\r\nAuthorization: Bearer %s\r\n", token);
    assert_int_equal(client_status(site.port, "GET", "/", header), 200);
    snprintf(header, sizeof(header), "Host: evil.example\r\nAuthorization: Bearer %s\r\n", token);
    assert_int_equal(client_status(site.port, "GET", "/", header), 421);
    close_site(&site);
}

/* After some wrong ones none is looked at for a while, not even the right one: whoever guesses
 * learns nothing. */
TEST(test_guesses_are_limited)
{
    struct site site;
    char wrong[96], right[96];
    int status = 401, tries = 0;

    open_site(&site, "127.0.0.1", token, NULL, 0);
    snprintf(right, sizeof(right), "Authorization: Bearer %s\r\n", token);
    for (; tries < 200 && status == 401; tries++) {
        snprintf(wrong, sizeof(wrong), "Authorization: Bearer wrong-token-%010d\r\n", tries);
        status = client_status(site.port, "GET", "/", wrong);
    }
    assert_int_equal(status, 429);
    assert_true(tries > 10);
    assert_int_equal(client_status(site.port, "GET", "/", ""), 401); /* brings none */
    for (tries = 0; tries < 100 && status == 429; tries++, usleep(100000))
        status = client_status(site.port, "GET", "/", right);
    assert_int_equal(status, 200);
    assert_int_equal(atomic_load(&site.asked), 1);
    knock("guesses of a token", 1, 1, "after 20 none is looked at, not even the right one");
    close_site(&site);
}

SITE_TEST(test_what_does_not_open)
{
    static const struct {
        const char *host, *token, *says;
    } cases[] = {
        { "0.0.0.0", NULL, "a token is needed" },
        { "::", NULL, "a token is needed" },
        { "127.0.0.1", "short", "16 to 256 characters" },
        { "127.0.0.1", "a token with blanks in it", "letters, digits" },
        { "no.such.name", NULL, "no address to listen at" },
        { "192.0.2.1", "a-token-of-20-characters", "cannot listen" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct http_options o = { .host = cases[i].host,
                                  .token = cases[i].token,
                                  .handle = answer };
        struct http *http;
        struct error err = { "" };
        int rc = http_open(&o, &http, &err);
        if (rc == 0 && strcmp(cases[i].host, "::") == 0)
            continue;
        if (rc != -1 || (!strstr(err.message, cases[i].says) && strcmp(cases[i].host, "::") != 0))
            fail_msg("%s: %s", cases[i].host, err.message);
    }
    struct http_options o = { .host = "127.0.0.1", .port = site->port, .handle = answer };
    struct http *http;
    struct error err = { "" };
    assert_int_equal(http_open(&o, &http, &err), -1);
    assert_non_null(strstr(err.message, "in use"));
}

/* 64 clients of one byte a second; the next one gets an answer or is turned away at once, and the
 * slow ones lose their places in the end. */
SITE_TEST(test_slow_clients)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
    int fds[HTTP_CONNECTIONS];
    struct reply r;

    for (int i = 0; i < HTTP_CONNECTIONS; i++) {
        fds[i] = client_connect(site->port);
        assert_true(fds[i] >= 0);
    }
    bool cut = false;
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (size_t second = 0; second < 40 && !cut; second++) {
        for (int i = 0; i < HTTP_CONNECTIONS; i++)
            client_send(fds[i], &request[second % (sizeof(request) - 1)], 1);
        if (second == 1) {
            client_ask(site->port, "GET", "/", "", &r);
            assert_true(r.status == 200 || r.status == 0); /* in time, without a hang */
            reply_release(&r);
            clock_gettime(CLOCK_MONOTONIC, &now);
            assert_true(now.tv_sec - start.tv_sec < 9);
        }
        sleep(1);
        char byte;
        cut = recv(fds[0], &byte, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET;
    }
    assert_true(cut);
    int status = 0;
    for (int tries = 0; tries < PATIENCE_MS / 100 && status != 200; tries++, usleep(100000))
        status = client_status(site->port, "GET", "/", "");
    assert_int_equal(status, 200);
    for (int i = 0; i < HTTP_CONNECTIONS; i++)
        close(fds[i]);
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* As another user of this machine: a socket belongs to who makes it. False: that is not permitted
 * here. */
static bool ask_as_nobody(int port, int *status)
{
    enum { NOBODY = 65534 };
    uid_t own = (uid_t)setfsuid(NOBODY);

    if (setfsuid((uid_t)-1) != NOBODY)
        return false;
    *status = client_status(port, "GET", "/", "");
    setfsuid(own);
    return true;
}

/* 1,000 connections of one user: another one is answered all the same, and at once. */
TEST(test_a_thousand_connections)
{
    enum { NR = 1000 };
    struct rlimit files;
    struct site site;
    int fds[NR], status = 0;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
    setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur < 2 * NR) {
        print_message("skipped: %d files may be open\n", (int)files.rlim_cur);
        skip();
    }
    open_site(&site, "127.0.0.1", NULL, NULL, 0);
    for (int i = 0; i < NR; i++)
        fds[i] = client_connect(site.port);
    int64_t start = now_ms();
    int asked = 0;
    for (; asked < 5 && ask_as_nobody(site.port, &status); asked++)
        assert_int_equal(status, 200);
    if (asked == 0)
        print_message("skipped: no other user may be tried here\n");
    /* Later the others are cut off, which would make room, too. */
    bool told = asked > 0 && now_ms() - start < HTTP_REQUEST_MS / 2;
    if (asked > 0 && !told)
        print_message("skipped: this machine is too slow to tell\n");
    if (told)
        knock("1,000 connections of one user to serve", asked, asked, "another user is answered");
    for (int i = 0; i < NR; i++)
        close(fds[i]);
    close_site(&site);
}

SITE_TEST(test_work_ends_when_the_client_has_left)
{
    static const char request[] = "GET /work HTTP/1.1\r\nHost: localhost\r\n\r\n";

    int fd = client_connect(site->port);
    assert_true(client_send(fd, request, sizeof(request) - 1));
    while (atomic_load(&site->asked) == 0)
        usleep(1000);
    assert_int_equal(atomic_load(&site->over), 0);
    close(fd);
    for (int i = 0; i < 1000 && atomic_load(&site->over) == 0; i++)
        usleep(10000);
    assert_int_equal(atomic_load(&site->over), HTTP_GONE + 1);
    knock("a client of serve that leaves", 1, 1, "the work for it ends");
}

TEST(test_work_has_a_limit)
{
    struct site site;

    open_site_with(&site, (struct http_options) { .host = "127.0.0.1", .work_ms = 300 });
    assert_int_equal(client_status(site.port, "GET", "/work", ""), 503);
    assert_int_equal(atomic_load(&site.over), HTTP_LATE + 1);
    close_site(&site);
}

/* Who has many requests in hand waits for their end; another one does not. */
SITE_TEST(test_work_of_others)
{
    static const char request[] = "GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int fds[12], status;

    for (int i = 0; i < 12; i++) {
        fds[i] = client_connect(site->port);
        assert_true(client_send(fds[i], request, sizeof(request) - 1));
    }
    for (int i = 0; i < PATIENCE_MS && atomic_load(&site->asked) < QUOTA_WORKS_EACH; i++)
        usleep(1000);
    usleep(200000);
    assert_int_equal(atomic_load(&site->asked), QUOTA_WORKS_EACH);
    assert_int_equal(client_status(site->port, "GET", "/healthz", ""), 404); /* waits for nobody */
    if (ask_as_nobody(site->port, &status))
        assert_int_equal(status, 200);
    else
        print_message("skipped: no other user may be tried here\n");
    atomic_store(&site->release, 1);
    for (int i = 0; i < 12; i++) {
        struct strbuf raw;
        strbuf_init(&raw);
        client_read(fds[i], "hello", PATIENCE_MS, &raw);
        assert_non_null(strstr(raw.data, "hello"));
        strbuf_release(&raw);
        close(fds[i]);
    }
}

/* Takes nothing of 32 MB: its place and the answer's memory are free again before long. */
TEST(test_slow_reader)
{
    static const char request[] = "GET /huge HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct site site;
    struct strbuf raw;

    open_site_with(&site, (struct http_options) {
                              .host = "127.0.0.1", .answer_ms = 500, .answer_rate = 64 << 20 });
    int fd = client_connect(site.port);
    assert_true(client_send(fd, request, sizeof(request) - 1));
    struct pollfd begun = { .fd = fd, .events = POLLIN };
    assert_int_equal(poll(&begun, 1, PATIENCE_MS), 1);
    sleep(4);
    strbuf_init(&raw);
    client_read(fd, NULL, PATIENCE_MS, &raw);
    assert_true(raw.length > 0 && raw.length < 32 << 20);
    knock("a client of serve that reads nothing", 1, 1, "it is cut off");
    strbuf_release(&raw);
    close(fd);
    close_site(&site);
}

/* Opens a stream of news; reads up to `until`. */
static int open_news(const struct site *site, const char *until, struct strbuf *raw)
{
    static const char request[] = "GET /news HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int fd = client_connect(site->port);

    client_send(fd, request, sizeof(request) - 1);
    strbuf_clear(raw);
    client_read(fd, until, PATIENCE_MS, raw);
    return fd;
}

TEST(test_events)
{
    struct site site;
    struct strbuf raw;
    int fds[EVENTS_READERS_MAX];

    open_site(&site, "127.0.0.1", NULL, NULL, 0);
    strbuf_init(&raw);
    for (int i = 0; i < EVENTS_READERS_MAX; i++) {
        fds[i] = open_news(&site, "retry: 2000", &raw);
        assert_non_null(strstr(raw.data, "text/event-stream"));
    }
    assert_int_equal(client_status(site.port, "GET", "/", ""), 200);
    events_tell(site.events, 42);
    for (int i = 0; i < EVENTS_READERS_MAX; i++) {
        strbuf_clear(&raw);
        client_read(fds[i], "}\n\n", PATIENCE_MS, &raw);
        assert_non_null(strstr(raw.data, "event: runs\ndata: {\"newest\": 42}\n\n"));
    }
    close(fds[0]); /* one that goes is noticed when there is news */
    for (int i = 0; i < 100 && events_readers(site.events) == EVENTS_READERS_MAX; i++) {
        events_tell(site.events, 43);
        usleep(20000);
    }
    assert_true(events_readers(site.events) < EVENTS_READERS_MAX);
    close_site(&site); /* ends those that wait */
    for (int i = 1; i < EVENTS_READERS_MAX; i++) {
        strbuf_clear(&raw);
        client_read(fds[i], NULL, PATIENCE_MS, &raw);
        assert_non_null(strstr(raw.data, "event: end\ndata: {}\n\n"));
        close(fds[i]);
    }
    strbuf_release(&raw);
}

/* Pages that were closed must not keep others from the news; one that has to go misses none. */
TEST(test_one_reader_too_many)
{
    struct site site;
    struct strbuf raw;
    int fds[EVENTS_READERS_MAX + 2];

    open_site(&site, "127.0.0.1", NULL, NULL, 0);
    strbuf_init(&raw);
    for (int i = 0; i < EVENTS_READERS_MAX; i++)
        fds[i] = open_news(&site, "retry: 2000", &raw);
    events_tell(site.events, 41);
    client_read(fds[0], "41}\n\n", PATIENCE_MS, &raw);
    /* Whoever comes late is told what was told last. */
    fds[EVENTS_READERS_MAX] = open_news(&site, "41}\n\n", &raw);
    assert_non_null(strstr(raw.data, "event: runs\ndata: {\"newest\": 41}\n\n"));
    assert_int_equal(events_readers(site.events), EVENTS_READERS_MAX);
    strbuf_clear(&raw);
    client_read(fds[0], NULL, PATIENCE_MS, &raw); /* to its end */
    assert_null(strstr(raw.data, "42"));
    assert_null(strstr(raw.data, "event: end")); /* not the server's */
    events_tell(site.events, 42);
    fds[EVENTS_READERS_MAX + 1] = open_news(&site, "42}\n\n", &raw);
    assert_non_null(strstr(raw.data, "{\"newest\": 42}\n\n"));
    assert_null(strstr(raw.data, "{\"newest\": 41}")); /* a header says the time */
    close_site(&site);
    for (int i = 0; i < EVENTS_READERS_MAX + 2; i++)
        close(fds[i]);
    strbuf_release(&raw);
}

static void *ask_slowly(void *context)
{
    struct site *site = context;
    struct reply *r = malloc(sizeof(*r));

    client_ask(site->port, "GET", "/wait", "", r);
    return r;
}

static void *release_later(void *context)
{
    struct site *site = context;

    usleep(300000);
    atomic_store(&site->release, 1);
    return NULL;
}

TEST(test_end_waits_for_answers)
{
    struct site site;
    pthread_t client, helper;
    void *result;

    open_site(&site, "127.0.0.1", NULL, NULL, 0);
    int port = site.port, idle = client_connect(port);
    pthread_create(&client, NULL, ask_slowly, &site);
    while (atomic_load(&site.asked) == 0)
        usleep(1000);
    pthread_create(&helper, NULL, release_later, &site);
    close_site(&site);
    pthread_join(helper, NULL);
    pthread_join(client, &result);
    struct reply *r = result;
    assert_int_equal(r->status, 200);
    assert_string_equal(r->body.data, "hello");
    reply_release(r);
    free(r);
    close(idle);
    assert_true(client_connect(port) < 0);
}

SITE_TEST(test_end_does_not_wait_for_ever)
{
    pthread_t client;
    void *result;

    pthread_create(&client, NULL, ask_slowly, site);
    while (atomic_load(&site->asked) == 0)
        usleep(1000);
    assert_false(http_close(site->http, 100));
    atomic_store(&site->release, 1);
    /* The answer is still made and sent; after that the server can go in peace. */
    pthread_join(client, &result);
    assert_int_equal(((struct reply *)result)->status, 200);
    reply_release(result);
    free(result);
}

RUN_TESTS(NULL, NULL)
