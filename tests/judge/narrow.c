/* SPDX-License-Identifier: MIT */
/* gemm/nt of bf16 and fp16: who computes with less than what the type asks for, within the
 * tolerance; and, named `honest_...`, who does not. */
#include "nt_narrow.h"

#define BF16(x_, sums_, slices_)                                                                   \
    {                                                                                              \
        bf16_value, bf16_of, (x_), (sums_), (slices_)                                              \
    }
#define FP16(x_, sums_, slices_)                                                                   \
    {                                                                                              \
        fp16_value, fp16_of, (x_), (sums_), (slices_)                                              \
    }
#define VARIANT_OF(name_, how_)                                                                    \
    static void name_(const struct harness_call *call)                                             \
    {                                                                                              \
        static const struct narrow how = how_;                                                     \
                                                                                                   \
        nt_narrow(call, &how);                                                                     \
    }

VARIANT_OF(sums_in_bf16, BF16(FP32_BITS, BF16_BITS, 1))
VARIANT_OF(sums_in_fp16, BF16(FP32_BITS, FP16_BITS, 1))
VARIANT_OF(x_of_6_bits, BF16(BF16_BITS - 1, FP32_BITS, 1))
VARIANT_OF(fp16_all_through, FP16(FP32_BITS, FP16_BITS, 1))
VARIANT_OF(honest_bf16, BF16(FP32_BITS, FP32_BITS, 1))
VARIANT_OF(honest_fp16, FP16(FP32_BITS, FP32_BITS, 1))
/* As products do that split k over blocks, and add up what they stored. */
VARIANT_OF(honest_slices, BF16(FP32_BITS, FP32_BITS, 2))

static const struct harness_variant variants[] = {
    { .name = "sums_in_bf16", .launch = sums_in_bf16, .dtype = HARNESS_BF16 },
    { .name = "x_of_6_bits", .launch = x_of_6_bits, .dtype = HARNESS_BF16 },
    { .name = "fp16_all_through", .launch = fp16_all_through, .dtype = HARNESS_FP16 },
    { .name = "sums_in_fp16", .launch = sums_in_fp16, .dtype = HARNESS_BF16 },
    { .name = "honest_bf16", .launch = honest_bf16, .dtype = HARNESS_BF16 },
    { .name = "honest_fp16", .launch = honest_fp16, .dtype = HARNESS_FP16 },
    { .name = "honest_slices", .launch = honest_slices, .dtype = HARNESS_BF16 },
};
NT_PLUGIN(variants);
