/* SPDX-License-Identifier: MIT */
/*
 * What the tiled products share on the device: arguments, copies of tiles to shared memory, partial
 * sums of slices of K, and the way out through bias, GELU, residual and conversion.
 */
#ifndef HARNESS_KERNELS_GEMM_GEMM_CUDA_TILE_H
#define HARNESS_KERNELS_GEMM_GEMM_CUDA_TILE_H

#include "kernels/cuda/async.h"
#include "kernels/cuda/math.h"
#include "kernels/cuda/pdl.h"
#include "kernels/cuda/reduce.h"
#include "kernels/cuda/swizzle.h"
#include "kernels/cuda/vector.h"
#include "kernels/gemm/gemm_cuda_maps.h"

/* A product of T, y = activation(x w^T + bias) + residual; or, where a kernel says so, of w [k,n]
 * as it is. Sizes fit into an int, offsets do not. */
template <class T> struct gemm_args {
    int m, n, k;
    const T *x;
    int64_t ldx;
    const T *w;
    int64_t ldw;
    const T *bias;        /* or NULL */
    const void *residual; /* or NULL; of y's type */
    int64_t ldr;
    void *y;
    int64_t ldy;
    bool gelu, out_bf16;
    bool vectors; /* y, bias and residual can be accessed 16 bytes of y at a time */
    bool early;   /* for the launch */
    int tiles_m, tiles_n, split;
    unsigned *tickets; /* one a tile, 0 */
    float *partials;   /* of each slice of each tile */
};

/* Tile rows of a band, see gemm_tile_order(): 16 blocks high, so that 132 blocks make a patch of
 * about 16 x 8 tiles. */
constexpr int GEMM_BAND = 16;

/* What the block computes: a tile, at (row, col), and of K the steps from `first` on. */
struct gemm_work {
    int tile, slice, row, col, first, steps;
};

template <class T>
__device__ __forceinline__ gemm_work gemm_work_of(const gemm_args<T> &g, int bm, int bn, int bk)
{
    int index = cuda_block_again(), tile = index / g.split, slice = index % g.split;
    gemm_tile_at at = gemm_tile_order(tile, g.tiles_m, g.tiles_n, GEMM_BAND);
    int steps = cuda_pieces(g.k, bk), first = gemm_slice_start(slice, g.split, steps);

    steps = gemm_slice_start(slice + 1, g.split, steps) - first;
    return { tile, slice, at.row * bm, at.col * bn, first, steps };
}

/* 16 bytes of a row, `left` elements of which exist (any number), to shared memory. WIDE: both
 * sides are aligned, and the piece exists as a whole or not at all. */
template <bool WIDE, class T>
__device__ __forceinline__ void gemm_copy_piece(unsigned char *to, const T *from, int left)
{
    if constexpr (WIDE) {
        cuda_async_copy<16>(to, from, left > 0);
    } else if constexpr (sizeof(T) == 4) {
#pragma unroll
        for (int e = 0; e < 4; e++)
            cuda_async_copy<4>(to + 4 * e, from + e, e < left);
    } else { /* cp.async moves 4 bytes or more: through registers, seen after the next barrier */
        cuda_vector<T, 8> v;
#pragma unroll
        for (int e = 0; e < 8; e++)
            v.at[e] = e < left ? from[e] : T {};
        cuda_store(reinterpret_cast<T *>(to), v);
    }
}

/*
 * A thread's share of the tiles of ROWS x PIECES 16-byte pieces that THREADS threads copy, one
 * after the other along k, from a row-major matrix; zeros where the matrix has ended. Pieces are
 * swizzled where the readers need it.
 */
template <class T, int ROWS, int PIECES, int THREADS, bool SWIZZLED, bool WIDE> struct gemm_copier {
    static constexpr int at_once = THREADS / PIECES; /* rows */
    static_assert(ROWS % at_once == 0 && THREADS % PIECES == 0, "even shares");
    static_assert(!SWIZZLED || at_once % 8 == 0, "a thread's pieces are swizzled alike");

    const T *from; /* its first piece */
    int64_t ld;
    int place; /* of that piece in the tile */

    __device__ __forceinline__ gemm_copier(const T *matrix, int64_t pitch, int row, int col)
        : ld(pitch)
    {
        int r = (int)threadIdx.x / PIECES, piece = (int)threadIdx.x % PIECES;

        from = matrix + (row + r) * pitch + col + piece * cuda_wide<T>;
        place = SWIZZLED ? cuda_swizzled_bytes<PIECES>(r, piece) : 16 * (r * PIECES + piece);
    }

    /* `rows` and `cols` exist from the tile's corner on. */
    __device__ __forceinline__ void copy(unsigned char *tile, int rows, int cols) const
    {
        int below = rows - (int)threadIdx.x / PIECES;
        int left = cols - (int)threadIdx.x % PIECES * cuda_wide<T>;

#pragma unroll
        for (int i = 0; i < ROWS / at_once; i++)
            gemm_copy_piece<WIDE>(tile + place + 16 * PIECES * at_once * i, from + i * at_once * ld,
                                  i * at_once < below ? left : 0);
    }
};

/*
 * Partial sums: slice s of a tile leaves its accumulators in the workspace as they lie in the
 * registers. The block that comes last, by the tile's ticket, adds up all slices in their order (so
 * the result does not depend on who is last), leaves the ticket 0 for the next launch, and goes on
 * to the epilogue with the whole sums. True for that block.
 */
template <int THREADS, int N, class T>
__device__ __forceinline__ bool gemm_join_slices(const struct gemm_args<T> &g, int tile, int slice,
                                                 float (&sums)[N][4])
{
    constexpr int64_t size = (int64_t)4 * N * THREADS;
    float *all = g.partials + (int64_t)tile * g.split * size + (int64_t)threadIdx.x * 4;

#pragma unroll
    for (int i = 0; i < N; i++)
        __stcg(reinterpret_cast<float4 *>(all + slice * size + 4 * i * THREADS),
               make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]));
    __threadfence();
    __syncthreads();
    int last = threadIdx.x == 0 && atomicAdd(&g.tickets[tile], 1u) + 1 == (unsigned)g.split;
    if (!__syncthreads_or(last))
        return false;
    __threadfence();
#pragma unroll
    for (int i = 0; i < N; i++)
        sums[i][0] = sums[i][1] = sums[i][2] = sums[i][3] = 0;
    for (int s = 0; s < g.split; s++) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const float *part = all + s * size + 4 * i * THREADS;
            float4 v = __ldcg(reinterpret_cast<const float4 *>(part));
            sums[i][0] += v.x, sums[i][1] += v.y, sums[i][2] += v.z, sums[i][3] += v.w;
        }
    }
    if (threadIdx.x == 0)
        g.tickets[tile] = 0;
    return true;
}

/* V neighbouring outputs, all of which exist. */
template <class OUT, int V, class T>
__device__ __forceinline__ void gemm_finish(const struct gemm_args<T> &g, int row, int col,
                                            float (&f)[V])
{
    float other[V];

    if (g.bias != nullptr) {
        cuda_unpack(cuda_load<V>(g.bias + col), other);
#pragma unroll
        for (int i = 0; i < V; i++)
            f[i] += other[i];
    }
    if (g.gelu) {
#pragma unroll
        for (int i = 0; i < V; i++)
            f[i] = cuda_gelu(f[i]);
    }
    if (g.residual != nullptr) {
        const OUT *r = static_cast<const OUT *>(g.residual) + (int64_t)row * g.ldr + col;
        cuda_unpack(cuda_load<V>(r), other);
#pragma unroll
        for (int i = 0; i < V; i++)
            f[i] += other[i];
    }
    cuda_store(static_cast<OUT *>(g.y) + (int64_t)row * g.ldy + col, cuda_pack<OUT>(f));
}

/* V outputs from `strip` on; those that exist. */
template <class OUT, int V, class T>
__device__ __forceinline__ void gemm_finish_edge(const struct gemm_args<T> &g, int row, int col,
                                                 const float *strip)
{
    if (col + V <= g.n) {
        float f[V];
#pragma unroll
        for (int i = 0; i < V; i += V < 4 ? 1 : 4)
            if constexpr (V < 4) {
                f[i] = strip[i];
            } else {
                float4 v = *reinterpret_cast<const float4 *>(strip + i);
                f[i] = v.x, f[i + 1] = v.y, f[i + 2] = v.z, f[i + 3] = v.w;
            }
        gemm_finish<OUT>(g, row, col, f);
        return;
    }
    for (int i = 0; i < V && col + i < g.n; i++) {
        float f[1] = { strip[i] };
        gemm_finish<OUT>(g, row, col + i, f);
    }
}

/* Floats between the rows of a strip: 8 banks on from row to row, so that the four rows that lanes
 * write 8 floats of each fall on different banks. */
template <int COLS> constexpr int gemm_strip_pitch = COLS + 8;

/* Bytes of the strips of WARPS warps. */
template <int WARPS, int ROWS, int COLS>
constexpr int gemm_strips_bytes = WARPS *ROWS *gemm_strip_pitch<COLS> * 4;

template <class OUT, int V, int ROWS, int COLS, class T>
__device__ __forceinline__ void gemm_store_rows(const struct gemm_args<T> &g, const float *strip,
                                                int row, int col)
{
    constexpr int vectors = COLS / V;

#pragma unroll 2
    for (int i = cuda_lane(); i < ROWS * vectors; i += CUDA_WARP) {
        int r = i / vectors, c = i % vectors * V;
        if (row + r < g.m)
            gemm_finish_edge<OUT, V>(g, row + r, col + c, strip + r * gemm_strip_pitch<COLS> + c);
    }
}

/* Elements from `p` to the next multiple of 16 bytes. */
template <class OUT> __device__ __forceinline__ int gemm_ahead(const OUT *p)
{
    return (int)((0u - (unsigned)(uintptr_t)p) % 16 / sizeof(OUT));
}

/*
 * Rows that start anywhere, as they are: first what lies between multiples of 16 bytes, in
 * vectors. The rows that a warp reads at the same time are V, each from another offset if the pitch
 * is odd: so the floats they read, V apart in each, fall on different banks.
 *
 *     16 bytes |.  row 0 ==|=======|=======|=== |       |        4 lanes x 8 rows (bf16),
 *              |   row 1  =|=======|=======|====|       |        8 lanes x 4 rows (float)
 */
template <class OUT, int COLS>
__device__ __forceinline__ void gemm_store_inner(OUT *y, int64_t ldy, const float *strip, int rows,
                                                 int cols)
{
    constexpr int V = cuda_wide<OUT>, lanes = CUDA_WARP / V, pitch = gemm_strip_pitch<COLS>;
    int lane = cuda_lane_again(), r = lane / lanes, c = lane % lanes * V;
    static_assert(COLS % CUDA_WARP == 0, "whole turns of a row's lanes");

    y += r * ldy + c, strip += r * pitch + c, cols -= c;
#pragma unroll 1
    for (; r < rows; r += V) {
        int ahead = gemm_ahead(y); /* the same for all lanes of a row: c is a multiple of V */
        const float *from = strip + ahead;
#pragma unroll
        for (int i = 0; i < COLS; i += CUDA_WARP)
            if (ahead + i + V <= cols) {
                float f[V];
#pragma unroll
                for (int e = 0; e < V; e++)
                    f[e] = from[i + e];
                cuda_store(y + ahead + i, cuda_pack<OUT>(f));
            }
        y += V * ldy, strip += V * pitch;
    }
}

/* Then what is left at both ends: V elements a row or none where V divides `cols`, at most 2 V - 2
 * in the last tile of a row. */
template <class OUT, int COLS>
__device__ __forceinline__ void gemm_store_ends(OUT *y, int64_t ldy, const float *strip, int rows,
                                                int cols)
{
    constexpr int V = cuda_wide<OUT>, pitch = gemm_strip_pitch<COLS>;
    int lane = cuda_lane_again(), lanes = cols % V == 0 ? V : 2 * V; /* a row */
    int at_once = cols % V == 0 ? CUDA_WARP / V : CUDA_WARP / (2 * V);
    int r = cols % V == 0 ? lane / V : lane / (2 * V), e = lane & (lanes - 1);

    y += r * ldy, strip += r * pitch;
#pragma unroll 1
    for (; r < rows; r += at_once) {
        int ahead = min(gemm_ahead(y), cols);
        int c = e < ahead ? e : e + (cols - ahead) / V * V;
        if (c < cols)
            y[c] = cuda_from<OUT>(strip[c]);
        y += at_once * ldy, strip += at_once * pitch;
    }
}

/* Rows that are not 16-byte aligned: two loops for sums alone (the head of a language model, 50257
 * columns), element by element where there is more to do. */
template <class OUT, int ROWS, int COLS, class T>
__device__ __forceinline__ void gemm_store_unaligned(const struct gemm_args<T> &g,
                                                     const float *strip, int row, int col)
{
    if (g.bias != nullptr || g.gelu || g.residual != nullptr) {
        gemm_store_rows<OUT, 1, ROWS, COLS>(g, strip, row, col);
        return;
    }
    OUT *y = static_cast<OUT *>(g.y) + (int64_t)row * g.ldy + col;
    int rows = min(ROWS, g.m - row), cols = min(COLS, g.n - col);
    if (cols <= 0)
        return;
    gemm_store_inner<OUT, COLS>(y, g.ldy, strip, rows, cols);
    gemm_store_ends<OUT, COLS>(y, g.ldy, strip, rows, cols);
}

/*
 * The way out. A warp puts ROWS x COLS of its sums into its strip of shared memory in whatever
 * order its fragments have, and this stores them row by row: neighbouring lanes write neighbouring
 * addresses, 16 bytes each; where rows are not aligned (y[., 50257]), only between their ends.
 */
template <int ROWS, int COLS, class T>
__device__ __forceinline__ void gemm_store_strip(const struct gemm_args<T> &g, const float *strip,
                                                 int row, int col)
{
    __syncwarp();
    if constexpr (sizeof(T) == 2) {
        if (g.out_bf16 && g.vectors)
            gemm_store_rows<bf16, 8, ROWS, COLS>(g, strip, row, col);
        else if (g.out_bf16)
            gemm_store_unaligned<bf16, ROWS, COLS>(g, strip, row, col);
    }
    if (!g.out_bf16 && g.vectors)
        gemm_store_rows<float, 4, ROWS, COLS>(g, strip, row, col);
    else if (!g.out_bf16)
        gemm_store_unaligned<float, ROWS, COLS>(g, strip, row, col);
}

#endif
