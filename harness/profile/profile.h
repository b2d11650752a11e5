/* SPDX-License-Identifier: MIT */
/*
 * Where the time goes: scopes in a program, written down as they begin and end.
 *
 *     void forward(struct model *m)
 *     {
 *         PROF_FUNCTION();
 *         {
 *             PROF_SCOPE("qkv", .bytes = 3 << 20, .flops = 2e9, .backend = "openblas");
 *             gemm(...);
 *         }                                   // ends here, and at any return before
 *     }
 *
 *     prof_set_on(prof_global(), 1);
 *     forward(m);
 *     struct prof_trace trace;                // trace.h; summary.h and export.h go on from there
 *     prof_snapshot(prof_global(), &trace);
 *
 * A scope that is off costs a load and a branch. One that is on costs two readings of the
 * processor's counter and 64 bytes in a buffer of its thread: no lock, no system call but for
 * fresh memory. prof_overhead() in summary.h measures both on the machine at hand.
 *
 * Any thread may record at any time, and any thread may take a snapshot meanwhile. A scope ends on
 * the thread that began it. Recording is not for signal handlers. Functions that can fail return -1
 * or NULL and set errno; recording itself never fails, what finds no room is counted (meta.dropped
 * of the trace).
 *
 * longjmp() over a scope runs no cleanup. The scope is then closed at the end of the next scope
 * around it, and marked PROF_UNWOUND. Where there is none around it, call prof_unwind() behind the
 * setjmp() that returned; without it, later scopes of the thread are taken as nested in the lost
 * one.
 *
 * The macros are for GNU C11 and for C++, where attributes (.bytes = ...) need C++20 and this
 * order: device, backend, bytes, flops, stream.
 */
#ifndef HARNESS_PROFILE_PROFILE_H
#define HARNESS_PROFILE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define PROF_ZERO_ = 0 /* members that C++ initialises by itself */
extern "C" {
#else
#define PROF_ZERO_
#endif

/* Whose time and memory: the host, or a GPU. */
enum prof_device { PROF_CPU = 0, PROF_GPU = 1, PROF_DEVICES = 17 };
#define PROF_GPU_AT(i) (PROF_GPU + (i)) /* the GPUs of a machine that has several, from 0 */

/* A place in the source. It must live as long as the profiler does. */
struct prof_site {
    const char *name, *function, *file;
    int line;
};

/* What is known of the work inside a scope; 0 and NULL: nothing. */
struct prof_work {
    int positional_ PROF_ZERO_;
    int device PROF_ZERO_;          /* enum prof_device */
    const char *backend PROF_ZERO_; /* "cublas", "openmp", ...; must live as long as the profiler */
    int64_t bytes PROF_ZERO_;       /* moved, for a bandwidth */
    double flops PROF_ZERO_;
    void *stream PROF_ZERO_; /* of the GPU; given to the hooks as it is */
};

struct prof_state;
struct prof_thread;
struct prof_record;

struct prof {
    int on;      /* read without a lock: see prof_is_on() */
    unsigned id; /* never used twice in a process */
    struct prof_state *state;
};

/* A scope that has begun. On the stack of its function. */
struct prof_scope {
    struct prof_thread *thread; /* NULL: nothing to end */
    struct prof_record *record; /* NULL: not sampled, or no room */
    uint32_t depth, generation;
};

struct prof_options {
    size_t records; /* most that a thread keeps until prof_clear(); 0: 1 << 20. 64 bytes each, 16
                     * more where memory changed since the thread's last look at it, 40 more on a
                     * GPU; got in growing pieces */
    double rate;    /* see prof_set_sampling(); 0: 1 */
    uint64_t seed;
    int ring; /* not 0: a thread that has `records` goes on, over its oldest. At least the last half
               * of them is kept whole, memory does not grow however many there are, and
               * meta.replaced counts those that are gone. Scopes that are open are kept; end them
               * in order */
};

/* The profiler of the process: off until prof_set_on(), with default options. Never freed. */
extern struct prof prof_global_instance;
static inline struct prof *prof_global(void)
{
    return &prof_global_instance;
}

/* One's own, off at first. NULL where there is no memory. `options` may be NULL. */
struct prof *prof_create(const struct prof_options *options);
/* No scope of it may be open, and no thread may use it any more. NULL is fine. */
void prof_free(struct prof *prof);

/* Scopes that begin while it is on are recorded, also if it is off at their end. -1: no memory. */
int prof_set_on(struct prof *prof, int on);
static inline int prof_is_on(const struct prof *prof)
{
    return __atomic_load_n(&prof->on, __ATOMIC_RELAXED);
}

/* Each outermost scope of a thread is recorded with probability `rate` in [0, 1], with all that is
 * nested in it; the others leave nothing. The draws of a thread follow from the seed and from how
 * many threads have recorded before it. -1 and EINVAL for another rate. Clear when you change it:
 * the trace knows one rate. */
int prof_set_sampling(struct prof *prof, double rate, uint64_t seed);

/* Forgets what was recorded. A thread that is inside a scope records again after its outermost one
 * has ended. Memory counts (live) stay, peaks start anew at what is live. */
void prof_clear(struct prof *prof);

/* The calling thread's name in traces; cut to 31 bytes. -1: no memory. */
int prof_thread_name(struct prof *prof, const char *name);

/* A site for a name known at run time only. The same for the same name; lives until prof_free().
 * NULL: no memory. Takes a lock: keep what it returns. */
const struct prof_site *prof_site_named(struct prof *prof, const char *name);

/* By hand, for what is not a block of C. `work` may be NULL. Ending is allowed once and in any
 * order: ending a scope ends those inside it. */
struct prof_scope prof_begin(struct prof *prof, const struct prof_site *site,
                             const struct prof_work *work);
void prof_end(struct prof_scope *scope);
/* A point in time, such as the start of an iteration. */
void prof_instant(struct prof *prof, const struct prof_site *site);

/* What became of the scopes that began since prof_clear(), of all threads; -1: no memory. Threads
 * may go on meanwhile. */
struct prof_counts {
    uint64_t recorded; /* instants too */
    uint64_t skipped;  /* outermost scopes that were not sampled */
    uint64_t dropped;  /* for want of room */
    uint64_t replaced; /* of the recorded ones, by later ones of a ring */
};
int prof_count(struct prof *prof, struct prof_counts *counts);

/* How many scopes the thread is in, and a way back to it after longjmp(): ends the deeper ones. */
unsigned prof_depth(struct prof *prof);
void prof_unwind(struct prof *prof, unsigned depth);

/* `delta` bytes were allocated, or freed if negative. Live and peak of each device are kept at any
 * time, from all threads; while on, each call also makes a sample in the trace. A scope shows what
 * was live on its device at its end, and its peak: the highest that was live at a call of its own
 * thread inside it, or at its begin or end. */
void prof_memory(struct prof *prof, int device, int64_t delta);
int64_t prof_memory_live(const struct prof *prof, int device);
int64_t prof_memory_peak(const struct prof *prof, int device);

/*
 * What a GPU's owner provides, so that this library needs to know none. Any member may be NULL.
 * mark() puts a time stamp into a stream and returns what stands for it, or NULL; it is called at
 * the begin and at the end of scopes whose device is a GPU. resolve() is called at snapshots: 0 and
 * the span between two marks; 1: not yet reached; -1: it will never be known. forget() gives a mark
 * back. push() and pop() bracket every scope (NVTX ranges). finish() is called at the end of every
 * scope before its end is timed: what it does (wait for a device, say) counts as the scope's. A
 * scope that is left by longjmp() or ended with the one around it has none. number() is the number
 * of a stream in traces, by which other records of the device know it, too; -1, or without it: its
 * address is taken.
 */
struct prof_span {
    int64_t start_ns; /* on CLOCK_MONOTONIC; -1 where that is not known */
    int64_t duration_ns;
};
struct prof_hooks {
    void *context;
    void *(*mark)(void *context, int device, void *stream);
    int (*resolve)(void *context, void *begin, void *end, struct prof_span *span);
    void (*forget)(void *context, void *mark);
    void (*push)(void *context, const char *name);
    void (*pop)(void *context);
    void (*finish)(void *context, const char *name);
    int64_t (*number)(void *context, int device, void *stream);
};
/* While no scope is open. The table must live as long as the profiler. -1: no memory. */
int prof_set_hooks(struct prof *prof, const struct prof_hooks *hooks);

#ifdef __cplusplus
}
#endif

/* For the macros. */
static inline struct prof_scope prof_enter_(struct prof *prof, const struct prof_site *site,
                                            struct prof_work work)
{
    if (__builtin_expect(prof_is_on(prof), 0))
        return prof_begin(prof, site, &work);
    struct prof_scope none = { NULL, NULL, 0, 0 };
    return none;
}

static inline void prof_leave_(struct prof_scope *scope)
{
    if (__builtin_expect(scope->thread != NULL, 0))
        prof_end(scope);
}

#define PROF_JOIN2_(a, b)       a##b
#define PROF_JOIN_(a, b)        PROF_JOIN2_(a, b)
#define PROF_FIRST_(first, ...) first
#define PROF_REST_(first, ...)  __VA_ARGS__
#ifdef __cplusplus
#define PROF_WORK_(...)                                                                            \
    prof_work                                                                                      \
    {                                                                                              \
        PROF_REST_(__VA_ARGS__, )                                                                  \
    }
#else
#define PROF_WORK_(...) ((struct prof_work) { 0, PROF_REST_(__VA_ARGS__, ) })
#endif

#define PROF_SCOPE_N_(n, prof, ...)                                                                \
    static const struct prof_site PROF_JOIN_(prof_site_, n) = { PROF_FIRST_(__VA_ARGS__, ),        \
                                                                __func__, __FILE__, __LINE__ };    \
    __attribute__((cleanup(prof_leave_), unused)) struct prof_scope PROF_JOIN_(prof_scope_, n) =   \
        prof_enter_((prof), &PROF_JOIN_(prof_site_, n), PROF_WORK_(__VA_ARGS__))

/* To the end of the block. The name must be a constant; the rest are members of prof_work. */
#define PROF_SCOPE_IN(prof, ...) PROF_SCOPE_N_(__COUNTER__, prof, __VA_ARGS__)
#define PROF_SCOPE(...)          PROF_SCOPE_N_(__COUNTER__, prof_global(), __VA_ARGS__)
#define PROF_FUNCTION()          PROF_SCOPE(__func__)

#define PROF_INSTANT_IN(prof, name)                                                                \
    do {                                                                                           \
        static const struct prof_site prof_site_ = { (name), __func__, __FILE__, __LINE__ };       \
        if (prof_is_on(prof))                                                                      \
            prof_instant((prof), &prof_site_);                                                     \
    } while (0)
#define PROF_INSTANT(name) PROF_INSTANT_IN(prof_global(), name)

#endif
