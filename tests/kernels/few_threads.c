/* SPDX-License-Identifier: MIT */
/* In place of a library of products: what it says of its threads, and no product. As OpenBLAS it
 * has two, as BLIS none of OpenMP. */
#include <stdint.h>

enum { MOST = 2 };

void cblas_sgemm(void);
void openblas_set_num_threads(int nr);
int openblas_get_num_threads(void);
void bli_thread_set_num_threads(int64_t nr);
int64_t bli_info_get_enable_openmp(void);

static int threads = 1;

void cblas_sgemm(void)
{
}

void openblas_set_num_threads(int nr)
{
    threads = nr < MOST ? nr : MOST;
}

int openblas_get_num_threads(void)
{
    return threads;
}

void bli_thread_set_num_threads(int64_t nr)
{
    threads = (int)nr;
}

int64_t bli_info_get_enable_openmp(void)
{
    return 0;
}
