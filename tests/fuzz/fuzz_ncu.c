/* SPDX-License-Identifier: MIT */
/* gputrace/import.h: counters of kernels from `ncu --csv`. */
#include "fuzz.h"

#include "gputrace/import.h"

FUZZ_TARGET(ncu)
{
    struct counter_list list;
    struct error err;

    counter_list_init(&list);
    if (activity_import_ncu_text((const char *)data, size, "text", &list, &err) == 0)
        for (size_t i = 0; i < list.nr; i++)
            for (int q = 0; q < COUNTER_QUANTITY_NR; q++)
                kernel_counters_quantity(&list.items[i], (enum counter_quantity)q);
    counter_list_release(&list);
}
