/* SPDX-License-Identifier: MIT */
/* In place of a library of products: what it says of its threads, and no product. It has two. */
enum { MOST = 2 };

void cblas_sgemm(void);
void openblas_set_num_threads(int nr);
int openblas_get_num_threads(void);

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
