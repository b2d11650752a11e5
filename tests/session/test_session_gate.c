/* SPDX-License-Identifier: MIT */
/* What the gate reads: commands of benchmarks and the programs in them, the jobs of forges. */
#include "testing.h"

#include "base/file.h"
#include "session/bench/bench.h"
#include "session/bench/bench_keys.h"
#include "session/bench/bench_out.h"
#include "session/bench/reach.h"
#include "session/builds/gate_event.h"
#include "session/builds/repository.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

TEST(a_command_has_a_name)
{
    static const struct {
        const char *text, *name, *command;
        bool named;
    } cases[] = {
        { "$BUILD/bench", "bench", "$BUILD/bench", false },
        { "\"$BUILD/bin/my-bench\" --x=y", "my-bench", "\"$BUILD/bin/my-bench\" --x=y", false },
        { "OMP_NUM_THREADS=4 ./run it", "run", "OMP_NUM_THREADS=4 ./run it", false },
        { "sort: $BUILD/x", "sort", "$BUILD/x", true },
        { "a.b-c_1:   sh x", "a.b-c_1", "sh x", true },
        { "sort:$BUILD/x", "x", "sort:$BUILD/x", false },
        { "/", "bench", "/", false },
        { "; rm", "bench", "; rm", false },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench_list list = { 0 };
        struct error err;
        assert_ok(bench_list_add(&list, cases[i].text, &err), &err);
        assert_string_equal(list.items[0].name, cases[i].name);
        assert_string_equal(list.items[0].command, cases[i].command);
        assert_int_equal(list.items[0].named, cases[i].named);
        assert_int_equal(bench_list_add(&list, cases[i].text, &err), -1); /* twice */
        bench_list_release(&list);
    }
}

/* What cannot be opened is no folder that somebody else removed: the reason is said, and nothing is
 * left, or rmdir() of what holds it fails. */
TEST(a_folder_for_results_that_cannot_be_opened)
{
    char folder[] = HARNESS_TEST_DIR "/gate-out-XXXXXX";
    struct rlimit usual, none;
    struct bench_out out;
    struct error err;

    assert_non_null(mkdtemp(folder));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    none = (struct rlimit) { .rlim_cur = 0, .rlim_max = usual.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int rc = bench_out_begin(&out, folder, "t", &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    assert_int_equal(rc, -1);
    assert_non_null(strstr(err.message, ": Too many open files"));
    bench_out_end(&out, false);
    assert_int_equal(rmdir(folder), 0);

    assert_int_equal(bench_out_begin(&out, folder, "t", &err), -1); /* it is not there */
    bench_out_end(&out, false);
}

/* Added in no order, each is found, with its bench, and no other is. */
TEST(keys_are_found)
{
    enum { NR = 1000, STEP = 387 }; /* without a common factor: each number once */
    struct bench_keys keys = { 0 };
    char key[KEY_SIZE];

    assert_null(bench_keys_find(&keys, "k0"));
    for (size_t i = 0; i < NR; i++) {
        snprintf(key, sizeof(key), "k%zu", i * STEP % NR);
        assert_null(bench_keys_find(&keys, key));
        bench_keys_add(&keys, key, i);
    }
    for (size_t i = 0; i < NR; i++) {
        snprintf(key, sizeof(key), "k%zu", i * STEP % NR);
        const struct bench_key *found = bench_keys_find(&keys, key);
        assert_ptr_equal(found, &keys.known.items[i]);
        assert_string_equal(found->key, key);
        assert_true(found->need && found->bench == i);
    }
    for (size_t i = 1; i < NR; i++)
        assert_true(strcmp(keys.known.items[keys.order.items[i - 1]].key,
                           keys.known.items[keys.order.items[i]].key) < 0);
    assert_null(bench_keys_find(&keys, "k"));
    assert_null(bench_keys_find(&keys, "k1000"));
    assert_null(bench_keys_find(&keys, "l"));
    bench_keys_release(&keys);
}

/* A program of Google Benchmark with 1,200 names of 126 characters. */
static const char many_names[] =
    "awk 'BEGIN {\n"
    "  printf \"{\\\"context\\\": {\\\"num_cpus\\\": 4}, \\\"benchmarks\\\": [\"\n"
    "  for (i = 0; i < 1200; i++)\n"
    "    printf \"%s{\\\"name\\\": \\\"BM_%0123d\\\", \\\"run_type\\\": \\\"iteration\\\", "
    "\\\"iterations\\\": 9, \\\"real_time\\\": 5, \\\"cpu_time\\\": 5, \\\"time_unit\\\": "
    "\\\"us\\\"}\", "
    "(i ? \", \" : \"\"), i\n"
    "  print \"]}\"\n"
    "}' >\"$OUT\"";

/* Keys of what was measured, NULL-ended, as what is wanted now. */
static const char **wanted_of(const struct imported *result)
{
    const char **wanted = calloc(result->records.nr + 1, sizeof(*wanted));

    for (size_t i = 0; i < result->records.nr; i++)
        wanted[i] = result->records.items[i].m.bench.key;
    return wanted;
}

/* The filter of what is wanted would be longer than a variable can be: all is measured then. */
TEST(a_filter_that_is_too_long_is_none)
{
    const struct bench_place place = {
        .who = "base", .source = ".", .build = ".", .folder = HARNESS_TEST_DIR
    };
    static const struct measuring measuring = { .timeout = 60 };
    struct bench_list list = { 0 };
    struct imported all, again;
    struct error err;

    assert_ok(bench_list_add(&list, many_names, &err), &err);
    struct bench_call call = { .bench = list.items, .place = &place, .measuring = &measuring };
    assert_ok(bench_run(&call, &all, &err), &err);
    assert_int_equal(all.records.nr, 1200);
    const char **wanted = wanted_of(&all);
    call.wanted = wanted;
    assert_ok(bench_run(&call, &again, &err), &err);
    assert_int_equal(again.records.nr, 1200);
    assert_false(list.items->heeds_no_filter); /* nobody asked it for less */
    imported_release(&again);
    imported_release(&all);
    free(wanted);
    bench_list_release(&list);
}

/* Links lead to a forge, and have nobody's password. */
TEST(a_remote_has_pages_of_commits)
{
    static const struct {
        const char *remote, *address; /* "": none */
    } cases[] = {
        { "git@github.com:owner/name.git", "https://github.com/owner/name/commit/" },
        { "https://github.com/owner/name", "https://github.com/owner/name/commit/" },
        { "https://user:secret@gitlab.com/group/sub/name.git",
          "https://gitlab.com/group/sub/name/commit/" },
        { "https://x-access-token:a@b.c@forge.example/o/n.git", "" }, /* no plain host */
        { "ssh://git@forge.example:2222/owner/name.git/",
          "https://forge.example/owner/name/commit/" },
        { "http://forge.example:3000/owner/name.git",
          "http://forge.example:3000/owner/name/commit/" },
        { "git://forge.example/~owner/name", "https://forge.example/~owner/name/commit/" },
        { "git@bitbucket.org:owner/name.git", "https://bitbucket.org/owner/name/commits/" },
        { "/srv/git/name.git", "" },
        { "../name", "" },
        { "file:///srv/git/name.git", "" },
        { "host:owner/name.git", "" },
        { "git@forge.example:name.git", "" },
        { "https://forge.example/owner/../name", "" },
        { "https://forge.example/owner/na\"me", "" },
        { "https://forge.example", "" },
        { "javascript://forge.example/o/n", "" },
        { "", "" },
    };
    struct strbuf out;

    strbuf_init(&out);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        strbuf_clear(&out);
        repository_commit_address(cases[i].remote, &out);
        if (strcmp(out.length ? out.data : "", cases[i].address) != 0)
            fail_msg("%s: \"%s\"", cases[i].remote, out.data);
    }
    strbuf_release(&out);
}

TEST(no_command_is_refused)
{
    static const char *const cases[] = { "", "  ", "name: ", "name:  \t" };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench_list list = { 0 };
        struct error err;
        assert_int_equal(bench_list_add(&list, cases[i], &err), -1);
        bench_list_release(&list);
    }
}

TEST(a_command_names_what_it_needs_below_the_build)
{
    static const struct {
        const char *command, *programs; /* NULL: none, or it cannot be told */
    } cases[] = {
        { "$BUILD/bench", "bench" },
        { "\"$BUILD/bin/bench\" --x", "bin/bench" },
        { "${BUILD}/a | ${BUILD}/b", "a b" },
        { "\"$BUILD\"/a b", "a" },
        { "taskset 1 $BUILD/bench;true", "bench" },
        { "LD_PRELOAD=$BUILD/libx.so:$BUILD/liby.so $BUILD/bench", "libx.so liby.so bench" },
        { "$BUILD/wrapper \"${BUILD}\"/bench", "wrapper bench" },
        { "$BUILD/bench --out=$BUILD/times <$BUILD/data", "bench times data" },
        { "sh -c '$BUILD/a $(\"$BUILD/b\")'", "a b" },
        { "$BUILD/bench $BUILDS/y $SOURCE/x", "bench" },
        { "python3 x.py $BUILDS/y", NULL },
        { "$SOURCE/x", NULL },
        { "cd $BUILD/ && ./x", NULL },
        { "cd $BUILD && ./a | $BUILD/b", NULL },
        { "PATH=\"$BUILD\":$PATH $BUILD/a", NULL },
        { "$BUILD/a$EXE", NULL },
        { "\"$BUILD/a\"$EXE", NULL },
        { "$BUILD/a; ${BUILD%/}/b", NULL },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct string_list programs = { 0 };
        struct strbuf said;
        strbuf_init(&said);
        bool found = reach_programs(cases[i].command, &programs);
        for (size_t k = 0; k < programs.nr; k++)
            strbuf_addf(&said, "%s%s", k ? " " : "", programs.items[k]);
        if (found != (cases[i].programs != NULL) ||
            (found && strcmp(said.data, cases[i].programs) != 0))
            fail_msg("%s: %d \"%s\"", cases[i].command, found, said.data);
        strbuf_release(&said);
        string_list_release(&programs);
    }
}

static void set_variable(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

#define HASH_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HASH_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

TEST(an_event_of_github)
{
    static const struct {
        const char *text;
        int rc;
        bool closed;
        int64_t number;
    } cases[] = {
        { "{\"action\":\"opened\",\"pull_request\":{\"number\":7,\"base\":{\"sha\":\"" HASH_A
          "\"},\"head\":{\"sha\":\"" HASH_B "\"}}}",
          0, false, 7 },
        { "{\"action\":\"closed\",\"pull_request\":{\"number\":7}}", 0, true, 7 },
        { "{\"action\":\"push\"}", -1, false, 0 },
        { "{\"pull_request\":{\"number\":\"7\",\"base\":{\"sha\":\"" HASH_A
          "\"},\"head\":{\"sha\":\"" HASH_B "\"}}}",
          -1, false, 0 },
        { "{\"pull_request\":{\"number\":7,\"base\":{\"sha\":\"-x\"},\"head\":{\"sha\":\"" HASH_B
          "\"}}}",
          -1, false, 7 },
        { "[]", -1, false, 0 },
        { "{", -1, false, 0 },
    };
    char path[] = "/tmp/harness-event-XXXXXX";
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    set_variable("CI_MERGE_REQUEST_IID", NULL);
    set_variable("GITHUB_EVENT_PATH", path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gate_event event;
        struct error err;
        assert_ok(file_write(path, cases[i].text, strlen(cases[i].text), &err), &err);
        assert_int_equal(gate_event_read(&event, &err), cases[i].rc);
        if (cases[i].rc)
            continue;
        assert_int_equal(event.closed, cases[i].closed);
        assert_int_equal(event.number, cases[i].number);
        assert_string_equal(event.base, cases[i].closed ? "" : HASH_A);
        assert_string_equal(event.head, cases[i].closed ? "" : HASH_B);
    }
    set_variable("GITHUB_EVENT_PATH", NULL);
    unlink(path);
}

TEST(a_job_of_gitlab)
{
    static const struct {
        const char *number, *base, *branch, *commit;
        int rc;
        const char *head;
    } cases[] = {
        { "7", HASH_A, NULL, HASH_B, 0, HASH_B }, { "7", HASH_A, HASH_B, HASH_A, 0, HASH_B },
        { "7", HASH_A, "", HASH_B, 0, HASH_B },   { "7", NULL, NULL, HASH_B, -1, "" },
        { "x", HASH_A, NULL, HASH_B, -1, "" },    { NULL, HASH_A, NULL, HASH_B, 0, "" },
    };

    set_variable("GITHUB_EVENT_PATH", NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gate_event event;
        struct error err;
        set_variable("CI_MERGE_REQUEST_IID", cases[i].number);
        set_variable("CI_MERGE_REQUEST_DIFF_BASE_SHA", cases[i].base);
        set_variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", cases[i].branch);
        set_variable("CI_COMMIT_SHA", cases[i].commit);
        assert_int_equal(gate_event_read(&event, &err), cases[i].rc);
        if (cases[i].rc == 0)
            assert_string_equal(event.head, cases[i].head);
    }
}

RUN_TESTS(NULL, NULL)
