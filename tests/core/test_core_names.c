/* SPDX-License-Identifier: MIT */
/* Keys of benchmarks, there and back over the whole registry; foreign keys; finding kernels and
 * variants. Features: U-03, U-04, S0-01. */
#include "same_records.h"

#include "base/text.h"
#include "core/benchmark.h"
#include "core/names.h"
#include "core/registry.h"

#include <stdbool.h>
#include <stdlib.h>

static const struct device devices[] = {
    { .kind = DEVICE_CPU, .label = "cpu-2t" },
    { .kind = DEVICE_CPU, .label = "cpu-128t" },
    { .kind = DEVICE_CUDA, .label = "cuda" },
};

static void assert_round_trip(const struct variant *v, const struct shape *shape)
{
    for (size_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
        for (int cache = 0; cache < CACHE_NR; cache++) {
            struct benchmark b = { v, *shape, (enum cache_state)cache, NULL };
            struct benchmark_name name, parsed;
            struct error err;
            benchmark_name_of(&b, &devices[d], &name);
            assert_ok(benchmark_name_parse(name.key, &parsed, &err), &err);
            assert_same_name(&name, &parsed);
            assert_string_equal(name.kernel, v->kernel->name); /* nothing was cut */
            assert_string_equal(name.variant, v->name);
            assert_true(text_filter_matches(name.key, name.key));
            assert_true(text_filter_matches(v->kernel->name, name.key));
        }
    }
}

static void keys_without_dims_parse_back(void **state)
{
    (void)state;
    static const struct kernel kernel = { .name = "command/sort" };
    static const struct variant variant = { .name = "exec", .kernel = &kernel, .math = MATH_NONE };
    const struct shape none = { { 0 } };

    assert_round_trip(&variant, &none);
}

static void keys_parse_back_over_the_whole_registry(void **state)
{
    (void)state;
    const struct registry *r = registry_builtin();
    const struct variant *v;
    size_t variants = 0;

    for (; (v = registry_variant_at(r, variants)); variants++) {
        const struct kernel *k = v->kernel;
        struct shape largest = { { 0 } };
        for (size_t i = 0; i < k->nr_shapes; i++)
            assert_round_trip(v, &k->shapes[i]);
        for (size_t i = 0; i < k->nr_test_shapes; i++)
            assert_round_trip(v, &k->test_shapes[i]);
        for (int i = 0; i < kernel_nr_dims(k); i++)
            largest.dim[i] = DIM_LIMIT;
        assert_round_trip(v, &largest); /* no key is cut, however large the dims */
    }
    assert_true(variants > 10);
}

static void a_key_in_full(void **state)
{
    (void)state;
    const struct variant *v = registry_variant(registry_builtin(), "gemm/linear", "naive");
    struct benchmark b = { v, { { 4, 64, 192, 48 } }, CACHE_COLD, NULL };
    struct benchmark_name name;

    assert_non_null(v);
    benchmark_name_of(&b, &devices[0], &name);
    assert_string_equal(name.key, "gemm/linear/naive/fp32/batch=4,seq=64,n=192,k=48/cpu-2t/cold");
    assert_int_equal(benchmark_name_dim(&name, "n", -1), 192);
    assert_int_equal(benchmark_name_dim(&name, "heads", -1), -1);
    assert_string_equal(name.fill, "");
    assert_string_equal(benchmark_name_fill(&name), "normal");
}

static void fill_is_a_part_of_its_own(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int cache; /* -1: the key is somebody else's */
        const char *fill;
    } rows[] = {
        { "warm", CACHE_WARM, "" },
        { "warm+zeros", CACHE_WARM, "zeros" },
        { "rotate+file-1f3a55c0", CACHE_ROTATE, "file-1f3a55c0" },
        { "cold+file-1f3a55c012", CACHE_COLD, "file-1f3a55c012" },
        { "warm+bias=zeros,x=file-1f3a55c0", CACHE_WARM, "bias=zeros,x=file-1f3a55c0" },
        { "cold+", -1, "" },
        { "tepid+zeros", -1, "" },
        { "coldandverylong+zeros", -1, "" },
        { "warm+longerthanthereisroomlongerthanthereisroomindeed", -1, "" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct benchmark_name name;
        struct error err;
        char key[KEY_SIZE];
        snprintf(key, sizeof(key), "gemm/nt/simd/fp32/m=1/cpu-2t/%s", rows[i].text);
        assert_ok(benchmark_name_parse(key, &name, &err), &err);
        assert_string_equal(name.key, key);
        assert_int_equal(cache_state_find(name.cache), rows[i].cache);
        assert_string_equal(name.fill, rows[i].fill);
        assert_string_equal(name.device, rows[i].cache < 0 ? "" : "cpu-2t");
    }
}

/* Keys that an import brings: usable as they are. */
static void foreign_keys_are_kept_whole(void **state)
{
    (void)state;
    static const char *const foreign[] = {
        "BM_StringCopy/1024",
        "",
        "a/b/c/d/e/f", /* no cache state at the end */
        "gemm/naive/fp32/batch=4/cpu-2t/tepid",
        "gemm/naive/fp32/batch/cpu-2t/warm", /* a dim without a value */
        "gemm/naive/fp32/batch=x/cpu-2t/warm",
        "gemm/naive/fp32/batch=99999999999999999999/cpu-2t/warm",
        "naive/fp32/batch=4/cpu-2t/warm", /* one part too few */
        "k/v/m/a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9/d/warm",
        "BM_<float>/with spaces, commas=and/equals",
        "/arg=8", /* sizes of nothing */
        "BM_Sort/=8",
        "BM_Sort/arg=8,",
        "BM_Sort/arg=8/quick",
    };

    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        struct benchmark_name name;
        struct error err;
        memset(&name, 0x55, sizeof(name));
        assert_ok(benchmark_name_parse(foreign[i], &name, &err), &err);
        assert_string_equal(name.key, foreign[i]);
        assert_string_equal(name.kernel, foreign[i]);
        assert_string_equal(name.variant, "");
        assert_string_equal(name.math, "");
        assert_string_equal(name.device, "");
        assert_string_equal(name.cache, "");
        assert_string_equal(benchmark_name_fill(&name), "");
        assert_int_equal(name.nr_dims, 0);
        assert_int_equal(benchmark_name_dim(&name, "batch", 7), 7);
    }
}

/* The other form that an import makes: a name with sizes. */
static void foreign_sizes_are_dims(void **state)
{
    struct benchmark_name name;
    struct error err;

    (void)state;
    assert_ok(benchmark_name_parse("BM<a/b>/real_time/arg=8,threads=-2", &name, &err), &err);
    assert_string_equal(name.key, "BM<a/b>/real_time/arg=8,threads=-2");
    assert_string_equal(name.kernel, "BM<a/b>/real_time");
    assert_string_equal(name.variant, "");
    assert_int_equal(name.nr_dims, 2);
    assert_int_equal(benchmark_name_dim(&name, "arg", 0), 8);
    assert_int_equal(benchmark_name_dim(&name, "threads", 0), -2);
}

static void long_keys(void **state)
{
    (void)state;
    char key[KEY_SIZE + 1];
    struct benchmark_name name;
    struct error err;

    memset(key, 'k', sizeof(key));
    key[KEY_SIZE - 1] = '\0';
    assert_ok(benchmark_name_parse(key, &name, &err), &err);
    assert_string_equal(name.key, key);
    assert_int_equal(strlen(name.kernel), NAME_SIZE - 1);
    key[KEY_SIZE - 1] = 'k';
    key[KEY_SIZE] = '\0';
    assert_int_equal(benchmark_name_parse(key, &name, &err), -1);
    assert_string_equal(err.message, "a benchmark key has 256 characters, more than 255");
}

static void names_are_found_whole(void **state)
{
    (void)state;
    static const char *const names[] = { "warm", "cold", "", "warm", "rotate" };
    static const struct {
        const char *name;
        size_t nr; /* of the names that are looked at */
        int place;
    } cases[] = {
        { "warm", 5, 0 }, { "rotate", 5, 4 },  { "rotate", 4, -1 }, { "", 5, 2 },
        { "war", 5, -1 }, { "warmer", 5, -1 }, { "Warm", 5, -1 },   { "warm", 0, -1 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(name_find(names, cases[i].nr, cases[i].name), cases[i].place);
}

static void an_ending_has_something_before_it(void **state)
{
    (void)state;
    static const struct {
        const char *name, *ending;
        bool has;
    } cases[] = {
        { "a.json", ".json", true },
        { "x/.json", ".json", true },
        { ".json", ".json", false },
        { "son", ".json", false },
        { "", ".json", false },
        { "a.json ", ".json", false },
        { "cuda-graph", "-graph", true },
        { "-graph", "-graph", false },
        { "a/", "/", true },
        { "a.json.gz", ".json", false },
        { "/", "/", false },
        { "a.JSON", ".json", false },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(name_has_ending(cases[i].name, cases[i].ending), cases[i].has);
}

static const char *key_at(const void *keys, size_t i)
{
    return ((const char *const *)keys)[i];
}

static void a_filter_fits_any_key_or_none(void **state)
{
    (void)state;
    static const char *const keys[] = { "gemm/nn/simd", "gpt/nano/generate" };
    static const struct {
        const char *filter;
        size_t nr;
        bool fits;
    } rows[] = {
        { "gemm", 2, true },   { "gpt/nano", 2, true }, { "gpt", 1, false },
        { "conv", 2, false },  { "!gemm", 2, true },    { "!gpt", 2, true },
        { "!conv", 2, false }, { "gemm", 0, false },    { "!", 2, false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (name_filter_fits_any(rows[i].filter, key_at, keys, rows[i].nr) != rows[i].fits)
            fail_msg("\"%s\" of %zu: %d", rows[i].filter, rows[i].nr, !rows[i].fits);
}

static void cache_states(void **state)
{
    (void)state;
    assert_string_equal(cache_state_name(CACHE_WARM), "warm");
    assert_string_equal(cache_state_name(CACHE_COLD), "cold");
    assert_string_equal(cache_state_name(CACHE_ROTATE), "rotate");
    assert_int_equal(cache_state_find("rotate"), CACHE_ROTATE);
    assert_int_equal(cache_state_find("tepid"), -1);
}

/* Every kernel and variant is found by its name, and no two have the same. */
static void the_registry_is_consistent(void **state)
{
    (void)state;
    const struct registry *r = registry_builtin();
    const struct kernel *k;
    const struct variant *v;

    for (size_t i = 0; (k = registry_kernel_at(r, i)); i++) {
        assert_ptr_equal(registry_kernel(r, k->name), k);
        assert_true(kernel_nr_dims(k) > 0 && k->nr_shapes > 0 && k->nr_test_shapes > 0);
        assert_true(k->summary && k->work && k->layout && k->oracle && k->oracle_cost &&
                    k->tolerance);
        assert_null(strpbrk(k->name, " ,="));
    }
    for (size_t i = 0; (v = registry_variant_at(r, i)); i++) {
        assert_ptr_equal(registry_variant(r, v->kernel->name, v->name), v);
        assert_ptr_equal(registry_kernel(r, v->kernel->name), v->kernel);
        assert_true(v->launch && v->summary && v->math < MATH_NR);
        assert_null(strpbrk(v->name, " ,=/"));
    }
    assert_null(registry_kernel(r, "gemm"));
    assert_null(registry_variant(r, "gemm/linear", "nonsense"));
    assert_null(registry_variant(r, "nonsense", "naive"));
}

static void all_six_models_are_there(void **state)
{
    (void)state;
    static const char *const models[] = { "nano",       "micro",       "mini",
                                          "tile-small", "tile-medium", "tile-large" };
    char name[64];

    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        snprintf(name, sizeof(name), "gpt/%s/prefill", models[i]);
        assert_non_null(registry_kernel(registry_builtin(), name));
        snprintf(name, sizeof(name), "gpt/%s/decode", models[i]);
        assert_non_null(registry_kernel(registry_builtin(), name));
    }
}

static void an_empty_registry_has_nothing(void **state)
{
    (void)state;
    static const struct kernel *const *const operations[] = { NULL };
    static const struct variant *const files[] = { NULL };
    static const struct registry empty = { operations, files, NULL, NULL, NULL, NULL };

    assert_null(registry_kernel_at(&empty, 0));
    assert_null(registry_variant_at(&empty, 0));
    assert_null(registry_kernel(&empty, "gemm/linear"));
}

/* Each default and test shape describes tensors that fit the contract. */
static void layouts_fit_the_contract(void **state)
{
    (void)state;
    const struct kernel *k;

    for (size_t i = 0; (k = registry_kernel_at(registry_builtin(), i)); i++) {
        for (size_t j = 0; j < k->nr_shapes + k->nr_test_shapes; j++) {
            const struct shape *s =
                j < k->nr_shapes ? &k->shapes[j] : &k->test_shapes[j - k->nr_shapes];
            struct tensor t[TENSOR_MAX] = { { 0 } };
            int nr = k->layout(k, s, DTYPE_FP32, t);
            struct work w = k->work(k, s, DTYPE_FP32, MATH_FP32);
            assert_true(nr > 0 && nr <= TENSOR_MAX && kernel_output(t, nr) >= 0);
            for (int d = 0; d < kernel_nr_dims(k); d++)
                assert_true(s->dim[d] >= 1 && s->dim[d] <= DIM_LIMIT);
            assert_true(w.flops >= 0 && w.bytes > 0);
            assert_true(kernel_footprint(k, s, DTYPE_FP32) < INT64_MAX);
            assert_true(k->tolerance(k, s, DTYPE_FP32, MATH_FP32) >= 0);
            assert_true(!k->refuses || !k->refuses(k, s));
            for (int n = 0; n < nr; n++)
                assert_true(t[n].name && !t[n].data && tensor_bytes(&t[n]) > 0 &&
                            (t[n].fill != FILL_KERNEL || k->fill));
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_parse_back_over_the_whole_registry),
        cmocka_unit_test(keys_without_dims_parse_back),
        cmocka_unit_test(a_key_in_full),
        cmocka_unit_test(fill_is_a_part_of_its_own),
        cmocka_unit_test(foreign_keys_are_kept_whole),
        cmocka_unit_test(foreign_sizes_are_dims),
        cmocka_unit_test(long_keys),
        cmocka_unit_test(names_are_found_whole),
        cmocka_unit_test(an_ending_has_something_before_it),
        cmocka_unit_test(a_filter_fits_any_key_or_none),
        cmocka_unit_test(cache_states),
        cmocka_unit_test(the_registry_is_consistent),
        cmocka_unit_test(all_six_models_are_there),
        cmocka_unit_test(an_empty_registry_has_nothing),
        cmocka_unit_test(layouts_fit_the_contract),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
