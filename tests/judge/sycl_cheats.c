/* SPDX-License-Identifier: MIT */
/*
 * Known ways to win without computing on a device that goes on while its process is stopped, as
 * variants of gemm/nt for the second accelerator of the tests (tests/measure/fake_sycl.h). Each is
 * one of docs/judge-cuda.md, and tests/cli/second_device.sh holds what is found against its table.
 */
#include "nt_sycl.h"

#include "board.h"
#include "with_bits.h"

/* ---- who remembers ---- */

struct memory {
    float *y;
    int64_t launches;
};

static int remember(struct harness_call *call, char *why, size_t room)
{
    const struct nt p = nt_of(call);
    struct memory *m = calloc(1, sizeof(*m));

    (void)why, (void)room;
    if (!m || !(m->y = malloc(nt_bytes(&p))))
        return -1;
    call->state = m;
    return 0;
}

static void compute_and_keep(const struct nt *p, struct memory *m)
{
    nt_all(p);
    nt_copy(p, m->y, p->y, nt_bytes(p));
}

static void give_kept(const struct nt *p, const struct memory *m)
{
    nt_copy(p, p->y, m->y, nt_bytes(p));
}

#include "device_cheats.h"

/* ---- who guesses, or computes with less ---- */

static void zeros_for_shape(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    nt_fill(&p, p.y, nt_bytes(&p), 0);
}

static void not_a_number(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    nt_fill(&p, p.y, nt_bytes(&p), 0xff);
}

static void rounding_kernel(const void *what)
{
    const struct nt p = *(const struct nt *)what;

    for (int64_t at = 0; at < p.m * p.n; at++) {
        float sum = 0;
        for (int64_t l = 0; l < p.k; l++)
            sum += with_bits(p.x[at / p.n * p.k + l], 10) * with_bits(p.w[at % p.n * p.k + l], 10);
        p.y[at] = sum;
    }
}

static void tf32_inside(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    fake_sycl_submit(p.queue, rounding_kernel, &p, sizeof(p));
}

/* ---- who works elsewhere ---- */

static void another_stream(const struct harness_call *call)
{
    struct nt p = nt_of(call);

    p.queue = p.queue->aside;
    nt_all(&p);
}

static void half_aside(const struct harness_call *call)
{
    struct nt p = nt_of(call);

    nt_rows(&p, 0, p.m / 2);
    p.queue = p.queue->aside;
    nt_rows(&p, p.m / 2, p.m);
}

/* ---- who wants something of the judge ---- */

static void change_inputs(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    nt_fill(&p, p.x, nt_input_bytes(&p), 0);
    nt_fill(&p, p.y, nt_bytes(&p), 0);
}

static void change_weights(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    nt_all(&p);
    nt_fill(&p, p.w, sizeof(float), 0);
}

static void behind_the_end(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    nt_all(&p);
    nt_fill(&p, p.y + p.m * p.n, 64, 0);
}

/* More than fits: nothing of it is done. */
static void bad_launch(const struct harness_call *call)
{
    static const char much[FAKE_SYCL_WHAT + 1];
    const struct nt p = nt_of(call);

    fake_sycl_submit(p.queue, nt_kernel, much, sizeof(much));
}

static const struct harness_variant variants[] = {
    NT_VARIANT(last_result, remember),
    NT_VARIANT(right_at_first, remember),
    NT_VARIANT(skip_addresses, remember),
    NT_VARIANT(zeros_for_shape, NULL),
    NT_VARIANT(not_a_number, NULL),
    NT_VARIANT(launch_nothing, NULL),
    NT_VARIANT(give_computed, compute_before),
    NT_VARIANT(half_of_it, NULL),
    NT_VARIANT(tf32_inside, NULL),
    NT_VARIANT(another_stream, NULL),
    NT_VARIANT(half_aside, NULL),
    NT_VARIANT(later, NULL),
    NT_VARIANT(owe_one, NULL),
    NT_VARIANT(leave_to_the_last, NULL),
    NT_VARIANT(work_for_the_next, note_slot),
    NT_VARIANT(change_inputs, NULL),
    NT_VARIANT(change_weights, NULL),
    NT_VARIANT(behind_the_end, NULL),
    NT_VARIANT(helper_process, NULL),
    NT_VARIANT(ask_a_server, NULL),
    NT_VARIANT(bad_launch, NULL),
};
NT_PLUGIN(variants);
