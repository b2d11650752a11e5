/* SPDX-License-Identifier: MIT */
/* wgmma: D (64 x n) += A (64 x k) B (k x n) by the 128 threads of a warpgroup. */
#include "cuda_host_asm.h"
#include "hopper_state.h"
#include "report.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace cuda_host
{

static const char product_name[] = "product";

/* ---- Operands ---- */

namespace
{
struct operands {
    float a[64][32], b[32][256];
};
} // namespace

/* A sign, 4 bits of exponent (bias 7, 0: none), 3 of mantissa; all ones are NaN. */
static float e4m3(uint32_t bits)
{
    int exponent = static_cast<int>(bits >> 3 & 15), mantissa = static_cast<int>(bits & 7);
    float size = exponent == 15 && mantissa == 7 ? NAN
                 : exponent == 0                 ? std::ldexp(static_cast<float>(mantissa), -9)
                                 : std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);

    return bits & 0x80 ? -size : size;
}

static unsigned size_of(enum factors type)
{
    return type == factors::TF32 ? 4 : type == factors::BF16 ? 2 : 1;
}

/* An element of a matrix that a descriptor tells, of `size` bytes. */
static float element(const struct thread *t, uint64_t address, unsigned size,
                     struct cuda_host_site site)
{
    uint64_t place = address ^ (address >> 3 & 0x70);
    uint32_t bits = 0;
    const struct member *m = t->member;

    if (place < SHARED_BEGIN || place - SHARED_BEGIN + size > m->view.size())
        block_fail(t, "the product at %s reads outside of shared memory",
                   report_site(site).c_str());
    memcpy(&bits, m->view.data() + (place - SHARED_BEGIN), size);
    if (size == 1)
        return e4m3(bits);
    return std::bit_cast<float>(size == 2 ? bits << 16 : bits & 0xffffe000u);
}

namespace
{
struct matrix {
    uint64_t start, leading, stride; /* bytes */
};
} // namespace

static struct matrix matrix_of(const struct thread *t, uint64_t d, struct cuda_host_site site)
{
    if (d >> 62 != 1 || d >> 46 & 0xffff)
        block_fail(t, "the descriptor %#llx at %s is not of 128-byte swizzle at a whole address",
                   static_cast<unsigned long long>(d), report_site(site).c_str());
    return { (d & 0x3fff) << 4, (d >> 16 & 0x3fff) << 4, (d >> 32 & 0x3fff) << 4 };
}

/* Rows of 128 bytes of k, in groups of 8. */
static float k_major(const struct thread *t, const struct matrix &m, int row, int k, unsigned size,
                     struct cuda_host_site site)
{
    return element(t,
                   m.start + m.stride * static_cast<uint64_t>(row / 8) +
                       128 * static_cast<uint64_t>(row % 8) + size * static_cast<uint64_t>(k),
                   size, site);
}

/* Rows of 64 columns of 2 bytes, `leading` from 64 columns to the next. */
static float n_major(const struct thread *t, const struct matrix &m, int n, int k,
                     struct cuda_host_site site)
{
    return element(t,
                   m.start + m.leading * static_cast<uint64_t>(n / 64) +
                       m.stride * static_cast<uint64_t>(k / 8) +
                       128 * static_cast<uint64_t>(k % 8) + 2 * static_cast<uint64_t>(n % 64),
                   2, site);
}

static float half_of(uint32_t pair, int half)
{
    return std::bit_cast<float>(half ? pair & 0xffff0000u : pair << 16);
}

/* Registers: rows l / 4 and + 8 of columns 2 (l % 4) and the next, then 8 columns on. */
static void a_of_registers(struct operands *o, const struct product &p)
{
    for (int t = 0; t < 128; t++)
        for (int e = 0; e < 8; e++)
            o->a[16 * (t / 32) + t % 32 / 4 + 8 * (e / 2 % 2)][2 * (t % 4) + e % 2 + 8 * (e / 4)] =
                half_of(*p.of[t].a[e / 2], e % 2);
}

/* Of bytes: columns 4 (l % 4) .. + 3 of rows l / 4 and + 8, then 16 columns on. */
static void a_of_byte_registers(struct operands *o, const struct product &p)
{
    for (int t = 0; t < 128; t++)
        for (int e = 0; e < 16; e++)
            o->a[16 * (t / 32) + t % 32 / 4 + 8 * (e / 4 % 2)][4 * (t % 4) + e % 4 + 16 * (e / 8)] =
                e4m3(*p.of[t].a[e / 4] >> 8 * (e % 4) & 0xff);
}

static void take_operands(struct operands *o, const struct thread *t, const struct product &p)
{
    const struct product_call &c = p.call;
    unsigned size = size_of(c.type);

    if (c.a_register[0] && c.type == factors::E4M3) {
        a_of_byte_registers(o, p);
    } else if (c.a_register[0]) {
        a_of_registers(o, p);
    } else {
        struct matrix a = matrix_of(t, c.a, c.site);
        for (int row = 0; row < 64; row++)
            for (int k = 0; k < c.k; k++)
                o->a[row][k] = k_major(t, a, row, k, size, c.site);
    }
    struct matrix b = matrix_of(t, c.b, c.site);
    for (int k = 0; k < c.k; k++)
        for (int n = 0; n < c.n; n++)
            o->b[k][n] =
                c.b_transposed ? n_major(t, b, n, k, c.site) : k_major(t, b, n, k, size, c.site);
}

/* Into the sums that the unit has: the registers get them at wait_group. */
static void multiply(const struct thread *t, const struct product &p)
{
    static thread_local struct operands o;
    static thread_local float d[64][256];
    const struct product_call &c = p.call;

    take_operands(&o, t, p);
    memset(d, 0, sizeof(d));
    for (int row = 0; row < 64; row++)
        for (int k = 0; k < c.k; k++)
            for (int n = 0; n < c.n; n++)
                d[row][n] += o.a[row][k] * o.b[k][n];
    for (int thread = 0; thread < 128; thread++) {
        std::vector<float> &sums = p.of[thread].sums->value;
        int row = 16 * (thread / 32) + thread % 32 / 4, col = 2 * (thread % 4);
        for (int i = 0; i < c.n / 2; i++) {
            float *sum = &sums[static_cast<size_t>(i)];
            *sum = (c.add ? *sum : 0) + d[row + 8 * (i / 2 % 2)][8 * (i / 4) + col + i % 2];
        }
    }
}

/* ---- What a thread hands over and gets back ---- */

static struct thread *leader_of(const struct thread *t)
{
    return t->owner->threads[t->index - (t->index - t->member->first) % 128].get();
}

static bool overlaps(const struct sums_away &s, const float *place)
{
    for (const float *p : s.place)
        if (p == place)
            return true;
    return false;
}

static void check_kept(struct thread *t, struct hopper *h, const void *place,
                       struct cuda_host_site site)
{
    if (h->unkept.contains(place))
        block_fail(t,
                   "registers of wgmma.wait_group at %s are used at %s without an asm statement "
                   "that keeps their use behind it",
                   report_site(h->unkept[place].site).c_str(), report_site(site).c_str());
}

/* The sums of the call, taken from the registers unless the unit has them. */
static std::shared_ptr<struct sums_away> hand_over(struct thread *t, struct hopper *h,
                                                   const struct product_call &c)
{
    for (const auto &s : h->away) {
        if (s->place == c.sums)
            return s;
        if (overlaps(*s, c.sums[0]))
            block_fail(t, "a product at %s adds to some of the registers of another one",
                       report_site(c.site).c_str());
    }
    if (!h->fenced)
        block_fail(t, "registers go to the product at %s without wgmma.fence",
                   report_site(c.site).c_str());
    auto s = std::make_shared<struct sums_away>();
    s->place = c.sums;
    for (float *p : c.sums) {
        check_kept(t, h, p, c.site);
        s->value.push_back(*p);
        *p = NAN;
    }
    h->away.push_back(s);
    return s;
}

static bool same_call(const struct product_call &a, const struct product_call &b)
{
    bool registers = a.a_register[0] && b.a_register[0];

    return a.n == b.n && a.k == b.k && a.type == b.type && a.b_transposed == b.b_transposed &&
           a.add == b.add && a.b == b.b && (registers || a.a == b.a) && a.site.line == b.site.line;
}

void hopper_product(struct thread *t, const struct product_call &call)
{
    struct hopper *h = hopper_of(t);
    struct thread *first = leader_of(t);
    struct hopper *leader = hopper_of(first);
    unsigned within = t->index - first->index;
    uint64_t number = h->products++;
    auto &slot = leader->open[number];

    if (!slot) {
        slot = std::make_shared<struct product>();
        slot->call = call;
    }
    std::shared_ptr<struct product> p = slot;
    if (!same_call(p->call, call))
        block_fail(t, "starts a product at %s that is not the one of its warpgroup at %s",
                   report_site(call.site).c_str(), report_site(p->call.site).c_str());
    if (call.a_register[0] && !h->fenced)
        block_fail(t, "A in registers goes to the product at %s without wgmma.fence",
                   report_site(call.site).c_str());
    for (int i = 0; i < 4 && call.a_register[0]; i++) {
        check_kept(t, h, call.a_register[i], call.site);
        h->lent.push_back({ number, { call.a_register[i], *call.a_register[i] } });
    }
    p->of[within].sums = hand_over(t, h, call);
    p->of[within].sums->last = number;
    for (int i = 0; i < 4; i++)
        p->of[within].a[i] = call.a_register[i];
    if (++p->arrived < 128)
        return;
    leader->open.erase(number);
    leader->complete = number + 1;
    engine_start(t->owner, { product_name, first, call.site, number, true, false, nullptr, [=] {
                                multiply(first, *p);
                                leader->done = number + 1;
                            } });
    for (unsigned i = first->index; i < first->index + 128; i++)
        if (t->owner->threads[i]->state == state::AT_NAMED &&
            t->owner->threads[i]->mbarrier == leader)
            block_wake(t->owner, i, 1);
}

void hopper_product_fence(struct thread *t)
{
    struct hopper *h = hopper_of(t);

    h->fenced = true;
}

void hopper_product_commit(struct thread *t)
{
    struct hopper *h = hopper_of(t);

    h->groups.push_back(h->products);
}

/* Sums that no product before `end` is the last one of stay where they are. */
static void give_back(struct hopper *h, uint64_t end, struct cuda_host_site site)
{
    for (size_t i = 0; i < h->away.size();) {
        struct sums_away *s = h->away[i].get();
        if (s->last >= end) {
            i++;
            continue;
        }
        for (size_t e = 0; e < s->place.size(); e++) {
            *s->place[e] = s->value[e];
            if (cuda_host_sums_are_kept)
                h->unkept[s->place[e]] = { site, std::bit_cast<uint32_t>(s->value[e]) };
        }
        h->away.erase(h->away.begin() + static_cast<ptrdiff_t>(i));
    }
    while (!h->lent.empty() && h->lent.front().first < end) {
        if (cuda_host_sums_are_kept)
            h->unkept[h->lent.front().second.place] = { site, h->lent.front().second.bits };
        h->lent.pop_front();
    }
    h->fenced = false;
}

void hopper_product_wait(struct thread *t, unsigned allow, struct cuda_host_site site)
{
    struct hopper *h = hopper_of(t);
    struct thread *first = leader_of(t);
    struct hopper *leader = hopper_of(first);

    if (h->groups.size() <= allow)
        return;
    uint64_t end = h->groups[h->groups.size() - allow - 1];
    while (leader->complete < end) {
        t->kind = CUDA_HOST_NAMED;
        t->site = site;
        t->mbarrier = leader;
        block_wait(t, state::AT_NAMED);
    }
    if (end > 0 && leader->done < end)
        engine_finish(t->owner, first, product_name, end - 1, true);
    give_back(h, end, site);
}

void hopper_keep(struct thread *t, const void *place, struct cuda_host_site site)
{
    struct hopper *h = hopper_of(t);

    auto back = h->unkept.find(place);
    if (back != h->unkept.end()) {
        if (memcmp(place, &back->second.bits, 4) != 0)
            block_fail(t,
                       "a register of wgmma.wait_group at %s is written in front of the statement "
                       "at %s that keeps its use behind the wait",
                       report_site(back->second.site).c_str(), report_site(site).c_str());
        h->unkept.erase(back);
    }
    for (const auto &s : h->away)
        if (overlaps(*s, static_cast<const float *>(place)))
            block_fail(t, "%s keeps a register that a product still has",
                       report_site(site).c_str());
}

} // namespace cuda_host

bool cuda_host_sums_are_kept = true;
