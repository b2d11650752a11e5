/* SPDX-License-Identifier: MIT */
/* attention/cuda_naive: what lies in shared memory while the threads of a block go on. */
/* The registry has this file's own. */
#define attention_prefill_cuda_naive drive_naive_prefill
#define attention_cuda_naive         drive_naive_variants
#include "kernels/attention/attention_cuda_naive.cu"

#include "drive_attend.h"

static void check(int batch, int seq, int heads, int d, bool causal)
{
    const drive_attend<float> attend(batch, seq, heads, d, causal);
    struct attention_cuda a = attend.arguments();
    char what[120];

    snprintf(what, sizeof(what), "naive %s, %dx%dx%d of %d", causal ? "causal" : "full", batch, seq,
             heads, d);
    drive_naive_prefill(&a, nullptr);
    if (drive_ran(what))
        attend.compare(what);
}

/* More keys than threads, and fewer; head dims below and above the threads of a block. */
int main(void)
{
    for (bool causal : { false, true }) {
        if (drive_goes_on())
            check(2, 139, 2, 20, causal);
        if (drive_goes_on())
            check(1, 30, 1, 140, causal);
    }
    return drive_end();
}
