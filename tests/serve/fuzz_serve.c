/* SPDX-License-Identifier: MIT */
/*
 * The live page under random bytes, mutated requests and hostile queries; it must refuse or answer
 * each, and still answer a good one after all of them. Seeded, so that a failure comes again:
 *
 *     fuzz_serve [REQUESTS [SEED]]
 *
 * Features: S1-21, S1-22.
 */
#include "serving.h"

#include "base/json.h"
#include "long_history.h"
#include "stats/random.h"

enum { REQUESTS = 3000 };

static size_t requests = REQUESTS;
static uint64_t seed = 20261121;
static char folder[] = "/tmp/harness-serve-XXXXXX";

static const char *const seeds[] = {
    "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    "GET /api/core?run=1,2&base=1&where=batch%20%3E%3D%201&from=3&limit=2 HTTP/1.1\r\n"
    "Host: localhost\r\nAccept-Encoding: gzip, br;q=0.5\r\nConnection: close\r\n\r\n",
    "HEAD /api/table?where=kernel%20%3D%20%22gemm/*%22 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n"
    "If-None-Match: \"x\", W/\"y\"\r\nConnection: close\r\n\r\n",
    "GET /api/figure/roofline HTTP/1.1\r\nHost: [::1]\r\nCookie: a=b; harness_token_1=x\r\n"
    "Connection: close\r\n\r\n",
    "GET /api/samples?run=1&key=gemm/linear/simd/fp32/batch=1,seq=64,n=192,k=48/cpu-2t/warm "
    "HTTP/1.0\r\nHost: localhost\r\n\r\n",
    "GET /api/explore?preset=%7B%22name%22:%22a%22,%22title%22:%22b%22,%22type%22:%22scatter%22,"
    "%22x%22:%22p50%22,%22y%22:%22gflops%22%7D HTTP/1.1\r\nHost: localhost\r\n"
    "Connection: close\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
    "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
};

static const char *const pieces[] = {
    "\r\n",
    "\n",
    "\r",
    "%00",
    "%",
    "%zz",
    "\xff",
    "..",
    "//",
    "Host: evil\r\n",
    "HTTP/9.9",
    " ",
    "?",
    "&",
    "=",
    "run=",
    "where=",
    "not%20(",
    "%22",
    "'",
    ";",
    "--",
    "{",
    "}",
    "[",
    "\\",
    ",,",
    "-1",
    "99999999999999999999",
    "Content-Length: -1\r\n",
    "Range: bytes=0-\r\n",
    "\t",
    ":",
    "Expect: 100-continue\r\n",
    "Upgrade: websocket\r\n",
    "Connection: keep-alive\r\n",
};

static void add_random_bytes(struct random *r, struct strbuf *out)
{
    for (uint64_t i = random_below(r, 400); i > 0; i--)
        strbuf_addc(out, (char)random_below(r, 256));
}

static void mutate(struct random *r, struct strbuf *text)
{
    for (uint64_t i = 1 + random_below(r, 6); i > 0; i--) {
        size_t at = text->length ? random_below(r, text->length) : 0;
        char *tail = memory_string(text->data + at);
        switch (random_below(r, 5)) {
        case 0: /* another byte */
            if (text->length)
                text->data[at] = (char)(1 + random_below(r, 255));
            break;
        case 1: /* cut off */
            text->length = at;
            text->data[at] = '\0';
            break;
        case 2: /* said twice */
            strbuf_adds(text, tail);
            break;
        default: /* a piece in between */
            text->length = at;
            text->data[at] = '\0';
            strbuf_adds(text, pieces[random_below(r, sizeof(pieces) / sizeof(pieces[0]))]);
            strbuf_adds(text, tail);
        }
        free(tail);
    }
}

/* A well-formed request whose query is nonsense: these come further. */
static void add_nonsense_query(struct random *r, struct strbuf *out)
{
    static const char *const names[] = { "run",    "base", "where", "from", "limit",
                                         "preset", "key",  "token", "x" };
    static const char *const paths[] = { "/",
                                         "/api/core",
                                         "/api/table",
                                         "/api/figure/latency",
                                         "/api/figure/",
                                         "/api/explore",
                                         "/api/samples",
                                         "/api/events",
                                         "/healthz",
                                         "/api/figure/../core" };

    strbuf_addf(out, "GET %s?", paths[random_below(r, sizeof(paths) / sizeof(paths[0]))]);
    for (uint64_t i = random_below(r, 5); i > 0; i--) {
        strbuf_addf(out, "%s=", names[random_below(r, sizeof(names) / sizeof(names[0]))]);
        for (uint64_t k = random_below(r, 30); k > 0; k--)
            strbuf_addf(out, "%%%02x", (unsigned)(1 + random_below(r, 255)));
        strbuf_addc(out, '&');
    }
    strbuf_adds(out, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
}

static void make_request(struct random *r, struct strbuf *out)
{
    strbuf_clear(out);
    switch (random_below(r, 8)) {
    case 0:
        add_random_bytes(r, out);
        break;
    case 1:
    case 2:
        add_nonsense_query(r, out);
        break;
    default:
        strbuf_adds(out, seeds[random_below(r, sizeof(seeds) / sizeof(seeds[0]))]);
        mutate(r, out);
    }
}

/* Half of a request is a client that went away: no answer is due. */
static void ask(int port, const struct strbuf *request, size_t statuses[6])
{
    struct strbuf raw;
    struct reply r;
    int fd = client_connect(port);

    assert_true(fd >= 0);
    strbuf_init(&raw);
    client_send(fd, request->data, request->length);
    shutdown(fd, SHUT_WR);
    client_read(fd, NULL, 10000, &raw);
    close(fd);
    reply_parse(&raw, &r);
    assert_true(r.status == 0 || (r.status >= 100 && r.status < 600));
    statuses[r.status / 100]++;
    if (strncmp(request->data, "GET ", 4) == 0 && strstr(r.head.data, "application/json") &&
        r.body.length && r.status != 200) {
        struct error err; /* a refusal is whole, whatever it quotes */
        cJSON *json = json_parse(r.body.data, r.body.length, "the answer", &err);
        if (!json && !strcasestr(r.head.data, "\r\nContent-Encoding: gzip"))
            fail_msg("asked \"%s\", answered \"%s\": %s", request->data, r.body.data, err.message);
        cJSON_Delete(json);
    }
    reply_release(&r);
    strbuf_release(&raw);
}

TEST(test_fuzz)
{
    struct long_history h = { .benchmarks = 4, .runs = 5, .launches = 2, .samples = 20, .seed = 1 };
    size_t statuses[6] = { 0 };
    struct serving s;
    struct random random;
    struct strbuf request;
    struct error err;
    char path[64];

    snprintf(path, sizeof(path), "%s/history.db", folder);
    assert_ok(long_history_write(path, &h, &err), &err);
    serving_open(&s, path, false);
    strbuf_init(&request);
    random_seed(&random, seed);
    for (size_t i = 0; i < requests; i++) {
        make_request(&random, &request);
        ask(s.port, &request, statuses);
    }
    printf("no answer %zu, 2xx %zu, 3xx %zu, 4xx %zu, 5xx %zu\n", statuses[0], statuses[2],
           statuses[3], statuses[4], statuses[5]);
    assert_int_equal(client_status(s.port, "GET", "/api/core", ""), 200);
    assert_true(statuses[2] > 0 && statuses[4] > 0);
    strbuf_release(&request);
    serving_close(&s);
    unlink(path);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        requests = strtoul(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoul(argv[2], NULL, 10);
    if (!mkdtemp(folder))
        return 1;
    int rc = cmocka_run_group_tests(file_tests, NULL, NULL);
    rmdir(folder);
    return rc;
}
