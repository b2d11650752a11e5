/* SPDX-License-Identifier: MIT */
/*
 * Files of NVIDIA's profilers (S0-28, S3-11): `ncu --csv` in both forms and nsys' SQLite export,
 * from small files after the documented formats, and what is said of bad ones.
 */
#include "testing.h"

#include "base/file.h"
#include "gputrace/import.h"
#include "gputrace/units.h"
#include "stats/random.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#define FIXTURES HARNESS_SOURCE_DIR "/tests/fixtures/activity/"

static void import_csv(const char *path, struct counter_list *list)
{
    struct error err;

    counter_list_init(list);
    assert_ok(activity_import_ncu_csv(path, list, &err), &err);
    assert_int_equal(list->nr, 2);
}

TEST(launches_of_a_table)
{
    struct counter_list list;

    import_csv(FIXTURES "ncu_details.csv", &list);
    const struct kernel_counters *k = &list.items[0];
    assert_string_equal(k->name, "void gemm_tiled<float, 4>(const float *, int)");
    assert_int_equal(k->id, 0);
    assert_int_equal(k->device, 0);
    assert_int_equal(k->stream, 7);
    assert_memory_equal(k->block, ((int32_t[]) { 256, 1, 1 }), sizeof(k->block));
    assert_memory_equal(k->grid, ((int32_t[]) { 128, 4, 2 }), sizeof(k->grid));
    assert_int_equal(list.items[1].stream, 13);
    counter_list_release(&list);
}

TEST(one_metric_a_line)
{
    struct counter_list list;

    import_csv(FIXTURES "ncu_details.csv", &list);
    const struct kernel_counters *k = &list.items[0];
    assert_int_equal(k->nr, 4);
    assert_close(kernel_counters_value(k, "DRAM Frequency"), 2.61e9, 1);
    assert_close(kernel_counters_value(k, "Elapsed Cycles"), 1234567, 0);
    assert_close(kernel_counters_value(k, "Memory Throughput"), 1.2345e12, 1e-3);
    assert_close(kernel_counters_quantity(k, COUNTER_DURATION), 12500, 0);
    assert_string_equal(k->items[0].unit, "Hz");
    assert_string_equal(k->items[2].unit, "ns");
    assert_string_equal(k->items[3].unit, "byte/s");
    k = &list.items[1];
    assert_int_equal(k->nr, 1);
    assert_close(kernel_counters_quantity(k, COUNTER_DURATION), 250000, 0);
    counter_list_release(&list);
}

/* A launch is a row, whatever its ID. */
TEST(one_launch_a_line)
{
    struct counter_list list;

    import_csv(FIXTURES "ncu_raw.csv", &list);
    const struct kernel_counters *k = &list.items[0];
    assert_int_equal(k->nr, 4);
    assert_close(kernel_counters_quantity(k, COUNTER_DRAM_BYTES), 1500000 + 2048000, 0);
    assert_close(kernel_counters_quantity(k, COUNTER_DURATION), 12500, 0);
    assert_close(kernel_counters_value(k, "sm__sass_thread_inst_executed_op_ffma_pred_on.sum"),
                 1048576, 0);
    assert_close(
        kernel_counters_value(&list.items[1], "sm__sass_thread_inst_executed_op_ffma_pred_on.sum"),
        12, 0);
    counter_list_release(&list);
}

static void assert_bad_csv(const char *text, const char *message)
{
    struct counter_list list;
    struct error err = { "" };

    counter_list_init(&list);
    assert_int_equal(activity_import_ncu_text(text, strlen(text), "f.csv", &list, &err), -1);
    if (!strstr(err.message, message))
        fail_msg("\"%s\" is not in: %s", message, err.message);
    counter_list_release(&list);
}

#define LONG_HEADER "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"

TEST(bad_csv)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "f.csv: no table" },
        { "==PROF== only words\n", "no table" },
        { "\"ID\",\"Metric Name\",\"Metric Value\"\n", "f.csv:1: the table has no column" },
        { "\"ID\",\"Kernel Name\",\"Metric Name\"\n", "no \"Metric Value\"" },
        { LONG_HEADER "\"0\",\"k\",\"Duration\"\n", "f.csv:2: 3 fields, the header has 5" },
        { LONG_HEADER "\"0\",\"k\",\"Duration\",\"ns\",\"1.2.3\"\n",
          "f.csv:2:25: Metric Value: \"1.2.3\" is no number" },
        { LONG_HEADER "\"0\",\"k\",\"Duration\",\"ns\",\"1,23\"\n", "is no number" },
        { LONG_HEADER "\"0\",\"k\",\"Duration\",\"ns\",\"1,2345\"\n", "is no number" },
        { LONG_HEADER "\"0\",\"k\",\"Duration\",\"ns\",\",234\"\n", "is no number" },
        { LONG_HEADER "\"x\",\"k\",\"Duration\",\"ns\",\"1\"\n", "f.csv:2:1: ID: \"x\"" },
        { LONG_HEADER "\"0\",\"k", "f.csv:2:5: the quote is never closed" },
        { LONG_HEADER "\"0\"x,\"k\"\n", "f.csv:2:4: a comma must follow" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_bad_csv(cases[i].text, cases[i].message);
}

/* Bytes changed at random: an error or not, but nothing worse, which the sanitizers would tell. */
TEST(damaged_csv)
{
    static const char *const files[] = { FIXTURES "ncu_details.csv", FIXTURES "ncu_raw.csv" };
    static const char bytes[] = "\",\n\r0 (x";
    struct random random;
    struct error err;
    size_t length, errors = 0;

    random_seed(&random, 8);
    for (int i = 0; i < 400; i++) {
        char *text = file_read(files[i % 2], FILE_RECORDS_MOST, &length, &err);
        struct counter_list list;
        for (int change = 0; change < 3; change++)
            text[random_below(&random, length)] = bytes[random_below(&random, sizeof(bytes) - 1)];
        counter_list_init(&list);
        errors += activity_import_ncu_text(text, length, "f.csv", &list, &err) != 0;
        counter_list_release(&list);
        free(text);
    }
    assert_in_range(errors, 1, 399);
}

/* Line ends of another system, a byte-order mark, no quotes, an empty line, no last line end. */
TEST(forms_of_csv)
{
    const char text[] =
        "\xef\xbb\xbfID,Kernel Name,Metric Name,Metric Unit,Metric Value\r\n"
        "0,k,Duration,second,2\r\n\r\n"
        "==WARNING== words, between\r\n"
        "0,k,Cycles,Kcycle/second,-1.5e3";
    struct counter_list list;
    struct error err;

    counter_list_init(&list);
    assert_ok(activity_import_ncu_text(text, strlen(text), "f.csv", &list, &err), &err);
    assert_int_equal(list.nr, 1);
    assert_close(kernel_counters_value(&list.items[0], "Duration"), 2e9, 0);
    assert_close(kernel_counters_value(&list.items[0], "Cycles"), -1.5e6, 0);
    counter_list_release(&list);
}

TEST(units)
{
    static const struct {
        const char *unit, *plain;
        double factor;
    } rows[] = {
        { "nsecond", "ns", 1 },
        { "usecond", "ns", 1e3 },
        { "ms", "ns", 1e6 },
        { "second", "ns", 1e9 },
        { "byte", "byte", 1 },
        { "Mbyte", "byte", 1e6 },
        { "Tbyte/s", "byte/s", 1e12 },
        { "Kbyte/block", "byte/block", 1e3 },
        { "cycle/nsecond", "cycle/s", 1e9 },
        { "Mhz", "Hz", 1e6 },
        { "%", "%", 1 },
        { "register/thread", "register/thread", 1 },
        { "inst/cycle", "inst/cycle", 1 },
        { "", "", 1 },
        { "Kinst", "inst", 1e3 },
        { "Mystery", "Mystery", 1 },
    };
    char plain[COUNTER_UNIT_SIZE];

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_close(counter_unit(rows[i].unit, plain), rows[i].factor, 0);
        assert_string_equal(plain, rows[i].plain);
    }
}

/* Of the fixture: nine activities and five names. */
enum { NSYS_ROWS = 14, ROWS_MOST = 100 };

/* A database of the test's own from the fixture, changed by `more`. */
static const char *database(const char *more)
{
    static const char path[] = HARNESS_TEST_DIR "/activity_import.sqlite";
    struct error err;
    size_t length = 0;
    char *script = file_read(FIXTURES "nsys.sql", FILE_RECORDS_MOST, &length, &err);
    sqlite3 *db = NULL;

    unlink(path);
    assert_non_null(script);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, script, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, more, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    free(script);
    return path;
}

TEST(nsys_export)
{
    struct activity_list list;
    struct error err;

    activity_list_init(&list);
    assert_ok(activity_import_nsys(database(""), ROWS_MOST, &list, &err), &err);
    assert_int_equal(list.nr, 9);
    assert_false(list.has_clock);
    const struct activity *a = list.items;
    assert_int_equal(a[0].kind, ACTIVITY_RANGE);
    assert_string_equal(a[0].name, "forward");
    assert_int_equal(a[0].thread, 4250);
    assert_int_equal(a[0].process, 4242);
    assert_string_equal(a[1].name, "layer 0");
    assert_int_equal(a[2].kind, ACTIVITY_DRIVER);
    assert_string_equal(a[2].name, "cuMemAlloc_v2");
    assert_int_equal(a[2].result, 2);
    assert_int_equal(a[3].kind, ACTIVITY_RUNTIME);
    assert_string_equal(a[3].name, "cudaLaunchKernel");
    assert_int_equal(a[4].kind, ACTIVITY_KERNEL);
    assert_string_equal(a[4].name, "void gemm<float>(const float *)");
    assert_int_equal(a[4].correlation, a[3].correlation);
    assert_int_equal(a[4].process, 4242);
    assert_int_equal(a[4].device, 1);
    assert_int_equal(a[4].registers, 96);
    assert_int_equal(a[4].shared, 49152);
    assert_int_equal(a[4].graph_node, 77);
    assert_memory_equal(a[4].grid, ((int32_t[]) { 128, 4, 2 }), sizeof(a[4].grid));
    assert_memory_equal(a[4].block, ((int32_t[]) { 256, 1, 1 }), sizeof(a[4].block));
    assert_string_equal(a[5].name, "memcpy DtoH");
    assert_true(a[5].bytes == 5000000000);
    assert_int_equal(a[6].bytes, 512);
    assert_int_equal(a[7].kind, ACTIVITY_SYNC);
    assert_int_equal(a[7].device, -1);
    assert_string_equal(a[8].name, "graph 6");
    activity_list_release(&list);
}

/* Older and smaller exports lack tables and columns. */
TEST(what_may_be_missing)
{
    struct activity_list list;
    struct error err;

    activity_list_init(&list);
    assert_ok(activity_import_nsys(database("DROP TABLE NVTX_EVENTS; DROP TABLE StringIds;"
                                            "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME;"
                                            "DROP TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;"
                                            "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL"
                                            " DROP COLUMN graphNodeId"),
                                   ROWS_MOST, &list, &err),
              &err);
    assert_int_equal(list.nr, 4);
    assert_string_equal(list.items[0].name, "unnamed kernel");
    assert_int_equal(list.items[0].graph_node, 0);
    activity_list_release(&list);
}

/* Two processes that see one GPU each call both by one number; the file tells which they are. */
TEST(numbers_of_gpus_are_a_process_own)
{
    static const char kernel[] =
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 5500, 5600, deviceId, contextId, streamId,"
        " 0, 281474976710656 + 4243 * 16777216, demangledName, shortName, mangledName, launchType,"
        " cacheConfig, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ,"
        " staticSharedMemory, dynamicSharedMemory, NULL FROM CUPTI_ACTIVITY_KIND_KERNEL;";
    static const struct {
        const char *devices;
        int32_t gpu[2];
    } rows[] = {
        { "", { 1, 1 } },
        { "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
          "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (6, 1, 4243), (4, 0, 4242), (5, 1, 4242)",
          { 5, 6 } },
        { "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
          "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (6, 1, 4243)",
          { 1, 6 } },
        { "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER);"
          "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (6, 1)",
          { 1, 1 } },
    };
    char change[1024];
    struct error err;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct activity_list list;
        snprintf(change, sizeof(change), "%s%s", kernel, rows[i].devices);
        activity_list_init(&list);
        assert_ok(activity_import_nsys(database(change), ROWS_MOST, &list, &err), &err);
        assert_int_equal(list.items[4].process, 4242);
        assert_int_equal(list.items[4].device, rows[i].gpu[0]);
        assert_int_equal(list.items[5].process, 4243);
        assert_int_equal(list.items[5].device, rows[i].gpu[1]);
        activity_list_release(&list);
    }
}

TEST(copies_of_unified_memory)
{
    static const char *const names[] = { "memcpy HtoD", "memcpy DtoH", "memcpy DtoD", "memcpy ?" };
    char change[128];
    struct error err;

    for (int i = 0; i < 4; i++) {
        struct activity_list list;
        snprintf(change, sizeof(change), "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = %d",
                 MEMCPY_KIND_NR + i);
        activity_list_init(&list);
        assert_ok(activity_import_nsys(database(change), ROWS_MOST, &list, &err), &err);
        assert_string_equal(list.items[5].name, names[i]);
        activity_list_release(&list);
    }
}

static void assert_bad_export(const char *path, const char *message)
{
    struct activity_list list;
    struct error err = { "" };

    activity_list_init(&list);
    assert_int_equal(activity_import_nsys(path, ROWS_MOST, &list, &err), -1);
    if (!strstr(err.message, message))
        fail_msg("\"%s\" is not in: %s", message, err.message);
    activity_list_release(&list);
}

TEST(bad_exports)
{
    assert_bad_export(HARNESS_TEST_DIR "/no such file.sqlite", "unable to open");
    assert_bad_export(FIXTURES "nsys.sql", "not a database");
    assert_bad_export(database("ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY DROP COLUMN bytes"),
                      "CUPTI_ACTIVITY_KIND_MEMCPY has no column bytes");
    assert_bad_export(database("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET \"end\" = 5"),
                      "CUPTI_ACTIVITY_KIND_KERNEL, row 1: no time");
    assert_bad_export(database("UPDATE NVTX_EVENTS SET start = 'soon' WHERE start = 60"),
                      "NVTX_EVENTS, row 2: no time");
    assert_bad_export(
        database("DROP TABLE NVTX_EVENTS; DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME;"
                 "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY;"
                 "DROP TABLE CUPTI_ACTIVITY_KIND_MEMSET;"
                 "DROP TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;"
                 "DROP TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE"),
        "none of the tables");
}

/* Rows that would be read, counted before any is: marks are not, names are. */
TEST(rows_are_counted_first)
{
    static const char broken[] = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET \"end\" = 5";
    struct activity_list list;
    struct error err = { "" };

    activity_list_init(&list);
    assert_ok(activity_import_nsys(database(""), NSYS_ROWS, &list, &err), &err);
    activity_list_release(&list);
    activity_list_init(&list);
    assert_int_equal(activity_import_nsys(database(broken), NSYS_ROWS - 1, &list, &err), -1);
    assert_has(err.message, "rows of events and names; up to");
    assert_int_equal(list.nr, 0);
    activity_list_release(&list);
}

/* Texts of a file are only ever data. */
TEST(hostile_names)
{
    struct activity_list list;
    struct error err;

    activity_list_init(&list);
    assert_ok(activity_import_nsys(
                  database("UPDATE StringIds SET value = '''; DROP TABLE x; --' WHERE id = 3;"
                           "UPDATE NVTX_EVENTS SET text = '</script>%s%n' WHERE start = 60"),
                  ROWS_MOST, &list, &err),
              &err);
    assert_string_equal(list.items[4].name, "'; DROP TABLE x; --");
    assert_string_equal(list.items[1].name, "</script>%s%n");
    activity_list_release(&list);
}

RUN_TESTS(NULL, NULL)
