/* SPDX-License-Identifier: MIT */
#include "gputrace/work_check.h"

#include <math.h>

const struct work_bounds work_bounds_bytes = { 0.9, 1.25 };
const struct work_bounds work_bounds_flops = { 0.99, 1.05 };

static struct work_ratio judge_ratio(double modelled, double counted, struct work_bounds bounds)
{
    struct work_ratio r = { modelled, counted, NAN, WORK_UNKNOWN, bounds };

    if (!isfinite(modelled) || !isfinite(counted) || modelled <= 0)
        return r;
    r.ratio = counted / modelled;
    r.verdict = r.ratio < bounds.low ? WORK_FEWER : r.ratio > bounds.high ? WORK_MORE : WORK_AGREES;
    return r;
}

struct work_check work_compare(struct work model, struct work counted,
                               const struct work_bounds *bytes, const struct work_bounds *flops)
{
    return (struct work_check) {
        .bytes = judge_ratio(model.bytes, counted.bytes, bytes ? *bytes : work_bounds_bytes),
        .flops = judge_ratio(model.flops, counted.flops, flops ? *flops : work_bounds_flops),
    };
}

static double flops_of(const struct kernel_counters *k)
{
    double fp32 = kernel_counters_quantity(k, COUNTER_FP32_FLOPS);
    double tensor = kernel_counters_quantity(k, COUNTER_TENSOR_FLOPS);

    if (isnan(fp32))
        return tensor;
    return isnan(tensor) ? fp32 : fp32 + tensor;
}

struct work work_counted(const struct counter_list *list, size_t first, size_t nr)
{
    struct work sum = { 0 };

    if (nr == 0 || first > list->nr || nr > list->nr - first)
        return (struct work) { NAN, NAN };
    for (size_t i = first; i < first + nr; i++) {
        sum.bytes += kernel_counters_quantity(&list->items[i], COUNTER_DRAM_BYTES);
        sum.flops += flops_of(&list->items[i]);
    }
    return sum;
}

const char *work_verdict_name(enum work_verdict verdict)
{
    static const char *const names[] = {
        [WORK_UNKNOWN] = "unknown",
        [WORK_AGREES] = "agrees",
        [WORK_FEWER] = "fewer",
        [WORK_MORE] = "more",
    };

    return names[verdict];
}

const char *work_bytes_words(enum work_verdict verdict)
{
    static const char *const words[] = {
        [WORK_UNKNOWN] = "bytes were not counted",
        [WORK_AGREES] = "as many bytes as the model",
        [WORK_FEWER] = "fewer bytes than the model: data came from a cache",
        [WORK_MORE] = "more bytes than the model: data was read again, or fetched and not used",
    };

    return words[verdict];
}

const char *work_flops_words(enum work_verdict verdict)
{
    static const char *const words[] = {
        [WORK_UNKNOWN] = "FLOPs were not counted",
        [WORK_AGREES] = "as many FLOPs as the model",
        [WORK_FEWER] = "fewer FLOPs than the model: a unit was not counted, or the model is wrong",
        [WORK_MORE] = "more FLOPs than the model: padding or recomputation",
    };

    return words[verdict];
}
