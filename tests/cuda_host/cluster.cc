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
    engine_check_there(&t->cluster->members[rank], report_site(site).c_str());
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
    views_release(t);
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
    views_acquire(t);
}

/* ---- mbarriers ---- */

namespace
{
struct word {
    uint16_t phase : 1, arrivals : 15;
    uint16_t pending : 14, published : 1, remote : 1; /* init has been; another block has arrived */
    int32_t bytes;                                    /* expected and not yet here */
};
enum : unsigned { MOST_ARRIVALS = 0x3fff };
static_assert(sizeof(struct word) == 8);
} // namespace

/* Who waits for the mbarrier looks again. */
static void wake_waiters(const void *barrier)
{
    struct block *b = thread_self()->owner;

    for (unsigned i = 0; i < b->nr_threads; i++)
        if (b->threads[i]->state == state::AT_MBARRIER && b->threads[i]->mbarrier == barrier)
            block_wake(b, i, 1);
}

static void end_phase(struct word *w)
{
    if (w->pending || w->bytes)
        return;
    w->phase ^= 1;
    w->pending = w->arrivals & MOST_ARRIVALS;
    wake_waiters(w);
}

/* Of fewer than 2^20 bytes, as the hardware counts. */
static void add_bytes(struct word *w, int64_t bytes)
{
    int64_t sum = w->bytes + bytes;

    if (sum >= 1 << 20 || sum <= -(1 << 20))
        block_fail(thread_self(), "an mbarrier expects %lld bytes: more than it can count",
                   static_cast<long long>(sum));
    w->bytes = static_cast<int32_t>(sum);
}

static struct word *word_of(void *barrier, const char *what, struct cuda_host_site site)
{
    auto *w = static_cast<struct word *>(barrier);

    if (w->arrivals == 0 || w->arrivals > MOST_ARRIVALS || w->pending > w->arrivals)
        block_fail(thread_self(), "the mbarrier of the %s at %s is not initialised", what,
                   report_site(site).c_str());
    return w;
}

void cuda_host_mbarrier_init(void *barrier, unsigned arrivals)
{
    struct word w = {};

    if (arrivals == 0 || arrivals > MOST_ARRIVALS)
        block_fail(thread_self(), "an mbarrier of %u arrivals", arrivals);
    w.arrivals = arrivals & MOST_ARRIVALS;
    w.pending = arrivals & MOST_ARRIVALS;
    memcpy(barrier, &w, sizeof(w));
}

void cuda_host_mbarrier_publish(void *barrier)
{
    static_cast<struct word *>(barrier)->published = 1;
}

bool cuda_host_mbarrier_published(const void *barrier)
{
    return static_cast<const struct word *>(barrier)->published;
}

void cuda_host_mbarrier_arrive(void *barrier, unsigned expect_bytes, struct cuda_host_site site)
{
    struct word *w = word_of(barrier, "arrival", site);

    if (w->pending == 0)
        block_fail(thread_self(), "the mbarrier of the arrival at %s has no room for it",
                   report_site(site).c_str());
    views_release(thread_self());
    add_bytes(w, expect_bytes);
    w->pending = (w->pending - 1u) & MOST_ARRIVALS;
    end_phase(w);
}

void cuda_host_mbarrier_arrive_remote(void *barrier, struct cuda_host_site site)
{
    word_of(barrier, "arrival", site)->remote = 1;
    cuda_host_mbarrier_arrive(barrier, 0, site);
}

void cuda_host_mbarrier_complete(void *barrier, unsigned bytes)
{
    struct word *w = word_of(barrier, "end of a copy", {});

    add_bytes(w, -static_cast<int64_t>(bytes));
    end_phase(w);
}

bool cuda_host_mbarrier_remote(const void *barrier)
{
    return static_cast<const struct word *>(barrier)->remote;
}

void cuda_host_mbarrier_wait(void *barrier, unsigned parity, struct cuda_host_site site)
{
    struct thread *t = thread_self();
    const struct word *w = word_of(barrier, "wait", site);

    while (w->phase == (parity & 1)) {
        t->kind = CUDA_HOST_MBARRIER_WAIT;
        t->mbarrier = barrier;
        t->site = site;
        block_wait(t, state::AT_MBARRIER);
    }
    views_acquire(t);
}

std::string cuda_host::mbarrier_report(const void *barrier)
{
    const auto *w = static_cast<const struct word *>(barrier);

    return std::to_string(w->pending) + " of " + std::to_string(w->arrivals) + " arrivals and " +
           std::to_string(w->bytes) + " bytes are missing";
}

void cuda_host_bulk_copy(void *shared, const void *global, unsigned bytes, void *barrier,
                         struct cuda_host_site site)
{
    struct thread *t = thread_self();
    struct member *m = t->member;
    auto *to = static_cast<unsigned char *>(shared);
    const char *wrong = nullptr;

    if (bytes % 16 || reinterpret_cast<uintptr_t>(shared) % 16 ||
        reinterpret_cast<uintptr_t>(global) % 16)
        wrong = "is not of whole 16-byte pieces";
    else if (to < m->shared || to + bytes > m->shared + t->owner->launch->shared_bytes)
        wrong = "writes outside the shared memory of the block";
    if (wrong)
        block_fail(t, "the bulk copy of %u bytes at %s %s", bytes, report_site(site).c_str(),
                   wrong);
    engine_poison(m, shared, bytes);
    engine_start(t->owner, { "bulk copy", t, site, 0, false, false, nullptr, [=] {
                                engine_write(m, shared, global, bytes);
                                cuda_host_mbarrier_complete(barrier, bytes);
                            } });
    engine_tick(t);
}
