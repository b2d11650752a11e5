/* SPDX-License-Identifier: MIT */
#include "engine.h"

#include "block.h"
#include "report.h"

#include <cstring>

namespace cuda_host
{

void engine_start(struct block *b, struct flight flight)
{
    flight.lazy = random_below(&b->random, 2) == 0;
    b->flights.push_back(std::move(flight));
}

/* Whether nothing of the same starter has to come first. */
static bool is_next(const struct block *b, size_t which)
{
    const struct flight &f = b->flights[which];

    for (size_t i = 0; f.ordered && i < which; i++)
        if (b->flights[i].ordered && b->flights[i].starter == f.starter)
            return false;
    return true;
}

static void step(struct block *b, size_t which)
{
    struct flight *f = &b->flights[which];

    if (f->must_read) {
        f->must_read = false;
        f->read();
        return;
    }
    std::function<void()> arrive = std::move(f->arrive);
    b->flights.erase(b->flights.begin() + static_cast<ptrdiff_t>(which));
    arrive();
}

/* One of those that `may` lets through; false: there is none. */
template <class F> static bool step_any(struct block *b, const F &may)
{
    size_t count = b->flights.size(), from = count ? random_below(&b->random, count) : 0;

    for (size_t i = 0; i < count; i++) {
        size_t which = (from + i) % count;
        if (!may(b->flights[which]) || !is_next(b, which))
            continue;
        step(b, which);
        return true;
    }
    return false;
}

/* Those that nobody waits for by name come last: what reads late finds what was written too early.
 */
bool engine_step(struct block *b)
{
    return step_any(b, [](const struct flight &f) { return !f.lazy; }) ||
           step_any(b, [](const struct flight &f) { return !f.read; }) ||
           step_any(b, [](const struct flight &) { return true; });
}

void engine_tick(struct thread *t)
{
    struct block *b = t->owner;

    switch (random_below(&b->random, 8)) {
    case 0:
        step_any(b, [](const struct flight &f) { return !f.lazy; });
        break;
    case 1:
        block_pause(t);
        break;
    default:
        break;
    }
}

void engine_finish(struct block *b, const struct thread *starter, const char *what, uint64_t group,
                   bool arrived)
{
    for (size_t i = 0; i < b->flights.size();) {
        struct flight *f = &b->flights[i];
        bool mine = f->starter == starter && f->what == what && f->group <= group;
        if (!mine || (!arrived && !f->must_read)) {
            i++;
            continue;
        }
        step(b, i); /* those in order come in the order in which they lie */
    }
}

void engine_check_done(const struct thread *t)
{
    for (const struct flight &f : t->owner->flights)
        if (!f.read || f.must_read)
            block_fail(t, "returns before the %s at %s is waited for", f.what,
                       report_site(f.site).c_str());
    while (engine_step(t->owner))
        ;
}

unsigned char *engine_view(struct member *m, const void *shared)
{
    return m->view.data() + (static_cast<const unsigned char *>(shared) - m->shared);
}

void engine_check_there(const struct member *m, const char *where)
{
    if (m->returned == m->threads)
        block_fail(thread_self(), "%s reaches the shared memory of a block that has returned",
                   where);
}

void engine_write(struct member *m, void *shared, const void *from, size_t bytes)
{
    engine_check_there(m, "a copy that is under way");
    memcpy(shared, from, bytes);
    memcpy(engine_view(m, shared), from, bytes);
}

void engine_poison(struct member *m, void *shared, size_t bytes)
{
    memset(shared, 0xff, bytes);
    memset(engine_view(m, shared), 0xff, bytes);
}

} // namespace cuda_host
