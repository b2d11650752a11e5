/* SPDX-License-Identifier: MIT */
/* models/gpt_cuda_cluster.h: bodies of forwards by clusters, with the checks that a device runs. */
#define main device_cluster_main
#include "device_cluster.cu"
#undef main

#include "drive.h"

int main(int argc, char **argv)
{
    static char program[] = "drive_cluster", quick[] = "--quick", only[] = "--only",
                nano[] = "nano";
    char *usual[] = { program, quick, only, nano };

    drive_wrong = argc > 1 ? device_cluster_main(argc, argv) : device_cluster_main(4, usual);
    return drive_end();
}
