/* SPDX-License-Identifier: MIT */
/*
 * The threads that share an operation, or a whole pass of a model: where they meet, and whether
 * they are worth having.
 *
 *   quiet       t0 #######.   #: work   .: waits for the others
 *               t1 ########   the team takes half the time of one thread
 *
 *   one         t0 #######..................########      -: without a processor, for a time slice
 *   processor   t1 ####----------------------###          of milliseconds where a part of the work
 *   taken                                                 takes tens of us
 *
 * A part that a late thread has begun must be waited for, whoever takes the others: handing out
 * parts would not help. So who waits spins no longer than libgomp in a launch and then sleeps, and
 * a team that is slower than one thread parts. It is, of n threads, when
 *
 *     took > n / (n - 1) * ((n - 1) took - waited)     that is     n waited > (n - 1)^2 took
 *
 * where `waited` is the time of all threads at meetings: what is left of the n - 1 that were not
 * late is their work, and that of the late one is taken to be as much. Only who waits longer than
 * even parts differ reads a clock for it. Regions of 60 ms altogether are judged, or one longer
 * one. Where the team was slower the calling thread works alone for 4 times as long as was judged;
 * if it is bound it changes places with the one that waited longest. Then the team is tried for 20
 * ms, and if it is still slower it parts for twice as many times as long as before, 64 at most, and
 * never for more than 2 s: who was stopped for an hour was not slow for an hour.
 *
 * Cost where nobody is late: two readings of the clock a region. Who works alone does the parts of
 * the whole team, one after the other: results do not depend on who is late.
 */
#ifndef HARNESS_KERNELS_TEAM_H
#define HARNESS_KERNELS_TEAM_H

#include <stdbool.h>
#include <stdint.h>

/* Work on `operation` that every thread of a team calls alike: orphaned `omp for nowait`, and
 * team_meet() where the results of all are needed, and at the end. */
typedef void team_work_fn(const void *operation);

/* What a team is judged by, of work that is done again and again alike: a model's passes. The owner
 * zeroes it at the start. Times in ns. */
struct team_record {
    int64_t took, waited; /* by regions that are not judged yet */
    int64_t until;        /* the caller works alone until then */
    int factor;           /* of the last pause; less after teams that were quicker */
};

/* Runs work(operation) in a parallel region of `threads` threads; by the caller alone, outside of
 * any region, where that is one or, by `record`, the team has been late. NULL: the team never
 * parts, as single operations do, of which some have one part for all threads. Not from within a
 * region. */
void team_run(team_work_fn *work, const void *operation, int threads, struct team_record *record);

/* How many parts an operation is cut into: the threads of the caller's team, also where the caller
 * works alone in its place. 1 outside of team_run(). */
int team_parts(void);

/* Waits for all threads of the caller's team. Nothing outside of team_run()'s regions. */
void team_meet(void);

/* How the caller's teams work from now on: by their records, or, for tests, together or alone
 * whatever happens. */
enum team_way { TEAM_JUDGED, TEAM_TOGETHER, TEAM_ALONE };
void team_work(enum team_way next);

/* A region of `threads` threads ended at `now` after `took`; they waited for one another for
 * `waited` altogether. Whether the caller is to work alone from now on. */
bool team_judge(struct team_record *r, int threads, int64_t now, int64_t took, int64_t waited);

#endif
