/* SPDX-License-Identifier: MIT */
/* attention/cuda_wgmma_bf16: its tilings, with and without a mask, a queue and ends. */
#include "kernels/attention/attention_cuda_wgmma.h"

#include "drive_attend.h"

struct shape_case {
    int batch, seq, heads;
    unsigned blocks; /* SMs */
    bool queue;
};

template <int D, bool CAUSAL, attention_wgmma_knobs KNOBS>
static void check(const char *name, const struct shape_case &c)
{
    using tiling = attention_wgmma_tiling<D, CAUSAL, KNOBS>;
    const struct drive_attend attend(c.batch, c.seq, c.heads, D, CAUSAL);
    struct attention_cuda a = attend.arguments();
    unsigned *queue, left = 0;
    char what[120];

    if (cudaMalloc(&queue, 64) != cudaSuccess || cudaMemset(queue, 0, 64) != cudaSuccess)
        abort();
    a.sms = (int)c.blocks, a.workspace = queue;
    snprintf(what, sizeof(what), "%s %s, %dx%dx%d, %u blocks%s", name, CAUSAL ? "causal" : "full",
             c.batch, c.seq, c.heads, c.blocks, c.queue ? ", queue" : "");
    attention_wgmma_launch<tiling>(&a, { SQUARE, c.queue }, c.blocks, nullptr);
    bool ran = drive_ran(what);
    cudaMemcpy(&left, queue, sizeof(left), cudaMemcpyDeviceToHost);
    cudaFree(queue);
    if (!ran)
        return;
    attend.compare(what);
    if (left != 0) {
        printf("the queue is left at %u: WRONG\n", left);
        drive_wrong++;
    }
}

int main(void)
{
    const struct shape_case ends = { 2, 300, 1, 2, false }, queued = { 1, 200, 3, 2, true };
    const struct shape_case one_tile = { 1, 100, 1, 1, false };

    check<128, true, ATTENTION_SQUARE>("square", ends);
    if (drive_goes_on())
        check<128, true, ATTENTION_SQUARE>("square", one_tile);
    if (drive_goes_on())
        check<64, false, ATTENTION_NARROW>("narrow", ends);
    if (drive_goes_on())
        check<64, false, ATTENTION_NARROW>("narrow", queued);
#if !defined(DRIVE_SMALL)
    check<128, true, ATTENTION_LONG>("long", ends);
    check<128, true, ATTENTION_LONG>("long", queued);
    check<128, false, ATTENTION_TALL>("tall", ends);
    check<128, true, ATTENTION_SHORT>("short", ends);
    check<64, true, ATTENTION_NARROW>("narrow", queued);
#endif
    return drive_end();
}
