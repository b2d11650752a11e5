/* SPDX-License-Identifier: MIT */
/* Where weights of 8 or 10 bits lie in the panels of gemm_int8_tile.h, and how they get there; for
 * files compiled with SIMD_ISA. */
#ifndef HARNESS_KERNELS_GEMM_INT8_WEIGHTS_H
#define HARNESS_KERNELS_GEMM_INT8_WEIGHTS_H

#include "kernels/gemm/gemm_share.h"
#include "kernels/gemm/int8/gemm_int8_tile.h"
#include "kernels/host.h"
#include "kernels/simd.h"

#ifdef SIMD_ISA

/* Outputs of the panel from column `col` on: whole vectors. */
static int64_t width_of(int64_t n, int64_t col)
{
    return at_most(INT8_PANEL, ceil_div(n - col, SIMD_WIDTH) * SIMD_WIDTH);
}

/* Quads of an output, whole fours of those of 10 bits. */
static int64_t depth_of(int bits, int64_t k)
{
    const int64_t quads = ceil_div(k, INT8_QUAD);

    return bits == 8 ? quads : ceil_div(quads, INT10_FOUR) * INT10_FOUR;
}

/* Where a quad lies, in quads: each four is followed by one of low bits. */
static int64_t quad_at(int bits, int64_t quad)
{
    return bits == 8 ? quad : quad + quad / INT10_FOUR;
}

/* Floats that the panels before column `col` take: a scale an output and a quad a lane. */
static int64_t panel_at(int bits, int64_t col, int64_t k)
{
    return col * (1 + quad_at(bits, depth_of(bits, k)));
}

/* One output's terms to its lane of the panel, `step` bytes from quad to quad. `w` NULL: behind the
 * last output. */
static void pack_output(int bits, const float *w, int64_t k, float scale, uint8_t *quads,
                        int64_t step)
{
    static const int places[2][INT8_QUAD] = { { 0, 1, 2, 3 }, { 0, 2, 1, 3 } };

    for (int64_t p = 0; p < depth_of(bits, k) * INT8_QUAD; p++) {
        const int64_t quad = p / INT8_QUAD, at = quad % INT10_FOUR;
        const int place = places[SIMD_INT8_TURNED][p % INT8_QUAD];
        const int q = w != NULL && p < k ? host_int_round(w[p], scale, bits) : 0;
        uint8_t *to = quads + quad_at(bits, quad) * step + place;
        if (bits == 8) {
            *to = (uint8_t)(q + SIMD_INT8_OFFSET);
            continue;
        }
        *to = (uint8_t)((q + 512) >> 2);
        uint8_t *low = quads + quad_at(bits, quad - at + INT10_FOUR - 1) * step + step + place;
        *low = (uint8_t)((at == 0 ? 0 : *low) | ((q + 512) & 3) << (6 - 2 * at));
    }
}

static void pack(int bits, const float *w, int64_t n, int64_t k, float *packed, int threads)
{
    const float unit = bits == 8 ? 1 : SIMD_INT10_UNIT;

#pragma omp parallel for num_threads(threads)
    for (int64_t col = 0; col < n; col += INT8_PANEL) {
        const int64_t width = width_of(n, col);
        float *scales = packed + panel_at(bits, col, k);
        uint8_t *quads = (uint8_t *)(scales + width);
        for (int64_t j = 0; j < width; j++) {
            const float *row = col + j < n ? w + (col + j) * k : NULL;
            const float scale = row != NULL ? host_int_scale(row, k, bits) : 0;
            scales[j] = scale * unit;
            pack_output(bits, row, k, scale, quads + j * INT8_QUAD, width * INT8_QUAD);
        }
    }
}

#endif

#endif
