/* SPDX-License-Identifier: MIT */
/*
 * Inside the importers: a file on its way to records.
 *
 *     struct import_name name;
 *     import_name_init(&name, "BM_Sort");
 *     import_name_dim(&name, "n", 1024);
 *     struct import_case *c = import_case(b, &name, launch);
 *     import_time(b, c, 12.5, 1000);                         ns of one iteration, of how many
 *     import_name_release(&name);
 */
#ifndef HARNESS_OUTPUT_IMPORT_PARTS_H
#define HARNESS_OUTPUT_IMPORT_PARTS_H

#include "base/array.h"
#include "base/json_source.h"
#include "output/import.h"

/* Of one file: each takes some kilobytes while it is read. */
enum { IMPORT_CASES_MOST = 65536 };

/* One benchmark in one launch. */
struct import_case {
    struct measurement m; /* its samples come at the end, from `times` */
    int launch;
    ARRAY(double) times; /* ns of one iteration, in the order measured */
    double iterations;   /* most that went into one of them */
};

struct import_build {
    const struct import_options *options;
    const char *what, *text; /* the text has `length` bytes */
    size_t length;
    struct json_source source;
    struct imported *out;
    struct run *run; /* the only one */
    cJSON *facts;    /* becomes its environment */
    ARRAY(struct import_case) cases;
    size_t *slots; /* hash table over them: 0, or index + 1 */
    size_t nr_slots;
    size_t summaries, zeros; /* benchmarks without raw samples; times of nothing, left out */
    size_t beyond;           /* amounts of work that are none, left out */
    bool crowded;            /* there are more than IMPORT_CASES_MOST */
    const char *statistic;   /* that stands for raw samples where there are none: "median" */
    const char *clock;       /* what the times are of */
    struct error *err;
};

/* ---- the parsers: one a file, a row each in import.c ---- */

typedef int import_fn(struct import_build *b);
import_fn import_gbench, import_nvbench, import_criterion, import_hyperfine, import_pytest,
    import_summary, import_kernels;

/* ---- building ---- */

/* Parses the text into b->source; NaN and Infinity, which some tools write, become texts. */
int import_read(struct import_build *b, const char *text, size_t length, struct error *err);

/* "FILE:LINE:COLUMN: reason"; always -1. */
int import_refuse(struct import_build *b, const cJSON *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A finite number, or a text that holds nothing but one. */
bool import_value(const cJSON *item, double *value);
/* A member that must be such a number, and at least `low`. */
int import_number(struct import_build *b, const cJSON *object, const char *key, double low,
                  double *value);
/* NaN if absent or no number. */
double import_optional(const cJSON *object, const char *key);
/* A member that must be a text that is not empty. */
int import_text(struct import_build *b, const cJSON *object, const char *key, const char **value);
/* The date in that member, if there is one, becomes the run's start. One that cannot be read, or
 * is before 1970, is refused. */
int import_date(struct import_build *b, const cJSON *object, const char *key);
/* A fact of the surroundings; NULL and "" are none. */
void import_fact(struct import_build *b, const char *key, const char *text);
void import_note(struct import_build *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Copies a text into a member of a record, cleaned and cut. */
void import_copy(char *to, size_t size, const char *text);

/* ---- names (import_name.c) ---- */

struct import_name {
    struct strbuf text; /* without dims */
    struct benchmark_dim dims[SHAPE_MAX];
    int nr_dims;
};

void import_name_init(struct import_name *n, const char *text);
void import_name_release(struct import_name *n);
/* One more part: "name/part". */
void import_name_part(struct import_name *n, const char *part);
/* False where the name is no name for a dim, is there already, or there are too many. */
bool import_name_dim(struct import_name *n, const char *name, int64_t value);
/* A dim where the value is a whole number, else a part "name=value". */
void import_name_parameter(struct import_name *n, const char *name, const char *value);
/* A whole number as programs write them: no sign but '-', no leading zeros. */
bool import_whole(const char *text, int64_t *value);
/* The same as import_name_init() of "BM_Sort/1024/threads:2", where numbers at the end are dims:
 * docs/import.md has the rules. */
void import_name_path(struct import_name *n, const char *text);
/* The key: project, name and dims; too long a name is cut and marked with its hash. */
void import_name_key(const struct import_name *n, const char *project, struct benchmark_name *out);

/* ---- cases (import_case.c) ---- */

/* The case of that benchmark in that launch, added if it is new; valid until the next one. */
struct import_case *import_case(struct import_build *b, const struct import_name *name, int launch);
/* The same by its key, and NULL where it is not there. */
struct import_case *import_case_find(struct import_build *b, const char *key, int launch);
struct import_case *import_case_of(struct import_build *b, const struct benchmark_name *name,
                                   int launch);
/* One sample. A time of 0 is none: it is left out and counted. Refused: what is no time, or beyond
 * 2^53 ns; `at` is where it stands. */
int import_time(struct import_build *b, struct import_case *c, const cJSON *at, double ns,
                double iterations);
/* What stands for the samples of a benchmark that has none in the file. */
int import_statistic(struct import_build *b, struct import_case *c, const cJSON *at, double ns);
/* It has no time, and why. */
void import_fail(struct import_case *c, enum outcome outcome, const char *why);
/* A number beside the times, once. */
void import_beside(struct import_case *c, const char *name, double value);
/* Cases become records; the run gets its machine and surroundings. */
int import_end(struct import_build *b);
void import_build_release(struct import_build *b);

/* ---- machines (import_machine.c) ---- */

/* Class and id from what is known of it: "unknown" where that is nothing. */
void import_machine_name(struct machine *m);

#endif
