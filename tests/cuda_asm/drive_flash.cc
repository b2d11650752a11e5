/* SPDX-License-Identifier: MIT */
/* attention/cuda_flash_bf16 and, with DRIVE_FLOATS, cuda_flash: head dims of all tilings, with and
 * without a mask, rows of any pitch. */
/* The registry has this file's own. */
#ifdef DRIVE_FLOATS
#define attention_prefill_cuda_flash drive_flash_prefill
#define attention_cuda_flash         drive_flash_variants
#include "kernels/attention/attention_cuda_flash.cu"
using number = float;
#else
#define attention_prefill_cuda_flash_bf16 drive_flash_prefill
#define attention_cuda_flash_bf16         drive_flash_variants
#include "kernels/attention/attention_cuda_flash_bf16.cu"
using number = bf16;
#endif

#include "drive_attend.h"

static void check(int batch, int seq, int heads, int d, bool causal, int sms)
{
    const drive_attend<number> attend(batch, seq, heads, d, causal);
    struct attention_cuda a = attend.arguments();
    char what[120];

    a.sms = sms;
    snprintf(what, sizeof(what), "flash %s, %dx%dx%d of %d, %d SMs", causal ? "causal" : "full",
             batch, seq, heads, d, sms);
    drive_flash_prefill(&a, nullptr);
    if (drive_ran(what))
        attend.compare(what);
}

/* Two attentions, of which the second takes what the first makes for its queries; it is to start
 * early. */
static void check_chain(void)
{
    const drive_attend<number> first(1, 70, 2, 32, true), second(1, 70, 2, 32, true);
    struct attention_cuda a[2] = { first.arguments(), second.arguments() };

    a[1].q = first.out.at;
    a[0].sms = a[1].sms = 1000, a[0].early = a[1].early = true;
    if (!drive_chain("dependent attentions", [&](int i) { drive_flash_prefill(&a[i], nullptr); }))
        return;
    first.compare("the first of two attentions");
    cudaMemcpy(second.q.at, first.out.at, first.nr() * sizeof(number), cudaMemcpyDeviceToDevice);
    second.compare("the second of two attentions");
}

#if defined(DRIVE_SMALL) && defined(DRIVE_FLOATS) /* pieces whole and not; ends */
static const int headdims[] = { 18, 20, 128 };
enum { SEQ = 140 };
#elif defined(DRIVE_SMALL) /* fragments of Q that are held and that are not; ends */
static const int headdims[] = { 20, 128 };
enum { SEQ = 140 };
#else
static const int headdims[] = { 16, 18, 20, 32, 64, 128 };
enum { SEQ = 150 };
#endif

/* One SM has work for the large tiles, many for the small ones; head dims of 18 and (bf16) 20 are
 * no whole pieces. */
int main(void)
{
    for (int d : headdims)
        for (int sms : { 1, 1000 })
            for (bool causal : { false, true })
                if (drive_goes_on())
                    check(1, SEQ, 2, d, causal, sms);
    if (drive_goes_on())
        check_chain();
    return drive_end();
}
