/* SPDX-License-Identifier: MIT */
/* What a failed launch says: names of kernels, places and meetings, and why threads wait. */
#ifndef CUDA_HOST_REPORT_H
#define CUDA_HOST_REPORT_H

#include "block.h"

namespace cuda_host
{

/* "kernel scale<4> <<<(2,1,1), (64,1,1), 512 B>>>" */
std::string report_launch(const struct launch *launch);
/* "gemm.cu:71" */
std::string report_site(struct cuda_host_site site);
/* "__syncthreads() at gemm.cu:71" */
std::string report_place(enum cuda_host_kind kind, struct cuda_host_site site);
/* "thread (3,0,0)" */
std::string report_thread(const struct thread *t);
/* "1 of 2 arrivals and 4096 bytes are missing" */
std::string mbarrier_report(const void *barrier);
/* Why nothing goes on though threads wait: who has not come to which meeting. */
std::string report_stuck(const struct block *b);

} // namespace cuda_host

#endif
