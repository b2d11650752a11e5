/* SPDX-License-Identifier: MIT */
/* What follows the products by wgmma (kernels/gemm/gemm_cuda_wgmma_after.h): each sum of a
 * warpgroup gets the bias of its column and the residual of its place, at all edges and alignments,
 * and nothing beyond the matrices is read (the host layer sees to it). And the places in a ring of
 * warpgroups that take turns. Features: U-02. */
#include "kernels/cuda/mbarrier.h"
#include "kernels/cuda/vector.h"
#include "kernels/gemm/gemm_cuda_wgmma_after.h"

extern "C" {
#include "testing.h"

#include "kernels/pointwise/pointwise.h"
}

#include <math.h>
#include <vector>

constexpr int ROWS = 64; /* of a warpgroup */

/* A tile as wgmma leaves it, sum (row, column) 0.01 row - 0.02 column: through what follows, to
 * out[ROWS][BN]. (row, col) is the tile's place in y. */
template <class OUT, class T, int BN>
__global__ void after_kernel(wgmma_args<T> g, int row, int col, float *out)
{
    wgmma_bias<T, BN> bias;
    const int lane = cuda_lane(), own = (int)threadIdx.x / 32 * 16 + lane / 4, first = lane % 4 * 2;
    wgmma_residual ahead;
    float d[BN / 2];

    auto place = [&](int i) { return (own + 8 * (i / 2 % 2)) * BN + 8 * (i / 4) + first + i % 2; };
    for (int i = 0; i < BN / 2; i++)
        d[i] = 0.01f * (float)(place(i) / BN) - 0.02f * (float)(place(i) % BN);
    bias.load(g, col);
    ahead.load_any(g, row + own, col + first);
    for (int c = 0; c < BN; c += wgmma_part<OUT>)
        wgmma_finish_columns<OUT>(g, d, bias, ahead, c, c + wgmma_part<OUT>, row + own,
                                  col + first);
    for (int i = 0; i < BN / 2; i++)
        out[place(i)] = d[i];
}

/* `nr` elements in device memory, behind `off` others and no more, and a copy of them. */
template <class T> struct elements {
    T *base = nullptr, *at;
    std::vector<T> host;

    elements(int nr, int off) : host((size_t)nr)
    {
        assert_int_equal(cudaMalloc(&base, (size_t)(nr + off) * sizeof(T)), cudaSuccess);
        at = base + off;
        for (int i = 0; i < nr; i++)
            host[(size_t)i] = cuda_from<T>(sinf((float)(i + 1)) * 3);
        write();
    }
    elements(const elements &) = delete;
    elements &operator=(const elements &) = delete;
    ~elements(void)
    {
        cudaFree(base);
    }
    void write(void)
    {
        assert_int_equal(
            cudaMemcpy(at, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice),
            cudaSuccess);
    }
    void read(void)
    {
        assert_int_equal(
            cudaMemcpy(host.data(), at, host.size() * sizeof(T), cudaMemcpyDeviceToHost),
            cudaSuccess);
    }
    double operator[](int i) const
    {
        return (double)cuda_float(host[(size_t)i]);
    }
};

struct product {
    int m, n, ldr, off; /* elements by which bias and residual miss their alignment */
    bool bias, gelu, residual;
};

template <class OUT, class T> struct operands {
    elements<T> bias;
    elements<OUT> residual;

    explicit operands(const struct product &p)
        : bias(p.n, p.off), residual((p.m - 1) * p.ldr + p.n, p.off)
    {
    }
    double wanted(const struct product &p, double sum, int i, int j) const
    {
        if (p.bias)
            sum += bias[j];
        if (p.gelu)
            sum = pointwise_gelu_double(sum);
        return sum + (p.residual ? residual[i * p.ldr + j] : 0);
    }
    wgmma_args<T> args(const struct product &p) const
    {
        wgmma_args<T> g = {};

        g.m = p.m, g.n = p.n, g.gelu = p.gelu, g.out_bf16 = sizeof(OUT) == 2;
        g.bias = p.bias ? bias.at : nullptr;
        g.residual = p.residual ? residual.at : nullptr, g.ldr = p.ldr;
        g.bias_pairs = p.n % 2 == 0 && (uintptr_t)bias.at % (2 * sizeof(T)) == 0;
        g.residual_pairs =
            p.n % 2 == 0 && p.ldr % 2 == 0 && (uintptr_t)residual.at % (2 * sizeof(OUT)) == 0;
        return g;
    }
};

/* The tile of y at (row, col). */
template <class OUT, class T, int BN>
static void check_tile(const struct product &p, const operands<OUT, T> &o, int row, int col)
{
    elements<float> out(ROWS * BN, 0);

    cuda_launch<after_kernel<OUT, T, BN>>(1, WGMMA_THREADS, 0, nullptr, o.args(p), row, col,
                                          out.at);
    out.read();
    for (int i = 0; i < ROWS && row + i < p.m; i++)
        for (int j = 0; j < BN && col + j < p.n; j++) {
            double want = o.wanted(p, 0.01 * i - 0.02 * j, row + i, col + j);
            double got = out[i * BN + j];
            if (!(fabs(got - want) <= 1e-5))
                fail_msg("%d x %d, columns %d, ways %d%d%d: (%d, %d) is %g, not %g", p.m, p.n, BN,
                         p.bias, p.gelu, p.residual, row + i, col + j, got, want);
        }
}

template <class OUT, class T, int BN> static void check(const struct product &p)
{
    const operands<OUT, T> o(p);

    for (int row = 0; row < p.m; row += ROWS)
        for (int col = 0; col < p.n; col += BN)
            check_tile<OUT, T, BN>(p, o, row, col);
}

template <class OUT, class T> static void check_widths(const struct product &p)
{
    check<OUT, T, 64>(p);
    check<OUT, T, 128>(p);
    check<OUT, T, 192>(p);
    check<OUT, T, 256>(p);
}

TEST(each_sum_gets_its_own)
{
    static const int sizes[][3] = { /* rows, columns, pitch */
                                    { 64, 256, 256 }, { 65, 300, 304 }, { 3, 131, 132 },
                                    { 1, 2, 2 },      { 70, 193, 200 }, { 9, 62, 63 }
    };

    for (auto &size : sizes)
        for (int off = 0; off < 2; off++)
            for (int way = 0; way < 8; way++) {
                struct product p = { size[0],        size[1],        size[2],       off,
                                     (way & 1) != 0, (way & 2) != 0, (way & 4) != 0 };
                check_widths<bf16, bf16>(p);
                check_widths<float, bf16>(p);
                check_widths<float, float>(p);
            }
}

/* Both results for block i's value and thread j's, of each pair. */
__global__ void gelu_kernel(const float *values, float *results)
{
    unsigned at = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    float x = values[blockIdx.x], y = values[threadIdx.x];

    cuda_gelu_two(x, y);
    results[at] = x, results[at + 1] = y;
}

/* Large and small beside each other: neither spoils the other one. */
TEST(gelu_of_two_is_that_of_each)
{
    static const float values[] = { 0,  1e-30f, -1e-20f, 0.5f, -0.5f, 1.7f, -1.7f, 3,    -3,
                                    -5, -7.5f,  8,       -12,  40,    -40,  1e4f,  -1e4f };
    const int nr = sizeof(values) / sizeof(*values);
    elements<float> in(nr, 0), out(2 * nr * nr, 0);

    in.host.assign(values, values + nr);
    in.write();
    cuda_launch<gelu_kernel>(nr, nr, 0, nullptr, in.at, out.at);
    out.read();
    for (int i = 0; i < 2 * nr * nr; i++) {
        double x = in[i % 2 ? i / 2 % nr : i / 2 / nr], want = pointwise_gelu_double(x);
        if (!(fabs(out[i] - want) <= fabs(x) * 5e-7))
            fail_msg("of %g beside %g: %g, not %g", x, in[i % 2 ? i / 2 / nr : i / 2 % nr], out[i],
                     want);
    }
}

/* A ring is left behind for the other one's tile as if each of its stages had been taken. */
template <int STAGES> static void check_skips(void)
{
    for (int steps = 1; steps < 40; steps++) {
        cuda_ring_place<STAGES> one, other;
        for (int tile = 0; tile < 9; tile++) {
            one.advance(steps);
            for (int i = 0; i < steps; i++)
                other.next();
            assert_int_equal(one.stage, other.stage);
            assert_int_equal(one.parity, other.parity);
        }
    }
}

TEST(skipped_stages_are_counted)
{
    check_skips<2>();
    check_skips<5>();
    check_skips<6>();
    check_skips<8>();
}

RUN_TESTS(NULL, NULL)
