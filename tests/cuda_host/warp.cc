/* SPDX-License-Identifier: MIT */
#include "banks.h"
#include "block.h"
#include "report.h"

using namespace cuda_host;

/* The running thread waits for its warp; which half of value[] this meeting fills. */
static unsigned meet(struct thread *t, enum cuda_host_kind kind, uint64_t mine,
                     struct cuda_host_site site)
{
    struct warp *w = t->warp;
    unsigned half = w->generation & 1;

    if (w->lanes < 32)
        block_fail(t, "a warp function in a warp of %u threads: the block is not a multiple of 32",
                   w->lanes);
    block_join(t, &w->meeting, kind, site);
    views_release(t);
    t->waits = 0;
    w->value[half][t->lane] = mine;
    if (w->meeting.arrived < 32) {
        block_wait(t, state::AT_WARP);
        views_acquire(t);
        return half;
    }
    w->meeting.arrived = 0;
    w->generation++;
    banks_meet(t->owner, static_cast<size_t>(w - t->owner->warps.data()), 1);
    block_wake(t->owner, w->first, 32);
    block_yield(t);
    views_acquire(t);
    return half;
}

const uint64_t *cuda_host_warp_meet(enum cuda_host_kind kind, unsigned mask, uint64_t mine,
                                    struct cuda_host_site site)
{
    struct thread *t = thread_self();

    if (mask != 0xffffffffu)
        block_fail(t, "mask 0x%08x at %s: only whole warps can meet here", mask,
                   report_site(site).c_str());
    return t->warp->value[meet(t, kind, mine, site)];
}

const void *const *cuda_host_warp_publish(const void *mine, struct cuda_host_site site)
{
    struct thread *t = thread_self();

    t->warp->pointer[t->lane] = mine;
    meet(t, CUDA_HOST_PUBLISH, 0, site);
    return t->warp->pointer;
}

void cuda_host_warp_done(struct cuda_host_site site)
{
    meet(thread_self(), CUDA_HOST_DONE, 0, site);
}

unsigned cuda_host_lane(void)
{
    return thread_self()->lane;
}

unsigned cuda_host_active(void)
{
    const struct thread *t = thread_self();
    unsigned mask = 0;

    for (unsigned lane = 0; lane < t->warp->lanes; lane++)
        if (t->owner->threads[t->warp->first + lane]->state != state::RETURNED)
            mask |= 1u << lane;
    return mask;
}
