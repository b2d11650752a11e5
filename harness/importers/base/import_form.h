/* SPDX-License-Identifier: MIT */
/*
 * A format as rows: where in the file its benchmarks stand, and what becomes of each member.
 *
 *     static const struct import_field fields[] = {
 *         { "name", FIELD_NAME, NULL },
 *         { "../../fullName", FIELD_NAME, NULL },         of what the benchmark stands in
 *         { "samples", FIELD_SAMPLES, NULL },
 *         { "mean", FIELD_TIME, "mean" },                 stands for samples where there are none
 *         { "counters.*", FIELD_BESIDE, NULL },           each member, under its own name
 *         { "rank", FIELD_SKIP, NULL },                   follows from the rest
 *         FIELDS_END
 *     };
 *     static const struct import_form form = { .entries = "files[].benchmarks[]", ... };
 *
 * Nothing is lost in silence: a number or text of a benchmark that no row names is counted, and a
 * note tells its name.
 */
#ifndef HARNESS_IMPORTERS_BASE_IMPORT_FORM_H
#define HARNESS_IMPORTERS_BASE_IMPORT_FORM_H

#include "importers/base/import_base.h"

/* What becomes of a member. `as` is the name that it gets. */
enum import_role {
    FIELD_END,
    /* of a benchmark */
    FIELD_NAME,       /* a text: a part of the name, in the order of the rows */
    FIELD_KEY,        /* the same, of the key under which it stands: path "" or "../.." */
    FIELD_DIM,        /* a whole number: dim `as` */
    FIELD_PARAMETERS, /* an object of numbers and texts: dims, or parts "key=value" */
    FIELD_UNIT,       /* a text: unit of its times, over that of the form */
    FIELD_BATCH,      /* iterations in each of the samples */
    FIELD_SAMPLES,    /* a list of times, or of lists of them: one iteration each */
    FIELD_TIME,       /* stands for the samples: the first of these that is there. All others, and
                       * what is FIELD_SUMMARY, are kept as "summary_<as>_ns" then */
    FIELD_SUMMARY,
    FIELD_QUANTITY, /* a number in the unit of FIELD_UNIT, whatever that is */
    FIELD_BESIDE,   /* a number beside the times; `as` NULL: by the name that "*" stands for, or
                     * the last of the path; a "*" in `as` is that name */
    FIELD_NUMBER,   /* the same, and what a benchmark without a time is about: see
                     * import_main_number() */
    FIELD_BYTES,    /* of one iteration */
    FIELD_FAILURE,  /* a text that is not empty: it failed, and why */
    FIELD_SKIP,     /* says nothing that other rows do not */
    /* of the file */
    FIELD_COMMIT,
    FIELD_BRANCH,
    FIELD_DATE, /* a text, or ms since 1970 */
    FIELD_CPU,
    FIELD_PROCESSORS,
    FIELD_FACT, /* of the environment, `as` */
};

struct import_field {
    const char *path; /* as import_at(); "../" in front leads to what it stands in */
    enum import_role role;
    const char *as;
};

#define FIELDS_END                                                                                 \
    {                                                                                              \
        NULL, FIELD_END, NULL                                                                      \
    }

enum { IMPORT_LEVELS_MOST = 8 };

/* A benchmark while it is read. */
struct import_entry {
    struct import_build *b;
    const struct import_form *form;
    const cJSON *node, *up[IMPORT_LEVELS_MOST]; /* what it stands in: up[depth - 1] is the next */
    int depth;
    struct import_name name;
    struct import_case *c;
    const char *unit; /* "ns" */
    double batch;
    size_t times, zeros; /* of the case and of the file before: twins are put together */
    bool sampled;        /* there are samples, so what follows from them needs no place */
};

struct import_form {
    const char *entries;               /* where benchmarks stand: "benchmarks[]", "*" */
    const char *unit;                  /* of times where no row says it; NULL: a row must */
    const char *clock;                 /* what the times are of */
    const char *statistic;             /* what FIELD_TIME is: "the median of the epochs" */
    const struct import_field *fields; /* of a benchmark */
    const struct import_field *file;   /* of the file; NULL: none */
    bool paths;                        /* numbers at the end of a name are dims: "sort/1024" */
    /* More of the name than rows can say, and of the times: 0, or -1 where they are refused. The
     * latter gets e->c without samples, and may add cases of further launches. NULL: nothing. */
    int (*read_name)(struct import_entry *e);
    int (*read_times)(struct import_entry *e);
};

int import_read_form(struct import_build *b, const struct import_form *form);

/* The member of a benchmark that a path of a row leads to. */
const cJSON *import_entry_at(const struct import_entry *e, const char *path);
/* What a function of the form has read itself: no note tells that it was left out. */
void import_take(const cJSON *item);
/* "1 or 2 in a unit": a sample of one iteration, in e->unit. */
int import_entry_sample(struct import_entry *e, struct import_case *c, const cJSON *at,
                        double value);
/* Iterations of a part of a launch: the case of the same benchmark there, valid until the next one.
 * e->c stays the benchmark's in the first launch. */
struct import_case *import_entry_launch(struct import_entry *e, int launch);

#endif
