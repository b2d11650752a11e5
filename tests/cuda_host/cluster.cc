/* SPDX-License-Identifier: MIT */
/* What the blocks of a cluster have in common, mbarriers, and the bulk copies that end on them. */
#include "block.h"
#include "report.h"

#include <cstring>

using namespace cuda_host;

unsigned cuda_host_cluster_rank(void)
{
    const struct thread *t = thread_self();

    return static_cast<unsigned>(t->member - t->cluster->members);
}

void *cuda_host_cluster_map(const void *shared, unsigned rank, struct cuda_host_site site)
{
    const struct thread *t = thread_self();
    auto distance = static_cast<const unsigned char *>(shared) - t->member->shared;

    if (rank >= t->cluster->nr_members)
        block_fail(t, "block %u at %s is beyond the cluster", rank, report_site(site).c_str());
    if (distance < 0 || static_cast<size_t>(distance) >= t->owner->launch->shared_bytes)
        block_fail(t, "%s maps what is not shared memory of the block", report_site(site).c_str());
    return t->cluster->members[rank].shared + distance;
}

/* ---- The barrier of the cluster ---- */

void cuda_host_cluster_arrive(struct cuda_host_site site)
{
    struct thread *t = thread_self();
    struct block *b = t->owner;
    struct cluster *c = t->cluster;

    if (t->in_cluster)
        block_fail(t, "arrives twice at the barrier of the cluster, at %s",
                   report_site(site).c_str());
    t->in_cluster = true;
    t->cluster_due = c->generation;
    c->barrier.kind = CUDA_HOST_CLUSTER_ARRIVE;
    c->barrier.site = site;
    if (++c->barrier.arrived < c->threads)
        return;
    c->barrier.arrived = 0;
    c->generation++;
    for (unsigned i = c->first; i < c->first + c->threads; i++)
        if (b->threads[i]->state == state::AT_CLUSTER)
            block_wake(b, i, 1);
}

void cuda_host_cluster_wait(struct cuda_host_site site)
{
    struct thread *t = thread_self();

    if (!t->in_cluster)
        block_fail(t, "waits at the barrier of the cluster without having arrived, at %s",
                   report_site(site).c_str());
    t->kind = CUDA_HOST_CLUSTER_WAIT;
    t->site = site;
    while (t->cluster_due == t->cluster->generation)
        block_wait(t, state::AT_CLUSTER);
    t->in_cluster = false;
}

/* ---- mbarriers ---- */

namespace
{
struct word {
    uint16_t phase : 1, arrivals : 15;
    uint16_t pending;
    int32_t bytes; /* expected and not yet here */
};
static_assert(sizeof(struct word) == 8);
} // namespace

/* Who waits for an mbarrier of this thread's cluster looks again. */
static void wake_waiters(const void *barrier)
{
    const struct thread *self = thread_self();
    const struct cluster *c = self->cluster;
    struct block *b = self->owner;

    for (unsigned i = c->first; i < c->first + c->threads; i++)
        if (b->threads[i]->state == state::AT_MBARRIER && b->threads[i]->mbarrier == barrier)
            block_wake(b, i, 1);
}

static void end_phase(struct word *w)
{
    if (w->pending || w->bytes)
        return;
    w->phase ^= 1;
    w->pending = w->arrivals;
    wake_waiters(w);
}

void cuda_host_mbarrier_init(void *barrier, unsigned arrivals)
{
    struct word w = {};

    w.arrivals = static_cast<uint16_t>(arrivals & 0x7fff);
    w.pending = w.arrivals;
    memcpy(barrier, &w, sizeof(w));
}

void cuda_host_mbarrier_arrive(void *barrier, unsigned expect_bytes, struct cuda_host_site site)
{
    auto *w = static_cast<struct word *>(barrier);

    if (w->pending == 0 || w->pending > w->arrivals)
        block_fail(thread_self(),
                   "the mbarrier of the arrival at %s has no room for it, or is not initialised",
                   report_site(site).c_str());
    w->bytes += static_cast<int32_t>(expect_bytes);
    w->pending--;
    end_phase(w);
}

void cuda_host_mbarrier_complete(void *barrier, unsigned bytes)
{
    auto *w = static_cast<struct word *>(barrier);

    w->bytes -= static_cast<int32_t>(bytes);
    end_phase(w);
}

/* One of the copies that end on the barrier arrives; false: there is none. */
static bool land_one(struct block *b, void *barrier)
{
    size_t count = b->bulk.size(), from = count ? random_below(&b->random, count) : 0;

    for (size_t i = 0; i < count; i++) {
        struct bulk_copy c = b->bulk[(from + i) % count];
        if (c.barrier != barrier)
            continue;
        memcpy(c.to, c.from, c.bytes);
        b->bulk.erase(b->bulk.begin() + static_cast<ptrdiff_t>((from + i) % count));
        cuda_host_mbarrier_complete(barrier, c.bytes);
        return true;
    }
    return false;
}

void cuda_host_mbarrier_wait(void *barrier, unsigned parity, struct cuda_host_site site)
{
    struct thread *t = thread_self();

    while (static_cast<const struct word *>(barrier)->phase == (parity & 1)) {
        if (land_one(t->owner, barrier))
            continue;
        t->kind = CUDA_HOST_MBARRIER_WAIT;
        t->mbarrier = barrier;
        t->site = site;
        block_wait(t, state::AT_MBARRIER);
    }
}

void cuda_host_bulk_copy(void *shared, const void *global, unsigned bytes, void *barrier,
                         struct cuda_host_site site)
{
    struct thread *t = thread_self();
    struct block *b = t->owner;
    auto *to = static_cast<unsigned char *>(shared);
    const char *wrong = nullptr;

    if (bytes % 16 || reinterpret_cast<uintptr_t>(shared) % 16 ||
        reinterpret_cast<uintptr_t>(global) % 16)
        wrong = "is not of whole 16-byte pieces";
    else if (to < t->member->shared || to + bytes > t->member->shared + b->launch->shared_bytes)
        wrong = "writes outside the shared memory of the block";
    if (wrong)
        block_fail(t, "the bulk copy of %u bytes at %s %s", bytes, report_site(site).c_str(),
                   wrong);
    memset(shared, 0xff, bytes);
    b->bulk.push_back({ shared, global, bytes, barrier, site });
    wake_waiters(barrier);
}

void cuda_host::bulk_check_done(const struct thread *t)
{
    if (!t->owner->bulk.empty())
        block_fail(t, "returns before the bulk copy at %s is waited for",
                   report_site(t->owner->bulk[0].site).c_str());
}
