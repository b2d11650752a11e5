/* SPDX-License-Identifier: MIT */
/* The table of formats, and what goes into an import and comes out of it. */
#ifndef HARNESS_IMPORTERS_BASE_IMPORT_FORMATS_H
#define HARNESS_IMPORTERS_BASE_IMPORT_FORMATS_H

#include "base/digest.h"
#include "base/options.h"
#include "base/strbuf.h"
#include "core/record.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One row a format: X(its constant, its name for --format, the program, what is read of it). Help
 * and docs/import.md list them from here; how each is read is in import_<name>.c. */
#define IMPORT_FORMATS(X)                                                                          \
    X(GBENCH, gbench, "Google Benchmark", "--benchmark_out, JSON")                                 \
    X(GBENCH_CSV, gbench_csv, "Google Benchmark", "--benchmark_out, CSV")                          \
    X(NVBENCH, nvbench, "NVBench", "--json and --jsonbin")                                         \
    X(CRITERION, criterion, "criterion", "target/criterion, cargo-criterion's messages")           \
    X(HYPERFINE, hyperfine, "hyperfine", "--export-json")                                          \
    X(HYPERFINE_CSV, hyperfine_csv, "hyperfine", "--export-csv")                                   \
    X(PYTEST, pytest, "pytest-benchmark", "--benchmark-json, and its storage")                     \
    X(JMH, jmh, "JMH", "-rf json")                                                                 \
    X(GO, go, "Go testing", "text of go test -bench")                                              \
    X(LIBTEST, libtest, "cargo bench", "text of libtest's benchmarks")                             \
    X(CATCH2, catch2, "Catch2", "--reporter xml")                                                  \
    X(ASV, asv, "asv", "a file of .asv/results")                                                   \
    X(BMF, bmf, "Bencher Metric Format", "JSON of bencher")                                        \
    X(BENCHMARKDOTNET, benchmarkdotnet, "BenchmarkDotNet", "JSON, full or brief")                  \
    X(VITEST, vitest, "vitest", "bench --outputJson")                                              \
    X(NANOBENCH, nanobench, "nanobench", "templates::json()")                                      \
    X(DENO, deno, "Deno", "bench --json")                                                          \
    X(CUSTOM, custom, "github-action-benchmark", "customSmallerIsBetter, customBiggerIsBetter")    \
    X(GUNGRAUN, gungraun, "Gungraun", "summary.json, --output-format=json; iai-callgrind's")       \
    X(SUMMARY, summary, "a summary", "{metadata, benchmarks{config, timing}}, comparisons")        \
    X(KERNELS, kernels, "a list of kernels", "[{name, M, N, K, dtype, tflops or a time}]")         \
    X(REPORT, report, "a report", "the page that `harness report` writes")                         \
    X(RECORDS, records, "harness", "--json, with raw samples")

#define IMPORT_CONSTANT(upper, lower, title, reads) IMPORT_##upper,
enum import_format {
    IMPORT_ANY, /* found out from the content */
    IMPORT_FORMATS(IMPORT_CONSTANT) IMPORT_FORMAT_NR,
};

struct import_options {
    enum import_format format;
    const char *project; /* put in front of every name, "PROJECT/"; NULL: nothing */
    /* "[NAME=]lower" or "higher", of numbers that are no times: by their name in the file, or what
     * stands for a time there. NULL: nothing. A NAME that `is_word` is known as something else. */
    const struct string_list *betters;
    bool (*is_word)(const char *name); /* NULL: nothing is; not where there are betters */
    bool cpu_time;                     /* Google Benchmark: cpu_time instead of real_time */
    bool repetitions;                  /* Google Benchmark: each repetition counts as a launch */
    /* Appends the content of a file with raw samples that NVBench names, as it names it. -1 where
     * it cannot be had. NULL: it is looked for beside the file; of a text summaries are taken. */
    int (*samples)(void *context, const char *name, struct strbuf *content);
    void *context;
};

/* What a file holds. Release it whatever the result. */
struct imported {
    enum import_format format;
    struct records records; /* one run; where import_is_ours(), as many as there are. Unknown facts
                             * are 0 or "": started_ms, commit, branch; settings are NULL */
    struct string_list notes; /* sentences on what was left out or is less than it seems */
    struct digest digest;     /* of its content; import_file() alone */
    int64_t written_ms;       /* when the file was last written, of a folder the newest of those
                               * read; import_file() alone */
    dev_t device;             /* which file or folder that was, by whatever name; import_file() */
    ino_t inode;              /* alone */
};

/* The key of what a program calls "BM_Sort/1024/threads:2", as Google Benchmark does; `project` as
 * above. */
void import_path_key(const char *text, const char *project, struct benchmark_name *out);

/* Gives the machine this class, and an id that belongs to it. */
void import_machine_class(struct machine *m, const char *class_name);

#endif
