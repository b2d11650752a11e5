/* SPDX-License-Identifier: MIT */
/* OpenMetrics text and Prometheus' classic one: every line is what the specification (1.0.0; text
 * format 0.0.4) allows, whatever names hold. Their own readers judge in cli.accepted. Covers: U-10.
 */
#include "testing.h"

#include "output_records.h"
#include "reporters/openmetrics.h"

#include <ctype.h>
#include <stdlib.h>

static const char key[] = "gemm/linear/simd/fp32/batch=4,seq=64,n=192,k=48/cpu-4t/warm";

/* One exposition, read line by line as a strict reader would. */
struct reader {
    char family[128], unit[64], type[16];
    char seen[64][128]; /* families that are closed or open */
    size_t nr_seen, samples;
    bool classic, ended;
};

static bool is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!(isalpha((unsigned char)text[i]) || text[i] == '_' ||
              (i > 0 && isdigit((unsigned char)text[i]))))
            return false;
    return length > 0;
}

static void open_family(struct reader *r, const char *name)
{
    for (size_t i = 0; i < r->nr_seen; i++)
        assert_string_not_equal(r->seen[i], name); /* each family once, in one piece */
    assert_true(r->nr_seen < 64);
    snprintf(r->seen[r->nr_seen++], 128, "%s", name);
    snprintf(r->family, sizeof(r->family), "%s", name);
    r->unit[0] = '\0';
}

/* The classic form knows help and type, in that order. */
static void read_classic_comment(struct reader *r, const char *line)
{
    char name[128], type[16];

    if (strncmp(line, "# HELP ", 7) == 0) {
        assert_int_equal(sscanf(line, "# HELP %127s %15s", name, type), 2);
        open_family(r, name);
        return;
    }
    assert_int_equal(sscanf(line, "# TYPE %127s %15s", name, type), 2);
    assert_string_equal(name, r->family);
    assert_string_equal(type, "gauge");
}

static void read_comment(struct reader *r, const char *line)
{
    char word[16], name[128], rest[256];

    if (strcmp(line, "# EOF") == 0) {
        r->ended = true;
        return;
    }
    assert_int_equal(sscanf(line, "# %15s %127s %255[^\n]", word, name, rest), 3);
    if (strcmp(word, "TYPE") == 0) {
        open_family(r, name);
        snprintf(r->type, sizeof(r->type), "%.15s", rest);
        assert_true(strcmp(rest, "gauge") == 0 || strcmp(rest, "info") == 0);
        return;
    }
    assert_string_equal(name, r->family);
    if (strcmp(word, "UNIT") == 0) {
        size_t length = strlen(name), unit = strlen(rest);
        assert_true(length > unit && name[length - unit - 1] == '_');
        assert_string_equal(name + length - unit, rest);
    } else {
        assert_string_equal(word, "HELP");
    }
}

/* Behind the opening quote; returns behind the closing one. */
static const char *read_label_value(const char *p)
{
    for (; *p != '"'; p++) {
        assert_true(*p != '\0');
        if (*p == '\\') {
            p++;
            assert_true(*p == 'n' || *p == '"' || *p == '\\');
        }
    }
    return p + 1;
}

static const char *read_labels(const char *p)
{
    const char *names[32];
    size_t lengths[32], nr = 0;

    while (*p != '}') {
        size_t length = strcspn(p, "=");
        assert_true(is_name(p, length) && p[length + 1] == '"');
        for (size_t i = 0; i < nr; i++) /* none twice */
            assert_false(lengths[i] == length && strncmp(names[i], p, length) == 0);
        names[nr] = p;
        lengths[nr++] = length;
        p = read_label_value(p + length + 2);
        assert_true(*p == ',' || *p == '}');
        p += *p == ',';
    }
    return p + 1;
}

static void read_sample(struct reader *r, const char *line)
{
    size_t length = strcspn(line, "{ ");
    const char *suffix = strcmp(r->type, "info") == 0 ? "_info" : "";
    char name[160], *end;

    assert_true(is_name(line, length));
    snprintf(name, sizeof(name), "%s%s", r->family, suffix);
    assert_int_equal(strlen(name), length);
    assert_int_equal(strncmp(line, name, length), 0);
    const char *p = line[length] == '{' ? read_labels(line + length + 1) : line + length;
    assert_int_equal(*p, ' ');
    assert_true(isfinite(strtod(p + 1, &end)) && end > p + 1);
    r->samples++;
    if (r->classic) { /* no stamp: it would be stale when it is scraped */
        assert_int_equal(*end, '\0');
        return;
    }
    assert_int_equal(*end, ' ');
    double stamp = strtod(end + 1, &end);
    assert_true(stamp > 1e9 && stamp < 1e10 && *end == '\0'); /* seconds */
}

static void read_all(const struct strbuf *out, bool classic, struct reader *r)
{
    char *copy = strdup(out->data), *rest = copy, *line;

    *r = (struct reader) { .classic = classic };
    assert_int_equal(out->data[out->length - 1], '\n');
    while ((line = strsep(&rest, "\n")) && rest) {
        assert_false(r->ended); /* nothing comes behind # EOF */
        if (line[0] == '#' && classic)
            read_classic_comment(r, line);
        else if (line[0] == '#')
            read_comment(r, line);
        else
            read_sample(r, line);
    }
    assert_int_equal(r->ended, !classic);
    free(copy);
}

#define RECORDS_TEST(name) TEST_WITH_A(name, struct records, r, records_release)

RECORDS_TEST(a_run_is_well_formed)
{
    struct reader reader;
    struct strbuf out;

    made_run(r, 0, "old", "gcc");
    made_run(r, 1, "feedbeef", "gcc");
    made_work(made_measurement(r, 0, 0, key, 5e6, 0.02, 50, 9), 4e9, 1e8);
    for (int launch = 0; launch < 3; launch++)
        made_work(made_measurement(r, 1, launch, key, 2e6, 0.02, 50, (uint64_t)launch), 4e9, 1e8);
    made_failure(r, 1, 0, "gemm/nn/simd/fp32/batch=1,seq=1,n=1,k=1/cpu-4t/warm", OUTCOME_WRONG,
                 "off");
    strbuf_init(&out);
    openmetrics_add(r, -1, &out);
    read_all(&out, false, &reader);
    assert_has(out.data,
               "harness_run_info{uuid=\"00000000-0000-4000-8000-000000000001\""
               ",machine=\"made-4c-avx512\",suite=\"quick\",commit=\""
               "feedbeef\",branch=\"main\",version=\"0.1.0\"} 1 "
               "1790086400.000\n");
    assert_has(out.data,
               "# TYPE harness_latency_p50_seconds gauge\n"
               "# UNIT harness_latency_p50_seconds seconds\n");
    assert_has(out.data,
               "dim_batch=\"4\",dim_seq=\"64\",dim_n=\"192\",dim_k=\"48\"} "
               "1 1790086400.000\n"); /* of harness_ok */
    assert_has(out.data,
               "harness_run_start_time_seconds{machine=\"made-4c-avx512\"} 1790086400.000");
    assert_lacks(out.data, "old"); /* the newest run alone */
    assert_lacks(out.data, "nan");
    assert_lacks(out.data, "tokens_per_second"); /* no benchmark has any */
    strbuf_release(&out);
}

RECORDS_TEST(the_median_is_in_seconds)
{
    struct strbuf out;

    made_run(r, 0, "", "");
    struct measurement *m = made_measurement(r, 0, 0, key, 1, 0, 1, 1);
    m->samples[0] = 2500;
    m->batch = 2;
    strbuf_init(&out);
    openmetrics_add(r, -1, &out);
    assert_has(out.data, "} 1.25e-06 1790000000.000\n");
    strbuf_release(&out);
}

RECORDS_TEST(names_cannot_break_out)
{
    static const char *const names[] = {
        "a\"b",    "a\\",  "line\nbreak",   "tab\tbed",   "} 1 2\n# EOF", "\xff\xfe",
        "größe",   "",     "x/a.b=1,a-b=2", "x/9lives=1", "x/größe=3",    "{}",
        "a=b,c=d", "\"\"", "x/__name__=1",
    };
    struct reader reader;
    struct strbuf out;

    int run = made_run(r, 0, "c\"\\\n", "gcc");
    snprintf(r->runs[run].label, sizeof(r->runs[run].label), "l\"\n\\");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        made_measurement(r, 0, 0, names[i], 2e6, 0.02, 5, i);
    strbuf_init(&out);
    openmetrics_add(r, -1, &out);
    read_all(&out, false, &reader);
    assert_true(reader.samples > 9 * sizeof(names) / sizeof(names[0]));
    const size_t samples = reader.samples;
    strbuf_clear(&out);
    prometheus_add(r, -1, &out);
    read_all(&out, true, &reader);
    assert_int_equal(reader.samples, samples);
    strbuf_release(&out);
}

/* What is scraped from the live page: a run, and what was decided about it. */
RECORDS_TEST(decisions_are_counts)
{
    struct comparison c = { .nr = 3 };
    struct trends t = { .settings.metric = metric_find("p50", NULL), .standing = 2 };
    struct reader reader;
    struct strbuf out;

    made_run(r, 0, "feedbeef", "gcc");
    made_measurement(r, 0, 0, key, 2e6, 0.02, 5, 1);
    c.count[VERDICT_REGRESSED] = 1;
    c.count[VERDICT_SAME] = 2;
    strbuf_init(&out);
    prometheus_add(r, -1, &out);
    prometheus_add_compared(&c, "a\"b", &out);
    prometheus_add_trends(&t, "a\"b", &out);
    read_all(&out, true, &reader);
    assert_has(out.data, "# TYPE harness_run_info gauge\nharness_run_info{");
    assert_has(out.data,
               "harness_compared_benchmarks{verdict=\"regressed\",machine=\"a\\\"b\"} 1\n");
    assert_has(out.data, "{verdict=\"broken\",machine=\"a\\\"b\"} 0\n");
    assert_has(out.data, "harness_regressions_standing{metric=\"p50\",machine=\"a\\\"b\"} 2\n");
    strbuf_release(&out);
}

/* Numbers that programs say: the name ends in the unit that Prometheus has for it. */
RECORDS_TEST(own_metrics_have_legal_names)
{
    static const struct {
        const char *name, *unit;
        double value;
        const char *family, *said; /* the value at the end of its labels */
    } cases[] = {
        { "rate", "Mops/s", 41.5, "harness_own_rate_mops_per_second", "} 41.5 " },
        { "lat", "ms", 2, "harness_own_lat_seconds", "} 0.002 " },
        { "seconds", "s", 3, "harness_own_seconds", "} 3 " },
        { "disk", "MB/s", 7, "harness_own_disk_bytes_per_second", "} 7000000 " },
        { "per", "1/ms", 4, "harness_own_per_1_per_second", "} 4000 " },
        { "share", "%", 50, "harness_own_share_ratio", "} 0.5 " },
        { "odd", "°C \"x\\/µs", 6, "harness_own_odd_c_x_per_second", "} 6000000 " },
        { "none", "", 8, "harness_own_none", "} 8 " },
        { "strange", "°", 9, "harness_own_strange", "} 9 " },
        { "twin", "a-b", 10, "harness_own_twin_a_b", "} 10 " },
        { "twin", "a b", 11, "harness_own_twin_2_a_b", "} 11 " },
    };
    enum { NR = sizeof(cases) / sizeof(cases[0]) };
    struct reader reader;
    struct strbuf out, start;
    struct error err;

    made_run(r, 0, "feedbeef", "gcc");
    struct measurement *m = made_measurement(r, 0, 0, key, 2e6, 0.02, 5, 1);
    for (size_t i = 0; i < NR; i++) {
        struct number *n = &m->numbers[m->nr_numbers++];
        n->kind = number_kind_of(cases[i].name, cases[i].unit, BETTER_HIGHER, &err);
        assert_non_null(n->kind);
        n->values = memory_zeroed(1, sizeof(*n->values));
        n->values[n->nr++] = cases[i].value;
    }
    strbuf_init(&out);
    strbuf_init(&start);
    openmetrics_add(r, -1, &out);
    read_all(&out, false, &reader);
    for (size_t i = 0; i < NR; i++) {
        strbuf_clear(&start);
        strbuf_addf(&start, "\n%s{", cases[i].family);
        const char *sample = strstr(out.data, start.data);
        if (!sample)
            fail_msg("no %s in\n%s", cases[i].family, out.data);
        const char *end = strstr(sample, "} ");
        assert_non_null(end);
        assert_int_equal(strncmp(end, cases[i].said, strlen(cases[i].said)), 0);
    }
    assert_has(out.data, "rate, as programs say it, there in Mops/s; higher is better.\n");
    strbuf_clear(&out);
    prometheus_add(r, -1, &out);
    read_all(&out, true, &reader);
    strbuf_release(&start);
    strbuf_release(&out);
}

/* What was never timed has its numbers all the same. */
RECORDS_TEST(own_metrics_need_no_time)
{
    struct reader reader;
    struct strbuf out;
    struct error err;

    made_run(r, 0, "", "");
    struct measurement *m = made_measurement(r, 0, 0, key, 2e6, 0, 1, 1);
    m->nr_samples = 0;
    m->numbers[0] = (struct number) { number_kind_of("alone", "", BETTER_NONE, &err),
                                      memory_zeroed(1, sizeof(double)), 1 };
    m->nr_numbers = 1;
    strbuf_init(&out);
    openmetrics_add(r, -1, &out);
    read_all(&out, false, &reader);
    assert_has(out.data, "\nharness_own_alone{");
    assert_lacks(out.data, "harness_latency");
    strbuf_release(&out);
}

TEST(nothing_is_an_end)
{
    struct records r = { 0 };
    struct strbuf out;

    strbuf_init(&out);
    openmetrics_add(&r, -1, &out);
    assert_string_equal(out.data, "# EOF\n");
    strbuf_clear(&out);
    prometheus_add(&r, -1, &out);
    assert_string_equal(out.data, "");
    strbuf_release(&out);
}

RUN_TESTS(NULL, NULL)
