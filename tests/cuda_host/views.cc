/* SPDX-License-Identifier: MIT */
#include "views.h"

#include "block.h"

#include <algorithm>
#include <cstring>

namespace cuda_host
{

enum : size_t { HALF = 2, OFTEN = 8192 };

static bool *watched(void)
{
    static bool on = false;

    return &on;
}

void views_watch(void)
{
    *watched() = true;
}

void views_begin(struct block *b)
{
    b->moment = 0;
    for (unsigned i = 0; *watched() && i < b->nr_threads; i++)
        b->threads[i]->stores = {};
    for (struct member &m : b->members)
        m.writers.clear();
}

/* ---- Stores ---- */

/* f(the writer of two bytes, their place, how many of them are the store's) */
template <class F> static void each_half(const struct shared_store &s, const F &f)
{
    for (size_t at = s.at; at < s.at + s.bytes;) {
        size_t end = std::min((at / HALF + 1) * HALF, s.at + s.bytes);
        f(&s.to->writers[at / HALF], at, end - at);
        at = end;
    }
}

/* Whether all of it was stored again since, or is in the view. */
static bool is_over(const struct shared_store &s, const struct shared_writer &writer)
{
    bool over = true;

    each_half(s, [&](const struct shared_writer *w, size_t, size_t) { over &= !(*w == writer); });
    return over;
}

static struct shared_writer writer_of(const struct thread *t, size_t turn)
{
    return { t->index + 1, turn };
}

/* What is stored again and again and never brought does not pile up. */
static void drop_old(struct thread *t)
{
    std::erase_if(t->stores.open,
                  [t](const struct shared_store &s) { return is_over(s, writer_of(t, s.turn)); });
}

void views_stored(struct member *m, const void *shared, size_t bytes)
{
    struct thread *t = thread_self();

    if (!*watched())
        return;
    size_t turn = t->stores.released.size();
    struct shared_writer me = writer_of(t, turn);
    auto at = static_cast<size_t>(static_cast<const unsigned char *>(shared) - m->shared);
    struct shared_store store = { m, at, bytes, turn };
    bool again = true;

    if (m->writers.empty())
        m->writers.resize(t->owner->launch->shared_bytes / HALF + 1);
    each_half(store, [&](struct shared_writer *w, size_t, size_t) {
        again = again && *w == me;
        *w = me;
    });
    if (again)
        return;
    t->stores.open.push_back(store);
    if (t->stores.open.size() % OFTEN == 0)
        drop_old(t);
}

bool views_stored_anywhere(const void *memory, size_t bytes)
{
    const struct thread *t = thread_self();

    if (!t)
        return false;
    uintptr_t at = reinterpret_cast<uintptr_t>(memory);
    uintptr_t begin = reinterpret_cast<uintptr_t>(t->member->shared);
    size_t size = t->owner->launch->shared_bytes;
    if (at < begin || at - begin >= size)
        return false;
    views_stored(t->member, memory, std::min(bytes, size - (at - begin)));
    return true;
}

/* ---- Barriers and fences ---- */

void views_release(struct thread *t)
{
    if (*watched())
        t->stores.released.push_back(++t->owner->moment);
}

void views_acquire(struct thread *t)
{
    t->stores.acquired = t->owner->moment;
}

/* Whether a fence of `t` is behind a store of `writer`. */
static bool is_behind(const struct thread *t, const struct thread *writer,
                      const struct shared_store &s)
{
    const std::vector<uint64_t> &released = writer->stores.released;

    return t == writer || (s.turn < released.size() && released[s.turn] <= t->stores.acquired);
}

/* What others have stored there since is theirs. */
static void bring(const struct thread *writer, const struct shared_store &s)
{
    struct shared_writer mine = writer_of(writer, s.turn);

    each_half(s, [&](struct shared_writer *w, size_t at, size_t bytes) {
        if (!(*w == mine))
            return;
        memcpy(s.to->view.data() + at, s.to->shared + at, bytes);
        *w = {};
    });
}

static void bring_all(const struct thread *t, struct thread *writer, bool cluster)
{
    std::vector<struct shared_store> *open = &writer->stores.open;

    if (open->empty() || !is_behind(t, writer, open->front()))
        return; /* nor is what was stored later */
    std::erase_if(*open, [&](const struct shared_store &s) {
        if (!is_behind(t, writer, s) || (!cluster && s.to != t->member))
            return false;
        bring(writer, s);
        return true;
    });
}

void views_fence(struct thread *t, bool cluster)
{
    const struct cluster *c = t->cluster;

    for (unsigned i = 0; *watched() && i < c->threads; i++)
        bring_all(t, t->owner->threads[c->first + i].get(), cluster);
    for (unsigned i = 0; !*watched() && i < c->nr_members; i++)
        if (struct member *m = &c->members[i]; cluster || m == t->member)
            memcpy(m->view.data(), m->shared, m->view.size());
}

} // namespace cuda_host
