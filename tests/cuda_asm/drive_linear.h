/* SPDX-License-Identifier: MIT */
/* y = activation(x w^T + bias) + residual by a kernel, against plain loops in double. */
#ifndef CUDA_ASM_DRIVE_LINEAR_H
#define CUDA_ASM_DRIVE_LINEAR_H

#include "drive.h"
#include "kernels/gemm/gemm_cuda.h"

enum way { PLAIN, BIAS_GELU, BIAS_RESIDUAL, WAYS };

/* `gap` elements behind each row of y, which must stay as they are. */
struct size_case {
    int m, n, k, gap, sms;
};

inline double drive_gelu(double x)
{
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

/* A factor as the tensor cores are to get it, of a float the nearest tf32; and how far from that it
 * may be: what lies in the middle goes away from zero by cvt.rna, to even by the copy engine. */
struct drive_factor {
    double value, tie;

    explicit drive_factor(bf16 v) : value((double)cuda_float(v)), tie(0)
    {
    }
    explicit drive_factor(float v)
    {
        uint32_t bits, low;
        float down, up;

        memcpy(&bits, &v, sizeof(bits));
        low = bits & 0x1fffu;
        bits -= low;
        memcpy(&down, &bits, sizeof(bits));
        bits += 0x2000;
        memcpy(&up, &bits, sizeof(bits));
        value = (double)(low < 0x1000 ? down : up);
        tie = low == 0x1000 ? fabs((double)up - (double)down) : 0;
    }
};

template <class T, class OUT> struct drive_linear {
    drive_array<T> x, w, bias;
    drive_array<OUT> y, residual;
    size_t ld;
    enum way way;

    drive_linear(const struct size_case &c, enum way by)
        : x((size_t)(c.m * c.k), 1, 1), w((size_t)(c.n * c.k), 1, 2), bias((size_t)c.n, 1, 3),
          y((size_t)(c.m * (c.n + c.gap)), 0), residual((size_t)(c.m * (c.n + c.gap)), 1, 4),
          ld((size_t)(c.n + c.gap)), way(by)
    {
    }
    /* With 227 KiB of shared memory a block. */
    struct gemm_cuda product(const struct size_case &c) const
    {
        struct gemm_cuda g = {};

        g.m = c.m, g.n = c.n, g.k = g.ldx = g.ldw = c.k;
        g.x = x.at, g.w = w.at, g.y = y.at, g.ldy = g.ldr = (int64_t)ld;
        g.bias = way == PLAIN ? nullptr : bias.at;
        g.activation = way == BIAS_GELU ? GEMM_GELU : GEMM_IDENTITY;
        g.residual = way == BIAS_RESIDUAL ? residual.at : nullptr;
        g.out = sizeof(OUT) == 2 ? DTYPE_BF16 : DTYPE_FP32;
        g.sms = c.sms, g.shared = 227 * 1024;
        return g;
    }
    void compare(const char *what, const struct size_case &c) const
    {
        const size_t m = (size_t)c.m, n = (size_t)c.n, k = (size_t)c.k;
        std::vector<T> hx = x.host(), hw = w.host(), hb = bias.host();
        std::vector<OUT> hy = y.host(), ho = residual.host();
        struct drive_compared compared = { what };

        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < ld; j++) {
                if (j >= n) { /* gaps keep their poison */
                    compared.element(isnan(cuda_float(hy[i * ld + j])), 1, 0);
                    continue;
                }
                double sum = way == PLAIN ? 0 : (double)cuda_float(hb[j]), ties = 0;
                for (size_t e = 0; e < k; e++) {
                    const drive_factor a(hx[i * k + e]), b(hw[j * k + e]);
                    sum += a.value * b.value;
                    ties += a.tie * fabs(b.value) + b.tie * fabs(a.value);
                }
                sum = way == BIAS_GELU ? drive_gelu(sum) : sum;
                sum += way == BIAS_RESIDUAL ? (double)cuda_float(ho[i * ld + j]) : 0;
                compared.element(cuda_float(hy[i * ld + j]), sum,
                                 1e-5 * sqrt((double)k) + 1.2 * ties +
                                     (sizeof(OUT) == 2 ? 0.01 : 1e-5) * fabs(sum));
            }
        compared.verdict();
    }
};

/* y = x w^T of 64 x 64. */
template <class T>
inline void drive_compare_square(const char *what, const drive_array<T> &x, const drive_array<T> &w,
                                 const drive_array<T> &y)
{
    constexpr size_t n = 64;
    std::vector<T> hx = x.host(), hw = w.host(), hy = y.host();
    struct drive_compared compared = { what };

    for (size_t i = 0; i < n * n; i++) {
        double sum = 0, ties = 0;
        for (size_t e = 0; e < n; e++) {
            const drive_factor a(hx[i / n * n + e]), b(hw[i % n * n + e]);
            sum += a.value * b.value;
            ties += a.tie * fabs(b.value) + b.tie * fabs(a.value);
        }
        compared.element(cuda_float(hy[i]), sum, 1e-4 + 1.2 * ties + 0.01 * fabs(sum));
    }
    compared.verdict();
}

#endif
