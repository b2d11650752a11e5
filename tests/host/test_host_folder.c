/* SPDX-License-Identifier: MIT */
/* Features: S0-10. What is in a folder is told in order, or that it cannot be. */
#include "host/folder.h"

#include "testing.h"

#include "base/file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static const char folder[] = HARNESS_TEST_DIR "/host_folder";

static int set_up(void **state)
{
    static const char *const files[] = { "cpu1/online", "cpu0/online", "cpufreq/boost", ".hidden",
                                         "cpus" };
    char path[600];
    struct error err;

    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
        if (file_make_parent(path, &err) || file_write(path, "", 0, &err))
            return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    struct error err;

    (void)state;
    return file_remove_folder(folder, &err);
}

TEST(names_in_order)
{
    static const struct {
        const char *prefix, *names;
    } rows[] = {
        { "", ".hidden cpu0 cpu1 cpufreq cpus " },
        { "cpu", "cpu0 cpu1 cpufreq cpus " },
        { "cpu1", "cpu1 " },
        { ".", ".hidden " },
        { "gpu", "" },
    };
    struct error err;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct string_list names = { 0 };
        char all[128] = "";
        assert_ok(folder_names(folder, rows[i].prefix, &names, &err), &err);
        for (size_t n = 0; n < names.nr; n++)
            snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s ", names.items[n]);
        assert_string_equal(all, rows[i].names);
        string_list_release(&names);
    }
}

TEST(what_cannot_be_read)
{
    static const char *const rows[][2] = {
        { HARNESS_TEST_DIR "/host_folder/none", "/none: No such file or directory" },
        { HARNESS_TEST_DIR "/host_folder/cpus", "/cpus: Not a directory" },
    };
    struct string_list names = { 0 };
    struct error err;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_fails(folder_names(rows[i][0], "", &names, &err), &err, rows[i][1]);
        assert_int_equal(names.nr, 0);
    }
}

TEST(no_descriptor_is_left)
{
    struct string_list names = { 0 };
    struct rlimit limit, less;
    struct error err;
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);

    assert_true(next >= 0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    less = limit;
    less.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &less), 0);
    int rc = folder_names(folder, "", &names, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_fails(rc, &err, "Too many open files");
}

RUN_TESTS(set_up, tear_down)
