/* SPDX-License-Identifier: MIT */
/* models/gpt_cuda_cluster.h: bodies of forwards by clusters, with the checks that a device runs.
 * Where a mutation is looked for, of a model that is smaller than any: each way that rows are sent,
 * by mma.sync and by wgmma. DRIVE_SMALL=2: each product and each way to send that
 * models have, once. DRIVE_SMALL=3: what width 256 alone has, which is the MLP in two chunks. */
#if DRIVE_SMALL == 2
#define DEVICE_CLUSTER_KINDS                                                                       \
    gpt_cluster_row_of<48, 16, 8, 8, GPT_CLUSTER_COUNT>(0),                                        \
        gpt_cluster_row_of<64, 16, 8, 8, GPT_CLUSTER_STORE, true>(0)
#elif DRIVE_SMALL == 3
#define DEVICE_CLUSTER_KINDS gpt_cluster_row_of<256, 32, 8, 8, GPT_CLUSTER_STORE, true>(0)
#elif defined(DRIVE_SMALL)
#define DEVICE_CLUSTER_KINDS                                                                       \
    gpt_cluster_row_of<48, 16, 8, 8, GPT_CLUSTER_STORE>(0),                                        \
        gpt_cluster_row_of<48, 16, 8, 8, GPT_CLUSTER_COUNT>(0),                                    \
        gpt_cluster_row_of<48, 16, 8, 8, GPT_CLUSTER_COPY>(0),                                     \
        gpt_cluster_row_of<64, 16, 8, 8, GPT_CLUSTER_STORE, true>(0),                              \
        gpt_cluster_row_of<64, 16, 8, 8, GPT_CLUSTER_COPY, true>(0)
#endif
#define main device_cluster_main
#include "device_cluster.cu"
#undef main

#include "drive.h"

#ifdef DRIVE_SMALL
static void check_small(void)
{
    static const struct model small[] = {
#if DRIVE_SMALL == 3
        { "wide", 2, 8, 256 },
#else
        { "small", 2, 3, 48 },
        { "small", 2, 4, 64 },
#endif
    };

    for (const struct model &m : small) {
        const struct weights w(&m);
        for (const struct gpt_cluster_kind &kind : all_kinds())
            if (kind.width == m.width && drive_goes_on())
                drive_wrong += check(&kind, &w, 1, 50);
    }
}
#endif

int main(int argc, char **argv)
{
#ifdef DRIVE_SMALL
    (void)argc, (void)argv, (void)device_cluster_main;
    check_small();
#else
    static char program[] = "drive_cluster", quick[] = "--quick", only[] = "--only",
                nano[] = "nano";
    char *usual[] = { program, quick, only, nano };

    drive_wrong = argc > 1 ? device_cluster_main(argc, argv) : device_cluster_main(4, usual);
#endif
    return drive_end();
}
