/* SPDX-License-Identifier: MIT */
/* The stub of cuBLAS and cuBLASLt against products in double, and what it refuses.
 * Features: U-02, U-08. */
#include "test_cuda_host.h"

#include <algorithm>
#include <bit>
#include <cublasLt.h>
#include <dlfcn.h>

/* ---- The library, found at run time as the kernels find it ---- */

static void *symbol(const char *name)
{
    static void *library = dlopen(HARNESS_CUBLAS_STUB, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        fail_msg("%s", dlerror());
    void *found = dlsym(library, name);
    if (!found)
        fail_msg("%s has no %s", HARNESS_CUBLAS_STUB, name);
    return found;
}

/* The function `f` of the headers, from the library. */
#define CALL(f)        (reinterpret_cast<decltype(&f)>(symbol(#f)))
#define CALL_NAMED(f)  CALL(f) /* for names that the headers map to newer ones */
#define assert_done(x) assert_int_equal((x), CUBLAS_STATUS_SUCCESS)

/* A handle on a stream of its own. */
struct session {
    cudaStream_t stream = nullptr;
    cublasHandle_t blas = nullptr;
    cublasLtHandle_t lt = nullptr;

    session(void)
    {
        assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
        assert_done(CALL_NAMED(cublasCreate)(&blas));
        assert_done(CALL_NAMED(cublasSetStream)(blas, stream));
        assert_done(CALL(cublasLtCreate)(&lt));
    }
    session(const session &) = delete;
    ~session()
    {
        CALL(cublasLtDestroy)(lt);
        CALL_NAMED(cublasDestroy)(blas);
        cudaStreamDestroy(stream);
    }
};

/* ---- Numbers ---- */

typedef uint16_t bf16_bits;

static float as_float(float x)
{
    return x;
}

static float as_float(bf16_bits x)
{
    return std::bit_cast<float>((uint32_t)x << 16);
}

template <class T> constexpr cudaDataType type_of = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_16BF;

/* Small multiples of 1/8: exact in every type here, and their products in float. */
template <class T> static std::vector<T> numbers(size_t count, unsigned seed)
{
    std::vector<T> x(count);

    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        float value = (float)(seed >> 28) / 8 - 1;
        if constexpr (sizeof(T) == 4)
            x[i] = value;
        else
            x[i] = (bf16_bits)(std::bit_cast<uint32_t>(value) >> 16);
    }
    return x;
}

/* ---- A product and what it should be ---- */

struct size {
    int m, n, k;
    bool ta, tb;
    int pad, batch; /* pad: leading dimensions are so much longer than they must be */

    int lda(void) const
    {
        return std::max(ta ? k : m, 1) + pad;
    }
    int ldb(void) const
    {
        return std::max(tb ? n : k, 1) + 2 * pad;
    }
    int ldc(void) const
    {
        return m + 3 * pad;
    }
    size_t a(void) const
    {
        return (size_t)lda() * (size_t)(ta ? m : k);
    }
    size_t b(void) const
    {
        return (size_t)ldb() * (size_t)(tb ? k : n);
    }
    size_t c(void) const
    {
        return (size_t)ldc() * (size_t)n;
    }
};

template <class In> static double product_at(const size &s, const In *a, const In *b, int i, int j)
{
    double sum = 0;

    for (int x = 0; x < s.k; x++)
        sum += (double)as_float(a[s.ta ? x + i * s.lda() : i + x * s.lda()]) *
               (double)as_float(b[s.tb ? j + x * s.ldb() : x + j * s.ldb()]);
    return sum;
}

/* The rounding of the result; sums of the numbers above are exact. */
template <class Out> constexpr double epsilon = sizeof(Out) == 4 ? 1e-6 : 1.0 / 256;

static void assert_near(double got, double expected, double eps, const size &s, int i, int j)
{
    if (!(fabs(got - expected) <= eps * (fabs(expected) + 1)))
        fail_msg("%dx%dx%d %c%c (%d,%d): %g, expected %g", s.m, s.n, s.k, s.ta ? 'T' : 'N',
                 s.tb ? 'T' : 'N', i, j, got, expected);
}

template <class In, class Out> static void check_product(session &on, const size &s)
{
    const float alpha = 0.5f, beta = -2;
    size_t batch = (size_t)s.batch;
    std::vector<In> a = numbers<In>(s.a() * batch, 1), b = numbers<In>(s.b() * batch, 2);
    std::vector<Out> c = numbers<Out>(s.c() * batch, 3);
    buffer<In> da(a), db(b);
    buffer<Out> dc(c);

    assert_done(CALL(cublasGemmStridedBatchedEx)(
        on.blas, s.ta ? CUBLAS_OP_T : CUBLAS_OP_N, s.tb ? CUBLAS_OP_T : CUBLAS_OP_N, s.m, s.n, s.k,
        &alpha, da.at, type_of<In>, s.lda(), (long long)s.a(), db.at, type_of<In>, s.ldb(),
        (long long)s.b(), &beta, dc.at, type_of<Out>, s.ldc(), (long long)s.c(), s.batch,
        CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    std::vector<Out> got = dc.read();
    for (size_t g = 0; g < batch; g++)
        for (int j = 0; j < s.n; j++)
            for (int i = 0; i < s.ldc(); i++) {
                size_t at = g * s.c() + (size_t)(i + j * s.ldc());
                double old = as_float(c[at]), expected = old; /* what lies between columns stays */
                if (i < s.m)
                    expected =
                        alpha * product_at(s, a.data() + g * s.a(), b.data() + g * s.b(), i, j) +
                        beta * old;
                assert_near(as_float(got[at]), expected, epsilon<Out>, s, i, j);
            }
}

template <class In, class Out> static void check_all_sizes(void)
{
    static const int sizes[][3] = { { 1, 1, 1 },  { 3, 5, 7 },   { 17, 1, 33 },
                                    { 1, 19, 2 }, { 33, 31, 9 }, { 8, 16, 0 } };
    session on;

    for (const auto &mnk : sizes)
        for (int transposes = 0; transposes < 4; transposes++)
            for (int pad : { 0, 3 })
                check_product<In, Out>(on, { mnk[0], mnk[1], mnk[2], (transposes & 1) != 0,
                                             (transposes & 2) != 0, pad, pad ? 2 : 1 });
}

CUDA_HOST_TEST(products_of_floats)
{
    check_all_sizes<float, float>();
}

CUDA_HOST_TEST(products_of_bf16)
{
    check_all_sizes<bf16_bits, bf16_bits>();
    check_all_sizes<bf16_bits, float>();
}

CUDA_HOST_TEST(c_is_not_read_at_beta_0)
{
    session on;
    const float one = 1, zero = 0;
    buffer<float> a(std::vector<float> { 2 }), b(std::vector<float> { 3 }), c(1);

    assert_true(std::isnan(c.read()[0]));
    assert_done(CALL_NAMED(cublasSgemm)(on.blas, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a.at, 1,
                                        b.at, 1, &zero, c.at, 1));
    assert_close(c.read()[0], 6, 0);
}

/* ---- Math modes ---- */

static float one_product(session &on, float x, cublasMath_t math, cublasComputeType_t compute)
{
    const float one = 1, zero = 0;
    buffer<float> a(std::vector<float> { x }), b(std::vector<float> { 1 }), c(1);

    assert_done(CALL(cublasSetMathMode)(on.blas, math));
    assert_done(CALL(cublasGemmEx)(on.blas, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a.at,
                                   CUDA_R_32F, 1, b.at, CUDA_R_32F, 1, &zero, c.at, CUDA_R_32F, 1,
                                   compute, CUBLAS_GEMM_DEFAULT));
    return c.read()[0];
}

CUDA_HOST_TEST(inputs_are_rounded_as_the_mode_says)
{
    session on;
    const float fine = 1 + 0x1p-23f, tf32 = 1 + 0x1p-10f, bf16 = 1 + 0x1p-7f;
    static const struct {
        float in, out;
        cublasMath_t math;
        cublasComputeType_t compute;
    } cases[] = {
        { fine, fine, CUBLAS_DEFAULT_MATH, CUBLAS_COMPUTE_32F },
        { fine, 1, CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_COMPUTE_32F },
        { fine, fine, CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_COMPUTE_32F_PEDANTIC },
        { fine, 1, CUBLAS_DEFAULT_MATH, CUBLAS_COMPUTE_32F_FAST_TF32 },
        { tf32, tf32, CUBLAS_DEFAULT_MATH, CUBLAS_COMPUTE_32F_FAST_TF32 },
        { tf32, 1, CUBLAS_DEFAULT_MATH, CUBLAS_COMPUTE_32F_FAST_16BF },
        { bf16, bf16, CUBLAS_DEFAULT_MATH, CUBLAS_COMPUTE_32F_FAST_16BF },
        { 1 + 0x1p-11f, tf32, CUBLAS_DEFAULT_MATH, CUBLAS_COMPUTE_32F_FAST_TF32 },
    };

    for (const auto &c : cases)
        assert_close(one_product(on, c.in, c.math, c.compute), c.out, 0);
}

/* ---- Refusals ---- */

struct request {
    int m, n, k, lda, ldb, ldc;
    ptrdiff_t a, c; /* bytes that the pointers are moved by; -1: null */
    cudaDataType in, out;
    cublasOperation_t ta;
};

static cublasStatus_t ask(session &on, const buffer<char> &memory, const request &r)
{
    const float one = 1;
    char *at = memory.at;

    return CALL(cublasGemmEx)(on.blas, r.ta, CUBLAS_OP_N, r.m, r.n, r.k, &one,
                              r.a < 0 ? nullptr : at + r.a, r.in, r.lda, at, r.in, r.ldb, &one,
                              r.c < 0 ? nullptr : at + r.c, r.out, r.ldc, CUBLAS_COMPUTE_32F,
                              CUBLAS_GEMM_DEFAULT);
}

CUDA_HOST_TEST(what_cublas_refuses_is_refused)
{
    const cudaDataType f = CUDA_R_32F, h = CUDA_R_16BF;
    const cublasOperation_t N = CUBLAS_OP_N, T = CUBLAS_OP_T;
    const cublasStatus_t ok = CUBLAS_STATUS_SUCCESS, bad = CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t no = CUBLAS_STATUS_NOT_SUPPORTED;
    const struct {
        request r;
        cublasStatus_t rc;
    } cases[] = {
        { { 4, 3, 2, 4, 2, 4, 0, 0, f, f, N }, ok },
        { { 4, 3, 2, 3, 2, 4, 0, 0, f, f, N }, bad },
        { { 4, 3, 2, 2, 2, 4, 0, 0, f, f, T }, ok },
        { { 4, 3, 2, 1, 2, 4, 0, 0, f, f, T }, bad },
        { { 4, 3, 2, 4, 1, 4, 0, 0, f, f, N }, bad },
        { { 4, 3, 2, 4, 2, 3, 0, 0, f, f, N }, bad },
        { { -1, 3, 2, 4, 2, 4, 0, 0, f, f, N }, bad },
        { { 0, 3, 2, 1, 2, 1, -1, -1, f, f, N }, ok },
        { { 0, 3, 2, 0, 2, 1, 0, 0, f, f, N }, bad },
        { { 4, 3, 2, 4, 2, 4, -1, 0, f, f, N }, bad },
        { { 4, 3, 2, 4, 2, 4, 0, -1, f, f, N }, bad },
        { { 4, 3, 2, 4, 2, 4, 2, 0, f, f, N }, bad },
        { { 4, 3, 2, 4, 2, 4, 2, 0, h, h, N }, ok },
        { { 4, 3, 2, 4, 2, 4, 1, 0, h, h, N }, bad },
        { { 4, 3, 2, 4, 2, 4, 0, 1, h, h, N }, bad },
        { { 4, 3, 2, 4, 2, 4, 0, 0, h, f, N }, ok },
        { { 4, 3, 2, 4, 2, 4, 0, 0, f, h, N }, no },
        { { 4, 3, 2, 4, 2, 4, 0, 0, f, f, (cublasOperation_t)3 }, bad },
    };
    session on;
    buffer<char> memory(std::vector<char>(1024, 0));

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (ask(on, memory, cases[i].r) != cases[i].rc)
            fail_msg("case %zu: %d, expected %d", i, ask(on, memory, cases[i].r), cases[i].rc);
    assert_int_equal(CALL_NAMED(cublasSetStream)(nullptr, nullptr), CUBLAS_STATUS_NOT_INITIALIZED);
    assert_int_equal(CALL_NAMED(cublasSetWorkspace)(on.blas, memory.at, 1024), ok);
    assert_int_equal(CALL_NAMED(cublasSetWorkspace)(on.blas, memory.at + 16, 1008), bad);
    assert_done(CALL_NAMED(cublasSetStream)(on.blas, nullptr)); /* the stub's own limit */
    assert_int_equal(ask(on, memory, cases[0].r), no);
    assert_string_equal(CALL(cublasGetStatusName)(bad), "CUBLAS_STATUS_INVALID_VALUE");
}

/* ---- Graphs ---- */

CUDA_HOST_TEST(products_can_be_captured)
{
    session on;
    const float one = 1, zero = 0;
    buffer<float> a(std::vector<float> { 2 }), b(std::vector<float> { 3 }), c(1);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t nodes = 0;

    assert_int_equal(cudaStreamBeginCapture(on.stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    assert_done(CALL_NAMED(cublasSgemm)(on.blas, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a.at, 1,
                                        b.at, 1, &zero, c.at, 1));
    assert_int_equal(cudaStreamEndCapture(on.stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
    assert_int_equal(nodes, 1);
    assert_true(std::isnan(c.read()[0]));
    assert_int_equal(cudaGraphInstantiate(&exec, graph), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(exec, on.stream), cudaSuccess);
    assert_close(c.read()[0], 6, 0);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

/* ---- cuBLASLt ---- */

/* The objects of one cublasLtMatmul(). */
struct lt_call {
    session on;
    cublasLtMatmulDesc_t desc = nullptr;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
    cublasLtMatmulPreference_t wish = nullptr;
    cublasLtMatmulHeuristicResult_t found = {};

    lt_call(const size &s, cudaDataType type)
    {
        assert_done(CALL(cublasLtMatmulDescCreate)(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
        set(CUBLASLT_MATMUL_DESC_TRANSA, s.ta ? CUBLAS_OP_T : CUBLAS_OP_N);
        set(CUBLASLT_MATMUL_DESC_TRANSB, s.tb ? CUBLAS_OP_T : CUBLAS_OP_N);
        layout(&a, type, s.ta ? s.k : s.m, s.ta ? s.m : s.k, s.lda());
        layout(&b, type, s.tb ? s.n : s.k, s.tb ? s.k : s.n, s.ldb());
        layout(&c, type, s.m, s.n, s.ldc());
        assert_done(CALL(cublasLtMatmulPreferenceCreate)(&wish));
    }
    ~lt_call()
    {
        CALL(cublasLtMatmulPreferenceDestroy)(wish);
        for (cublasLtMatrixLayout_t l : { a, b, c })
            CALL(cublasLtMatrixLayoutDestroy)(l);
        CALL(cublasLtMatmulDescDestroy)(desc);
    }
    static void layout(cublasLtMatrixLayout_t *l, cudaDataType type, int rows, int cols, int ld)
    {
        assert_done(CALL(cublasLtMatrixLayoutCreate)(l, type, (uint64_t)rows, (uint64_t)cols, ld));
    }
    template <class T> void set(cublasLtMatmulDescAttributes_t attribute, T value)
    {
        assert_done(CALL(cublasLtMatmulDescSetAttribute)(desc, attribute, &value, sizeof(value)));
    }
    template <class T> void prefer(cublasLtMatmulPreferenceAttributes_t attribute, T value)
    {
        assert_done(
            CALL(cublasLtMatmulPreferenceSetAttribute)(wish, attribute, &value, sizeof(value)));
    }
    cublasStatus_t find(void)
    {
        int count = 0;

        return CALL(cublasLtMatmulAlgoGetHeuristic)(on.lt, desc, a, b, c, c, wish, 1, &found,
                                                    &count);
    }
    cublasStatus_t run(const void *da, const void *db, void *dc, void *workspace = nullptr,
                       size_t bytes = 0)
    {
        const float one = 1, zero = 0;

        return CALL(cublasLtMatmul)(on.lt, desc, &one, da, a, db, b, &zero, dc, c, dc, c,
                                    &found.algo, workspace, bytes, on.stream);
    }
};

static double tanh_gelu(double x)
{
    return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

template <class T> static void check_epilogue(const size &s, int epilogue)
{
    lt_call call(s, type_of<T>);
    std::vector<T> a = numbers<T>(s.a(), 1), b = numbers<T>(s.b(), 2);
    std::vector<T> bias = numbers<T>((size_t)s.m, 4);
    buffer<T> da(a), db(b), dbias(bias), dc(s.c());

    call.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    if (epilogue & CUBLASLT_EPILOGUE_BIAS)
        call.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, (const void *)dbias.at);
    assert_done(call.find());
    assert_done(call.run(da.at, db.at, dc.at));
    std::vector<T> got = dc.read();
    for (int j = 0; j < s.n; j++)
        for (int i = 0; i < s.m; i++) {
            double x = product_at(s, a.data(), b.data(), i, j);
            if (epilogue & CUBLASLT_EPILOGUE_BIAS)
                x += as_float(bias[(size_t)i]);
            if (epilogue & CUBLASLT_EPILOGUE_GELU)
                x = tanh_gelu(x);
            assert_near(as_float(got[(size_t)(i + j * s.ldc())]), x, epsilon<T>, s, i, j);
        }
}

CUDA_HOST_TEST(epilogues_add_and_bend)
{
    for (int epilogue : { CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_GELU,
                          CUBLASLT_EPILOGUE_GELU_BIAS })
        for (int transposes = 0; transposes < 4; transposes++) {
            size s = { 9, 7, 5, (transposes & 1) != 0, (transposes & 2) != 0, 2, 1 };
            check_epilogue<float>(s, epilogue);
            check_epilogue<bf16_bits>(s, epilogue);
        }
}

CUDA_HOST_TEST(lt_refuses_what_does_not_fit)
{
    const size s = { 4, 3, 2, false, false, 0, 1 };
    lt_call call(s, CUDA_R_32F);
    buffer<char> memory(std::vector<char>(8192, 0));
    char *at = memory.at;
    size_t room = 4096;

    assert_done(call.find());
    assert_done(call.run(at, at, at + 1024));
    assert_int_equal(call.run(at + 16, at, at + 1024), CUBLAS_STATUS_INVALID_VALUE);
    call.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, (uint32_t)16);
    call.prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, (uint64_t)room);
    assert_done(call.find());
    assert_int_equal(call.found.workspaceSize, room);
    assert_done(call.run(at + 16, at, at + 1024, at + 4096, room));
    assert_int_equal(call.run(at, at, at + 1024, nullptr, 0), CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(call.run(nullptr, at, at, at, room), CUBLAS_STATUS_INVALID_VALUE);
    call.set(CUBLASLT_MATMUL_DESC_EPILOGUE, (int)CUBLASLT_EPILOGUE_BIAS);
    assert_int_equal(call.run(at, at, at + 1024, at + 4096, room), CUBLAS_STATUS_INVALID_VALUE);
    call.set(CUBLASLT_MATMUL_DESC_EPILOGUE, 2); /* ReLU: not here */
    assert_int_equal(call.find(), CUBLAS_STATUS_NOT_SUPPORTED);
    call.set(CUBLASLT_MATMUL_DESC_EPILOGUE, (int)CUBLASLT_EPILOGUE_DEFAULT);
    call.set(CUBLASLT_MATMUL_DESC_TRANSA, (int)CUBLAS_OP_T);
    assert_int_equal(call.find(), CUBLAS_STATUS_INVALID_VALUE);
    char narrow = 1;
    assert_int_equal(CALL(cublasLtMatmulDescSetAttribute)(call.desc, CUBLASLT_MATMUL_DESC_TRANSA,
                                                          &narrow, sizeof(narrow)),
                     CUBLAS_STATUS_INVALID_VALUE);
}

RUN_TESTS(NULL, NULL)
