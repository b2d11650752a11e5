/* SPDX-License-Identifier: MIT */
#include "order.h"

#include "banks.h"
#include "block.h"
#include "memory.h"
#include "views.h"

#include <algorithm>
#include <unordered_map>

namespace cuda_host
{

/* Moments are numbers that grow; 0: never. */
struct store {
    uint64_t when;
    size_t thread, block; /* of the grid */
};

/* What was written up to some moment is seen beyond the block: by a fence, but not before an atomic
 * behind it has told others. */
struct release {
    uint64_t fence, upto;
    uint64_t
        upto_before; /* of the fence in front of the block's last atomic, if there was a later */

    void by_fence(uint64_t now, uint64_t to, uint64_t atomic)
    {
        if (fence < atomic)
            upto_before = upto;
        fence = now, upto = to;
    }
    uint64_t told(uint64_t atomic) const
    {
        return fence < atomic ? upto : upto_before;
    }
};

struct block_order {
    uint64_t fence, barrier, atomic; /* the last ones of any of its threads */
    struct release release;          /* of what was in front of a barrier */
    uint64_t acquired; /* what others had released before is seen by all of its threads */
};

struct order {
    bool watched; /* by a source of the program */
    uint64_t now;
    std::unordered_map<uintptr_t, struct store> stores; /* of each two bytes the last one */
    std::vector<struct release> threads;
    std::vector<struct block_order> blocks;
};

static struct order *watch(void)
{
    static struct order all;

    return &all;
}

static bool is_watched(void)
{
    return watch()->watched && cuda_host_order;
}

void order_begin(const struct launch *l)
{
    struct order *o = watch();
    size_t blocks = (size_t)l->grid.x * l->grid.y * l->grid.z;

    if (!is_watched())
        return;
    o->stores.clear();
    o->blocks.assign(blocks, {});
    o->threads.assign(blocks * l->block.x * l->block.y * l->block.z, {});
}

static size_t number_of(const struct member *m)
{
    return m->at.x + gridDim.x * (m->at.y + (size_t)gridDim.y * m->at.z);
}

static size_t number_of(const struct thread *t)
{
    return number_of(t->member) * t->member->threads + (t->index - t->member->first);
}

void order_barrier(const struct member *m)
{
    struct order *o = watch();

    if (!is_watched())
        return;
    struct block_order *b = &o->blocks[number_of(m)];
    b->barrier = ++o->now;
    b->acquired = b->fence;
}

void order_atomic(const struct member *m)
{
    struct order *o = watch();

    if (is_watched())
        o->blocks[number_of(m)].atomic = ++o->now;
}

static void fence(const struct thread *t)
{
    struct order *o = watch();
    struct block_order *b = &o->blocks[number_of(t->member)];

    b->fence = ++o->now;
    o->threads[number_of(t)].by_fence(o->now, o->now, b->atomic);
    b->release.by_fence(o->now, b->barrier, b->atomic);
}

/* On its stack, where most accesses are. */
static bool is_own(const struct thread *t, const void *memory)
{
    return reinterpret_cast<uintptr_t>(memory) - reinterpret_cast<uintptr_t>(t->context.bottom) <
           t->context.size;
}

/* The running thread where it accesses device memory; null: it, or that, is something else. */
static const struct thread *who_accesses(const void *memory)
{
    const struct thread *t = thread_self();

    return t && !is_own(t, memory) && memory_is_device(memory) ? t : nullptr;
}

static void stored(const void *memory, size_t bytes)
{
    const struct thread *t = who_accesses(memory);
    uintptr_t first = reinterpret_cast<uintptr_t>(memory);

    if (!t)
        return;
    const struct store s = { ++watch()->now, number_of(t), number_of(t->member) };
    for (uintptr_t half = first / 2; half <= (first + bytes - 1) / 2; half++)
        watch()->stores[half] = s;
}

static void check_load(const struct thread *t, const struct store &s)
{
    const struct order *o = watch();
    size_t reader = number_of(t->member);

    if (s.block / t->owner->launch->cluster == reader / t->owner->launch->cluster)
        return;
    const struct block_order *writer = &o->blocks[s.block];
    uint64_t own = o->threads[s.thread].told(writer->atomic);
    if (own < s.when && writer->release.told(writer->atomic) < s.when)
        block_blame(t,
                    "reads what thread %zu of block %zu has written without a __threadfence() "
                    "between that and the block's last atomic",
                    s.thread % t->member->threads, s.block);
    else if (std::max(o->threads[number_of(t)].fence, o->blocks[reader].acquired) <
             std::max(s.when, o->blocks[reader].atomic))
        block_blame(t,
                    "reads what block %zu has written without a __threadfence() behind the "
                    "reader's last atomic: it may find what was there before",
                    s.block);
}

static void loaded(const void *memory, size_t bytes)
{
    const struct thread *t = who_accesses(memory);
    uintptr_t first = reinterpret_cast<uintptr_t>(memory);

    if (!t || watch()->stores.empty())
        return;
    for (uintptr_t half = first / 2; half <= (first + bytes - 1) / 2; half++) {
        auto found = watch()->stores.find(half);
        if (found != watch()->stores.end())
            check_load(t, found->second);
    }
}

/* A load or store of a source that is watched: of its banks, of the engine's view, of the order of
 * blocks, each where it is looked at. */
static void loads(const struct code_place &place, const void *memory, size_t bytes)
{
    if (banks_on)
        banks_touch(place, memory, bytes);
    if (cuda_host_order)
        loaded(memory, bytes);
}

static void stores(const struct code_place &place, const void *memory, size_t bytes)
{
    const struct thread *t = thread_self();

    if (!t || is_own(t, memory))
        return;
    if (banks_on)
        banks_touch(place, memory, bytes);
    if (!views_stored_anywhere(memory, bytes) && cuda_host_order)
        stored(memory, bytes);
}

} // namespace cuda_host

using namespace cuda_host;

void __threadfence(void)
{
    struct thread *t = thread_self();

    if (!t)
        return;
    if (is_watched())
        fence(t);
    views_release(t);
    views_acquire(t);
}

bool cuda_host_order = true;

/* ---- What -fsanitize=thread calls ---- */

#define CALLED(name, bytes, does)                                                                  \
    extern "C" void name(void *memory);                                                            \
    extern "C" void name(void *memory)                                                             \
    {                                                                                              \
        does(CODE_PLACE_OF_CALLER, memory, bytes);                                                 \
    }
#define CALLED_RANGE(name, does)                                                                   \
    extern "C" void name(void *memory, long bytes);                                                \
    extern "C" void name(void *memory, long bytes)                                                 \
    {                                                                                              \
        does(CODE_PLACE_OF_CALLER, memory, static_cast<size_t>(bytes));                            \
    }

/* NOLINTBEGIN(bugprone-reserved-identifier) */
CALLED(__tsan_read1, 1, loads)
CALLED(__tsan_read2, 2, loads)
CALLED(__tsan_read4, 4, loads)
CALLED(__tsan_read8, 8, loads)
CALLED(__tsan_read16, 16, loads)
CALLED(__tsan_write1, 1, stores)
CALLED(__tsan_write2, 2, stores)
CALLED(__tsan_write4, 4, stores)
CALLED(__tsan_write8, 8, stores)
CALLED(__tsan_write16, 16, stores)
CALLED_RANGE(__tsan_read_range, loads)
CALLED_RANGE(__tsan_write_range, stores)
#undef CALLED
#undef CALLED_RANGE

extern "C" void __tsan_init(void);
extern "C" void __tsan_init(void)
{
    watch()->watched = true;
    views_watch();
}

extern "C" void __tsan_vptr_update(void *at, void *to);
extern "C" void __tsan_vptr_update(void *, void *)
{
}

/* Of guards of static variables. */
extern "C" unsigned char __tsan_atomic8_load(const volatile void *at, int);
extern "C" unsigned char __tsan_atomic8_load(const volatile void *at, int)
{
    return __atomic_load_n(static_cast<const volatile unsigned char *>(at), __ATOMIC_SEQ_CST);
}
/* NOLINTEND(bugprone-reserved-identifier) */
