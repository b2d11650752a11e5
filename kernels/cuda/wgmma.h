/* SPDX-License-Identifier: MIT */
/*
 * wgmma, the asynchronous matrix product of a warpgroup (4 warps): sm_90a alone, so only for files
 * that are compiled for it (ARCH 90a, see cmake/HarnessCuda.cmake). There is no model of it on the
 * host layer.
 *
 * D (64 x N floats, N / 2 a thread) += A (64 x K) B (K x N). One product takes 32 bytes of K: K =
 * 16 for bf16, 8 for tf32. A and B lie in shared memory, or A in registers as D has it (wgmma_a).
 *
 *   K-major     K runs fastest (rows of x and of w): a row of 128 bytes of K (64 bf16, 32 tf32),
 *               swizzled in groups of 8 rows (cuda_swizzle<8>): 1024 bytes a group, aligned to
 *               1024. The next 32 bytes of K start 32 bytes on.
 *   N-major     N runs fastest (V of attention; bf16 alone): a row of 128 bytes of N (64 bf16),
 *               swizzled the same way; the next 64 columns are a block of their own, `block` bytes
 *               on. The next 16 rows of K start 2048 bytes on.
 *
 * Element i of D of thread t of the warpgroup: row 16 (t / 32) + t % 32 / 4 + 8 (i / 2 % 2), column
 * 8 (i / 4) + 2 (t % 4) + i % 2.
 *
 * D and A in registers belong to the unit from the product on until wgmma_wait().
 *
 * Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
 */
#ifndef HARNESS_KERNELS_CUDA_WGMMA_H
#define HARNESS_KERNELS_CUDA_WGMMA_H

#include "kernels/cuda/async.h"

constexpr int WGMMA_M = 64, WGMMA_N = 256, WGMMA_SUMS = WGMMA_M * WGMMA_N / 128;
constexpr int WGMMA_ROW_BYTES = 128, WGMMA_K_BYTES = 32;
constexpr int WGMMA_GROUP_BYTES = 8 * WGMMA_ROW_BYTES;

/* A K-major matrix at a shared-memory address as PTX counts it: bits 0-13 the address, 32-45 the
 * bytes from one group of 8 rows to the next, both over 16; 62-63 the swizzle, 1 for 128 bytes. The
 * bits 16-29 (leading dimension) have no meaning in this layout. */
__host__ __device__ constexpr uint64_t wgmma_matrix(uint32_t address)
{
    return (uint64_t)(address & 0x3ffffu) >> 4 | (uint64_t)(WGMMA_GROUP_BYTES >> 4) << 32 |
           (uint64_t)1 << 62;
}

/* An N-major one: bits 16-29 are the bytes from one block of 64 columns to the next over 16, bits
 * 32-45 those from 8 rows of K to the next 8. */
__host__ __device__ constexpr uint64_t wgmma_matrix_n_major(uint32_t address, uint32_t block)
{
    return wgmma_matrix(address) | (uint64_t)(block >> 4) << 16;
}

/* Shared memory that was written by ordinary stores becomes visible to wgmma: each writing thread,
 * before the barrier. */
__device__ __forceinline__ void wgmma_publish(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Before the first product, and wherever the registers of D were touched in between. */
__device__ __forceinline__ void wgmma_fence(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void wgmma_commit(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int ALLOW> __device__ __forceinline__ void wgmma_wait(void)
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(ALLOW) : "memory");
}

/* clang-format off */
#define WGMMA_D8(d, i)                                                                             \
    "+f"((d)[i]), "+f"((d)[(i) + 1]), "+f"((d)[(i) + 2]), "+f"((d)[(i) + 3]),                      \
    "+f"((d)[(i) + 4]), "+f"((d)[(i) + 5]), "+f"((d)[(i) + 6]), "+f"((d)[(i) + 7])
#define WGMMA_D32(d, i)                                                                            \
    WGMMA_D8(d, i), WGMMA_D8(d, (i) + 8), WGMMA_D8(d, (i) + 16), WGMMA_D8(d, (i) + 24)
#define WGMMA_D64(d, i) WGMMA_D32(d, i), WGMMA_D32(d, (i) + 32)
#define WGMMA_D88(d, i)                                                                            \
    WGMMA_D64(d, i), WGMMA_D8(d, (i) + 64), WGMMA_D8(d, (i) + 72), WGMMA_D8(d, (i) + 80)
#define WGMMA_D40(d, i) WGMMA_D32(d, i), WGMMA_D8(d, (i) + 32)
#define WGMMA_D96(d, i) WGMMA_D64(d, i), WGMMA_D32(d, (i) + 64)
#define WGMMA_0_31                                                                                 \
    "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"                                       \
    "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define WGMMA_0_39 WGMMA_0_31 ",%32,%33,%34,%35,%36,%37,%38,%39"
#define WGMMA_0_63 WGMMA_0_31                                                                      \
    ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"                            \
    "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define WGMMA_0_87 WGMMA_0_63                                                                      \
    ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"                            \
    "%80,%81,%82,%83,%84,%85,%86,%87"
#define WGMMA_0_95 WGMMA_0_87 ",%88,%89,%90,%91,%92,%93,%94,%95"
#define WGMMA_0_127 WGMMA_0_63                                                                     \
    ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"                            \
    "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,"                             \
    "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,"                 \
    "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
/* clang-format on */

/* The text of a product: AB are the operand numbers of a, b and `add`. bf16 from shared memory has
 * two bits at its end, whether A and B are transposed (not K-major); from registers B's alone. */
#define WGMMA_TEXT(shape, types, d, a, b, add, end)                                                \
    "{ .reg .pred add; setp.ne.b32 add, " add                                                      \
    ", 0;"                                                                                         \
    "wgmma.mma_async.sync.aligned." shape ".f32." types " {" d "}, " a ", " b ", add, 1, 1" end    \
    "; }"

/* d = a b, or d += a b with `add`. bf16; A K-major in shared memory, B K-major or (N_MAJOR) not. N
 * is 64, 80, 128, 176, 192 or 256. */
template <int N, bool N_MAJOR = false>
__device__ __forceinline__ void wgmma_bf16(float (&d)[N / 2], uint64_t a, uint64_t b, int add)
{
    static_assert(N == 64 || N == 80 || N == 128 || N == 176 || N == 192 || N == 256,
                  "the shapes that are written out");
    if constexpr (N == 64)
        asm volatile(
            WGMMA_TEXT("m64n64k16", "bf16.bf16", WGMMA_0_31, "%32", "%33", "%34", ", 0, %35")
            : WGMMA_D32(d, 0)
            : "l"(a), "l"(b), "r"(add), "n"((int)N_MAJOR));
    if constexpr (N == 80)
        asm volatile(
            WGMMA_TEXT("m64n80k16", "bf16.bf16", WGMMA_0_39, "%40", "%41", "%42", ", 0, %43")
            : WGMMA_D40(d, 0)
            : "l"(a), "l"(b), "r"(add), "n"((int)N_MAJOR));
    if constexpr (N == 128)
        asm volatile(
            WGMMA_TEXT("m64n128k16", "bf16.bf16", WGMMA_0_63, "%64", "%65", "%66", ", 0, %67")
            : WGMMA_D64(d, 0)
            : "l"(a), "l"(b), "r"(add), "n"((int)N_MAJOR));
    if constexpr (N == 176)
        asm volatile(
            WGMMA_TEXT("m64n176k16", "bf16.bf16", WGMMA_0_87, "%88", "%89", "%90", ", 0, %91")
            : WGMMA_D88(d, 0)
            : "l"(a), "l"(b), "r"(add), "n"((int)N_MAJOR));
    if constexpr (N == 192)
        asm volatile(
            WGMMA_TEXT("m64n192k16", "bf16.bf16", WGMMA_0_95, "%96", "%97", "%98", ", 0, %99")
            : WGMMA_D96(d, 0)
            : "l"(a), "l"(b), "r"(add), "n"((int)N_MAJOR));
    if constexpr (N == 256)
        asm volatile(
            WGMMA_TEXT("m64n256k16", "bf16.bf16", WGMMA_0_127, "%128", "%129", "%130", ", 0, %131")
            : WGMMA_D64(d, 0), WGMMA_D64(d, 64)
            : "l"(a), "l"(b), "r"(add), "n"((int)N_MAJOR));
}

/* The same with A in registers: a[0], a[1] rows l/4 and l/4 + 8 of columns 2 (l % 4) and the next,
 * a[2], a[3] the same 8 columns on; that is elements 0..7 of D of 16 columns, packed in pairs. */
template <int N, bool N_MAJOR = false>
__device__ __forceinline__ void wgmma_bf16(float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b,
                                           int add)
{
    static_assert(N == 64 || N == 128, "the shapes that are written out");
    if constexpr (N == 64)
        asm volatile(WGMMA_TEXT("m64n64k16", "bf16.bf16", WGMMA_0_31, "{%32,%33,%34,%35}", "%36",
                                "%37", ", %38")
                     : WGMMA_D32(d, 0)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add),
                       "n"((int)N_MAJOR));
    if constexpr (N == 128)
        asm volatile(WGMMA_TEXT("m64n128k16", "bf16.bf16", WGMMA_0_63, "{%64,%65,%66,%67}", "%68",
                                "%69", ", %70")
                     : WGMMA_D64(d, 0)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add),
                       "n"((int)N_MAJOR));
}

/* tf32, whose lower bits are cut off: both K-major. */
template <int N>
__device__ __forceinline__ void wgmma_tf32(float (&d)[N / 2], uint64_t a, uint64_t b, int add)
{
    static_assert(N == 64 || N == 128 || N == 192 || N == 256, "the shapes that are written out");
    if constexpr (N == 64)
        asm volatile(WGMMA_TEXT("m64n64k8", "tf32.tf32", WGMMA_0_31, "%32", "%33", "%34", "")
                     : WGMMA_D32(d, 0)
                     : "l"(a), "l"(b), "r"(add));
    if constexpr (N == 128)
        asm volatile(WGMMA_TEXT("m64n128k8", "tf32.tf32", WGMMA_0_63, "%64", "%65", "%66", "")
                     : WGMMA_D64(d, 0)
                     : "l"(a), "l"(b), "r"(add));
    if constexpr (N == 192)
        asm volatile(WGMMA_TEXT("m64n192k8", "tf32.tf32", WGMMA_0_95, "%96", "%97", "%98", "")
                     : WGMMA_D96(d, 0)
                     : "l"(a), "l"(b), "r"(add));
    if constexpr (N == 256)
        asm volatile(WGMMA_TEXT("m64n256k8", "tf32.tf32", WGMMA_0_127, "%128", "%129", "%130", "")
                     : WGMMA_D64(d, 0), WGMMA_D64(d, 64)
                     : "l"(a), "l"(b), "r"(add));
}

/* Registers of a warpgroup from here on, RAISEd by consumers and lowered by the producer: a
 * multiple of 8 from 24 to 240. The kernel has __launch_bounds__(threads, 1), and the branches
 * never meet again. */
template <int REGISTERS> __device__ __forceinline__ void wgmma_raise_registers(void)
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

template <int REGISTERS> __device__ __forceinline__ void wgmma_lower_registers(void)
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

#endif
