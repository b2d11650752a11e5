/* SPDX-License-Identifier: MIT */
/* gemm/cuda_wgmma_head_bf16: rows of y that start anywhere, blocks that go on to further tiles. */
#include "kernels/gemm/gemm_cuda_wgmma_head.h"

#include "drive.h"

struct size_case {
    int m, n, k, gap, off, sms;
};

static void check(const struct size_case &c)
{
    const size_t m = (size_t)c.m, n = (size_t)c.n, k = (size_t)c.k, ld = n + (size_t)c.gap;
    drive_array<bf16> x(m * k, 1, 1), w(n * k, 1, 2), y(m * ld, 0, 1, (size_t)c.off);
    struct head_operands o = { x.at, w.at, y.at, c.m, c.n, c.k, c.k, c.k, (int64_t)ld, c.sms };
    char what[120];

    snprintf(what, sizeof(what), "head %dx%dx%d+%d, %d SMs", c.m, c.n, c.k, c.gap, c.sms);
    if (!drive_ran(what, head_enqueue(o, nullptr)))
        return;
    std::vector<bf16> hx = x.host(), hw = w.host(), hy = y.host();
    struct drive_compared compared = { what };
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < ld; j++) {
            if (j >= n) {
                compared.element(isnan(cuda_float(hy[i * ld + j])), 1, 0);
                continue;
            }
            double sum = 0;
            for (size_t e = 0; e < k; e++)
                sum += (double)cuda_float(hx[i * k + e]) * (double)cuda_float(hw[j * k + e]);
            compared.element(cuda_float(hy[i * ld + j]), sum,
                             1e-5 * sqrt((double)k) + 0.01 * fabs(sum));
        }
    compared.verdict();
}

/* What is in front: writes x, and y, which the head writes over. */
__global__ void in_front(const bf16 *from, bf16 *x, int nr, bf16 *y, int outputs)
{
    for (int i = (int)threadIdx.x; i < nr; i += (int)blockDim.x)
        x[i] = from[i];
    for (int i = (int)threadIdx.x; i < outputs; i += (int)blockDim.x)
        y[i] = cuda_from<bf16>(5.0f);
}

/* The head starts early: x is NaN until the kernel in front has ended, and y is that one's. */
static void check_chain(void)
{
    constexpr int m = 10, n = 203, k = 64;
    drive_array<bf16> from(m * k, 1, 1), x(m * k, 0), w(n * k, 1, 2), y(m * n, 0);
    struct head_operands o = { x.at, w.at, y.at, m, n, k, k, k, n, 1 };

    cuda_host_dependents = true;
    cuda_launch<in_front>(1, 64, 0, nullptr, from.at, x.at, m * k, y.at, m * n);
    const cudaError_t enqueued = head_enqueue(o, nullptr);
    cuda_host_dependents = false;
    if (!drive_ran("dependent head", enqueued))
        return;
    std::vector<bf16> hx = from.host(), hw = w.host(), hy = y.host();
    struct drive_compared compared = { "dependent head" };
    for (size_t i = 0; i < m * n; i++) {
        double sum = 0;
        for (size_t e = 0; e < k; e++)
            sum += (double)cuda_float(hx[i / n * k + e]) * (double)cuda_float(hw[i % n * k + e]);
        compared.element(cuda_float(hy[i]), sum, 1e-4 + 0.01 * fabs(sum));
    }
    compared.verdict();
}

int main(void)
{
    const struct size_case sizes[] = {
        { 150, 1001, 72, 0, 0, 3 },
        { 40, 1001, 128, 3, 1, 2 },
#if !defined(DRIVE_SMALL)
        { 256, 403, 192, 0, 0, 4 },
        { 130, 403, 256, 0, 5, 4 },
        { 3, 193, 8, 0, 0, 4 },
#endif
    };

    for (const struct size_case &c : sizes)
        if (drive_goes_on())
            check(c);
    if (drive_goes_on())
        check_chain();
    return drive_end();
}
