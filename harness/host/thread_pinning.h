/* SPDX-License-Identifier: MIT */
/*
 * Each OpenMP thread of a launch on a processor of its own. Left to itself the scheduler now and
 * then starts two threads of a team on one processor and leaves them there: a launch then takes a
 * multiple of its time, and whether it does is a matter of luck from process to process.
 */
#ifndef HARNESS_HOST_THREAD_PINNING_H
#define HARNESS_HOST_THREAD_PINNING_H

#include "host/processors.h"

#include <stdbool.h>

/* Binds the first `threads` threads of OpenMP's team to the last processors that this process may
 * use, one each, in their order: the first one serves most interrupts. One thread is only moved to
 * a processor drawn by lot, and the scheduler may move it out of the way of others from there.
 * False, and none is bound: for one thread or none, where there are fewer processors than threads,
 * and where the user placed threads himself (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY). For
 * processes that only measure: afterwards the caller itself is bound, and parallel regions that
 * name no number of threads have as many as are bound.
 *
 * Why by lot: processors differ, and which one is the slow one changes after minutes. On a virtual
 * machine with two of them gpt/nano/decode took 91 us on one and 105 us on the other. Left to the
 * scheduler, 10 to 90 % of a run's launches began on the slow one, and runs differed; drawn by lot
 * it is noise from launch to launch, which a comparison knows. */
bool pin_threads(int threads);

/* Between the two the calling thread may use all processors that were there before it was bound: a
 * library that is loaded meanwhile counts them, and the threads that it starts are bound to none.
 * Nothing where none is bound. */
struct pinning_pause {
    bool bound;
    struct processors own;
};
void pinning_pause(struct pinning_pause *pause);
void pinning_resume(const struct pinning_pause *pause);

#endif
