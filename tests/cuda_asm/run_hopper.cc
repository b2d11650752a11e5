/* SPDX-License-Identifier: MIT */
/* Instructions of sm_90 alone: hopper.h says what they do. */
#include "run.h"

#include "hopper.h"
#include "report.h"

#include <cstdio>
#include <cstring>

namespace cuda_host
{

#define SITE f.program->site

static void mbarrier_init(struct frame &f)
{
    hopper_mbarrier_init(f.thread, f.r(0), f.r(1), SITE);
}

static void mbarrier_publish(struct frame &f)
{
    hopper_mbarrier_publish(f.thread);
}

static void mbarrier_arrive(struct frame &f)
{
    hopper_mbarrier_arrive(f.thread, f.r(1), 0, false, SITE);
}

static void mbarrier_arrive_cluster(struct frame &f)
{
    hopper_mbarrier_arrive(f.thread, f.r(1), 0, true, SITE);
}

static void mbarrier_expect(struct frame &f)
{
    hopper_mbarrier_arrive(f.thread, f.r(1), f.r(2), false, SITE);
}

static void mbarrier_try(struct frame &f)
{
    hopper_mbarrier_wait(f.thread, f.r(1), f.r(2), false, SITE);
    f.set(0, 1);
}

static void mbarrier_try_cluster(struct frame &f)
{
    hopper_mbarrier_wait(f.thread, f.r(1), f.r(2), true, SITE);
    f.set(0, 1);
}

static void fence_proxy(struct frame &f)
{
    hopper_publish(f.thread, true);
}

static void fence_proxy_own(struct frame &f)
{
    hopper_publish(f.thread, false);
}

static void bar_sync(struct frame &f)
{
    hopper_named(f.thread, f.r(0), f.r(1), true, SITE);
}

static void bar_arrive(struct frame &f)
{
    hopper_named(f.thread, f.r(0), f.r(1), false, SITE);
}

/* ---- Copies ---- */

static void load_bytes(struct frame &f)
{
    hopper_load_bytes(f.thread, f.r(0), f.pointer(1), f.r(2), f.r(3), SITE);
}

static void copy_bytes(struct frame &f)
{
    hopper_copy_bytes(f.thread, f.r(0), f.r(1), f.r(2), f.r(3), SITE);
}

static void store_bytes(struct frame &f)
{
    hopper_store_bytes(f.thread, f.pointer(0), f.r(1), f.r(2), SITE);
}

static void check_map(struct frame &f)
{
    hopper_check_map(f.thread, f.pointer(0), SITE);
}

/* The box of argument `map` and the coordinates behind it. */
static struct tensor_box box_of(const struct frame &f, size_t map, unsigned rank)
{
    struct tensor_box box = { f.pointer(map), {}, rank };

    for (unsigned i = 0; i < rank; i++)
        box.at[i] = static_cast<int>(f.r(map + 1 + i));
    return box;
}

template <unsigned RANK> static void load_box(struct frame &f)
{
    hopper_load_box(f.thread, f.r(0), box_of(f, 1, RANK), f.r(2 + RANK), 0, SITE);
}

static void load_box_to(struct frame &f)
{
    if ((f.r(5) & 0xffff) == 0)
        block_fail(f.thread, "a copy to no block of the cluster, at %s", report_site(SITE).c_str());
    hopper_load_box(f.thread, f.r(0), box_of(f, 1, 2), f.r(4), static_cast<uint16_t>(f.r(5)), SITE);
}

static void store_box(struct frame &f)
{
    hopper_store_box(f.thread, box_of(f, 0, 2), f.r(3), SITE);
}

static void stores_commit(struct frame &f)
{
    hopper_stores_commit(f.thread);
}

static void stores_wait_read(struct frame &f)
{
    hopper_stores_wait(f.thread, f.r(0), true);
}

static void stores_wait(struct frame &f)
{
    hopper_stores_wait(f.thread, f.r(0), false);
}

/* ---- Products ---- */

static void product_fence(struct frame &f)
{
    hopper_product_fence(f.thread);
}

static void product_commit(struct frame &f)
{
    hopper_product_commit(f.thread);
}

static void product_wait(struct frame &f)
{
    hopper_product_wait(f.thread, f.r(0), SITE);
}

/* "m64n128k16.f32.bf16.bf16": 32 bytes of k. */
static bool product_shape(struct product_call *c, const std::string &name)
{
    static const struct {
        const char *types;
        enum factors type;
        int k;
    } known[] = { { "bf16.bf16", factors::BF16, 16 },
                  { "tf32.tf32", factors::TF32, 8 },
                  { "e4m3.e4m3", factors::E4M3, 32 } };
    char types[16] = "";

    if (sscanf(name.c_str(), "wgmma.mma_async.sync.aligned.m64n%dk%d.f32.%15s", &c->n, &c->k,
               types) != 3 ||
        c->n < 8 || c->n > 256 || c->n % 8)
        return false;
    for (const auto &row : known)
        if (strcmp(types, row.types) == 0) {
            c->type = row.type;
            return c->k == row.k;
        }
    return false;
}

/* Behind the sums stand a, b, add, factors of a and b, which are 1 here, and of bf16 whether a (not
 * where it is registers) and b are transposed. */
static void product(struct frame &f)
{
    struct product_call c = {};
    size_t count = f.now->arguments.size(), at = 0;
    const std::string &shape = f.now->shape;
    bool registers = shape.find("},{") != std::string::npos;

    if (!product_shape(&c, f.now->name))
        block_fail(f.thread, "no such product: %s", f.now->name.c_str());
    for (size_t i = 0; shape[i] != '}'; i++)
        if (shape[i] == '.')
            c.sums.push_back(static_cast<float *>(f.place(at++)));
    for (int i = 0; registers && i < 4; i++)
        c.a_register[i] = static_cast<const uint32_t *>(f.place(at++));
    c.a = registers ? 0 : f.get(at++);
    c.b = f.get(at++), c.add = f.get(at++) != 0;
    bool plain = f.get(at) == 1 && f.get(at + 1) == 1;
    at += 2;
    if (c.sums.size() != static_cast<size_t>(c.n / 2) ||
        count - at != (c.type != factors::BF16 ? 0u
                       : registers             ? 1u
                                               : 2u) ||
        (registers && !c.a_register[0]))
        block_fail(f.thread, "%s has no such operands", f.now->name.c_str());
    c.b_transposed = count > at && f.get(count - 1) != 0;
    if (!plain || (count - at == 2 && f.get(at) != 0))
        block_fail(f.thread, "a product of negated or transposed factors at %s",
                   report_site(SITE).c_str());
    c.site = SITE;
    hopper_product(f.thread, c);
}

static void dependent_wait(struct frame &f)
{
    block_wait_predecessor(f.thread);
}

/* The next kernel starts early whatever this one says. */
static void dependent_launch(struct frame &)
{
}

static void registers(struct frame &f)
{
    hopper_registers(f.thread, f.r(0), SITE);
}

#define COMPLETES "mbarrier::complete_tx::bytes"

const struct operation operations_of_hopper[] = {
    { "mbarrier.init.shared::cta.b64", "[r],r", MEMORY, mbarrier_init },
    { "fence.mbarrier_init.release.cluster", "", MEMORY, mbarrier_publish },
    { "mbarrier.arrive.shared::cta.b64", "_,[r]", MEMORY, mbarrier_arrive },
    { "mbarrier.arrive.release.cluster.shared::cluster.b64", "_,[r]", MEMORY,
      mbarrier_arrive_cluster },
    { "mbarrier.arrive.expect_tx.shared::cta.b64", "_,[r],r", MEMORY, mbarrier_expect },
    { "mbarrier.try_wait.parity.shared::cta.b64", "P,[r],r", MEMORY, mbarrier_try },
    { "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64", "P,[r],r", MEMORY,
      mbarrier_try_cluster },
    { "fence.proxy.async", "", MEMORY, fence_proxy },
    { "fence.proxy.async.shared::cta", "", MEMORY, fence_proxy_own },
    { "bar.sync", "r,n", MEMORY, bar_sync },
    { "bar.arrive", "r,n", MEMORY, bar_arrive },
    { "cp.async.bulk.shared::cluster.global." COMPLETES, "[r],[l],r,[r]", MEMORY, load_bytes },
    { "cp.async.bulk.shared::cluster.shared::cta." COMPLETES, "[r],[r],r,[r]", MEMORY, copy_bytes },
    { "cp.async.bulk.global.shared::cta.bulk_group", "[l],[r],r", MEMORY, store_bytes },
    { "prefetch.tensormap", "[l]", MEMORY, check_map },
    { "cp.async.bulk.tensor.2d.shared::cluster.global." COMPLETES, "[r],[l,{r,r}],[r]", MEMORY,
      load_box<2> },
    { "cp.async.bulk.tensor.3d.shared::cluster.global." COMPLETES, "[r],[l,{r,r,r}],[r]", MEMORY,
      load_box<3> },
    { "cp.async.bulk.tensor.2d.shared::cluster.global." COMPLETES ".multicast::cluster",
      "[r],[l,{r,r}],[r],h", MEMORY, load_box_to },
    { "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group", "[l,{r,r}],[r]", MEMORY, store_box },
    { "cp.async.bulk.commit_group", "", MEMORY, stores_commit },
    { "cp.async.bulk.wait_group.read", "n", MEMORY, stores_wait_read },
    { "cp.async.bulk.wait_group", "n", MEMORY, stores_wait },
    { "wgmma.fence.sync.aligned", "", MEMORY, product_fence },
    { "wgmma.commit_group.sync.aligned", "", MEMORY, product_commit },
    { "wgmma.wait_group.sync.aligned", "n", MEMORY, product_wait },
    { "wgmma.mma_async.sync.aligned.m64*", "{D},l,l,p,n,n", ORDER, product },
    { "wgmma.mma_async.sync.aligned.m64*", "{D},l,l,p,n,n,n,n", ORDER, product },
    { "wgmma.mma_async.sync.aligned.m64*", "{D},{r,r,r,r},l,p,n,n,n", ORDER, product },
    { "wgmma.mma_async.sync.aligned.m64*", "{D},{r,r,r,r},l,p,n,n", ORDER, product },
    { "griddepcontrol.wait", "", MEMORY, dependent_wait },
    { "griddepcontrol.launch_dependents", "", MEMORY, dependent_launch },
    { "setmaxnreg.inc.sync.aligned.u32", "n", ORDER, registers },
    { "setmaxnreg.dec.sync.aligned.u32", "n", ORDER, registers },
    {},
};

} // namespace cuda_host
