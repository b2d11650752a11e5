/* SPDX-License-Identifier: MIT */
/* Loads, stores, cp.async, clusters. */
#include "run.h"

#include "hopper.h"
#include "report.h"

#include <cstring>

namespace cuda_host
{

/* A lane's part of what its warp does to shared memory: of its block's, or of any of the cluster.
 */
static struct shared_place touched(const struct frame &f, size_t i, size_t bytes, size_t align,
                                   bool own)
{
    struct shared_place place = shared_at(f.thread, f.r(i), bytes, align, own, f.program->site);

    if (banks_on)
        banks_touch(f.where, place.at, bytes);
    return place;
}

static unsigned char *own(const struct frame &f, size_t i, size_t bytes, size_t align)
{
    return touched(f, i, bytes, align, true).at;
}

static struct shared_place any(const struct frame &f, size_t i, size_t bytes)
{
    return touched(f, i, bytes, bytes, false);
}

static void cp_async_16(struct frame &f)
{
    cuda_host_cp_async(own(f, 0, 16, 16), f.pointer(1), static_cast<unsigned>(f.get(2)), f.r(3),
                       f.program->site);
    if (f.get(2) != 16)
        block_fail(f.thread, "cp.async.cg copies 16 bytes, not %u, at %s", f.r(2),
                   report_site(f.program->site).c_str());
}

static void cp_async_any(struct frame &f)
{
    unsigned bytes = static_cast<unsigned>(f.get(2));

    cuda_host_cp_async(own(f, 0, bytes, bytes), f.pointer(1), bytes, f.r(3), f.program->site);
}

static void cp_commit(struct frame &)
{
    cuda_host_cp_commit();
}

static void cp_wait(struct frame &f)
{
    cuda_host_cp_wait(static_cast<int>(f.get(0)), f.program->site);
}

static void nothing(struct frame &)
{
}

template <int WORDS> static void load_global(struct frame &f)
{
    uint32_t words[WORDS];

    memcpy(words, f.pointer(WORDS), sizeof(words));
    if (f.get(WORDS) % sizeof(words))
        block_fail(f.thread, "a misaligned load at %s", report_site(f.program->site).c_str());
    for (size_t i = 0; i < WORDS; i++)
        f.set(i, words[i]);
}

static void load_pair(struct frame &f)
{
    uint64_t words[2];

    memcpy(words, f.pointer(2), sizeof(words));
    f.set(0, words[0]);
    f.set(1, words[1]);
}

static void store_pair(struct frame &f)
{
    uint64_t words[2] = { f.get(1), f.get(2) };

    memcpy(f.pointer(0), words, sizeof(words));
}

static void store(const struct shared_place &to, const void *from, size_t bytes)
{
    memcpy(to.at, from, bytes);
    views_stored(to.member, to.at, bytes);
}

template <int FLOATS> static void store_shared(struct frame &f)
{
    constexpr size_t bytes = FLOATS * sizeof(float);
    float values[FLOATS];

    for (size_t i = 0; i < FLOATS; i++)
        values[i] = f.f(1 + i);
    store(touched(f, 0, bytes, bytes, true), values, bytes);
}

/* ---- Clusters ---- */

static void cluster_arrive(struct frame &f)
{
    hopper_aligned(f.thread, f.program->site);
    cuda_host_cluster_arrive(f.program->site);
}

static void cluster_wait(struct frame &f)
{
    hopper_aligned(f.thread, f.program->site);
    cuda_host_cluster_wait(f.program->site);
}

static void mapa(struct frame &f)
{
    if (f.r(2) >= f.thread->cluster->nr_members)
        block_fail(f.thread, "block %u at %s is beyond the cluster", f.r(2),
                   report_site(f.program->site).c_str());
    f.set(0, f.r(1) % SHARED_OF_RANK + (f.r(2) + 1) * SHARED_OF_RANK);
}

static void load_cluster(struct frame &f)
{
    uint32_t words[4];

    memcpy(words, any(f, 4, sizeof(words)).at, sizeof(words));
    for (size_t i = 0; i < 4; i++)
        f.set(i, words[i]);
}

static void store_cluster(struct frame &f)
{
    uint32_t words[4] = { f.r(1), f.r(2), f.r(3), f.r(4) };

    store(any(f, 0, sizeof(words)), words, sizeof(words));
}

template <int WORDS> static void send(struct frame &f)
{
    uint32_t words[WORDS];

    for (size_t i = 0; i < WORDS; i++)
        words[i] = f.r(1 + i);
    any(f, 0, sizeof(words));
    hopper_send(f.thread, f.r(0), words, sizeof(words), f.r(1 + WORDS), f.program->site);
}

const struct operation operations_of_memory[] = {
    { "cp.async.cg.shared.global", "[r],[l],n,r", MEMORY, cp_async_16 },
    { "cp.async.ca.shared.global", "[r],[l],n,r", MEMORY, cp_async_any },
    { "cp.async.commit_group", "", MEMORY, cp_commit },
    { "cp.async.wait_group", "n", MEMORY, cp_wait },
    { "prefetch.global.L2", "[l]", ORDER, nothing },
    { "cp.async.bulk.prefetch.L2.global", "[l],r", ORDER, nothing },
    { "ld.global.L1::no_allocate.L2::256B.v4.b32", "{R,R,R,R},[l]", ORDER, load_global<4> },
    { "ld.global.v4.b32", "{R,R,R,R},[l]", ORDER, load_global<4> },
    { "ld.global.v2.b32", "{R,R},[l]", ORDER, load_global<2> },
    { "ld.relaxed.gpu.global.v2.b64", "{L,L},[l]", MEMORY, load_pair },
    { "st.relaxed.gpu.global.v2.b64", "[l],{l,l}", MEMORY, store_pair },
    { "st.shared.v2.f32", "[r],{f,f}", MEMORY, store_shared<2> },
    { "st.shared.f32", "[r],f", MEMORY, store_shared<1> },
    { "barrier.cluster.arrive.release.aligned", "", MEMORY, cluster_arrive },
    { "barrier.cluster.wait.acquire.aligned", "", MEMORY, cluster_wait },
    { "mapa.shared::cluster.u32", "R,r,r", ORDER, mapa },
    { "ld.shared::cluster.v4.u32", "{R,R,R,R},[r]", MEMORY, load_cluster },
    { "st.shared::cluster.v4.u32", "[r],{r,r,r,r}", MEMORY, store_cluster },
    { "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32", "[r],{r,r,r,r},[r]", MEMORY,
      send<4> },
    { "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32", "[r],{f,f},[r]", MEMORY,
      send<2> },
    { "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32", "[r],f,[r]", MEMORY, send<1> },
    {},
};

} // namespace cuda_host
