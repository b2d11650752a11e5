/* SPDX-License-Identifier: MIT */
/* When sampling ends, how many launches make a sample, when warm-up may end, and the settings as
 * JSON. Features: S0-02, S0-14. */
#include "testing.h"

#include "base/json.h"
#include "measure/sampling.h"
#include "measure/warmup.h"
#include "stats/random.h"

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

TEST(warm_up_ends_when_stable)
{
    uint64_t falling[100], steady[100];

    for (uint64_t i = 0; i < 100; i++) {
        falling[i] = 2000 - 10 * i;
        steady[i] = 1000 + i % 7;
    }
    assert_false(warmup_is_stable(steady, 0));
    assert_false(warmup_is_stable(steady, 5)); /* too few to tell */
    assert_true(warmup_is_stable(steady, 6));
    assert_true(warmup_is_stable(steady, 99));
    assert_false(warmup_is_stable(falling, 100));
    steady[3] = 1000000; /* one outlier changes no median */
    assert_true(warmup_is_stable(steady, 99));
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
