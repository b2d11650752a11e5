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
#ifndef HARNESS_IMPORTERS_BASE_IMPORT_BASE_H
#define HARNESS_IMPORTERS_BASE_IMPORT_BASE_H

#include "base/array.h"
#include "base/json_source.h"
#include "importers/base/import_formats.h"

#include <sys/stat.h>

/* Of one file: each takes some kilobytes while it is read. */
enum { IMPORT_CASES_MOST = 65536, IMPORT_LEFT_MOST = 8 };

/* One benchmark in one launch. */
struct import_case {
    struct measurement m; /* its samples come at the end, from `times` */
    int launch;
    ARRAY(double) times;          /* ns of one iteration, in the order measured */
    double iterations;            /* most that went into one of them */
    bool timeless;                /* it is known that there are no times, but other numbers */
    bool stands;                  /* its time stands for samples that are not there */
    uint64_t said[TELEMETRY_MAX]; /* checksums of what its telemetry is called in the file */
};

/* A metric, and the checksum of what its number is called in the file. */
struct import_metric {
    const struct number_kind *kind;
    uint64_t said;
};

/* Something that happened so many times, and where first. */
struct import_count {
    const char *format; /* "%zu benchmark%s ... (%s)": number, "s" where it is many, the first */
    char first[128];
    size_t nr;
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
    int line;                /* of a text that is no JSON: the one that is read; 0: none */
    size_t summaries, zeros; /* benchmarks without raw samples; times of nothing, left out */
    size_t beyond;           /* amounts of work that are none, left out */
    size_t timeless, rates;  /* benchmarks with numbers but no time; whose time is 1 over a rate */
    ARRAY(struct import_count) counts; /* what is noted with its number at the end */
    ARRAY(struct import_count) left;   /* members that nothing was made of, by name */
    ARRAY(struct import_metric) metrics;
    double share;          /* JMH: samples that one fork may have */
    bool crowded;          /* there are more than IMPORT_CASES_MOST */
    const char *statistic; /* that stands for raw samples where there are none: "median" */
    const char *clock;     /* what the times are of */
    struct error *err;
};

/* ---- the formats: each file ends in its row ---- */

/* A file of a folder, which stands for the whole of it: by its name and by what is in it, for other
 * programs write files of that name, too. */
struct import_folder_file {
    const char *name, *sign; /* `sign` as those of a row */
};

struct import_format_row {
    /* Of JSON: what a file has by which it is known. Each of them is enough: paths (import_at())
     * with blanks between, all of which are there. No root fits two rows, or the first counts. */
    const char *signs[14];
    bool (*fits_text)(const char *text, size_t length); /* of what is no JSON; NULL: it is JSON */
    int (*parse)(struct import_build *b); /* b->source holds JSON parsed, but of a stream */
    const struct import_form *form;       /* in place of parse(): import_form.h */
    bool stream;                          /* many JSON texts: its signs are those of the first */
    bool own;                             /* parse() makes the records themselves */
    /* Makes one text of a folder that the program writes, and tells when the newest file of it was
     * written; NULL: it writes none. */
    int (*read_folder)(const char *folder, struct strbuf *text, int64_t *written_ms,
                       struct error *err);
    const struct import_folder_file *folder_files; /* up to a name NULL; NULL: none */
};

#define IMPORT_DECLARE(upper, lower, title, reads)                                                 \
    extern const struct import_format_row import_##lower;
IMPORT_FORMATS(IMPORT_DECLARE)

/* Google Benchmark's JSON, which its CSV is made into. */
int import_gbench_parse(struct import_build *b);
/* BM_Sort of "BM_Sort_mean", and which: "mean"; NULL: it ends otherwise. */
const char *import_gbench_aggregate_of(const char *text, char *base, size_t size);

/* ---- building ---- */

static inline const cJSON *import_member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* When a file was last written, in ms since 1970. */
static inline int64_t import_written_ms(const struct stat *status)
{
    return (int64_t)status->st_mtim.tv_sec * 1000 + status->st_mtim.tv_nsec / 1000000;
}

/* What a path leads to: "a.b" members, "*" the first of a list or an object, "a[].b" that of a
 * list, "a[" a member that is a list, empty or not. NULL: it is not there. */
const cJSON *import_at(const cJSON *root, const char *path);
/* Are all of the paths, with blanks between, there? */
bool import_has(const cJSON *root, const char *paths);
/* Parses the text into b->source; NaN and Infinity, which some tools write, become texts. */
int import_read(struct import_build *b, const char *text, size_t length, struct error *err);
/* Each line that is not blank is a JSON text of its own; it stands in b->source while it is read.
 * Messages name it "FILE, message N". */
int import_each_message(struct import_build *b, int (*read)(struct import_build *b));
/* CSV with a head line as {list: [{column: value}]} in b->source, numbers as numbers. */
int import_read_csv(struct import_build *b, const char *list);
/* Copies the next line, without its end, and counts b->line; false: there is none left. `*at` is
 * NULL at first. */
bool import_next_line(struct import_build *b, const char **at, struct strbuf *line);

/* "FILE:LINE:COLUMN: reason", or "FILE:LINE: reason" of a text; always -1. */
int import_refuse(struct import_build *b, const cJSON *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Counts what is noted with its number at the end: `format` as in struct import_count, the same
 * address each time. */
void import_count(struct import_build *b, const char *format, const char *first);
/* Nothing is made of a member of that name: a note will tell of all of them. */
void import_left(struct import_build *b, const char *name);
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
int import_date_at(struct import_build *b, const cJSON *item, const char *key);
/* The commit that a tool names; what is no hash ("unversioned") is none. */
void import_commit(struct import_build *b, const char *text);
/* Reads each item of a list (or object), which must be an object; `what` stands in the message: "a
 * benchmark". */
typedef int import_item_fn(void *context, const cJSON *item);
int import_each(struct import_build *b, const cJSON *list, const char *what, import_item_fn *read,
                void *context);
/* A member that must be a list. */
int import_list(struct import_build *b, const cJSON *object, const char *key, const cJSON **list);
/* ns in a unit of time: "us"; 0: it is none. */
double import_unit_ns(const char *unit);

/* A unit as programs write it. */
struct import_unit {
    enum import_unit_kind {
        IMPORT_UNIT_TIME,  /* "ns", "us/op", "seconds": of `ns` */
        IMPORT_UNIT_RATE,  /* "ops/s", "MB/s": something in `ns`, which is `bytes` where it says so
                            */
        IMPORT_UNIT_OTHER, /* "B/op", "Percent", "instructions" */
    } kind;
    double ns, bytes;
};
struct import_unit import_unit_of(const char *text);
/* Processors of the machine, where the number makes sense. */
void import_processors(struct machine *m, double nr);
/* A fact of the environment; NULL and "" are none. */
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
/* As much of a longer text as fits into `room` bytes, with the mark and eight letters of a checksum
 * of the whole at its end, which tell it from others with the same beginning. */
void import_cut(struct strbuf *text, size_t room, char mark);

/* ---- cases ---- */

/* The case of that benchmark in the first launch, added if it is new; valid until the next one.
 * Releases the name. */
struct import_case *import_case(struct import_build *b, struct import_name *name);
/* Counts it if the benchmark came before: what is of one name is put together. */
void import_note_again(struct import_build *b, const struct import_case *c);
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
/* A number in its unit: a time is the benchmark's (the first one), of a rate the time of one, all
 * else stands beside under `name`. */
int import_quantity(struct import_build *b, struct import_case *c, const cJSON *at, double value,
                    const char *unit, const char *name);
/* It has numbers, but no time, and is kept all the same. */
void import_timeless(struct import_case *c);
/* It has no time, and why. */
void import_fail(struct import_case *c, enum outcome outcome, const char *why);
/* What stands for the time where the file has none, `said` there and with that unit: a metric
 * `name`, if the user says which way is better, else beside and counted in a note. */
void import_main_number(struct import_build *b, struct import_case *c, const char *said,
                        const char *name, const char *unit, double value);
/* A number beside the times, once; but those of which one way is better, by what they are or by
 * what the user says, are metrics of their own (core/number.h). What there is no room for is
 * counted, and what has the name that another number has already. */
void import_beside(struct import_build *b, struct import_case *c, const char *name, double value);
/* A number of which the file itself says the unit and which way is better, none too: a metric. What
 * the user says of it goes over that. */
void import_metric(struct import_build *b, struct import_case *c, const char *said,
                   const char *unit, enum better better, double value);
/* Refuses it: there are more than IMPORT_CASES_MOST. Always -1. */
int import_crowded(struct import_build *b);
/* Cases become records; the run gets its machine and environment. `tool` is the format's title. */
int import_end(struct import_build *b, const char *tool);
void import_build_release(struct import_build *b);

/* ---- machines ---- */

/* Class and id from what is known of it: "unknown" where that is nothing. */
void import_machine_name(struct machine *m);

#endif
