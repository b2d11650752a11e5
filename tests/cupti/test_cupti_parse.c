/* SPDX-License-Identifier: MIT */
/*
 * CUPTI's records to activities (S3-01, S3-11, S3-12): a buffer dumped from NVIDIA's own structs,
 * versions of records, damaged buffers, names. Where the real library is installed, its steps
 * through the same buffer are those of our own sizes; it needs no GPU for that.
 */
#include "testing.h"

#include "base/file.h"
#include "cupti/cupti_library.h"
#include "cupti/cupti_parse.h"
#include "cupti/cupti_records.h"
#include "gputrace/activity.h"

#include <ctype.h>
#include <stdlib.h>

enum { BUFFER = 4096, KERNELS = 3, KERNEL_BYTES = 216, CALL_BYTES = 40 };

struct buffer {
    _Alignas(8) unsigned char bytes[BUFFER];
    size_t length;
};

static unsigned digit(int c)
{
    return (unsigned)(isdigit(c) ? c - '0' : c - 'a' + 10);
}

/* The fixture: hex, with comment lines. */
static void load(struct buffer *b)
{
    struct error err;
    size_t length = 0;
    char *text = file_read(HARNESS_SOURCE_DIR "/tests/fixtures/activity/cupti_130001.hex",
                           FILE_RECORDS_MOST, &length, &err);

    assert_non_null(text);
    *b = (struct buffer) { .length = 0 };
    for (const char *c = text; *c; c++) {
        if (*c == '#')
            c = strchr(c, '\n');
        if (!isxdigit((unsigned char)c[0]))
            continue;
        b->bytes[b->length++] = (unsigned char)(digit(c[0]) << 4 | digit(c[1]));
        c++;
    }
    free(text);
    /* Its pointers were of another process. */
    for (int i = 0; i < KERNELS; i++) {
        size_t at = CALL_BYTES + (size_t)i * KERNEL_BYTES + offsetof(struct cupti_kernel, name);
        const char *name = i == 0 ? "_ZN4gemm5tiledIfEEvPKT_i" : "plain_name";
        memcpy(b->bytes + at, &name, sizeof(name));
    }
}

static const char *number_to_name(const void *ctx, enum activity_kind kind, uint32_t number)
{
    (void)ctx;
    return kind == ACTIVITY_RUNTIME && number == 211 ? "cudaLaunchKernel_v7000" : NULL;
}

static const struct cupti_reader reader = { .version = 130001, .call_name = number_to_name };

/* The fixture as a list. */
static void parse(struct activity_list *list)
{
    struct buffer b;
    struct error err;

    load(&b);
    activity_list_init(list);
    assert_ok(cupti_parse_buffer(&reader, b.bytes, b.length, list, &err), &err);
}

#define ACTIVITY_TEST(name) TEST_WITH_A(name, struct activity_list, list, activity_list_release)

ACTIVITY_TEST(whole_buffer)
{
    parse(list);
    assert_int_equal(list->nr, 9);
    assert_int_equal(list->untimed, 1);
    assert_int_equal(list->unread, 0);

    const struct activity *a = list->items;
    assert_int_equal(a[0].kind, ACTIVITY_RUNTIME);
    assert_string_equal(a[0].name, "cudaLaunchKernel");
    assert_int_equal(a[0].end - a[0].start, 450);
    assert_int_equal(a[0].process, 4242);
    assert_int_equal(a[0].thread, 77);
    assert_int_equal(a[0].device, -1);

    assert_int_equal(a[1].kind, ACTIVITY_KERNEL);
    assert_string_equal(a[1].name, "void gemm::tiled<float>(float const*, int)");
    assert_true(a[1].start == 5000000000123 && a[1].end == 5000000004456);
    assert_int_equal(a[1].device, 1);
    assert_int_equal(a[1].context, 2);
    assert_int_equal(a[1].stream, 13);
    assert_int_equal(a[1].correlation, a[0].correlation);
    assert_int_equal(a[1].registers, 96);
    assert_int_equal(a[1].static_shared, 1024);
    assert_int_equal(a[1].shared, 49152);
    assert_memory_equal(a[1].grid, ((int32_t[]) { 128, 4, 2 }), sizeof(a[1].grid));
    assert_memory_equal(a[1].block, ((int32_t[]) { 256, 1, 1 }), sizeof(a[1].block));
    assert_int_equal(a[1].graph, 0);
    assert_true(a[2].graph_node == 0x1122334455667788 && a[2].graph == 6);
    assert_string_equal(a[2].name, "plain_name");
}

ACTIVITY_TEST(other_records)
{
    parse(list);
    const struct activity *a = list->items;
    assert_int_equal(a[3].kind, ACTIVITY_MEMCPY);
    assert_string_equal(a[3].name, "memcpy HtoD");
    assert_int_equal(a[3].copy, MEMCPY_HOST_TO_DEVICE);
    assert_true(a[3].bytes == 6000000000);
    assert_int_equal(a[3].correlation, 11);
    assert_int_equal(a[3].graph, 6);
    assert_int_equal(a[4].copy, MEMCPY_PEER_TO_PEER);
    assert_int_equal(a[4].bytes, 4096);
    assert_int_equal(a[4].correlation, 12);
    assert_int_equal(a[5].kind, ACTIVITY_MEMSET);
    assert_int_equal(a[5].bytes, 512);
    assert_int_equal(a[5].end - a[5].start, 10);
    assert_int_equal(a[6].kind, ACTIVITY_SYNC);
    assert_string_equal(a[6].name, "wait for stream");
    assert_int_equal(a[6].device, -1);
    assert_int_equal(a[7].kind, ACTIVITY_GRAPH);
    assert_string_equal(a[7].name, "graph 6");
    assert_int_equal(a[7].end - a[7].start, 800);
    assert_int_equal(a[8].kind, ACTIVITY_DRIVER);
    assert_string_equal(a[8].name, "driver call 307");
    assert_int_equal(a[8].result, 700);
}

/* CUDA 12.8's kernel record is 8 bytes shorter and starts alike. */
ACTIVITY_TEST(older_record)
{
    struct cupti_reader older = { .version = 26 };
    struct buffer b;
    struct error err;

    load(&b);
    memmove(b.bytes + CALL_BYTES + KERNEL_BYTES - 8, b.bytes + CALL_BYTES + KERNEL_BYTES,
            KERNEL_BYTES);
    activity_list_init(list);
    assert_ok(cupti_parse_buffer(&older, b.bytes, CALL_BYTES + 2 * (KERNEL_BYTES - 8), list, &err),
              &err);
    assert_int_equal(list->nr, 3);
    assert_int_equal(list->items[1].registers, 96);
    assert_string_equal(list->items[2].name, "plain_name");
    assert_string_equal(list->items[0].name, "runtime call 211");
}

static void assert_bad(const struct cupti_reader *r, const struct buffer *b, size_t nr,
                       const char *part)
{
    struct activity_list list;
    struct error err = { "" };

    activity_list_init(&list);
    assert_int_equal(cupti_parse_buffer(r, b->bytes, b->length, &list, &err), -1);
    if (!strstr(err.message, part))
        fail_msg("\"%s\" is not in: %s", part, err.message);
    assert_int_equal(list.nr, nr);
    activity_list_release(&list);
}

TEST(damaged_buffers)
{
    struct cupti_reader newer = { .version = 140000 }, old = { .version = 18 };
    struct buffer b;
    struct error err;

    load(&b);
    assert_bad(&newer, &b, 0, "140000");
    assert_bad(&old, &b, 0, "18");
    b.length = CALL_BYTES + 100;
    assert_bad(&reader, &b, 1, "byte 40: a record of 216 bytes is cut off after 100");
    b.length = CALL_BYTES + 2;
    assert_bad(&reader, &b, 1, "byte 40: 2 bytes are no record");
    b.length = CALL_BYTES + KERNEL_BYTES;
    b.bytes[CALL_BYTES] = 60;
    assert_bad(&reader, &b, 1, "byte 40: a record of kind 60");
    assert_int_equal(cupti_version_supported(17, &err), -1);
    assert_int_equal(cupti_version_supported(18, &err), 0);
}

ACTIVITY_TEST(unknown_records_are_counted)
{
    struct cupti_call record = { .kind = 60 };

    activity_list_init(list);
    cupti_parse_record(&reader, &record, list);
    assert_int_equal(list->unread, 1);
    assert_int_equal(list->nr, 0);
}

TEST(the_library_steps_alike)
{
    struct cupti_library library;
    struct activity_list ours, theirs;
    struct buffer b;
    struct error err;
    void *record = NULL;

    load(&b);
    if (cupti_library_open(&library, &err))
        skip();
    if (library.version < 130000 || library.version > 130001) {
        cupti_library_close(&library);
        skip();
    }
    parse(&ours);
    activity_list_init(&theirs);
    while (library.call.next_record(b.bytes, b.length, &record) == CUPTI_OK)
        cupti_parse_record(&reader, record, &theirs);
    assert_int_equal(theirs.nr, ours.nr);
    for (size_t i = 0; i < ours.nr; i++) {
        assert_int_equal(theirs.items[i].kind, ours.items[i].kind);
        assert_true(theirs.items[i].start == ours.items[i].start);
        assert_string_equal(theirs.items[i].name, ours.items[i].name);
    }
    activity_list_release(&ours);
    activity_list_release(&theirs);
    cupti_library_close(&library);
}

ACTIVITY_TEST(names)
{
    activity_list_init(list);
    assert_string_equal(activity_name(list, "_Z3addIiEvT_"), "void add<int>(int)");
    assert_string_equal(activity_name(list, "_Zbroken"), "_Zbroken");
    assert_string_equal(activity_name(list, "f"), "f");
    assert_string_equal(activity_name(list, NULL), "");
    assert_string_equal(activity_call_name(list, "cuMemAlloc_v2"), "cuMemAlloc_v2");
    assert_string_equal(activity_call_name(list, "cudaMemcpyAsync_v3020"), "cudaMemcpyAsync");
    const char *first = activity_name(list, "name 7");
    for (int i = 0; i < 1000; i++) {
        char name[32];
        snprintf(name, sizeof(name), "name %d", i);
        assert_string_equal(activity_name(list, name), name);
    }
    assert_ptr_equal(activity_name(list, "name 7"), first);
}

TEST(copies_have_names)
{
    static const char *const expected[] = { "?",    "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                            "AtoD", "DtoA", "DtoD", "HtoH", "PtoP" };

    for (int i = 0; i < MEMCPY_KIND_NR; i++)
        assert_string_equal(memcpy_kind_name(i), expected[i]);
    assert_string_equal(memcpy_kind_name(-1), "?");
    assert_string_equal(memcpy_kind_name(MEMCPY_KIND_NR), "?");
    assert_true(memcpy_kind_is_transfer(MEMCPY_DEVICE_TO_HOST));
    assert_false(memcpy_kind_is_transfer(MEMCPY_DEVICE_TO_DEVICE));
}

ACTIVITY_TEST(sorted_parents_first)
{
    static const int64_t times[][2] = { { 5, 9 }, { 1, 3 }, { 5, 20 }, { 5, 9 } };

    activity_list_init(list);
    for (uint32_t i = 0; i < 4; i++) {
        struct activity *a = activity_add(list, ACTIVITY_RANGE);
        a->start = times[i][0];
        a->end = times[i][1];
        a->thread = i;
    }
    activity_sort(list);
    assert_int_equal(list->items[0].thread, 1);
    assert_int_equal(list->items[1].thread, 2);
    assert_int_equal(list->items[2].thread, 0);
    assert_int_equal(list->items[3].thread, 3);
}

RUN_TESTS(NULL, NULL)
