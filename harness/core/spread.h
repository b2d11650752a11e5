/* SPDX-License-Identifier: MIT */
/*
 * Each OpenMP thread of a launch on a processor of its own. Left to itself the scheduler now and
 * then starts two threads of a team on one processor and leaves them there: a launch then takes a
 * multiple of its time, and whether it does is a matter of luck from process to process.
 */
#ifndef HARNESS_CORE_SPREAD_H
#define HARNESS_CORE_SPREAD_H

#include <sched.h>
#include <stdbool.h>

/* Binds the first `threads` threads of OpenMP's team to the processors that this process may use,
 * one each, in their order. Does nothing and gives false for one thread (the scheduler may move it
 * out of the way of others), where there are fewer processors than threads, and where the user
 * placed threads himself (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY). For processes that only
 * measure: afterwards the caller itself is bound. */
bool spread_threads(int threads);

/* Between the two the calling thread may use all processors that were there before it was bound: a
 * library that is loaded meanwhile counts them, and the threads that it starts are bound to none.
 * Nothing where none is bound. */
struct spread_pause {
    bool bound;
    cpu_set_t own;
};
void spread_pause(struct spread_pause *pause);
void spread_resume(const struct spread_pause *pause);

#endif
