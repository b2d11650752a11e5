/* SPDX-License-Identifier: MIT */
/*
 * One query a head against its cache, fp32. Nothing is used twice, so it is all about reading:
 * a row of a key is 16 bytes a lane, a warp reads as many positions at once as rows fit it, and
 * every lane has the keys and values of 4 positions under way.
 *
 *     headdim 64, fp32                     lanes 0..15      16..31
 *       warp 0     positions  0, 8, ..  | key p . q    | key p + 1 . q |  sums by shuffles
 *       warp 1                2, 10 ..  |              |               |
 *       ...                             every group of lanes has its own maximum and sum
 *
 *     head 0     | piece 0    | piece 1    | piece 2  |    a block each (flash-decoding: Dao et
 *                  max, sum,    max, sum,    max, sum,     al., 2023), as many as fill the SMs
 *                  values       values       values        once
 *                       \           |          /
 *                        the last block to arrive (a ticket by atomicAdd) merges the pieces in
 *                        their own order: the result does not depend on who was last
 *
 * Limit: the bandwidth at which keys and values come in. An SM has 4 blocks x 128 lanes x 128 bytes
 * under way, 64 KiB, where 26 KiB would hide 0.8 us at 4.3 TB/s over 132 SMs.
 */
#include "kernels/attention/attention_cuda_decode.h"

size_t attention_cuda_decode_workspace(int64_t batch, int64_t heads, int64_t headdim,
                                       int64_t length, int sms)
{
    int64_t all = batch * heads, pieces = attention_most_pieces(length, all, sms);
    size_t partials = (size_t)(all * pieces * (headdim + 2)) * sizeof(float);

    return attention_ticket_bytes(all) + cuda_pieces<size_t>(partials, 256) * 256;
}

void attention_decode_cuda(const struct attention_cuda_decode *a, cudaStream_t stream)
{
    attention_cuda_decode_enqueue<float>(a, stream);
}

extern "C" const struct variant attention_cuda_decode[];
const struct variant attention_cuda_decode[] = {
    attention_cuda_decode_variant<attention_decode_cuda>("cuda_decode", DTYPE_FP32),
    {},
};
