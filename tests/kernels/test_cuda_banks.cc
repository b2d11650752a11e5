/* SPDX-License-Identifier: MIT */
/* Bank conflicts of the kernels' ordinary accesses to shared memory, from their index maps, for all
 * lanes, rows and shifts. What ldmatrix and stmatrix move is counted as it runs (tests/cuda_asm).
 * The places are said again here where they stand in the code of a kernel: headers with asm of the
 * device do not compile for the host. No kernel runs. Features: U-02.
 *
 * What kernels really do is counted while they run, at the sizes of tests/cuda_asm (banks.txt
 * there). Here are all shifts, pitches and tilings of some of it, and fp32 flash attention, which
 * does not run there. Nowhere counted are gemm_cuda_tiled (its rows of 33 floats),
 * attention_cuda_naive and the softmax beside cuBLAS, which are for comparison; and by nature what
 * copy engines and wgmma do, whose boxes are swizzled, and what a compiler for a device makes of
 * several accesses. */
#include "kernels/attention/attention_cuda_flash.h"
#include "kernels/cuda/mma.h"
#include "kernels/gemm/gemm_cuda_tile.h"
#include "kernels/gemm/gemm_cuda_wgmma_head_maps.h"
#include "models/gpt_cluster_layout.h"

extern "C" {
#include "testing.h"
}

#include <algorithm>
#include <set>
#include <vector>

/* The most words that a group of lanes asks of one bank at a time: as many passes as it takes. A
 * group is 32 lanes, or as many as have 128 bytes together; a lane whose place is negative has
 * none. PLACE: bytes from a multiple of 128. */
template <class PLACE> static int group_passes(int first, int lanes, int size, const PLACE &place)
{
    std::vector<std::set<int>> words(32);
    size_t most = 0;

    for (int lane = first; lane < first + lanes; lane++)
        for (int at = place(lane), end = at + size; at >= 0 && at < end; at++)
            words[(size_t)(at / 4 % 32)].insert(at / 4);
    for (const std::set<int> &bank : words)
        most = std::max(most, bank.size());
    return (int)most;
}

/* Of a warp's groups, the one that takes most. */
template <class PLACE> static int passes(int size, const PLACE &place)
{
    int lanes = std::min(32, 128 / size), most = 0;

    for (int first = 0; first < 32; first += lanes)
        most = std::max(most, group_passes(first, lanes, size, place));
    return most;
}

/* ---- fp32 flash attention: the tilings of attention_cuda_flash.cu ---- */

template <int D, int ROWS, int TM, int TX> struct float_tiling {
    static constexpr int SHARE = TX, KEYS = 64, TN = KEYS / TX, TY = ROWS / TM, THREADS = TY * TX;
    static constexpr int WIDTH = D / TX < 4 ? D / TX : 4, GROUPS = D / TX / WIDTH, PITCH = D + 4;
    static constexpr int WARPS = THREADS / 32, WEIGHTS = KEYS + TX;

    static attention_thread at(int warp, int lane)
    {
        return attention_thread_of<TX>(32 * warp + lane);
    }
};

/* Of Q, of K, of weights as they are written and read, of V, of copies. */
struct float_passes {
    int q, k, written, read, v, copies;
};

template <class C, int D> static float_passes count_float(void)
{
    float_passes most = {};
    auto take = [](int &to, int n) { to = std::max(to, n); };

    for (int warp = 0; warp < C::WARPS; warp++) {
        auto at = [=](int lane) { return C::at(warp, lane); };
        for (int d = 0; d < D; d += 4) {
            take(most.q, passes(16, [&](int l) { return 4 * (at(l).ty * C::PITCH + d); }));
            take(most.k, passes(16, [&](int l) { return 4 * (at(l).tx * C::PITCH + d); }));
        }
        for (int j = 0; j < C::TN; j++)
            take(most.written, passes(4, [&](int l) {
                     return 4 * (at(l).ty * C::WEIGHTS + at(l).tx + j * C::SHARE);
                 }));
        for (int key = 0; key < C::KEYS; key++) {
            if (key % 4 == 0)
                take(most.read,
                     passes(16, [&](int l) { return 4 * (at(l).ty * C::WEIGHTS + key); }));
            for (int g = 0; g < C::GROUPS; g++)
                take(most.v, passes(4 * C::WIDTH, [&](int l) {
                         return 4 * (key * C::PITCH + (g * C::SHARE + at(l).tx) * C::WIDTH);
                     }));
        }
        take(most.copies, passes(16, [&](int l) {
                 int thread = 32 * warp + l;
                 return attention_padded<4 * C::PITCH>::bytes(thread / (D / 4), thread % (D / 4));
             }));
    }
    return most;
}

/* Without conflicts but for copies of heads of 16, whose rows of 80 bytes have two of each bank for
 * eight lanes: they are asynchronous, and once a tile. */
template <int D, int ROWS, int TM, int TX> static void check_float(void)
{
    const float_passes got = count_float<float_tiling<D, ROWS, TM, TX>, D>();

    assert_int_equal(got.q, 1);
    assert_int_equal(got.k, 1);
    assert_int_equal(got.written, 1);
    assert_int_equal(got.read, 1);
    assert_int_equal(got.v, 1);
    assert_int_equal(got.copies, D == 16 ? 2 : 1);
}

TEST(softmax_rows_and_tiles_of_fp32_attention)
{
    check_float<16, 64, 8, 8>();
    check_float<32, 64, 8, 8>();
    check_float<64, 128, 8, 8>();
    check_float<128, 128, 8, 16>();
    check_float<16, 16, 2, 16>();
    check_float<32, 16, 2, 16>();
    check_float<64, 16, 2, 16>();
    check_float<128, 16, 2, 16>();
}

/* ---- bf16 flash attention: O by pairs to the rows of Q, and from there by 16 bytes ---- */

template <int D> static void check_pairs(void)
{
    constexpr int PIECES = D / 8;
    using place = attention_swizzled<PIECES>;
    int pairs = 0, rows = 0, copies = 0;

    for (int tile = 0; tile < 8; tile++)
        for (int half = 0; half < 2; half++)
            for (int j = 0; j < PIECES; j++)
                pairs = std::max(pairs, passes(4, [=](int lane) {
                                     int row = 16 * tile + mma_c(lane, 2 * half).row;
                                     return place::bytes(row, j) + 4 * (lane % 4);
                                 }));
    for (int i = 0; i < PIECES; i++)
        rows = std::max(rows, passes(16, [=](int lane) {
                            int index = 32 * i + lane;
                            return place::bytes(index / PIECES, index % PIECES);
                        }));
    for (int warp = 0; warp < 4; warp++)
        copies = std::max(copies, passes(16, [=](int lane) {
                              int thread = 32 * warp + lane;
                              return place::bytes(thread / PIECES, thread % PIECES);
                          }));
    assert_int_equal(pairs, 1);
    assert_int_equal(rows, 1);
    assert_int_equal(copies, 1);
}

TEST(rows_and_copies_of_bf16_attention)
{
    check_pairs<16>();
    check_pairs<32>();
    check_pairs<64>();
    check_pairs<128>();
}

/* ---- The way out of the mma.sync and SIMT products: strips, read row by row ---- */

/* 16 bytes of floats at a time: eight neighbours of a bf16 piece are two such, and of four lanes
 * each bank has two. */
template <int COLS> static int count_vectors(int v)
{
    int most = 0, vectors = COLS / v;

    for (int i = 0; i < 4 * vectors; i += 32)
        for (int part = 0; part < v; part += 4)
            most = std::max(most, passes(v == 1 ? 4 : 16, [=](int lane) {
                                int r = (i + lane) / vectors, c = (i + lane) % vectors * v;
                                return 4 * (r * gemm_strip_pitch<COLS> + c + part);
                            }));
    return most;
}

/* One by one, where rows of y begin `ahead` elements in front of 16 bytes. */
template <int COLS> static int count_inner(int v, int ld, int start)
{
    int most = 0;

    for (int e = 0; e < v; e++)
        most = std::max(most, passes(4, [=](int lane) {
                            int lanes = 32 / v, r = lane / lanes;
                            int ahead = (v - (start + r * ld) % v) % v;
                            return 4 * (r * gemm_strip_pitch<COLS> + lane % lanes * v + ahead + e);
                        }));
    return most;
}

/* An odd pitch is what the kernel is for (50257 logits). An even one that is not aligned has rows
 * with the same offset: each bank for as many as half of them or all. Known, and as a device has
 * verified it. */
template <int COLS> static void check_strips(void)
{
    assert_int_equal(count_vectors<COLS>(8), 2);
    assert_int_equal(count_vectors<COLS>(4), 1);
    assert_int_equal(count_vectors<COLS>(1), 1);
    for (int v : { 8, 4 })
        for (int ld = 0; ld < v; ld++)
            for (int start = 0; start < v; start++) {
                int same = ld % 2 ? 1 : ld % 4 ? 2 : ld % 8 ? 4 : v; /* rows of one offset */
                assert_int_equal(count_inner<COLS>(v, ld, start), same < v ? same : v);
            }
}

TEST(strips_are_read_with_the_conflicts_that_are_known)
{
    check_strips<32>();
    check_strips<64>();
    check_strips<128>();
}

/* ---- The head's staging: pairs of columns, each row shifted by itself ---- */

static int count_staging(int start, int ld, int upper)
{
    int most = 0;

    for (int j = 0; j < HEAD_COLS / 8; j++)
        most = std::max(most, passes(4, [=](int lane) {
                            int row = lane / 4 + 8 * upper, shift = head_shift(start, row, ld);
                            int odd = head_shift(start, lane / 4, ld) % 2;
                            return row * HEAD_PITCH + 2 * head_place(2 * (lane % 4) + odd, shift) +
                                   16 * j;
                        }));
    return most;
}

/* Column 0 of rows with an odd shift, by one lane of each. */
static int count_first(int start, int ld, int upper)
{
    return passes(2, [=](int lane) {
        int row = lane / 4 + 8 * upper;
        bool has = lane % 4 == 0 && head_shift(start, row, ld) % 2;
        return has ? row * HEAD_PITCH + 2 * head_place(0, head_shift(start, row, ld)) : -1;
    });
}

/* Rows of one shift have none; by others they are moved against each other, which takes up to three
 * passes (of 50257 columns, too). No pitch of 448 to 592 bytes has fewer than 2.18 on the average
 * of all shifts, where this one has 2.23; and rows 4 banks further on were measured: no faster. */
TEST(staging_of_the_head_has_the_conflicts_that_are_known)
{
    for (int start = 0; start < HEAD_SECTOR; start++)
        for (int ld = 0; ld < HEAD_SECTOR; ld++)
            for (int upper = 0; upper < 2; upper++) {
                int n = count_staging(start, ld, upper);
                assert_in_range(n, 1, 3);
                if (ld == 0)
                    assert_int_equal(n, 1);
                assert_true(count_first(start, ld, upper) <= 2);
            }
}

/* ---- Clusters ---- */

template <class P> static void check_cluster(void)
{
    int qkv = 0, attention = 0, hidden = 0, partial = 0, gather = 0, wide = 0;
    auto take = [](int &to, int n) { to = std::max(to, n); };

    for (int half = 0; half < 2; half++)
        for (int tile = 0; tile < 4; tile++) {
            auto pair = [=](int lane, int j) {
                return mma_at { 16 * tile + mma_c(lane, 2 * half).row, 8 * j + mma_c(lane, 0).col };
            };
            for (int j = 0; j < P::qkv / 8; j++)
                take(qkv, passes(4, [=](int l) {
                         return 2 * (pair(l, j).row * P::qkv_row + pair(l, j).col);
                     }));
            for (int j = 0; j < P::head / 8; j++)
                take(attention, passes(4, [=](int l) {
                         return 2 * (pair(l, j).row * P::qkv_row + pair(l, j).col);
                     }));
            for (int j = 0; j < P::chunk / 8; j++)
                take(hidden, passes(4, [=](int l) {
                         return 2 * P::chunk_at(pair(l, j).row, pair(l, j).col);
                     }));
            for (int j = 0; j < P::width / 8; j++)
                take(partial, passes(4, [=](int l) {
                         return 2 * (pair(l, j).row * P::row + pair(l, j).col);
                     }));
        }
    for (int row = 0; row < GPT_CLUSTER_ROWS; row++) {
        take(gather,
             passes(16, [=](int l) { return l < P::pieces ? 2 * (row * P::row + 8 * l) : -1; }));
        take(wide, passes(16, [=](int l) {
                 return l < P::pieces ? 2 * P::wide_at(GPT_CLUSTER_ROWS, row, 8 * l) : -1;
             }));
    }
    for (int n : { qkv, attention, hidden, partial, gather, wide })
        assert_int_equal(n, 1);
}

TEST(clusters_have_no_conflicts)
{
    check_cluster<gpt_cluster<48, 16, 8, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<48, 16, 16, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<64, 16, 8, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<128, 32, 8, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<128, 32, 16, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<192, 32, 8, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<192, 32, 16, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<256, 32, 8, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<256, 32, 16, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<64, 16, 8, 8, GPT_CLUSTER_STORE, true>>();
    check_cluster<gpt_cluster<128, 32, 8, 8, GPT_CLUSTER_COPY, true>>();
    check_cluster<gpt_cluster<128, 32, 16, 8, GPT_CLUSTER_COPY, true>>();
    check_cluster<gpt_cluster<192, 32, 16, 8, GPT_CLUSTER_COPY, true>>();
    check_cluster<gpt_cluster<256, 32, 8, 8, GPT_CLUSTER_COPY, true>>();
    check_cluster<gpt_cluster<256, 32, 16, 8, GPT_CLUSTER_COPY, true>>();
}

/* ---- Decoding ---- */

/* The sizes of gpt_cuda_decode_call.cu. */
static const struct decode_size {
    int head, warps;
} decode_sizes[] = { { 16, 8 }, { 32, 8 }, { 64, 12 } };

static int count_cache(const struct decode_size *s)
{
    int pieces = s->head / 8;

    return passes(16, [=](int lane) { return lane / pieces * 4 * s->head + lane % pieces * 16; });
}

/* Keys and values of heads of 16 and 32 lie 64 and 128 bytes apart, the values of a position behind
 * its key: lanes that share a pass read every other 32 or 64 bytes. Partial sums of a warp's
 * columns lie by rank, so that a lane of each of 8 ranks reads the same bank: once a layer. Both
 * are as a device has verified them. */
TEST(decoding_has_the_conflicts_that_are_known)
{
    for (const struct decode_size &s : decode_sizes) {
        assert_int_equal(count_cache(&s), s.head == 64 ? 1 : 2);
        for (int warp = 0; warp < s.warps; warp++)
            for (int e = 0; e < 2; e++)
                assert_int_equal(passes(4,
                                        [&](int lane) {
                                            int rank = lane / 4;
                                            return 4 *
                                                   ((rank * s.warps + warp) * 8 + lane % 4 * 2 + e);
                                        }),
                                 8);
        /* q, one by one, and a warp's part by pairs. */
        assert_in_range(passes(4, [&](int lane) { return 4 * (lane % (s.head / 8) * 8); }), 1, 2);
        assert_int_equal(passes(8, [&](int lane) { return 8 * (lane % (s.head / 2)); }), 1);
    }
}

/* attention_cuda_decode.h: a warp's sums, some columns a lane, written one by one, once a block. */
TEST(decoding_attention_writes_its_sums_with_few_conflicts)
{
    for (int n : { 4, 8 })
        for (int d : { 16, 32, 64, 128 })
            for (int i = 0; i < n; i++)
                assert_in_range(
                    passes(4, [=](int lane) { return lane < d / n ? 4 * (lane * n + i) : -1; }), 1,
                    4);
}

/* attention_cuda_fp8_round.h: values as bytes, four by four by rows, one by one by columns. */
TEST(values_are_turned_without_conflicts)
{
    for (int d : { 64, 128 }) {
        assert_int_equal(
            passes(4, [=](int lane) { return lane / (d / 4) * d + lane % (d / 4) * 4; }), 1);
        for (int first = 0; first < d; first += 32)
            assert_int_equal(passes(1, [=](int lane) { return first + lane; }), 1);
    }
}

RUN_TESTS(NULL, NULL)
