/* SPDX-License-Identifier: MIT */
/*
 * Matrix products on CUDA as the models call them: every tile, sliced and not, every way out
 * (bias, GELU, residual in place, both output types), pitches, unaligned rows, few rows; and the
 * plan that chooses among them; and cuBLAS, which HARNESS_CUBLAS names. Features: U-02.
 */
#include "kernels/cuda/cublas.h"
#include "kernels/gemm/gemm_cuda_launch.h"
#include "kernels/gemm/gemm_cuda_mma.h"

extern "C" {
#include "testing.h"

#include "device/devices.h"
#include "kernels/pointwise/pointwise.h"
#include "stats/random.h"
}

#include <math.h>
#include <string>
#include <vector>

static constexpr size_t most_shared = 227 * 1024; /* bytes a block, of sm_90 */

/* Elements of a type in device memory, and what the host knows of them. */
struct matrix {
    int64_t nr;
    std::vector<char> host;
    struct tensor view; /* of the host's copy */
    void *base, *at;    /* `at` is `off` elements behind the start */

    matrix(enum dtype dtype, int64_t nr_, int off)
        : nr(nr_), host((size_t)nr * dtype_size(dtype)), view(), base(nullptr)
    {
        size_t before = (size_t)off * dtype_size(dtype);

        assert_int_equal(cudaMalloc(&base, before + host.size()), cudaSuccess);
        at = static_cast<char *>(base) + before;
        view.dtype = dtype, view.rank = 1, view.extent[0] = nr, view.data = host.data();
    }
    matrix(const matrix &) = delete;
    matrix &operator=(const matrix &) = delete;
    ~matrix(void)
    {
        cudaFree(base);
    }
    void fill(uint64_t seed, double scale)
    {
        struct random r;

        random_seed(&r, seed);
        for (int64_t i = 0; i < nr; i++)
            tensor_set(&view, i, scale * random_normal(&r));
        assert_int_equal(cudaMemcpy(at, host.data(), host.size(), cudaMemcpyHostToDevice),
                         cudaSuccess);
    }
    void zero(void)
    {
        assert_int_equal(cudaMemset(at, 0, host.size()), cudaSuccess);
    }
    /* Asks the device anew. */
    const std::vector<char> &read(void)
    {
        assert_int_equal(cudaDeviceSynchronize(), cudaSuccess); /* no copy waits for all streams */
        assert_int_equal(cudaMemcpy(host.data(), at, host.size(), cudaMemcpyDeviceToHost),
                         cudaSuccess);
        return host;
    }
    double get(int64_t i) const
    {
        return tensor_get(&view, i);
    }
};

/* One product to check. */
struct product {
    gemm_cuda_fn *function;
    enum math math;
    bool nn;
    int m, n, k;
    int off; /* elements by which pointers and pitches miss their alignment */
    bool bias, gelu, residual;
    enum dtype out;
    int tile, split;
};

static enum dtype input_type(const struct product *p)
{
    return p->math == MATH_BF16 ? DTYPE_BF16 : DTYPE_FP32;
}

/* As the kernel reads it. */
static double rounded(const struct product *p, double x)
{
    return p->math == MATH_TF32 ? (double)cuda_bits_float(cuda_tf32((float)x)) : x;
}

static double expected(const struct product *p, const struct gemm_cuda *g, const matrix &x,
                       const matrix &w, const matrix &bias, double residual, int i, int j)
{
    double sum = 0;

    for (int q = 0; q < p->k; q++) {
        double right = w.get(p->nn ? q * g->ldw + j : j * g->ldw + q);
        sum += rounded(p, x.get(i * g->ldx + q)) * rounded(p, right);
    }
    if (p->bias)
        sum += bias.get(j);
    if (p->gelu)
        sum = pointwise_gelu_double(sum);
    return sum + residual;
}

static std::string describe(const struct product *p)
{
    char text[200];

    snprintf(text, sizeof(text),
             "math %d%s m=%d n=%d k=%d off=%d bias %d gelu %d residual %d out %d tile %d split %d",
             (int)p->math, p->nn ? " nn" : "", p->m, p->n, p->k, p->off, p->bias, p->gelu,
             p->residual, (int)p->out, p->tile, p->split);
    return text;
}

/* Products of sums of k terms of N(0, 1/k): float additions, and the output's rounding. */
static double tolerance(const struct product *p)
{
    return (p->out == DTYPE_BF16 ? 0.03 : 0) + 4e-6 * (4 + sqrt(p->k));
}

/* Rows of y lie within wider ones: what is between them stays as it was. */
static void check_values(const struct product *p, const struct gemm_cuda *g, const matrix &x,
                         const matrix &w, const matrix &bias, const matrix &y,
                         const std::vector<char> &before)
{
    struct tensor old = y.view;
    size_t size = dtype_size(p->out);

    old.data = const_cast<char *>(before.data());
    for (int64_t at = 0; at < y.nr; at++) {
        int i = (int)(at / g->ldy), j = (int)(at % g->ldy);
        if (i < p->m && j < p->n) {
            double residual = p->residual ? tensor_get(&old, at) : 0;
            double wanted = expected(p, g, x, w, bias, residual, i, j);
            if (!(fabs(y.get(at) - wanted) <= tolerance(p)))
                fail_msg("%s: y[%d,%d] = %g, expected %g", describe(p).c_str(), i, j, y.get(at),
                         wanted);
        } else if (memcmp(&y.host[(size_t)at * size], &before[(size_t)at * size], size) != 0) {
            fail_msg("%s: y[%d,%d] was written", describe(p).c_str(), i, j);
        }
    }
}

static const int sms = 8;

/* The workspace is exactly as large as promised; the host layer sees what goes beyond. */
static void check(const struct product *p)
{
    int pad = p->off ? p->off : 8;
    struct gemm_cuda g = {};

    g.m = p->m, g.n = p->n, g.k = p->k;
    g.ldx = p->k + pad, g.ldw = (p->nn ? p->n : p->k) + pad, g.ldy = g.ldr = p->n + pad;
    matrix x(input_type(p), p->m * g.ldx, p->off);
    matrix w(input_type(p), (p->nn ? p->k : p->n) * g.ldw, p->off);
    matrix bias(input_type(p), p->n, p->off), y(p->out, p->m * g.ldy, p->off);
    matrix workspace(DTYPE_FP32, (int64_t)gemm_cuda_workspace(p->m, p->n, sms) / 4, 0);
    x.fill(1, 1), w.fill(2, 1 / sqrt(p->k)), bias.fill(3, 1), y.fill(4, 1);
    workspace.zero();
    std::vector<char> before = y.host;
    std::vector<char> tickets(cuda_pieces<size_t>(sms * 2 * sizeof(unsigned), 256) * 256);

    g.x = x.at, g.w = w.at, g.y = y.at;
    g.bias = p->bias ? bias.at : nullptr, g.residual = p->residual ? y.at : nullptr;
    g.activation = p->gelu ? GEMM_GELU : GEMM_IDENTITY;
    g.out = p->out, g.sms = sms, g.shared = most_shared, g.tile = p->tile, g.split = p->split;
    g.workspace = workspace.at;
    p->function(&g, nullptr);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    y.read();
    check_values(p, &g, x, w, bias, y, before);
    assert_memory_equal(workspace.read().data(), tickets.data(), tickets.size());
}

static const struct kind {
    gemm_cuda_fn *function;
    enum math math;
    bool nn;
    const struct gemm_cuda_shape *tiles; /* or NULL */
    int nr_tiles;
} kinds[] = {
    { gemm_linear_cuda_naive, MATH_FP32, false, nullptr, 0 },
    { gemm_nn_cuda_naive, MATH_FP32, true, nullptr, 0 },
    { gemm_linear_cuda_tiled, MATH_FP32, false, nullptr, 0 },
    { gemm_nn_cuda_tiled, MATH_FP32, true, nullptr, 0 },
    { gemm_linear_cuda_simt, MATH_FP32, false, gemm_cuda_simt_tiles, GEMM_SIMT_TILES },
    { gemm_nn_cuda_simt, MATH_FP32, true, gemm_cuda_simt_tiles, GEMM_SIMT_TILES },
    { gemm_linear_cuda_tf32, MATH_TF32, false, mma_shapes<float>, GEMM_CUDA_TILES },
    { gemm_linear_cuda_bf16, MATH_BF16, false, mma_shapes<bf16>, GEMM_CUDA_TILES },
};

/* Edges in all directions, more steps than stages, and slices of different lengths. */
TEST(every_tile_with_and_without_slices)
{
    for (const struct kind &kind : kinds)
        for (int tile = 0; tile < kind.nr_tiles; tile++)
            for (int split = 1; split <= 3; split += 2) {
                const struct gemm_cuda_shape *t = &kind.tiles[tile];
                struct product p = { kind.function, kind.math, kind.nn, t->bm + 5, t->bn - 12,
                                     t->bk * 7 - 8, 0,         true,    false,     false,
                                     DTYPE_FP32,    tile + 1,  split };
                check(&p);
            }
}

/* The instantiations for rows that are not aligned; a depth that no vector divides. */
TEST(unaligned_rows)
{
    for (const struct kind &kind : kinds)
        for (int tile = 0; tile < kind.nr_tiles; tile++) {
            const struct gemm_cuda_shape *t = &kind.tiles[tile];
            struct product p = { kind.function, kind.math, kind.nn, 35,    t->bn + 3,
                                 t->bk * 5 + 3, 1,         true,    false, true,
                                 DTYPE_FP32,    tile + 1,  2 };
            if (t->any_alignment)
                check(&p);
        }
}

/* Sums alone into rows that start at any element of 16 bytes, in tiles that end anywhere. */
static void check_starts(const struct kind &kind, int tile, enum dtype out)
{
    const struct gemm_cuda_shape *t = &kind.tiles[tile];
    const int widths[] = { 7, t->bn - 31, t->bn + 17 };

    for (int off : { 0, 1, 3, 6 })
        for (int n : widths) {
            struct product p = { kind.function, kind.math, kind.nn, 37,  n,        40, off,
                                 false,         false,     false,   out, tile + 1, 1 };
            if (off == 0 || t->any_alignment)
                check(&p);
        }
}

TEST(rows_start_anywhere)
{
    for (const struct kind &kind : kinds)
        for (int tile = 0; tile < kind.nr_tiles; tile++) {
            check_starts(kind, tile, DTYPE_FP32);
            if (kind.math == MATH_BF16)
                check_starts(kind, tile, DTYPE_BF16);
        }
}

TEST(every_way_out)
{
    for (const struct kind &kind : kinds)
        for (int way = 0; way < 8; way++)
            for (int off = 0; off < 2; off++) {
                struct product p = {
                    kind.function,  kind.math,      kind.nn,        37,         75, 40, off,
                    (way & 1) != 0, (way & 2) != 0, (way & 4) != 0, DTYPE_FP32, 0,  1
                };
                check(&p);
                p.out = DTYPE_BF16;
                if (kind.math == MATH_BF16)
                    check(&p);
            }
}

/* From one row on to just beyond what the kernel for few rows takes; as many warps on a column as
 * the depth needs. */
TEST(few_rows)
{
    for (const struct kind &kind : kinds)
        for (int m = 1; m <= 9; m++)
            for (int off = 0; off < 2; off++) {
                struct product p = { kind.function, kind.math, kind.nn, m,    m % 2 ? 50 : 800,
                                     1032,          off,       true,    true, true,
                                     DTYPE_FP32,    0,         0 };
                check(&p);
            }
}

/* The last block to arrive adds the slices up; who that is must not matter. */
TEST(sums_do_not_depend_on_the_order_of_blocks)
{
    const int m = 70, n = 130, k = 400;
    matrix x(DTYPE_FP32, m * k, 0), w(DTYPE_FP32, n * k, 0), y(DTYPE_FP32, m * n, 0);
    matrix workspace(DTYPE_FP32, (int64_t)gemm_cuda_workspace(m, n, sms) / 4, 0);
    struct gemm_cuda g = {};
    std::vector<char> first;

    x.fill(1, 1), w.fill(2, 1);
    workspace.zero();
    g.m = m, g.n = n, g.k = k, g.x = x.at, g.ldx = k, g.w = w.at, g.ldw = k, g.y = y.at, g.ldy = n;
    g.out = DTYPE_FP32, g.sms = sms, g.shared = most_shared, g.workspace = workspace.at, g.tile = 2,
    g.split = 2;
    for (int i = 0; i < 8; i++) {
        gemm_linear_cuda_simt(&g, nullptr); /* the host layer shuffles the blocks of each launch */
        y.read();
        if (i == 0)
            first = y.host;
        assert_memory_equal(first.data(), y.host.data(), first.size());
    }
}

/* ---- The plan ---- */

static void check_plan(const struct gemm_cuda *g, const struct gemm_cuda_shape *tiles, int nr,
                       bool aligned)
{
    struct gemm_cuda_plan plan = gemm_cuda_plan_of(g, tiles, nr, aligned);
    const struct gemm_cuda_shape *t = &tiles[plan.tile];
    int64_t all = (int64_t)plan.tiles_m * plan.tiles_n;

    assert_true((int64_t)plan.tiles_m * t->bm >= g->m && (plan.tiles_m - 1) * t->bm < g->m);
    assert_true((int64_t)plan.tiles_n * t->bn >= g->n && (plan.tiles_n - 1) * t->bn < g->n);
    assert_true(aligned || t->any_alignment);
    assert_true(t->shared <= g->shared);
    assert_in_range(plan.split, 1, cuda_pieces<int64_t>(g->k, t->bk));
    assert_true(plan.split == 1 || all * plan.split <= g->sms * GEMM_CUDA_SPLIT_BLOCKS_PER_SM);
    size_t partials = (size_t)all * (size_t)plan.split * (size_t)t->bm * (size_t)t->bn * 4;
    size_t tickets = (size_t)g->sms * GEMM_CUDA_SPLIT_BLOCKS_PER_SM * 4;
    if (plan.split > 1)
        assert_true(tickets + partials <= gemm_cuda_workspace(g->m, g->n, g->sms));
}

TEST(plans_fit_the_product_and_the_workspace)
{
    const int64_t sizes[] = { 1, 9, 31, 32, 33, 64, 100, 128, 256, 300, 768, 4096, 50257 };
    const int devices[] = { 1, 16, 108, 132 };
    struct gemm_cuda g = {};

    g.workspace = &g, g.shared = most_shared;
    for (int64_t m : sizes)
        for (int64_t n : sizes)
            for (int64_t k : sizes)
                for (int device : devices) {
                    g.m = m, g.n = n, g.k = k, g.sms = device;
                    check_plan(&g, gemm_cuda_simt_tiles, GEMM_SIMT_TILES, k % 4 == 0);
                    check_plan(&g, mma_shapes<bf16>, GEMM_CUDA_TILES, k % 8 == 0);
                }
}

TEST(plans_are_sensible)
{
    struct gemm_cuda g = {};

    g.sms = 132, g.shared = most_shared, g.workspace = &g;
    g.m = g.n = g.k = 4096; /* the largest tile, and no slices */
    struct gemm_cuda_plan plan = gemm_cuda_plan_of(&g, gemm_cuda_simt_tiles, GEMM_SIMT_TILES, true);
    assert_int_equal(plan.tile, 0);
    assert_int_equal(plan.split, 1);
    g.m = 32, g.n = 256, g.k = 4096; /* a deep product of few outputs is sliced */
    assert_true(gemm_cuda_plan_of(&g, gemm_cuda_simt_tiles, GEMM_SIMT_TILES, true).split > 4);
    assert_true(gemm_cuda_plan_of(&g, mma_shapes<bf16>, GEMM_CUDA_TILES, true).split > 4);
    g.m = g.n = g.k = 4096, g.shared = 64 * 1024; /* no room for the largest tile */
    assert_int_equal(gemm_cuda_plan_of(&g, gemm_cuda_simt_tiles, GEMM_SIMT_TILES, true).tile, 1);
    g.m = 32, g.n = 256, g.shared = most_shared;
    g.workspace = nullptr; /* but not without the memory for it */
    assert_int_equal(gemm_cuda_plan_of(&g, gemm_cuda_simt_tiles, GEMM_SIMT_TILES, true).split, 1);
}

/* ---- cuBLAS ---- */

/* What nobody could be told of must not look like a result. */
TEST(a_product_that_cublas_refuses_leaves_no_number)
{
    struct device device;
    struct cuda_cublas blas;
    struct error err;
    matrix a(DTYPE_FP32, 6, 0), b(DTYPE_FP32, 6, 0), c(DTYPE_FP32, 4, 0);
    struct cuda_cublas_product p = {};

#ifndef CUDA_HOST_LAYER /* which always has its own */
    if (cuda_cublas_library(&err) == nullptr)
        skip();
#endif
    assert_ok(device_open(&device, "cuda", &err), &err);
    assert_ok(device_start(&device, &err), &err);
    assert_ok(cuda_cublas_open(&blas, &device, &err), &err);
    a.fill(1, 1), b.fill(2, 1), c.fill(3, 1);
    /* The library's stream waits for no copy. */
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    p.m = 2, p.n = 2, p.k = 3, p.count = 1, p.alpha = 1;
    p.a = { a.at, 3, 0, false }, p.b = { b.at, 2, 0, false }, p.c = c.at, p.ldc = 2;
    cuda_cublas_multiply_or_spoil(&blas, &p, 16);
    c.read();
    assert_close(c.get(0), a.get(0) * b.get(0) + a.get(1) * b.get(2) + a.get(2) * b.get(4), 1e-6);
    p.ldc = 1; /* less than a row */
    cuda_cublas_multiply_or_spoil(&blas, &p, 16);
    c.read();
    for (int i = 0; i < 4; i++)
        assert_true(isnan(c.get(i)));
    assert_int_equal(cuda_cublas_multiply(&blas, &p, &err), -1);
    assert_non_null(strstr(err.message, "cuBLAS status 7"));
    p.ldc = (int64_t)1 << 31;
    assert_int_equal(cuda_cublas_multiply(&blas, &p, &err), -1);
    assert_string_equal(err.message, "2147483648 is beyond cuBLAS's integers");
    cuda_cublas_close(&blas);
    assert_int_equal(device.memory_live, 0);
    device_close(&device);
}

#ifdef CUDA_HOST_LAYER /* which makes the search fail */
extern "C" const struct variant gemm_cublaslt[];

/* cuBLASLt's prepare() of a small product, once more with a fault of its search for an algorithm.
 */
static int prepare_with(const char *fault, struct error *err)
{
    struct device device;
    struct call call = {};

    assert_ok(device_open(&device, "cuda", err), err);
    assert_ok(device_start(&device, err), err);
    call.variant = &gemm_cublaslt[0], call.kernel = call.variant->kernel;
    call.device = &device, call.shape = { { 1, 2, 4, 8 } };
    call.nr_tensors =
        call.kernel->layout(call.kernel, &call.shape, call.variant->dtype, call.tensor);
    for (int i = 0; i < call.nr_tensors; i++)
        call.tensor[i].data = device_alloc(&device, tensor_bytes(&call.tensor[i]), err);
    if (fault != nullptr)
        assert_int_equal(cuda_host_inject(fault), 0);
    int rc = call.variant->prepare(&call, err);
    if (rc == 0)
        call.variant->release(&call);
    assert_null(call.state);
    for (int i = 0; i < call.nr_tensors; i++)
        device_free(&device, call.tensor[i].data);
    assert_int_equal(device.memory_live, 0);
    device_close(&device);
    return rc;
}

/* A product that the library has nothing for is no failure of ours. */
TEST(without_an_algorithm_a_product_is_unsupported)
{
    static const struct {
        const char *fault, *words;
        int rc;
    } cases[] = {
        { nullptr, nullptr, 0 },
        { "fail=cublasLtMatmulAlgoGetHeuristic:1:801", "knows no algorithm", CALL_UNSUPPORTED },
        { "fail=cublasLtMatmulAlgoGetHeuristic:1:98", "knows no algorithm", CALL_UNSUPPORTED },
        { "fail=cublasLtMatmulAlgoGetHeuristic:1:999", "cuBLASLt status 14", -1 },
    };

    for (const auto &c : cases) {
        struct error err = {};
        assert_int_equal(prepare_with(c.fault, &err), c.rc);
        if (c.words != nullptr && !strstr(err.message, c.words))
            fail_msg("\"%s\" is not in: %s", c.words, err.message);
    }
}
#endif

RUN_TESTS(NULL, NULL)
