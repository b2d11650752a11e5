/* SPDX-License-Identifier: MIT */
/*
 * The tables of a plugin: what is right is taken over as it is, and each way of being malformed is
 * refused with words that name it. Loading is tested in tests/cli/plugin.sh. Feature: U-11.
 */
#include "testing.h"

#include "base/memory.h"
#include "plugin/guest_settings.h"
#include "plugin/plugin_parts.h"
#include "plugin/registry_join.h"
#include "text/name.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int32_t layout(const int64_t *size, int32_t dtype, struct harness_tensor *t)
{
    t[0] = (struct harness_tensor) {
        .name = "x", .rank = 1, .extent = { size[0] }, .dtype = dtype, .scale = 1
    };
    t[1] = t[0];
    t[1].name = "y";
    t[1].role = HARNESS_OUT;
    return 2;
}

static void oracle(const int64_t *size, const struct harness_tensor *t, int32_t output,
                   const int64_t *rows, size_t nr_rows, double *expected)
{
    (void)output, (void)rows, (void)nr_rows;
    for (int64_t i = 0; i < size[0]; i++)
        expected[i] = ((const double *)t[0].data)[i];
}

static double tolerance(const int64_t *size, int32_t dtype)
{
    return 1e-3 * (double)size[1] + dtype;
}

static void launch(const struct harness_call *call)
{
    memcpy(call->tensor[1].data, call->tensor[0].data, 8 * (size_t)call->size[0]);
}

static int state_of_theirs, prepared, released;

static int prepare(struct harness_call *call, char *why, size_t room)
{
    prepared++;
    call->state = &state_of_theirs;
    if (call->size[0] == 7) {
        snprintf(why, room, "seven is not for %d threads", (int)call->threads);
        return HARNESS_UNSUPPORTED;
    }
    return call->size[0] == 8 ? -1 : 0;
}

static void release(struct harness_call *call)
{
    assert_ptr_equal(call->state, &state_of_theirs);
    released++;
}

static const char *refuses(const int64_t *size)
{
    return size[0] > size[1] ? "n is larger than m" : NULL;
}

/* Tables that a test may spoil. */
struct tables {
    struct harness_plugin plugin;
    struct harness_kernel kernels[2];
    struct harness_variant variants[2];
    const char *dims[9];
    int64_t sizes[4];
};

static void make(struct tables *t)
{
    *t = (struct tables) {
        .plugin = { HARNESS_PLUGIN_ABI, sizeof(struct harness_plugin),
                    sizeof(struct harness_kernel), sizeof(struct harness_variant),
                    sizeof(struct harness_tensor), sizeof(struct harness_call), t->kernels, 1,
                    NULL },
        .variants = { { .name = "one", .dtype = HARNESS_FP64, .launch = launch },
                      { .name = "two",
                        .dtype = HARNESS_FP64,
                        .vendor = 1,
                        .device = HARNESS_FAKE,
                        .prepare = prepare,
                        .launch = launch,
                        .release = release } },
        .dims = { "n", "m" },
        .sizes = { 4, 5, 6, 7 },
    };
    t->kernels[0] = (struct harness_kernel) {
        .name = "mine/copy",
        .dims = t->dims,
        .nr_dims = 2,
        .sizes = t->sizes,
        .nr_sizes = 2,
        .layout = layout,
        .oracle = oracle,
        .tolerance = tolerance,
        .refuses = refuses,
        .variants = t->variants,
        .nr_variants = 2,
    };
    t->kernels[1] = t->kernels[0];
}

/* As the loader does. */
static int take_and_check(const struct tables *t, struct error *err)
{
    struct plugin_own own = { .library = NULL };
    int rc = plugin_take(&own, &t->plugin, err) || plugin_check(own.table, err) ? -1 : 0;

    plugin_taken_drop(&own);
    return rc;
}

typedef void spoiler(struct tables *t);

static void assert_refused(spoiler *spoil, const char *says)
{
    struct tables t;
    struct error err = { "" };

    make(&t);
    assert_ok(take_and_check(&t, &err), &err);
    spoil(&t);
    assert_int_equal(take_and_check(&t, &err), -1);
    if (!strstr(err.message, says))
        fail_msg("\"%s\" is not in: %s", says, err.message);
}

#define SPOIL(name_, statement_)                                                                   \
    static void name_(struct tables *t)                                                            \
    {                                                                                              \
        statement_;                                                                                \
    }

SPOIL(other_abi, t->plugin.abi = 4)
SPOIL(no_abi, t->plugin.abi = 0)
SPOIL(old_abi_with_new_sizes, t->plugin.abi = 1)
SPOIL(other_size, t->plugin.variant_size = 8)
SPOIL(no_kernels, t->plugin.nr_kernels = 0)
SPOIL(null_kernels, t->plugin.kernels = NULL)
SPOIL(too_many_kernels, t->plugin.nr_kernels = 100000)
SPOIL(twin_kernels, t->plugin.nr_kernels = 2)
SPOIL(nameless, t->kernels[0].name = NULL)
SPOIL(blank_name, t->kernels[0].name = "")
SPOIL(name_with_space, t->kernels[0].name = "my copy")
SPOIL(name_with_empty_part, t->kernels[0].name = "mine//copy")
SPOIL(name_with_slash_end, t->kernels[0].name = "mine/")
SPOIL(name_with_slash_begin, t->kernels[0].name = "/mine")
SPOIL(long_name, t->kernels[0].name = "a23456789b23456789c23456789d23456789e23456789f23")
SPOIL(no_dims, t->kernels[0].nr_dims = 0)
SPOIL(null_dims, t->kernels[0].dims = NULL)
SPOIL(nine_dims, t->kernels[0].nr_dims = 9)
SPOIL(capital_dim, t->dims[1] = "M")
SPOIL(digit_dim, t->dims[1] = "1m")
SPOIL(twin_dims, t->dims[1] = "n")
SPOIL(no_sizes, t->kernels[0].nr_sizes = 0)
SPOIL(zero_size, t->sizes[2] = 0)
SPOIL(huge_size, t->sizes[3] = DIM_LIMIT + 1LL)
SPOIL(null_test_sizes, t->kernels[0].nr_test_sizes = 1)
SPOIL(no_layout, t->kernels[0].layout = NULL)
SPOIL(no_oracle, t->kernels[0].oracle = NULL)
SPOIL(no_variants, t->kernels[0].nr_variants = 0)
SPOIL(twin_variants, t->variants[1].name = "one")
SPOIL(variant_with_slash, t->variants[1].name = "a/b")
SPOIL(no_launch, t->variants[1].launch = NULL)
SPOIL(no_device, t->variants[0].device = 3)
SPOIL(no_dtype, t->variants[0].dtype = 5)
SPOIL(tf32_of_doubles, t->variants[0].math = HARNESS_MATH_TF32)
static const char *const nameless_param[] = { "=64", NULL };
static const char *const twin_params[] = { "BM=64", "BM", NULL };
static const char *const empty_value[] = { "BM=64,,8", NULL };
SPOIL(bad_param, t->variants[0].params = nameless_param)
SPOIL(two_params, t->variants[0].params = twin_params)
SPOIL(bad_value, t->variants[0].params = empty_value)
SPOIL(no_math, t->variants[0].math = 7)
SPOIL(like_and_oracle, t->kernels[0].like = "gemm/nn"; t->kernels[0].nr_dims = 0;
      t->kernels[0].nr_sizes = 0; t->kernels[0].layout = NULL)
SPOIL(like_and_dims, t->kernels[0].like = "gemm/nn")

TEST(malformed_tables_are_refused)
{
    static const struct {
        spoiler *spoil;
        const char *says;
    } rows[] = {
        { other_abi, "it speaks plugin ABI 4, this harness speaks ABI 1 to 3: rebuild the plugin" },
        { no_abi, "it speaks plugin ABI 0" },
        { old_abi_with_new_sizes,
          "its struct harness_plugin has 48 bytes, that of this harness 40, although both are ABI "
          "1" },
        { other_size, "its struct harness_variant has 8 bytes" },
        { no_kernels, "it has no kernels" },
        { null_kernels, "it has no kernels" },
        { too_many_kernels, "it has 100000 kernels, more than 1000" },
        { twin_kernels, "two kernels are called \"mine/copy\"" },
        { nameless, "kernel 0: a kernel has no name" },
        { blank_name, "a kernel has no name" },
        { name_with_space, "the kernel name \"my copy\" must be of letters" },
        { name_with_empty_part, "\"mine//copy\" must be of letters" },
        { name_with_slash_end, "\"mine/\" ends with a slash" },
        { name_with_slash_begin, "\"/mine\" must be of letters" },
        { long_name, "is longer than 47 characters" },
        { no_dims, "kernel mine/copy: it has no dims" },
        { null_dims, "it has no dims" },
        { nine_dims, "it has 9 dims, more than 8" },
        { capital_dim, "the dim name \"M\" must be of small letters" },
        { digit_dim, "the dim name \"1m\"" },
        { twin_dims, "two dims are called \"n\"" },
        { no_sizes, "it has no sizes" },
        { zero_size, "size 1 has n=0: 1 to 1000000000 is allowed" },
        { huge_size, "size 1 has m=1000000001" },
        { null_test_sizes, "it has no test_sizes" },
        { no_layout, "it has no layout()" },
        { no_oracle, "it has no oracle(): nothing is timed that was not checked" },
        { no_variants, "it has no variants" },
        { twin_variants, "two variants are called \"one\"" },
        { variant_with_slash, "the variant name \"a/b\"" },
        { no_launch, "variant two: it has no launch()" },
        { no_device, "variant one: its device is 3" },
        { no_dtype, "its dtype is 5" },
        { tf32_of_doubles, "variant one: its math is 1" },
        { no_math, "its math is 7" },
        { bad_param, "variant one: the parameter \"=64\" is not NAME or NAME=VALUE,..." },
        { two_params, "the parameter of \"BM\" is there twice" },
        { bad_value, "the values of the parameter \"BM=64,,8\" must be of letters" },
        { like_and_oracle, "kernel 0 (like gemm/nn): it is like another, whose `oracle` it has" },
        { like_and_dims, "whose `dims` it has: leave it out" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_refused(rows[i].spoil, rows[i].says);
}

TEST(keys_that_would_be_cut_are_refused)
{
    static const char *const dims[] = { "a_dim_of_twenty_three_1", "a_dim_of_twenty_three_2",
                                        "a_dim_of_twenty_three_3", "a_dim_of_twenty_three_4" };
    struct error err;

    assert_ok(name_check_key("kernel", "variant", dims, 4, &err), &err);
    assert_int_equal(
        name_check_key("kernel/of/a/longer/name/than/is/good/for/anyone", "variant", dims, 4, &err),
        -1);
    assert_non_null(strstr(err.message, "use shorter names"));
}

/* ---- layouts ---- */

static struct harness_tensor tensors[3];
static int32_t nr_tensors;

static int32_t scripted_layout(const int64_t *size, int32_t dtype, struct harness_tensor *t)
{
    (void)size, (void)dtype;
    memcpy(t, tensors, sizeof(tensors));
    return nr_tensors;
}

static void assert_layout(const char *says)
{
    const struct harness_kernel k = { .layout = scripted_layout };
    struct harness_tensor described[HARNESS_TENSORS_MAX];
    struct error err = { "" };
    int nr = plugin_layout(&k, NULL, HARNESS_FP32, described, &err);

    if (!says) {
        assert_int_equal(nr, nr_tensors);
        return;
    }
    assert_int_equal(nr, -1);
    if (!strstr(err.message, says))
        fail_msg("\"%s\" is not in: %s", says, err.message);
}

TEST(malformed_layouts_are_refused)
{
    static const struct harness_tensor x = {
        .name = "x", .rank = 2, .extent = { 3, 4 }, .scale = 1
    };
    static const struct harness_tensor y = {
        .name = "y", .rank = 1, .extent = { 4 }, .role = HARNESS_OUT
    };
    static const struct {
        struct harness_tensor t;
        const char *says;
    } rows[] = {
        { { .name = NULL }, "tensor 0 (without a name): it has no name" },
        { { .name = "x", .role = 4 }, "tensor 0 (x): its role is 4" },
        { { .name = "x", .dtype = -1 }, "its dtype is -1" },
        { { .name = "x", .rank = 0 }, "its rank is 0" },
        { { .name = "x", .rank = 5 }, "its rank is 5" },
        { { .name = "x", .rank = 2, .extent = { 3, 0 } }, "extent 1 is 0" },
        { { .name = "x", .rank = 1, .extent = { 3 }, .fill = 9 }, "its fill is 9" },
        { { .name = "x", .rank = 1, .extent = { 3 } }, "HARNESS_NORMAL with a scale of 0" },
        { { .name = "x", .rank = 1, .extent = { 3 }, .fill = HARNESS_TOKENS, .limit = 5 },
          "HARNESS_TOKENS is for HARNESS_INT32" },
        { { .name = "x", .rank = 1, .extent = { 3 }, .fill = HARNESS_OWN },
          "HARNESS_OWN, but the kernel has no fill()" },
    };

    nr_tensors = 2;
    tensors[0] = x;
    tensors[1] = y;
    assert_layout(NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        tensors[0] = rows[i].t;
        assert_layout(rows[i].says);
    }
    tensors[0] = tensors[1] = x;
    assert_layout("describes no HARNESS_OUT");
    nr_tensors = 0;
    assert_layout("describes 0 tensors");
    nr_tensors = 17;
    assert_layout("describes 17 tensors");
}

/* ---- what comes of tables that are right ---- */

/* What is there already: one kernel of two variants, of which one is a vendor's. */
static const struct kernel base_kernel = { .name = "gemm/nn", .dims = { "n" } };
static const struct kernel *const base_kernels[] = { &base_kernel, NULL };
static const struct variant base_variants[] = {
    { .name = "simd", .kernel = &base_kernel },
    { .name = "openblas", .kernel = &base_kernel, .flags = VARIANT_VENDOR },
    { .name = "peer", .kernel = &base_kernel, .flags = VARIANT_VENDOR | VARIANT_PEER },
    { .name = "cublas", .kernel = &base_kernel, .flags = VARIANT_VENDOR, .device = DEVICE_CUDA },
    { .name = NULL },
};
static const struct kernel *const *const base_lists[] = { base_kernels, NULL };
static const struct variant *const base_files[] = { base_variants, NULL };
static const struct missing_variant base_missing[] = { { "gemm", "blis", "not found" },
                                                       { NULL, NULL, NULL } };
static const struct registry base = { base_lists, base_files, base_missing, NULL, NULL, NULL };

static void adapt(struct tables *t, struct plugin *p)
{
    make(t);
    *p = (struct plugin) { .own = memory_zeroed(1, sizeof(*p->own)) };
    p->own->table = &t->plugin;
    struct error err = { "" };
    assert_ok(plugin_adapt(p, &base, NULL, &err), &err);
}

static void drop(struct plugin *p)
{
    plugin_drop(p);
    free(p->own);
}

TEST(default_tolerance)
{
    struct tables t;
    struct plugin p;

    adapt(&t, &p);
    t.kernels[0].tolerance = NULL;
    const struct kernel *k = p.kernels[0];
    assert_close(k->tolerance(k, &k->shapes[0], DTYPE_FP32, MATH_FP32), 16 * 0x1p-24, 0);
    assert_close(k->tolerance(k, &k->shapes[0], DTYPE_BF16, MATH_BF16), 16 * 0x1p-9, 0);
    assert_close(k->tolerance(k, &k->shapes[0], DTYPE_FP16, MATH_FP32), 16 * 0x1p-11, 0);
    assert_close(k->tolerance(k, &k->shapes[0], DTYPE_INT32, MATH_FP32), 0, 0);
    drop(&p);
}

TEST(tables_become_kernels_and_variants)
{
    struct tables t;
    struct plugin p;
    struct tensor tensor[TENSOR_MAX] = { { .name = NULL } };

    adapt(&t, &p);
    const struct kernel *k = p.kernels[0];
    assert_null(p.kernels[1]);
    assert_string_equal(k->name, "mine/copy");
    assert_string_equal(k->summary, "");
    assert_true(k->guest);
    assert_int_equal(kernel_nr_dims(k), 2);
    assert_int_equal(k->nr_shapes, 2);
    assert_int_equal(k->shapes[1].dim[0], 6);
    assert_int_equal(k->shapes[1].dim[1], 7);
    assert_ptr_equal(k->test_shapes, k->shapes); /* there are no others */
    assert_close(k->tolerance(k, &k->shapes[0], DTYPE_FP64, MATH_FP64), 4.005, 1e-12);
    assert_true(k->work(k, &k->shapes[0], DTYPE_FP64, MATH_FP64).flops == 0);
    assert_string_equal(k->refuses(k, &(struct shape) { { 3, 2 } }), "n is larger than m");
    assert_int_equal(k->layout(k, &k->shapes[0], DTYPE_FP64, tensor), 2);
    assert_int_equal(tensor_bytes(&tensor[1]), 32);
    assert_int_equal(tensor[1].role, TENSOR_OUT);
    assert_string_equal(p.variants[1].name, "two");
    assert_int_equal(p.variants[1].math, MATH_FP64);
    assert_int_equal(p.variants[1].device, DEVICE_FAKE);
    assert_int_equal(p.variants[0].flags, VARIANT_GUEST);
    assert_int_equal(p.variants[1].flags, VARIANT_GUEST | VARIANT_VENDOR);
    assert_ptr_equal(p.variants[1].kernel, k);
    assert_null(p.variants[2].name);
    drop(&p);
}

static struct call call_of(const struct plugin *p, struct device *d, int64_t n, double *x,
                           double *y)
{
    struct call call = {
        .variant = &p->variants[1], .kernel = p->kernels[0], .shape = { { n, 9 } }, .device = d
    };

    call.nr_tensors = call.kernel->layout(call.kernel, &call.shape, DTYPE_FP64, call.tensor);
    call.tensor[0].data = x;
    call.tensor[1].data = y;
    return call;
}

TEST(calls_reach_the_plugin)
{
    struct tables t;
    struct plugin p;
    struct device d = { .threads = 3, .kind = DEVICE_FAKE, .index = 2 };
    struct error err = { "" };
    double x[9] = { 1, 2, 3, 4 }, y[9] = { 0 }, expected[9] = { 0 };
    const int64_t row = 0;

    adapt(&t, &p);
    struct call call = call_of(&p, &d, 4, x, y);
    prepared = released = 0;
    assert_ok(call.variant->prepare(&call, &err), &err);
    call.variant->launch(&call);
    assert_memory_equal(x, y, sizeof(x));
    call.variant->release(&call);
    assert_int_equal(prepared + released, 2);
    call.kernel->oracle(call.kernel, &call.shape, call.tensor, 1, &row, 1, expected);
    assert_memory_equal(x, expected, sizeof(x));
    call = call_of(&p, &d, 7, x, y);
    assert_int_equal(call.variant->prepare(&call, &err), CALL_UNSUPPORTED);
    assert_string_equal(err.message, "seven is not for 3 threads");
    call = call_of(&p, &d, 8, x, y);
    assert_int_equal(call.variant->prepare(&call, &err), -1);
    assert_string_equal(err.message, "the plugin does not say why");
    drop(&p);
}

static double scripted_bound;

static double scripted_tolerance(const int64_t *size, int32_t dtype)
{
    (void)size, (void)dtype;
    return scripted_bound;
}

/* Nothing could be right or wrong by it, so the case ends before it is checked. */
TEST(malformed_tolerances_are_refused)
{
    const double bad[] = { (double)NAN, -1, -1e-300, (double)INFINITY };
    struct device d = { .threads = 1, .kind = DEVICE_FAKE };
    double x[9] = { 0 }, y[9];
    struct error err = { "" };
    struct tables t;
    struct plugin p;

    adapt(&t, &p);
    t.kernels[0].tolerance = scripted_tolerance;
    struct call call = call_of(&p, &d, 4, x, y);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        scripted_bound = bad[i];
        assert_true(isnan(call.kernel->tolerance(call.kernel, &call.shape, DTYPE_FP64, MATH_FP64)));
        assert_fails(call.variant->prepare(&call, &err), &err,
                     "its tolerance() gives no number from 0 on");
    }
    scripted_bound = 0;
    assert_ok(call.variant->prepare(&call, &err), &err);
    call.variant->release(&call);
    drop(&p);
}

/* ---- on kernels that are there ---- */

static void make_like(struct tables *t, const char *like)
{
    make(t);
    t->variants[0].dtype = t->variants[1].dtype = HARNESS_FP32;
    t->variants[1].device = HARNESS_CPU;
    t->kernels[0] =
        (struct harness_kernel) { .like = like, .variants = t->variants, .nr_variants = 2 };
}

static int adapt_like(struct tables *t, struct plugin *p, const struct string_list *settings,
                      struct error *err)
{
    *p = (struct plugin) { .own = memory_zeroed(1, sizeof(*p->own)) };
    p->own->table = &t->plugin;
    assert_ok(plugin_check(&t->plugin, err), err);
    return plugin_adapt(p, &base, settings, err);
}

static size_t count(const struct registry *r)
{
    size_t nr = 0;

    while (registry_variant_at(r, nr))
        nr++;
    return nr;
}

TEST(variants_join_a_kernel_that_is_there)
{
    struct tables t;
    struct plugin p;
    struct registry_joined j;
    struct error err = { "" };

    make_like(&t, "gemm/nn");
    assert_ok(adapt_like(&t, &p, NULL, &err), &err);
    assert_null(p.kernels[0]);
    assert_ptr_equal(p.variants[0].kernel, &base_kernel);
    assert_int_equal(p.variants[0].flags, VARIANT_GUEST);
    const struct registry_guest guest = { "plugin p.so", p.kernels, p.variants };
    assert_ok(registry_join(&j, &base, &guest, 1, &err), &err);
    assert_ptr_equal(registry_variant(&j.all, "gemm/nn", "one"), &p.variants[0]);
    assert_ptr_equal(registry_variant(&j.all, "gemm/nn", "simd"), &base_variants[0]);
    assert_int_equal(count(&j.all), 6);
    assert_int_equal(count(&j.own), 2);
    assert_int_equal(count(&j.beside), 3);
    assert_non_null(registry_variant(&j.beside, "gemm/nn", "openblas"));
    assert_ptr_equal(registry_kernel(&j.own, "gemm/nn"), &base_kernel);
    registry_joined_release(&j);
    drop(&p);
}

TEST(taken_and_unknown_names_are_refused)
{
    static const struct {
        const char *like, *first, *second, *says;
    } rows[] = {
        { "gemm/nm", "one", "two",
          "like: there is no kernel \"gemm/nm\": did you mean \"gemm/nn\"?" },
        { "gemm/nn", "simd", "two",
          "plugin p.so: the variant name \"simd\" of kernel gemm/nn belongs to this harness: give "
          "yours another, such as my_simd" },
        { "gemm/nn", "one", "blis", "\"blis\" of kernel gemm/nn belongs to this harness" },
        { "gemm/nn", "other", "two", "\"other\" of kernel gemm/nn belongs to plugin first.so" },
    };
    static const struct variant others[] = { { .name = "other", .kernel = &base_kernel },
                                             { .name = NULL } };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tables t;
        struct plugin p;
        struct registry_joined j = { .shared = NULL };
        struct error err = { "" };
        make_like(&t, rows[i].like);
        t.variants[0].name = rows[i].first;
        t.variants[1].name = rows[i].second;
        int rc = adapt_like(&t, &p, NULL, &err);
        const struct registry_guest guests[] = { { "plugin first.so", NULL, others },
                                                 { "plugin p.so", p.kernels, p.variants } };
        if (rc == 0)
            rc = registry_join(&j, &base, guests, 2, &err);
        assert_int_equal(rc, -1);
        if (!strstr(err.message, rows[i].says))
            fail_msg("\"%s\" is not in: %s", rows[i].says, err.message);
        registry_joined_release(&j);
        drop(&p);
    }
}

TEST(settings_are_variants)
{
    struct tables t;
    struct plugin p;
    struct error err = { "" };
    struct string_list settings = { 0 }, names = { 0 };
    static const char *const params[] = { "BM=64,128", "mode", NULL }, *const less[] = { "mode",
                                                                                         NULL };
    struct guest_setting setting;

    string_list_add(&settings, "BM=64,mode=fast");
    string_list_add(&settings, "BM=32,mode=fast");
    string_list_add(&settings, "BM=128,mode=a_mode_that_has_a_long_name_which_no_key_can_hold");
    make_like(&t, "gemm/nn");
    t.variants[0].params = params;
    t.variants[1].params = less;
    assert_ok(adapt_like(&t, &p, &settings, &err), &err);
    assert_string_equal(p.variants[0].name, "one:BM=64:mode=fast");
    assert_int_equal(strlen(p.variants[2].name), NAME_SIZE - 1);
    assert_string_equal(p.variants[3].name, "two:mode=fast"); /* once */
    assert_true(plugin_setting(&p, &p.variants[1], &setting));
    assert_string_equal(setting.variant, "one");
    assert_string_equal(setting.setting, "BM=32,mode=fast");
    assert_true(plugin_param_names(&p, &names));
    assert_int_equal(names.nr, 2);
    assert_string_equal(names.items[0], "BM");
    string_list_release(&names);
    const struct plugin_variant *config = p.variants[0].config;
    const struct harness_call call = { .params = config->params };
    assert_int_equal(harness_param(&call, "BM", 1), 64);
    assert_int_equal(harness_param(&call, "B", 1), 1);
    assert_string_equal(harness_param_text(&call, "mode", ""), "fast");
    drop(&p);
    t.plugin.abi = 1;
    assert_int_equal(adapt_like(&t, &p, &settings, &err), -1);
    assert_non_null(strstr(err.message, "ABI 1, whose calls have no parameters"));
    drop(&p);
    string_list_release(&settings);
}

TEST(settings_that_no_key_holds_are_refused)
{
    static const struct {
        const char *setting, *says;
    } rows[] = {
        { "BM=64", NULL },
        { "BM=64,x=-0.5e+3", NULL },
        { "BM", "not NAME=VALUE" },
        { "9=1", "not NAME=VALUE" },
        { "BM=", "the value \"\" of parameter BM" },
        { "BM=a/b", "since it stands in keys" },
        { "BM=1,BM=2", "\"BM=2\" is there twice" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct error err = { "" };
        assert_int_equal(guest_setting_check(rows[i].setting, &err), rows[i].says ? -1 : 0);
        if (rows[i].says && !strstr(err.message, rows[i].says))
            fail_msg("\"%s\" is not in: %s", rows[i].says, err.message);
    }
}

/* ---- told by who has loaded it ---- */

static int read_tables(const char *text, struct plugin *p, struct error *err)
{
    *p = (struct plugin) { .own = memory_zeroed(1, sizeof(*p->own)) };
    int rc = plugin_table_read(p->own, text, strlen(text), err);
    return rc ? rc : plugin_adapt(p, &base, NULL, err);
}

TEST(told_tables_are_the_same)
{
    struct tables t;
    struct plugin p;
    struct strbuf text;
    struct error err = { "" };

    make(&t);
    t.kernels[0].summary = "copies, \"well\"\n";
    t.kernels[0].test_sizes = t.sizes + 2;
    t.kernels[0].nr_test_sizes = 1;
    strbuf_init(&text);
    assert_ok(plugin_table_print(&t.plugin, &text, &err), &err);
    assert_ok(read_tables(text.data, &p, &err), &err);
    const struct kernel *k = p.kernels[0];
    assert_string_equal(k->name, "mine/copy");
    assert_string_equal(k->summary, t.kernels[0].summary);
    assert_string_equal(k->dims[1], "m");
    assert_int_equal(kernel_nr_dims(k), 2);
    assert_int_equal(k->nr_shapes, 2);
    assert_int_equal(k->shapes[1].dim[0], 6);
    assert_int_equal(k->nr_test_shapes, 1);
    assert_int_equal(k->test_shapes[0].dim[1], 7);
    assert_string_equal(p.variants[1].name, "two");
    assert_int_equal(p.variants[1].dtype, DTYPE_FP64);
    assert_int_equal(p.variants[1].device, DEVICE_FAKE);
    assert_int_equal(p.variants[0].flags, VARIANT_GUEST);
    assert_int_equal(p.variants[1].flags, VARIANT_GUEST | VARIANT_VENDOR);
    assert_null(p.variants[2].name);
    drop(&p);
    strbuf_release(&text);
}

TEST(bad_tellings_are_refused)
{
#define VARIANTS "\"variants\":[{\"name\":\"v\",\"device\":0,\"dtype\":0}]"
    static const struct {
        const char *text, *says;
    } rows[] = {
        { "", "its tables" },
        { "[]", "it has no kernels" },
        { "{\"kernels\":7}", "it has no kernels" },
        { "{\"kernels\":{\"name\":\"a\"}}", "it has no kernels" },
        { "{\"kernels\":[7]}", "a kernel has no name" },
        { "{\"kernels\":[{\"name\":\"a b\"}]}", "the kernel name" },
        { "{\"kernels\":[{\"name\":\"a\",\"dims\":[7],\"sizes\":[1]," VARIANTS "}]}", "dim" },
        { "{\"kernels\":[{\"name\":\"a\",\"dims\":[\"n\"],\"sizes\":[\"x\"]," VARIANTS "}]}",
          "size 0 has n=0" },
        { "{\"kernels\":[{\"name\":\"a\",\"dims\":[\"n\"],\"sizes\":[1e300]," VARIANTS "}]}",
          "size 0 has n=0" },
        { "{\"kernels\":[{\"name\":\"a\",\"dims\":[\"n\",\"m\"],\"sizes\":[1]," VARIANTS "}]}",
          "it has no sizes" },
        { "{\"kernels\":[{\"name\":\"a\",\"dims\":[\"n\"],\"sizes\":[1],\"variants\":[0]}]}",
          "variant 0" },
        { "{\"kernels\":[{\"name\":\"a\",\"dims\":[\"n\"],\"sizes\":[1],\"variants\":[{\"name\":"
          "\"v\",\"device\":1e99,\"dtype\":0}]}]}",
          "its device is" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct plugin p;
        struct error err = { "" };
        assert_int_equal(read_tables(rows[i].text, &p, &err), -1);
        if (!strstr(err.message, rows[i].says))
            fail_msg("%s: \"%s\" is not in: %s", rows[i].text, rows[i].says, err.message);
        drop(&p);
    }
}

TEST(large_tables_are_refused)
{
    struct tables t;
    struct strbuf text;
    struct error err = { "" };
    char *summary = memory_zeroed(PLUGIN_TABLE_MOST, 1);

    make(&t);
    memset(summary, 'x', PLUGIN_TABLE_MOST - 1);
    t.kernels[0].summary = summary;
    strbuf_init(&text);
    assert_int_equal(plugin_table_print(&t.plugin, &text, &err), -1);
    assert_non_null(strstr(err.message, "its tables come to"));
    strbuf_release(&text);
    free(summary);
}

/* ---- as they are loaded ---- */

static void try_hostile(const char *guest, int seconds, plugin_confine *confine, const char *says)
{
    char path[] = HARNESS_HOSTILE_PLUGIN;
    struct plugin_own own = { .library = NULL };
    struct plugin p = { .path = path, .file = path, .own = &own };
    struct error err = { "" };

    setenv("GUEST", guest, 1);
    int rc = plugin_try(&p, seconds, confine, &err);
    unsetenv("GUEST");
    assert_int_equal(rc, says ? -1 : 0);
    if (!says)
        assert_string_equal(own.table->kernels[0].name, "evil/copy");
    assert_null(own.library); /* nothing of it is here */
    plugin_table_drop(&own);
    if (says && !strstr(err.message, says))
        fail_msg("%s: %s", guest, err.message);
}

/* Whatever they do to signals, timers, descriptors and processes: it is the parent that looks at
 * the clock, and nothing is left of them. */
TEST(constructors_end_in_time)
{
    static const char late[] = "loading it takes longer than 1 s";
    static const char leaves[] = "loading it leaves a process behind";
    static const struct {
        const char *guest, *says;
    } rows[] = {
        { "nothing", NULL },
        { "load_deaf", late },
        { "load_sleeper", leaves },
        { "load_daemon", leaves },
        { "load_deaf_daemon", late },
        { "load_stop", late },
        { "load_forge", "\"begin\":0" },
        { "load_words", "yyyy" },
        { "load_exit", "ends the process" },
    };
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what is left behind becomes ours */
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        time_t start = time(NULL);
        try_hostile(rows[i].guest, rows[i].says == late ? 1 : 30, NULL, rows[i].says);
        assert_true(time(NULL) - start < 20);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static int let_in(struct error *err)
{
    (void)err;
    return 0;
}

static int let_nobody_in(struct error *err)
{
    return error_set(err, "nobody is let in");
}

static int make_a_forbidden_call(struct error *err)
{
    (void)err;
    signal(SIGSYS, SIG_DFL); /* the tests' own handler is there, too */
    return raise(SIGSYS);    /* as a filter of system calls does */
}

TEST(constructors_are_confined)
{
    try_hostile("nothing", 30, let_in, NULL);
    try_hostile("load_exit", 30, let_in, "ends the process");
    try_hostile("load_exit", 30, let_nobody_in, "nobody is let in");
    try_hostile("nothing", 30, make_a_forbidden_call, "a system call that is forbidden here");
}

/* The oracle reads subnormals as they are, also beside a plugin that makes them zeros. The
 * last of the tests: what is loaded here a trial would not load anew. */
TEST(constructors_do_not_change_arithmetic)
{
    const struct string_list none = { 0 };
    volatile float subnormal = 1e-39F;
    char digest[DIGEST_TEXT_SIZE];
    struct plugin p;
    struct error err;

    assert_ok(file_digest(HARNESS_HOSTILE_PLUGIN, digest, &err), &err);
    setenv("GUEST", "load_flush", 1);
    assert_ok(plugin_open(&p, &base, HARNESS_HOSTILE_PLUGIN, digest, NULL, &none, &err), &err);
    unsetenv("GUEST");
    assert_true((double)subnormal > 0 && subnormal * 0.5F > 0);
    plugin_close(&p);
}

RUN_TESTS(NULL, NULL)
