/* SPDX-License-Identifier: MIT */
/*
 * Each wrapper of kernels/cuda by itself, its asm text interpreted, against what its header
 * promises: the checks that a device runs (tests/cuda/device_primitives.cu), whose expectations are
 * plain loops. Left out are clusters of 16, and what launches and barriers cost.
 */
#define main device_primitives_main
#include "device_primitives.cu"
#undef main

int main(void)
{
    cuda_host_sums_are_kept = false; /* they are stored at once */
    for (bool swizzle : { false, true }) {
        check_box(swizzle, 0, 0);
        check_box(swizzle, 8, 32);
        check_box(swizzle, 50, 64);
    }
    check_bytes();
    check_multicast();
    for (int blocks : { 2, 4, 8 })
        check_cluster(blocks);
    check_products();
    check_registers();
    cuda_host_dependents = true;
    check_dependent(false);
    check_dependent(true);
    return wrong;
}
