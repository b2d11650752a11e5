/* SPDX-License-Identifier: MIT */
/* S1-08, S1-21..S1-25, S1-28, S2-05: the addresses of the live page over a history, filters,
 * paging, news of runs that others add, and a history that may only be read. */
#include "test_store.h"

#include "base/file.h"
#include "base/json.h"
#include "json_facts.h"
#include "serve/live_view.h"
#include "serve/watcher.h"
#include "serving.h"

#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>

static int64_t add_run(struct store *s, int number)
{
    struct run run = sample_run();
    struct error err;
    int64_t launch_id;

    run.started_ms = INT64_C(1793491200000) + (int64_t)number * 86400000;
    snprintf(run.build.branch, sizeof(run.build.branch), number % 2 ? "main" : "topic");
    snprintf(run.build.commit, sizeof(run.build.commit), "%040x", 0xabc0000 + number);
    snprintf(run.label, sizeof(run.label), "</script><img src=x>");
    assert_ok(store_begin_run(s, &run, &err), &err);
    for (int seq = 0; seq < 3; seq++) {
        struct launch launch = { .seq = seq, .ended_ms = 1 };
        assert_ok(store_begin_launch(s, run.id, &launch, &launch_id, &err), &err);
        for (unsigned k = 0; k < 5; k++) {
            struct measurement m = sample_measurement(k);
            for (size_t i = 0; i < m.nr_samples; i++)
                m.samples[i] += (uint64_t)(seq * 10 + number);
            assert_ok(store_add_measurement(s, launch_id, &m, &err), &err);
            measurement_release(&m);
        }
    }
    assert_ok(store_end_run(s, run.id, run.started_ms + 1000, &err), &err);
    return run.id;
}

static struct store *make_history(const struct scratch *scratch, int runs)
{
    struct store *s;
    struct error err;

    assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
    for (int i = 1; i <= runs; i++)
        add_run(s, i);
    return s;
}

/* The answer as JSON, which must have that status. */
static cJSON *ask_json(int port, const char *target, int status)
{
    struct reply r;
    struct error err;

    client_ask(port, "GET", target, "", &r);
    if (r.status != status)
        fail_msg("%s: %d %s", target, r.status, r.body.data);
    cJSON *json = json_parse(r.body.data, r.body.length, target, &err);
    assert_non_null(json);
    reply_release(&r);
    return json;
}

static void expect(int port, const char *target, int status, const char *facts)
{
    cJSON *json = ask_json(port, target, status);

    assert_facts(json, facts);
    cJSON_Delete(json);
}

static const cJSON *member(const cJSON *json, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(json, key);

    if (!found)
        fail_msg("no member \"%s\"", key);
    return found;
}

static int size_of(const cJSON *json, const char *key)
{
    return cJSON_GetArraySize(member(json, key));
}

static int64_t run_id(const cJSON *core, int index)
{
    return json_int(cJSON_GetArrayItem(member(core, "runs"), index), "id", -1);
}

/* With a history of so many runs that is served. */
#define SERVE_TEST(name, runs, watch)                                                              \
    static void name##_of(struct store *s, const struct serving *serving);                         \
    SCRATCH_TEST(name)                                                                             \
    {                                                                                              \
        struct store *s = make_history(*state, runs);                                              \
        struct serving serving;                                                                    \
        serving_open(&serving, store_path(s), watch);                                              \
        name##_of(s, &serving);                                                                    \
        serving_close(&serving);                                                                   \
        store_close(s);                                                                            \
    }                                                                                              \
    static void name##_of(__attribute__((unused)) struct store *s, const struct serving *serving)

SERVE_TEST(test_core, 4, false)
{
    char figures[40];

    snprintf(figures, sizeof(figures), "#figures=%zu", serving->presets.nr);
    expect(serving->port, "/api/core", 200, figures);
    expect(serving->port, "/api/core", 200,
           "mode=serve; #runs=4; runs.3.id=4; head=3; #benchmarks=5; trends={}; comparison=null; "
           "paging.next=null"); /* runs are oldest first */
}

/* A page's commands ask for what the server was asked for. */
SCRATCH_TEST(test_commands)
{
    struct page_asked asked = { .group_by = "branch" };
    struct store *s = make_history(*state, 1);
    struct serving serving;

    string_list_add(&asked.filters, "null");
    serving_open_with(&serving, (struct serve_options) { .path = store_path(s), .asked = &asked });
    expect(serving.port, "/api/core", 200,
           "commands.report=harness report 1 --filter null --group-by branch");
    serving_close(&serving);
    string_list_release(&asked.filters);
    store_close(s);
}

static bool has_note(const cJSON *core, const char *text)
{
    const cJSON *note;

    cJSON_ArrayForEach(note, member(core, "notes"))
    {
        if (strcmp(note->valuestring, text) == 0)
            return true;
    }
    return false;
}

/* Of the server's own filters, as `harness report` tells it. */
SCRATCH_TEST(test_filters_that_fit_nothing)
{
    static const char *const filters[] = { "gemm", "nosuch", "!other" };
    const struct view_request request = { .filters = filters, .nr_filters = 3 };
    struct store *s = make_history(*state, 1);
    struct serving serving;

    serving_open_with(&serving,
                      (struct serve_options) { .path = store_path(s), .request = &request });
    cJSON *core = ask_json(serving.port, "/api/core", 200);
    assert_true(has_note(core, "nothing that is shown fits the filter \"nosuch\""));
    assert_false(has_note(core, "nothing that is shown fits the filter \"gemm\""));
    assert_false(has_note(core, "nothing that is shown fits the filter \"!other\""));
    cJSON_Delete(core);
    serving_close(&serving);
    store_close(s);
}

SERVE_TEST(test_page, 2, false)
{
    struct reply r;
    char value[256];

    client_ask(serving->port, "GET", "/?run=1&where=batch%20%3E%201", "", &r);
    assert_int_equal(r.status, 200);
    assert_string_equal(reply_header(&r, "Content-Type", value), "text/html; charset=utf-8");
    assert_non_null(strstr(r.body.data, "connect-src 'self'"));
    assert_non_null(strstr(r.body.data, "id=\"harness-core\""));
    assert_null(strstr(r.body.data, "<img"));
    assert_null(strstr(r.body.data, "harness-samples"));
    reply_release(&r);
}

/* For Prometheus: the newest run, the base's verdicts, what stands in the history. */
SERVE_TEST(test_metrics, 4, false)
{
    struct reply r;
    char value[256];

    client_ask(serving->port, "GET", "/metrics", "", &r);
    assert_int_equal(r.status, 200);
    assert_string_equal(reply_header(&r, "Content-Type", value),
                        "text/plain; version=0.0.4; charset=utf-8");
    assert_non_null(strstr(r.body.data, "# TYPE harness_run_info gauge\n"));
    assert_non_null(strstr(r.body.data, "\nharness_latency_p50_seconds{benchmark=\""));
    assert_non_null(strstr(r.body.data, "\nharness_regressions_standing{metric=\"p50\","));
    assert_null(strstr(r.body.data, "harness_compared_benchmarks"));
    reply_release(&r);
    client_ask(serving->port, "GET", "/metrics?run=2&base=1", "", &r);
    assert_non_null(strstr(r.body.data, "\nharness_compared_benchmarks{verdict=\"regressed\","));
    reply_release(&r);
    client_ask(serving->port, "GET", "/metrics?where=branch%20%3D%20none", "", &r);
    assert_string_equal(r.body.data, "# no finished run fits\n");
    reply_release(&r);
    cJSON_Delete(ask_json(serving->port, "/metrics?run=77", 404));
}

SERVE_TEST(test_runs_base_and_pages, 6, false)
{
    expect(serving->port, "/api/core?limit=2", 200, "#runs=2; paging.next=4");
    /* 4 and 3 are listed; 6, 2 and 1 looked at. */
    expect(serving->port, "/api/core?limit=2&from=4&run=6,2&base=1", 200,
           "#runs=5; #selected=2; comparison={}; base=0; runs.0.id=1");
    expect(serving->port, "/api/table?run=6,2", 200, "#run=10");
    expect(serving->port, "/api/core?run=77", 404, "error~77");
    expect(serving->port, "/api/core?base=77", 404, "error~77");
}

SERVE_TEST(test_mistakes, 1, false)
{
    static const char *const targets[] = {
        "/api/core?run=x",
        "/api/core?run=0",
        "/api/core?run=-1",
        "/api/core?run=1:9",
        "/api/core?limit=0",
        "/api/core?limit=501",
        "/api/core?from=1e9",
        "/api/core?wher=x",
        "/api/core?base=1,2",
        "/api/table?preset=x",
        "/api/explore",
        "/api/explore?preset=",
        "/api/explore?preset=1",
        "/api/samples?run=1,2&key=x",
        "/api/samples?run=1",
        "/api/core?run=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21",
    };

    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        cJSON *json = ask_json(serving->port, targets[i], 400);
        assert_true(strlen(json_string(json, "error", "")) > 10);
        cJSON_Delete(json);
    }
    expect(serving->port, "/api/core?where=batch%20%3E%3D%204%20and%20x", 400, "at=17");
    cJSON_Delete(ask_json(serving->port, "/api/figure/latency-kernel", 404));
    cJSON_Delete(ask_json(serving->port, "/api/figure/../core", 404));
    cJSON_Delete(ask_json(serving->port, "/api/samples?run=1&key=nothing", 404));
    cJSON_Delete(ask_json(serving->port, "/api/events", 404)); /* without --watch */
}

/* Ids of the runs that fit, oldest first, over as many pages as it takes: where the machine is
 * busy, a search that takes too long goes on with the next page. */
static size_t ids_of(int port, const char *where, int64_t ids[8])
{
    int64_t found[8], next = 0;
    size_t nr = 0;

    do {
        char target[200], from[40] = "";
        if (next > 0)
            snprintf(from, sizeof(from), "&from=%" PRId64, next);
        snprintf(target, sizeof(target), "/api/core?where=%s%s", where, from);
        cJSON *core = ask_json(port, target, 200);
        for (int i = size_of(core, "runs") - 1; i >= 0 && nr < 8; i--)
            found[nr++] = run_id(core, i);
        next = json_int(member(core, "paging"), "next", 0);
        cJSON_Delete(core);
    } while (next > 0);
    for (size_t i = 0; i < nr; i++)
        ids[i] = found[nr - 1 - i];
    return nr;
}

SERVE_TEST(test_filters, 4, false)
{
    int64_t ids[8];

    assert_int_equal(ids_of(serving->port, "batch%20%3C%203%20and%20branch=main", ids), 2);
    assert_int_equal(ids[1], 3);
    expect(serving->port, "/api/core?where=batch%20%3C%203%20and%20branch=main", 200,
           "#benchmarks=2; #trends.quiet=2"); /* of five */
    expect(serving->port, "/api/figure/trend?where=batch=2", 200, "#benchmarks=1");
    expect(serving->port, "/api/table?where=batch=2", 200, "#run=1");
    expect(serving->port, "/api/core?where=branch=nowhere", 200, "#runs=0; head=null");
    cJSON *figure = ask_json(serving->port, "/api/figure/roofline?where=branch=nowhere", 200);
    assert_true(strlen(json_string(figure, "reason", "")) > 3);
    cJSON_Delete(figure);
}

/* What the page draws is what `harness plot` draws: the same figure from the same view. */
SERVE_TEST(test_figures, 4, false)
{
    struct view view;
    struct error err;
    int64_t newest = 4;
    struct view_request request = { .run_ids = &newest, .nr_run_ids = 1, .history = 200 };
    size_t drawn = 0;

    assert_ok(view_load(s, &request, &view, &err), &err);
    for (size_t i = 0; i < serving->presets.nr; i++) {
        const struct preset *preset = &serving->presets.items[i];
        struct figure *f = page_figure(&view, preset, PAGE_POINTS);
        struct strbuf expected;
        char target[128];
        struct reply r;
        strbuf_init(&expected);
        json_take_script(figure_to_json(f), &expected);
        snprintf(target, sizeof(target), "/api/figure/%s", preset->name);
        client_ask(serving->port, "GET", target, "", &r);
        if (!f->reason)
            assert_string_equal(r.body.data, expected.data);
        drawn += !f->reason;
        reply_release(&r);
        strbuf_release(&expected);
        figure_free(f);
    }
    assert_true(drawn >= 4);
    view_release(&view);
}

SERVE_TEST(test_explore, 2, false)
{
    expect(serving->port,
           "/api/explore?where=batch%3C4&preset=%7B%22name%22:%22mine%22,%22title%22:%22Mine%22,"
           "%22type%22:%22scatter%22,%22x%22:%22batch%22,%22y%22:%22p50%22%7D",
           200, "id=mine; #panels=1");
    static const struct {
        const char *range; /* of the fastest sample: 100002 ns and one more for each batch */
        int status;
        const char *facts;
    } ranges[] = {
        { "", 200, "#benchmarks=5" },
        { "min::", 200, "#benchmarks=5" },
        { "min::100003.5", 200, "#benchmarks=2" },
        { "min:100003.5:100004.5", 200, "#benchmarks=1; benchmarks.0~batch=3/" },
        { "min:1e9:", 200, "!benchmarks; reason~no benchmark of the run is in the range" },
        { "p50", 400, "error~no METRIC:LOW:HIGH" },
        { "p50:x:", 400, "error~not a number" },
        { "p5O::", 400, "error~unknown metric" },
    };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        char target[256];
        snprintf(target, sizeof(target),
                 "/api/explore?range=%s&preset=%%7B%%22name%%22:%%22mine%%22,%%22title%%22:%%22"
                 "Mine%%22,%%22type%%22:%%22bars%%22,%%22y%%22:%%22p50%%22%%7D",
                 ranges[i].range);
        expect(serving->port, target, ranges[i].status, ranges[i].facts);
    }
    expect(serving->port,
           "/api/explore?preset=%7B%22name%22:%22a%22,%22title%22:%22b%22,"
           "%22type%22:%22scater%22%7D",
           400, "error~scatter");
}

SERVE_TEST(test_samples, 1, false)
{
    cJSON *samples = ask_json(
        serving->port, "/api/samples?run=1&key=gemm/linear/simd/fp32/batch=2/cpu-2t/warm", 200);
    assert_int_equal(size_of(samples, "launches"), 3);
    const cJSON *second = cJSON_GetArrayItem(member(samples, "launches"), 1);
    assert_int_equal(cJSON_GetArraySize(second), 200);
    /* sample_measurement(1), run 1, launch 1; five digits */
    assert_close(cJSON_GetArrayItem(second, 0)->valuedouble, 100010, 5);
    assert_int_equal(json_int(samples, "of", 0), 600);
    cJSON_Delete(samples);
}

SERVE_TEST(test_tags_stay_until_something_changes, 2, false)
{
    struct reply r;
    char tag[256], header[300];

    int status = 0;
    client_ask(serving->port, "GET", "/api/figure/trend", "", &r); /* the trends are there now */
    reply_release(&r);
    client_ask(serving->port, "GET", "/api/core", "", &r);
    snprintf(header, sizeof(header), "If-None-Match: %s\r\n", reply_header(&r, "ETag", tag));
    reply_release(&r);
    assert_int_equal(client_status(serving->port, "GET", "/api/core", header), 304);
    add_run(s, 3);
    for (int i = 0; i < 100 && status != 200; i++, usleep(100000))
        status = client_status(serving->port, "GET", "/api/core", header);
    assert_int_equal(status, 200);
    expect(serving->port, "/api/core", 200, "#runs=3");
}

SERVE_TEST(test_news_of_runs, 2, true)
{
    static const char request[] = "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct strbuf raw;

    cJSON_Delete(ask_json(serving->port, "/api/core", 200));
    int fd = client_connect(serving->port);
    assert_true(client_send(fd, request, sizeof(request) - 1));
    strbuf_init(&raw);
    /* What there is when it joins: a run may have come since the page was sent. */
    client_read(fd, "}\n\n", PATIENCE_MS, &raw);
    assert_non_null(strstr(raw.data, "event: runs\ndata: {\"newest\": 2}\n\n"));
    strbuf_clear(&raw);
    add_run(s, 3);
    client_read(fd, "}\n\n", PATIENCE_MS, &raw);
    assert_non_null(strstr(raw.data, "event: runs\ndata: {\"newest\": 3}\n\n"));
    expect(serving->port, "/api/core", 200, "#runs=3; newest=3");      /* what is told is there */
    expect(serving->port, "/api/core?where=run%3D1", 200, "newest=3"); /* also where it is hidden */
    strbuf_release(&raw);
    close(fd);
}

/* What cannot be read is the server's trouble and said as such; what is not there is not. */
SCRATCH_TEST(test_damaged_history)
{
    static const char *const broken[] = {
        "/",
        "/api/core",
        "/api/table?run=2",
        "/api/core?run=1&base=2",
        "/api/figure/latency-kernels",
        "/api/samples?run=2&key=gemm/linear/simd/fp32/batch=1/cpu-2t/warm",
    };
    struct store *s = make_history(*state, 2);
    struct serving serving;

    execute_in(store_path(s),
               "UPDATE measurement SET samples = x'ff00' WHERE launch IN "
               "(SELECT id FROM launch WHERE run = 2)");
    serving_open(&serving, store_path(s), false);
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
        expect(serving.port, broken[i], 500, "error~samples are in an unknown format");
    expect(serving.port, "/api/core?run=1", 200, "notes.0~history verify");
    cJSON_Delete(ask_json(serving.port, "/api/core?run=3", 404));
    cJSON_Delete(ask_json(serving.port, "/api/core?run=1&base=3", 404));
    cJSON_Delete(ask_json(serving.port, "/api/samples?run=3&key=x", 404));
    cJSON_Delete(ask_json(serving.port, "/api/samples?run=1&key=x", 404));
    serving_close(&serving);
    store_close(s);
}

struct asker {
    const struct serving *serving;
    atomic_int *wrong;
    unsigned number;
};

static void *ask_many(void *context)
{
    static const char *const targets[] = {
        "/",
        "/api/core",
        "/api/table?run=1,2",
        "/api/figure/trend",
        "/api/core?base=1",
        "/api/table",
        "/healthz",
        "/api/figure/latency-kernels",
        "/api/core?where=batch%3E2",
        "/api/samples?run=1&key=gemm/linear/simd/fp32/batch=1/cpu-2t/warm",
    };
    const struct asker *a = context;

    for (unsigned i = 0; i < 40; i++) {
        unsigned which = (i * 7 + a->number * 3) % (sizeof(targets) / sizeof(targets[0]));
        if (client_status(a->serving->port, "GET", targets[which], "") != 200)
            atomic_fetch_add(a->wrong, 1);
    }
    return NULL;
}

SERVE_TEST(test_many_at_once, 3, true)
{
    struct asker askers[8];
    pthread_t threads[8];
    atomic_int wrong = 0;

    for (unsigned i = 0; i < 8; i++) {
        askers[i] = (struct asker) { serving, &wrong, i };
        pthread_create(&threads[i], NULL, ask_many, &askers[i]);
    }
    add_run(s, 4); /* somebody writes meanwhile */
    for (size_t i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&wrong), 0);
}

/* A medium that cannot be written to: the folder, too. */
SCRATCH_TEST(test_read_only_history)
{
    const struct scratch *scratch = *state;
    struct serving serving;
    struct strbuf folder;

    store_close(make_history(scratch, 2));
    strbuf_init(&folder);
    strbuf_addf(&folder, "%s/sub", scratch->folder);
    chmod(scratch->path, 0444);
    chmod(folder.data, 0555);
    serving_open(&serving, scratch->path, true);
    expect(serving.port, "/api/core", 200, "#runs=2");
    serving_close(&serving);
    chmod(folder.data, 0755);
    strbuf_release(&folder);
}

/* Waits until the list has so many runs, of which the newest has that branch. */
static void wait_for_runs(int port, int runs, const char *branch)
{
    for (int tries = 0; tries < 100; tries++, usleep(100000)) {
        cJSON *core = ask_json(port, "/api/core", 200);
        const cJSON *list = member(core, "runs");
        int there = cJSON_GetArraySize(list);
        bool fits =
            there == runs &&
            strcmp(json_string(cJSON_GetArrayItem(list, runs - 1), "branch", ""), branch) == 0;
        cJSON_Delete(core);
        if (fits)
            return;
    }
    fail_msg("never %d runs up to one of %s", runs, branch);
}

static void copy_file(const char *from, const char *to)
{
    struct error err;
    size_t length;
    char *bytes = file_read(from, FILE_RECORDS_MOST, &length, &err);

    assert_non_null(bytes);
    assert_ok(file_write(to, bytes, length, &err), &err);
    free(bytes);
}

/* By another of its name, by none, by one that is no history, by a copy over it: what is at the
 * path is shown as soon as it can be read, and until then what was there before. */
SCRATCH_TEST(test_history_is_replaced)
{
    const struct scratch *scratch = *state;
    struct scratch other = *scratch;
    struct serving serving;
    struct strbuf kept;
    struct error err;

    store_close(make_history(scratch, 3));
    snprintf(other.path, sizeof(other.path), "%s/other.db", scratch->folder);
    store_close(make_history(&other, 2));
    strbuf_init(&kept);
    strbuf_addf(&kept, "%s/kept.db", scratch->folder);
    copy_file(scratch->path, kept.data);
    serving_open(&serving, scratch->path, true);
    wait_for_runs(serving.port, 3, "main");
    assert_int_equal(rename(other.path, scratch->path), 0);
    wait_for_runs(serving.port, 2, "topic");
    expect(serving.port, "/api/core?run=2,1", 200, "#selected=2");
    cJSON_Delete(ask_json(serving.port, "/api/core?run=3", 404));

    assert_int_equal(unlink(scratch->path), 0);
    sleep(WATCHER_LOOK_MS / 1000 + 1);
    wait_for_runs(serving.port, 2, "topic");
    assert_ok(file_write(scratch->path, "nonsense", 8, &err), &err);
    sleep(WATCHER_LOOK_MS / 1000 + 1);
    wait_for_runs(serving.port, 2, "topic");
    copy_file(kept.data, scratch->path);
    wait_for_runs(serving.port, 3, "main");
    serving_close(&serving);
    strbuf_release(&kept);
}

static void note_down(void *context, const char *text)
{
    strbuf_addf(context, "%s\n", text);
}

/* Beside the file from the start, before anybody may write to it or read it, and beside the one
 * that takes its place. */
SCRATCH_TEST(test_logs_of_other_histories_are_told_of)
{
    const struct scratch *scratch = *state;
    struct scratch other = *scratch;
    struct serving serving;
    struct strbuf notes;
    char log[150], foreign[150];

    strbuf_init(&notes);
    store_close(make_history(scratch, 3));
    snprintf(other.path, sizeof(other.path), "%s/other.db", scratch->folder);
    store_close(make_history(&other, 2));
    put_foreign_log(other.path);
    struct serve_options options = { .path = scratch->path, .tell = { note_down, &notes } };
    options.edit_key = SERVING_KEY;
    options.token = SERVING_TOKEN;
    for (int i = 0; i < 2; i++) {
        put_foreign_log(scratch->path);
        serving_open_with(&serving, options);
        assert_int_equal(times_left(notes.data), i + 1);
        options.edit_key = options.token = NULL;
        if (i == 0)
            serving_close(&serving);
    }
    snprintf(foreign, sizeof(foreign), "%s-wal", other.path);
    snprintf(log, sizeof(log), "%s-wal", scratch->path);
    assert_int_equal(rename(foreign, log), 0);
    assert_int_equal(rename(other.path, scratch->path), 0);
    wait_for_runs(serving.port, 2, "topic");
    serving_close(&serving);
    assert_int_equal(times_left(notes.data), 3);
    strbuf_release(&notes);
}

/* More machine classes than histories are kept: each has its trends in the end. */
SCRATCH_TEST(test_many_machines)
{
    struct store *s = make_history(*state, 1);
    struct serving serving;
    struct error err;
    char target[64];

    for (unsigned char i = 0; i < WATCHER_CLASSES_MAX + 3; i++) {
        struct run run = sample_run();
        snprintf(run.machine.id, sizeof(run.machine.id), "machine-%d", i);
        snprintf(run.machine.class_name, sizeof(run.machine.class_name), "class-%d", i);
        assert_ok(store_begin_run(s, &run, &err), &err);
        assert_ok(store_end_run(s, run.id, run.started_ms + 1, &err), &err);
    }
    serving_open(&serving, store_path(s), false);
    for (int i = 0; i < 2 * WATCHER_CLASSES_MAX; i++) {
        bool there = false;
        snprintf(target, sizeof(target), "/api/core?run=%d", i % (WATCHER_CLASSES_MAX + 3) + 2);
        for (int tries = 0; tries < 100 && !there; tries++, usleep(50000)) {
            cJSON *core = ask_json(serving.port, target, 200);
            there = cJSON_IsObject(member(core, "trends"));
            cJSON_Delete(core);
        }
        assert_true(there);
    }
    serving_close(&serving);
    store_close(s);
}

/* A base that is nowhere is refused at the start; one that goes later leaves the runs to be seen.
 */
SCRATCH_TEST(test_baseline_that_is_not_there)
{
    const struct scratch *scratch = *state;
    struct store *s = make_history(scratch, 3);
    struct view_request request = { .baseline = "nobody" };
    struct serve_options options = {
        .path = store_path(s),
        .host = "127.0.0.1",
        .request = &request,
        .db = "",
        .html = serving_template,
    };
    struct serving serving;
    struct serve *serve;
    struct error err;

    assert_int_equal(serve_open(&options, &serve, &err), -1);
    assert_non_null(strstr(err.message, "nobody"));
    serving_open(&serving, store_path(s), false);
    serving.request.baseline = "nobody";
    expect(serving.port, "/api/core", 200, "comparison=null; notes.0~nobody");
    serving_close(&serving);
    store_close(s);
}

struct changing {
    const char *path;
    atomic_bool over;
};

/* The newest run goes and comes, as by prunings and merges. */
static void *change_newest(void *context)
{
    struct changing *c = context;

    while (!atomic_load(&c->over)) {
        execute_in(c->path, "UPDATE run SET id = 900 WHERE id = 20");
        execute_in(c->path, "UPDATE run SET id = 20 WHERE id = 900");
    }
    return NULL;
}

/* A run that goes while an answer about it is made is in that answer, or not: it is no error. */
SCRATCH_TEST(test_runs_that_go_meanwhile)
{
    struct store *s = make_history(*state, 20);
    struct changing changing = { .path = store_path(s) };
    struct serving serving;
    pthread_t writer;
    char target[96];

    serving_open(&serving, store_path(s), false);
    pthread_create(&writer, NULL, change_newest, &changing);
    for (int i = 0; i < 150; i++) {
        snprintf(target, sizeof(target), "/api/core?limit=%d&where=batch%%20%%3E%%20%d", 1 + i,
                 i % 3);
        cJSON_Delete(ask_json(serving.port, target, 200));
    }
    atomic_store(&changing.over, true);
    pthread_join(writer, NULL);
    serving_close(&serving);
    store_close(s);
}

static int stop_now(void *context)
{
    ++*(int *)context;
    return 1;
}

/* Reading ends when it is told to, and the handle is as good as before. */
SCRATCH_TEST(test_reading_can_be_stopped)
{
    struct store *s = make_history(*state, 40);
    struct records records = { 0 };
    struct error err;
    int asked = 0;

    store_set_stop(s, stop_now, &asked);
    assert_int_equal(store_series(s, NULL, NULL, &records, &err), -1);
    assert_true(asked > 0);
    records_release(&records);
    records = (struct records) { 0 };
    store_set_stop(s, NULL, NULL);
    assert_ok(store_series(s, NULL, NULL, &records, &err), &err);
    assert_int_equal(records.nr_runs, 40);
    records_release(&records);
    store_close(s);
}

/* A run that says that it has more samples than one answer may look at: what to ask for instead is
 * said, before anything is read, and all else is answered. */
SCRATCH_TEST(test_too_much_for_one_answer)
{
    static const char *const large[] = {
        "/api/core?run=2",
        "/api/table?run=1,2",
        "/api/figure/latency-kernels?run=2",
        "/api/core?run=1&base=2",
        "/api/samples?run=2&key=gemm/linear/simd/fp32/batch=2/cpu-2t/warm",
        "/api/core?run=2&where=batch=2",
    };
    static const char *const small[] = {
        "/api/core?run=3",
        "/api/table?run=1",
        "/api/core?run=2&where=batch=1",
        "/api/samples?run=2&key=gemm/linear/simd/fp32/batch=1/cpu-2t/warm",
    };
    struct store *s = make_history(*state, 3);
    struct serving serving;

    execute_in(store_path(s),
               "UPDATE measurement SET nr_samples = 5000000 WHERE launch IN "
               "(SELECT id FROM launch WHERE run = 2) AND benchmark IN (SELECT id "
               "FROM benchmark WHERE key LIKE '%batch=2/%')");
    serving_open(&serving, store_path(s), false);
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
        expect(serving.port, large[i], 503, "error~ask for less: fewer runs");
    for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++)
        cJSON_Delete(ask_json(serving.port, small[i], 200));
    serving_close(&serving);
    store_close(s);
}

/* A finished run of one benchmark with so many samples. */
static void add_long_run(struct store *s, size_t samples)
{
    struct run run = sample_run();
    struct launch launch = { .seq = 0, .ended_ms = 1 };
    struct measurement m = sample_measurement(0);
    struct error err;
    int64_t id;

    m.samples = memory_resize(m.samples, samples, sizeof(*m.samples));
    m.nr_samples = samples;
    for (size_t i = 0; i < samples; i++)
        m.samples[i] = 1000 + i % 100;
    assert_ok(store_begin_run(s, &run, &err), &err);
    assert_ok(store_begin_launch(s, run.id, &launch, &id, &err), &err);
    assert_ok(store_add_measurement(s, id, &m, &err), &err);
    assert_ok(store_end_run(s, run.id, run.started_ms + 1, &err), &err);
    measurement_release(&m);
}

/* One run after the other is read, so all of them together may have more than one answer may look
 * at. */
SCRATCH_TEST(test_history_of_more_than_one_answer)
{
    enum { RUNS = 14 };
    const size_t samples = LIVE_VIEW_BYTES_MAX / sizeof(uint64_t) / 12;
    struct store *s = make_history(*state, 0);
    struct serving serving;

    for (int i = 0; i < RUNS; i++)
        add_long_run(s, samples);
    serving_open(&serving, store_path(s), false);
    expect(serving.port, "/api/history?key=gemm/linear/simd/fp32/batch=1/cpu-2t/warm&metric=p50",
           200, "alt~of 14 of 14 runs");
    serving_close(&serving);
    store_close(s);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static size_t held_now(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* What is kept is counted as what it is: not less, since a budget would not hold then, and not
 * twice as much. */
SCRATCH_TEST(test_sizes_of_scenes)
{
    static const struct parameters cases[] = {
        { .where = "", .limit = 1, .nr_runs = 1, .runs = { 1 }, .base = -1 },
        { .where = "", .limit = 100, .nr_runs = 1, .runs = { 12 }, .base = 3 },
        { .where = "", .limit = 100, .nr_runs = 6, .runs = { 1, 2, 3, 4, 5, 6 }, .base = -1 },
        { .where = "",
          .limit = 9,
          .nr_runs = 12,
          .runs = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } },
        { .where = "batch > 2", .limit = 5, .nr_runs = 2, .runs = { 7, 8 }, .base = 2 },
    };
    const struct view_request request = { .history = 200 };
    const struct live_view_source source = { .request = &request,
                                             .history = "",
                                             .generator = "test" };
    struct store *s = make_history(*state, 12);

    mallopt(M_ARENA_MAX, 1);
    const size_t nr = sizeof(cases) / sizeof(cases[0]);
    for (size_t i = 0; i < 2 * nr; i++) {
        const struct parameters *parameters =
            &cases[i % nr]; /* the first time SQLite keeps pages */
        struct failure failure;
        size_t before = held_now();
        struct live_view *live = live_view_load(s, &source, parameters, &failure);
        assert_non_null(live);
        live_view_finish(live, &source, NULL);
        size_t held = held_now() - before, counted = live_view_size(live);
        if (i >= nr && (counted < held || counted > 2 * held))
            fail_msg("case %zu: holds %zu, counted %zu", i % nr, held, counted);
        live_view_drop(live);
    }
    store_close(s);
}
#endif

SERVE_TEST(test_no_runs_yet, 0, false)
{
    expect(serving->port, "/api/core", 200, "#runs=0; #notes=1");
    cJSON_Delete(ask_json(serving->port, "/api/table", 200));
}

RUN_TESTS(NULL, NULL)
