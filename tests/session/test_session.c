/* SPDX-License-Identifier: MIT */
/* What commands do, without argv and printing: what is asked for, and what is said meanwhile. */
#include "testing.h"

#include "base/array.h"
#include "process/counters.h"
#include "session/compare/compare.h"
#include "session/measure/measuring.h"
#include "session/measure/sharding.h"
#include "session/model_agreement.h"
#include "session/serve_token.h"

#include <stdlib.h>

/* ---- --delta ---- */

TEST(floors_from_texts)
{
    static const struct {
        const char *text;
        double delta; /* 0: refused */
        const char *pattern;
    } cases[] = {
        { "3%", 0.03, NULL },      { "0.1", 0.1, NULL },
        { "p95=10%", 0.1, "p95" }, { "a/n=1/*=5%", 0.05, "a/n=1/*" },
        { "0%", 0, NULL },         { "=5%", 0, NULL },
        { "p95=", 0, NULL },       { "much", 0, NULL },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct string_list texts = { 0 };
        struct floors floors = { 0 };
        struct compare_settings settings = COMPARE_DEFAULTS;
        struct error err;
        string_list_add(&texts, cases[i].text);
        int rc = floors_parse(&texts, &floors, &settings, &err);
        assert_int_equal(rc, cases[i].delta > 0 ? 0 : -1);
        if (rc == 0 && cases[i].pattern) {
            assert_int_equal(settings.nr_floors, 1);
            assert_string_equal(settings.floors[0].pattern, cases[i].pattern);
            assert_close(settings.floors[0].delta, cases[i].delta, 1e-12);
        } else if (rc == 0) {
            assert_close(settings.delta, cases[i].delta, 1e-12);
        }
        floors_release(&floors);
        string_list_release(&texts);
    }
}

/* ---- --shard ---- */

TEST(shards_from_texts)
{
    static const struct {
        const char *text;
        int rc;
        size_t index, count;
    } cases[] = {
        { NULL, 0, 0, 0 },   { "1/1", 0, 1, 1 },       { "2/4", 0, 2, 4 }, { "0/4", -1, 0, 0 },
        { "5/4", -1, 0, 0 }, { "1/100001", -1, 0, 0 }, { "1", -1, 0, 0 },  { "1/2x", -1, 0, 0 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sharding s;
        struct error err;
        assert_int_equal(sharding_parse(cases[i].text, &s, &err), cases[i].rc);
        assert_int_equal(s.index, cases[i].index);
        assert_int_equal(s.count, cases[i].count);
    }
}

TEST(a_shard_without_benchmarks_is_refused)
{
    const struct sharding third = { .index = 3, .count = 4 }, whole = { .count = 0 };
    struct error err;

    assert_int_equal(sharding_check(&third, 3, NULL, &err), 0);
    assert_int_equal(sharding_check(&third, 2, NULL, &err), -1);
    assert_int_equal(sharding_check(&whole, 0, NULL, &err), 0);
    assert_int_equal(sharding_check(&whole, 5, "durations.json", &err), -1);
}

/* ---- compare ---- */

TEST(requests_that_contradict_themselves)
{
    static char nano[] = "nano", *models[] = { nano }; /* a filter of what is in the history */
    static const struct {
        struct compare_request request;
        const char *message; /* NULL: it is fine */
    } cases[] = {
        { { .baseline = "main" }, NULL },
        { { .baseline = "main", .build = true }, NULL },
        { { .baseline_bin = "old/harness" }, NULL },
        { { .baseline = NULL }, "give --baseline REF" },
        { { .build = true }, "--build needs --baseline" },
        { { .head_bin = "new" }, "--head-bin needs --baseline-bin" },
        { { .baseline_plugin = "old.so" }, "--baseline-plugin needs --plugin" },
        { { .baseline = "main", .build = true, .baseline_bin = "old" }, "exclude each" },
        { { .baseline = "main", .baseline_bin = "old" }, "--baseline and --head go with --build" },
        { { .baseline_bin = "old", .build_command = "make" }, "go with --build" },
        { { .baseline = "main", .blocks = 3 }, "--blocks is for measuring" },
        { { .baseline = "main", .measuring.seed = 3 }, "--seed is for measuring" },
        { { .baseline = "main", .what.suite = "ci" }, "--suite is for measuring" },
        { { .baseline = "main", .what.models = { models, 1, 1 } }, NULL },
        { { .baseline = "main", .q = 0.7 }, "0.5" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct compare_request r = cases[i].request;
        struct compare_rule rule = { .metrics = { NULL } };
        struct error err = { "" };
        int rc = compare_request_check(&r, &rule, &err);
        if (rc && !cases[i].message)
            fail_msg("case %zu: %s", i, err.message);
        if (cases[i].message && i + 1 < sizeof(cases) / sizeof(cases[0]) &&
            (!rc || !strstr(err.message, cases[i].message)))
            fail_msg("case %zu: \"%s\" lacks \"%s\"", i, err.message, cases[i].message);
        assert_int_equal(rc, cases[i].message ? -1 : 0);
        compare_rule_release(&rule);
    }
}

/* ---- --metric of what compares ---- */

static void fill_list(struct string_list *list, const char *const *texts)
{
    for (size_t i = 0; i < 3 && texts[i]; i++)
        string_list_add(list, texts[i]);
}

TEST(names_and_numbers_in_one_option)
{
    static const struct {
        const char *metrics[3], *betters[3], *units[3];
        const char *judged; /* NULL: refused, and why: */
        const char *why;
        size_t numbers;
    } cases[] = {
        { { "p50,memory", "p95" }, { NULL }, { NULL }, "p50|memory|p95|", NULL, 0 },
        { { "rate (Mops/s, higher),p50" },
          { NULL },
          { NULL },
          "rate (Mops/s, higher)|p50|",
          NULL,
          0 },
        { { "p50", "rate=/a, (b)/", "x" }, { "higher" }, { NULL }, "p50|rate|x|", NULL, 1 },
        { { "a=/a/", "b=$.b" }, { "a=lower", "b=none" }, { "s" }, "a|", NULL, 2 },
        { { "a=/a/" }, { NULL }, { NULL }, NULL, "which a is better", 0 },
        { { "p50" }, { "lower" }, { NULL }, NULL, "--better is of a metric", 0 },
        { { "p50" }, { NULL }, { "s" }, NULL, "--unit is of a metric", 0 },
        { { "p50,," }, { NULL }, { NULL }, NULL, "empty name", 0 },
        { { "" }, { NULL }, { NULL }, NULL, "empty name", 0 },
        { { ",p50" }, { NULL }, { NULL }, NULL, "empty name", 0 },
        { { "a=/a/", "a=/b/" }, { "lower" }, { NULL }, NULL, "there twice", 0 },
        { { "p50=/a/" }, { "lower" }, { NULL }, NULL, "means something", 0 },
        { { "a:x=/a/", "b:x=/b/", "x=/c/" }, { "x=lower" }, { NULL }, "a:x|b:x|x|", NULL, 3 },
        { { "a:x=/a/", "a:x=/b/" }, { "lower" }, { NULL }, NULL, "there twice", 0 },
        { { "a:x=/a/" }, { "a:x=lower" }, { NULL }, NULL, "no metric of a --metric", 0 },
        { { NULL }, { NULL }, { NULL }, "", NULL, 0 },
        /* of some benchmarks alone */
        { { "a:p50,memory", "p95" }, { NULL }, { NULL }, "a:p50|a:memory|p95|", NULL, 0 },
        { { "ns::f<int,long>:p50" }, { NULL }, { NULL }, "ns::f<int,long>:p50|", NULL, 0 },
        { { "sort/arg=64,n=2:p50,x" },
          { NULL },
          { NULL },
          "sort/arg=64,n=2:p50|sort/arg=64,n=2:x|",
          NULL,
          0 },
        { { "a:r (m:s, higher),p50" }, { NULL }, { NULL }, "a:r (m:s, higher)|a:p50|", NULL, 0 },
        { { "b:x=$.a:b", "a:p50" }, { "lower" }, { NULL }, "b:x|a:p50|", NULL, 1 },
        { { ":p50" }, { NULL }, { NULL }, NULL, "before the \":\"", 0 },
        { { "a:" }, { NULL }, { NULL }, NULL, "empty name", 0 },
        { { "a:p50,,x" }, { NULL }, { NULL }, NULL, "empty name", 0 },
        { { "a:p50,b:x" }, { NULL }, { NULL }, NULL, "give --metric a:p50 --metric b:x", 0 },
        { { "a:rate=4" }, { NULL }, { NULL }, NULL, "behind the \"=\"", 0 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct number_options o = { .metrics = { NULL, 0, 0 } };
        struct number_specs specs = { NULL, 0, 0 };
        struct string_list judged = { NULL, 0, 0 };
        struct strbuf said;
        struct error err = { "" };
        fill_list(&o.metrics, cases[i].metrics);
        fill_list(&o.betters, cases[i].betters);
        fill_list(&o.units, cases[i].units);
        int rc = number_options_judged(&o, &specs, &judged, &err);
        if ((rc == 0) != (cases[i].judged != NULL))
            fail_msg("case %zu: %d %s", i, rc, err.message);
        strbuf_init(&said);
        for (size_t n = 0; n < judged.nr; n++)
            strbuf_addf(&said, "%s|", judged.items[n]);
        if (rc == 0) {
            assert_string_equal(said.data, cases[i].judged);
            assert_int_equal(specs.nr, cases[i].numbers);
        } else if (!strstr(err.message, cases[i].why)) {
            fail_msg("case %zu: \"%s\" lacks \"%s\"", i, err.message, cases[i].why);
        }
        strbuf_release(&said);
        string_list_release(&judged);
        number_specs_release(&specs);
        string_list_release(&o.metrics);
        string_list_release(&o.betters);
        string_list_release(&o.units);
    }
}

/* What is asked of some leaves the others to the usual metric, unless one is asked of all. */
TEST(metrics_of_some_benchmarks)
{
    static const struct {
        const char *metrics[3];
        bool benches;
        bool rest;
        const char *why; /* NULL: it is fine */
    } cases[] = {
        { { "a:p95" }, false, true, NULL },
        { { "a:p95,memory", "b:p50" }, false, true, NULL },
        { { "a:p95", "p50" }, false, false, NULL },
        { { "a:file_size", "points=/p (.*)/" }, true, true, NULL },
        { { "a:points=/p (.*)/" }, true, false, NULL }, /* the benches decide about the rest */
        { { "a:p1,p2,p3,p4,p5,p6,p7", "b:p7,p1" }, false, true, NULL },
        { { "a:p1,p2,p3,p4", "b:p5,p6,p7,p8" }, false, false, "at most 8" },
        { { "a:error" }, false, false, "a:error: metric 'error'" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct compare_request r = { .baseline = "main", .benches = cases[i].benches };
        struct compare_rule rule = { .metrics = { NULL } };
        struct error err = { "" };
        fill_list(&r.numbers.metrics, cases[i].metrics);
        if (cases[i].benches)
            string_list_add(&r.numbers.betters, "lower");
        int rc = compare_request_rule(&r, &rule, &err);
        if ((rc == 0) != !cases[i].why || (rc && !strstr(err.message, cases[i].why)))
            fail_msg("case %zu: %d %s", i, rc, err.message);
        if (rc == 0)
            assert_int_equal(rule.settings.rest_by_usual, cases[i].rest);
        compare_rule_release(&rule);
        string_list_release(&r.numbers.metrics);
        string_list_release(&r.numbers.betters);
    }
}

/* What the history has under that name already is asked for by another. */
TEST(declared_numbers_are_metrics)
{
    static const char *const metrics[3] = { "declared=/x/", "p50" };
    static const char *const betters[3] = { "higher" };
    struct number_options o = { .metrics = { NULL, 0, 0 } };
    struct number_specs specs = { NULL, 0, 0 };
    struct string_list judged = { NULL, 0, 0 };
    struct error err;

    fill_list(&o.metrics, metrics);
    fill_list(&o.betters, betters);
    assert_ok(number_options_judged(&o, &specs, &judged, &err), &err);
    assert_non_null(number_kind_of("declared", "s", BETTER_LOWER, &err));
    assert_int_equal(number_specs_declare(&specs, &judged, &err), -1); /* another unit */
    assert_non_null(number_kind_of("declared", "", BETTER_HIGHER, &err));
    assert_ok(number_specs_declare(&specs, &judged, &err), &err);
    assert_string_equal(judged.items[0], "declared (higher)");
    assert_string_equal(judged.items[1], "p50");
    string_list_release(&judged);
    number_specs_release(&specs);
    string_list_release(&o.metrics);
    string_list_release(&o.betters);
}

/* ---- what is said meanwhile ---- */

static void keep_note(void *context, const char *text)
{
    snprintf(context, 200, "%s", text);
}

/* Whether this machine's processor counts decides, and its reason is told. */
TEST(metrics_that_cannot_be_counted)
{
    static const struct {
        const char *metrics[3];
        bool counted; /* all of them */
    } rows[] = {
        { { NULL }, false },
        { { "p50" }, false },
        { { "p50", "instructions" }, false },
        { { "instructions" }, true },
        { { "cycles", "cache_misses" }, true },
    };
    struct error err, why;
    struct counters *c = counters_open(COUNT_PROGRAMS, NULL, &why);
    bool counts = c != NULL;

    counters_close(c);
    assert_int_equal(measuring_check_counted(NULL, &err), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool refused = rows[i].counted && !counts;
        assert_int_equal(measuring_check_counted(rows[i].metrics, &err), refused ? -1 : 0);
        if (refused) {
            assert_non_null(strstr(err.message, rows[i].metrics[0]));
            assert_non_null(strstr(err.message, why.message));
        }
    }
}

TEST(notes_are_clean)
{
    char kept[200] = "";
    const struct session_sink sink = { .context = kept, .note = keep_note };

    sink_note(&sink, "left out: %s\n", "a\033[31mb\nc");
    assert_string_equal(kept, "left out: a [31mb c\n");
    sink_note(NULL, "nobody listens to %s\n", "this");
    sink_progressed(NULL);
}

TEST(shards_are_noted)
{
    char kept[200] = "";
    const struct session_sink sink = { .context = kept, .note = keep_note };
    struct sharding s = { .index = 1, .count = 2, .plan = 0xab, .whole = 5 };

    sharding_note(&s, 3, &sink);
    assert_string_equal(kept, "shard 1/2: 3 of 5 benchmarks; plan 00000000000000ab\n");
    s.seconds = 2;
    s.all = 4;
    sharding_note(&s, 3, &sink);
    assert_non_null(strstr(kept, "a launch by what they last took; plan "));
    kept[0] = '\0';
    s.count = 0;
    sharding_note(&s, 3, &sink);
    assert_string_equal(kept, "");
}

/* ---- the token of the live page ---- */

TEST(tokens)
{
    static const struct {
        const char *variable;
        struct serve_token_source source;
        int rc;
        bool made;
        const char *text; /* NULL: whatever was made */
    } cases[] = {
        { NULL, { .open = true }, 0, false, "" },
        { NULL, { .is_public = true }, 0, false, "" },
        { NULL, { .elsewhere = true }, 0, false, "" },
        { NULL, { .word = NULL }, 0, true, NULL },
        { "secret", { .word = NULL }, 0, false, "secret" },
        { "secret", { .open = true }, -1, false, NULL },
        { NULL, { .word = "secret" }, -1, false, NULL },
        { NULL, { .file = "/nowhere/token" }, -1, false, NULL },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct serve_token token;
        struct error err;
        if (cases[i].variable)
            setenv("HARNESS_TOKEN", cases[i].variable, 1);
        assert_int_equal(serve_token_find(&cases[i].source, &token, &err), cases[i].rc);
        assert_null(getenv("HARNESS_TOKEN"));
        if (cases[i].rc)
            continue;
        assert_int_equal(token.made, cases[i].made);
        if (cases[i].text)
            assert_string_equal(token.text, cases[i].text);
        else
            assert_int_equal(strlen(token.text), 48);
    }
}

/* ---- what computes a model ---- */

/* As `run` does: no backend takes another instruction set, or library, than the one that is named.
 */
TEST(backends_that_cannot_as_they_are_told_are_refused)
{
    static const struct {
        const char *name, *variable, *value, *why; /* NULL: it can */
    } cases[] = {
        { NULL, "HARNESS_ISA", "avx1024", "HARNESS_ISA is 'avx1024'" },
        { "simd_bf16", "HARNESS_ISA", "avx1024", "HARNESS_ISA is 'avx1024'" },
        { "simd_int8", "HARNESS_ISA", "avx1024", "HARNESS_ISA is 'avx1024'" },
        { "plain", "HARNESS_ISA", "avx1024", NULL },
        { "simd", "HARNESS_ISA", "portable", NULL },
#ifdef HARNESS_HAVE_OPENBLAS
        { "openblas", "HARNESS_ISA", "avx1024", "HARNESS_ISA is 'avx1024'" },
        { "openblas", "HARNESS_OPENBLAS", "/nowhere/lib.so", "HARNESS_OPENBLAS: /nowhere/lib.so" },
#endif
    };
    int32_t ids[] = { 1, 2, 3 };
    const struct gpt_tokens tokens = { ids, 1, 3 };
    const struct model_generation two = { .nr = 2 };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct model_backend_request request = { cases[i].name, "cpu:1", 0 };
        const int rc = cases[i].why ? CALL_UNSUPPORTED : 0;
        struct model_backend backend;
        struct error err = { "" };
        setenv(cases[i].variable, cases[i].value, 1);
        assert_ok(model_backend_open(&backend, gpt_config_find("nano", &err), &request, &err),
                  &err);
        assert_int_equal(model_backend_check_logits(&backend, &tokens, &err), rc);
        assert_has(err.message, cases[i].why ? cases[i].why : "");
        assert_int_equal(model_backend_check_generation(&backend, &tokens, &two, &err), rc);
        assert_has(err.message, cases[i].why ? cases[i].why : "");
        model_backend_close(&backend);
        unsetenv(cases[i].variable);
    }
}

/* fp32, beside which a backend is held, is by vectors, whatever the backend. */
TEST(agreement_is_with_the_instruction_set_that_is_named)
{
    static const struct {
        const char *name, *isa;
        int rc;
    } cases[] = {
        { "plain", "avx1024", CALL_UNSUPPORTED },
        { "simd", "avx1024", CALL_UNSUPPORTED },
        { "plain", "portable", 0 },
        { "simd", "portable", 0 },
    };
    int32_t ids[] = { 1, 2, 3 };
    const struct gpt_tokens tokens = { ids, 1, 3 };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct model_backend_request request = { cases[i].name, "cpu:1", 0 };
        struct model_backend backend;
        struct error err = { "" };
        setenv("HARNESS_ISA", cases[i].isa, 1);
        assert_ok(model_backend_open(&backend, gpt_config_find("nano", &err), &request, &err),
                  &err);
        assert_int_equal(model_agreement_check(&backend, &tokens, &err), cases[i].rc);
        assert_has(err.message, cases[i].rc ? "HARNESS_ISA is 'avx1024'" : "");
        model_backend_close(&backend);
        unsetenv("HARNESS_ISA");
    }
}

RUN_TESTS(NULL, NULL)
