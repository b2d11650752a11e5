/* SPDX-License-Identifier: MIT */
/*
 * One query a head against its cache, bf16 with float sums: attention_cuda_decode.cu's idea and
 * kernel, with 8 elements a lane, so that a warp reads twice as many positions at once.
 *
 *     headdim 64, bf16       lanes 0..7     8..15       16..23      24..31
 *       warp 0             | key p . q  | key p + 1 | key p + 2 | key p + 3 |
 *
 * Limit: the bandwidth at which keys and values come in.
 */
#include "kernels/attention/attention_cuda_decode.h"

void attention_decode_cuda_bf16(const struct attention_cuda_decode *a, cudaStream_t stream)
{
    attention_cuda_decode_enqueue<bf16>(a, stream);
}

extern "C" const struct variant attention_cuda_decode_bf16[];
const struct variant attention_cuda_decode_bf16[] = {
    attention_cuda_decode_variant<attention_decode_cuda_bf16>("cuda_decode_bf16", DTYPE_BF16),
    {},
};
