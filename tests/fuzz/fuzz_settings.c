/* SPDX-License-Identifier: MIT */
/* What people and pages set: harness.json, presets, suites, expressions; and JSON that is read
 * beside. */
#include "fuzz.h"

#include "chart/base/profile_facts.h"
#include "chart/config.h"
#include "chart/preset.h"
#include "launch/selection.h"
#include "metrics/expression.h"
#include "session/measure/sharding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* chart/config.h: harness.json. What it says, merged, is a valid one again. */
FUZZ_TARGET(config)
{
    struct config config, again;
    struct error err;

    FUZZ_OK(config_init(&config, &err), &err);
    if (config_parse(&config, (const char *)data, size, "text", &err) == 0 && !config.alone) {
        FUZZ_CHECK(config.delta >= 0 && config.delta < 10);
        char *text = json_take_text(config_to_json(&config));
        FUZZ_OK(config_init(&again, &err), &err);
        FUZZ_OK(config_parse(&again, text, strlen(text), "text", &err), &err);
        config_release(&again);
        free(text);
    }
    config_release(&config);
}

/* chart/preset.h: a figure's preset, from a file or from the page. */
FUZZ_TARGET(preset)
{
    struct preset preset, again;
    struct error err;

    if (preset_parse(&preset, (const char *)data, size, "text", &err))
        return;
    preset_takes(&preset, "gemm/linear/simd/fp32/batch=1,seq=64/cpu-2t/warm");
    char *text = json_take_text(preset_to_json(&preset));
    FUZZ_OK(preset_parse(&again, text, strlen(text), "text", &err), &err);
    char *same = json_take_text(preset_to_json(&again));
    FUZZ_CHECK(strcmp(text, same) == 0);
    free(text);
    free(same);
    preset_release(&preset);
    preset_release(&again);
}

/* launch/selection.h: a suite file. */
FUZZ_TARGET(suite)
{
    struct suite suite;
    struct error err;

    if (suite_load(&suite, fuzz_file(data, size), &err) == 0)
        FUZZ_CHECK(suite.nr > 0 && suite.launches >= 1);
    suite_release(&suite);
}

/* session/measure/sharding.h: how long benchmarks last, for --durations. */
FUZZ_TARGET(durations)
{
    static const char *const keys[] = { "gemm/nn/simd/fp32/batch=1,seq=512,n=512,k=512/cpu-1t/warm",
                                        "a" };
    double seconds[2] = { 0 };
    struct error err;

    if (durations_of_file(fuzz_file(data, size), keys, 2, seconds, &err) == 0)
        FUZZ_CHECK(!(seconds[0] < 0) && !(seconds[1] < 0));
}

/* chart/base/profile_facts.h: profile.json. */
FUZZ_TARGET(profile_json)
{
    struct profile_facts facts;
    struct error err;

    if (profile_facts_read(fuzz_file(data, size), &facts, &err) == 0)
        FUZZ_CHECK(facts.cost.on >= 0 && facts.roofs.flops >= 0 && facts.launches >= 0);
}

static double value_of(void *context, const char *name)
{
    (void)context;
    FUZZ_CHECK(strlen(name) < EXPRESSION_NAME_SIZE);
    return name[0] == 'n' ? (double)NAN : (double)strlen(name) - 3;
}

/* metrics/expression.h: arithmetic over metrics, from presets and from the page. */
FUZZ_TARGET(expression)
{
    char *text = fuzz_text(data, size);
    struct error err;
    struct expression *e = expression_parse(text, NULL, NULL, &err);

    if (e) {
        double value = expression_value(e, value_of, NULL);
        FUZZ_CHECK(isnan(value) || isfinite(value));
    }
    expression_is_plain(text);
    expression_free(e);
    free(text);
}
