/* SPDX-License-Identifier: MIT */
/* Addresses, barriers and views. */
#include "hopper_state.h"
#include "report.h"

#include <cstring>

namespace cuda_host
{

/* A thread that ends. */
static void check_end(struct thread *t)
{
    if (!t->hopper)
        return;
    if (!t->hopper->away.empty())
        block_fail(t, "returns before its products are waited for");
    if (!t->hopper->unkept.empty())
        block_fail(t,
                   "used sums after wgmma.wait_group at %s without an asm statement that keeps "
                   "their use behind it",
                   report_site(t->hopper->unkept.begin()->second.site).c_str());
}

struct hopper *hopper_of(struct thread *t)
{
    if (!t->hopper) {
        t->hopper = std::make_shared<struct hopper>();
        t->owner->at_end = check_end;
    }
    return t->hopper.get();
}

struct shared_place shared_at(struct thread *t, uint32_t address, size_t bytes, size_t align,
                              bool own, struct cuda_host_site site)
{
    uint32_t rank = address / SHARED_OF_RANK, offset = address % SHARED_OF_RANK - SHARED_BEGIN;
    size_t size = t->owner->launch->shared_bytes;
    struct member *m = t->member;

    if (rank > t->cluster->nr_members)
        block_fail(t, "address %#x at %s is of no block of the cluster", address,
                   report_site(site).c_str());
    if (rank > 0)
        m = &t->cluster->members[rank - 1];
    engine_check_there(m, report_site(site).c_str());
    if (own && m != t->member)
        block_fail(t, "address %#x at %s is of another block", address, report_site(site).c_str());
    if (offset >= size || bytes > size - offset)
        block_fail(t, "%zu bytes at address %#x, at %s, are outside the shared memory of a block",
                   bytes, address, report_site(site).c_str());
    if (address % align)
        block_fail(t, "address %#x at %s is not aligned to %zu", address, report_site(site).c_str(),
                   align);
    return { m, m->shared + offset };
}

/* ---- Barriers ---- */

/* Lanes that wait at other places, or more often, are in step no longer. */
static void has_waited(struct thread *t, struct cuda_host_site site)
{
    t->waits = (t->waits + static_cast<uint64_t>(site.line)) * 0x9e3779b97f4a7c15u;
}

void hopper_aligned(struct thread *t, struct cuda_host_site site)
{
    struct hopper *warp = hopper_of(t->owner->threads[t->index - t->lane].get());
    size_t number = hopper_of(t)->aligned++;

    if (number == warp->waits.size())
        warp->waits.push_back(t->waits);
    if (warp->waits[number] != t->waits)
        block_fail(t,
                   "comes to an .aligned instruction at %s behind other waits than a lane of its "
                   "warp, which it has not met since",
                   report_site(site).c_str());
}

void hopper_mbarrier_init(struct thread *t, uint32_t barrier, unsigned arrivals,
                          struct cuda_host_site site)
{
    void *at = shared_at(t, barrier, 8, 8, true, site).at;

    cuda_host_mbarrier_init(at, arrivals);
    hopper_of(t)->inits.push_back(at);
}

void hopper_mbarrier_publish(struct thread *t)
{
    struct hopper *h = hopper_of(t);

    for (void *barrier : h->inits)
        cuda_host_mbarrier_publish(barrier);
    h->inits.clear();
}

void hopper_mbarrier_arrive(struct thread *t, uint32_t barrier, unsigned bytes, bool remote,
                            struct cuda_host_site site)
{
    struct shared_place p = shared_at(t, barrier, 8, 8, !remote, site);

    if (p.member == t->member)
        return cuda_host_mbarrier_arrive(p.at, bytes, site);
    if (!cuda_host_mbarrier_published(p.at))
        block_fail(t,
                   "arrives at %s at a barrier of another block that fence.mbarrier_init has "
                   "not published",
                   report_site(site).c_str());
    cuda_host_mbarrier_arrive_remote(p.at, site);
}

void hopper_mbarrier_wait(struct thread *t, uint32_t barrier, unsigned parity, bool cluster,
                          struct cuda_host_site site)
{
    void *at = shared_at(t, barrier, 8, 8, true, site).at;

    if (parity > 1)
        block_fail(t, "parity %u at %s", parity, report_site(site).c_str());
    cuda_host_mbarrier_wait(at, parity, site);
    has_waited(t, site);
    if (!cluster && cuda_host_mbarrier_remote(at))
        block_fail(t,
                   "waits at %s, without acquiring at the scope of the cluster, where other "
                   "blocks arrive",
                   report_site(site).c_str());
}

void hopper_named(struct thread *t, unsigned barrier, unsigned threads, bool waits,
                  struct cuda_host_site site)
{
    struct block *b = t->owner;

    if (barrier >= 16 || threads == 0 || threads % 32 || threads > t->member->threads)
        block_fail(t, "named barrier %u of %u threads at %s", barrier, threads,
                   report_site(site).c_str());
    struct named *n = &t->member->named[barrier];
    if (n->arrived && n->count != threads)
        block_fail(t, "comes at %s to barrier %u of %u threads, while others made it one of %u",
                   report_site(site).c_str(), barrier, threads, n->count);
    n->count = threads;
    views_release(t);
    if (++n->arrived < threads) {
        if (!waits)
            return;
        t->kind = CUDA_HOST_NAMED;
        t->site = site;
        t->mbarrier = n;
        block_wait(t, state::AT_NAMED);
        has_waited(t, site);
        return views_acquire(t);
    }
    n->arrived = 0;
    if (waits) {
        has_waited(t, site);
        views_acquire(t);
    }
    for (unsigned i = t->member->first; i < t->member->first + t->member->threads; i++)
        if (b->threads[i]->state == state::AT_NAMED && b->threads[i]->mbarrier == n)
            block_wake(b, i, 1);
}

void hopper_publish(struct thread *t, bool cluster)
{
    views_fence(t, cluster);
}

/* A block with an SM of its own has 64 Ki registers, as many a thread as go, in eights; who wants
 * more waits until others have given some up. */
void hopper_registers(struct thread *t, unsigned registers, struct cuda_host_site site)
{
    struct hopper *h = hopper_of(t);
    struct member *m = t->member;

    if (registers < 24 || registers > 256 || registers % 8)
        block_fail(t, "setmaxnreg %u at %s: not a multiple of 8 from 24 to 256", registers,
                   report_site(site).c_str());
    int has = h->registers ? static_cast<int>(h->registers)
                           : static_cast<int>(std::min(255u, 65536 / m->threads) / 8 * 8);
    int more = static_cast<int>(registers) - has;
    while (more > m->spare_registers) {
        t->kind = CUDA_HOST_NAMED;
        t->site = site;
        t->mbarrier = &m->spare_registers;
        block_wait(t, state::AT_NAMED);
    }
    h->registers = registers;
    m->spare_registers -= more;
    for (unsigned i = m->first; more < 0 && i < m->first + m->threads; i++)
        if (t->owner->threads[i]->state == state::AT_NAMED &&
            t->owner->threads[i]->mbarrier == &m->spare_registers)
            block_wake(t->owner, i, 1);
}

} // namespace cuda_host

using namespace cuda_host;

size_t __cvta_generic_to_shared(const void *shared)
{
    struct thread *t = thread_self();
    auto offset = static_cast<const unsigned char *>(shared) - t->member->shared;

    if (offset < 0 || static_cast<size_t>(offset) > t->owner->launch->shared_bytes)
        block_fail(t, "takes the shared address of what is not shared memory of the block");
    return SHARED_BEGIN + static_cast<size_t>(offset);
}

unsigned __byte_perm(unsigned low, unsigned high, unsigned select)
{
    uint64_t bytes = low | static_cast<uint64_t>(high) << 32;
    unsigned out = 0;

    for (int i = 0; i < 4; i++)
        out |= static_cast<unsigned>(bytes >> (select >> 4 * i & 7) * 8 & 0xff) << 8 * i;
    return out;
}
