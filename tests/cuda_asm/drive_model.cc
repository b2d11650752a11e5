/* SPDX-License-Identifier: MIT */
/*
 * The model itself (hopper.h, tests/cuda_host): each rule broken once by a kernel that does nothing
 * else wrong, which is refused in the rule's own words or has wrong numbers, and the twin that
 * keeps it, which is not. A mistake that depends on the order of threads is to show by one of the
 * seeds; what is right is right by all of them.
 */
#include "drive_model_barriers.h"
#include "drive_model_copies.h"
#include "drive_model_products.h"

#include <functional>
#include <string>
#include <unistd.h>

enum { SEEDS = 8 };

static const struct model_rule rules[] = {
    model_rule_of<an_arrival_too_many>(),
    model_rule_of<an_arrival_too_few>(),
    model_rule_of<bytes_that_do_not_come>(),
    model_rule_of<parity_of_the_phase_before>(),
    model_rule_of<parity_of_the_phase_to_come>(),
    model_rule_of<barrier_without_init>(),
    model_rule_of<barrier_that_is_not_published>(),
    model_rule_of<named_barrier_half_met>(),
    model_rule_of<named_barrier_of_two_sizes>(),
    model_rule_of<store_without_a_fence>(),
    model_rule_of<store_without_a_meeting>(),
    model_rule_of<fence_for_others_behind_a_meeting<OF_BLOCK>>(),
    model_rule_of<fence_for_others_behind_a_meeting<OF_MBARRIER>>(),
    model_rule_of<fence_for_others_behind_a_meeting<OF_NAMED>>(),
    model_rule_of<fence_for_others_behind_a_meeting<OF_CLUSTER>>(),
    model_rule_of<row_that_is_read_early>(),
    model_rule_of<box_that_is_read_early>(),
    model_rule_of<copy_that_nobody_waits_for>(),
    model_rule_of<store_that_nobody_waits_for>(),
    model_rule_of<row_used_again_while_it_is_stored>(),
    model_rule_of<copy_of_half_a_piece>(),
    model_rule_of<copy_to_a_place_between_pieces>(),
    model_rule_of<copy_beyond_shared_memory>(),
    model_rule_of<swizzled_box_between_groups>(),
    model_rule_of<box_of_another_rank>(),
    model_rule_of<map_of_nothing>(),
    model_rule_of<box_to_no_block>(),
    model_rule_of<block_that_leaves_early>(),
    model_rule_of<cluster_barrier_half_met>(),
    model_rule_of<lane_that_is_not_in_step>(),
    model_rule_of<arrival_at_what_is_not_published>(),
    model_rule_of<wait_of_too_small_a_scope>(),
    model_rule_of<copy_there_without_a_fence>(),
    model_rule_of<read_of_the_kernel_in_front>(),
    model_rule_of<factors_without_a_fence>(),
    model_rule_of<registers_without_a_fence>(),
    model_rule_of<sums_that_are_read_early>(),
    model_rule_of<sums_that_no_statement_keeps>(),
    model_rule_of<product_that_nobody_waits_for>(),
    model_rule_of<factors_used_again_while_they_are_read>(),
    model_rule_of<registers_written_while_they_are_read>(),
    model_rule_of<warp_that_stays_away>(),
    model_rule_of<descriptor_without_swizzle>(),
    model_rule_of<factor_beyond_shared_memory>(),
    model_rule_of<registers_in_no_eights>(),
    model_rule_of<registers_that_nobody_gives_up>(),
};

/* What `f` writes on stderr. */
static std::string said_by(const std::function<void(void)> &f)
{
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    std::string said;

    if (file == nullptr || before < 0)
        abort();
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    f();
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    for (int c; (c = fgetc(file)) != EOF;)
        said += (char)c;
    fclose(file);
    return said;
}

/* ---- Kernels ---- */

static struct tma_matrix matrix_of(const float *data)
{
    return { TMA_FP32, data, MODEL_ROWS, MODEL_COLS, MODEL_COLS, 8, MODEL_COLS, true };
}

__global__ void write_ones(float *to, int nr)
{
    for (int i = (int)threadIdx.x; i < nr; i += (int)blockDim.x)
        to[i] = 1;
}

/* Whether the numbers of one run are right; what it says goes to stderr. */
static bool run(const struct model_rule &r, bool right)
{
    constexpr int nr = MODEL_ROWS * MODEL_COLS;
    drive_array<float> in(nr, 0), out(r.shape.threads * r.shape.blocks, 0);
    struct tma_matrix matrix = matrix_of(in.at);
    CUtensorMap map;

    if (tma_describe(&map, &matrix) != cudaSuccess)
        abort();
    cuda_host_dependents = r.shape.early;
    cuda_launch<write_ones>(1, 32, 0, nullptr, in.at, (int)nr);
    (right ? r.right : r.wrong)(in.at, out.at, map);
    cuda_host_dependents = false;
    bool ran = cudaDeviceSynchronize() == cudaSuccess && cudaGetLastError() == cudaSuccess;
    for (float x : out.host())
        ran = ran && x == 1;
    return ran;
}

/* A fresh driver each time: a refusal stays. */
static std::string run_with_seed(const struct model_rule &r, bool right, int seed, bool *ones)
{
    setenv("CUDA_HOST_SEED", std::to_string(seed).c_str(), 1);
    cuda_host_reset();
    std::string said = said_by([&] { *ones = run(r, right); });
    cuda_host_reset();
    return said;
}

static bool found(const struct model_rule &r, const std::string &said, bool ones)
{
    return r.words ? said.find(r.words) != std::string::npos : said.empty() && !ones;
}

static void verdict(const char *name, bool well, const char *what, const std::string &said)
{
    printf("%-50s %s%s%s\n", name, well ? "ok" : "WRONG: ", well ? "" : what,
           well ? "" : said.c_str());
    drive_wrong += !well;
}

static void check(const struct model_rule &r)
{
    std::string said, first;
    bool ones, shown = false;

    for (int seed = 1; seed <= SEEDS; seed++) {
        said = run_with_seed(r, true, seed, &ones);
        if (!ones || !said.empty())
            return verdict(r.name, false, "the right one is refused, or has no ones: ", said);
    }
    for (int seed = 1; seed <= SEEDS && !shown; seed++) {
        said = run_with_seed(r, false, seed, &ones);
        shown = found(r, said, ones);
    }
    verdict(r.name, shown, "the wrong one is not found; the last run said: ", said);
}

/* ---- Descriptions of tensors ---- */

/* What is wrong with a map is told where it is made. */
static void check_map(const char *words, const std::function<void(struct tma_matrix *)> &change)
{
    drive_array<float> data(MODEL_ROWS * 256, 1);
    struct tma_matrix matrix = matrix_of(data.at);
    cudaError_t rc = cudaSuccess;
    CUtensorMap map;

    change(&matrix);
    std::string said = said_by([&] { rc = tma_describe(&map, &matrix); });
    bool well = words ? rc == cudaErrorInvalidValue && said.find(words) != std::string::npos
                      : rc == cudaSuccess && said.empty();
    verdict(words ? words : "maps as large as they may be", well, "", said);
}

static void check_maps(void)
{
    check_map(nullptr, [](struct tma_matrix *) {});
    check_map(nullptr, [](struct tma_matrix *m) { m->box_rows = 256; });
    check_map(nullptr, [](struct tma_matrix *m) { m->cols = 31, m->box_cols = 4; });
    check_map("the tensor is not aligned to 16 bytes",
              [](struct tma_matrix *m) { m->data = static_cast<const float *>(m->data) + 1; });
    check_map("an extent is 0 or too large", [](struct tma_matrix *m) { m->rows = 0; });
    check_map("a box has 1 to 256 elements", [](struct tma_matrix *m) { m->box_rows = 257; });
    check_map("a pitch is no multiple of 16 bytes", [](struct tma_matrix *m) { m->ld = 33; });
    check_map("a row of the box is no multiple of 16 bytes",
              [](struct tma_matrix *m) { m->box_cols = 31; });
    check_map("a swizzled row of the box is more than 128 bytes",
              [](struct tma_matrix *m) { m->box_cols = 36; });
}

int main(void)
{
    for (const struct model_rule &r : rules)
        check(r);
    check_maps();
    return drive_wrong > 0;
}
