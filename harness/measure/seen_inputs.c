/* SPDX-License-Identifier: MIT */
#include "measure/seen_inputs.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

bool seen_inputs_differ(const struct kernel *k, enum math math)
{
    return math_rounds_weights(math) && k->round_weight;
}

void seen_inputs_make(struct seen_inputs *s, const struct kernel *k, const struct shape *shape,
                      const struct tensor *host, int nr, enum math math)
{
    *s = (struct seen_inputs) { .own = { false } };
    memcpy(s->tensor, host, sizeof(s->tensor));
    for (int i = 0; seen_inputs_differ(k, math) && i < nr; i++) {
        size_t bytes = (size_t)tensor_bytes(&host[i]);
        if (host[i].role != TENSOR_WEIGHT)
            continue;
        s->own[i] = true;
        s->tensor[i].data = memory_zeroed(1, bytes + 1);
        memcpy(s->tensor[i].data, host[i].data, bytes);
        k->round_weight(k, shape, &s->tensor[i], math);
    }
}

void seen_inputs_release(struct seen_inputs *s)
{
    for (int i = 0; i < TENSOR_MAX; i++)
        if (s->own[i])
            free(s->tensor[i].data);
    *s = (struct seen_inputs) { .own = { false } };
}
