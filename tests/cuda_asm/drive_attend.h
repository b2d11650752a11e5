/* SPDX-License-Identifier: MIT */
/* softmax(q k^T / sqrt(d)) v of bf16 by a kernel, against plain loops in double. */
#ifndef CUDA_ASM_DRIVE_ATTEND_H
#define CUDA_ASM_DRIVE_ATTEND_H

#include "drive.h"
#include "kernels/attention/attention_cuda.h"

struct drive_attend {
    int batch, seq, heads, d;
    bool causal;
    size_t ld;
    drive_array<bf16> q, k, v, out;

    drive_attend(int of_batch, int of_seq, int of_heads, int headdim, bool masked)
        : batch(of_batch), seq(of_seq), heads(of_heads), d(headdim), causal(masked),
          ld((size_t)(of_heads * headdim)), q(nr(), 2, 1), k(nr(), 2, 2), v(nr(), 1, 3),
          out(nr(), 0)
    {
    }
    size_t nr(void) const
    {
        return (size_t)batch * (size_t)seq * ld;
    }
    struct attention_cuda arguments(void) const
    {
        struct attention_cuda a = {};

        a.batch = batch, a.seq = seq, a.heads = heads, a.headdim = d;
        a.q = q.at, a.k = k.at, a.v = v.at, a.out = out.at, a.ld = a.ldo = (int64_t)ld;
        a.causal = causal;
        return a;
    }
    void compare(const char *what) const
    {
        hq = q.host(), hk = k.host(), hv = v.host();
        std::vector<bf16> ho = out.host();
        std::vector<double> want((size_t)d);
        struct drive_compared compared = { what };

        for (int b = 0; b < batch; b++)
            for (int h = 0; h < heads; h++)
                for (int i = 0; i < seq; i++) {
                    size_t first = (size_t)b * (size_t)seq * ld + (size_t)(h * d);
                    size_t at = first + (size_t)i * ld;
                    row(first, at, causal ? i + 1 : seq, want);
                    for (size_t e = 0; e < (size_t)d; e++)
                        compared.element(cuda_float(ho[at + e]), want[e],
                                         0.004 + 0.01 * fabs(want[e]));
                }
        compared.verdict();
    }

  private:
    mutable std::vector<bf16> hq, hk, hv;

    /* What the query at `at` sees of `keys` keys from `first` on. */
    void row(size_t first, size_t at, int keys, std::vector<double> &to) const
    {
        std::vector<double> weight((size_t)keys);
        double most = -INFINITY, sum = 0;

        for (size_t j = 0; j < (size_t)keys; j++) {
            double s = 0;
            for (size_t e = 0; e < (size_t)d; e++)
                s += (double)cuda_float(hq[at + e]) * (double)cuda_float(hk[first + j * ld + e]);
            weight[j] = s / sqrt((double)d);
            most = fmax(most, weight[j]);
        }
        for (double &w : weight)
            sum += w = exp(w - most);
        for (size_t e = 0; e < (size_t)d; e++) {
            to[e] = 0;
            for (size_t j = 0; j < (size_t)keys; j++)
                to[e] += weight[j] / sum * (double)cuda_float(hv[first + j * ld + e]);
        }
    }
};

#endif
