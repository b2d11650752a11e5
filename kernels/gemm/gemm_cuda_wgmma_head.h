/* SPDX-License-Identifier: MIT */
/*
 * The head of a GPT on sm_90: y[m,n] = x[m,k] w[n,k]^T in bf16, few rows, a shallow k (to 256) and
 * a long n of any parity: 50257 logits a row, which are most of the bytes.
 *
 *              k, all of it                  n 208, of which each row writes 192
 *            +-------------+          +-----------------+
 *     m  64  | x, resident |      k   | w: 64 of k a    |   a warpgroup 64 x 208: 104 sums a
 *      + 64  |             |          | stage of a ring |   thread; two of them, and one more
 *            +-------------+          +-----------------+   warp that starts the copies
 *
 * A block keeps its 128 rows of x and goes along n: 262 tiles of w by 2 blocks of rows are all but
 * 4 for each of 132 SMs. The next tile's w is under way while this one's sums go out: bf16 pairs
 * to shared memory, each row shifted so that its own 192 columns start on a sector of 32 bytes
 * (gemm_cuda_wgmma_head_maps.h), and from there by one bulk copy a row, by the warp that made it:
 * no barriers between warps.
 *
 * Limit: a warp's steps follow one another, and all warps take theirs at about the same time.
 * Measured on an H200 (2026-11-26; m 256, n 50257): 13.0 us with k 48, a memset of y 6.9. A tile
 * takes 3950 cycles: its products 1150, of which the tensor cores need 832 for 64 of k; the wait
 * for a staging buffer 200, the way there 850; and the start of its copies 1750, 28 bytes of its
 * 48 KiB a cycle. Half as wide tiles with twice as many copies, for four warpgroups or for two
 * blocks an SM, took as long for that and more in all: it is the bytes that count, and they have
 * little to do in the other 2200 cycles. Four such tiles, and 5000 cycles until x is there, are 11
 * of the 13 us. With k 256 it is 19.6 us: the tensor cores need 3328 cycles a tile. No faster were
 * 16-byte stores in place of copies, and rows of the staging buffer that lie 4 banks further on.
 */
#ifndef HARNESS_KERNELS_GEMM_GEMM_CUDA_WGMMA_HEAD_H
#define HARNESS_KERNELS_GEMM_GEMM_CUDA_WGMMA_HEAD_H

#include "kernels/cuda/bf16.h"
#include "kernels/cuda/pdl.h"
#include "kernels/cuda/tma.h"
#include "kernels/cuda/wgmma.h"
#include "kernels/gemm/gemm_cuda_wgmma_head_maps.h"

constexpr int HEAD_ROWS = 128, HEAD_DEPTH = 64; /* of a block; of a stage */
constexpr int HEAD_MOST_DEPTH = 256;
constexpr int HEAD_WARPS = HEAD_ROWS / 16, HEAD_THREADS = 32 * (HEAD_WARPS + 1);
constexpr int HEAD_SUMS = HEAD_COLS / 2; /* a thread's */
constexpr int HEAD_X_BYTES = HEAD_ROWS * WGMMA_ROW_BYTES;
constexpr int HEAD_W_BYTES = HEAD_COLS * WGMMA_ROW_BYTES;

/* CHUNKS x 64 of k; STAGINGS buffers for the way out. A deep k reads as much as is written: the
 * order of items is then `spread`, see head_walk. */
template <int CHUNKS, int STAGES, int STAGINGS> struct head_tile {
    static constexpr int chunks = CHUNKS, stages = STAGES, stagings = STAGINGS;
    static constexpr bool spread = CHUNKS > 2;
    static_assert(STAGES >= CHUNKS, "w of a tile is asked for before x is");
};

template <class TILE> struct head_shared {
    alignas(WGMMA_GROUP_BYTES) unsigned char x[TILE::chunks][HEAD_X_BYTES];
    alignas(WGMMA_GROUP_BYTES) unsigned char w[TILE::stages][HEAD_W_BYTES];
    alignas(16) unsigned char staging[TILE::stagings][HEAD_ROWS][HEAD_PITCH];
    cuda_mbarrier full[TILE::stages], empty[TILE::stages], x_full, x_empty;
};

struct head_maps {
    CUtensorMap x, w;
};

struct head_args {
    bf16 *y;
    int64_t ldy;
    int m, n;
    int tiles, blocks_of_rows, items; /* of w; of x; the product of both */
    int start;                        /* y's place within a sector, elements */
    bool spread;
};

/* The items of this block: a stretch of tiles along a block of rows, and on along the next; or
 * `spread`, one of every so many: all blocks are close to each other in w and y at any time. With
 * k 128 the stretches were 3.6 % faster, with k 256 this was 3.5 %. */
struct head_walk {
    int at, end, step, rows = -1, tile = 0;

    __device__ __forceinline__ head_walk(const head_args &g)
    {
        int unit = (int)blockIdx.x, units = (int)gridDim.x;

        at = g.spread ? unit : (int)((int64_t)unit * g.items / units);
        end = g.spread ? g.items : (int)((int64_t)(unit + 1) * g.items / units);
        step = g.spread ? units : 1;
    }
    __device__ __forceinline__ int rows_of(const head_args &g, int item) const
    {
        return g.spread ? item % g.blocks_of_rows : item / g.tiles;
    }
    /* Whether this item's rows are others than those of the last one. */
    __device__ __forceinline__ bool enter(const head_args &g)
    {
        int before = rows;

        rows = rows_of(g, at);
        tile = g.spread ? at / g.blocks_of_rows : at - rows * g.tiles;
        return rows != before;
    }
    /* Whether the next item, if there is one, is of other rows. */
    __device__ __forceinline__ bool leaves(const head_args &g) const
    {
        return rows_of(g, at + step) != rows;
    }
};

template <class TILE>
__device__ __forceinline__ void head_start(head_shared<TILE> &shared, const head_maps &maps)
{
    if (threadIdx.x == 0) {
        tma_prefetch(&maps.x);
        tma_prefetch(&maps.w);
        for (int s = 0; s < TILE::stages; s++) {
            cuda_mbarrier_init(&shared.full[s], 1);
            cuda_mbarrier_init(&shared.empty[s], HEAD_WARPS);
        }
        cuda_mbarrier_init(&shared.x_full, 1);
        cuda_mbarrier_init(&shared.x_empty, HEAD_WARPS);
        cuda_mbarrier_publish();
    }
    __syncwarp();
    __syncthreads();
}

/* ---- The producer: one thread ---- */

/* The next 64 of k of a tile of w, when all have read what was there. */
template <class TILE>
__device__ __forceinline__ void head_load_w(head_shared<TILE> &shared, const head_maps &maps,
                                            cuda_ring_place<TILE::stages> &place, int col, int k)
{
    cuda_mbarrier *full = &shared.full[place.stage], *empty = &shared.empty[place.stage];
    unsigned char *w = shared.w[place.stage];

    cuda_mbarrier_wait(empty, place.parity ^ 1);
    cuda_mbarrier_expect(full, HEAD_W_BYTES);
    tma_load(w, &maps.w, full, col, k);
    place.next();
}

template <class TILE>
__device__ __forceinline__ void head_feed(head_shared<TILE> &shared, const head_maps &maps,
                                          const head_args &g)
{
    cuda_ring_place<TILE::stages> place;
    unsigned x_parity = 0;

    for (head_walk walk(g); walk.at < walk.end; walk.at += walk.step) {
        bool first = walk.rows < 0, other = walk.enter(g);
        for (int c = 0; c < TILE::chunks; c++)
            head_load_w<TILE>(shared, maps, place, walk.tile * HEAD_ADVANCE, c * HEAD_DEPTH);
        if (!other)
            continue;
        if (first)
            cuda_pdl_wait(); /* w is nothing that the kernel before has written */
        cuda_mbarrier_wait(&shared.x_empty, x_parity ^ 1);
        cuda_mbarrier_expect(&shared.x_full, TILE::chunks * HEAD_X_BYTES);
        for (int c = 0; c < TILE::chunks; c++)
            tma_load(shared.x[c], &maps.x, &shared.x_full, walk.rows * HEAD_ROWS, c * HEAD_DEPTH);
        x_parity ^= 1;
    }
}

/* ---- The consumers ---- */

__device__ __forceinline__ void head_step(float (&d)[HEAD_SUMS], uint64_t x, uint64_t w, int add)
{
    asm volatile(WGMMA_TEXT("m64n208k16", "bf16.bf16",
                            WGMMA_0_95 ",%96,%97,%98,%99,%100,%101,%102,%103", "%104", "%105",
                            "%106", ", 0, 0")
                 : WGMMA_D96(d, 0), WGMMA_D8(d, 96)
                 : "l"(x), "l"(w), "r"(add));
}

/* This warp has read a stage. */
__device__ __forceinline__ void head_release(cuda_mbarrier *empty)
{
    if (threadIdx.x % 32 == 0)
        cuda_mbarrier_arrive(empty);
    __syncwarp();
}

/* The sums of a tile: the products of a stage are under way while the next is waited for. */
template <class TILE>
__device__ __forceinline__ void head_multiply(head_shared<TILE> &shared, int group,
                                              cuda_ring_place<TILE::stages> &place,
                                              float (&d)[HEAD_SUMS])
{
    int before = 0;

#pragma unroll
    for (int c = 0; c < TILE::chunks; c++) {
        uint64_t x = wgmma_matrix(cuda_shared_address(shared.x[c]) +
                                  (uint32_t)(group * WGMMA_M * WGMMA_ROW_BYTES));
        uint64_t w = wgmma_matrix(cuda_shared_address(shared.w[place.stage]));

        cuda_mbarrier_wait(&shared.full[place.stage], place.parity);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < WGMMA_ROW_BYTES / WGMMA_K_BYTES; i++)
            head_step(d, x + (uint64_t)(i * (WGMMA_K_BYTES >> 4)),
                      w + (uint64_t)(i * (WGMMA_K_BYTES >> 4)), i > 0 || c > 0);
        wgmma_commit();
        wgmma_wait<1>();
        if (c > 0)
            head_release(&shared.empty[before]);
        before = place.stage;
        place.next();
    }
    wgmma_wait<0>();
    head_release(&shared.empty[before]);
#pragma unroll
    for (int i = 0; i < HEAD_SUMS; i++) /* nothing that uses them moves in front of this */
        asm volatile("" : "+f"(d[i])::"memory");
}

/* A warp's 16 rows to the staging buffer; this thread has a pair of columns in every 8 of two
 * rows, 8 apart. A row whose shift is odd needs pairs (odd, even) of columns: the upper half of a
 * thread's own pair and the lower half of the next one's. Rows 8 apart agree on that, so that one
 * shuffle serves both: `even` and `own` are the thread's columns of the one kind and the other,
 * of the first row in the lower half and of the second in the upper one. */
__device__ __forceinline__ void head_stage(unsigned char (*rows)[HEAD_PITCH],
                                           const float (&d)[HEAD_SUMS], int shift0, int shift1)
{
    constexpr int blocks = HEAD_COLS / 8;
    int lane = (int)threadIdx.x % 32, q = lane % 4;
    bool odd = shift0 % 2 != 0;
    int from = odd ? (lane & ~3) | ((q + 1) & 3) : lane;
    unsigned select0 = odd ? 0x1054 : 0x5410, select1 = odd ? 0x3276 : 0x7632;
    unsigned char *to0 = rows[lane / 4] + 2 * head_place(2 * q + odd, shift0);
    unsigned char *to1 = rows[lane / 4 + 8] + 2 * head_place(2 * q + odd, shift1);
    uint32_t even = cuda_bf16x2(d[0], d[2]);

    if (odd && q == 0) { /* column 0 is before the first pair */
        *reinterpret_cast<uint16_t *>(to0 - 2) = (uint16_t)even;
        *reinterpret_cast<uint16_t *>(to1 - 2) = (uint16_t)(even >> 16);
    }
#pragma unroll
    for (int j = 0; j < blocks; j++) {
        uint32_t after = even; /* behind the last column: nothing that anyone owns */
        uint32_t own = cuda_bf16x2(d[4 * j + 1], d[4 * j + 3]);
        if (j + 1 < blocks)
            after = cuda_bf16x2(d[4 * (j + 1)], d[4 * (j + 1) + 2]);
        uint32_t other = __shfl_sync(0xffffffffu, odd && q == 0 ? after : even, from);
        *reinterpret_cast<uint32_t *>(to0 + 16 * j) = __byte_perm(other, own, select0);
        *reinterpret_cast<uint32_t *>(to1 + 16 * j) = __byte_perm(other, own, select1);
        even = after;
    }
}

/* The ends of a row, one by one. */
__device__ __forceinline__ void head_store_ends(const unsigned char *row, bf16 *y,
                                                const head_part &part, int tile, int shift)
{
    auto one = [&](int col) {
        y[col] =
            *reinterpret_cast<const bf16 *>(row + 2 * head_place(col - tile * HEAD_ADVANCE, shift));
    };

    for (int col = 0; col < part.before; col++)
        one(col);
    for (int col = part.first + part.pieces * HEAD_PIECE; col < part.end; col++)
        one(col);
}

/* The sums of a warp's 16 rows to memory: staged by all lanes, copied by one for each row. */
template <class TILE>
__device__ __forceinline__ void head_store(unsigned char (*rows)[HEAD_PITCH], const head_args &g,
                                           const float (&d)[HEAD_SUMS], int first_row, int tile)
{
    int lane = (int)threadIdx.x % 32, row = first_row + lane % 16;
    int shift = head_shift(g.start, row, g.ldy), source = lane / 4;
    head_part part = head_part_of(tile, shift, g.n);
    bf16 *y = g.y + row * g.ldy;

    tma_store_wait_read<TILE::stagings - 1>();
    __syncwarp();
    head_stage(rows, d, __shfl_sync(0xffffffffu, shift, source),
               __shfl_sync(0xffffffffu, shift, source + 8));
    wgmma_publish();
    __syncwarp();
    if (lane < 16 && row < g.m) {
        if (part.pieces > 0)
            tma_store_bytes(y + part.first, rows[lane] + 2 * HEAD_SECTOR,
                            16u * (unsigned)part.pieces);
        if (part.before > 0 || part.first + part.pieces * HEAD_PIECE < part.end)
            head_store_ends(rows[lane], y, part, tile, shift);
    }
    tma_store_commit();
    __syncwarp();
}

template <class TILE>
__device__ __forceinline__ void head_consume(head_shared<TILE> &shared, const head_args &g)
{
    int warp = (int)threadIdx.x / 32, group = warp / 4, buffer = 0;
    cuda_ring_place<TILE::stages> place;
    unsigned x_parity = 0;
    float d[HEAD_SUMS];

    cuda_pdl_wait(); /* before the first write to y */
#pragma unroll 1
    for (head_walk walk(g); walk.at < walk.end; walk.at += walk.step) {
        if (walk.enter(g)) {
            cuda_mbarrier_wait(&shared.x_full, x_parity);
            x_parity ^= 1;
        }
        head_multiply<TILE>(shared, group, place, d);
        if (walk.leaves(g) && threadIdx.x % 32 == 0)
            cuda_mbarrier_arrive(&shared.x_empty);
        __syncwarp();
        head_store<TILE>(shared.staging[buffer] + warp * 16, g, d,
                         walk.rows * HEAD_ROWS + warp * 16, walk.tile);
        buffer = buffer + 1 == TILE::stagings ? 0 : buffer + 1;
    }
    tma_store_wait_read<0>();
}

template <class TILE>
__global__ void __launch_bounds__(HEAD_THREADS, 1)
    head_kernel(const __grid_constant__ head_maps maps, const head_args g)
{
    head_shared<TILE> &shared = cuda_shared<head_shared<TILE>>();

    cuda_pdl_launch();
    head_start<TILE>(shared, maps);
    if (threadIdx.x < 32 * HEAD_WARPS)
        head_consume<TILE>(shared, g);
    else if (threadIdx.x == 32 * HEAD_WARPS)
        head_feed<TILE>(shared, maps, g);
}

/* ---- On the host ---- */

struct head_operands {
    const bf16 *x, *w;
    bf16 *y;
    int64_t m, n, k, ldx, ldw, ldy;
    int sms;
};

template <class TILE>
cudaError_t head_enqueue_tile(const struct head_operands &o, cudaStream_t stream)
{
    head_maps maps;
    head_args g = {};
    int blocks_of_rows = cuda_pieces((int)o.m, HEAD_ROWS), units;
    struct tma_matrix x = { TMA_BF16, o.x, o.m, o.k, o.ldx, HEAD_ROWS, HEAD_DEPTH, true };
    struct tma_matrix w = { TMA_BF16, o.w, o.n, o.k, o.ldw, HEAD_COLS, HEAD_DEPTH, true };
    cudaError_t rc = tma_describe(&maps.x, &x);

    if (rc == cudaSuccess)
        rc = tma_describe(&maps.w, &w);
    if (rc != cudaSuccess)
        return rc;
    g.y = o.y, g.ldy = o.ldy, g.m = (int)o.m, g.n = (int)o.n;
    g.tiles = head_tiles(g.n), g.blocks_of_rows = blocks_of_rows;
    g.items = g.tiles * blocks_of_rows;
    g.start = (int)((uintptr_t)o.y / sizeof(bf16) % HEAD_SECTOR);
    units = o.sms < g.items ? o.sms : g.items;
    g.spread = TILE::spread && units % blocks_of_rows == 0; /* else x would change at each */
    cuda_launch_with<head_kernel<TILE>>({ .early = true }, (unsigned)units, HEAD_THREADS,
                                        sizeof(struct head_shared<TILE>), stream, maps, g);
    return cudaGetLastError();
}

/* Two staging buffers where they fit. */
using head_tile_1 = head_tile<1, 3, 2>;
using head_tile_2 = head_tile<2, 3, 2>;
using head_tile_3 = head_tile<3, 4, 1>;
using head_tile_4 = head_tile<4, 4, 1>;

inline cudaError_t head_enqueue(const struct head_operands &o, cudaStream_t stream)
{
    switch ((o.k + HEAD_DEPTH - 1) / HEAD_DEPTH) {
    case 1:
        return head_enqueue_tile<head_tile_1>(o, stream);
    case 2:
        return head_enqueue_tile<head_tile_2>(o, stream);
    case 3:
        return head_enqueue_tile<head_tile_3>(o, stream);
    case 4:
        return head_enqueue_tile<head_tile_4>(o, stream);
    default:
        return cudaErrorInvalidValue;
    }
}

#endif
