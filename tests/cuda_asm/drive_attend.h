/* SPDX-License-Identifier: MIT */
/* softmax(q k^T / sqrt(d)) v of bf16 or floats by a kernel, against plain loops in double. */
#ifndef CUDA_ASM_DRIVE_ATTEND_H
#define CUDA_ASM_DRIVE_ATTEND_H

#include "drive.h"
#include "kernels/attention/attention_cuda.h"
#include "kernels/cuda/fp8.h"

template <class T> struct drive_attend {
    int batch, seq, heads, d;
    bool causal;
    size_t ld;
    drive_array<T> q, k, v, out;

    drive_attend(int of_batch, int of_seq, int of_heads, int headdim, bool masked)
        : batch(of_batch), seq(of_seq), heads(of_heads), d(headdim), causal(masked),
          ld((size_t)(of_heads * headdim)), q(nr(), 2.5f, 1), k(nr(), 1.6f, 2), v(nr(), 1, 3),
          out(nr(), 0)
    {
        for (const drive_array<T> *x : { &q, &k, &v })
            scale_heads(*x);
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
    /* `bytes`: of q, k and v rounded to e4m3 with a factor a head; what is left of the error are
     * the weights' roundings, 0.026 in the standard, each by itself: six times that. */
    void compare(const char *what, bool bytes = false) const
    {
        hq = floats(q, bytes), hk = floats(k, bytes), hv = floats(v, bytes);
        std::vector<T> ho = out.host();
        std::vector<double> want((size_t)d), spread((size_t)d);
        struct drive_compared compared = { what };

        for (int b = 0; b < batch; b++)
            for (int h = 0; h < heads; h++)
                for (int i = 0; i < seq; i++) {
                    size_t first = (size_t)b * (size_t)seq * ld + (size_t)(h * d);
                    size_t at = first + (size_t)i * ld;
                    row(first, at, causal ? i + 1 : seq, want, spread);
                    for (size_t e = 0; e < (size_t)d; e++)
                        compared.element(cuda_float(ho[at + e]), want[e],
                                         bytes ? 0.002 + 0.005 * fabs(want[e]) + 0.156 * spread[e]
                                               : rounding(want[e]));
                }
        compared.verdict();
    }

  private:
    mutable std::vector<float> hq, hk, hv;

    static double rounding(double want)
    {
        return sizeof(T) == 2 ? 0.004 + 0.01 * fabs(want) : 1e-4 + 1e-4 * fabs(want);
    }

    /* So that no head has the largest number of another; and queries of every other sequence are
     * sharp, whose maxima rise from tile to tile. */
    void scale_heads(const drive_array<T> &x) const
    {
        std::vector<T> all = x.host();

        for (size_t i = 0; i < all.size(); i++) {
            size_t head = i / (ld * (size_t)seq) * (size_t)heads + i % ld / (size_t)d;
            all[i] = cuda_from<T>(cuda_float(all[i]) * (1 - 0.2f * (float)(head % 4)) *
                                  (x.at == q.at && head / (size_t)heads % 2 ? 6.0f : 1.0f));
        }
        cudaMemcpy(x.at, all.data(), all.size() * sizeof(T), cudaMemcpyHostToDevice);
    }

    std::vector<float> floats(const drive_array<T> &of, bool bytes) const
    {
        std::vector<float> x;

        for (T each : of.host())
            x.push_back(cuda_float(each));
        for (int head = 0; bytes && head < batch * heads; head++) {
            size_t first = (size_t)(head / heads * seq) * ld + (size_t)(head % heads * d);
            float most = 0;
            for (int pass = 0; pass < 2; pass++)
                for (size_t i = 0; i < (size_t)(seq * d); i++) {
                    float &at = x[first + i / (size_t)d * ld + i % (size_t)d];
                    if (pass == 0)
                        most = fmaxf(most, fabsf(at));
                    else
                        at = cuda_e4m3_float((uint8_t)cuda_e4m3x2(at * (CUDA_E4M3_MAX / most), 0)) *
                             (most / CUDA_E4M3_MAX);
                }
        }
        return x;
    }

    /* What the query at `at` sees of `keys` keys from `first` on, and the root of the sum of the
     * squares of what is added up. */
    void row(size_t first, size_t at, int keys, std::vector<double> &to,
             std::vector<double> &spread) const
    {
        std::vector<double> weight((size_t)keys);
        double most = -INFINITY, sum = 0;

        for (size_t j = 0; j < (size_t)keys; j++) {
            double s = 0;
            for (size_t e = 0; e < (size_t)d; e++)
                s += (double)hq[at + e] * (double)hk[first + j * ld + e];
            weight[j] = s / sqrt((double)d);
            most = fmax(most, weight[j]);
        }
        for (double &w : weight)
            sum += w = exp(w - most);
        for (size_t e = 0; e < (size_t)d; e++) {
            to[e] = spread[e] = 0;
            for (size_t j = 0; j < (size_t)keys; j++) {
                double part = weight[j] / sum * (double)hv[first + j * ld + e];
                to[e] += part, spread[e] += part * part;
            }
            spread[e] = sqrt(spread[e]);
        }
    }
};

#endif
