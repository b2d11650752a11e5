/* SPDX-License-Identifier: MIT */
/* Instructions of registers, and those of a whole warp: matrices of mma.sync and ldmatrix. */
#include "run.h"

#include "hopper.h"
#include "report.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

uint64_t cuda_host_matrices, cuda_host_matrix_conflicts;

namespace cuda_host
{

static uint32_t nearest_bf16(float x)
{
    uint32_t bits = std::bit_cast<uint32_t>(x);

    if (std::isnan(x))
        return 0x7fff;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/* d = high and low half of the operands in this order. */
static void cvt_bf16x2(struct frame &f)
{
    f.set(0, nearest_bf16(f.f(1)) << 16 | nearest_bf16(f.f(2)));
}

/* To the nearest of all finite numbers of a byte, and of two as near the even one; what is beyond
 * the largest is that. */
static uint32_t nearest_e4m3(float x)
{
    uint32_t best = 0;
    double off = INFINITY;

    if (std::isnan(x))
        return 0x7f;
    for (uint32_t bits = 0; bits < 0x7f; bits++) {
        int exponent = static_cast<int>(bits >> 3);
        double value = exponent ? std::ldexp(8.0 + (bits & 7), exponent - 10)
                                : std::ldexp(static_cast<double>(bits), -9);
        double here = std::fabs(std::fabs(static_cast<double>(x)) - value);
        if (here < off || (here == off && bits % 2 == 0))
            best = bits, off = here;
    }
    return best | (std::signbit(x) ? 0x80u : 0);
}

static void cvt_e4m3x2(struct frame &f)
{
    f.set(0, nearest_e4m3(f.f(1)) << 8 | nearest_e4m3(f.f(2)));
}

static void cvt_tf32(struct frame &f)
{
    uint32_t x = f.r(1);
    bool finite = (x & 0x7f800000u) != 0x7f800000u;

    f.set(0, finite ? (x + 0x1000u) & 0xffffe000u : x);
}

static float flushed(float x)
{
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

static void ex2(struct frame &f)
{
    f.set_f(0, flushed(std::exp2(flushed(f.f(1)))));
}

static void rcp(struct frame &f)
{
    f.set_f(0, flushed(1.0f / flushed(f.f(1))));
}

static void prmt(struct frame &f)
{
    uint64_t bytes = f.r(1) | static_cast<uint64_t>(f.r(2)) << 32;
    uint32_t select = f.r(3), out = 0;

    for (int i = 0; i < 4; i++)
        out |= static_cast<uint32_t>(bytes >> 8 * (select >> 4 * i & 7) & 0xff) << 8 * i;
    f.set(0, out);
}

static void move(struct frame &f)
{
    f.set(0, f.get(1));
}

static void join(struct frame &f)
{
    f.set(0, f.r(1) | static_cast<uint64_t>(f.r(2)) << 32);
}

static void split(struct frame &f)
{
    uint64_t both = f.get(2);

    f.set(0, both & 0xffffffffu);
    f.set(1, both >> 32);
}

static void set_ne(struct frame &f)
{
    f.set(0, f.r(1) != f.r(2));
}

static void set_lt(struct frame &f)
{
    f.set(0, f.f(1) < f.f(2));
}

static void select_by(struct frame &f)
{
    f.set(0, f.get(3) ? f.r(1) : f.r(2));
}

/* ---- Warps ---- */

static const void *const *meet(const void *mine, const struct frame &f)
{
    return cuda_host_warp_publish(mine, f.program->site);
}

static void part(const struct frame &f)
{
    cuda_host_warp_done(f.program->site);
}

static float half(uint32_t pair, int which)
{
    return std::bit_cast<float>(which ? pair & 0xffff0000u : pair << 16);
}

namespace
{
struct fragments {
    uint32_t a[4], b[2];
};
} // namespace

/* m16n8kK by the manual's figures: thread g = l / 4, i = l % 4. Of bf16 (K 16) registers hold pairs
 * of k, of tf32 (K 8) single ones. */
static void multiply(struct frame &f, int k_size)
{
    struct fragments mine;
    for (size_t i = 0; i < 4; i++)
        mine.a[i] = f.r(4 + i);
    for (size_t i = 0; i < 2; i++)
        mine.b[i] = f.r(8 + i);
    auto all = reinterpret_cast<const struct fragments *const *>(meet(&mine, f));
    int lane = static_cast<int>(f.thread->lane), per = k_size == 16 ? 2 : 1;

    for (int e = 0; e < 4; e++) {
        int g = lane / 4, upper = e / 2, n = 2 * (lane % 4) + e % 2;
        float sum = f.f(static_cast<size_t>(10 + e));
        for (int k = 0; k < k_size; k++) {
            int i = k % (4 * per) / per, far = k / (4 * per);
            uint32_t a = all[4 * g + i]->a[upper + 2 * far], b = all[4 * n + i]->b[far];
            sum += per == 2 ? half(a, k % 2) * half(b, k % 2)
                            : std::bit_cast<float>(a & 0xffffe000u) *
                                  std::bit_cast<float>(b & 0xffffe000u);
        }
        f.set_f(static_cast<size_t>(e), sum);
    }
    part(f);
}

static void mma_bf16(struct frame &f)
{
    multiply(f, 16);
}

static void mma_tf32(struct frame &f)
{
    multiply(f, 8);
}

/* Where lane `lane` points. */
static uint16_t *row_of(const void *const *all, int lane)
{
    return static_cast<uint16_t *>(*static_cast<void *const *>(all[lane]));
}

/* By one lane for all: `row` has where each of them points. */
static void count_conflicts(const struct frame &f, const std::function<const void *(int)> &row)
{
    if (f.thread->lane != 0)
        return;
    for (int j = 0; j < 4; j++) {
        unsigned groups = 0;
        for (int i = 0; i < 8; i++)
            groups |= 1u << (reinterpret_cast<uintptr_t>(row(8 * j + i)) / 16 % 8);
        cuda_host_matrices++;
        cuda_host_matrix_conflicts += groups != 0xffu;
    }
}

/* Register j of lane l: of matrix j, whose rows lanes 8 j .. point at, row l / 4, columns 2 (l % 4)
 * and the next. */
static void load_matrices(struct frame &f, bool transposed)
{
    void *mine = shared_at(f.thread, f.r(4), 16, 16, true, f.program->site).at;
    const void *const *all = meet(&mine, f);
    int lane = static_cast<int>(f.thread->lane);
    uint32_t got[4];

    count_conflicts(f, [&](int of) { return row_of(all, of); });
    for (int j = 0; j < 4; j++) {
        uint32_t two[2];
        for (int i = 0; i < 2; i++) {
            int along = 2 * (lane % 4) + i, across = lane / 4;
            two[i] =
                row_of(all, 8 * j + (transposed ? along : across))[transposed ? across : along];
        }
        got[j] = two[0] | two[1] << 16;
    }
    part(f);
    for (size_t j = 0; j < 4; j++)
        f.set(j, got[j]);
}

static void ldmatrix(struct frame &f)
{
    load_matrices(f, false);
}

static void ldmatrix_transposed(struct frame &f)
{
    load_matrices(f, true);
}

namespace
{
struct stored {
    unsigned char *row;
    uint32_t word[4];
};
} // namespace

static void stmatrix(struct frame &f)
{
    struct stored mine = { shared_at(f.thread, f.r(0), 16, 16, true, f.program->site).at, {} };
    for (size_t j = 0; j < 4; j++)
        mine.word[j] = f.r(1 + j);
    auto all = reinterpret_cast<const struct stored *const *>(meet(&mine, f));
    int lane = static_cast<int>(f.thread->lane);

    count_conflicts(f, [&](int of) { return all[of]->row; });
    /* The rows that this lane has pointed at: row lane % 8 of matrix lane / 8. */
    for (int i = 0; i < 4; i++)
        memcpy(mine.row + 4 * i, &all[lane % 8 * 4 + i]->word[lane / 8], 4);
    views_stored(f.thread->member, mine.row, 16);
    part(f);
}

const struct operation operations_of_registers[] = {
    { "cvt.rn.bf16x2.f32", "R,f,f", PURE, cvt_bf16x2 },
    { "cvt.rna.tf32.f32", "R,f", PURE, cvt_tf32 },
    { "cvt.rn.satfinite.e4m3x2.f32", "H,f,f", PURE, cvt_e4m3x2 },
    { "ex2.approx.ftz.f32", "F,f", PURE, ex2 },
    { "rcp.approx.ftz.f32", "F,f", PURE, rcp },
    { "prmt.b32", "R,r,n,n", PURE, prmt },
    { "mov.u32", "R,r", PURE, move },
    { "mov.b64", "L,{r,r}", PURE, join },
    { "mov.b64", "{R,R},l", PURE, split },
    { "setp.ne.b32", "P,r,n", PURE, set_ne },
    { "setp.lt.f32", "P,f,f", PURE, set_lt },
    { "selp.b32", "R,n,n,p", PURE, select_by },
    { "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "{F,F,F,F},{r,r,r,r},{r,r},{f,f,f,f}",
      ORDER, mma_bf16 },
    { "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "{F,F,F,F},{r,r,r,r},{r,r},{f,f,f,f}",
      ORDER, mma_tf32 },
    { "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "{R,R,R,R},[r]", MEMORY, ldmatrix },
    { "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "{R,R,R,R},[r]", MEMORY,
      ldmatrix_transposed },
    { "stmatrix.sync.aligned.m8n8.x4.shared.b16", "[r],{r,r,r,r}", MEMORY, stmatrix },
    {},
};

} // namespace cuda_host

bool cuda_host_mma_is_volatile = true;
