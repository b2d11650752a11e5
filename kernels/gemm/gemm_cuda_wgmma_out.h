/* SPDX-License-Identifier: MIT */
/*
 * The way out of the products by wgmma: from the accumulators of a warpgroup (64 rows, see
 * kernels/cuda/wgmma.h for which thread has what) through what gemm_cuda_wgmma_after.h does to y.
 *
 *     boxes    y's rows are 16-byte aligned: 64 rows x 128 bytes at a time, swizzled, through a
 *              buffer of shared memory that the copy engine empties while the next box is made and
 *              the next tile is multiplied
 *     rows     any pitch (logits of 50257): a warp's 16 rows, each shifted in shared memory to
 *              where y has it within 16 bytes, so that all but its two ends is stored 16 bytes at a
 *              time
 */
#ifndef HARNESS_KERNELS_GEMM_GEMM_CUDA_WGMMA_OUT_H
#define HARNESS_KERNELS_GEMM_GEMM_CUDA_WGMMA_OUT_H

#include "kernels/cuda/swizzle.h"
#include "kernels/cuda/tma.h"
#include "kernels/cuda/wgmma.h"
#include "kernels/gemm/gemm_cuda_maps.h"
#include "kernels/gemm/gemm_cuda_wgmma_after.h"

constexpr int WGMMA_BOX_BYTES = WGMMA_M * WGMMA_ROW_BYTES; /* of a stored box */

struct wgmma_maps {
    CUtensorMap x, w, y; /* y: only where it is stored in boxes */
};

/* The threads of warpgroup `group`, 0 or 1. */
__device__ __forceinline__ void wgmma_meet(int group)
{
    if (group == 0)
        asm volatile("bar.sync 1, %0;" ::"n"(WGMMA_THREADS) : "memory");
    else
        asm volatile("bar.sync 2, %0;" ::"n"(WGMMA_THREADS) : "memory");
}

/* ---- Boxes ---- */

/* Where a lane points stmatrix in the box for 16 rows x columns 0..15 of warp `warp`: matrices 0
 * and 1 are rows 0..7 and 8..15 of columns 0..7, matrices 2 and 3 those of columns 8..15. Columns
 * 16 i lie at this, exclusive-or 32 i. */
__host__ __device__ constexpr int wgmma_box_bf16(int warp, int lane)
{
    return cuda_swizzled_bytes<8>(16 * warp + lane % 16, lane / 16);
}

/* Where a lane's pair of row lane / 4 and columns 2 (lane % 4) lies in a box of floats; columns 8 j
 * at this exclusive-or 32 j, row + 8 at 1024 more. */
__host__ __device__ constexpr int wgmma_box_fp32(int warp, int lane)
{
    return cuda_swizzled_bytes<8>(16 * warp + lane / 4, lane % 4 / 2) + lane % 2 * 8;
}

constexpr bool wgmma_boxes_are_right(void)
{
    for (int warp = 0; warp < 4; warp++)
        for (int lane = 0; lane < 32; lane++)
            for (int i = 0; i < 4; i++) {
                int row = 16 * warp + lane % 16, r = 16 * warp + lane / 4, c = 8 * i + lane % 4 * 2;
                if ((wgmma_box_bf16(warp, lane) ^ 32 * i) !=
                        cuda_swizzled_bytes<8>(row, 2 * i + lane / 16) ||
                    (wgmma_box_fp32(warp, lane) ^ 32 * i) !=
                        cuda_swizzled_bytes<8>(r, c / 4) + c % 4 * 4 ||
                    (wgmma_box_fp32(warp, lane) ^ 32 * i) + 1024 !=
                        cuda_swizzled_bytes<8>(r + 8, c / 4) + c % 4 * 4)
                    return false;
            }
    return true;
}

static_assert(wgmma_boxes_are_right(), "one exclusive-or a step");

/* 8 sums of a thread, columns 16 i and on, to a box of bf16; `at` is wgmma_box_bf16(). */
__device__ __forceinline__ void wgmma_put(uint32_t at, const float *f, bf16)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                 "r"(cuda_bf16x2(f[0], f[1])), "r"(cuda_bf16x2(f[2], f[3])),
                 "r"(cuda_bf16x2(f[4], f[5])), "r"(cuda_bf16x2(f[6], f[7]))
                 : "memory");
}

/* 4 sums of a thread, columns 8 i and on, to a box of floats; `at` is wgmma_box_fp32(). */
__device__ __forceinline__ void wgmma_put(uint32_t at, const float *f, float)
{
#pragma unroll
    for (int h = 0; h < 2; h++)
        asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at + (uint32_t)(1024 * h)),
                     "f"(f[2 * h]), "f"(f[2 * h + 1])
                     : "memory");
}

/* The sums of warpgroup `group`, whose first is for (row, col) of y, by one box after the other;
 * `ahead` has the residual of the first one.
 * The first thread of the group starts the stores, so it alone can wait until a buffer is read. */
template <class OUT, class TILE, class T>
__device__ __forceinline__ void wgmma_store_boxes(const CUtensorMap *y, const wgmma_args<T> &g,
                                                  float (&d)[TILE::sums],
                                                  const wgmma_bias<T, TILE::bn> &bias,
                                                  wgmma_residual &ahead, unsigned char *staging,
                                                  int group, int row, int col)
{
    constexpr int cols = wgmma_part<OUT>, share = cols / 2;
    constexpr int buffers = TILE::staging / WGMMA_BOX_BYTES;
    static_assert(TILE::bn / cols % buffers == 0, "a tile begins with the first buffer");
    constexpr int step = share / 4; /* 4 puts a box */
    constexpr bool narrow = sizeof(OUT) == 2;
    bool leader = threadIdx.x % WGMMA_THREADS == 0;
    int lane = cuda_lane(), warp = cuda_warp() % 4, own = row + warp * 16 + lane / 4;
    uint32_t place = (uint32_t)(narrow ? wgmma_box_bf16(warp, lane) : wgmma_box_fp32(warp, lane));

#pragma unroll
    for (int c = 0; c < TILE::bn / cols; c++) {
        unsigned char *box = staging + c % buffers * WGMMA_BOX_BYTES;

        wgmma_finish_columns<OUT>(g, d, bias, ahead, c * cols, (c + 1) * cols, own,
                                  col + lane % 4 * 2);
        if (leader)
            tma_store_wait_read<buffers - 1>();
        wgmma_meet(group);
#pragma unroll
        for (int i = 0; i < 4; i++)
            wgmma_put((cuda_shared_address(box) + place) ^ (uint32_t)(32 * i),
                      d + c * share + i * step, OUT {});
        wgmma_publish();
        wgmma_meet(group);
        if (leader) {
            if (row < g.m && col + c * cols < g.n)
                tma_store(y, box, row, col + c * cols);
            tma_store_commit();
        }
    }
}

/* ---- Rows ---- */

/* Bytes of y's row that a warp stages at a time, and from row to row: 16 more, for the shift. */
template <class TILE>
constexpr int wgmma_strip_bytes =
    TILE::staging >= WGMMA_M * 272 && TILE::bn % 128 == 0 ? 256 : WGMMA_ROW_BYTES;

/* A pair of neighbours, at any element of shared memory. */
__device__ __forceinline__ void wgmma_put_pair(unsigned char *at, float low, float high, bf16)
{
    uint32_t pair = cuda_bf16x2(low, high);

    reinterpret_cast<bf16 *>(at)[0] = bf16 { (uint16_t)pair };
    reinterpret_cast<bf16 *>(at)[1] = bf16 { (uint16_t)(pair >> 16) };
}

__device__ __forceinline__ void wgmma_put_pair(unsigned char *at, float low, float high, float)
{
    reinterpret_cast<float *>(at)[0] = low;
    reinterpret_cast<float *>(at)[1] = high;
}

/* `bytes` of a row from shared memory, where it starts as far behind 16 bytes as `to` does: by half
 * a warp. */
template <class OUT>
__device__ __forceinline__ void wgmma_store_row(unsigned char *to, const unsigned char *strip,
                                                int bytes)
{
    int begin = (int)((uintptr_t)to & 15);
    unsigned char *start = to - begin;
    gemm_row_part p = gemm_row_part_of(cuda_lane() % 16, begin, bytes, (int)sizeof(OUT));

    if (p.piece >= 0)
        *reinterpret_cast<uint4 *>(start + p.piece) =
            *reinterpret_cast<const uint4 *>(strip + p.piece);
    if (p.element >= 0)
        *reinterpret_cast<OUT *>(start + p.element) =
            *reinterpret_cast<const OUT *>(strip + p.element);
}

/* The same as wgmma_store_boxes() for any y. Warps are on their own. */
template <class OUT, class TILE, class T>
__device__ __forceinline__ void wgmma_store_rows(const wgmma_args<T> &g, float (&d)[TILE::sums],
                                                 const wgmma_bias<T, TILE::bn> &bias,
                                                 wgmma_residual &ahead, unsigned char *staging,
                                                 int row, int col)
{
    constexpr int strip = wgmma_strip_bytes<TILE>, pitch = strip + 16;
    constexpr int cols = strip / (int)sizeof(OUT), share = cols / 2, size = (int)sizeof(OUT);
    int lane = cuda_lane(), warp = cuda_warp() % 4, own = lane / 4;
    unsigned char *first = staging + warp * 16 * pitch;
    unsigned char *y = static_cast<unsigned char *>(g.y);

    row += 16 * warp;
#pragma unroll
    for (int c = 0; c < TILE::bn / cols; c++) {
        int start = col + c * cols, exist = min(g.n - start, cols);

        wgmma_finish_columns<OUT>(g, d, bias, ahead, c * cols, (c + 1) * cols, row + own,
                                  col + lane % 4 * 2);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int64_t at = ((row + own + 8 * h) * g.ldy + start) * size;
            int shift = (int)((uintptr_t)(y + at) & 15);
            unsigned char *to = first + (own + 8 * h) * pitch + shift + lane % 4 * 2 * size;
#pragma unroll
            for (int j = 0; j < cols / 8; j++)
                wgmma_put_pair(to + 8 * j * size, d[c * share + 4 * j + 2 * h],
                               d[c * share + 4 * j + 2 * h + 1], OUT {});
        }
        __syncwarp();
#pragma unroll 2
        for (int r = lane / 16; r < 16; r += 2)
            if (row + r < g.m && exist > 0)
                wgmma_store_row<OUT>(y + ((row + r) * g.ldy + start) * size, first + r * pitch,
                                     exist * size);
        __syncwarp();
    }
}

#endif
