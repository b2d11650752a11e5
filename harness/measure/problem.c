/* SPDX-License-Identifier: MIT */
#include "measure/problem.h"

#include <string.h>

bool problem_is(const struct problem *q, const struct benchmark *bench, const struct device *device,
                uint64_t seed)
{
    return q->stands && q->seed == seed && q->dtype == bench->variant->dtype &&
           q->rounds == math_rounds_weights(bench->variant->math) &&
           q->buffers.kernel == bench->variant->kernel && q->buffers.device == device &&
           q->buffers.inputs == bench->inputs && shape_equal(&q->buffers.shape, &bench->shape);
}

int problem_ask(struct problem *q, const struct benchmark *bench, struct device *device,
                uint64_t seed, struct error *err)
{
    if (problem_is(q, bench, device, seed))
        return 0;
    problem_release(q);
    q->dtype = bench->variant->dtype;
    q->rounds = math_rounds_weights(bench->variant->math);
    q->seed = seed;
    if (buffers_init(&q->buffers, bench, device, err) || buffers_fill(&q->buffers, seed, err))
        return -1;
    q->stands = true;
    return 0;
}

int problem_expect(struct problem *q, enum math math, double tolerance, bool all_rows,
                   struct error *err)
{
    if (q->expected)
        check_again(&q->check, tolerance);
    else
        check_init(&q->check, &q->buffers, math, tolerance, all_rows, q->seed ^ 0x5eed);
    q->expected = true;
    return buffers_poison_outputs(&q->buffers, err);
}

void problem_settle(struct problem *q, bool unchanged)
{
    for (int i = 0; i < q->buffers.nr; i++)
        unchanged &= q->buffers.host[i].role != TENSOR_INOUT;
    if (!unchanged)
        problem_release(q);
}

void problem_release(struct problem *q)
{
    check_release(&q->check);
    buffers_release(&q->buffers);
    memset(q, 0, sizeof(*q));
}
