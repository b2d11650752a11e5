/* SPDX-License-Identifier: MIT */
/*
 * A launch is one fresh process that measures benchmarks: the unit of evidence. The parent starts
 * the same program again (`harness internal-launch`), gives it a job as JSON on standard input,
 * and reads lines of JSON from file descriptor 3:
 *
 *     {"hello": 1}                    before any code of a guest is loaded
 *     {"begin": 4}                    case 4 of the job starts
 *     {"end": 4, "measurement": {}}   and is done
 *     {"end": 4, "measurement": {}, "operations": [{}]}   of a profiled one
 *     {"end": 4, "lacks": "gemm/x"}   or the program has no such variant
 *     {"alive": 4}                    case 4, which runs a program, begins its next run
 *     {"ceilings": []}                the answer to a job that asks for them
 *
 * So a crash, hang or kill of the child costs the case in hand and nothing that was finished. The
 * child ends with its parent, with all that it started, wherever that went
 * (process/process_group.h), and where memory ends the system takes the child first. One that holds
 * more than settings.memory_limit, with all that it started, is killed.
 *
 * The measured code is somebody else's. It gets no descriptor of the parent's: the child moves the
 * channel, a socket, away from number 3 before it loads any, to be closed by whatever it executes.
 * Each line begins with a secret, drawn at random for each case and told in the job, and a space;
 * "hello" and "ceilings" have one of their own. A line without it, one longer than there is to say
 * (launch/launch_words.h), no JSON, or out of turn costs the case in hand, or the next: it is
 * FAILED, and the process is killed. So what strays into the channel is no result. Code that reads
 * the child's memory finds the secret: a plugin, which runs inside it, or root.
 *
 * The program started may be another one, built from another commit: it is asked in the same words.
 * The job tells the number of this protocol, and a program that does not know it says so. One that
 * is older than the secrets does not say hello, and its lines have none; nobody may do so who is
 * this program.
 */
#ifndef HARNESS_LAUNCH_LAUNCH_H
#define HARNESS_LAUNCH_LAUNCH_H

#include "core/registry.h"
#include "launch/selection.h"
#include "machine/measured_roofs.h"
#include "measure/case.h"

#include <signal.h>

/* Protocol 1 had neither "lacks" nor planted slow-downs, 2 no profiles, 3 no guests, 4 no inputs
 * but those of the kernels, 5 none of single tensors: a job is of the oldest protocol that has what
 * it asks for. */
enum {
    LAUNCH_FD = 3,
    LAUNCH_PROTOCOL = 6,
    LAUNCH_FILLS = 5,
    LAUNCH_GUESTS = 4,
    LAUNCH_PROFILE = 3,
    LAUNCH_PLAIN = 2,
};

struct launch_secret {
    char text[37];
};

enum { LAUNCH_SAID_SIZE = 160 };

struct job {
    const char *device_spec;
    /* The seed is the launch's: kernel and sizes derive theirs from it, so that equal cases get
     * equal inputs. */
    struct case_settings settings;
    const struct benchmark *cases;
    size_t nr;
    bool roofs; /* measure the machine's roofs instead of cases */
    /* A known slow-down to be found again: case i does `plant[i]` (0.05: 5 %) more work in each
     * timed launch than it needs, see measure/plant.h. NULL: none. */
    const double *plant;
    /* Of each case, and behind these of the process; launch_run() makes them. NULL: none. */
    const struct launch_secret *secrets;
};

struct launch_result;

/* Of the cases of a process, and of a supervised set (launch/supervisor.h): `which` is the index of
 * a benchmark in the job, or in the set. All but `end` may be NULL. */
struct case_sink {
    void *context;
    /* Around each process, of a supervised set alone; `r` tells how it ended. */
    int (*process_begin)(void *context, struct error *err);
    int (*process_end)(void *context, const struct launch_result *r, struct error *err);
    void (*begin)(void *context, size_t which);
    /* A finished measurement; the sink may take what it owns. Where the program lacks the variant,
     * that of a process is UNSUPPORTED and says nothing else, not even its name. */
    int (*end)(void *context, size_t which, struct measurement *m, struct error *err);
    /* Each operation of a profiled case, right behind its measurement. */
    int (*operation)(void *context, size_t which, struct measurement *m, struct error *err);
};

/* Time-outs in s that no user chooses: until a process has greeted, or loaded a plugin; until it
 * has ended, once all is answered; and in place of a case's for the roofs of the machine. */
enum { LAUNCH_START_TIMEOUT = 60, LAUNCH_EXIT_TIMEOUT = 5, LAUNCH_ROOFS_TIMEOUT = 120 };

struct launch_limits {
    const char *program; /* executable to start; NULL: this one */
    double case_timeout; /* s; a case, or one run of a program, that takes longer is killed */
    const volatile sig_atomic_t *interrupted; /* set by a signal handler; may be NULL */
};

/* What is measured, and how: what a sweep (launch/sweep.h), an A/B comparison (launch/ab.h) and a
 * supervised set have in common. What it points to is borrowed. */
struct measured_set {
    const char *device_spec; /* of a sweep one or several, see device/devices.h */
    const struct benchmark *benchmarks;
    size_t nr;
    struct case_settings settings; /* settings.seed 0: fresh */
    struct launch_limits limits;
    double budget; /* s; no launch starts after it; 0: none */
    bool once;     /* nothing that was disturbed is made again (launch/disturbed.h) */
};

enum launch_end {
    LAUNCH_DONE,        /* all cases reported */
    LAUNCH_DIED,        /* crashed or exited early: `current` is the case in hand */
    LAUNCH_TIMED_OUT,   /* killed: `current` took too long */
    LAUNCH_TOO_LARGE,   /* killed: it held more memory than allowed */
    LAUNCH_MISSPOKE,    /* killed: the channel brought what the measuring code does not say */
    LAUNCH_INTERRUPTED, /* the user wants to stop */
};

struct launch_result {
    enum launch_end end;
    long current;                      /* index of the case in hand, -1 if there was none */
    bool loading;                      /* the case had not begun: its plugin was being loaded */
    double allowed;                    /* s, of LAUNCH_TIMED_OUT */
    int exit_status;                   /* 0, exit code, or -signal */
    char *error_text;                  /* last lines of its stderr; owned by the caller */
    int64_t memory_limit, memory_held; /* bytes: allowed, and held when last looked at */
    char said[LAUNCH_SAID_SIZE];       /* of LAUNCH_MISSPOKE: what */
    struct roof roofs[ROOFS_MAX];      /* of a job that asks for them */
    int nr_roofs;
};

/* -1 where no process could be started, or the sink failed; of a job that asks for roofs it may be
 * empty. One that says what no harness says before it has begun is LAUNCH_MISSPOKE without a case
 * in hand. What a plugin does as it is loaded, the process's greeting being behind it, costs the
 * case that comes first. */
int launch_run(const struct job *job, const struct launch_limits *limits,
               const struct case_sink *sink, struct launch_result *result, struct error *err);

/* The child's side: reads the job from standard input, reports to LAUNCH_FD. */
int launch_serve(const struct registry *registry, struct error *err);

#endif
