/* SPDX-License-Identifier: MIT */
#include "gputrace/counter_list.h"

#include "base/array.h"
#include "gputrace/names.h"

#include <math.h>
#include <string.h>

enum { ALTERNATIVES = 2, TERMS = 3 };

struct term {
    const char *metric;
    double weight;
};

/* The first alternative is what is collected, others are what imported files may have instead. A
 * partial sum suffices where a kernel may use one unit and not the other. */
static const struct quantity {
    bool partial;
    struct term terms[ALTERNATIVES][TERMS];
} quantities[COUNTER_QUANTITY_NR] = {
    [COUNTER_DURATION] = { .terms = { { { "gpu__time_duration.sum", 1 } },
                                      { { "Duration", 1 } } } },
    [COUNTER_DRAM_BYTES] = { .terms = { { { "dram__bytes_read.sum", 1 },
                                          { "dram__bytes_write.sum", 1 } },
                                        { { "dram__bytes.sum", 1 } } } },
    [COUNTER_FP32_FLOPS] = { .terms = { { { "sm__sass_thread_inst_executed_op_ffma_pred_on.sum",
                                            2 },
                                          { "sm__sass_thread_inst_executed_op_fadd_pred_on.sum",
                                            1 },
                                          { "sm__sass_thread_inst_executed_op_fmul_pred_on.sum",
                                            1 } } } },
    [COUNTER_TENSOR_FLOPS] = { .partial = true,
                               .terms = { { { "sm__ops_path_tensor_src_bf16_dst_fp32.sum", 1 },
                                            { "sm__ops_path_tensor_src_tf32_dst_fp32.sum", 1 },
                                            { "sm__ops_path_tensor_src_fp16.sum", 1 } } } },
};

void counter_list_init(struct counter_list *list)
{
    *list = (struct counter_list) { .names = activity_names_create() };
}

void counter_list_release(struct counter_list *list)
{
    for (size_t i = 0; i < list->nr; i++)
        free(list->items[i].items);
    free(list->items);
    activity_names_free(list->names);
    *list = (struct counter_list) { 0 };
}

struct kernel_counters *counter_list_add(struct counter_list *list, const char *name, int64_t id)
{
    struct kernel_counters *k = array_push(list);

    k->name = activity_names_get(list->names, name);
    k->id = id;
    k->device = -1;
    return k;
}

struct kernel_counter *kernel_counters_add(struct counter_list *list, struct kernel_counters *k,
                                           const char *metric, const char *unit, double value)
{
    struct kernel_counter *c = array_push(k);

    c->metric = activity_names_get(list->names, metric);
    c->unit = activity_names_get(list->names, unit);
    c->value = value;
    return c;
}

double kernel_counters_value(const struct kernel_counters *k, const char *metric)
{
    for (size_t i = 0; i < k->nr; i++)
        if (strcmp(k->items[i].metric, metric) == 0)
            return k->items[i].value;
    return NAN;
}

/* NaN where there is no term, or one is missing that may not be. */
static double weighted_sum(const struct kernel_counters *k, const struct term terms[TERMS],
                           bool partial)
{
    double sum = 0;
    int nr = 0;

    for (int i = 0; i < TERMS && terms[i].metric; i++) {
        double value = kernel_counters_value(k, terms[i].metric);
        if (isnan(value) && !partial)
            return NAN;
        if (isnan(value))
            continue;
        sum += terms[i].weight * value;
        nr++;
    }
    return nr > 0 ? sum : (double)NAN;
}

double kernel_counters_quantity(const struct kernel_counters *k, enum counter_quantity quantity)
{
    const struct quantity *q = &quantities[quantity];
    double value = NAN;

    for (int i = 0; i < ALTERNATIVES && isnan(value); i++)
        value = weighted_sum(k, q->terms[i], q->partial);
    return value;
}

size_t counter_quantity_metrics(unsigned wanted, const char **metrics, size_t most)
{
    size_t nr = 0;

    for (int q = 0; q < COUNTER_QUANTITY_NR; q++)
        for (int i = 0; wanted & 1u << q && i < TERMS && quantities[q].terms[0][i].metric; i++)
            if (nr < most)
                metrics[nr++] = quantities[q].terms[0][i].metric;
    return nr;
}
