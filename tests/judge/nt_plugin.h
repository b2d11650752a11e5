/* SPDX-License-Identifier: MIT */
/* The tables of a plugin in C whose variants are of gemm/nt. */
#ifndef HARNESS_TESTS_JUDGE_NT_PLUGIN_H
#define HARNESS_TESTS_JUDGE_NT_PLUGIN_H

#include <harness/plugin.h>

#define NT_PLUGIN(variants_)                                                                       \
    static const struct harness_kernel kernels[] = { { .name = "judged",                           \
                                                       .like = "gemm/nt",                          \
                                                       .variants = (variants_),                    \
                                                       .nr_variants = sizeof(variants_) /          \
                                                                      sizeof((variants_)[0]) } };  \
    HARNESS_PLUGIN(kernels)

#endif
