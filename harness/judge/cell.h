/* SPDX-License-Identifier: MIT */
/*
 * A cell: a process in which one variant runs, and which is stopped, all of its threads, whenever
 * the clock stands still. The judge puts inputs in place, reads its own clock, lets the cell go
 * on, and reads the clock again when the kernel reports that all threads have stopped. So there is
 * no moment outside the clock in which code of a guest could work, no clock that it could reach,
 * and no result that it could hand over but the tensors themselves.
 *
 * The cell executes this program anew: nothing of the judge's memory is in it. It gets a job, the
 * shared memory, and an environment that is the same for all.
 */
#ifndef HARNESS_JUDGE_CELL_H
#define HARNESS_JUDGE_CELL_H

#include "core/registry.h"
#include "host/processors.h"
#include "judge/fault.h"
#include "judge/test_vectors.h"
#include "plugin/guests.h"

#include <signal.h>
#include <sys/types.h>
#include <time.h>

/* What it is to run. */
struct cell_job {
    const struct guests *guests; /* that the variant may be of */
    const struct variant *variant;
    const struct kernel *spec;
    struct shape shape;
    bool reference; /* beside who is judged: nobody may look into it */
    const char *device_spec;
    struct device *device;        /* that lends its memory; NULL: tensors are in the host's */
    struct processors processors; /* as many as the device has threads: it gets no others */
    double timeout;               /* s, of a window */
    const volatile sig_atomic_t *interrupted;
};

enum cell_state { CELL_NONE, CELL_EMPTY, CELL_READY, CELL_UNSUPPORTED, CELL_OVER };

struct cell {
    const struct cell_job *job;
    struct arena arena;
    enum cell_state state;
    pid_t pid;
    bool stopped;
    double overhead_ns; /* of a window without a launch, before the guest was loaded */
    struct fault fault;
    unsigned char *previous; /* outputs as the last windows left them, all slots */
    bool *has_previous;      /* of each slot */
    char *folder;            /* for what it writes to files; see process/own_folder.h */
    char *mapped;            /* files mapped before the guest was loaded */
};

/* Starts it with the weights of the vectors. 0: `state` says whether it is ready; its fault, why it
 * is over. -1: the judge's own failure. cell_close() whatever the result. */
int cell_open(struct cell *c, const struct cell_job *job, const struct test_vectors *v,
              struct error *err);
void cell_close(struct cell *c);

/* Of a test vector to the memory of the cell, which stands still. */
int cell_put(struct cell *c, const struct test_vectors *v, int slot, enum put what,
             struct error *err);

/* One window: `ns` by the judge's clock, from before the cell goes on until all of it has stopped.
 * -1: the cell is over, its fault says why; or `err` is set and it has none. */
int cell_window(struct cell *c, enum order order, const int *slots, int nr, uint64_t *ns,
                struct error *err);
/* When a window is interrupted: so long after it began, or after a first launch has returned. */
struct moment {
    bool returned;
    uint64_t delay_ns;
};
/* The same, untimed, but stopped once more in the middle of the usual `window_ns`: `done` launches
 * had returned by then, and their outputs are as they were then until cell_resume(), which must
 * come next, lets the rest of them run. Inputs of those behind the next one may be put anew. */
int cell_interrupt(struct cell *c, const int *slots, int nr, uint64_t window_ns,
                   const struct moment *at, int *done, struct error *err);
int cell_resume(struct cell *c, const int *slots, int nr, struct error *err);
/* Files with code that it has mapped beyond those of this program, the guest's own without, as
 * judge/maps.h tells them; appends to `files`. */
void cell_libraries(const struct cell *c, struct string_list *files);

/* The life of a cell, behind exec. Returns only where it cannot begin. */
int cell_serve(const struct registry *registry, struct error *err);

#endif
