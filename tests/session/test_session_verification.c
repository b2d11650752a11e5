/* SPDX-License-Identifier: MIT */
/*
 * The record of what devices verified: noted, merged, written, read, described, refused. Rows:
 * S4-28.
 */
#include "testing.h"

#include "base/file.h"
#include "session/verified_variants.h"

#include <stdlib.h>
#include <unistd.h>

static const struct kernel kernel = { .name = "gemm/linear" };
static const struct variant simt[] = {
    { .name = "cuda_simt", .kernel = &kernel, .device = DEVICE_CUDA }, { .name = NULL }
};
static const struct variant mma[] = {
    { .name = "cuda_mma", .kernel = &kernel, .device = DEVICE_CUDA }, { .name = NULL }
};
static const struct variant *const files[] = { simt, mma, NULL };
static const char *const sources[] = { "5017", "0aa0", NULL };
static const struct registry registry = { .variant_files = files, .sources = sources };

static const struct build build = { .commit = "abc1234def", .dirty = false };
static const struct build dirty_build = { .commit = "abc1234def", .dirty = true };
static const struct device gpu = {
    .kind = DEVICE_CUDA, .spec = "cuda", .model = "NVIDIA H200", .capability = "9.0"
};

static struct measurement checked(const char *variant, enum outcome outcome, double error)
{
    struct measurement m = { .outcome = outcome, .max_error = error, .tolerance = 1e-4 };

    snprintf(m.bench.kernel, sizeof(m.bench.kernel), "gemm/linear");
    snprintf(m.bench.variant, sizeof(m.bench.variant), "%s", variant);
    return m;
}

static void note(struct verification_list *list, const struct build *b, const struct device *d,
                 const char *variant, enum outcome outcome, double error)
{
    struct measurement m = checked(variant, outcome, error);

    verification_note(list, &registry, b, d, &m);
}

static void reread(const char *path, struct verification_list *list)
{
    struct error err;
    size_t length;
    char *text = file_read(path, FILE_RECORDS_MOST, &length, &err);

    *list = (struct verification_list) { 0 };
    assert_non_null(text);
    assert_ok(verification_parse(text, length, path, list, &err), &err);
    free(text);
}

/* Writes one round of checks of cuda_simt into `path`. */
static void record(const char *path, const struct build *b, const struct device *d, int shapes,
                   double error)
{
    struct verification_list list = { 0 };
    struct error err;

    for (int i = 0; i < shapes; i++)
        note(&list, b, d, "cuda_simt", OUTCOME_OK, error);
    assert_ok(verification_write(path, &list, &err), &err);
    verification_release(&list);
}

TEST(sources_of_variants)
{
    struct registry none = registry;

    assert_string_equal(registry_variant_source(&registry, &simt[0]), "5017");
    assert_string_equal(registry_variant_source(&registry, &mma[0]), "0aa0");
    none.sources = NULL;
    assert_string_equal(registry_variant_source(&none, &mma[0]), "");
}

TEST(worst_of_all_shapes)
{
    struct verification_list list = { 0 };

    note(&list, &build, &gpu, "cuda_simt", OUTCOME_OK, 1e-5);
    note(&list, &build, &gpu, "cuda_simt", OUTCOME_OK, 4e-5);
    note(&list, &build, &gpu, "cuda_simt", OUTCOME_UNSUPPORTED, NAN);
    note(&list, &build, &gpu, "cuda_mma", OUTCOME_UNSUPPORTED, NAN);
    assert_int_equal(list.nr, 1);
    const struct verification *v = verification_find(&list, "gemm/linear", "cuda_simt");
    assert_non_null(v);
    assert_string_equal(v->source, "5017");
    assert_string_equal(v->device, "NVIDIA H200");
    assert_int_equal(v->shapes, 2);
    assert_close(v->max_error, 4e-5, 0);
    assert_close(v->share, 0.4, 1e-12);
    assert_null(verification_find(&list, "gemm/linear", "cuda_mma"));
    verification_release(&list);
}

TEST(merging)
{
    static const char path[] = HARNESS_TEST_DIR "/verification_merge.json";
    struct device other = gpu;
    struct verification_list list;

    unlink(path);
    record(path, &build, &gpu, 14, 1e-5);
    record(path, &build, &gpu, 5, 3e-5); /* once more, another mode: the worst of both */
    reread(path, &list);
    assert_int_equal(list.nr, 1);
    assert_int_equal(list.items[0].shapes, 14);
    assert_close(list.items[0].max_error, 3e-5, 0);
    assert_close(list.items[0].share, 0.3, 1e-12);
    verification_release(&list);

    snprintf(other.model, sizeof(other.model), "NVIDIA H100");
    record(path, &build, &other, 2, 2e-6); /* another device: the newer stands */
    reread(path, &list);
    assert_int_equal(list.nr, 1);
    assert_string_equal(list.items[0].device, "NVIDIA H100");
    assert_int_equal(list.items[0].shapes, 2);
    assert_close(list.items[0].max_error, 2e-6, 0);
    verification_release(&list);
}

/* What was wrong once stays so, whatever is right beside it or later, until it changes. */
TEST(wrong_sticks)
{
    static const char path[] = HARNESS_TEST_DIR "/verification_wrong.json";
    struct verification_list list = { 0 };
    struct error err;

    unlink(path);
    note(&list, &build, &gpu, "cuda_simt", OUTCOME_OK, 1e-5);
    note(&list, &build, &gpu, "cuda_mma", OUTCOME_OK, 1e-5);
    assert_ok(verification_write(path, &list, &err), &err);
    verification_release(&list);
    note(&list, &build, &gpu, "cuda_mma", OUTCOME_OK, 1e-5);
    note(&list, &build, &gpu, "cuda_mma", OUTCOME_WRONG, 1);
    assert_ok(verification_write(path, &list, &err), &err);
    verification_release(&list);
    note(&list, &build, &gpu, "cuda_mma", OUTCOME_OK, 1e-5);
    assert_ok(verification_write(path, &list, &err), &err);
    verification_release(&list);
    reread(path, &list);
    assert_int_equal(list.nr, 2);
    assert_true(verification_find(&list, "gemm/linear", "cuda_mma")->wrong);
    assert_false(verification_find(&list, "gemm/linear", "cuda_simt")->wrong);
    verification_release(&list);
    note(&list, &dirty_build, &gpu, "cuda_mma", OUTCOME_OK, 1e-5); /* another commit */
    assert_ok(verification_write(path, &list, &err), &err);
    verification_release(&list);
    reread(path, &list);
    assert_false(verification_find(&list, "gemm/linear", "cuda_mma")->wrong);
    verification_release(&list);
}

static const struct verification_setting *setting(const struct verification_list *list,
                                                  const char *text)
{
    for (size_t i = 0; i < list->settings.nr; i++)
        if (strcmp(list->settings.items[i].setting, text) == 0)
            return &list->settings.items[i];
    return NULL;
}

/* Tiles and slices that were forced are noted with the variant that has them, beside its shapes. */
TEST(settings)
{
    static const char path[] = HARNESS_TEST_DIR "/verification_settings.json";
    static const struct {
        const struct build *build;
        const char *variant;
        enum outcome outcome;
        int shapes[3]; /* then, in the file: of tile=1, tile=2:split=3, tile=3; -1: not there */
    } rows[] = {
        { &build, "cuda_simt", OUTCOME_OK, { -1, -1, -1 } },
        { &build, "cuda_simt:tile=1", OUTCOME_OK, { 1, -1, -1 } },
        { &build, "cuda_simt:tile=2:split=3", OUTCOME_OK, { 1, 1, -1 } },
        { &build, "cuda_simt:tile=3", OUTCOME_UNSUPPORTED, { 1, 1, 0 } },
        { &build, "cuda_mma", OUTCOME_OK, { 1, 1, 0 } },
        { &dirty_build, "cuda_simt:tile=3", OUTCOME_OK, { -1, -1, 1 } }, /* of another commit */
    };
    static const char *const names[] = { "tile=1", "tile=2:split=3", "tile=3" };
    struct error err;

    unlink(path);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct verification_list list = { 0 };
        note(&list, rows[i].build, &gpu, rows[i].variant, rows[i].outcome, 1e-5);
        assert_ok(verification_write(path, &list, &err), &err);
        verification_release(&list);
        reread(path, &list);
        for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++) {
            const struct verification_setting *s = setting(&list, names[j]);
            assert_int_equal(s ? s->shapes : -1, rows[i].shapes[j]);
        }
        assert_non_null(verification_find(&list, "gemm/linear", "cuda_simt"));
        assert_null(verification_find(&list, "gemm/linear", "cuda_simt:tile=1"));
        verification_release(&list);
    }
}

/* One that is wrong makes its variant so. */
TEST(a_wrong_setting_is_of_its_variant)
{
    struct verification_list list = { 0 };

    note(&list, &build, &gpu, "cuda_simt", OUTCOME_OK, 1e-5);
    note(&list, &build, &gpu, "cuda_simt:tile=2", OUTCOME_WRONG, 1);
    assert_int_equal(list.nr, 1);
    assert_int_equal(list.items[0].shapes, 1);
    assert_true(list.items[0].wrong);
    assert_int_equal(setting(&list, "tile=2")->shapes, 0);
    verification_release(&list);
}

static void assert_described(const struct verification *v, const char *source, const char *expected)
{
    char text[VERIFICATION_TEXT];

    assert_string_equal(verification_describe(v, source, text), expected);
}

TEST(descriptions)
{
    struct verification v = { .source = "5017",
                              .device = "NVIDIA H200",
                              .date = "2026-11-30",
                              .commit = "abc1234def",
                              .max_error = 1.23e-6 };

    assert_described(NULL, "5017", "unverified on a device");
    assert_described(&v, "5017", "verified on NVIDIA H200, 2026-11-30, abc1234, error 1.2e-06");
    assert_described(&v, "5018",
                     "verified an older source on NVIDIA H200, 2026-11-30, abc1234, error 1.2e-06");
    snprintf(v.commit, sizeof(v.commit), "abc1234def-dirty");
    assert_described(&v, "5017",
                     "verified on NVIDIA H200, 2026-11-30, abc1234-dirty, error 1.2e-06");
    v.commit[0] = '\0';
    assert_described(&v, "5017", "verified on NVIDIA H200, 2026-11-30, error 1.2e-06");
    v.wrong = true;
    assert_described(&v, "5017", "not right on NVIDIA H200, 2026-11-30");
    assert_described(&v, "5018", "not right in an older source on NVIDIA H200, 2026-11-30");
}

TEST(dirty_trees_are_marked)
{
    static const char path[] = HARNESS_TEST_DIR "/verification_dirty.json";
    struct verification_list list;

    unlink(path);
    record(path, &dirty_build, &gpu, 1, 1e-5);
    reread(path, &list);
    assert_string_equal(list.items[0].commit, "abc1234def-dirty");
    verification_release(&list);
}

static void assert_unreadable(const char *text, const char *part)
{
    struct verification_list list = { 0 };
    struct error err;

    assert_int_equal(verification_parse(text, strlen(text), "FILE", &list, &err), -1);
    if (!strstr(err.message, part))
        fail_msg("\"%s\" is not in: %s", part, err.message);
    verification_release(&list);
}

TEST(bad_records)
{
    static const char path[] = HARNESS_TEST_DIR "/verification_bad.json";
    struct verification_list fresh = { 0 };
    struct error err;

    assert_unreadable("{", "FILE");
    assert_unreadable("{}", "FILE: \"schema_version\"");
    assert_unreadable("{\"schema_version\": 2, \"variants\": []}", "newer than this program");
    assert_unreadable("{\"schema_version\": 1, \"variants\": {}}", "\"variants\" is missing");
    assert_unreadable("{\"schema_version\": 1, \"variants\": [{\"kernal\": 1}]}", "FILE: entry 1:");
    assert_unreadable("{\"schema_version\": 1, \"variants\": [{\"kernel\": \"a\"}]}",
                      "\"variant\"");
    /* A file that is no record is not overwritten. */
    assert_ok(file_write(path, "precious", 8, &err), &err);
    assert_int_equal(verification_write(path, &fresh, &err), -1);
    size_t length;
    char *text = file_read(path, FILE_RECORDS_MOST, &length, &err);
    assert_string_equal(text, "precious");
    free(text);
}

TEST(who_may_record)
{
    struct device d = gpu;
    struct error err;

#ifdef CUDA_HOST_LAYER
    assert_int_equal(verification_allowed(&d, &err), -1);
    assert_non_null(strstr(err.message, "HARNESS_CUDA=HOST"));
#else
    assert_ok(verification_allowed(&d, &err), &err);
#endif
    d.kind = DEVICE_FAKE;
    assert_int_equal(verification_allowed(&d, &err), -1);
    assert_non_null(strstr(err.message, "--device cuda"));
    d.kind = DEVICE_CPU;
    assert_int_equal(verification_allowed(&d, &err), -1);
}

/* The one that every build carries is readable. */
TEST(record_of_this_build)
{
    struct verification_list list = { 0 };
    struct error err;

    assert_ok(verification_builtin(&list, &err), &err);
    for (size_t i = 0; i < list.nr; i++) {
        assert_int_equal(strlen(list.items[i].source), 64);
        assert_true(list.items[i].share <= 1);
        assert_true(list.items[i].shapes > 0);
    }
    verification_release(&list);
}

RUN_TESTS(NULL, NULL)
