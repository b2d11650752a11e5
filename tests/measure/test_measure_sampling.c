/* SPDX-License-Identifier: MIT */
/* When sampling ends, how many launches make a sample, when warm-up may end, and the settings as
 * JSON. Features: S0-02, S0-14. */
#include "testing.h"

#include "base/json.h"
#include "measure/sampling.h"
#include "measure/steady.h"
#include "measure/warmup.h"
#include "stats/random.h"

#include <math.h>
#include <stdlib.h>

enum { MANY = 1000 };

static const struct sampling rule = {
    .min_time = 0.1,
    .max_time = 1,
    .warmup = 0.01,
    .precision = 0.01,
    .min_samples = 20,
    .max_samples = MANY,
};

static void fill(uint64_t *samples, double median, double sd)
{
    struct random r;

    random_seed(&r, 1);
    for (int i = 0; i < MANY; i++)
        samples[i] = (uint64_t)llround(median * exp(sd * random_normal(&r)));
}

TEST(steady_samples_end_by_precision)
{
    uint64_t samples[MANY];

    fill(samples, 1e6, 0.001);
    assert_int_equal(sampling_decide(&rule, samples, 19, 0.5), STOP_NONE);  /* too few */
    assert_int_equal(sampling_decide(&rule, samples, 20, 0.09), STOP_NONE); /* too short */
    assert_int_equal(sampling_decide(&rule, samples, 20, 0.1), STOP_PRECISION);
    assert_int_equal(sampling_decide(&rule, samples, 0, 0), STOP_NONE);
}

/* Half the interval of the median of n samples is about 1.96 * 1.25 * sd / sqrt(n): for sd 20 %
 * it comes under 1 % between 1200 and 4800 samples, so never here; under 5 % between 48 and 192. */
TEST(wide_samples_take_longer)
{
    struct sampling coarse = rule;
    uint64_t samples[MANY];

    fill(samples, 1e6, 0.2);
    coarse.precision = 0.05;
    assert_int_equal(sampling_decide(&rule, samples, MANY - 1, 0.9), STOP_NONE);
    assert_int_equal(sampling_decide(&coarse, samples, 30, 0.9), STOP_NONE);
    assert_int_equal(sampling_decide(&coarse, samples, 400, 0.9), STOP_PRECISION);
}

TEST(time_and_count_end_it_too)
{
    struct sampling exact = rule;
    uint64_t samples[MANY];

    fill(samples, 1e6, 0.5);
    assert_int_equal(sampling_decide(&rule, samples, 2, 5), STOP_NONE); /* never under three */
    assert_int_equal(sampling_decide(&rule, samples, 3, 0.99), STOP_NONE);
    assert_int_equal(sampling_decide(&rule, samples, 3, 1), STOP_TIME);
    assert_int_equal(sampling_decide(&rule, samples, MANY, 0), STOP_SAMPLES);
    exact.iterations = 7;
    assert_int_equal(sampling_decide(&exact, samples, 6, 100), STOP_NONE);
    assert_int_equal(sampling_decide(&exact, samples, 7, 0), STOP_SAMPLES);
}

/* 200 clock steps a sample, by a power of two, and no more than needed. */
TEST(batches_reach_the_clock)
{
    static const double launches[] = { 0.5, 1, 3, 100, 4999, 5000, 1e9 }, steps[] = { 1, 25, 1000 };

    for (size_t i = 0; i < 7; i++) {
        for (size_t j = 0; j < 3; j++) {
            double wanted = 200 * steps[j];
            unsigned batch = sampling_batch(launches[i], steps[j]);
            assert_int_equal(batch & (batch - 1), 0);
            assert_true(launches[i] * batch >= wanted);
            assert_true(batch == 1 || launches[i] * (batch / 2) < wanted);
        }
    }
    assert_int_equal(sampling_batch(5000, 25), 1);
    assert_int_equal(sampling_batch(0, 25), 1 << 20); /* bounded */
}

/* ---- warm-up: scripted times, clock and power ---- */

/* A number that goes to `end` in a straight line until so many ms have passed. */
struct ramp {
    double start, end, until_ms;
};

static double ramp_at(const struct ramp *r, double ms)
{
    return ms >= r->until_ms ? r->end : r->start + (r->end - r->start) * ms / r->until_ms;
}

struct scripted_warm_up {
    const char *what;
    struct ramp launch_ms, mhz, watts; /* end 0: not to be seen */
    double least_ms, most_ms;          /* 0: the usual */
    double ends_ms;                    /* within half of the last window */
    bool settled, unknown;
    double ms; /* so far */
};

static struct clock_seen scripted_look(void *context)
{
    const struct scripted_warm_up *s = context;

    return (struct clock_seen) {
        .mhz = s->mhz.end > 0 ? ramp_at(&s->mhz, s->ms) : (double)NAN,
        .watts = s->watts.end > 0 ? ramp_at(&s->watts, s->ms) : (double)NAN,
    };
}

enum { LAUNCHES_MOST = 2000 };

static void warm_up_by_script(struct scripted_warm_up *s, struct warmup *w)
{
    const struct clock_eye eye = { .scripted = scripted_look, .context = s };
    const struct warmup_rule until = warmup_rule(s->least_ms * 1e-3, s->most_ms * 1e-3, &eye);
    uint64_t samples[LAUNCHES_MOST];
    size_t nr = 0;

    s->ms = 0;
    warmup_begin(w, &until);
    do {
        double ms = ramp_at(&s->launch_ms, s->ms);
        assert_true(nr < LAUNCHES_MOST);
        s->ms += ms;
        samples[nr++] = (uint64_t)(ms * 1e6);
    } while (!warmup_over(w, samples, nr, s->ms * 1e6));
}

TEST(warm_up_goes_on_until_all_has_settled)
{
    static struct scripted_warm_up rows[] = {
        { "steady from the start", .launch_ms = { .end = 1 }, .least_ms = 20, .ends_ms = 20,
          .settled = true },
        { "launches get faster for 30 ms", .launch_ms = { 2, 1, 30 }, .least_ms = 20, .ends_ms = 75,
          .settled = true },
        { "they do so for ever", .launch_ms = { 2, 1, 200 }, .least_ms = 20, .ends_ms = 80 },
        { "and there is more time", .launch_ms = { 2, 1, 200 }, .least_ms = 20, .most_ms = 900,
          .ends_ms = 480, .settled = true },
        { "the clock rises", .launch_ms = { .end = 1 }, .mhz = { 345, 1980, 50 }, .least_ms = 20,
          .most_ms = 300, .ends_ms = 115, .settled = true },
        { "by next to nothing", .launch_ms = { .end = 1 }, .mhz = { 1970, 1980, 50 },
          .least_ms = 20, .ends_ms = 20, .settled = true },
        { "the clock stands, the power does not", .launch_ms = { .end = 1 }, .mhz = { .end = 1980 },
          .watts = { 100, 700, 150 }, .least_ms = 20, .most_ms = 900, .ends_ms = 275,
          .settled = true },
        { "nor at the limit", .launch_ms = { .end = 1 }, .mhz = { .end = 1980 },
          .watts = { 100, 700, 900 }, .least_ms = 20, .most_ms = 600, .ends_ms = 600 },
        { "a limit below the least", .launch_ms = { .end = 1 }, .least_ms = 20, .most_ms = 8,
          .ends_ms = 8, .settled = true },
        { "launches longer than a window", .launch_ms = { .end = 9 }, .least_ms = 20, .ends_ms = 27,
          .settled = true },
        { "than all of it", .launch_ms = { .end = 100 }, .least_ms = 20, .ends_ms = 100,
          .unknown = true },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct warmup w;
        warm_up_by_script(&rows[i], &w);
        if (fabs(rows[i].ms - rows[i].ends_ms) > 2 + 0.15 * rows[i].ends_ms ||
            warmup_settled(&w) != rows[i].settled)
            fail_msg("%s: ended after %g ms, %ssettled", rows[i].what, rows[i].ms,
                     warmup_settled(&w) ? "" : "not ");
        struct measurement m = { .message = NULL };
        warmup_tell(&w, &m);
        double told = measurement_telemetry(&m, TELEMETRY_SETTLED);
        if (rows[i].unknown ? !isnan(told) : told != rows[i].settled)
            fail_msg("%s: %g is told", rows[i].what, told);
        measurement_release(&m);
    }
}

/* A GPU's driver needs longer to tell another number, and the GPU to settle. */
TEST(warm_up_of_a_gpu_is_looked_at_less_often)
{
    /* It is not looked at here. */
    const struct clock_eye gpu = { .gpu = (const struct nvml *)(const void *)&rule };
    struct warmup_rule until = warmup_rule(0.02, 0, &gpu);

    assert_true(until.window == 0.025 && until.most == 1 && until.least == 0.02);
    until = warmup_rule(0.02, 0, NULL);
    assert_true(until.window == 0.005 && until.most == 0.08);
    until = warmup_rule(0.02, 3, &gpu);
    assert_true(until.most == 3);
}

/* ---- a steady clock, look by look ---- */

struct looks {
    const char *at; /* '.' as wanted, '+' within the band, 'x' beyond it */
};

static struct clock_seen next_look(void *context)
{
    struct looks *l = context;
    char now = *l->at ? *l->at++ : '.';

    return (struct clock_seen) { now == 'x' ? 2500 : now == '+' ? 2980 : 3000, NAN };
}

TEST(windows_of_another_clock_do_not_count)
{
    static const struct {
        const char *looks;
        int samples; /* of 5 ms each: two are a window */
        size_t kept;
        unsigned again;
        bool fails;
    } rows[] = {
        { "....", 8, 8, 0, false }, { ".x.x", 8, 4, 2, false }, { "x...", 8, 6, 1, false },
        { "+.+.", 8, 8, 0, false }, { "xxxx", 8, 0, 4, false }, { "xxxxxxxxxxxx", 24, 0, 11, true },
        { "..", 5, 5, 0, false }, /* the last window is not whole yet */
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct looks looks = { rows[i].looks };
        const struct clock_eye eye = { .scripted = next_look, .context = &looks };
        struct steady s;
        struct error err = { "" };
        size_t nr = 0;
        double elapsed = 0;
        struct measurement m = { .nr_telemetry = 0 };
        assert_ok(steady_begin(&s, &eye, 3000, 0.1, &err), &err);
        for (int k = 0; k < rows[i].samples && !steady_is_lost(&s); k++) {
            nr++;
            elapsed += 5e6;
            steady_look(&s, false, &nr, &elapsed);
        }
        assert_int_equal(steady_end(&s, &m, &err), rows[i].fails ? -1 : 0);
        assert_true(rows[i].kept == 0 || measurement_telemetry(&m, TELEMETRY_CLOCK) > 2970);
        assert_int_equal(nr, rows[i].kept);
        assert_int_equal(s.again, rows[i].again);
        assert_true(elapsed == 5e6 * (double)rows[i].kept);
        if (rows[i].fails)
            assert_string_equal(err.message,
                                "--clock steady: the clock was beyond 1 % of 3000 MHz in 11 of 11 "
                                "windows, last 2500 MHz; hold it (`harness doctor`), or measure "
                                "with --clock free");
    }
}

static cJSON *parse(const char *text)
{
    struct error err = { "" };
    cJSON *json = json_parse(text, strlen(text), "text", &err);

    if (!json)
        fail_msg("%s", err.message);
    return json;
}

TEST(settings_round_trip)
{
    struct sampling s = rule, back = sampling_default;
    struct error err;

    s.iterations = 12;
    s.precision = 1.0 / 3;
    s.warmup_limit = 2;
    s.steady = true;
    cJSON *tree = sampling_to_json(&s);
    char *text = cJSON_PrintUnformatted(tree);
    cJSON *json = parse(text);
    assert_ok(sampling_from_json(json, &back, &err), &err);
    assert_memory_equal(&s, &back, sizeof(s));
    free(text);
    cJSON_Delete(json);
    cJSON_Delete(tree);
}

TEST(settings_keep_what_is_not_given)
{
    struct sampling s = sampling_default;
    struct error err;
    cJSON *json = parse("{\"min_time\": \"20ms\", \"max_time\": 2, \"precision\": \"2%\"}");

    assert_ok(sampling_from_json(json, &s, &err), &err);
    assert_close(s.min_time, 0.02, 1e-12);
    assert_close(s.max_time, 2, 0);
    assert_close(s.precision, 0.02, 1e-12);
    assert_true(s.warmup == sampling_default.warmup);
    assert_int_equal(s.min_samples, sampling_default.min_samples);
    assert_int_equal(s.max_samples, sampling_default.max_samples);
    cJSON_Delete(json);
}

TEST(bad_settings_are_refused)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "5", "sampling: not a JSON object" },
        { "[]", "sampling: not a JSON object" },
        { "{\"min_tme\": 1}", "unknown key \"min_tme\"; did you mean \"min_time\"?" },
        { "{\"min_time\": \"soon\"}", "min_time: \"soon\" is not a duration" },
        { "{\"min_time\": true}", "\"min_time\" is neither a number nor a text" },
        { "{\"min_time\": -1}", "sampling times must be positive" },
        { "{\"warmup\": -1}", "sampling times must be positive" },
        { "{\"warmup_limit\": -1}", "sampling times must be positive" },
        { "{\"clock\": \"held\"}", "\"clock\" is \"free\" or \"steady\", not \"held\"" },
        { "{\"min_time\": 2, \"max_time\": 1}", "max_time not under min_time" },
        { "{\"max_time\": 1e999}", "sampling times must not be over" },
        { "{\"precision\": \"tight\"}", "precision: \"tight\" is not a share" },
        { "{\"precision\": -0.1}", "\"precision\" must be from 0" },
        { "{\"precision\": 2}", "\"precision\" must be from 0" },
        { "{\"min_samples\": 0}", "sample counts must be positive" },
        { "{\"min_samples\": 2.5}", "\"min_samples\" is not a whole number" },
        { "{\"max_samples\": \"many\"}", "\"max_samples\" is missing or not a number" },
        { "{\"max_samples\": 5, \"min_samples\": 6}", "max_samples not under min_samples" },
        { "{\"iterations\": -1}", "sample counts must be positive" },
        { "{\"iterations\": 1000001}", "\"iterations\" must not be over 1000000" },
        { "{\"max_samples\": 2200000}", "\"max_samples\" must not be over 1000000" },
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct sampling s = sampling_default;
        struct error err = { "" };
        cJSON *json = parse(bad[i].text);
        if (sampling_from_json(json, &s, &err) != -1)
            fail_msg("accepted: %s", bad[i].text);
        if (!strstr(err.message, bad[i].says))
            fail_msg("%s: %s", bad[i].text, err.message);
        cJSON_Delete(json);
    }
}

RUN_TESTS(NULL, NULL)
