/* SPDX-License-Identifier: MIT */
/* attention/cuda_flash_bf16: head dims of all tilings, with and without a mask, rows of any pitch.
 */
/* The registry has this file's own. */
#define attention_prefill_cuda_flash_bf16 drive_flash_prefill
#define attention_cuda_flash_bf16         drive_flash_variants
#include "kernels/attention/attention_cuda_flash_bf16.cu"

#include "drive_attend.h"

static void check(int batch, int seq, int heads, int d, bool causal, int sms)
{
    const struct drive_attend attend(batch, seq, heads, d, causal);
    struct attention_cuda a = attend.arguments();
    char what[120];

    a.sms = sms;
    snprintf(what, sizeof(what), "flash %s, %dx%dx%d of %d, %d SMs", causal ? "causal" : "full",
             batch, seq, heads, d, sms);
    drive_flash_prefill(&a, nullptr);
    if (drive_ran(what))
        attend.compare(what);
}

/* One SM has work for the large tiles, many for the small ones; a head dim of 20 is no whole piece.
 */
int main(void)
{
    for (int d : { 16, 20, 32, 64, 128 })
        for (int sms : { 1, 1000 })
            for (bool causal : { false, true })
                if (drive_goes_on())
                    check(1, 150, 2, d, causal, sms);
    return drive_end();
}
