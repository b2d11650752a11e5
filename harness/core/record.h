/* SPDX-License-Identifier: MIT */
/*
 * Facts as plain values: what measure/ hands up, store/ keeps, metrics/ reads. Nothing here is
 * derived: GFLOP/s and percentiles come from metrics/metric.h, so a new metric works on old
 * history. Nothing is guessed: who measures says what kind of run it is and how many tokens a
 * launch works on. What older files left to be guessed is legacy_run_facts() and legacy_tokens().
 */
#ifndef HARNESS_CORE_RECORD_H
#define HARNESS_CORE_RECORD_H

#include "core/benchmark.h"
#include "core/number.h"
#include "core/run_kind.h"

#include <stdbool.h>
#include <stdint.h>

enum outcome {
    OUTCOME_OK,
    OUTCOME_UNSUPPORTED, /* cannot run here; `message` says why */
    OUTCOME_WRONG,       /* did not match the oracle; has an error, never a time */
    OUTCOME_FAILED,      /* crashed, hung or could not be prepared */
    OUTCOME_NR,
};

/* Which rule ended the sampling. */
enum stop_rule { STOP_NONE, STOP_PRECISION, STOP_TIME, STOP_SAMPLES, STOP_RULE_NR };

/* A number read beside the measurement; absent ones are absent, never 0. */
struct telemetry {
    char name[32]; /* with its unit: "cpu_mhz", "steal_percent", "major_faults" */
    double value;
};

enum { TELEMETRY_MAX = 48 };

/* One benchmark in one launch. */
struct measurement {
    struct benchmark_name bench;
    enum outcome outcome;
    char *message;       /* why it is not OK; NULL if it is. Owned */
    bool vendor;         /* the variant is a reference library */
    double max_error;    /* against the oracle, relative to rms; NaN if not checked */
    double tolerance;    /* the bound it had to keep */
    double checked;      /* share of output elements compared, (0, 1] */
    double flops, bytes; /* the work model, for one launch of the kernel */
    double tokens;       /* that one launch of a forward pass works on; NaN: it is none */
    int64_t footprint;   /* bytes of all tensors */
    unsigned batch;      /* kernel launches in one sample */
    uint64_t *samples;   /* ns for `batch` launches, in the order measured. Owned */
    size_t nr_samples;
    bool thinned; /* only a summary of them was kept: the samples are put together from it, by
                   * size, and their number is right (store/samples.h) */
    enum stop_rule stop;
    unsigned warmups;   /* launches before the first sample */
    char clock[32];     /* "CLOCK_MONOTONIC_RAW" */
    int64_t started_ms; /* since the epoch */
    double seconds;     /* wall time spent on this case, checks included */
    struct telemetry telemetry[TELEMETRY_MAX];
    int nr_telemetry;
    struct number numbers[NUMBERS_MAX]; /* what the program said of itself; values owned */
    int nr_numbers;
};

/* One fresh process. */
struct launch {
    int seq; /* 0-based within its run */
    int64_t started_ms, ended_ms;
    int exit_status;  /* 0, exit code, or -signal */
    char *error_text; /* last lines of its stderr if it died; owned, may be NULL */
};

/* Stable across reboots. `id` is a hash over the rest. */
struct machine {
    char id[17];         /* 16 hex digits */
    char class_name[96]; /* for people and for baselines/: "amd-epyc-fam25-mod17-2c-avx512" */
    char cpu[96];
    int cores, threads;  /* that this process may use */
    char isa[32];        /* "avx512", "avx2", "sse2", "neon" */
    int64_t l1d, l2, l3; /* bytes of one instance; 0 if unknown */
    int l3_shared_by;    /* cores that share one L3 */
    int64_t memory;      /* bytes, rounded to GiB */
    char gpu[96];        /* "" if there is none */
};

/* Room for a full hash of git: 40 digits, or 64 where the repository uses SHA-256; and so many
 * digits, as git shows, are enough to name a commit. */
enum { COMMIT_SIZE = 72, COMMIT_DIGITS_MIN = 7 };

/* What may change under a machine: a new epoch is shown, never silently pooled. */
struct build {
    char version[48];
    char commit[COMMIT_SIZE]; /* full hash; "" if unknown */
    char branch[96];
    bool dirty; /* the tree had uncommitted changes */
    char compiler[96], flags[256], build_type[32];
};

/* Two runs that were measured in turn. */
struct run_ab {
    char id[40];    /* the same for both; "": it was measured alone */
    char side[8];   /* "base", "head"; "" where nobody said */
    unsigned block; /* launches of a side in a block: that of a launch is its number divided by
                     * this. 0: it was measured alone */
};

/* A part of a sweep that several runs share. */
struct run_shard {
    char sweep[201];       /* what they have in common: --sweep; "": nobody said */
    unsigned index, count; /* the 2nd of 4; count 0: the run is whole */
    char plan[24];         /* digest of which part measures what */
};

struct run {
    int64_t id; /* row in one history file; use uuid across files */
    char uuid[37];
    int64_t started_ms, ended_ms; /* ended 0: it is running, or died */
    char suite[64];               /* "quick", or "" */
    char label[96];               /* --label, free text */
    enum run_kind kind;
    struct run_ab ab;
    struct run_shard shard;
    struct machine machine;
    struct build build;
    char *environment; /* JSON object of facts that may differ between runs; owned */
    char *settings;    /* JSON object: launches, times, seeds, command line; owned */
};

/* A measured roof of a machine. */
struct roof {
    char name[48]; /* "bandwidth.L1", ".L2", ".L3", ".dram", "flops.fp32", "overhead.launch" */
    char device[NAME_SIZE]; /* label: thread counts have their own roofs */
    char unit[16];          /* "B/s", "FLOP/s", "ns" */
    double value;           /* upper quartile of its repetitions, see machine/measured_roofs.h */
    double low, high;       /* smallest and largest repetition */
    double spec;            /* data sheet; 0 if unknown */
    int64_t measured_ms;
};

/* A change that is meant to be (`harness baseline accept`). */
struct acceptance {
    int64_t id;
    char *key, *metric, *machine; /* exact; machine "" fits any */
    char *commit;                 /* the head in which it was seen; "" if unknown */
    double change;                /* head / base - 1, infinite from 0; NaN: it is broken, and that
                                   * is accepted */
    char *reason, *author;        /* author may be "" */
    int64_t accepted_ms;
    int64_t seen_ms; /* when the first run of that head began; 0: not known */
};

/* What a comparison, plot or table works on: measurements with the run and launch they belong
 * to. One owner, records_release(). */
struct record {
    int run;        /* index into runs */
    int launch_seq; /* within that run */
    struct measurement m;
};

struct records {
    struct run *runs;
    size_t nr_runs, runs_capacity;
    struct record *items;
    size_t nr, capacity;
    struct roof *roofs; /* of the machine of the newest run, or of ... */
    size_t nr_roofs, roofs_capacity;
    char roofs_of[17]; /* ... the machine with this id, where it is not "" */
};

const char *outcome_name(enum outcome outcome);  /* "OK", "UNSUPPORTED", ... */
int outcome_find(const char *name);              /* -1 if unknown */
const char *stop_rule_name(enum stop_rule rule); /* "precision", "time", "samples", "" */
int stop_rule_find(const char *name);

/* Within [0, FACT_AMOUNT_MAX] of core/names.h; NaN is not. */
bool record_amount_is_sane(double value);
/* -1 and the first member that is not: work, footprint, tolerance, time spent. NaN is not known. */
int measurement_check(const struct measurement *m, struct error *err);
int roof_check(const struct roof *c, struct error *err);

void measurement_release(struct measurement *m);
void measurement_copy(struct measurement *to, const struct measurement *from);
/* Telemetry of the machine probe (machine/probe.h), ns; of older measurements, whose probe had no
 * hand-overs between threads. The two are never compared with each other. */
#define TELEMETRY_MACHINE     "machine_ns"
#define TELEMETRY_MACHINE_OLD "probe_ns"
/* Of a function of Python (plugin/python_guest.h): ns of calling one that does nothing by the same
 * way, which is in the times; and 1 where what it returns is copied within them. */
#define TELEMETRY_EMPTY_CALL "empty_call_ns"
#define TELEMETRY_COPY_TIMED "copy_timed"
/* Of warm-up: s of measured time, and 1 where times, clock and power had settled by then; absent
 * where launches were too long for the limit to tell. */
#define TELEMETRY_WARM_UP "warmup_seconds"
#define TELEMETRY_SETTLED "warmup_settled"
/* Of a clock that is to be steady: MHz, how far it strayed from that in the windows that count, how
 * many there were, and how many of them were measured again. */
#define TELEMETRY_CLOCK         "clock_mhz"
#define TELEMETRY_CLOCK_STRAYED "clock_strayed_percent"
#define TELEMETRY_CLOCK_WINDOWS "clock_windows"
#define TELEMETRY_CLOCK_AGAIN   "clock_windows_again"
void measurement_add_telemetry(struct measurement *m, const char *name, double value);
double measurement_telemetry(const struct measurement *m, const char *name); /* NaN if absent */
/* NULL if the program did not say it. */
const struct number *measurement_number(const struct measurement *m,
                                        const struct number_kind *kind);
void launch_release(struct launch *l);
void run_release(struct run *r);
void run_copy(struct run *to, const struct run *from);
void records_release(struct records *r);
struct run *records_add_run(struct records *r);                         /* zeroed; fill it in */
struct record *records_add(struct records *r, int run, int launch_seq); /* zeroed */

/* One measurement as JSON and back: the pipe between child and parent, baseline files and
 * `--json` speak the same form (docs/formats/run.md). from_json leaves `m` releasable on error. */
struct cJSON *measurement_to_json(const struct measurement *m);
int measurement_from_json(const struct cJSON *json, struct measurement *m, struct error *err);
struct cJSON *run_to_json(const struct run *r);
int run_from_json(const struct cJSON *json, struct run *r, struct error *err);
struct cJSON *build_to_json(const struct build *b); /* what `harness version --json` prints */
int build_from_json(const struct cJSON *json, struct build *b, struct error *err);
struct cJSON *roof_to_json(const struct roof *c);
int roof_from_json(const struct cJSON *json, struct roof *c, struct error *err);
/* {"schema_version":1,"runs":[{..., "measurements":[{..., "launch":0}]}],"ceilings":[]} */
struct cJSON *records_to_json(const struct records *r);
int records_from_json(const struct cJSON *json, struct records *r, struct error *err);

/* Facts that records of before schema 5 of the history do not state: a run said in its label and
 * settings what kind it was, a forward pass in its name how many tokens it works on. Here is the
 * one place that knows how, for JSON that lacks the members: baseline files, exports, the output of
 * an older program that is measured beside this one. Rows of a history get the same by
 * store/facts.sql. Both can go once no file of before is left to be read.
 * The first sets kind, ab and shard from the label and the settings; the other gives the tokens of
 * one launch, NaN where it is no forward pass. */
void legacy_run_facts(struct run *run);
double legacy_tokens(const struct benchmark_name *bench);

#endif
