/* SPDX-License-Identifier: MIT */
/* Layer norms and embedding on CUDA as the models call them, beyond what their benchmarks show: a
 * float stream over bf16 parameters, sums in place, odd addresses, positions in the middle.
 * Features: U-02. */
#include "kernels/cuda/bf16.h"
#include "kernels/embedding/embedding_cuda.h"
#include "kernels/layernorm/layernorm_cuda.h"
#include "kernels/layernorm/layernorm_cuda_rows.h"

extern "C" {
#include "testing.h"

#include "stats/random.h"
}

#include <vector>

/* `nr` elements of a type in device memory, `off` elements behind an aligned address, and what the
 * host knows of them. */
template <class T> struct array {
    T *base, *at;
    std::vector<T> host;

    array(int nr, int off = 0) : base(nullptr), at(nullptr), host((size_t)nr)
    {
        assert_int_equal(cudaMalloc(&base, (size_t)(nr + off) * sizeof(T)), cudaSuccess);
        at = base + off;
    }
    array(const array &) = delete;
    array &operator=(const array &) = delete;
    ~array(void)
    {
        cudaFree(base);
    }
    void write(void)
    {
        assert_int_equal(
            cudaMemcpy(at, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice),
            cudaSuccess);
    }
    /* Asks the device anew. */
    void read(void)
    {
        assert_int_equal(
            cudaMemcpy(host.data(), at, host.size() * sizeof(T), cudaMemcpyDeviceToHost),
            cudaSuccess);
    }
    void fill(double mean, uint64_t seed)
    {
        struct random r;

        random_seed(&r, seed);
        for (T &value : host)
            value = cuda_from<T>((float)(mean + random_normal(&r)));
        write();
    }
    double operator[](int i) const
    {
        return (double)cuda_float(host[(size_t)i]);
    }
};

template <class T> static constexpr enum dtype type_of = sizeof(T) == 2 ? DTYPE_BF16 : DTYPE_FP32;

struct moments {
    double mean, scale;
};

static struct moments moments_of(const double *x, int width)
{
    double mean = 0, squares = 0;

    for (int j = 0; j < width; j++)
        mean += x[j] / width;
    for (int j = 0; j < width; j++)
        squares += (x[j] - mean) * (x[j] - mean);
    return { mean, 1 / sqrt(squares / width + LAYERNORM_EPS) };
}

/* x + delta in place, or x alone, then the norm; against the definition. Values are at most about
 * 10, so that bf16 rounds by 2^-9 * 16. */
template <class S, class T>
static void check_norm(layernorm_cuda_fn *norm, int rows, int width, bool residual, int off)
{
    array<S> x(rows * width, off), delta(rows * width, off);
    array<T> gain(width, off), bias(width, off), y(rows * width, off);
    std::vector<double> sum((size_t)(rows * width));
    const double coarse = sizeof(T) == 2 ? 0.04 : 2e-5, stored = sizeof(S) == 2 ? 0.04 : 2e-6;

    x.fill(2, 1), delta.fill(0, 2), gain.fill(1, 3), bias.fill(0, 4);
    for (int i = 0; i < rows * width; i++)
        sum[(size_t)i] = x[i] + (residual ? delta[i] : 0);
    struct layernorm_cuda l = {};
    l.rows = rows, l.width = width, l.x = x.at, l.gain = gain.at, l.bias = bias.at, l.y = y.at;
    l.delta = residual ? delta.at : nullptr;
    l.sum = residual ? x.at : nullptr;
    l.stream = type_of<S>, l.dtype = type_of<T>;
    norm(&l, nullptr);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    x.read(), y.read();
    for (int i = 0; i < rows; i++) {
        struct moments m = moments_of(&sum[(size_t)(i * width)], width);
        for (int j = 0; j < width; j++) {
            double s = sum[(size_t)(i * width + j)];
            assert_close(x[i * width + j], s, stored);
            assert_close(y[i * width + j], (s - m.mean) * m.scale * gain[j] + bias[j], coarse);
        }
    }
}

template <class S, class T> static void check_norms(void)
{
    for (int width : { 3,   8,    48,   64,   128,  192,  256,  257,  512,   768,
                       776, 1024, 1032, 2048, 2056, 4096, 5000, 8192, 10008, 16384 })
        for (int off : { 0, 1 })
            for (bool residual : { false, true })
                if (off == 0 || residual != width % 2)
                    check_norm<S, T>(layernorm_rows_cuda, width < 512 ? 19 : 2, width, residual,
                                     off);
}

TEST(float_stream_over_bf16_parameters)
{
    check_norms<float, bf16>();
}

template <class T, layernorm_rows_config C, bool RESIDUAL>
static void by_rows(const struct layernorm_cuda *l, cudaStream_t stream)
{
    layernorm_rows_of<T, T, C, 2048, RESIDUAL>(*l, stream);
}

template <class T, layernorm_rows_config C> static void check_rows(void)
{
    for (int rows : { 1, 2, 19 })
        for (int width : { 2048, 2040, 1000 }) {
            check_norm<T, T>(by_rows<T, C, false>, rows, width, false, 0);
            check_norm<T, T>(by_rows<T, C, true>, rows, width, true, 0);
        }
}

template <layernorm_rows_config C> static void check_rows_of_both_types(void)
{
    check_rows<float, C>();
    check_rows<bf16, C>();
}

TEST(every_configuration_of_rows_in_registers)
{
    using config = layernorm_rows_config;

    check_rows_of_both_types<config { .pieces = 2, .registers = 255 }>();
    check_rows_of_both_types<config { .pieces = 4, .registers = 255, .keep = true }>();
    check_rows_of_both_types<config { .pieces = 8, .registers = 255, .lines = true }>();
}

/* Those that the number of rows decides on, at widths that they fill and that they do not. */
template <int I> static void by_number(const struct layernorm_cuda *l, cudaStream_t stream)
{
    if constexpr (I < LAYERNORM_ROWS_CASES)
        layernorm_rows_of<bf16, bf16, layernorm_rows_cases[I].config, layernorm_rows_cases[I].width,
                          false>(*l, stream);
    else
        layernorm_rows_of<bf16, bf16, layernorm_rows_choice[1][false][I - LAYERNORM_ROWS_CASES],
                          LAYERNORM_ROWS_NARROW << (I - LAYERNORM_ROWS_CASES), false>(*l, stream);
}

template <int I = 0> static void check_by_number(void)
{
    constexpr int table = I < LAYERNORM_ROWS_CASES ? 0 : I - LAYERNORM_ROWS_CASES;
    constexpr int width =
        I < LAYERNORM_ROWS_CASES ? layernorm_rows_cases[I].width : LAYERNORM_ROWS_NARROW << table;

    for (int rows : { 1, 6 })
        for (int less : { 0, 8, width / 3 / 8 * 8 })
            check_norm<bf16, bf16>(by_number<I>, rows, width - less, false, 0);
    if constexpr (I + 1 < LAYERNORM_ROWS_CASES + LAYERNORM_ROWS_WIDTHS)
        check_by_number<I + 1>();
}

TEST(every_cut_of_plain_bf16_rows)
{
    check_by_number();
}

/* What was fastest: vectors of a thread, and whether gain and bias are kept. */
TEST(cuts_are_those_that_were_measured)
{
    static const struct {
        int rows, width, pieces;
        bool keep;
    } measured[] = {
        { 256, 1024, 2, true },    { 256, 4096, 2, true },    { 4096, 512, 2, false },
        { 4096, 1024, 2, false },  { 4096, 2048, 2, false },  { 4096, 4096, 4, false },
        { 4096, 8192, 4, false },  { 16384, 512, 2, false },  { 16384, 1024, 4, false },
        { 16384, 2048, 2, false }, { 16384, 4096, 4, false }, { 16384, 8192, 4, false },
    };

    for (const auto &m : measured) {
        int found = layernorm_rows_case_of(m.width, m.rows), i = 0;
        while (LAYERNORM_ROWS_NARROW << i < m.width)
            i++;
        layernorm_rows_config config = found < LAYERNORM_ROWS_CASES
                                           ? layernorm_rows_cases[found].config
                                           : layernorm_rows_choice[1][false][i];
        assert_int_equal(config.pieces, m.pieces);
        assert_int_equal(config.keep, m.keep);
    }
}

TEST(norms_of_one_type_at_any_address)
{
    check_norms<float, float>();
    check_norms<bf16, bf16>();
}

/* One addition of values that are exact in the result's type or in float. */
template <class T, class S> static void check_embedding(int batch, int seq, int width, int off)
{
    const int vocab = 11, first = 3;
    array<int32_t> tokens(batch * seq);
    array<T> wte(vocab * width, off), wpe((first + seq) * width);
    array<S> out(batch * seq * width, off);

    wte.fill(0, 5), wpe.fill(0, 6);
    for (int i = 0; i < batch * seq; i++)
        tokens.host[(size_t)i] = i * 7 % vocab;
    tokens.write();
    struct embedding_cuda e = {};
    e.batch = batch, e.seq = seq, e.width = width, e.first = first;
    e.tokens = tokens.at, e.wte = wte.at, e.wpe = wpe.at, e.out = out.at;
    e.dtype = type_of<T>, e.stream = type_of<S>;
    embedding_rows_cuda(&e, nullptr);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    out.read();
    for (int i = 0; i < batch * seq; i++)
        for (int j = 0; j < width; j++) {
            double sum =
                wte[tokens.host[(size_t)i] * width + j] + wpe[(first + i % seq) * width + j];
            assert_close(out[i * width + j], sum, sizeof(S) == 2 ? 0.02 : 1e-6);
        }
}

TEST(embedding_from_a_position_on)
{
    for (int width : { 1, 48, 100, 768, 1500 }) {
        check_embedding<float, float>(3, 5, width, 0);
        check_embedding<bf16, float>(3, 5, width, 0);
        check_embedding<bf16, float>(3, 5, width, 1);
        check_embedding<bf16, bf16>(1, 9, width, 0);
    }
}

RUN_TESTS(NULL, NULL)
