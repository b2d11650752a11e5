/* SPDX-License-Identifier: MIT */
/* As drive_primitives.cc, of tests/cuda/device_wrappers.cu. */
#define main device_wrappers_main
#include "device_wrappers.cu"
#undef main

int main(void)
{
    check_all();
    return probes_wrong > 0;
}
