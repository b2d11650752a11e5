/* SPDX-License-Identifier: MIT */
/* models/gpt_cuda_decode.h: steps of a model that is smaller than any, with the checks that a
 * device runs. Threads of the kernel poll for what others give, and each that does gives all others
 * a turn: so there are fewer clusters, warps and columns of the vocabulary than in the smallest. */
#define DEVICE_DECODE_VOCAB 200
#define DEVICE_DECODE_WAY   gpt_decode_row_of<32, 16, 64, 4, 8>()
#define main                device_decode_main
#include "device_decode.cu"
#undef main

#include "drive.h"

int main(void)
{
    static const struct model small = { "small", 2, 2, 32, 64 };
    struct weights w(&small);

    for (int seq : { 1, 18, 34 }) /* the last one lies in a slot that another lane has copied to */
        drive_wrong += check(&ways[0], &w, seq, small.heads);
    drive_wrong += check(&ways[0], &w, 18, small.heads + 1); /* one that has no head */
    return drive_end();
}
