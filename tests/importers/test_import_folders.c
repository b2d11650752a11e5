/* SPDX-License-Identifier: MIT */
/* Folders and files that are not what their names promise. Covers: U-10, S0-10. */
#include "import_testing.h"

#include "as_nobody.h"
#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Other programs write files of the names that criterion has: the content decides. `sample.json` of
 * criterion lies beside each of them. */
TEST(names_of_criterion_for_files_of_others)
{
    static const char sample[] = "{\"sampling_mode\":\"Flat\",\"iters\":[1,2],\"times\":[10,20]}";
    static const char pytest[] =
        "{\"machine_info\":{},\"benchmarks\":[{\"name\":\"t\",\"stats\":{\"data\":[1],"
        "\"iterations\":1,"
        "\"rounds\":1}}]}";
    static const struct {
        const char *name, *text;
        enum import_format asked, format; /* IMPORT_ANY: it is refused */
    } files[] = {
        { "benchmark.json", pytest, IMPORT_ANY, IMPORT_PYTEST },
        { "benchmark.json", pytest, IMPORT_PYTEST, IMPORT_PYTEST },
        { "estimates.json", pytest, IMPORT_ANY, IMPORT_PYTEST },
        { "benchmark.json", "{\"full_id\":\"a/b\"}", IMPORT_ANY, IMPORT_CRITERION },
        { "benchmark.json", "{\"full_id\":\"a/b\"}", IMPORT_CRITERION, IMPORT_CRITERION },
        { "benchmark.json", "{\"full_id\":\"a/b\"}", IMPORT_PYTEST, IMPORT_ANY },
        { "benchmark.json", pytest, IMPORT_CRITERION, IMPORT_ANY },
        { "estimates.json", "{\"mean\":{\"confidence_interval\":{},\"point_estimate\":15}}",
          IMPORT_ANY, IMPORT_CRITERION },
        { "estimates.json", "{\"mean\":15}", IMPORT_ANY, IMPORT_ANY },
        { "benchmark.json", "{\"full_id\"", IMPORT_ANY, IMPORT_ANY },
        { "sample.json", sample, IMPORT_ANY, IMPORT_CRITERION },
        { "sample.json", "[[1,2],[10,20]]", IMPORT_ANY, IMPORT_CRITERION },
        { "sample.json", pytest, IMPORT_ANY, IMPORT_PYTEST },
    };
    char path[600];
    struct error err;

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        const struct import_options asked = { .format = files[i].asked };
        struct imported in;
        snprintf(path, sizeof(path), HARNESS_TEST_DIR "/names%zu/new/sample.json", i);
        assert_ok(file_make_parent(path, &err), &err);
        assert_ok(file_write(path, sample, sizeof(sample) - 1, &err), &err);
        snprintf(path, sizeof(path), HARNESS_TEST_DIR "/names%zu/new/%s", i, files[i].name);
        assert_ok(file_write(path, files[i].text, strlen(files[i].text), &err), &err);
        int rc = import_file(path, &asked, &in, &err);
        if (files[i].format == IMPORT_ANY ? rc == 0 : rc || in.format != files[i].format)
            fail_msg("%s with %s gives %d, format %d", files[i].name, files[i].text, rc, in.format);
        imported_release(&in);
    }
}

static void write_at(const char *path, const char *text, time_t seconds)
{
    const struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
    struct error err;

    assert_ok(file_make_parent(path, &err), &err);
    assert_ok(file_write(path, text, strlen(text), &err), &err);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* A rerun writes files inside, and leaves the folder that is named as it was. */
TEST(a_folder_is_as_new_as_what_is_read_of_it)
{
    static const char sample[] = "{\"sampling_mode\":\"Flat\",\"iters\":[1,2],\"times\":[10,20]}";
    static const char estimates[] = "{\"mean\":{\"point_estimate\":15}}";
    static const char *const paths[] = { "/nights", "/nights/a/new/sample.json" };
    static const int64_t newest[] = { 1772356830000, 1772000000000 };
    struct error err;

    write_at(HARNESS_TEST_DIR "/nights/a/new/sample.json", sample, 1772000000);
    write_at(HARNESS_TEST_DIR "/nights/b/new/sample.json", sample, 1771000000);
    write_at(HARNESS_TEST_DIR "/nights/b/new/estimates.json", estimates, 1772356830);
    write_at(HARNESS_TEST_DIR "/nights/b/base/sample.json", sample, 1779000000);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct imported in;
        char path[600];
        snprintf(path, sizeof(path), HARNESS_TEST_DIR "%s", paths[i]);
        assert_ok(import_file(path, &plain, &in, &err), &err);
        assert_int_equal(in.written_ms, newest[i]);
        imported_release(&in);
    }
}

/* Only raw.csv tells it, and is not always there. */
TEST(measurements_of_criterion_that_are_no_times)
{
#define RAW                                                                                        \
    "group,function,value,throughput_num,throughput_type,sample_measured_value,unit,iteration_"    \
    "count\n"
    static const char sample[] = "{\"sampling_mode\":\"Flat\",\"iters\":[1,2],\"times\":[10,20]}";
    static const struct {
        const char *raw, *reason; /* NULL: it is taken */
        size_t size;              /* that it is made longer to; 0: as it is */
    } files[] = {
        { RAW "g,\"f, of two\",,,,10.0,ns,1\ng,\"f, of two\",,,,20.0,ns,2\n", NULL, 0 },
        { RAW "g,f,,,,10.0,cycles,1\n",
          "/raw.csv: the unit is \"cycles\": of a folder, times in ns", 0 },
        { RAW "g,f,,,,10.0,,1\n", "/raw.csv: the unit is \"\"", 0 },
        { "group,function,value,sample_time_nanos,iteration_count\ng,f,,10,1\n", NULL, 0 },
        { RAW, NULL, 0 },
        { "", NULL, 0 },
        { RAW "g,\"f,,,,10.0,cycles,1\n", NULL, 0 }, /* no CSV */
        { "\"group\"s,unit\ng,cycles\n", NULL, 0 },
        { RAW "g,f,,,,10.0,ns,1\n", NULL, FILE_IMPORT_MOST + 1 },
        { RAW "g,f,,,,10.0,cycles,1\n", "/raw.csv: the unit is \"cycles\"", FILE_IMPORT_MOST + 1 },
    };
    char path[600];
    struct error err;

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct imported in;
        write_at(HARNESS_TEST_DIR "/units/a/new/sample.json", sample, 1772000000);
        snprintf(path, sizeof(path), HARNESS_TEST_DIR "/units/a/new/raw.csv");
        assert_ok(file_write(path, files[i].raw, strlen(files[i].raw), &err), &err);
        if (files[i].size)
            assert_int_equal(truncate(path, (off_t)files[i].size), 0);
        int rc = import_file(HARNESS_TEST_DIR "/units", &plain, &in, &err);
        if (files[i].reason ? !rc || !strstr(err.message, files[i].reason) : rc)
            fail_msg("%s gives %d, %s", files[i].raw, rc, rc ? err.message : "");
        imported_release(&in);
    }
}

/* What is there and cannot be looked at, as a link to itself, is not what is not there. */
TEST(parts_that_cannot_be_read)
{
    static const char sample[] = "{\"sampling_mode\":\"Flat\",\"iters\":[1,2],\"times\":[10,20]}";
    static const char *const parts[] = { "benchmark.json", "estimates.json", "sample.json",
                                         "raw.csv" };
    char path[600];
    struct error err;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct imported in;
        write_at(HARNESS_TEST_DIR "/parts/a/new/sample.json", sample, 1772000000);
        write_at(HARNESS_TEST_DIR "/parts/b/new/sample.json", sample, 1772000000);
        snprintf(path, sizeof(path), HARNESS_TEST_DIR "/parts/b/new/%s", parts[i]);
        unlink(path);
        assert_int_equal(symlink(parts[i], path), 0);
        assert_fails(import_file(HARNESS_TEST_DIR "/parts", &plain, &in, &err), &err, path);
        assert_has(err.message, ": Too many levels of symbolic links");
        imported_release(&in);
        unlink(path);
    }
}

static int import_part(const char *path, char *message, size_t size)
{
    struct error err = { "" };
    struct imported in;
    int rc = import_file(path, &plain, &in, &err);

    snprintf(message, size, "%s", err.message);
    imported_release(&in);
    return rc == -1 ? 0 : 1;
}

/* A cache that was unpacked with other rights: one benchmark less is another result. */
TEST(folders_that_cannot_be_read)
{
    static const char sample[] = "{\"sampling_mode\":\"Flat\",\"iters\":[1,2],\"times\":[10,20]}";
    static const char *const shut[] = { "b/new", "b" };
    char root[] = "/tmp/harness-import-XXXXXX", path[600], message[1024], expected[128];
    struct error err;

    assert_non_null(mkdtemp(root)); /* not in the build tree, which nobody else may read perhaps */
    assert_int_equal(chmod(root, 0755), 0);
    for (const char *name = "abc"; *name; name++) {
        snprintf(path, sizeof(path), "%s/%c/new/sample.json", root, *name);
        write_at(path, sample, 1772000000);
    }
    for (size_t i = 0; i < sizeof(shut) / sizeof(shut[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", root, shut[i]);
        assert_int_equal(chmod(path, 0), 0);
        in_child(import_part, root, message, sizeof(message));
        assert_int_equal(chmod(path, 0755), 0);
        snprintf(expected, sizeof(expected), "%s/%s", root, shut[i]);
        assert_has(message, expected);
        assert_has(message, ": Permission denied");
    }
    assert_ok(file_remove_folder(root, &err), &err);
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
