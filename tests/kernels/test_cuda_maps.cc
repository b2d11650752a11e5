/* SPDX-License-Identifier: MIT */
/* Index maths of the CUDA kernels, for all values: swizzles, fragment layouts, the order of tiles,
 * slices of K, stages; the roundings of e4m3. No kernel runs here. Features: U-02. */
#include "kernels/cuda/fp8.h"
#include "kernels/cuda/mma.h"
#include "kernels/cuda/swizzle.h"
#include "kernels/gemm/gemm_cuda_maps.h"
#include "kernels/gemm/gemm_cuda_tile.h"
#include "kernels/gemm/gemm_cuda_wgmma_head_maps.h"
#include "models/gpt_cluster_layout.h"

extern "C" {
#include "testing.h"
}

#include <algorithm>
#include <set>
#include <vector>

/* Bank group (of 4 banks, 16 bytes) of a place in shared memory. */
static int bank_group(int bytes)
{
    assert_int_equal(bytes % 16, 0);
    return bytes / 16 % 8;
}

/* ---- Swizzles ---- */

template <int PIECES> static void check_swizzle_bijection(void)
{
    const int rows = 64;
    std::vector<int> seen((size_t)rows * PIECES);

    for (int row = 0; row < rows; row++)
        for (int piece = 0; piece < PIECES; piece++) {
            int place = cuda_swizzled_bytes<PIECES>(row, piece) / 16;
            assert_int_equal(place / PIECES, row);
            assert_int_equal(seen[(size_t)place]++, 0);
            assert_int_equal(cuda_swizzle<PIECES>(row, cuda_swizzle<PIECES>(row, piece)), piece);
        }
}

TEST(swizzles_are_bijections_within_a_row)
{
    check_swizzle_bijection<1>();
    check_swizzle_bijection<2>();
    check_swizzle_bijection<4>();
    check_swizzle_bijection<8>();
    check_swizzle_bijection<16>();
    check_swizzle_bijection<32>();
}

/* What one phase of ldmatrix reads: a piece of 8 rows. */
template <int PIECES> static void check_swizzle_banks(void)
{
    for (int first = 0; first < 64; first += 8)
        for (int piece = 0; piece < PIECES; piece++) {
            std::set<int> groups;
            for (int row = first; row < first + 8; row++)
                groups.insert(bank_group(cuda_swizzled_bytes<PIECES>(row, piece)));
            assert_int_equal(groups.size(), 8);
        }
}

TEST(eight_rows_fall_on_different_banks)
{
    check_swizzle_banks<1>();
    check_swizzle_banks<2>();
    check_swizzle_banks<4>();
    check_swizzle_banks<8>();
    check_swizzle_banks<16>();
    check_swizzle_banks<32>();
}

/* ---- Fragments ---- */

/* Each element of a rows x cols matrix is held once by the warp. */
static void check_cover(mma_at (*map)(int lane, int e), int elements, int rows, int cols)
{
    std::set<int> seen;

    for (int lane = 0; lane < 32; lane++)
        for (int e = 0; e < elements; e++) {
            mma_at at = map(lane, e);
            assert_in_range(at.row, 0, rows - 1);
            assert_in_range(at.col, 0, cols - 1);
            seen.insert(at.row * cols + at.col);
        }
    assert_int_equal(seen.size(), rows * cols);
    assert_int_equal(32 * elements, rows * cols);
}

TEST(fragments_cover_their_matrix_once)
{
    check_cover(mma_a16, 8, 16, 16);
    check_cover(mma_b16, 4, 16, 8);
    check_cover(mma_a8, 4, 16, 8);
    check_cover(mma_b8, 2, 8, 8);
    check_cover(mma_c, 4, 16, 8);
}

/* Element `half` of register j after ldmatrix, where lane l was pointed at row and 16-byte piece
 * at(l) of a tile: the row and the column, in elements of `bytes` bytes. */
static mma_at loaded(gemm_piece_at (*at)(int lane), int lane, int j, int half, int bytes)
{
    gemm_piece_at from = at(8 * j + lane / 4);
    int of_piece = bytes == 2 ? 2 * (lane % 4) + half : lane % 4;

    return { from.row, from.piece * (16 / bytes) + of_piece };
}

static void check_same(mma_at a, mma_at b)
{
    assert_int_equal(a.row, b.row);
    assert_int_equal(a.col, b.col);
}

/* B lies as rows of n: row and column are exchanged. Registers 2 and 3 are 8 columns on. */
static void check_same_b(mma_at loaded_at, mma_at fragment, int j)
{
    check_same({ loaded_at.col, loaded_at.row - j / 2 * 8 }, fragment);
}

TEST(ldmatrix_fills_fragments)
{
    for (int lane = 0; lane < 32; lane++)
        for (int j = 0; j < 4; j++) {
            for (int half = 0; half < 2; half++) {
                check_same(loaded(gemm_load_a, lane, j, half, 2), mma_a16(lane, 2 * j + half));
                check_same_b(loaded(gemm_load_b, lane, j, half, 2),
                             mma_b16(lane, 2 * (j % 2) + half), j);
            }
            check_same(loaded(gemm_load_a, lane, j, 0, 4), mma_a8(lane, j));
            check_same_b(loaded(gemm_load_b, lane, j, 0, 4), mma_b8(lane, j % 2), j);
        }
}

/* ---- The SIMT kernel ---- */

TEST(lanes_stand_on_a_grid)
{
    std::set<int> seen;

    for (int lane = 0; lane < 32; lane++) {
        gemm_lane_at at = gemm_simt_lane(lane);
        assert_in_range(at.row, 0, 3);
        assert_in_range(at.col, 0, 7);
        seen.insert(at.row * 8 + at.col);
    }
    assert_int_equal(seen.size(), 32);
}

/* Vectors of four floats of a k: lanes that read the same place share it, different places of the
 * whole warp are on different banks; whichever k, and wherever the warp starts. */
static void check_simt_banks(bool rows, int first, int k)
{
    std::set<int> places, groups;

    for (int lane = 0; lane < 32; lane++) {
        gemm_lane_at at = gemm_simt_lane(lane);
        int floats = k * gemm_simt_pitch(128) + first + 4 * (rows ? at.row : at.col);
        assert_int_equal(floats % 4, 0);
        places.insert(floats);
        groups.insert(bank_group(4 * floats));
    }
    assert_int_equal(places.size(), rows ? 4 : 8);
    assert_int_equal(groups.size(), places.size());
}

TEST(simt_reads_fall_on_different_banks)
{
    for (int first = 0; first < 128; first += 16)
        for (int k = 0; k < 16; k++) {
            check_simt_banks(true, first, k);
            check_simt_banks(false, first, k);
        }
}

/* Copies that turn a tile: a warp's lanes write to 32 banks, and all lanes each place once, within
 * the four rows that are read at once. */
static void check_turned(int lanes, int rows, int depth)
{
    std::set<int> places;

    for (int row = 0; row < rows; row += 32 / lanes)
        for (int k = 0; k < depth; k += lanes) {
            std::set<int> banks;
            for (int lane = 0; lane < 32; lane++) {
                int r = row + lane / lanes, p = k + lane % lanes;
                int at = gemm_simt_place(lanes, rows, r, p);
                banks.insert(at % 32);
                places.insert(at);
                assert_int_equal(at / 4, (p * gemm_simt_pitch(rows) + r) / 4);
            }
            assert_int_equal(banks.size(), 32);
        }
    assert_int_equal(places.size(), rows * depth);
}

TEST(turned_tiles_are_written_without_conflicts)
{
    for (int lanes = 8; lanes <= 16; lanes *= 2)
        for (int rows = 32; rows <= 256; rows *= 2)
            check_turned(lanes, rows, 32);
}

/* The most words that lanes [0, lanes) ask of one bank at a time: as many passes it takes. */
template <class PLACE> static size_t passes(int lanes, int size, const PLACE &place)
{
    std::vector<std::set<int>> words(32);
    size_t most = 0;

    for (int lane = 0; lane < lanes; lane++)
        for (int at = place(lane), end = at + size; at < end; at++)
            words[(size_t)(at / 4 % 32)].insert(at / 4);
    for (const std::set<int> &bank : words)
        most = std::max(most, bank.size());
    return most;
}

/* On the way out mma lanes write 4 rows x 8 floats in pairs (half a warp). SIMT lanes write vectors
 * of four (8 lanes at a time), their rows four apart, as all that a lane has of a row lies in four
 * rows: two of them fall on the same banks, and each float by itself (gemm/nn) takes four passes.
 * tests/cuda_asm/banks.txt has found it; the kernel is as a device has verified it. */
TEST(strips_are_written_with_the_conflicts_that_are_known)
{
    const int pitches[] = { gemm_strip_pitch<32>, gemm_strip_pitch<64>, gemm_strip_pitch<128> };

    for (int pitch : pitches) {
        auto mma = [=](int lane) { return 4 * (mma_c(lane, 0).row * pitch + mma_c(lane, 0).col); };
        auto simt = [=](int lane) {
            return 16 * (gemm_simt_lane(lane).row * pitch + gemm_simt_lane(lane).col);
        };
        assert_int_equal(pitch % 4, 0); /* read back 16 bytes at a time */
        assert_int_equal(passes(16, 8, mma), 1);
        assert_int_equal(passes(8, 16, simt), 2);
        assert_int_equal(passes(32, 4, simt), 4);
    }
}

/* On the way out of wgmma (gemm_cuda_wgmma_out.h): a lane's pair of row lane / 4 and columns
 * 2 (lane % 4), in boxes and in strips of 16 bytes more than 128 or 256, in which a row is shifted
 * as y's is. The places are said again here, as that header holds asm of the device. That floats
 * take two passes where one would do was found by this count; the kernel is as a device has
 * verified it. */
TEST(ways_out_of_wgmma_have_the_conflicts_that_are_known)
{
    assert_int_equal(passes(16, 8,
                            [](int lane) {
                                return cuda_swizzled_bytes<8>(lane / 4, lane % 4 / 2) +
                                       lane % 2 * 8;
                            }),
                     2);
    for (int pitch : { 144, 272 })
        for (int size : { 2, 4 })
            for (int64_t ldy = 1; ldy <= 16; ldy++) {
                auto strip = [=](int lane) {
                    int row = lane / 4, shift = (int)(row * ldy * size & 15);
                    return row * pitch + shift + lane % 4 * 2 * size;
                };
                bool even = ldy * size % 16 == 0;
                assert_true(passes(32, size, strip) <= 2);
                if (even)
                    assert_int_equal(passes(32, size, strip), size == 2 ? 1 : 2);
            }
}

/* ---- Tiles, slices, stages ---- */

/* Every tile once; and within a band, `band` tiles in a row share their column. */
static void check_tiles(int tiles_m, int tiles_n, int band)
{
    std::set<int> seen;
    int height = band < tiles_m ? band : tiles_m;

    for (int i = 0; i < tiles_m * tiles_n; i++) {
        gemm_tile_at at = gemm_tile_order(i, tiles_m, tiles_n, band);
        assert_in_range(at.row, 0, tiles_m - 1);
        assert_in_range(at.col, 0, tiles_n - 1);
        assert_int_equal(at.row / height, i / (height * tiles_n));
        seen.insert(at.row * tiles_n + at.col);
    }
    assert_int_equal(seen.size(), tiles_m * tiles_n);
}

TEST(tiles_come_once_and_in_bands)
{
    for (int tiles_m = 1; tiles_m <= 20; tiles_m++)
        for (int tiles_n = 1; tiles_n <= 20; tiles_n++)
            for (int band = 1; band <= 17; band += 4)
                check_tiles(tiles_m, tiles_n, band);
    /* The last of very many. */
    gemm_tile_at last = gemm_tile_order(46340 * 46340 - 1, 46340, 46340, GEMM_BAND);
    assert_int_equal(last.row, 46339);
    assert_int_equal(last.col, 46339);
    last = gemm_tile_order(2147483646, 1, 2147483647, GEMM_BAND);
    assert_int_equal(last.row, 0);
    assert_int_equal(last.col, 2147483646);
}

TEST(slices_cover_the_steps)
{
    for (int steps = 1; steps <= 100; steps++)
        for (int split = 1; split <= steps && split <= 40; split++) {
            assert_int_equal(gemm_slice_start(0, split, steps), 0);
            assert_int_equal(gemm_slice_start(split, split, steps), steps);
            for (int i = 0; i < split; i++) {
                int length =
                    gemm_slice_start(i + 1, split, steps) - gemm_slice_start(i, split, steps);
                assert_in_range(length, steps / split, (steps + split - 1) / split);
                assert_true(length > 0);
            }
        }
    assert_int_equal(gemm_slice_start(31, 32, 2000000000), 1937500000);
}

template <int STAGES> static void check_ring(void)
{
    int stage = 0;

    for (int step = 0; step < 5 * STAGES; step++) {
        assert_int_equal(stage, step % STAGES);
        stage = gemm_next_stage<STAGES>(stage);
    }
}

TEST(stages_go_round)
{
    check_ring<1>();
    check_ring<2>();
    check_ring<3>();
    check_ring<4>();
}

/* Rows of any length and alignment: every byte once, nothing beside them. */
TEST(rows_are_stored_once)
{
    for (int size = 2; size <= 4; size += 2)
        for (int begin = 0; begin < 16; begin += size)
            for (int bytes = size; bytes <= 256; bytes += size) {
                std::vector<int> stored(16 + 256 + 32);
                for (int lane = 0; lane < 16; lane++) {
                    gemm_row_part p = gemm_row_part_of(lane, begin, bytes, size);
                    for (int i = 0; p.piece >= 0 && i < 16; i++)
                        stored[(size_t)(p.piece + i)]++;
                    for (int i = 0; p.element >= 0 && i < size; i++)
                        stored[(size_t)(p.element + i)]++;
                    assert_true(p.piece < 0 || p.piece % 16 == 0);
                }
                for (int i = 0; i < (int)stored.size(); i++)
                    assert_int_equal(stored[(size_t)i], i >= begin && i < begin + bytes);
            }
}

/* Each row tile of each head is one block's, which rank_of() names. */
template <class P> static void check_cluster(void)
{
    int owners[P::heads * GPT_CLUSTER_TILES] = {};

    for (int rank = 0; rank < P::heads * P::parts; rank++)
        for (int i = 0; i < P::tiles; i++) {
            int which = rank / P::parts;
            int tile = gpt_cluster_tile(P::parts, rank % P::parts, i);
            owners[which * GPT_CLUSTER_TILES + tile]++;
            assert_int_equal(P::rank_of(which, tile), rank);
        }
    for (int n : owners)
        assert_int_equal(n, 1);
    size_t at = 0;
    for (int layer = 0; layer < 2; layer++)
        for (int rank = 0; rank < P::blocks; rank++)
            for (int section = 0; section < P::sections; section++) {
                assert_int_equal(P::section_at(layer, rank, section), at);
                assert_true(P::section_bytes(section) <= P::slot_bytes);
                at += P::section_bytes(section);
            }
}

/* Warps cover each tile of a product once. */
static void check_divided(int tiles, int pairs, int warps)
{
    gpt_cluster_warps w = gpt_cluster_divide(tiles, pairs, warps);
    std::vector<int> times((size_t)(tiles * pairs), 0);

    assert_int_equal(w.down * w.along, warps);
    for (int warp = 0; warp < warps; warp++)
        for (int i = 0; i < w.high; i++)
            for (int j = 0; j < w.wide; j++) {
                int tile = warp % w.down * w.high + i, pair = warp / w.down + j * w.along;
                if (pair < pairs)
                    times[(size_t)(tile * pairs + pair)]++;
            }
    for (int n : times)
        assert_int_equal(n, 1);
}

TEST(clusters_divide_all_work)
{
    check_cluster<gpt_cluster<48, 16, 8, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<64, 16, 8, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<128, 32, 8, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<192, 32, 8, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<256, 32, 8, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<48, 16, 16, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<64, 16, 16, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<128, 32, 16, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<192, 32, 16, 8, GPT_CLUSTER_STORE>>();
    check_cluster<gpt_cluster<256, 32, 16, 8, GPT_CLUSTER_STORE>>();
    for (int tiles = 1; tiles <= 4; tiles *= 2)
        for (int pairs = 1; pairs <= 16; pairs++)
            for (int warps = 4; warps <= 8; warps *= 2)
                check_divided(tiles, pairs, warps);
}

/* ---- The head ---- */

/* Each column of a row is written once; pieces are whole, and lie aligned in memory and in the
 * staging row; the products of the tile cover what the row owns of it. */
static void check_head_row(int start, int64_t row, int64_t ld, int n)
{
    int shift = head_shift(start, row, ld);
    std::vector<int> seen((size_t)n);

    assert_in_range(shift, 0, HEAD_SECTOR - 1);
    assert_int_equal((start + row * ld + shift) % HEAD_SECTOR, 0);
    for (int tile = 0; tile < head_tiles(n); tile++) {
        head_part part = head_part_of(tile, shift, n);
        assert_in_range(part.pieces, 0, HEAD_ADVANCE / HEAD_PIECE);
        assert_int_equal((start + row * ld + part.first) % HEAD_SECTOR, 0);
        assert_int_equal(head_place(part.first - tile * HEAD_ADVANCE, shift), HEAD_SECTOR);
        for (int col = 0; col < part.before; col++)
            seen[(size_t)col]++;
        for (int col = part.first; col < part.end; col++) {
            assert_in_range(col, 0, n - 1);
            assert_in_range(col - tile * HEAD_ADVANCE, 0, HEAD_COLS - 1);
            seen[(size_t)col]++;
        }
        if (part.end > part.first)
            assert_in_range(part.end - part.first - part.pieces * HEAD_PIECE, 0, HEAD_PIECE - 1);
    }
    for (int times : seen)
        assert_int_equal(times, 1);
}

TEST(head_writes_each_logit_once)
{
    static const int columns[] = { 1, 7, 8, 15, 16, 191, 192, 193, 207, 208, 255, 256, 257, 1003 };

    for (int start = 0; start < HEAD_SECTOR; start++)
        for (int row = 0; row < 2 * HEAD_SECTOR; row++) {
            for (int n : columns)
                check_head_row(start, row, n + row % 3, n);
            if (row < 17 && start < 3)
                check_head_row(start, 1000000007ll + row, 50257, 50257);
        }
}

/* Pairs of columns are written whole, within their row, for every shift. */
TEST(head_pairs_lie_within_their_row)
{
    assert_int_equal(HEAD_PITCH % 32, 16);
    for (int shift = 0; shift < HEAD_SECTOR; shift++) {
        int first = head_place(shift % 2, shift), last = first + HEAD_COLS - 2;
        assert_int_equal(first % 2, 0);
        assert_in_range(head_place(0, shift), 1, HEAD_SECTOR);
        assert_in_range(2 * (last + 2), 0, HEAD_PITCH);
    }
}

/* ---- Numbers of 8 bits ---- */

/* Each is itself, and the middle of two goes to the even one, a little beside it to the nearer one.
 */
TEST(e4m3_rounds_to_nearest_even)
{
    enum { LARGEST = 0x7e };

    for (uint32_t bits = 0; bits <= LARGEST; bits++) {
        float x = cuda_e4m3_float((uint8_t)bits);
        assert_int_equal(cuda_e4m3x2(x, -x), bits | (bits | 0x80u) << 8);
        if (bits == LARGEST)
            continue;
        float middle = (x + cuda_e4m3_float((uint8_t)(bits + 1))) / 2;
        assert_int_equal(cuda_e4m3x2(middle, nextafterf(middle, 0)), bits + bits % 2 + (bits << 8));
        assert_int_equal(cuda_e4m3x2(nextafterf(middle, 1000), 0), bits + 1);
    }
    assert_close(cuda_e4m3_float(LARGEST), CUDA_E4M3_MAX, 0);
    assert_close(cuda_e4m3_float(1), 0x1p-9, 0);
    assert_int_equal(cuda_e4m3x2(1e9f, -INFINITY), LARGEST | (LARGEST | 0x80u) << 8);
    assert_int_equal(cuda_e4m3x2(NAN, 0) & 0x7fu, 0x7f);
    assert_int_equal(cuda_e4m3x4(1, 2, 3, 4), 0x48444038);
}

RUN_TESTS(NULL, NULL)
