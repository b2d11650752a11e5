/* SPDX-License-Identifier: MIT */
#include "block.h"
#include "report.h"

#include <cstring>

using namespace cuda_host;

static size_t landed(const struct async *a)
{
    return a->waited == 0 ? 0 : a->ends[a->waited - 1];
}

void cuda_host::async_check_done(struct thread *t)
{
    struct async *a = &t->async;

    /* Groups without copies are what the last stages of a pipeline commit. */
    if (landed(a) < a->copies.size()) {
        const struct copy *c = &a->copies[landed(a)];
        block_fail(t, "returns before the cp.async at %s is waited for",
                   report_site(c->site).c_str());
    }
    a->copies.clear();
    a->ends.clear();
    a->waited = 0;
}

static bool within_shared(const struct thread *t, const void *to, unsigned bytes)
{
    uintptr_t at = reinterpret_cast<uintptr_t>(to);
    uintptr_t start = reinterpret_cast<uintptr_t>(t->member->shared);

    return at >= start && at + bytes <= start + t->owner->launch->shared_bytes;
}

static void check_copy(const struct thread *t, const void *to, const void *from, unsigned bytes,
                       unsigned from_global, struct cuda_host_site site)
{
    const char *wrong = nullptr;

    if ((bytes != 4 && bytes != 8 && bytes != 16) || from_global > bytes)
        wrong = "has a size that the hardware does not copy";
    else if (!within_shared(t, to, bytes))
        wrong = "writes outside the shared memory of the block";
    else if (reinterpret_cast<uintptr_t>(to) % bytes)
        wrong = "writes to a shared address that is not a multiple of its size";
    else if (reinterpret_cast<uintptr_t>(from) % bytes)
        wrong = "reads from a global address that is not a multiple of its size";
    if (wrong)
        block_fail(t, "the cp.async of %u bytes (%u from global memory) at %s %s", bytes,
                   from_global, report_site(site).c_str(), wrong);
}

void cuda_host_cp_async(void *shared, const void *global, unsigned bytes, unsigned from_global,
                        struct cuda_host_site site)
{
    struct thread *t = thread_self();

    check_copy(t, shared, global, bytes, from_global, site);
    memset(shared, 0xff, bytes);
    t->async.copies.push_back({ shared, global, bytes, from_global, site });
}

void cuda_host_cp_commit(void)
{
    struct async *a = &thread_self()->async;

    a->ends.push_back(a->copies.size());
}

static void land(struct member *m, const struct copy *c)
{
    if (c->from_global)
        memcpy(c->to, c->from, c->from_global);
    memset(static_cast<char *>(c->to) + c->from_global, 0, c->bytes - c->from_global);
    views_stored(m, c->to, c->bytes);
}

void cuda_host_cp_wait(int allow, struct cuda_host_site site)
{
    struct thread *t = thread_self();
    struct async *a = &t->async;

    if (allow < 0)
        block_fail(t, "cp.async waits for %d groups at %s", allow, report_site(site).c_str());
    while (a->ends.size() - a->waited > static_cast<size_t>(allow)) {
        for (size_t i = landed(a); i < a->ends[a->waited]; i++)
            land(t->member, &a->copies[i]);
        a->waited++;
    }
    if (a->waited == a->ends.size() && landed(a) == a->copies.size()) {
        a->copies.clear();
        a->ends.clear();
        a->waited = 0;
    }
}
