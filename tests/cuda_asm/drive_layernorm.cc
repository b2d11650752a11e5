/* SPDX-License-Identifier: MIT */
/* layernorm/cuda_rows: rows in registers, of all types, whole and with ends, plain and with a
 * residual; and rows that go an element at a time. */
#include "kernels/layernorm/layernorm_cuda_elements.h"
#include "kernels/layernorm/layernorm_cuda_rows.h"

#include "drive.h"

/* What the kernel shall have written of one row; `s` is its stream. */
template <class T>
static void compare_row(struct drive_compared &compared, const std::vector<double> &s,
                        const std::vector<T> &gain, const std::vector<T> &bias,
                        const std::vector<T> &y, size_t first)
{
    double mean = 0, squares = 0, width = (double)s.size();

    for (double v : s)
        mean += v / width;
    for (double v : s)
        squares += (v - mean) * (v - mean) / width;
    for (size_t j = 0; j < s.size(); j++) {
        double want = (s[j] - mean) / sqrt(squares + LAYERNORM_EPS) * (double)cuda_float(gain[j]) +
                      (double)cuda_float(bias[j]);
        double most = sizeof(T) == 2 ? 0.01 + 0.01 * fabs(want) : 2e-5 + 2e-5 * fabs(want);
        compared.element((double)cuda_float(y[first + j]), want, most);
    }
}

template <class S, class T, bool RESIDUAL, class RUN>
static void check_run(size_t rows, size_t width, const char *by, const RUN &run)
{
    drive_array<S> x(rows * width, 2, 1), delta(rows * width, 1, 2), sum(rows * width, 0);
    drive_array<T> gain(width, 1, 3), bias(width, 1, 4), y(rows * width, 0);
    struct layernorm_cuda l = {};
    char what[120];

    if (!drive_goes_on())
        return;
    l.rows = (int64_t)rows, l.width = (int64_t)width;
    l.x = x.at, l.delta = RESIDUAL ? delta.at : nullptr, l.sum = RESIDUAL ? sum.at : nullptr;
    l.gain = gain.at, l.bias = bias.at, l.y = y.at;
    l.stream = sizeof(S) == 2 ? DTYPE_BF16 : DTYPE_FP32;
    l.dtype = sizeof(T) == 2 ? DTYPE_BF16 : DTYPE_FP32;
    snprintf(what, sizeof(what), "%zu rows of %zu, %s to %s%s%s", rows, width,
             sizeof(S) == 2 ? "bf16" : "fp32", sizeof(T) == 2 ? "bf16" : "fp32",
             RESIDUAL ? ", residual" : "", by);
    run(l);
    if (!drive_ran(what))
        return;
    std::vector<S> hx = x.host(), hd = delta.host(), hs = sum.host();
    std::vector<T> hg = gain.host(), hb = bias.host(), hy = y.host();
    struct drive_compared compared = { what };
    for (size_t i = 0; i < rows; i++) {
        std::vector<double> s(width);
        for (size_t j = 0; j < width; j++) {
            size_t at = i * width + j;
            s[j] = (double)cuda_float(hx[at]) + (RESIDUAL ? (double)cuda_float(hd[at]) : 0);
            if (RESIDUAL)
                compared.element((double)cuda_float(hs[at]), s[j],
                                 sizeof(S) == 2 ? 0.01 * fabs(s[j]) : 1e-6);
        }
        compare_row<T>(compared, s, hg, hb, hy, i * width);
    }
    compared.verdict();
}

template <class S, class T, int I, bool RESIDUAL,
          layernorm_rows_config C = layernorm_rows_choice[sizeof(S) == 2][RESIDUAL][I]>
static void check(size_t rows, size_t width)
{
    constexpr int most = LAYERNORM_ROWS_NARROW << I;

    check_run<S, T, RESIDUAL>(rows, width, "", [](const layernorm_cuda &l) {
        layernorm_rows_of<S, T, C, most, RESIDUAL>(l, nullptr);
    });
}

/* 128 threads have elements to 2048; a few of each thread, and none of some. */
template <class S, class T> static void check_elements(void)
{
    auto run = [](const layernorm_cuda &l) { layernorm_elements_run<S, T>(l, nullptr); };

    check_run<S, T, false>(3, 301, ", an element at a time", run);
    check_run<S, T, true>(3, 301, ", an element at a time", run);
    check_run<S, T, false>(2, 2048, ", an element at a time", run);
    check_run<S, T, false>(2, 2049, ", an element at a time", run);
    check_run<S, T, true>(3, 61, ", an element at a time", run);
}

/* Two layer norms, of which the second takes what the first makes; it is to start early. */
template <class RUN> static void check_chain(const RUN &run)
{
    constexpr size_t rows = 5, width = 256;
    drive_array<float> x(rows * width, 2, 1), between(rows * width, 0), y(rows * width, 0);
    drive_array<float> gain(width, 1, 3), bias(width, 1, 4);
    struct layernorm_cuda l = {};

    l.rows = (int64_t)rows, l.width = (int64_t)width, l.early = true;
    l.gain = gain.at, l.bias = bias.at, l.stream = l.dtype = DTYPE_FP32;
    if (!drive_chain("dependent layer norms", [&](int i) {
            l.x = i ? between.at : x.at, l.y = i ? y.at : between.at;
            run(l);
        }))
        return;
    std::vector<float> hx = between.host(), hg = gain.host(), hb = bias.host(), hy = y.host();
    struct drive_compared compared = { "dependent layer norms" };
    for (size_t i = 0; i < rows; i++)
        compare_row<float>(compared,
                           { hx.begin() + (long)(i * width), hx.begin() + (long)((i + 1) * width) },
                           hg, hb, hy, i * width);
    compared.verdict();
}

template <class S, class T> static void check_types(void)
{
    check<S, T, 0, false>(5, 256);
    check<S, T, 0, true>(5, 256);
    check<S, T, 0, false>(5, 200);
    check<S, T, 2, true>(3, 1000);
    check<S, T, 2, false>(3, 1024);
}

int main(void)
{
    check_types<float, float>();
#ifndef DRIVE_SMALL
    check_types<float, bf16>();
#endif
    check_types<bf16, bf16>();
    cuda_host_mma_is_volatile = false; /* means by the matrix unit */
    check<bf16, bf16, 1, false, LAYERNORM_ROWS_KEPT>(3, 512);
    check<bf16, bf16, 1, false, LAYERNORM_ROWS_KEPT>(3, 488);
    check_elements<float, float>();
    check_elements<bf16, bf16>();
    if (drive_goes_on())
        check_chain([](const layernorm_cuda &l) {
            layernorm_rows_of<float, float, layernorm_rows_choice[0][0][0], 256, false>(l, nullptr);
        });
    if (drive_goes_on())
        check_chain(
            [](const layernorm_cuda &l) { layernorm_elements_run<float, float, 128>(l, nullptr); });
    return drive_end();
}
