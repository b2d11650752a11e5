/* SPDX-License-Identifier: MIT */
/* Results of other tools become records: names, samples, work, environment, and nothing that the
 * file does not say. Covers: U-10, S0-10, S0-19, S2-08. */
#include "import_testing.h"

#include "base/json.h"
#include "importers/base/import_base.h"
#include "metrics/metric.h"
#include "output_records.h"
#include "reporters/export.h"

static const struct import_options plain;

/* What one benchmark of a fixture must become. */
static const struct expected {
    const char *file, *key, *kernel;
    enum outcome outcome;
    double median; /* ns */
    size_t nr_samples;
    unsigned batch;
    double bytes, flops;
} expected[] = {
    { "google-benchmark/test3_run0.json", "BM_Two", "BM_Two", OUTCOME_OK, 8.5, 2, 1000, 0, 0 },
    { "google-benchmark/test3_run1.json", "short", "short", OUTCOME_OK, 800, 1, 1000, 0, 0 },
    { "google-benchmark/test3_run1.json", "medium", "medium", OUTCOME_OK, 5, 1, 1200, 0, 0 },
    { "import/gbench_counters.json", "BM_Copy/real_time/arg=1024", "BM_Copy/real_time", OUTCOME_OK,
      101, 3, 1000, 2048, 0 },
    { "import/gbench_counters.json", "BM_Gemm<float>/m=64,n=32,threads=2", "BM_Gemm<float>",
      OUTCOME_OK, 4000, 1, 10, 0, 8000 },
    { "import/gbench_counters.json", "BM_Tiny", "BM_Tiny", OUTCOME_OK, 0.25, 1, 1000000000, 0, 0 },
    { "import/gbench_counters.json", "BM_Open", "BM_Open", OUTCOME_FAILED, NAN, 0, 0, 0, 0 },
    { "import/gbench_counters.json", "BM_Gpu", "BM_Gpu", OUTCOME_UNSUPPORTED, NAN, 0, 0, 0, 0 },
    { "import/gbench_aggregates.json", "BM_Sort/arg=8", "BM_Sort", OUTCOME_OK, 21250, 1, 1, 0, 0 },
    { "import/gbench_aggregates.json", "BM_Find", "BM_Find", OUTCOME_OK, 3e6, 1, 1, 0, 0 },
    { "import/nvbench_axes.json", "simple/device=0", "simple", OUTCOME_OK, 1003471.58498, 1, 1000,
      0, 0 },
    { "import/nvbench_axes.json", "single_float64_axis/Duration=0.0003/device=0",
      "single_float64_axis/Duration=0.0003", OUTCOME_OK, NAN, 1, 0, NAN, 0 },
    { "import/nvbench_axes.json", "copy_sweep_grid_shape/BlockSize=64,NumBlocks=64,device=0",
      "copy_sweep_grid_shape", OUTCOME_OK, 6485689.82344, 1, 0, 536870912, 0 },
    { "import/nvbench_axes.json", "copy_type_conversion_sweep/In=I8/Out=I8/device=0",
      "copy_type_conversion_sweep/In=I8/Out=I8", OUTCOME_UNSUPPORTED, NAN, 0, 0, 0, 0 },
    { "import/nvbench_bin.json", "reduce/Elements=1048576", "reduce", OUTCOME_OK, 1075000, 4, 0,
      4350000, 0 },
    { "import/nvbench_bin.json", "reduce/Elements=4194304", "reduce", OUTCOME_OK, 4e6, 1, 1, 0, 0 },
    { "import/nvbench_bin.json", "reduce/Elements=1099511627776", "reduce", OUTCOME_UNSUPPORTED,
      NAN, 0, 0, 0, 0 },
    { "import/criterion", "parse/arg=1024", "parse", OUTCOME_OK, 507.5, 4, 0, 1024, 0 },
    { "import/criterion", "a/b c", "a/b c", OUTCOME_OK, 1.25e6, 1, 1, 0, 0 },
    { "import/criterion", "Fibonacci_Iterative", "Fibonacci_Iterative", OUTCOME_OK, 4.670911442,
      100, 209454000, 0, 0 },
    { "import/criterion/parse/1024/new", "parse/arg=1024", "parse", OUTCOME_OK, 507.5, 4, 0, 1024,
      0 },
    { "import/criterion/Fibonacci_Iterative/new/sample.json", "Fibonacci_Iterative",
      "Fibonacci_Iterative", OUTCOME_OK, 4.670911442, 100, 209454000, 0, 0 },
    { "import/criterion/parse/1024/base/", "1024", "1024", OUTCOME_OK, 1, 1, 1, 0, 0 },
    { "import/cargo_criterion.jsonl", "norm/arg=64", "norm", OUTCOME_OK, 4140, 3, 90, 0, 0 },
    { "import/cargo_criterion.jsonl", "copy", "copy", OUTCOME_OK, 1500, 1, 1, 4096, 0 },
    { "import/hyperfine_two.json", "sleep 0.1", "sleep 0.1", OUTCOME_OK, 106525351.72, 27, 10, 0,
      0 },
    { "import/hyperfine_two.json", "sleep 0.2", "sleep 0.2", OUTCOME_OK, 208661518.72, 13, 10, 0,
      0 },
    { "import/hyperfine_parameters.json", "sort --parallel {threads} words/threads=2",
      "sort --parallel {threads} words", OUTCOME_OK, 0.12e9, 3, 1, 0, 0 },
    { "import/hyperfine_parameters.json", "true/name=x", "true/name=x", OUTCOME_OK, 39123.4567, 3,
      10000, 0, 0 },
    { "import/hyperfine_mean.json", "make", "make", OUTCOME_OK, 1.5e9, 1, 1, 0, 0 },
    { "import/pytest_four.json", "bench.py::test_fib_1", "bench.py::test_fib_1", OUTCOME_OK, 143.76,
      1, 0, 0, 0 },
    { "import/pytest_four.json", "bench.py::test_sleep_2", "bench.py::test_sleep_2", OUTCOME_OK,
      2005124843, 5, 1, 0, 0 },
    { "import/pytest_params.json", "bench.py::test_sort/how=quick/n=16",
      "bench.py::test_sort/how=quick", OUTCOME_OK, 3000, 3, 100, 0, 0 },
    { "import/pytest_params.json", "bench.py::test_odd[x]", "bench.py::test_odd[x]", OUTCOME_OK,
      10.5e6, 2, 1, 0, 0 },
    { "import/pytest_bare.json", "test_one", "test_one", OUTCOME_OK, 2.5e6, 1, 1, 0, 0 },
    { "import/summary_models.json", "gpt_nano/batch=4,seq=64", "gpt_nano", OUTCOME_OK, 1.28e6, 1, 1,
      0, 0 },
    { "import/summary_comparison.json", "nano/mingpt/batch=4,seq=64", "nano/mingpt", OUTCOME_OK,
      0.87e6, 1, 0, 0, 0 },
    { "import/summary_list.json", "gemm/nn/simd/fp32/batch=1,seq=64,n=8,k=8/cpu-2t/warm", "gemm/nn",
      OUTCOME_OK, 10000, 1, 1, 15000, 25000 },
    { "import/summary_list.json", "gemm/nn/naive/fp32/batch=1,seq=64,n=8,k=8/cpu-2t/warm",
      "gemm/nn", OUTCOME_WRONG, NAN, 0, 0, 0, 0 },
    { "import/kernels.json", "Kernel A/modelX/fp32/M=1024,N=1024,K=1024,batch=32/imported/warm",
      "Kernel A", OUTCOME_OK, 21474.83648, 1, 0, 12582912, 2147483648 },
    { "import/kernels.json", "Kernel B/modelY/fp16/M=2048,N=2048,K=2048,batch=64/imported/warm",
      "Kernel B", OUTCOME_OK, 214748.3648, 1, 0, 25165824, 17179869184 },
    { "import/kernels.json", "a/b/-/int4/m=16,n=8,k=4/imported/warm", "a/b", OUTCOME_OK, 12500, 1,
      1, 0, 1024 },
};

/* NaN and a batch of 0 stand for what the row does not look at. */
static void check(const struct expected *e, const struct measurement *m)
{
    struct benchmark_name again;
    struct error err;

    assert_string_equal(m->bench.kernel, e->kernel);
    assert_int_equal(m->outcome, e->outcome);
    assert_int_equal(m->nr_samples, e->nr_samples);
    if (e->batch)
        assert_int_equal(m->batch, e->batch);
    if (!isnan(e->median))
        assert_close(import_median(m), e->median, 1e-6 * e->median);
    if (!isnan(e->bytes))
        assert_close(m->bytes, e->bytes, 1e-6 * e->bytes);
    assert_close(m->flops, e->flops, 1e-9 * e->flops);
    assert_int_equal(m->outcome != OUTCOME_OK, m->message != NULL);
    assert_true(isnan(m->max_error) && isnan(m->tolerance) && isnan(m->checked));
    /* The key says all of the name: files of records have nothing else. */
    assert_ok(benchmark_name_parse(m->bench.key, &again, &err), &err);
    assert_memory_equal(&again, &m->bench, sizeof(again));
}

TEST(fixtures_become_what_they_say)
{
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        struct imported in;
        print_message("%s: %s\n", expected[i].file, expected[i].key);
        import_fixture(expected[i].file, &plain, &in);
        check(&expected[i], import_measurement(&in, expected[i].key, 0));
        imported_release(&in);
    }
}

/* What is said of each file as a whole. */
static const struct {
    const char *file;
    enum import_format format;
    size_t records, notes;
    int64_t started_ms;
    const char *commit, *branch, *class_name;
} wholes[] = {
    { "google-benchmark/test3_run0.json", IMPORT_GBENCH, 2, 0, 1470159886000, "", "", "4c" },
    { "import/gbench_counters.json", IMPORT_GBENCH, 5, 2, 1772356830000,
      "0123456789abcdef0123456789abcdef01234567", "main", "4c-l1-32k-l2-1024k-l3-32768k" },
    { "import/gbench_aggregates.json", IMPORT_GBENCH, 2, 3, 1470159886000, "", "", "4c" },
    { "import/nvbench_axes.json", IMPORT_NVBENCH, 12, 1, 0, "", "", "quadro-gv100-quadro-gp100" },
    { "import/nvbench_bin.json", IMPORT_NVBENCH, 3, 3, 0, "", "", "nvidia-h200" },
    { "import/criterion", IMPORT_CRITERION, 3, 1, 0, "", "", "unknown" },
    { "import/cargo_criterion.jsonl", IMPORT_CRITERION, 2, 1, 0, "", "", "unknown" },
    { "import/hyperfine_two.json", IMPORT_HYPERFINE, 2, 0, 0, "", "", "unknown" },
    { "import/hyperfine_parameters.json", IMPORT_HYPERFINE, 3, 1, 0, "", "", "unknown" },
    { "import/hyperfine_mean.json", IMPORT_HYPERFINE, 1, 1, 0, "", "", "unknown" },
    { "import/pytest_four.json", IMPORT_PYTEST, 4, 1, 1575622738115,
      "b8e9e2af2493a1ee2f3fa758a9572cd9972e6db7", "master",
      "intel-r-core-tm-i5-5257u-cpu-2-70ghz" },
    { "import/pytest_params.json", IMPORT_PYTEST, 3, 0, 1770091560500,
      "89abcdef0123456789abcdef0123456789abcdef", "main", "amd-epyc-7b13-8c" },
    { "import/pytest_bare.json", IMPORT_PYTEST, 1, 1, 1770091560000, "", "", "unknown" },
    { "import/summary_models.json", IMPORT_SUMMARY, 2, 1, 1769437655233, "", "", "nvidia-gb10" },
    { "import/summary_comparison.json", IMPORT_SUMMARY, 2, 1, 1769438506710, "", "", "unknown" },
    { "import/summary_list.json", IMPORT_SUMMARY, 2, 1, 1775369228000, "feedbeef", "main",
      "made-4c" },
    { "import/kernels.json", IMPORT_KERNELS, 3, 1, 0, "", "", "unknown" },
};

TEST(files_say_where_they_are_from)
{
    for (size_t i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++) {
        struct imported in;
        print_message("%s\n", wholes[i].file);
        import_fixture(wholes[i].file, &plain, &in);
        const struct run *run = &in.records.runs[0];
        assert_int_equal(in.format, wholes[i].format);
        assert_int_equal(in.records.nr_runs, 1);
        assert_int_equal(in.records.nr, wholes[i].records);
        assert_int_equal(in.notes.nr, wholes[i].notes);
        assert_int_equal(run->started_ms, wholes[i].started_ms);
        assert_string_equal(run->build.commit, wholes[i].commit);
        assert_string_equal(run->build.branch, wholes[i].branch);
        assert_string_equal(run->machine.class_name, wholes[i].class_name);
        assert_int_equal(strlen(run->machine.id), 16);
        assert_int_equal(import_launches(&in.records, 0), 1);
        assert_true(in.written_ms > 0);
        assert_non_null(strstr(run->environment, import_format_title(in.format)));
        imported_release(&in);
    }
}

TEST(names_become_keys)
{
    static const struct {
        const char *name, *key;
    } rows[] = {
        { "BM_Sort", "BM_Sort" },
        { "BM_Sort/1024", "BM_Sort/arg=1024" },
        { "BM_Sort/8/64", "BM_Sort/arg0=8,arg1=64" },
        { "BM_Sort/8/n:64", "BM_Sort/arg=8,n=64" },
        { "BM_Sort/-3", "BM_Sort/arg=-3" },
        { "BM_Sort/quick/8", "BM_Sort/quick/arg=8" },
        { "BM_Sort/8/quick", "BM_Sort/8/quick" }, /* could be anything */
        { "Fixture/Method/8", "Fixture/Method/arg=8" },
        { "BM_Sort/8/real_time/threads:4", "BM_Sort/real_time/arg=8,threads=4" },
        { "BM_Sort/8/min_time:0.500", "BM_Sort/min_time:0.500/arg=8" },
        { "BM_Sort/iterations:100", "BM_Sort/iterations:100" },
        { "BM_Sort/007", "BM_Sort/007" }, /* no number but a name */
        { "BM_Sort/99999999999999999999", "BM_Sort/99999999999999999999" },
        { "BM_Sort/n:8/n:9", "BM_Sort/n:8/n:9" }, /* one dim twice */
        { "BM_Sort/1/2/3/4/5/6/7/8/9", "BM_Sort/1/2/3/4/5/6/7/8/9" },
        { "1024", "1024" },
        { "BM<std::vector<int>, 3>/8", "BM<std::vector<int>, 3>/arg=8" },
        { "a\nb\x01\xff", "a b ?" },
        { "/8", "/8" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct import_name n;
        struct benchmark_name out;
        import_name_path(&n, rows[i].name);
        import_name_key(&n, NULL, &out);
        assert_string_equal(out.key, rows[i].key);
        import_name_release(&n);
    }
}

/* Long names are cut, and stay different. */
TEST(long_names_stay_apart)
{
    char long_name[2][600];
    struct benchmark_name out[2];
    struct import_name n;

    for (int i = 0; i < 2; i++) {
        memset(long_name[i], 'x', sizeof(long_name[i]));
        snprintf(long_name[i] + 590, 10, "%u/8", (unsigned)i % 10);
        import_name_path(&n, long_name[i]);
        import_name_key(&n, "project", &out[i]);
        import_name_release(&n);
        assert_int_equal(strlen(out[i].key), KEY_SIZE - 1);
        assert_int_equal(benchmark_name_dim(&out[i], "arg", 0), 8);
        assert_int_equal(strncmp(out[i].key, "project/xxx", 11), 0);
    }
    assert_string_not_equal(out[0].key, out[1].key);
}

static void import_one_time(double ns, double iterations, struct imported *out)
{
    char text[400];
    struct error err;

    snprintf(text, sizeof(text),
             "{\"context\":{},\"benchmarks\":[{\"name\":\"x\",\"iterations\":%.0f,"
             "\"real_time\":%.17g,\"cpu_time\":1,\"time_unit\":\"ns\"}]}",
             iterations, ns);
    assert_ok(import_parse(text, strlen(text), "t", &plain, out, &err), &err);
}

/* Samples are whole ns, but of any time hardly anything is lost. */
TEST(times_keep_their_digits)
{
    struct random random;

    random_seed(&random, 7);
    for (int i = 0; i < 2000; i++) {
        struct imported in;
        double ns = pow(10, random_uniform(&random) * 16 - 2);
        double iterations = floor(pow(10, random_uniform(&random) * 10));
        import_one_time(ns, iterations, &in);
        assert_close(import_median(&in.records.items[0].m) / ns, 1, 5.1e-7);
        assert_true(in.records.items[0].m.samples[0] <= UINT64_C(1) << 53);
        imported_release(&in);
    }
}

TEST(repetitions_are_launches_if_asked_for)
{
    const struct import_options asked = { .repetitions = true };
    const struct import_options cpu = { .cpu_time = true, .project = "mine" };
    struct imported in;

    import_fixture("import/gbench_counters.json", &asked, &in);
    assert_int_equal(import_launches(&in.records, 0), 3);
    assert_close(import_median(import_measurement(&in, "BM_Copy/real_time/arg=1024", 1)), 102.5,
                 1e-9);
    imported_release(&in);
    import_fixture("import/gbench_counters.json", &cpu, &in);
    assert_close(import_median(import_measurement(&in, "mine/BM_Copy/real_time/arg=1024", 0)), 100,
                 1e-9);
    imported_release(&in);
}

TEST(counters_stand_beside)
{
    struct imported in;

    import_fixture("import/gbench_counters.json", &plain, &in);
    const struct measurement *m = import_measurement(&in, "BM_Copy/real_time/arg=1024", 0);
    assert_close(measurement_telemetry(m, "items_per_second"), 1e7, 0);
    assert_close(measurement_telemetry(m, "cpu_time_ns"), 99, 0);
    assert_true(isnan(measurement_telemetry(m, "repetition_index")));
    assert_true(isnan(measurement_telemetry(import_measurement(&in, "BM_Tiny", 0), "hits")));
    assert_string_equal(import_measurement(&in, "BM_Open", 0)->message, "no such file");
    imported_release(&in);
    import_fixture("import/nvbench_axes.json", &plain, &in);
    m = import_measurement(&in, "simple/device=0", 0);
    assert_true(isnan(measurement_telemetry(m, "nv/cold/time/cpu/stdev/relative")));
    imported_release(&in);
    import_fixture("import/summary_models.json", &plain, &in);
    m = import_measurement(&in, "gpt_nano/batch=4,seq=64", 0);
    assert_close(measurement_telemetry(m, "summary_p99_ns"), 1.74e6, 1e-3);
    assert_close(measurement_telemetry(m, "tokens_per_second"), 193731, 0);
    assert_close(measurement_telemetry(m, "n_embd"), 48, 0);
    assert_non_null(strstr(in.records.runs[0].environment, "compute_capability"));
    imported_release(&in);
}

/* Fits of complexity have members of these names, and no time. */
TEST(counters_that_are_called_as_fits_are)
{
#define NAMED(more) "{\"name\":\"x\"," more ",\"time_unit\":\"ns\"}"
#define AGGREGATE(what, value)                                                                     \
    NAMED("\"run_name\":\"x\",\"run_type\":\"aggregate\",\"aggregate_name\":\"" what               \
          "\",\"iterations\":3,\"real_time\":" value ",\"cpu_time\":1,\"rms\":7,\"Big_O\":8")
    static const struct {
        const char *entries;
        double median, rms;
        size_t notes;
    } cases[] = {
        { AGGREGATE("mean", "20") "," AGGREGATE("median", "10") "," AGGREGATE("stddev", "3"), 10, 7,
          1 },
        { NAMED("\"iterations\":1,\"real_time\":5,\"cpu_time\":1,\"rms\":7"), 5, 7, 0 },
        { NAMED("\"iterations\":1,\"real_time\":5,\"cpu_time\":1") "," NAMED(
              "\"big_o\":\"N\"") "," NAMED("\"rms\":7"),
          5, NAN, 1 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct imported in;
        struct error err;
        char text[1200];
        snprintf(text, sizeof(text), "{\"context\":{},\"benchmarks\":[%s]}", cases[i].entries);
        assert_ok(import_parse(text, strlen(text), "t", &plain, &in, &err), &err);
        const struct measurement *m = import_measurement(&in, "x", 0);
        assert_close(import_median(m), cases[i].median, 1e-9);
        double rms = measurement_telemetry(m, "rms");
        assert_true(isnan(cases[i].rms) ? isnan(rms) : rms == cases[i].rms);
        assert_int_equal(in.notes.nr, cases[i].notes);
        imported_release(&in);
    }
}

/* Of a summary each metric is what was said of it; none is made up from the one time that stands.
 */
TEST(statistics_of_a_summary_are_metrics)
{
    static const struct {
        const char *metric;
        double ns;
    } rows[] = {
        { "mean", 1.32e6 }, { "sd", 0.11e6 },     { "min", 1.24e6 }, { "max", 1.75e6 },
        { "p50", 1.28e6 },  { "p95", 1.63e6 },    { "p99", 1.74e6 }, { "p5", NAN },
        { "p75", NAN },     { "tokens", 193731 }, /* a second, as it was said */
    };
    struct imported in;
    struct summary s;

    import_fixture("import/summary_models.json", &plain, &in);
    summary_init_one(&s, import_measurement(&in, "gpt_nano/batch=4,seq=64", 0));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct metric_value value = metric_get(rows[i].metric, &s, NULL);
        if (isnan(rows[i].ns) ? !isnan(value.value) : fabs(value.value / rows[i].ns - 1) > 1e-6)
            fail_msg("%s is %g, not %g", rows[i].metric, value.value, rows[i].ns);
        assert_false(value.few && strcmp(rows[i].metric, "p50") != 0);
    }
    summary_release(&s);
    imported_release(&in);
}

/* Our own export comes back: keys, launches, medians, work, outcomes, machine. */
TEST(our_own_export_comes_back)
{
    static const char key[] = "gpt/nano/prefill/simd/fp32/batch=4,seq=64/cpu-4t/warm";
    static const char bad[] = "gemm/nn/simd/fp32/batch=1,seq=1,n=1,k=1/cpu-4t/warm";
    struct records r = { 0 };
    struct imported in;
    struct error err;

    made_run(&r, 0, "feedbeef", "gcc");
    for (int launch = 0; launch < 3; launch++)
        made_work(made_measurement(&r, 0, launch, key, 2e3, 0.02, 51, (uint64_t)launch), 4e6, 1e5);
    made_failure(&r, 0, 3, key, OUTCOME_FAILED, "signal 11");
    made_failure(&r, 0, 0, bad, OUTCOME_WRONG, "off: by much");
    measurement_add_telemetry(made_measurement(&r, 0, 0, "events", 0, 0, 0, 1), "Dr", 1380);
    char *text = json_take_text(export_gbench(&r, -1, "harness"));
    assert_ok(import_parse(text, strlen(text), "own", &plain, &in, &err), &err);
    assert_int_equal(import_launches(&in.records, 0), 4);
    for (int launch = 0; launch < 3; launch++) {
        const struct measurement *m = import_measurement(&in, key, launch);
        assert_close(import_median(m), import_median(&r.items[launch].m), 1e-9 * 2e3);
        assert_close(m->flops, 4e6, 1);
        assert_close(m->bytes, 1e5, 1);
    }
    assert_int_equal(import_measurement(&in, key, 3)->outcome, OUTCOME_FAILED);
    const struct measurement *events = import_measurement(&in, "events", 0);
    assert_int_equal(events->outcome, OUTCOME_OK);
    assert_int_equal(events->nr_telemetry, 1);
    assert_close(measurement_telemetry(events, "Dr"), 1380, 0);
    assert_int_equal(import_measurement(&in, bad, 0)->outcome, OUTCOME_WRONG);
    assert_string_equal(import_measurement(&in, bad, 0)->message, "off: by much");
    assert_string_equal(in.records.runs[0].machine.class_name, r.runs[0].machine.class_name);
    assert_string_equal(in.records.runs[0].build.commit, "feedbeef");
    assert_int_equal(in.records.runs[0].started_ms, r.runs[0].started_ms);
    free(text);
    imported_release(&in);
    records_release(&r);
}

/* And so do records and the summary. */
TEST(records_and_summaries_come_back)
{
    struct records r = { 0 };
    struct imported in;
    struct error err;

    made_run(&r, 0, "feedbeef", "gcc");
    made_add_models(&r, 0, 2, 4, 64, 1);
    char *text = json_take_text(records_to_json(&r));
    assert_ok(import_parse(text, strlen(text), "own", &plain, &in, &err), &err);
    assert_int_equal(in.format, IMPORT_RECORDS);
    assert_int_equal(in.records.nr, r.nr);
    assert_string_equal(in.records.runs[0].uuid, r.runs[0].uuid);
    free(text);
    imported_release(&in);
    text = json_take_text(export_json(&r, -1));
    assert_ok(import_parse(text, strlen(text), "own", &plain, &in, &err), &err);
    assert_int_equal(in.format, IMPORT_SUMMARY);
    assert_int_equal(in.records.nr, MADE_MODELS);
    assert_string_equal(in.records.items[0].m.bench.variant, "simd");
    free(text);
    imported_release(&in);
    records_release(&r);
}

static void made_numbers(struct measurement *m, const char *text)
{
    struct error err;
    cJSON *json = json_parse(text, strlen(text), "numbers", &err);

    assert_ok(numbers_from_json(json, m->numbers, &m->nr_numbers, &err), &err);
    cJSON_Delete(json);
}

/* Numbers of programs come back out of a summary, also where there is no time; what has neither is
 * told. */
TEST(numbers_of_summaries_come_back)
{
    static const char timed[] =
        "{\"held\":{\"unit\":\"req/s\",\"better\":\"higher\",\"values\":[7]},"
        "\"kept\":{\"better\":\"none\",\"values\":[8]}}";
    static const char timeless[] =
        "{\"held\":{\"unit\":\"kB\",\"better\":\"lower\",\"values\":[9]}}";
    struct records r = { 0 };
    struct imported in;
    struct error err;

    made_run(&r, 0, "feedbeef", "gcc");
    made_numbers(made_measurement(&r, 0, 0, "timed", 2e3, 0.02, 5, 1), timed);
    made_numbers(made_measurement(&r, 0, 0, "timeless", 0, 0, 0, 1), timeless);
    made_measurement(&r, 0, 0, "neither", 0, 0, 0, 1);
    char *text = json_take_text(export_json(&r, -1));
    assert_ok(import_parse(text, strlen(text), "own", &plain, &in, &err), &err);
    assert_int_equal(in.records.nr, 2);
    for (size_t i = 0; i < in.records.nr; i++) {
        const struct measurement *m = &in.records.items[i].m, *was = NULL;
        for (size_t k = 0; k < r.nr; k++)
            was = strcmp(r.items[k].m.bench.key, m->bench.key) == 0 ? &r.items[k].m : was;
        assert_int_equal(m->nr_samples, was->nr_samples > 0);
        assert_int_equal(m->nr_numbers, was->nr_numbers);
        for (int n = 0; n < m->nr_numbers; n++) {
            const struct number *number = measurement_number(was, m->numbers[n].kind);
            assert_non_null(number);
            assert_close(number_median(&m->numbers[n]), number_median(number), 0);
        }
    }
    assert_string_equal(in.notes.items[0],
                        "1 benchmark left out, with neither a time nor a number (neither)");
    free(text);
    imported_release(&in);
    records_release(&r);
}

/* Criterion's own example: the same samples on both sides. */
TEST(the_same_content_has_one_digest)
{
    struct imported a, b, c;

    import_fixture("import/hyperfine_two.json", &plain, &a);
    import_fixture("import/hyperfine_two.json", &plain, &b);
    import_fixture("import/hyperfine_mean.json", &plain, &c);
    assert_true(a.digest.low == b.digest.low && a.digest.high == b.digest.high);
    assert_true(a.digest.low != c.digest.low);
    imported_release(&a);
    imported_release(&b);
    imported_release(&c);
}

RUN_TESTS(NULL, NULL)
