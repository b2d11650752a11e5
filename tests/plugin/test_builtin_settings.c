/* SPDX-License-Identifier: MIT */
/* Settings of this build's own variants: every one of them, and those that are named. */
#include "testing.h"

#include "core/registry.h"
#include "plugin/builtin_settings.h"

static const struct kernel kernel = { .name = "gemm/nt" };

static const char *const sliced[] = { "depth=0,64", "height=0,2", NULL };
static const char *const tiled[] = { "tile=0,1,10", "split=0,2", NULL };

static const struct variant with_params[] = {
    { .name = "simd", .kernel = &kernel, .params = sliced },
    { .name = NULL },
};
static const struct variant forced_elsewhere[] = {
    { .name = "cuda_simt", .kernel = &kernel },
    { .name = NULL },
};
static const struct variant forcing[] = {
    { .name = "cuda_simt", .kernel = &kernel, .params = tiled },
    { .name = NULL },
};
static const struct variant *const files[] = { with_params, forced_elsewhere, NULL };
static const struct variant *const forced[] = { forcing, NULL };
static const struct registry registry = { .variant_files = files, .forced = forced };

/* Of a variant whose numbers are forced, 0 is its own plan: that is checked without a setting, and
 * raced by who names it. */
TEST(every_setting_and_those_named)
{
    static const struct {
        const char *asked;
        const char *names[8];
    } cases[] = {
        { BUILTIN_SETTINGS_EVERY,
          { "simd:depth=0:height=0", "simd:depth=0:height=2", "simd:depth=64:height=0",
            "simd:depth=64:height=2", "cuda_simt:tile=1:split=2", "cuda_simt:tile=10:split=2" } },
        { "tile=0,split=2", { "cuda_simt:tile=0:split=2" } },
        { "tile=0,split=0", { "cuda_simt:tile=0:split=0" } },
        { "tile=1", { "cuda_simt:tile=1" } },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct string_list asked = { 0 };
        struct builtin_settings b;
        struct error err;
        string_list_add(&asked, cases[i].asked);
        if (builtin_settings_open(&b, &registry, &asked, &err))
            fail_msg("%s", err.message);
        for (size_t j = 0; j < b.nr; j++)
            assert_string_equal(b.variants[j].name, cases[i].names[j]);
        assert_null(cases[i].names[b.nr]);
        builtin_settings_close(&b);
        string_list_release(&asked);
    }
}

RUN_TESTS(NULL, NULL)
