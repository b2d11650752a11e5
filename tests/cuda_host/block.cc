/* SPDX-License-Identifier: MIT */
#include "block.h"

#include "banks.h"
#include "order.h"
#include "report.h"

#include <algorithm>
#include <bit>
#include <cstdarg>
#include <cstring>

constinit thread_local uint3 threadIdx = {}, blockIdx = {};
constinit thread_local dim3 blockDim, gridDim;

namespace cuda_host
{

enum : unsigned { ONLY_NAPS = 1u << 20 };

static constinit thread_local struct thread *running = nullptr;

struct thread *thread_self(void)
{
    return running;
}

/* ---- Who is next ---- */

static void ready_push(struct ready *r, unsigned thread)
{
    r->ring[r->tail++ & (r->ring.size() - 1)] = thread;
}

static unsigned ready_pop_oldest(struct ready *r)
{
    return r->ring[r->head++ & (r->ring.size() - 1)];
}

/* The oldest one that is not of `late`; where there is none, that stays behind no longer. */
static bool ready_pop_other(struct ready *r, unsigned *thread)
{
    unsigned mask = static_cast<unsigned>(r->ring.size()) - 1, at = r->head;

    while (at != r->tail && r->ring[at & mask] - r->late->first < r->late->threads)
        at++;
    if (at == r->tail) {
        r->late = nullptr;
        return false;
    }
    std::swap(r->ring[at & mask], r->ring[r->head & mask]);
    *thread = ready_pop_oldest(r);
    return true;
}

static unsigned ready_pop(struct ready *r, struct random *random)
{
    unsigned mask = static_cast<unsigned>(r->ring.size()) - 1, other;

    if (r->late && ready_pop_other(r, &other))
        return other;
    if (r->rule == ready::OLDEST)
        return ready_pop_oldest(r);
    if (r->rule == ready::ANY)
        std::swap(r->ring[(r->head + random_below(random, r->tail - r->head)) & mask],
                  r->ring[(r->tail - 1) & mask]);
    return r->ring[--r->tail & mask];
}

static bool ready_empty(const struct ready *r)
{
    return r->head == r->tail;
}

void block_wake(struct block *b, unsigned first, unsigned count)
{
    /* An odd step visits each lane of a power of two once; other counts skip what is too large. */
    unsigned all = std::bit_ceil(count), step = random_below(&b->random, all) | 1;
    unsigned at = random_below(&b->random, all);

    for (unsigned i = 0; i < all; i++, at += step) {
        unsigned thread = at & (all - 1);
        if (thread >= count)
            continue;
        b->threads[first + thread]->state = state::READY;
        ready_push(&b->ready, first + thread);
    }
}

/* A new rule: what one order of threads hides, another one shows. */
static void change_rule(struct block *b)
{
    b->ready.rule = static_cast<enum ready::rule>(random_below(&b->random, ready::NR_RULES));
}

static void pass_to(struct thread *next, struct context *from)
{
    if (&next->context == from)
        return;
    running = next;
    threadIdx = next->at;
    blockIdx = next->member->at;
    context_switch(from, &next->context);
}

/* Control passes to the next thread that is ready, from the running one or from outside. */
static void pass_on(struct block *b, struct context *from)
{
    pass_to(b->threads[ready_pop(&b->ready, &b->random)].get(), from);
}

static void leave(struct thread *t)
{
    context_switch(&t->context, &t->owner->outside);
}

void block_yield(struct thread *t)
{
    pass_on(t->owner, &t->context);
}

void block_wait(struct thread *t, enum state state)
{
    struct block *b = t->owner;

    t->state = state;
    while (ready_empty(&b->ready))
        if (!engine_step(b) && !block_reveal(b))
            block_fail(t, "%s", report_stuck(b).c_str());
    pass_on(b, &t->context);
}

bool block_reveal(struct block *b)
{
    std::function<void()> reveal = std::move(b->reveal);

    b->reveal = nullptr;
    if (!reveal)
        return false;
    reveal();
    for (unsigned i = 0; i < b->nr_threads; i++)
        if (b->threads[i]->state == state::AT_PREDECESSOR)
            block_wake(b, i, 1);
    return true;
}

void block_wait_predecessor(struct thread *t)
{
    if (t->owner->reveal)
        block_wait(t, state::AT_PREDECESSOR);
}

void block_pause(struct thread *t)
{
    ready_push(&t->owner->ready, t->index);
    pass_on(t->owner, &t->context);
}

/* ---- Meetings ---- */

static bool same_place(struct cuda_host_site a, struct cuda_host_site b)
{
    return a.line == b.line && (a.file == b.file || strcmp(a.file, b.file) == 0);
}

void block_join(struct thread *t, struct meeting *m, enum cuda_host_kind kind,
                struct cuda_host_site site)
{
    if (m->arrived == 0) {
        m->kind = kind;
        m->site = site;
    } else if (m->kind != kind || !same_place(m->site, site)) {
        block_fail(t, "has come to %s, while %u thread%s wait%s at %s",
                   report_place(kind, site).c_str(), m->arrived, m->arrived == 1 ? "" : "s",
                   m->arrived == 1 ? "s" : "", report_place(m->kind, m->site).c_str());
    }
    t->kind = kind;
    t->site = site;
    m->arrived++;
}

/* ---- The life of a thread ---- */

/* A named barrier at which some have arrived and nobody waits: one arrival too many, or a wait too
 * few. */
static void check_named(struct thread *t)
{
    for (const struct member &m : t->owner->members)
        for (const struct named &n : m.named)
            if (n.arrived)
                block_fail(t,
                           "ends with %u of %u threads at named barrier %d, for which nobody waits",
                           n.arrived, n.count, static_cast<int>(&n - m.named));
}

static void thread_return(struct thread *t)
{
    struct block *b = t->owner;

    async_check_done(t);
    if (b->at_end)
        b->at_end(t);
    if (t->in_cluster)
        block_fail(t, "returns between arriving and waiting at the cluster's barrier");
    t->state = state::RETURNED;
    t->member->returned++;
    if (++b->returned == b->nr_threads) {
        check_named(t);
        engine_check_done(t);
        return leave(t);
    }
    while (ready_empty(&b->ready))
        if (!engine_step(b) && !block_reveal(b))
            block_fail(t, "has returned; %s", report_stuck(b).c_str());
    pass_on(b, &t->context);
}

/* Thrown by block_fail(), so that what stands on the stack of the failing thread is destroyed. */
struct abandoned {
};

static void thread_live(void)
{
    try {
        thread_self()->owner->launch->thread();
        thread_return(thread_self());
        return;
    } catch (const struct abandoned &) {
    }
    leave(thread_self());
}

/* A fiber serves block after block. */
static void thread_entry(void)
{
    context_entered();
    for (;;)
        thread_live();
}

static std::string failure_of(const struct thread *t, const char *format, va_list args)
{
    char words[1024];

    vsnprintf(words, sizeof(words), format, args);
    return report_launch(t->owner->launch) + ", block (" + std::to_string(blockIdx.x) + "," +
           std::to_string(blockIdx.y) + "," + std::to_string(blockIdx.z) + "), " +
           report_thread(t) + ": " + words;
}

void block_blame(const struct thread *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (t->owner->failure.empty())
        t->owner->failure = failure_of(t, format, args);
    va_end(args);
}

void block_fail(const struct thread *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    t->owner->failure = failure_of(t, format, args);
    va_end(args);
    throw abandoned {};
}

/* ---- The block ---- */

struct block *block_of_thread(void)
{
    static thread_local struct block block;

    return &block;
}

block::~block()
{
    for (auto &t : threads)
        fiber_free(&t->context);
}

static void need_threads(struct block *b, unsigned count)
{
    while (b->threads.size() < count) {
        auto t = std::make_unique<struct thread>();
        t->index = static_cast<unsigned>(b->threads.size());
        t->owner = b;
        fiber_create(&t->context, t->index, thread_entry);
        b->threads.push_back(std::move(t));
    }
}

static void place_thread(struct block *b, struct thread *t, const struct launch *launch)
{
    const dim3 &size = launch->block;

    unsigned count = size.x * size.y * size.z, within = t->index % count;

    t->at = { within % size.x, within / size.x % size.y, within / (size.x * size.y) };
    t->lane = within % 32;
    t->member = &b->members[t->index / count];
    t->cluster = &b->clusters[t->index / count / launch->cluster];
    t->warp = &b->warps[t->index / count * ((count + 31) / 32) + within / 32];
    t->in_cluster = false;
}

static void need_clusters(struct block *b, unsigned count, unsigned size)
{
    b->clusters.assign(b->members.size() / size, {});
    for (unsigned i = 0; i < b->clusters.size(); i++) {
        struct cluster *c = &b->clusters[i];
        c->first = i * size * count;
        c->threads = size * count;
        c->members = &b->members[i * size];
        c->nr_members = size;
    }
}

static void need_warps(struct block *b, unsigned count, unsigned members)
{
    unsigned warps = (count + 31) / 32;

    b->warps.assign(warps * members, {});
    for (unsigned i = 0; i < b->warps.size(); i++) {
        b->warps[i].first = i / warps * count + i % warps * 32;
        b->warps[i].lanes = std::min(32u, count - i % warps * 32);
    }
    b->members.resize(members); /* their shared memory is the caller's */
    for (unsigned i = 0; i < members; i++) {
        b->members[i].first = i * count;
        b->members[i].threads = count;
    }
}

void block_prepare(struct block *b, const struct launch *launch, unsigned members, uint64_t seed)
{
    unsigned count = launch->block.x * launch->block.y * launch->block.z, all = count * members;

    if (b->outside.size == 0)
        context_of_thread(&b->outside);
    need_threads(b, all);
    b->launch = launch;
    b->nr_threads = all;
    b->failure.clear();
    need_warps(b, count, members);
    need_clusters(b, count, launch->cluster);
    for (unsigned i = 0; i < all; i++)
        place_thread(b, b->threads[i].get(), launch);
    b->ready.ring.assign(std::bit_ceil(all), 0);
    random_seed(&b->random, seed);
}

/* After a failure the fibers stand anywhere. */
static void forget(struct block *b)
{
    for (unsigned i = 0; i < b->nr_threads; i++) {
        fiber_rewind(&b->threads[i]->context, thread_entry);
        b->threads[i]->async = {};
        b->threads[i]->in_cluster = false;
        b->threads[i]->hopper = nullptr;
    }
    b->flights.clear();
    for (struct warp &w : b->warps)
        w.meeting.arrived = 0;
}

void block_run(struct block *b, uint64_t first)
{
    const dim3 &grid = b->launch->grid;

    b->returned = b->naps = b->ready.head = b->ready.tail = 0;
    for (unsigned i = 0; i < b->nr_threads; i++) {
        b->threads[i]->hopper = nullptr;
        b->threads[i]->waits = 0;
    }
    for (struct cluster &c : b->clusters)
        c.barrier.arrived = 0;
    for (struct member &m : b->members) {
        m.votes = m.votes_before = m.barrier.arrived = m.returned = 0;
        m.view.assign(b->launch->shared_bytes, 0xff);
        for (struct named &n : m.named)
            n = {};
        m.spare_registers = 0;
        m.at = { static_cast<unsigned>(first % grid.x),
                 static_cast<unsigned>(first / grid.x % grid.y),
                 static_cast<unsigned>(first / grid.x / grid.y) };
        first++;
    }
    views_begin(b);
    blockDim = b->launch->block;
    gridDim = b->launch->grid;
    b->ready.late = nullptr;
    change_rule(b);
    block_wake(b, 0, b->nr_threads);
    pass_on(b, &b->outside);
    running = nullptr;
    banks_meet(b, 0, b->warps.size());
    if (!b->failure.empty())
        forget(b);
}

} // namespace cuda_host

/* ---- What kernels call ---- */

using namespace cuda_host;

unsigned cuda_host_barrier(enum cuda_host_kind kind, bool predicate, struct cuda_host_site site)
{
    struct thread *t = thread_self();
    struct block *b = t->owner;
    struct member *m = t->member;

    block_join(t, &m->barrier, kind, site);
    views_release(t);
    t->waits = 0;
    m->votes += predicate;
    if (m->barrier.arrived < m->threads) {
        block_wait(t, state::AT_BARRIER);
        views_acquire(t);
        return m->votes_before;
    }
    m->votes_before = m->votes;
    m->votes = m->barrier.arrived = 0;
    order_barrier(m);
    banks_meet(b, static_cast<size_t>(b->threads[m->first]->warp - b->warps.data()),
               b->warps.size() / b->members.size());
    change_rule(b);
    block_wake(b, m->first, m->threads);
    block_yield(t);
    views_acquire(t);
    return m->votes_before;
}

/* Half of the blocks that take a ticket, or tell others something else, then stay behind: what
 * their threads have yet to write is missing where another block counts on it. */
void cuda_host_atomic(void)
{
    struct thread *t = thread_self();

    if (!t)
        return;
    order_atomic(t->member);
    views_release(t);
    views_acquire(t);
    if (t->owner->members.size() == 1 || t->owner->ready.late)
        return;
    if (random_below(&t->owner->random, 2) == 0)
        t->owner->ready.late = t->member;
}

unsigned cuda_host_block_threads(void)
{
    return thread_self()->member->threads;
}

void *cuda_host_shared(void)
{
    return thread_self()->member->shared;
}

size_t cuda_host_shared_size(void)
{
    return thread_self()->owner->launch->shared_bytes;
}

/* Whatever the rule: all that are ready run before the caller does again. While some poll, others
 * are never alone, so now and then something that is under way arrives: they may wait for who waits
 * for it. */
void __nanosleep(unsigned)
{
    struct thread *t = thread_self();
    struct block *b = t->owner;

    if (random_below(&b->random, 64) == 0 && (engine_step(b) || block_reveal(b)))
        b->naps = 0;
    b->naps = ready_empty(&b->ready) ? b->naps + 1 : 0;
    if (b->naps > ONLY_NAPS)
        block_fail(t, "sleeps again and again, and no other thread can go on");
    ready_push(&b->ready, t->index);
    pass_to(b->threads[ready_pop_oldest(&b->ready)].get(), &t->context);
}

void cuda_host_poll(void)
{
    __nanosleep(0);
}

void __trap(void)
{
    block_fail(thread_self(), "__trap()");
}
