/* SPDX-License-Identifier: MIT */
/*
 * A slow-down of known size in a real kernel: `harness selftest --power` and the tests plant one
 * and see whether the comparison finds it. After each launch of the kernel the launching thread
 * does a calibrated amount of arithmetic, so many steps as last the wanted share of the launch's
 * own time. The other threads wait, as they would for any serial part. It goes through the same
 * timed path, caches and checks as any launch.
 *
 * The arithmetic is one chain of dependent steps, each about a nanosecond: neither a wider nor a
 * busier core does it faster. Fences on both sides keep it from running beside the kernel. What a
 * step and what the fences cost is measured right before the sampling, by the clock that the
 * samples are taken with. Where other programs want the same core, launches of milliseconds are
 * interrupted and the calibration mostly is not: then more is planted than was asked for.
 *
 * Where several threads end a launch, a few microseconds after it pass while they come to rest, and
 * short extra work would hide in them: it is made longer until samples with it and without, taken
 * in turn, differ by the wanted share.
 *
 * On the CPU only; the fake device invents its time, and so invents the share too. Elsewhere
 * planting is refused with a message.
 */
#ifndef HARNESS_MEASURE_PLANT_H
#define HARNESS_MEASURE_PLANT_H

#include "core/device.h"
#include "core/kernel.h"
#include "profile/profile.h"

struct plant {
    struct variant variant; /* a copy whose launch() does the extra work; first member */
    const struct variant *original;
    double share;   /* 0.05: 5 % */
    double step;    /* ns of one step */
    uint64_t steps; /* extra arithmetic of each launch; 0 until plant_grow() */
};

/* What extra work costs on this machine, now. */
struct plant_cost {
    double step;  /* ns */
    double fixed; /* ns, of any extra work at all */
};

/* Largest error of what is planted, as a share of it, that comes from whole steps and fences. */
#define PLANT_ERROR_MAX 0.1

/* Puts the planted variant into the call. Nothing is added before plant_grow(). plant_remove()
 * must follow, before anything is released. */
int plant_init(struct plant *plant, double share, struct device *device, struct call *call,
               struct error *err);
/* From the median time of one launch, in ns, for samples of `batch` launches. -1 where the launch
 * is so short that the share cannot be had within PLANT_ERROR_MAX of itself. */
int plant_grow(struct plant *plant, const struct call *call, double launch_ns, unsigned batch,
               struct error *err);
/* Puts the original variant back. Does nothing for a plant that was never put in. */
void plant_remove(struct plant *plant, struct call *call);

/* The arithmetic itself: so many steps, in time that is theirs alone. */
void plant_work(uint64_t steps);
/* Measures for about half a millisecond. */
struct plant_cost plant_calibrate(void);
/* How many steps last `wanted` ns, at least one; -1 and the shortest that can be had, if not. */
int plant_steps(const struct plant_cost *cost, double wanted, uint64_t *steps, struct error *err);

/*
 * The same in one operation of a profiled benchmark: `harness profile --plant` plants one, to see
 * whether `compare` finds it and blames nothing else. At the end of each scope of that name, and
 * before that end is timed, its thread does that arithmetic, so many steps as last the wanted share
 * of the median scope of that name. So it is real time, of that operation and of those around it.
 *
 * Uses the hooks of the global profiler.
 */
struct plant_scope {
    const char *operation; /* a scope's name; borrowed */
    double share;          /* 0.5: 50 % */
    uint64_t steps;        /* 0 until plant_scope_grow() */
    struct prof_hooks hooks;
};

/* Nothing is added before plant_scope_grow(). Keep `plant` where it is until plant_scope_remove().
 */
int plant_scope_init(struct plant_scope *plant, const char *operation, double share,
                     struct error *err);
/* From what the profiler has recorded so far. -1 where it has no such operation, or one so short
 * that the share cannot be had within PLANT_ERROR_MAX of itself. */
int plant_scope_grow(struct plant_scope *plant, struct error *err);
/* While no scope is open. Does nothing for a plant that was never put in. */
void plant_scope_remove(struct plant_scope *plant);

#endif
