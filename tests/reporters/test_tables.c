/* SPDX-License-Identifier: MIT */
/* Tables and Markdown against golden texts; widths; hostile names. Covers: S0-09, S0-26. */
#include "testing.h"

#include "base/clean.h"
#include "base/json.h"
#include "golden.h"
#include "output_records.h"

#include "reporters/compare_json.h"
#include "reporters/compare_table.h"
#include "reporters/run_table.h"
#include "reporters/system_table.h"
#include "text/escape.h"
#include "text/table.h"

#include <math.h>
#include <stdlib.h>

static const struct run_table_options plain = { 0, false };

static void made_run_records(struct records *r)
{
    made_run(r, 0, "feedbeef", "gcc 12.2.0");
    made_add_models(r, 0, 3, 4, 64, 1);
    made_failure(r, 0, 0, "gpt/gpt2/prefill/simd/fp32/batch=4,seq=64/cpu-4t/warm",
                 OUTCOME_UNSUPPORTED, "needs 9.1 GiB, 4.0 GiB are free");
    made_failure(r, 0, 1, "gemm/linear/simd/fp32/batch=4,seq=64,n=48,k=48/cpu-4t/warm",
                 OUTCOME_WRONG, "error 0.5 is above 1e-05 | see `log`\nat row 3");
    made_work(made_measurement(r, 0, 2,
                               "gemm/linear/simd/fp32/batch=4,seq=64,n=48,k=48/cpu-4t/warm", 9000,
                               0.02, 40, 3),
              1.2e6, 1e5);
    made_roofs(r);
}

#define OUT_TEST(name) TEST_WITH_A(name, struct strbuf, out, strbuf_release)

OUT_TEST(run_table_is_golden)
{
    struct records r = { 0 };

    made_run_records(&r);
    strbuf_init(out);
    run_table(&r, -1, &plain, out);
    assert_golden(out->data, "output", "run_table.txt");
    strbuf_clear(out);
    markdown_report(&r, -1, out);
    assert_golden(out->data, "output", "report.md");
    strbuf_clear(out);
    run_table_markdown(&r, -1, out);
    assert_lacks(out->data, "`log`");
    records_release(&r);
}

/* A stretch of a slower machine is told below the table. */
OUT_TEST(disturbed_machine_is_told)
{
    strbuf_init(out);
    for (size_t slow = 0; slow <= 3; slow += 3) {
        struct records r = { 0 };
        made_run_records(&r);
        for (size_t i = 0; i < r.nr; i++)
            measurement_add_telemetry(&r.items[i].m, TELEMETRY_MACHINE, i < slow ? 160e3 : 80e3);
        strbuf_clear(out);
        run_table(&r, -1, &plain, out);
        const char *told = strstr(out->data, "the machine was slower beside 3 of ");
        assert_int_equal(told != NULL, slow > 0);
        assert_int_equal(strstr(out->data, " measurements, up to 2 times: ") != NULL, slow > 0);
        records_release(&r);
    }
}

/* What happened to warm-up, if it did not settle, and to whoever asked, more of it and of the
 * clock. */
OUT_TEST(conditions_are_told)
{
    static const struct {
        const char *settings; /* NULL: none */
        double settled, again;
        const char *says;   /* NULL: nothing */
        const char *device; /* NULL: as it is */
    } rows[] = {
        { NULL, 1, 0, NULL, NULL },
        { NULL, NAN, 0, NULL, NULL }, /* launches too long to tell */
        { "{\"sampling\":{}}", 0, 0,
          " not settled after 0.12 s (limit): --warm-up 1s gives it longer\n", NULL },
        { "{\"sampling\":{}}", 0, 0, NULL, "process" },
        { "{\"sampling\":{\"warmup_limit\":2}}", 1, 0, "\nwarm-up 0.12 s at most, settled\n",
          NULL },
        { "{\"sampling\":{\"warmup_limit\":2}}", 0, 0, " not settled after 0.12 s (limit)\n",
          NULL },
        { "{\"sampling\":{\"warmup_limit\":2}}", NAN, 0,
          " too long to be told within 0.12 s (limit)\n", NULL },
        { "{\"clock\":{\"mode\":\"free\",\"held\":false,\"seen\":false,\"how\":\"no "
          "cpufreq\"}}",
          1, NAN, "\nclock: free, neither held nor seen (no cpufreq)\n", NULL },
        { "{\"clock\":{\"mode\":\"steady\",\"held\":true,\"how\":\"3.10 GHz alone\"}}", 1, 0,
          "\nclock: steady, 3.10 GHz ±0.5 %, held (3.10 GHz alone); 0 of ", NULL },
        { "{\"clock\":{\"mode\":\"steady\",\"held\":false,\"how\":\"so\"}}", 1, 2,
          " windows measured again\n", NULL },
        { "no settings at all", 0, 0, " not settled after 0.12 s (limit): --warm-up", NULL },
    };

    strbuf_init(out);
    for (size_t row = 0; row < sizeof(rows) / sizeof(*rows); row++) {
        struct records r = { 0 };
        made_run_records(&r);
        free(r.runs[0].settings);
        r.runs[0].settings = memory_string(rows[row].settings);
        for (size_t i = 0; i < r.nr; i++) {
            struct measurement *m = &r.items[i].m;
            if (rows[row].device)
                snprintf(m->bench.device, sizeof(m->bench.device), "%s", rows[row].device);
            measurement_add_telemetry(m, TELEMETRY_WARM_UP, 0.12);
            measurement_add_telemetry(m, TELEMETRY_SETTLED, rows[row].settled);
            measurement_add_telemetry(m, TELEMETRY_CLOCK, isnan(rows[row].again) ? NAN : 3100);
            measurement_add_telemetry(m, TELEMETRY_CLOCK_STRAYED, 0.5);
            measurement_add_telemetry(m, TELEMETRY_CLOCK_WINDOWS, 10);
            measurement_add_telemetry(m, TELEMETRY_CLOCK_AGAIN, rows[row].again);
        }
        strbuf_clear(out);
        run_table(&r, -1, &plain, out);
        if (!rows[row].says && (strstr(out->data, "warm-up") || strstr(out->data, "clock:")))
            fail_msg("row %zu: something is told that nobody asked for: %s", row, out->data);
        if (rows[row].says && !strstr(out->data, rows[row].says))
            fail_msg("row %zu: \"%s\" is not in: %s", row, rows[row].says, out->data);
        records_release(&r);
    }
}

/* What was made again is counted below the table; where teams took all processors, that they need
 * not is said. */
OUT_TEST(what_was_made_again_is_told)
{
    static const struct {
        size_t repeated;
        int threads;
        bool advised;
    } rows[] = { { 0, 4, false }, { 2, 4, false }, { 40, 4, true }, { 40, 8, false } };

    strbuf_init(out);
    for (size_t row = 0; row < sizeof(rows) / sizeof(*rows); row++) {
        struct records r = { 0 };
        made_run_records(&r);
        r.runs[0].machine.threads = rows[row].threads;
        for (size_t i = 0; i < r.nr; i++) {
            struct measurement *m = &r.items[i].m;
            snprintf(m->bench.device, sizeof(m->bench.device), "cpu-4t");
            measurement_add_telemetry(m, TELEMETRY_MACHINE, 80e3);
            if (i < rows[row].repeated)
                measurement_add_telemetry(m, "repeats", 1);
        }
        strbuf_clear(out);
        run_table(&r, -1, &plain, out);
        assert_int_equal(strstr(out->data, " measurements were made again, ") != NULL,
                         rows[row].repeated > 0);
        assert_int_equal(strstr(out->data, "teams took all 4 processors") != NULL,
                         rows[row].advised);
        records_release(&r);
    }
}

/* That a team need not take all processors is said where it did, of more than one, and more than a
 * fifth of what was measured was disturbed: made again, or left as it was. */
OUT_TEST(a_core_left_free_is_advised)
{
    static const struct {
        const char *what, *device;
        int threads;
        size_t repeated, left; /* of 20 */
        bool advised;
    } rows[] = {
        { "a fifth", "cpu-4t", 4, 4, 0, false },
        { "more, made again", "cpu-4t", 4, 5, 0, true },
        { "more, left as it was", "cpu-4t", 4, 0, 5, true },
        { "more, of both", "cpu-4t", 4, 3, 2, true },
        { "nothing", "cpu-4t", 4, 0, 0, false },
        { "a core was free", "cpu-3t", 4, 20, 0, false },
        { "one thread", "cpu-1t", 4, 20, 0, false },
        { "there is one core", "cpu-1t", 1, 20, 0, false },
    };

    strbuf_init(out);
    for (size_t row = 0; row < sizeof(rows) / sizeof(*rows); row++) {
        struct records r = { 0 };
        made_run(&r, 0, "1111111111", "gcc 12.2.0");
        r.runs[0].machine.threads = rows[row].threads;
        for (size_t i = 0; i < 20; i++) {
            char key[KEY_SIZE];
            snprintf(key, sizeof(key), "null/copy/right/fp32/batch=%zu/%s/warm", i + 1,
                     rows[row].device);
            made_measurement(&r, 0, 0, key, 1e6, 0.01, 3, 1);
            struct measurement *m = &r.items[r.nr - 1].m;
            measurement_add_telemetry(m, TELEMETRY_MACHINE, 80e3);
            if (i < rows[row].repeated)
                measurement_add_telemetry(m, "repeats", 1);
            else if (i < rows[row].repeated + rows[row].left)
                measurement_add_telemetry(m, "disturbed_percent", 10);
        }
        strbuf_clear(out);
        run_table(&r, -1, &plain, out);
        bool told = strstr(out->data,
                           "teams took all 4 processors of a machine that is not theirs "
                           "alone: --device cpu:free leaves one to the others\n") != NULL;
        if (told != rows[row].advised)
            fail_msg("%s: %s", rows[row].what, out->data);
        records_release(&r);
    }
}

static void fill_comparison(struct comparison *c, struct compare_row *rows,
                            struct compare_item *items, struct benchmark_name *names, char **notes)
{
    static const enum verdict verdicts[] = { VERDICT_SAME,     VERDICT_REGRESSED, VERDICT_BROKEN,
                                             VERDICT_IMPROVED, VERDICT_UNDECIDED, VERDICT_MISSING };
    struct error err;

    *c = (struct comparison) { .settings = COMPARE_DEFAULTS,
                               .rows = rows,
                               .nr = 6,
                               .family = 4,
                               .common_shift = NAN,
                               .notes = notes,
                               .nr_notes = 1 };
    for (int i = 0; i < 6; i++) {
        char key[KEY_SIZE];
        snprintf(key, sizeof(key), "gemm/linear/simd/fp32/batch=%d,seq=64/cpu-4t/warm", i + 1);
        assert_ok(benchmark_name_parse(key, &names[i], &err), &err);
        items[i].bench = &names[i];
        items[i].metric = metric_find("p50", &err);
        bool both = verdicts[i] != VERDICT_BROKEN && verdicts[i] != VERDICT_MISSING;
        rows[i] = (struct compare_row) {
            .item = &items[i],
            .verdict = verdicts[i],
            .base = { .value = 1000.0 * (i + 1), .launches = 5 },
            .head = { .value = both ? 1100.0 * (i + 1) : NAN, .launches = both ? 5 : 0 },
            .change = both ? 0.1 : NAN,
            .interval = { both ? 0.08 : NAN, both ? 0.12 : NAN },
            .q = both ? 0.004 : NAN,
            .detectable = both ? 0.021 : NAN,
            .worse = true,
        };
        c->count[verdicts[i]]++;
    }
    snprintf(rows[2].why, sizeof(rows[2].why), "WRONG in 5 of 5 launches");
}

OUT_TEST(compare_table_is_golden)
{
    const struct compare_table_options options = { .base_name = "main", .head_name = "a|b" };
    char note[] = "60 comparisons: chance alone gives <1 alarm @5 %", *notes[] = { note };
    struct compare_row rows[6];
    struct compare_item items[6] = { 0 };
    struct benchmark_name names[6];
    struct comparison c;

    fill_comparison(&c, rows, items, names, notes);
    strbuf_init(out);
    compare_table_text(&c, &options, out);
    assert_golden(out->data, "output", "compare_table.txt");
    assert_lacks(out->data, "batch=1 "); /* the row that is same is counted, not listed */
    strbuf_clear(out);
    compare_table_markdown(&c, &options, out);
    assert_golden(out->data, "output", "compare_table.md");
}

/* Labels name the metric where there are several; blocks count as such; what was accepted says so;
 * what cannot be seen at all is no number. */
OUT_TEST(compare_rows_say_how)
{
    static const char *const metrics[] = { "p50", "gflops", NULL };
    const struct compare_table_options options = { .all = true };
    struct compare_row rows[6];
    struct compare_item items[6] = { 0 };
    struct benchmark_name names[6];
    struct evidence_value three[] = { { .run = 0 }, { .run = 1 }, { .run = 4 } };
    struct comparison c;

    fill_comparison(&c, rows, items, names, NULL);
    c.nr_notes = 0;
    c.settings.metrics = metrics;
    items[0].evidence.design = DESIGN_BLOCKS;
    items[0].evidence.base = (struct evidence_side) { .values = three, .nr = 3 };
    items[0].evidence.head = (struct evidence_side) { .values = three + 1, .nr = 2 };
    rows[1].accepted = "safer";
    c.accepted = 1;
    rows[4].detectable = INFINITY;
    strbuf_init(out);
    compare_table_text(&c, &options, out);
    assert_has(out->data, "; 1 accepted  (median latency, compute rate, ");
    assert_has(out->data, "batch=1 p50");
    assert_has(out->data, " 2 blocks ");
    assert_has(out->data, "accepted: safer\n");
    assert_has(out->data, " nothing");
}

TEST(compare_json_has_it_all)
{
    struct compare_row rows[6];
    struct compare_item items[6] = { 0 };
    struct benchmark_name names[6];
    struct comparison c;

    fill_comparison(&c, rows, items, names, NULL);
    c.nr_notes = 0;
    c.chance = 0.05;
    rows[1].noise = (struct compare_noise) { 0.001, 0.01, NAN, NAN };
    rows[1].delta = 0.04;
    rows[1].looks = 3;
    cJSON *json = compare_to_json(&c, "main", "head");
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    assert_has(text, "\"metric\":\"p50\",\"metrics\":[\"p50\"]");
    assert_has(text, "\"chance\":0.05");
    assert_has(text, "\"noise\":{\"within\":0.001");
    assert_has(text, "\"occasion\":null,\"placement\":null}");
    assert_has(text, "\"design\":\"launches\",\"looks\":3");
    assert_has(text, "\"delta\":0.04");
    cJSON_free(text);
}

OUT_TEST(system_table_has_the_facts)
{
    struct records r = { 0 };

    made_run(&r, 0, "feedbeef", "gcc | 12");
    r.runs[0].build.dirty = true;
    r.runs[0].environment =
        memory_string("{\"governor\":\"powersave\",\"turbo\":true,\"absent\":null}");
    strbuf_init(out);
    system_table(&r.runs[0], false, out);
    assert_has(out->data, "cores            4 (4 threads)\n");
    assert_has(out->data, "governor         powersave\n");
    assert_has(out->data, "turbo            yes\n");
    assert_has(out->data, "uncommitted");
    assert_lacks(out->data, "absent");
    assert_lacks(out->data, "GPU");
    strbuf_clear(out);
    system_table(&r.runs[0], true, out);
    assert_has(out->data, "| compiler | gcc &#124; 12 |");
    records_release(&r);
}

/* A rate has four digits in the unit that it needs, however low it is. */
OUT_TEST(slow_models_have_rates)
{
    struct records r = { 0 };

    made_run(&r, 0, "feedbeef", "gcc");
    made_work(made_measurement(&r, 0, 0, "gpt/slow/decode/simd/fp32/batch=1,seq=1/cpu-4t/warm",
                               56e6, 0.01, 40, 3),
              2e5, 1e5);
    strbuf_init(out);
    markdown_report(&r, -1, out);
    assert_has(out->data, " | 17.");
    assert_has(out->data, " tokens/s | 3.5");
    assert_has(out->data, " MFLOP/s | OK |");
    records_release(&r);
}

OUT_TEST(nothing_is_said_plainly)
{
    struct records r = { 0 };

    strbuf_init(out);
    run_table(&r, -1, &plain, out);
    assert_string_equal(out->data, "nothing was measured\n");
    strbuf_clear(out);
    markdown_report(&r, -1, out);
    assert_string_equal(out->data, "Nothing was measured.\n");
}

RUN_TESTS(NULL, NULL)
