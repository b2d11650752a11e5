/* SPDX-License-Identifier: MIT */
/* Attention on CUDA beyond what its benchmarks show: the index maths by themselves, views as the
 * models have them, and a decode that brings a new position to its cache. Features: U-02. */
#include "kernels/attention/attention_cuda_decode.h"
#include "kernels/attention/attention_cuda_wgmma_fp8.h"
#include "kernels/attention/attention_cuda_wgmma_plan.h"

extern "C" {
#include "testing.h"

#include "stats/random.h"
}

#include <limits.h>
#include <math.h>
#include <vector>

/* ---- Index maths ---- */

/* Every tile of every head once, and within a group of heads never a longer tile after a shorter
 * one. */
static void check_order(unsigned heads, unsigned tiles, unsigned group)
{
    std::vector<int> seen(heads * tiles);
    const struct attention_order o = { heads, tiles, group };
    attention_place before = { 0, tiles };

    for (unsigned block = 0; block < heads * tiles; block++) {
        attention_place at = attention_place_of(o, block);
        assert_in_range(at.head, 0, heads - 1);
        assert_in_range(at.tile, 0, tiles - 1);
        assert_int_equal(seen[at.head * tiles + at.tile]++, 0);
        if (at.head / group == before.head / group)
            assert_true(at.tile <= before.tile);
        else
            assert_true(at.head / group == before.head / group + 1);
        before = at;
    }
}

/* Every tile of every head once, those of the tail behind all others and never a longer one after a
 * shorter one. */
static void check_queue(const attention_order &o)
{
    std::vector<int> seen(o.heads * o.tiles);
    unsigned before = o.tail;

    assert_in_range(o.group, 1, o.heads);
    assert_in_range(o.tail, 0, o.tiles - 1);
    for (unsigned i = 0; i < o.heads * o.tiles; i++) {
        attention_place at = attention_place_of(o, i);
        assert_in_range(at.head, 0, o.heads - 1);
        assert_in_range(at.tile, 0, o.tiles - 1);
        assert_int_equal(seen[at.head * o.tiles + at.tile]++, 0);
        assert_int_equal(at.tile < o.tail, i >= o.heads * (o.tiles - o.tail));
        if (at.tile < o.tail) {
            assert_true(at.tile <= before);
            before = at.tile;
        }
    }
}

TEST(queues_hold_every_tile_once)
{
    for (unsigned heads = 1; heads <= 13; heads++)
        for (unsigned tiles = 1; tiles <= 7; tiles++) {
            for (unsigned group = 1; group <= heads; group++)
                for (unsigned tail = 0; tail < tiles; tail++)
                    check_queue({ heads, tiles, group, tail });
            for (int64_t bytes = 1; bytes <= (int64_t)1 << 34; bytes *= 2)
                check_queue(attention_plan_order({ LONG, true }, true, heads, tiles, bytes));
        }
}

TEST(blocks_take_every_tile_once)
{
    for (unsigned heads = 1; heads <= 13; heads++)
        for (unsigned tiles = 1; tiles <= 5; tiles++)
            for (unsigned group = 1; group <= heads; group++)
                check_order(heads, tiles, group);
    assert_int_equal(attention_group(12, 1), 12);
    assert_int_equal(attention_group(128, ATTENTION_L2_BYTES / 2), 2);
    assert_int_equal(attention_group(128, 3 * ATTENTION_L2_BYTES), 1);
}

/* Every tile once, whoever shares them. */
static void check_shares(const attention_order &o, unsigned workers)
{
    std::vector<int> seen(o.heads * o.tiles);
    unsigned count = 0, most = 0, least = UINT_MAX;

    for (unsigned worker = 0; worker < workers; worker++) {
        unsigned turn = 0;
        for (unsigned i; (i = attention_turn_of(turn, worker, workers)) < seen.size(); turn++) {
            attention_place at = attention_place_of(o, i);
            assert_in_range(at.head, 0, o.heads - 1);
            assert_in_range(at.tile, 0, o.tiles - 1);
            assert_int_equal(seen[at.head * o.tiles + at.tile]++, 0);
        }
        count += turn;
        most = turn > most ? turn : most, least = turn < least ? turn : least;
    }
    assert_int_equal(count, seen.size());
    assert_true(most - least <= 1);
}

TEST(workers_share_all_tiles)
{
    for (unsigned heads = 1; heads <= 13; heads++)
        for (unsigned tiles = 1; tiles <= 9; tiles++)
            for (unsigned workers = 1; workers <= 30; workers++)
                for (int causal = 0; causal < 2; causal++)
                    check_shares(
                        attention_plan_order({ SQUARE, false }, causal != 0, heads, tiles, 1 << 16),
                        workers);
}

/* Causal, heads of 128, on a device of 132 SMs: TFLOP/s of each tiling, and what is taken. */
TEST(tiles_under_a_mask_are_among_the_fastest)
{
    static const struct {
        int64_t heads, seq;
        double square, lengthy, queue, low;
    } measured[] = {
        { 16, 512, 96, 90, 90, 108 },         { 16, 1024, 239, 225, 224, 246 },
        { 4 * 16, 2048, 490, 475, 507, 314 }, { 4 * 16, 4096, 529, 532, 546, 331 },
        { 16, 4096, 582, 578, 560, 376 },     { 32, 8192, 596, 615, 615, 376 },
        { 16, 16384, 630, 660, 657, 400 },
    };

    for (const auto &m : measured) {
        attention_plan p = attention_plan_of(128, true, m.heads, m.seq, 132);
        double best = fmax(fmax(m.square, m.lengthy), fmax(m.queue, m.low));
        double taken = p.tiling == SQUARE  ? m.square
                       : p.tiling == SHORT ? m.low
                       : p.queue           ? m.queue
                                           : m.lengthy;
        assert_true(taken > 0.99 * best);
        assert_true(p.queue == (p.tiling == LONG));
    }
    /* The smallest products have no reason to be taller; the next larger ones have all SMs. */
    assert_int_equal(attention_plan_of(128, true, 1, 1, 132).tiling, SHORT);
    assert_int_equal(attention_plan_of(128, true, 131, 128, 132).tiling, SHORT);
    assert_int_equal(attention_plan_of(128, true, 132, 128, 132).tiling, SQUARE);
    assert_int_equal(attention_plan_of(128, false, 16, 512, 132).tiling, LONG);
}

/* What was fastest on a device of 132 SMs. */
TEST(plans_are_those_that_were_measured)
{
    const struct {
        int64_t heads, seq;
        enum attention_tiling full;
        bool queue;
    } measured[] = {
        { 4 * 16, 2048, LONG, true }, { 4 * 16, 4096, TALL, true }, { 16, 4096, LONG, false },
        { 32, 8192, TALL, true },     { 16, 16384, TALL, true },
    };

    for (const auto &m : measured) {
        attention_plan causal = attention_plan_of(128, true, m.heads, m.seq, 132);
        attention_plan full = attention_plan_of(128, false, m.heads, m.seq, 132);
        attention_plan narrow = attention_plan_of(64, true, 2 * m.heads, m.seq, 132);
        assert_int_equal(causal.queue, m.queue);
        assert_int_equal(causal.tiling, m.queue ? LONG : SQUARE);
        assert_int_equal(full.tiling, m.full);
        assert_false(full.queue);
        assert_int_equal(narrow.queue, m.queue);
        assert_int_equal(narrow.tiling, NARROW);
        assert_false(attention_plan_of(64, false, 2 * m.heads, m.seq, 132).queue);
    }
}

/* E4m3: one tiling for each number of columns, of as many queries as its knobs say. */
TEST(plans_of_bytes_have_a_queue_under_a_mask)
{
    assert_int_equal(attention_fp8_tile_rows(64), 192);
    assert_int_equal(attention_fp8_tile_rows(128), 128);
    for (int64_t headdim : { 64, 128 }) {
        const int64_t seq = attention_fp8_tile_rows(headdim);
        const attention_plan few = attention_fp8_plan_of(headdim, true, 6 * 132 - 1, seq, 132);
        const attention_plan many = attention_fp8_plan_of(headdim, true, 6 * 132, seq, 132);
        assert_int_equal(few.tiling, headdim == 64 ? NARROW : SQUARE);
        assert_int_equal(many.tiling, few.tiling);
        assert_false(few.queue);
        assert_true(many.queue);
        assert_false(attention_fp8_plan_of(headdim, false, 6 * 132, seq, 132).queue);
    }
}

/* `verify --all-settings` chooses plans by a number of SMs (attention_cuda_forced.cu): whatever a
 * plan can be, some shape of the tests has it. */
TEST(plans_are_all_reached_by_test_shapes)
{
    const struct {
        attention_plan (*plan_of)(int64_t, bool, int64_t, int64_t, int);
        int64_t headdim;
        bool causal;
        attention_plan plan;
    } plans[] = {
        { attention_plan_of, 128, true, { SHORT, false } },
        { attention_plan_of, 128, true, { SQUARE, false } },
        { attention_plan_of, 128, true, { LONG, true } },
        { attention_plan_of, 128, false, { LONG, false } },
        { attention_plan_of, 128, false, { TALL, false } },
        { attention_plan_of, 64, true, { NARROW, false } },
        { attention_plan_of, 64, true, { NARROW, true } },
        { attention_plan_of, 64, false, { NARROW, false } },
        { attention_fp8_plan_of, 128, true, { SQUARE, false } },
        { attention_fp8_plan_of, 128, true, { SQUARE, true } },
        { attention_fp8_plan_of, 64, true, { NARROW, false } },
        { attention_fp8_plan_of, 64, true, { NARROW, true } },
    };

    for (const auto &p : plans) {
        const struct kernel *k = p.causal ? &attention_causal_kernel : &attention_full_kernel;
        bool reached = false;
        for (size_t i = 0; i < k->nr_test_shapes; i++) {
            const int64_t *dim = k->test_shapes[i].dim;
            for (int sms = 1; sms < 1000 && dim[3] == p.headdim; sms++) {
                attention_plan got = p.plan_of(p.headdim, p.causal, dim[0] * dim[2], dim[1], sms);
                reached |= got.tiling == p.plan.tiling && got.queue == p.plan.queue;
            }
        }
        if (!reached)
            fail_msg("no test shape of %s takes tiling %d, queue %d of %lld columns", k->name,
                     p.plan.tiling, p.plan.queue, (long long)p.headdim);
    }
}

/* Against the definition of the mask. */
static void check_tiles(bool causal, int seq, int first, int rows, int keys)
{
    int tiles = 0, last = first + rows < seq ? first + rows : seq;

    for (int tile = 0; tile * keys < seq; tile++) {
        bool some = false, all = true;
        for (int i = first; i < last; i++)
            for (int j = tile * keys; j < (tile + 1) * keys; j++) {
                bool sees = j < seq && (!causal || j <= i);
                some |= sees;
                all &= sees;
            }
        if (some)
            tiles = tile + 1;
        assert_true(attention_masked(causal, seq, first, tile * keys, keys) || all);
        if (tile * keys <= first && (tile + 1) * keys <= seq && (tile + 1) * keys - 1 <= first)
            assert_false(attention_masked(causal, seq, first, tile * keys, keys));
    }
    assert_int_equal(attention_key_tiles(causal, seq, first, rows, keys), tiles);
}

TEST(tiles_are_those_that_some_query_sees)
{
    const int rows[] = { 16, 64, 128 }, keys[] = { 64, 128 };

    for (int seq = 1; seq <= 300; seq += seq < 70 ? 1 : 23)
        for (int r : rows)
            for (int k : keys)
                for (int first = 0; first < seq; first += r) {
                    check_tiles(true, seq, first, r, k);
                    check_tiles(false, seq, first, r, k);
                }
}

template <int TX> static void check_threads(int threads)
{
    std::vector<int> seen((size_t)threads);

    for (int thread = 0; thread < threads; thread++) {
        attention_thread at = attention_thread_of<TX>(thread);
        assert_in_range(at.tx, 0, TX - 1);
        assert_in_range(at.ty, 0, threads / TX - 1);
        assert_int_equal(seen[(size_t)(at.ty * TX + at.tx)]++, 0);
        /* Shuffles over a row change tx only. */
        for (int offset = 2; offset <= TX; offset *= 2)
            assert_int_equal(attention_thread_of<TX>(thread ^ offset).ty, at.ty);
    }
}

TEST(threads_cover_their_tile)
{
    check_threads<8>(64);
    check_threads<8>(128);
    check_threads<16>(128);
    check_threads<16>(256);
}

/* Steps to the right and down from a lane's first address are those of the swizzle. */
template <int PIECES> static void check_lanes(void)
{
    for (int lane = 0; lane < 32; lane++)
        for (int row = 0; row < 64; row += 8)
            for (int piece = 0; piece < PIECES; piece += 2) {
                int down = 16 * PIECES * row;
                assert_int_equal((attention_lane_a<PIECES>(lane) ^ 16 * piece) + down,
                                 cuda_swizzled_bytes<PIECES>(row + lane % 16, piece + lane / 16));
                assert_int_equal((attention_lane_b<PIECES>(lane) ^ 16 * piece) + down,
                                 cuda_swizzled_bytes<PIECES>(row + lane / 16 * 8 + lane % 8,
                                                             piece + lane / 8 % 2));
            }
}

TEST(lanes_step_through_swizzled_tiles)
{
    check_lanes<2>();
    check_lanes<4>();
    check_lanes<8>();
    check_lanes<16>();
}

TEST(pieces_cover_the_cache)
{
    const int64_t heads[] = { 1, 3, 12, 100, 5000 };
    const int sms[] = { 1, 4, 132 };

    for (int64_t h : heads)
        for (int s : sms) {
            int64_t before = 0;
            for (int64_t length = 1; length < 9000; length += length < 300 ? 1 : 97) {
                attention_split split = attention_split_of(length, h, s);
                assert_true((int64_t)split.pieces * split.positions >= length);
                assert_true((int64_t)(split.pieces - 1) * split.positions < length);
                int64_t most = attention_most_pieces(length, h, s);
                assert_true(split.pieces <= most && most >= before);
                before = most;
            }
        }
}

/* ---- Views ---- */

/* N(0, 1) values in device memory, `off` elements behind an aligned address, and what the host
 * knows of them. */
template <class T> struct values {
    T *base, *at;
    std::vector<T> host;

    values(int64_t nr, int off, uint64_t seed) : base(nullptr), at(nullptr), host((size_t)nr)
    {
        struct random r;

        assert_int_equal(cudaMalloc(&base, (size_t)(nr + off) * sizeof(T)), cudaSuccess);
        at = base + off;
        random_seed(&r, seed);
        for (T &value : host)
            value = cuda_from<T>((float)random_normal(&r));
        assert_int_equal(cudaMemcpy(at, host.data(), bytes(), cudaMemcpyHostToDevice), cudaSuccess);
    }
    values(const values &) = delete;
    values &operator=(const values &) = delete;
    ~values(void)
    {
        cudaFree(base);
    }
    size_t bytes(void) const
    {
        return host.size() * sizeof(T);
    }
    /* Asks the device anew. */
    void read(void)
    {
        assert_int_equal(cudaMemcpy(host.data(), at, bytes(), cudaMemcpyDeviceToHost), cudaSuccess);
    }
    double get(int64_t i) const
    {
        return (double)cuda_float(host[(size_t)i]);
    }
};

/* Column `d` of softmax(q k) v; key(j, d) and value(j, d) give the positions. */
template <class Q, class K, class V>
static double expected(int length, int headdim, int d, const Q &query, const K &key, const V &value)
{
    std::vector<double> score((size_t)length);
    double most = -INFINITY, sum = 0, out = 0;

    for (int j = 0; j < length; j++) {
        for (int x = 0; x < headdim; x++)
            score[(size_t)j] += query(x) * key(j, x) / sqrt((double)headdim);
        most = fmax(most, score[(size_t)j]);
    }
    for (int j = 0; j < length; j++) {
        double weight = exp(score[(size_t)j] - most);
        sum += weight;
        out += weight * value(j, d);
    }
    return out / sum;
}

/* q, k and v apart from each other, pitches beyond the width, several sequences. */
template <class T>
static void check_prefill(attention_cuda_fn *attention, int seq, int headdim, int off, bool causal,
                          double tolerance)
{
    const int batch = 2, heads = 2, width = heads * headdim, ld = width + 8, ldo = width + 16;
    values<T> q(batch * seq * ld, off, 1), k(batch * seq * ld, off, 2), v(batch * seq * ld, off, 3);
    values<T> out(batch * seq * ldo, off, 4);
    std::vector<T> before = out.host;
    struct attention_cuda a = {
        .batch = batch,
        .seq = seq,
        .heads = heads,
        .headdim = headdim,
        .q = q.at,
        .k = k.at,
        .v = v.at,
        .ld = ld,
        .out = out.at,
        .ldo = ldo,
        .causal = causal,
        .sms = 1,
    };

    attention(&a, nullptr);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    out.read();
    for (int64_t i = 0; i < (int64_t)before.size(); i++) {
        int row = (int)(i / ldo), column = (int)(i % ldo), h = column / headdim;
        int64_t first = (int64_t)(row / seq) * seq * ld + h * headdim;
        if (column >= width) {
            assert_memory_equal(&out.host[(size_t)i], &before[(size_t)i], sizeof(T));
            continue;
        }
        double wanted = expected(
            causal ? row % seq + 1 : seq, headdim, column % headdim,
            [&](int x) { return q.get((int64_t)row * ld + h * headdim + x); },
            [&](int j, int x) { return k.get(first + (int64_t)j * ld + x); },
            [&](int j, int x) { return v.get(first + (int64_t)j * ld + x); });
        assert_true(fabs(out.get(i) - wanted) <= tolerance);
    }
}

TEST(views_lie_anywhere)
{
    for (int causal = 0; causal < 2; causal++) {
        check_prefill<float>(attention_prefill_cuda_naive, 37, 19, 1, causal != 0, 2e-5);
        check_prefill<float>(attention_prefill_cuda_flash, 37, 19, 1, causal != 0, 2e-5);
        check_prefill<float>(attention_prefill_cuda_flash, 70, 24, 0, causal != 0, 2e-5);
        check_prefill<bf16>(attention_prefill_cuda_flash_bf16, 70, 24, 0, causal != 0, 0.06);
        check_prefill<bf16>(attention_prefill_cuda_flash_bf16, 70, 24, 3, causal != 0, 0.06);
    }
}

/* ---- Decode with a new position ---- */

/* Sequences of `most` positions, of which `length` are seen, the last one new. */
template <class T> struct decode_case {
    const int batch = 2, heads = 3, most, length, headdim, width, ld, ldq;
    values<T> q, new_k, new_v, k, v, out;
    struct attention_cuda_decode a;

    decode_case(int length_, int headdim_, int off, int sms)
        : most(length_ + 2), length(length_), headdim(headdim_), width(heads * headdim),
          ld(width + 8), ldq(3 * width), q(batch * ldq, off, 1), new_k(batch * ldq, off, 2),
          new_v(batch * ldq, off, 3), k(batch * most * ld, off, 4), v(batch * most * ld, off, 5),
          out(batch * width, off, 6), a()
    {
        a.batch = batch, a.length = length, a.heads = heads, a.headdim = headdim;
        a.q = q.at, a.ldq = ldq, a.k = k.at, a.v = v.at, a.ld = ld, a.ld_sequence = most * ld;
        a.new_k = new_k.at, a.new_v = new_v.at, a.out = out.at, a.ldo = width, a.sms = sms;
        size_t bytes = attention_cuda_decode_workspace(batch, heads, headdim, most, sms);
        assert_int_equal(cudaMalloc(&a.workspace, bytes), cudaSuccess);
        assert_int_equal(cudaMemset(a.workspace, 0, bytes), cudaSuccess);
    }
    ~decode_case(void)
    {
        cudaFree(a.workspace);
    }
    int64_t cached(int b, int p, int column) const
    {
        return ((int64_t)b * most + p) * ld + column;
    }
    double wanted(int b, int column) const
    {
        int head = column / headdim * headdim;
        auto of = [&](const values<T> &cache, const values<T> &fresh, int p, int x) {
            return p == length - 1 ? fresh.get((int64_t)b * ldq + head + x)
                                   : cache.get(cached(b, p, head + x));
        };

        return expected(
            length, headdim, column - head,
            [&](int x) { return q.get((int64_t)b * ldq + head + x); },
            [&](int p, int x) { return of(k, new_k, p, x); },
            [&](int p, int x) { return of(v, new_v, p, x); });
    }
};

/* The caches are as before but for the new position, which they have now. */
template <class T>
static void check_cache(const decode_case<T> &c, const values<T> &cache, const values<T> &fresh,
                        const std::vector<T> &before)
{
    for (int64_t i = 0; i < (int64_t)before.size(); i++) {
        int b = (int)(i / c.ld / c.most), p = (int)(i / c.ld % c.most), column = (int)(i % c.ld);
        bool stored = p == c.length - 1 && column < c.width;
        const T &wanted = stored ? fresh.host[(size_t)(b * c.ldq + column)] : before[(size_t)i];
        assert_memory_equal(&cache.host[(size_t)i], &wanted, sizeof(T));
    }
}

/* Twice with one workspace: it must be ready again, and the second result the same to the bit. */
template <class T>
static void check_decode(attention_cuda_decode_fn *decode, int length, int headdim, int off,
                         int sms, double tolerance)
{
    decode_case<T> c(length, headdim, off, sms);
    std::vector<T> k = c.k.host, v = c.v.host, first;
    std::vector<double> wanted;

    for (int i = 0; i < c.batch * c.width; i++)
        wanted.push_back(c.wanted(i / c.width, i % c.width));
    decode(&c.a, nullptr);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    c.out.read(), c.k.read(), c.v.read();
    for (size_t i = 0; i < wanted.size(); i++)
        assert_true(fabs(c.out.get((int64_t)i) - wanted[i]) <= tolerance);
    check_cache(c, c.k, c.new_k, k);
    check_cache(c, c.v, c.new_v, v);
    first = c.out.host;
    c.a.new_k = c.a.new_v = nullptr; /* the caches have them now */
    assert_int_equal(cudaMemset(c.out.at, 0xff, c.out.bytes()), cudaSuccess);
    decode(&c.a, nullptr);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    c.out.read();
    assert_memory_equal(c.out.host.data(), first.data(), c.out.bytes());
}

TEST(a_new_position_is_used_and_kept)
{
    const int lengths[] = { 1, 2, 63, 64, 65, 129, 700 };

    for (int length : lengths)
        for (int sms = 1; sms <= 16; sms += 15) {
            check_decode<float>(attention_decode_cuda, length, 32, 0, sms, 1e-5);
            check_decode<float>(attention_decode_cuda, length, 13, 1, sms, 1e-5);
            check_decode<bf16>(attention_decode_cuda_bf16, length, 64, 0, sms, 0.02);
            check_decode<bf16>(attention_decode_cuda_bf16, length, 20, 3, sms, 0.02);
        }
}

RUN_TESTS(NULL, NULL)
