/* SPDX-License-Identifier: MIT */
/* gemm/cuda_wgmma_*: each tile, way out and type that it takes, at sizes with and without ends. */
#include "kernels/gemm/gemm_cuda_wgmma_plan.h"

#include "drive_linear.h"

template <class T, class OUT, class TILE>
static void check(const struct wgmma_shape &shape, const struct size_case &c, enum way way)
{
    const drive_linear<T, OUT> linear(c, way);
    struct gemm_cuda g = linear.product(c);
    const struct wgmma_plan p = wgmma_plan_for(&g, &shape, wgmma_depth<T>);
    char what[120];

    snprintf(what, sizeof(what), "%s %dx%dx%d+%d, %s to %s, way %d", shape.name, c.m, c.n, c.k,
             c.gap, sizeof(T) == 2 ? "bf16" : "tf32", sizeof(OUT) == 2 ? "bf16" : "fp32", way);
    wgmma_enqueue_tile<T, TILE>(&g, &p, nullptr);
    if (drive_ran(what))
        linear.compare(what, c);
}

/* Two products of which the second starts early: x of it is NaN until the first has ended. */
template <class T, class TILE>
static void check_chain(const char *what, const struct wgmma_shape &shape)
{
    constexpr size_t nr = 64 * 64;
    drive_array<T> x(nr, 1, 1), w(nr, 1, 2), between(nr, 0), y(nr, 0);
    struct gemm_cuda g = {};

    g.m = g.n = g.k = g.ldx = g.ldw = g.ldy = 64;
    g.out = sizeof(T) == 2 ? DTYPE_BF16 : DTYPE_FP32, g.early = true;
    g.sms = 1, g.shared = 227 * 1024;
    if (drive_chain(what, [&](int i) {
            g.x = i ? between.at : x.at, g.w = w.at, g.y = i ? y.at : between.at;
            const struct wgmma_plan p = wgmma_plan_for(&g, &shape, wgmma_depth<T>);
            wgmma_enqueue_tile<T, TILE>(&g, &p, nullptr);
        }))
        drive_compare_square(what, between, w, y);
}

/* The sizes that tell the most of a tile: a block that goes on to further tiles (3 SMs), ends in
 * all three dimensions, more steps than stages. */
template <class TILE> static void check_tile(int row)
{
    const struct wgmma_shape &shape = wgmma_shapes[row];
    const int bm = TILE::bm, bn = TILE::bn;
    const int k = TILE::slices > 2 ? 64 * TILE::slices + 8 : 136; /* no slice is empty */
    const struct size_case whole = { 2 * bm, bn, 64 * (TILE::stages + 2), 0, 1 };
    const struct size_case ends = { bm + 9, bn + 11, k, 2, 2 };
    const struct size_case boxes = { bm + 9, bn + 8, k, 0, 2 };
    const struct size_case deep = { bm, bn, 64 * TILE::slices + 8, 0, 4 };

    if (TILE::slices == 1 && drive_goes_on())
        check<bf16, bf16, TILE>(shape, whole, PLAIN);
    if (TILE::slices > 1 && drive_goes_on())
        check<bf16, bf16, TILE>(shape, deep, PLAIN);
    if (drive_goes_on())
        check<bf16, bf16, TILE>(shape, boxes, BIAS_GELU);
    if (drive_goes_on())
        check<bf16, float, TILE>(shape, ends, BIAS_RESIDUAL);
    if (drive_goes_on())
        check<bf16, bf16, TILE>(shape, ends, PLAIN);
    if (TILE::slices == 1 && TILE::bm == 64 && drive_goes_on()) /* a residual of bf16, once */
        check<bf16, bf16, TILE>(shape, ends, BIAS_RESIDUAL);
#ifdef DRIVE_SMALL
    constexpr bool tf32 = TILE::slices == 1; /* slices are put together as sums of bf16 are */
#else
    constexpr bool tf32 = true;
#endif
    if constexpr (tf32)
        if (drive_goes_on())
            check<float, float, TILE>(shape, boxes, BIAS_RESIDUAL);
}

/* A tile that two warpgroups multiply together, with ends; of the widest one, whose sums fill the
 * registers, no more than this fits into a test that runs each time. */
template <class TILE> static void check_ends(int row)
{
    if (drive_goes_on())
        check<bf16, bf16, TILE>(wgmma_shapes[row], { TILE::bm + 9, TILE::bn + 11, 136, 2, 2 },
                                BIAS_GELU);
}

/* drive_gemm [TILE...]: those of the table; all without. */
int main(int argc, char **argv)
{
    auto wanted = [&](const char *name) {
        bool found = argc < 2;
        for (int i = 1; i < argc; i++)
            found = found || strcmp(argv[i], name) == 0;
        return found;
    };

#define TILE(row, type)                                                                            \
    if (wanted(#type))                                                                             \
        check_tile<wgmma_##type>(row);
#if defined(DRIVE_SMALL) /* which are compiled: a mutation needs few */
    if (wanted("huge"))
        check_ends<wgmma_huge>(0);
#else
    TILE(0, huge)
    TILE(1, wide)
    TILE(2, large)
    TILE(4, medium)
    TILE(7, quartered)
#endif
    if (wanted("chain")) {
        check_chain<bf16, wgmma_small>("dependent products", wgmma_shapes[5]);
        check_chain<float, wgmma_small>("dependent products, tf32", wgmma_shapes[5]);
    }
    TILE(3, turns)
    TILE(5, small)
    TILE(6, halved)
    return drive_end();
}
