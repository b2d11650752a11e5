/* SPDX-License-Identifier: MIT */
/* Folders and files that are not what their names promise. Covers: U-10, S0-10. */
#include "import_testing.h"

#include "base/file.h"

static const struct import_options plain;

/* What criterion leaves in a folder, with something else in each of the places. */
TEST(folders_of_odd_files)
{
    static const char folder[] = HARNESS_TEST_DIR "/odd/new/";
    static const char sample[] = "{\"iters\":[1,2],\"times\":[10,20]}";
    static const char *const benchmarks[] = {
        "{\"throughput\":[1,{\"Bytes\":2}]}",
        "{\"throughput\":7}",
        "{\"throughput\":\"x\"}",
        "{\"throughput\":{\"Bytes\":[1]},\"full_id\":[]}",
        "[1,2]",
    };
    char path[600];
    struct error err;

    snprintf(path, sizeof(path), "%ssample.json", folder);
    assert_ok(file_make_parent(path, &err), &err);
    assert_ok(file_write(path, sample, sizeof(sample) - 1, &err), &err);
    for (size_t i = 0; i < sizeof(benchmarks) / sizeof(benchmarks[0]); i++) {
        struct imported in;
        snprintf(path, sizeof(path), "%sbenchmark.json", folder);
        assert_ok(file_write(path, benchmarks[i], strlen(benchmarks[i]), &err), &err);
        assert_ok(import_file(HARNESS_TEST_DIR "/odd", &plain, &in, &err), &err);
        assert_int_equal(in.records.nr, 1);
        assert_int_equal(in.records.items[0].m.nr_samples, 2);
        imported_release(&in);
    }
}

TEST(files_that_are_not_there)
{
    struct imported in;
    struct error err;

    assert_int_equal(import_file("/nowhere/at/all.json", &plain, &in, &err), -1);
    assert_non_null(strstr(err.message, "/nowhere/at/all.json: No such file"));
    assert_int_equal(import_file(IMPORT_FIXTURES "series", &plain, &in, &err), -1);
    assert_non_null(strstr(err.message, "no folder \"new\""));
    imported_release(&in);
}

RUN_TESTS(NULL, NULL)
