/* SPDX-License-Identifier: MIT */
/* What readers of the live page write into the history: a step is accepted, a run annotated. */
#include "test_store.h"

#include "base/file.h"
#include "base/json.h"
#include "json_facts.h"
#include "serving.h"
#include "store/annotations.h"
#include "store/verdicts.h"

#include <inttypes.h>

enum { RUNS = 40, STEP = 25 };

#define KEY     "gemm/nn/simd/fp32/batch=1,seq=64/cpu-2t/warm"
#define MACHINE "test-machine"

/* Nights of which those from STEP on are a tenth slower. */
static void edits_add_run(struct store *s, int number)
{
    struct run run = sample_run();
    struct launch launch = { .seq = 0, .ended_ms = 1 };
    struct error err;
    int64_t launch_id;

    run.started_ms = INT64_C(1793491200000) + (int64_t)number * 86400000;
    run.build.dirty = false;
    snprintf(run.build.branch, sizeof(run.build.branch), "main");
    snprintf(run.build.commit, sizeof(run.build.commit), "%040x", 0xabc0000 + number);
    snprintf(run.machine.class_name, sizeof(run.machine.class_name), MACHINE);
    assert_ok(store_begin_run(s, &run, &err), &err);
    assert_ok(store_begin_launch(s, run.id, &launch, &launch_id, &err), &err);
    struct measurement m = sample_measurement(0);
    assert_ok(benchmark_name_parse(KEY, &m.bench, &err), &err);
    for (size_t i = 0; i < m.nr_samples; i++)
        m.samples[i] = (number < STEP ? 100000U : 110000U) + (unsigned)(number * 7919 % 101);
    m.batch = 1;
    assert_ok(store_add_measurement(s, launch_id, &m, &err), &err);
    measurement_release(&m);
    assert_ok(store_end_run(s, run.id, run.started_ms + 1000, &err), &err);
}

static void edits_make_history(const char *path)
{
    struct store *s;
    struct error err;

    assert_ok(store_open(&s, path, STORE_WRITE, &err), &err);
    for (int i = 0; i < RUNS; i++)
        edits_add_run(s, i);
    store_close(s);
}

#define EDIT_HEADERS                                                                               \
    "Content-Type: application/json\r\nOrigin: http://localhost\r\nX-Harness-Key: " SERVING_KEY    \
    "\r\nAuthorization: Bearer " SERVING_TOKEN "\r\n"

static int post(int port, const char *target, const char *body, const char *says)
{
    struct reply r;

    client_post(port, target, EDIT_HEADERS, body, &r);
    int status = r.status;
    if (says && !strstr(r.body.data, says))
        fail_msg("%s %s: %d %s", target, body, status, r.body.data);
    reply_release(&r);
    return status;
}

static cJSON *edits_core(int port)
{
    struct reply r;
    struct error err;

    client_ask(port, "GET", "/api/core", "Authorization: Bearer " SERVING_TOKEN "\r\n", &r);
    assert_int_equal(r.status, 200);
    cJSON *core = json_parse(r.body.data, r.body.length, "core", &err);
    assert_non_null(core);
    reply_release(&r);
    return core;
}

/* The run that the only card's change was whole in. */
static int64_t edits_bad_run(int port)
{
    cJSON *core = edits_core(port);
    const cJSON *trends = cJSON_GetObjectItemCaseSensitive(core, "trends");
    const cJSON *cards = cJSON_GetObjectItemCaseSensitive(trends, "cards");

    assert_int_equal(cJSON_GetArraySize(cards), 1);
    assert_facts(core, "edit_key=" SERVING_KEY
                       "; trends.cards.0.kind=step; "
                       "trends.cards.0.rank=regression");
    int64_t run = json_int(cJSON_GetObjectItemCaseSensitive(cards->child, "bad"), "run", -1);
    cJSON_Delete(core);
    return run;
}

static void edit_body(char body[2048], const char *kind, int64_t run, const char *text)
{
    snprintf(body, 2048,
             "{\"machine\":\"" MACHINE "\",\"key\":\"" KEY "\",\"kind\":\"%s\",\"run\":%" PRId64
             ",\"text\":\"%s\"}",
             kind, run, text);
}

/* With a history that is served for writing. */
#define EDITS_TEST(name)                                                                           \
    static void name##_of(const char *path, int port);                                             \
    SCRATCH_TEST(name)                                                                             \
    {                                                                                              \
        const struct scratch *scratch = *state;                                                    \
        struct serving serving;                                                                    \
        edits_make_history(scratch->path);                                                         \
        serving_open_with(&serving, (struct serve_options) { .path = scratch->path,                \
                                                             .token = SERVING_TOKEN,               \
                                                             .edit_key = SERVING_KEY,              \
                                                             .author = "Ada <ada@example.org>" }); \
        name##_of(scratch->path, serving.port);                                                    \
        serving_close(&serving);                                                                   \
    }                                                                                              \
    static void name##_of(const char *path, int port)

static void edits_count(const char *path, size_t accepted, size_t annotated)
{
    struct store_acceptances acceptances = { 0 };
    struct store_annotations annotations = { 0 };
    struct store *s;
    struct error err;

    assert_ok(store_open(&s, path, STORE_READ, &err), &err);
    assert_ok(store_acceptance_list(s, NULL, &acceptances, &err), &err);
    assert_ok(store_annotation_list(s, 0, &annotations, &err), &err);
    assert_int_equal(acceptances.nr, accepted);
    assert_int_equal(annotations.nr, annotated);
    store_acceptances_release(&acceptances);
    store_annotations_release(&annotations);
    store_close(s);
}

/* What is written of the change is the history's; the page has it when the answer is there. */
EDITS_TEST(test_a_step_is_accepted)
{
    struct store_acceptances list = { 0 };
    struct store *s;
    struct error err;
    char body[2048];
    int64_t run = edits_bad_run(port);

    edit_body(body, "step", run, "<img src=x onerror=alert(1)> & \\u202e \\\"why\\\"");
    assert_int_equal(post(port, "/api/accept", body, "\"saved\":true"), 200);
    assert_ok(store_open(&s, path, STORE_READ, &err), &err);
    assert_ok(store_acceptance_list(s, NULL, &list, &err), &err);
    assert_int_equal(list.nr, 1);
    const struct acceptance *a = &list.items[0];
    assert_string_equal(a->key, KEY);
    assert_string_equal(a->metric, "p50");
    assert_string_equal(a->machine, MACHINE);
    assert_string_equal(a->author, "Ada <ada@example.org>");
    assert_string_equal(a->reason, "<img src=x onerror=alert(1)> & \u202e \"why\"");
    assert_close(a->change, 0.1, 0.02);
    store_acceptances_release(&list);
    store_close(s);
    cJSON *core = edits_core(port);
    assert_facts(core, "trends.cards.0.rank=accepted; trends.counts.standing=0");
    char *text = cJSON_PrintUnformatted(core);
    free(text);
    cJSON_Delete(core);
    assert_int_equal(post(port, "/api/accept", body, "accepted already"), 409);
    edits_count(path, 1, 0);
}

EDITS_TEST(test_a_run_is_annotated)
{
    char body[2048];
    int64_t run = edits_bad_run(port);

    edit_body(body, "step", run, "new BIOS");
    assert_int_equal(post(port, "/api/annotate", body, "\"saved\":true"), 200);
    cJSON *core = edits_core(port);
    assert_facts(core, "trends.annotations.0.text=new BIOS; trends.cards.0.rank=regression");
    cJSON_Delete(core);
    edits_count(path, 0, 1);
}

/* Nothing is written, and the answer says what is wrong. */
EDITS_TEST(test_what_is_refused)
{
    static char text[1100];
    const struct {
        const char *kind;
        int64_t run;
        const char *text, *says;
        int status;
    } rows[] = {
        { "step", 1, "why", "does not have that change", 404 },
        { "step", 1 << 20, "why", "does not have that change", 404 },
        { "drift", STEP + 1, "why", "does not have that change", 404 },
        { "leap", STEP + 1, "why", "\\\"kind\\\" is step or drift", 400 },
        { "step", -1, "why", "no number of a run", 400 },
        { "step", STEP + 1, "", "the text is empty", 400 },
        { "step", STEP + 1, " \\t ", "the text is empty", 400 },
        { "step", STEP + 1, "a\\nb", "one line", 400 },
        { "step", STEP + 1, "a\\u0000b", NULL, 400 },
        { "step", STEP + 1, "a\\u001bb", "one line", 400 },
        { "step", STEP + 1, "a\xff", "UTF-8", 400 },
        { "step", STEP + 1, text, "at most 1000 bytes, not 1099", 400 },
    };
    static const char *const broken[] = {
        "",
        "7",
        "{",
        "[]",
        "{\"machine\":7}",
        "{\"machine\":\"m\",\"key\":\"k\",\"kind\":\"step\"}",
        "{\"machine\":\"m\",\"key\":\"k\",\"kind\":\"step\",\"text\":\"t\",\"run\":\"1\"}",
    };
    char body[2048];

    assert_int_equal(edits_bad_run(port), STEP + 1); /* ids begin at 1 */
    memset(text, 'x', sizeof(text) - 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        edit_body(body, rows[i].kind, rows[i].run, rows[i].text);
        if (post(port, "/api/accept", body, rows[i].says) != rows[i].status)
            fail_msg("%s was not %d", body, rows[i].status);
    }
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
        if (post(port, "/api/annotate", broken[i], "\"error\"") != 400)
            fail_msg("%s was taken", broken[i]);
    assert_int_equal(post(port, "/api/core", "{}", "nothing can be sent"), 404);
    assert_int_equal(post(port, "/", "{}", "nothing can be sent"), 404);
    edits_count(path, 0, 0);
}

/* The token alone, the key alone, and a page of another site do not do. */
EDITS_TEST(test_who_may_not_write)
{
    static const struct {
        const char *headers;
        int status;
    } rows[] = {
        { "Content-Type: application/json\r\nOrigin: http://localhost\r\n"
          "Authorization: Bearer " SERVING_TOKEN "\r\n",
          403 },
        { "Content-Type: application/json\r\nOrigin: http://localhost\r\n"
          "X-Harness-Key: " SERVING_KEY "\r\n",
          401 },
        { "Content-Type: application/json\r\nOrigin: http://evil.example\r\n"
          "X-Harness-Key: " SERVING_KEY "\r\nAuthorization: Bearer " SERVING_TOKEN "\r\n",
          403 },
    };
    struct reply r;
    char body[2048];

    edit_body(body, "step", edits_bad_run(port), "why");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        client_post(port, "/api/accept", rows[i].headers, body, &r);
        assert_int_equal(r.status, rows[i].status);
        reply_release(&r);
    }
    edits_count(path, 0, 0);
}

/* A run that is being measured writes between; neither waits for the other for long. */
EDITS_TEST(test_others_write_too)
{
    struct store *s;
    struct error err;
    char body[2048];
    int64_t run = edits_bad_run(port);

    assert_ok(store_open(&s, path, STORE_WRITE, &err), &err);
    for (int i = 0; i < 5; i++) {
        char text[32];
        snprintf(text, sizeof(text), "annotation %d", i);
        edits_add_run(s, RUNS + i);
        edit_body(body, "step", run, text);
        assert_int_equal(post(port, "/api/annotate", body, "\"saved\":true"), 200);
    }
    store_close(s);
    edits_count(path, 0, 5);
}

/* Without the option nothing is different: no key on the page, no POST. */
SCRATCH_TEST(test_a_server_that_only_reads)
{
    const struct scratch *scratch = *state;
    struct serving serving;
    struct reply r;
    char body[2048];

    edits_make_history(scratch->path);
    serving_open_with(&serving,
                      (struct serve_options) { .path = scratch->path, .token = SERVING_TOKEN });
    cJSON *core = edits_core(serving.port);
    assert_null(cJSON_GetObjectItemCaseSensitive(core, "edit_key"));
    cJSON_Delete(core);
    edit_body(body, "step", STEP + 1, "why");
    client_post(serving.port, "/api/accept", EDIT_HEADERS, body, &r);
    assert_int_equal(r.status, 405);
    reply_release(&r);
    serving_close(&serving);
    edits_count(scratch->path, 0, 0);
}

RUN_TESTS(NULL, NULL)
