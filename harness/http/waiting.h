/* SPDX-License-Identifier: MIT */
/* Waiting for a condition for so long, whatever happens to the wall clock. */
#ifndef HARNESS_HTTP_WAITING_H
#define HARNESS_HTTP_WAITING_H

#include <pthread.h>
#include <time.h>

/* A condition whose times are those of waiting_until(). */
void waiting_init(pthread_cond_t *condition);
/* So many ms from now. */
struct timespec waiting_until(int ms);

#endif
