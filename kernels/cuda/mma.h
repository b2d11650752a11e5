/* SPDX-License-Identifier: MIT */
/*
 * The tensor cores of sm_80 and later through mma.sync, and ldmatrix, which feeds them from shared
 * memory. A warp holds a matrix as fragments: element e of lane l's registers is the matrix
 * element (row, column) given by the functions below (PTX ISA, "Matrix Fragments for mma"):
 *
 *     A 16 x 16 (bf16), registers a[0..3] of two elements      C, D 16 x 8, c[0..3]
 *          k 0..7      8..15                                         n 0..7
 *     row 0..7   a[0]   a[2]                                   row 0..7   c[0] c[1]
 *         8..15  a[1]   a[3]                                       8..15  c[2] c[3]
 *     lane l: row l/4, columns 2 (l%4) and the next
 *     B 16 x 8: b[0] k 0..7, b[1] k 8..15; lane l: k = 2 (l%4) and the next, n = l/4
 *
 * tf32 is m16n8k8 with one element a register: A 16 x 8 a[0..3] as above with 4 columns a quarter
 * (lane l: column l%4), B 8 x 8 b[0] k 0..3, b[1] k 4..7.
 *
 * On the host layer of the tests the same wrappers compute from all lanes' fragments by these
 * index maps, so a kernel with a wrong layout fails there too.
 */
#ifndef HARNESS_KERNELS_CUDA_MMA_H
#define HARNESS_KERNELS_CUDA_MMA_H

#include "kernels/cuda/async.h"
#include "kernels/cuda/bf16.h"

struct mma_at {
    int row, col;
};

/* Element e (0..7) of A of m16n8k16: register e/2, half e%2; (row, k). */
__host__ __device__ constexpr mma_at mma_a16(int lane, int e)
{
    return { lane / 4 + 8 * (e / 2 % 2), 2 * (lane % 4) + e % 2 + 8 * (e / 4) };
}

/* Element e (0..3) of B of m16n8k16: register e/2, half e%2; (k, n). */
__host__ __device__ constexpr mma_at mma_b16(int lane, int e)
{
    return { 2 * (lane % 4) + e % 2 + 8 * (e / 2), lane / 4 };
}

/* Element e (0..3) of A of m16n8k8 tf32; (row, k). */
__host__ __device__ constexpr mma_at mma_a8(int lane, int e)
{
    return { lane / 4 + 8 * (e % 2), lane % 4 + 4 * (e / 2) };
}

/* Element e (0..1) of B of m16n8k8 tf32; (k, n). */
__host__ __device__ constexpr mma_at mma_b8(int lane, int e)
{
    return { lane % 4 + 4 * e, lane / 4 };
}

/* Element e (0..3) of C and D of both; (row, n). */
__host__ __device__ constexpr mma_at mma_c(int lane, int e)
{
    return { lane / 4 + 8 * (e / 2), 2 * (lane % 4) + e % 2 };
}

#ifdef CUDA_HOST_LAYER
namespace cuda_host_mma
{

template <int NA, int NB> struct fragments {
    uint32_t a[NA], b[NB];
};

inline float bf16_half(uint32_t packed, int half)
{
    return half ? cuda_bf16_high(packed) : cuda_bf16_low(packed);
}

/* The unit reads the upper 19 bits only. */
inline float cut_tf32(uint32_t bits)
{
    return cuda_bits_float(bits & 0xffffe000u);
}

/* What lane l holds of A goes to its rows of `a`, of B to its columns of `b`. */
template <int K, class F> inline void take_a(float (&a)[16][K], const F &held, int l)
{
    for (int e = 0; e < K / 2; e++) {
        mma_at at = K == 16 ? mma_a16(l, e) : mma_a8(l, e);
        a[at.row][at.col] = K == 16 ? bf16_half(held.a[e / 2], e % 2) : cut_tf32(held.a[e]);
    }
}

template <int K, class F> inline void take_b(float (&b)[K][8], const F &held, int l)
{
    for (int e = 0; e < K / 4; e++) {
        mma_at at = K == 16 ? mma_b16(l, e) : mma_b8(l, e);
        b[at.row][at.col] = K == 16 ? bf16_half(held.b[e / 2], e % 2) : cut_tf32(held.b[e]);
    }
}

/* A lane's results need its own rows of A, held by four lanes, and two columns of B. */
template <int K, class F> inline void multiply(float (&c)[4], const F *const *all, int lane)
{
    float a[16][K], b[K][8];

    for (int i = 0; i < 4; i++) {
        int of_row = lane / 4 * 4 + i;
        take_a<K>(a, *all[of_row], of_row);
        for (int column = 0; column < 2; column++) {
            int of_column = 4 * mma_c(lane, column).col + i;
            take_b<K>(b, *all[of_column], of_column);
        }
    }
    for (int e = 0; e < 4; e++) {
        mma_at at = mma_c(lane, e);
        for (int k = 0; k < K; k++)
            c[e] += a[at.row][k] * b[k][at.col];
    }
}

template <int K> inline void run(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    fragments<4, 2> mine = { { a[0], a[1], a[2], a[3] }, { b[0], b[1] } };
    auto all = reinterpret_cast<const fragments<4, 2> *const *>(cuda_host_warp_publish(&mine));

    multiply<K>(c, all, (int)(threadIdx.x % 32));
    cuda_host_warp_done();
}

/* Matrix j of the result: rows from the lanes 8j..8j+7. */
template <int N> inline void load(uint32_t (&to)[N], const void *row, bool transposed)
{
    const void *const *rows = cuda_host_warp_publish(row);
    int lane = (int)(threadIdx.x % 32);

    for (int j = 0; j < N; j++) {
        uint16_t half[2];
        for (int i = 0; i < 2; i++) {
            int r = transposed ? 2 * (lane % 4) + i : lane / 4;
            int c = transposed ? lane / 4 : 2 * (lane % 4) + i;
            half[i] = static_cast<const uint16_t *>(rows[8 * j + r])[c];
        }
        to[j] = (uint32_t)half[0] | (uint32_t)half[1] << 16;
    }
    cuda_host_warp_done();
}

} // namespace cuda_host_mma
#endif

/* c += a b, m16n8k16, bf16 in, float accumulation. */
__device__ __forceinline__ void mma_bf16(float (&c)[4], const uint32_t (&a)[4],
                                         const uint32_t (&b)[2])
{
#if defined(__CUDA_ARCH__)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif defined(CUDA_HOST_LAYER)
    cuda_host_mma::run<16>(c, a, b);
#else
    (void)c, (void)a, (void)b;
#endif
}

/* c += a b, m16n8k8, tf32 in (bits from cuda_tf32()), float accumulation. */
__device__ __forceinline__ void mma_tf32(float (&c)[4], const uint32_t (&a)[4],
                                         const uint32_t (&b)[2])
{
#if defined(__CUDA_ARCH__)
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif defined(CUDA_HOST_LAYER)
    cuda_host_mma::run<8>(c, a, b);
#else
    (void)c, (void)a, (void)b;
#endif
}

/* Four 8 x 8 matrices of 16-bit elements (or 8 x 4 of 32-bit ones) from shared memory: `row` is
 * the 16-byte-aligned row l%8 of matrix l/8 for lane l. Register j of lane l holds the elements
 * 2 (l%4) and the next of row l/4 of matrix j: the quarter of a fragment above. */
__device__ __forceinline__ void mma_load4(uint32_t (&to)[4], const void *row)
{
#if defined(__CUDA_ARCH__)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(cuda_shared_address(row))
                 : "memory");
#elif defined(CUDA_HOST_LAYER)
    cuda_host_mma::load<4>(to, row, false);
#else
    (void)to, (void)row;
#endif
}

/* The same with each matrix transposed (16-bit elements): register j of lane l holds the rows
 * 2 (l%4) and the next of column l/4. */
__device__ __forceinline__ void mma_load4_transposed(uint32_t (&to)[4], const void *row)
{
#if defined(__CUDA_ARCH__)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(cuda_shared_address(row))
                 : "memory");
#elif defined(CUDA_HOST_LAYER)
    cuda_host_mma::load<4>(to, row, true);
#else
    (void)to, (void)row;
#endif
}

#endif
