/* SPDX-License-Identifier: MIT */
/* Index maths of the CUDA kernels, for all values: swizzles, fragment layouts, the order of tiles,
 * slices of K, stages. No kernel runs here. Features: U-02. */
#include "kernels/cuda/mma.h"
#include "kernels/cuda/swizzle.h"
#include "kernels/gemm/gemm_cuda_maps.h"
#include "kernels/gemm/gemm_cuda_tile.h"

extern "C" {
#include "testing.h"
}

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

static void swizzles_are_bijections_within_a_row(void **test_state)
{
    (void)test_state;
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

static void eight_rows_fall_on_different_banks(void **test_state)
{
    (void)test_state;
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

static void fragments_cover_their_matrix_once(void **test_state)
{
    (void)test_state;
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

static void ldmatrix_fills_fragments(void **test_state)
{
    (void)test_state;
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

static void lanes_stand_on_a_grid(void **test_state)
{
    (void)test_state;
    std::set<int> seen;

    for (int lane = 0; lane < 32; lane++) {
        gemm_lane_at at = gemm_simt_lane(lane);
        assert_in_range(at.row, 0, 3);
        assert_in_range(at.col, 0, 7);
        seen.insert(at.row * 8 + at.col);
    }
    assert_int_equal(seen.size(), 32);
}

static void short_cut_finds_the_swizzled_place(void **test_state)
{
    (void)test_state;
    for (int first = 0; first < 128; first++)
        for (int lanes = 4; lanes <= 8; lanes += 4)
            for (int i = 0; i < 16; i++)
                for (int piece = 0; piece < 4; piece++)
                    assert_int_equal(gemm_simt_bytes(first, lanes, i, piece),
                                     cuda_swizzled_bytes<4>(first + lanes * i, piece));
}

/* Lanes that read the same place share it; different places of any 8 lanes in a row, and of the
 * whole warp, are on different banks. */
static void check_simt_banks(bool rows, int i, int piece)
{
    std::set<int> places, groups;

    for (int lane = 0; lane < 32; lane++) {
        gemm_lane_at at = gemm_simt_lane(lane);
        int bytes = rows ? gemm_simt_bytes(32 + at.row, 4, i, piece)
                         : gemm_simt_bytes(64 + at.col, 8, i, piece);
        places.insert(bytes);
        groups.insert(bank_group(bytes));
    }
    assert_int_equal(places.size(), rows ? 4 : 8);
    assert_int_equal(groups.size(), places.size());
}

static void simt_reads_fall_on_different_banks(void **test_state)
{
    (void)test_state;
    for (int i = 0; i < 16; i++)
        for (int piece = 0; piece < 4; piece++) {
            check_simt_banks(true, i, piece);
            check_simt_banks(false, i, piece);
        }
}

/* On the way out: SIMT lanes write 4 rows x 8 floats, mma lanes 4 rows x 8 in pairs (half a warp).
 */
static void strips_are_written_without_conflicts(void **test_state)
{
    (void)test_state;
    const int pitches[] = { gemm_strip_pitch<32>, gemm_strip_pitch<64>, gemm_strip_pitch<128> };

    for (int pitch : pitches) {
        std::set<int> simt, mma;
        assert_int_equal(pitch % 4, 0); /* read back 16 bytes at a time */
        for (int lane = 0; lane < 32; lane++) {
            gemm_lane_at at = gemm_simt_lane(lane);
            simt.insert((at.row * pitch + at.col) % 32);
        }
        for (int lane = 0; lane < 16; lane++)
            for (int e = 0; e < 2; e++)
                mma.insert((mma_c(lane, e).row * pitch + mma_c(lane, e).col) % 32);
        assert_int_equal(simt.size(), 32);
        assert_int_equal(mma.size(), 32);
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

static void tiles_come_once_and_in_bands(void **test_state)
{
    (void)test_state;
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

static void slices_cover_the_steps(void **test_state)
{
    (void)test_state;
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

static void stages_go_round(void **test_state)
{
    (void)test_state;
    check_ring<1>();
    check_ring<2>();
    check_ring<3>();
    check_ring<4>();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swizzles_are_bijections_within_a_row),
        cmocka_unit_test(eight_rows_fall_on_different_banks),
        cmocka_unit_test(fragments_cover_their_matrix_once),
        cmocka_unit_test(ldmatrix_fills_fragments),
        cmocka_unit_test(lanes_stand_on_a_grid),
        cmocka_unit_test(short_cut_finds_the_swizzled_place),
        cmocka_unit_test(simt_reads_fall_on_different_banks),
        cmocka_unit_test(strips_are_written_without_conflicts),
        cmocka_unit_test(tiles_come_once_and_in_bands),
        cmocka_unit_test(slices_cover_the_steps),
        cmocka_unit_test(stages_go_round),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
