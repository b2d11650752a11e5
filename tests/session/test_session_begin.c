/* SPDX-License-Identifier: MIT */
/* What a request comes to before anything is built or measured: commits of a gate, what is
 * profiled, what a self-test plants. */
#include "session_git.h"

#include "core/registry.h"
#include "session/builds/builds.h"
#include "session/compare/gate.h"
#include "session/measure/profile_record.h"
#include "session/measure/selftest_trials.h"

#define NR(list) (sizeof(list) / sizeof((list)[0]))

/* ---- commits ---- */

/* main~1 - main, and topic from main~1; alone has nothing in common with them. Stands on topic. */
static int forked_setup(void **state)
{
    if (git_setup(state))
        return -1;
    unsetenv("GITHUB_EVENT_PATH");
    unsetenv("CI_MERGE_REQUEST_IID");
    commit("first");
    GIT("branch", "topic");
    commit("second");
    GIT("checkout", "-q", "--orphan", "alone");
    commit("of its own");
    GIT("checkout", "-q", "topic");
    commit("the change");
    return 0;
}

#define FORKED_TEST(name) TEST_WITH(name, forked_setup, place_teardown)

static void expect_commit(const char *hash, const char *ref)
{
    char expected[GIT_HASH_SIZE];
    struct error err;

    assert_ok(builds_resolve(ref, expected, &err), &err);
    assert_int_equal(strlen(expected), 40);
    assert_string_equal(hash, expected);
}

FORKED_TEST(a_ref_is_a_commit_or_an_error)
{
    static const struct {
        const char *ref, *same; /* NULL: it is none */
    } cases[] = {
        { "topic", "HEAD" },
        { "main~1", "topic~1" },
        { "refs/heads/main", "main" },
        { "gone", NULL },
        { "", NULL },
        { "--all", NULL },
        { "main~9", NULL },
        { "main main", NULL },
        { "main:", NULL }, /* a tree */
    };
    char hash[GIT_HASH_SIZE];
    struct error err;

    for (size_t i = 0; i < NR(cases); i++) {
        memcpy(hash, "before", sizeof("before"));
        int rc = builds_resolve(cases[i].ref, hash, &err);
        if (rc != (cases[i].same ? 0 : -1))
            fail_msg("%s: %d", cases[i].ref, rc);
        if (cases[i].same)
            expect_commit(hash, cases[i].same);
        else
            assert_string_equal(hash, "before");
    }
}

FORKED_TEST(a_gate_is_of_the_head_and_where_it_branched_off)
{
    static const struct {
        const char *base, *head;
        const char *fork, *end; /* refs of what is measured; NULL: it fails */
        bool nothing;
        const char *fails;
    } cases[] = {
        { NULL, NULL, "main~1", "topic", false, NULL },
        { "main", "topic", "main~1", "topic", false, NULL },
        { "main", NULL, "main~1", "topic", false, NULL },
        { NULL, "main~1", "main~1", "main~1", true, NULL },
        { "topic", "main", "main~1", "main", false, NULL },
        { "main~1", "main", "main~1", "main", false, NULL },
        { "main", "main~1", "main~1", "main~1", true, NULL }, /* the base has all of it */
        { "topic", "topic", "topic", "topic", true, NULL },
        { "main", "alone", NULL, NULL, false, "have no commit in common" },
        { "gone", NULL, NULL, NULL, false, "fetch-depth: 0" },
        { "main", "gone", NULL, NULL, false, "fetch-depth: 0" },
        { "", NULL, NULL, NULL, false, "fetch-depth: 0" },
    };
    struct error err;

    for (size_t i = 0; i < NR(cases); i++) {
        struct gate_request request = { .base = cases[i].base, .head = cases[i].head };
        struct gate g = { .request = &request };
        int rc = gate_begin(&g, &err);
        if (cases[i].fails) {
            assert_fails(rc, &err, cases[i].fails);
        } else {
            assert_ok(rc, &err);
            expect_commit(g.fork.hash, cases[i].fork);
            expect_commit(g.head.hash, cases[i].end);
            assert_string_equal(request.compare.baseline, g.fork.hash);
            assert_string_equal(request.compare.head, g.head.hash);
            assert_int_equal(g.nothing, cases[i].nothing);
        }
        gate_release(&g);
    }
}

/* What the forge says counts, where nobody says more. */
FORKED_TEST(a_gate_in_a_job_is_of_its_change)
{
    static const struct {
        const char *action, *base_ref, *head_ref; /* of the event, of these commits */
        const char *base;                         /* that is given; NULL: none */
        const char *end;                          /* what is measured; NULL: nothing is */
    } cases[] = {
        { "opened", "main~1", "main", NULL, "main" },
        { "closed", "main~1", "main", NULL, NULL },
        { "closed", "main~1", "main", "main", "topic" },
        { "opened", "main~1", "main", "main~1", "topic" },
    };
    struct error err;

    for (size_t i = 0; i < NR(cases); i++) {
        struct gate_request request = { .base = cases[i].base };
        struct gate g = { .request = &request };
        char base[GIT_HASH_SIZE], head[GIT_HASH_SIZE];
        struct strbuf event;
        strbuf_init(&event);
        assert_ok(builds_resolve(cases[i].base_ref, base, &err), &err);
        assert_ok(builds_resolve(cases[i].head_ref, head, &err), &err);
        strbuf_addf(&event,
                    "{\"action\": \"%s\", \"pull_request\": {\"number\": 7,"
                    " \"base\": {\"sha\": \"%s\"}, \"head\": {\"sha\": \"%s\"}}}",
                    cases[i].action, base, head);
        put_file("event.json", event.data);
        setenv("GITHUB_EVENT_PATH", "event.json", 1);
        assert_ok(gate_begin(&g, &err), &err);
        unsetenv("GITHUB_EVENT_PATH");
        assert_int_equal(g.nothing, cases[i].end == NULL);
        if (cases[i].end)
            expect_commit(g.head.hash, cases[i].end);
        strbuf_release(&event);
        gate_release(&g);
    }
}

TEST(what_a_gate_ends_with)
{
    static const struct {
        const char *fail_on;
        int status, ends;
    } cases[] = {
        { NULL, EXIT_SAME, EXIT_SAME },
        { NULL, EXIT_REGRESSION, EXIT_REGRESSION },
        { NULL, EXIT_USAGE, EXIT_USAGE },
        { NULL, EXIT_UNDECIDED, EXIT_SAME },
        { "regression", EXIT_UNDECIDED, EXIT_SAME },
        { "undecided", EXIT_UNDECIDED, EXIT_UNDECIDED },
        { "undecided", EXIT_SAME, EXIT_SAME },
        { "undecided", EXIT_REGRESSION, EXIT_REGRESSION },
    };

    for (size_t i = 0; i < NR(cases); i++)
        assert_int_equal(gate_exit_status(cases[i].fail_on, cases[i].status), cases[i].ends);
}

/* ---- profiles ---- */

/* "KERNEL/VARIANT KERNEL/VARIANT" */
static struct benchmark_list make_list(const char *names)
{
    struct benchmark_list list = { .nr = 0 };
    char text[256], *rest = text;

    snprintf(text, sizeof(text), "%s", names);
    for (char *name; (name = strsep(&rest, " "));) {
        char *slash = strrchr(name, '/');
        *slash = '\0';
        const struct variant *v = registry_variant(registry_builtin(), name, slash + 1);
        assert_non_null(v);
        *(struct benchmark *)array_push(&list) = (struct benchmark) { .variant = v };
    }
    return list;
}

TEST(what_is_profiled_of_several_variants)
{
    static const struct {
        const char *given, *chosen;
        const char *name; /* of what was given */
    } cases[] = {
        { "gemm/linear/simd", "gemm/linear/simd", "gemm/linear" },
        { "gemm/linear/naive", "gemm/linear/naive", "gemm/linear" }, /* there is no other */
        { "gemm/linear/naive gemm/linear/simd", "gemm/linear/simd", "gemm/linear" },
        { "gemm/linear/naive gemm/nt/simd", "gemm/linear/naive gemm/nt/simd", "gemm" },
        { "gemm/linear/simd gemm/linear/simd", "gemm/linear/simd gemm/linear/simd", "gemm/linear" },
        { "gemm/linear/simd_bf16 gemm/linear/simd", "gemm/linear/simd", "gemm/linear" },
        { "gemm/linear/simd_bf16", "gemm/linear/simd_bf16", "gemm/linear" },
        { "gemm/linear/naive gemm/linear/simd_bf16", "gemm/linear/simd_bf16", "gemm/linear" },
        { "gemm/linear/simd gemm/linear_gelu/simd", "gemm/linear/simd gemm/linear_gelu/simd",
          "gemm" }, /* begins alike */
        { "gemm/linear/simd layernorm/plain/simd", "gemm/linear/simd layernorm/plain/simd",
          "several" },
        { "gpt/nano/prefill/simd gpt/nano/decode/simd gpt/micro/decode/simd",
          "gpt/nano/prefill/simd gpt/nano/decode/simd gpt/micro/decode/simd", "gpt" },
    };

    for (size_t i = 0; i < NR(cases); i++) {
        struct benchmark_list list = make_list(cases[i].given), chosen = make_list(cases[i].chosen);
        struct strbuf name;
        strbuf_init(&name);
        profile_name(&list, &name);
        assert_string_equal(name.data, cases[i].name);
        profile_choose(&list);
        assert_int_equal(list.nr, chosen.nr);
        for (size_t k = 0; k < list.nr; k++)
            assert_ptr_equal(list.items[k].variant, chosen.items[k].variant);
        strbuf_release(&name);
        array_release(&list);
        array_release(&chosen);
    }
}

TEST(what_is_planted_in_a_profile)
{
    static const struct {
        const char *text;
        enum device_kind device;
        const char *plant; /* NULL: none */
        double share;
        const char *fails;
    } cases[] = {
        { NULL, DEVICE_CPU, NULL, 0, NULL },
        { NULL, DEVICE_CUDA, NULL, 0, NULL },
        { "head=50%", DEVICE_CPU, "head", 0.5, NULL },
        { "a=b=0.25", DEVICE_CPU, "a=b", 0.25, NULL },
        { "head=50%", DEVICE_CUDA, NULL, 0, "on the CPU, not on" },
        { "head=0", DEVICE_CPU, NULL, 0, "a slow-down of 0 is none" },
        { "head", DEVICE_CPU, NULL, 0, "is not OPERATION=SHARE" },
        { "=50%", DEVICE_CPU, NULL, 0, "is not OPERATION=SHARE" },
        { "", DEVICE_CPU, NULL, 0, "is not OPERATION=SHARE" },
        { "head=", DEVICE_CPU, NULL, 0, "--plant" },
        { "head=-5%", DEVICE_CPU, NULL, 0, "--plant" },
        { "head=nan", DEVICE_CPU, NULL, 0, "--plant" },
    };

    for (size_t i = 0; i < NR(cases); i++) {
        struct profile_request r = { .workload.device.kind = cases[i].device };
        struct error err;
        int rc = profile_set_plant(&r, cases[i].text, &err);
        if (cases[i].fails) {
            assert_fails(rc, &err, cases[i].fails);
        } else {
            assert_ok(rc, &err);
            assert_close(r.profiling.plant_share, cases[i].share, 1e-12);
        }
        assert_int_equal(r.profiling.plant != NULL, cases[i].plant != NULL);
        if (cases[i].plant)
            assert_string_equal(r.profiling.plant, cases[i].plant);
        free(r.planted);
    }
}

/* ---- self-tests ---- */

TEST(a_self_test_plants_sizes_up_to_twice_the_gate)
{
    static const struct {
        double delta;
        size_t nr;
        double largest;
    } cases[] = {
        { 0.001, 4, 0.10 }, { 0.03, 4, 0.10 }, { 0.05, 4, 0.10 }, { 0.06, 5, 0.12 }, { 5, 5, 10 },
    };

    for (size_t i = 0; i < NR(cases); i++) {
        struct trials t = { .compare.delta = cases[i].delta };
        trials_usual_sizes(&t);
        assert_int_equal(t.nr_sizes, cases[i].nr);
        assert_close(t.sizes[t.nr_sizes - 1], cases[i].largest, 1e-12);
        for (size_t k = 1; k < t.nr_sizes; k++)
            assert_true(t.sizes[k] > t.sizes[k - 1]);
    }
}

/* Interleaved sides are of whole blocks. */
TEST(a_self_test_has_launches_and_takes_time)
{
    static const struct {
        int launches;
        bool interleaved;
        int most;
    } cases[] = { { 1, false, 1 },
                  { 5, false, 5 },
                  { 1, true, AB_LAUNCHES },
                  { AB_LAUNCHES, true, AB_LAUNCHES },
                  { AB_LAUNCHES + 1, true, 2 * AB_LAUNCHES } };

    for (size_t i = 0; i < NR(cases); i++) {
        const struct workload w = { .suite = { .launches = cases[i].launches,
                                               .sampling = { .max_time = 1 } },
                                    .list = { .nr = 3 } };
        struct trials t = { .workload = &w, .interleaved = cases[i].interleaved };
        assert_int_equal(trials_launches(&t), cases[i].most);
        double one = trials_seconds(&t, 1);
        assert_true(one > 0);
        assert_close(trials_seconds(&t, 0), 0, 0);
        assert_close(trials_seconds(&t, 100), 100 * one, 1e-9);
        t.measuring.budget = one / 10; /* of both sides; run after run has none */
        assert_close(trials_seconds(&t, 2), cases[i].interleaved ? one / 10 : 2 * one, 1e-9);
    }
}

TEST(minutes_and_seconds)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {
        { 0, "0:00" },  { 0.9, "0:00" },  { 59.9, "0:59" },
        { 60, "1:00" }, { 725, "12:05" }, { 360000, "6000:00" },
    };
    char text[TRIALS_TIME_SIZE];

    for (size_t i = 0; i < NR(cases); i++)
        assert_string_equal(trials_time(cases[i].seconds, text), cases[i].text);
}

TEST(costs_are_fine_where_each_size_is_called_without_alarms)
{
    static const struct {
        struct selftest_cost_row first, last; /* of two benchmarks */
        bool fine;
    } cases[] = {
        { { .blocks = 6, .alarms = { 0, 200 } }, { .blocks = 400, .alarms = { 10, 200 } }, true },
        { { .blocks = 6, .alarms = { 0, 200 } }, { .blocks = 0, .alarms = { 0, 200 } }, false },
        { { .blocks = 0, .alarms = { 0, 200 } }, { .blocks = 6, .alarms = { 0, 200 } }, false },
        { { .blocks = 6, .alarms = { 0, 200 } }, { .blocks = 6, .alarms = { 40, 200 } }, false },
        { { .blocks = 6, .alarms = { 0, 0 } },
          { .blocks = 6, .alarms = { 1, 2 } },
          true }, /* few */
    };

    assert_true(costs_fine(NULL, 0));
    for (size_t i = 0; i < NR(cases); i++) {
        struct selftest_cost costs[] = { { .rows = { cases[i].first }, .nr = 1 },
                                         { .rows = { { .blocks = 6 }, cases[i].last }, .nr = 2 } };
        assert_int_equal(costs_fine(costs, 2), cases[i].fine);
    }
}

RUN_TESTS(NULL, NULL)
