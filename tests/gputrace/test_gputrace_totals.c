/* SPDX-License-Identifier: MIT */
/*
 * Counters by kernel (S3-06, S0-27): which kernel a launch was, from the order in which the timed
 * iterations launched theirs; sums of an iteration; and the way through a file.
 */
#include "testing.h"

#include "base/json.h"
#include "gputrace/kernel_totals.h"

#include <stdlib.h>

static void kernel(struct activity_list *list, const char *name, int64_t start,
                   uint32_t correlation)
{
    struct activity *a = activity_add(list, ACTIVITY_KERNEL);

    a->name = activity_name(list, name);
    a->start = start;
    a->end = start + 10;
    a->correlation = correlation;
}

/* Three iterations of gemm, norm, gemm, whose records came in another order. */
static void make_list(struct activity_list *list)
{
    activity_list_init(list);
    for (uint32_t i = 3; i-- > 0;) {
        kernel(list, "gemm", 1000 * i + 900, 10 * i + 3); /* of another stream, and late */
        kernel(list, "gemm", 1000 * i + 100, 10 * i + 1);
        activity_add(list, ACTIVITY_MEMSET)->correlation = 10 * i + 4;
        kernel(list, "norm", 1000 * i + 50, 10 * i + 2);
    }
}

static size_t length_of(const struct activity_list *list, size_t iterations)
{
    struct kernel_sequence sequence;

    kernel_sequence_of(list, iterations, &sequence);
    size_t nr = sequence.nr;
    kernel_sequence_release(&sequence);
    return nr;
}

TEST(order_of_launches)
{
    struct activity_list list;
    struct kernel_sequence s;

    make_list(&list);
    kernel_sequence_of(&list, 3, &s);
    assert_int_equal(s.nr, 3);
    assert_string_equal(s.items[0], "gemm");
    assert_string_equal(s.items[1], "norm");
    assert_string_equal(s.items[2], "gemm");
    kernel_sequence_release(&s);
    assert_int_equal(length_of(&list, 1), 9);
    assert_int_equal(length_of(&list, 2), 0); /* 9 launches are no two iterations */
    assert_int_equal(length_of(&list, 0), 0);
    list.dropped = 1;
    assert_int_equal(length_of(&list, 3), 0);
    activity_list_release(&list);
}

/* Nodes of a graph share the correlation of its launch. */
TEST(nodes_of_a_graph)
{
    struct activity_list list;
    struct kernel_sequence s;

    activity_list_init(&list);
    kernel(&list, "second", 220, 7);
    kernel(&list, "first", 200, 7);
    kernel(&list, "first", 100, 5);
    kernel(&list, "second", 120, 5);
    kernel_sequence_of(&list, 2, &s);
    assert_int_equal(s.nr, 2);
    assert_string_equal(s.items[0], "first");
    kernel_sequence_release(&s);
    activity_list_release(&list);
}

TEST(iterations_that_differ)
{
    struct activity_list list;

    activity_list_init(&list);
    assert_int_equal(length_of(&list, 3), 0);
    kernel(&list, "a", 0, 1);
    kernel(&list, "b", 10, 2);
    assert_int_equal(length_of(&list, 2), 0);
    assert_int_equal(length_of(&list, 1), 2);
    activity_list_release(&list);
}

/* Two iterations of gemm, norm, gemm. */
static void make_counters(struct counter_list *list)
{
    counter_list_init(list);
    for (int i = 0; i < 6; i++) {
        struct kernel_counters *k = counter_list_add(list, "", i);
        bool gemm = i % 3 != 1;
        kernel_counters_add(list, k, "dram__bytes_read.sum", "", gemm ? 1000 + i : 500);
        kernel_counters_add(list, k, "dram__bytes_write.sum", "", 100);
        kernel_counters_add(list, k, "sm__ops_path_tensor_src_fp16.sum", "", gemm ? 8e6 : 0);
    }
}

static struct kernel_sequence names_of(const struct activity_list *list)
{
    struct kernel_sequence s;

    kernel_sequence_of(list, 3, &s);
    return s;
}

TEST(sums_of_an_iteration)
{
    struct activity_list activities;
    struct counter_list list;
    struct kernel_totals t;

    make_list(&activities);
    make_counters(&list);
    struct kernel_sequence names = names_of(&activities);
    kernel_totals_of(&list, 2, &names, &t);
    assert_int_equal(t.nr, 2);
    assert_string_equal(t.items[0].name, "gemm");
    assert_close(t.items[0].launches, 2, 0);
    assert_close(t.items[0].work.bytes, (1000 + 1002 + 1003 + 1005 + 400) / 2.0, 0);
    assert_close(t.items[0].work.flops, 16e6, 0);
    assert_string_equal(t.items[1].name, "norm");
    assert_close(t.items[1].work.bytes, 600, 0);
    struct work all = kernel_totals_work(&t);
    assert_close(all.bytes, 2205 + 600, 0);
    assert_close(all.flops, 16e6, 0);
    kernel_totals_release(&t);
    kernel_sequence_release(&names);
    counter_list_release(&list);
    activity_list_release(&activities);
}

/* As many launches as are not those of the sequence: sums are known, kernels are not. */
TEST(without_names)
{
    static const struct kernel_sequence none = { .nr = 0 };
    struct counter_list list;
    struct kernel_totals t;

    make_counters(&list);
    kernel_totals_of(&list, 2, &none, &t);
    assert_int_equal(t.nr, 1);
    assert_string_equal(t.items[0].name, "");
    assert_close(t.items[0].launches, 3, 0);
    kernel_totals_release(&t);

    list.dropped = 2;
    kernel_totals_of(&list, 2, &none, &t);
    assert_true(isnan(kernel_totals_work(&t).bytes));
    kernel_totals_release(&t);

    kernel_counters_add(&list, counter_list_add(&list, "", 6), "dram__bytes_read.sum", "", 1);
    list.dropped = 0;
    kernel_totals_of(&list, 1, &none, &t);
    assert_true(isnan(kernel_totals_work(&t).bytes)); /* one of them lacks what was written */
    kernel_totals_release(&t);
    counter_list_release(&list);
}

TEST(through_a_file)
{
    struct kernel_total items[] = {
        { .name = (char *)"gemm<float>", .launches = 2.5, .work = { .flops = NAN, .bytes = 1e15 } },
        { .name = (char *)"", .launches = 1, .work = { .flops = 0, .bytes = 0.5 } },
    };
    const struct kernel_totals t = { .items = items, .nr = 2, .iterations = 3, .dropped = 4 };
    struct kernel_totals back;
    struct error err;

    char *text = json_take_text(kernel_totals_to_json(&t));
    cJSON *json = json_parse(text, strlen(text), "it", &err);
    assert_non_null(json);
    assert_ok(kernel_totals_from_json(json, &back, &err), &err);
    assert_int_equal(back.nr, 2);
    assert_int_equal(back.iterations, 3);
    assert_int_equal(back.dropped, 4);
    assert_string_equal(back.items[0].name, "gemm<float>");
    assert_close(back.items[0].launches, 2.5, 0);
    assert_close(back.items[0].work.bytes, 1e15, 0);
    assert_true(isnan(back.items[0].work.flops));
    assert_close(back.items[1].work.bytes, 0.5, 0);
    kernel_totals_release(&back);
    cJSON_Delete(json);
    free(text);

    json = json_parse("{\"iterations\":3,\"dropped\":0,\"kernels\":[{}]}", 43, "it", &err);
    assert_int_equal(kernel_totals_from_json(json, &back, &err), -1);
    assert_non_null(strstr(err.message, "kernel"));
    kernel_totals_release(&back);
    cJSON_Delete(json);
}

RUN_TESTS(NULL, NULL)
