/* SPDX-License-Identifier: MIT */
/* attention/cuda_wgmma_bf16 and cuda_wgmma_fp8: tilings, with and without a mask, a queue, ends. */
#include "kernels/attention/attention_cuda_fp8_round.h"
#include "kernels/attention/attention_cuda_wgmma.h"

#include "drive_attend.h"

struct shape_case {
    int batch, seq, heads;
    unsigned blocks; /* SMs */
    bool queue;
};

template <class TILING> static void check_tiling(const char *name, const struct shape_case &c)
{
    const drive_attend<bf16> attend(c.batch, c.seq, c.heads, TILING::D, TILING::CAUSAL);
    struct attention_cuda a = attend.arguments();
    unsigned *queue, left = 0;
    size_t bytes = 64;
    char what[120];

    if (TILING::FP8)
        bytes = attention_fp8_places_of(c.batch, c.seq, c.heads, TILING::D).all;
    if (cudaMalloc(&queue, bytes) != cudaSuccess || cudaMemset(queue, 0, 64) != cudaSuccess)
        abort();
    a.sms = (int)c.blocks, a.workspace = queue;
    snprintf(what, sizeof(what), "%s %s, %dx%dx%d, %u blocks%s", name,
             TILING::CAUSAL ? "causal" : "full", c.batch, c.seq, c.heads, c.blocks,
             c.queue ? ", queue" : "");
    if (TILING::FP8)
        attention_fp8_round_all(&a, nullptr);
    attention_wgmma_launch<TILING>(&a, { SQUARE, c.queue }, c.blocks, nullptr);
    bool ran = drive_ran(what);
    cudaMemcpy(&left, queue, sizeof(left), cudaMemcpyDeviceToHost);
    cudaFree(queue);
    if (!ran)
        return;
    attend.compare(what, TILING::FP8);
    if (left != 0) {
        printf("the queue is left at %u: WRONG\n", left);
        drive_wrong++;
    }
}

template <int D, bool CAUSAL, attention_wgmma_knobs KNOBS>
static void check(const char *name, const struct shape_case &c)
{
    check_tiling<attention_wgmma_tiling<D, CAUSAL, KNOBS>>(name, c);
}

template <int D, bool CAUSAL> static void check_bytes(const struct shape_case &c)
{
    constexpr attention_wgmma_knobs knobs = D == 64 ? ATTENTION_BYTES_NARROW : ATTENTION_BYTES;

    check_tiling<attention_fp8_tiling<D, CAUSAL, knobs>>(D == 64 ? "e4m3 of 64" : "e4m3", c);
}

int main(void)
{
#if defined(DRIVE_SMALL)
    const struct shape_case ends = { 2, 200, 1, 1, false };
#else
    const struct shape_case ends = { 2, 300, 1, 2, false };
#endif
    const struct shape_case queued = { 1, 200, 3, 2, true };
    const struct shape_case one_tile = { 1, 100, 1, 1, false };
#if defined(DRIVE_BYTES)
    check_bytes<128, true>(ends);
    if (drive_goes_on())
        check_bytes<64, true>(queued);
    if (drive_goes_on())
        check_bytes<64, false>(ends);
    if (drive_goes_on()) /* tasks of more tiles than stages; and no registers are handed over */
        check_tiling<attention_fp8_tiling<128, true, ATTENTION_SHORT>>("e4m3 short",
                                                                       { 1, 300, 1, 3, false });
#if !defined(DRIVE_SMALL)
    check_bytes<128, true>(queued);
    check_bytes<128, false>(ends);
    check_bytes<128, false>(one_tile);
    check_bytes<128, true>({ 2, 9, 2, 3, false });
    check_bytes<64, true>(ends);
    check_bytes<64, false>({ 2, 300, 2, 3, false });
    check_bytes<64, false>(one_tile);
    check_bytes<64, true>({ 2, 9, 3, 3, false });
#endif
#else
    check<128, true, ATTENTION_SQUARE>("square", ends);
    if (drive_goes_on())
        check<128, true, ATTENTION_SQUARE>("square", one_tile);
    if (drive_goes_on())
        check<64, false, ATTENTION_NARROW>("narrow", ends);
    if (drive_goes_on())
        check<64, false, ATTENTION_NARROW>("narrow", queued);
    if (drive_goes_on())
        check<128, true, ATTENTION_SHORT>("short", one_tile);
#if !defined(DRIVE_SMALL)
    check<128, true, ATTENTION_LONG>("long", ends);
    check<128, true, ATTENTION_LONG>("long", queued);
    check<128, false, ATTENTION_TALL>("tall", ends);
    check<128, true, ATTENTION_SHORT>("short", ends);
    check<64, true, ATTENTION_NARROW>("narrow", queued);
#endif
#endif
    return drive_end();
}
