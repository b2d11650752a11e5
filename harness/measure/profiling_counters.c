/* SPDX-License-Identifier: MIT */
#include "measure/profiling_counters.h"

#include "base/json.h"
#include "core/kernel.h"
#include "cupti/counters.h"
#include "gputrace/kernel_totals.h"
#include "measure/profiling_cuda.h"

#include <stdlib.h>

/* Counts of the same work hardly differ: a few iterations show it. */
enum { ITERATIONS = 3, METRICS_MAX = 16 };
/* Launches there is room for: of those known some more, else as many as no forward has. */
enum { SPARE = 64, ROOM = 4096 };

#ifdef HARNESS_HAVE_CUDA
static int launch_all(const struct profiled_call *what, struct error *why)
{
    for (int i = 0; i < ITERATIONS; i++)
        if (what->restore(what->context, why) || profiling_cuda_launch(what->call, why))
            return -1;
    return 0;
}

static int collect_counters(const struct profiled_call *what, size_t kernels,
                            struct counter_list *list, struct error *why)
{
    const char *metrics[METRICS_MAX];
    size_t nr = counter_quantity_metrics(1U << COUNTER_DRAM_BYTES | 1U << COUNTER_FP32_FLOPS |
                                             1U << COUNTER_TENSOR_FLOPS,
                                         metrics, METRICS_MAX);
    struct counters_session *session = NULL;
    struct error stopped;

    if (counters_start(&session, profiling_cuda_index(what->call->device), metrics, nr,
                       kernels ? ITERATIONS * kernels + SPARE : ROOM, why))
        return -1;
    int rc = launch_all(what, why);
    if (counters_stop(session, list, rc ? &stopped : why))
        rc = -1;
    return rc == 0 && list->nr == 0 ? error_set(why, "counters: no kernel was seen") : rc;
}
#else
static int collect_counters(const struct profiled_call *what, size_t kernels,
                            struct counter_list *list, struct error *why)
{
    (void)what, (void)kernels, (void)list;
    return error_set(why, "counters: this program was built without CUDA");
}
#endif

static cJSON *count_events(const struct profiled_call *what, const struct kernel_sequence *kernels)
{
    cJSON *json = cJSON_CreateObject();
    struct kernel_totals totals;
    struct counter_list list;
    struct error why;

    counter_list_init(&list);
    int rc = what->call->device->kind == DEVICE_CUDA
                 ? collect_counters(what, kernels->nr, &list, &why)
                 : error_set(&why, "counters are those of CUDA devices");
    if (rc) {
        cJSON_AddStringToObject(json, "reason", why.message);
    } else {
        kernel_totals_of(&list, ITERATIONS, kernels, &totals);
        cJSON_AddItemToObject(json, "counters", kernel_totals_to_json(&totals));
        kernel_totals_release(&totals);
    }
    counter_list_release(&list);
    return json;
}

int profiling_count(const struct profiling *p, const struct profiled_call *what,
                    const struct kernel_sequence *kernels, struct error *err)
{
    struct benchmark_name name;

    if (!p->counters)
        return 0;
    cJSON *json = count_events(what, kernels);
    profiling_name(what, &name);
    char *path = profiling_counters_file(p->folder, &name);
    int rc = json_write_file(json, path, false, err);
    cJSON_Delete(json);
    free(path);
    return rc;
}
