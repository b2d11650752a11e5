/* SPDX-License-Identifier: MIT */
/*
 * What the formats share: a file on its way to records.
 *
 *     struct import_name name;
 *     import_name_init(&name, "BM_Sort");
 *     import_name_dim(&name, "n", 1024);
 *     struct import_case *c = import_case(b, &name);
 *     import_time(b, c, 12.5, 1000);                         ns of one iteration, of how many
 */
#ifndef HARNESS_IMPORTERS_IMPORT_BASE_H
#define HARNESS_IMPORTERS_IMPORT_BASE_H

#include "base/array.h"
#include "base/json_source.h"
#include "importers/import.h"

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
    const char *path;        /* of the file; NULL: none */
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

/* ---- the formats: each file ends in its row ---- */

struct import_format_row {
    const char *name, *title;             /* "gbench", "Google Benchmark" */
    bool (*fits)(const cJSON *root);      /* no root fits two formats */
    int (*parse)(struct import_build *b); /* b->source holds the text parsed, but of a stream */
    bool stream;                          /* many JSON texts: `fits` is asked of the first line */
    bool own;                             /* parse() makes the records themselves */
    /* Makes one text of a folder that the program writes; NULL: it writes none. */
    int (*read_folder)(const char *folder, struct strbuf *text, struct error *err);
    const char *const *folder_files; /* NULL-ended: one of these stands for its folder */
};

#define IMPORT_DECLARE(upper, lower) extern const struct import_format_row import_##lower;
IMPORT_FORMATS(IMPORT_DECLARE)

/* ---- building ---- */

static inline const cJSON *import_member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* The first benchmark of a member, which is a list or an object of them; NULL: there is none. */
const cJSON *import_first(const cJSON *root, const char *key);
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
/* Reads each item of a list (or object), which must be an object; `what` stands in the message: "a
 * benchmark". */
typedef int import_item_fn(void *context, const cJSON *item);
int import_each(struct import_build *b, const cJSON *list, const char *what, import_item_fn *read,
                void *context);
/* A member that must be a list. */
int import_list(struct import_build *b, const cJSON *object, const char *key, const cJSON **list);
/* ns in a unit of time: "us"; 0: it is none. */
double import_unit_ns(const char *unit);
/* Processors of the machine, where the number makes sense. */
void import_processors(struct machine *m, double nr);
/* A fact of the surroundings; NULL and "" are none. */
void import_fact(struct import_build *b, const char *key, const char *text);
/* The same of a member. */
void import_fact_of(struct import_build *b, const char *key, const cJSON *object,
                    const char *member);
void import_note(struct import_build *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Copies a text into a member of a record, cleaned and cut. */
void import_copy(char *to, size_t size, const char *text);
/* The same from a member into an array; "" where that is no text. */
#define IMPORT_COPY(to, object, key) import_copy(to, sizeof(to), json_string(object, key, ""))

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

/* ---- cases ---- */

/* The case of that benchmark in the first launch, added if it is new; valid until the next one.
 * Releases the name. */
struct import_case *import_case(struct import_build *b, struct import_name *name);
/* Notes that the benchmark came before: its `what` ("samples") are put together. */
void import_note_again(struct import_build *b, const struct import_case *c, const char *what);
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
/* The same by a member of an object, which counts `unit` ns. */
int import_statistic_of(struct import_build *b, struct import_case *c, const cJSON *object,
                        const char *key, double unit);
/* What one iteration does, where it is an amount. */
void import_work(struct import_case *c, double flops, double bytes);
/* It has no time, and why. */
void import_fail(struct import_case *c, enum outcome outcome, const char *why);
/* A number beside the times, once. */
void import_beside(struct import_case *c, const char *name, double value);
/* Cases become records; the run gets its machine and surroundings. `tool` is the format's title. */
int import_end(struct import_build *b, const char *tool);
void import_build_release(struct import_build *b);

/* ---- machines ---- */

/* Class and id from what is known of it: "unknown" where that is nothing. */
void import_machine_name(struct machine *m);

#endif
