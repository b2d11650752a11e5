/* SPDX-License-Identifier: MIT */
/*
 * A benchmark of somebody's own, as a shell command: `--bench [NAME: ]COMMAND`. Each call is a
 * fresh process in the sources of one side, with
 *
 *     SOURCE  these sources          BUILD  what was built of them
 *     OUT     a file for its results, which may be a folder, too
 *
 * What one call says is one launch. Its results are, in this order: what lies in $OUT; what it
 * wrote to its standard output, if that is of a format that `harness import` reads; else the time
 * that the whole command took, as command/NAME. Which of them it is, its first call decides, and
 * the others must give the same: a benchmark never changes what it measures on the way.
 *
 * Where numbers are asked for (command/command_numbers.h), of all benches or of this one by its
 * name, nothing else counts as a result: they are looked for in $OUT, where that is a file, else in
 * what it printed, and stand beside the time of the whole command as command/NAME. Each call must
 * give each of them.
 *
 * A program of Google Benchmark needs no options: BENCHMARK_OUT and BENCHMARK_OUT_FORMAT, which it
 * reads, say the same as --benchmark_out. Of these only what is still wanted is measured again
 * (BENCHMARK_FILTER), as long as the program heeds it and the filter is no longer than the
 * environment takes.
 */
#ifndef HARNESS_SESSION_BENCH_BENCH_H
#define HARNESS_SESSION_BENCH_BENCH_H

#include "base/array.h"
#include "command/command_numbers.h"
#include "importers/import.h"
#include "session/measure/measuring.h"

enum bench_form { BENCH_UNKNOWN, BENCH_FILE, BENCH_SAID, BENCH_TIME, BENCH_NUMBERS };

/* What Google Benchmark calls the benchmark of a key. */
struct bench_alias {
    char key[KEY_SIZE];
    char *name; /* owned */
};

struct bench {
    char *name;    /* NAME, or the command's program; owned */
    char *command; /* owned */
    bool named;    /* by the user: "NAME/" stands before each of its results */
    enum bench_form form;
    bool heeds_no_filter; /* it was asked for less, and gave something else */
    ARRAY(struct bench_alias) aliases;
};

struct bench_list {
    struct bench *items;
    size_t nr, capacity;
};

/* Takes "[NAME: ]COMMAND". -1: it is empty, or a name is there twice. */
int bench_list_add(struct bench_list *list, const char *text, struct error *err);
void bench_list_release(struct bench_list *list);
/* -1 where numbers are of a bench that is none of these; where there is a format of results, and
 * each bench is asked for numbers instead; where a metric of `judged` (as number_options_judged()
 * gives it) is asked of benchmarks that none of these can have. */
int bench_check_numbers(const struct bench_list *list, const struct number_specs *numbers,
                        const struct string_list *judged, enum import_format format,
                        struct error *err);
/* Has one of them no number of which one way is better? */
bool bench_any_without_judged(const struct bench_list *list, const struct number_specs *numbers);

/* Where one side lies. */
struct bench_place {
    const char *who; /* for people: "base at 3f2a91c" */
    const char *source, *build;
    const char *folder; /* each call has one of its own for results there, see bench_out.h */
};

struct bench_call {
    struct bench *bench;
    const struct bench_place *place;
    enum import_format format;          /* of its results; IMPORT_ANY: found out */
    const struct number_specs *numbers; /* that benches are asked for; NULL: none */
    const struct string_list *betters;  /* of numbers in its results: struct import_options */
    const char *const *wanted;          /* keys, NULL-ended; NULL: all */
    const struct measuring *measuring;
};

enum { BENCH_INTERRUPTED = 1 };

/* One call: `out` gets one launch of one run, whose build has what the results say of compiler and
 * flags. -1: it failed, took too long or gave nothing that can be read; the message begins with
 * place->who. Release `out` (imported_release()) whatever the result. */
int bench_run(const struct bench_call *call, struct imported *out, struct error *err);

#endif
