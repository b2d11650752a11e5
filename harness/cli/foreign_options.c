/* SPDX-License-Identifier: MIT */
#include "cli/foreign_options.h"

#include "command/command.h"

#include <stdbool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char hyperfine[] = "hyperfine", gbench[] = "Google Benchmark",
                  pytest[] = "pytest-benchmark", nobody[] = "";

/* Words, a space before and behind each, and what stands for them here. */
static const struct foreign_option {
    const char *words, *whose, *here;
} foreign_options[] = {
    { " -r --runs ", hyperfine,
      "`harness compare --runs N -- A --versus B`, or for one command `harness run --iterations N "
      "-- A`" },
    { " -w --warmup ", hyperfine,
      "`harness compare --warmup N -- A --versus B`; `harness run` warms up by itself" },
    { " -m --min-runs -M --max-runs ", hyperfine,
      "not needed, as `harness compare` ends when it is decided; --budget TIME and --blocks N "
      "bound "
      "it" },
    { " -L --parameter-list ", hyperfine, "--param NAME=A,B" },
    { " -P --parameter-scan -D --parameter-step-size ", hyperfine, "--param NAME=FROM:TO:+STEP" },
    { " -p ", hyperfine, "--prepare COMMAND" },
    { " -C ", hyperfine, "--conclude COMMAND" },
    { " -c --cleanup --setup ", hyperfine, "--setup and --cleanup of `harness compare`" },
    { " -S ", hyperfine, "--shell SHELL" },
    { " -N ", hyperfine, "the default: no shell" },
    { " -n --command-name ", hyperfine, "--name NAME" },
    { " -i --ignore-failure ", hyperfine, "--ignore-status" },
    { " --export-json ", hyperfine, "--json -o FILE" },
    { " --export-markdown ", hyperfine, "--format markdown -o FILE" },
    { " --export-csv ", hyperfine, "`harness export --format csv -o FILE`" },
    { " --reference ", hyperfine, "the first command, behind --" },
    { " --show-output ", hyperfine, "not there: what a command prints is not shown" },
    { " --benchmark_filter ", gbench, "an argument, such as `harness run 'gemm/*'`" },
    { " --benchmark_list_tests ", gbench, "`harness run --dry-run`" },
    { " --benchmark_out --benchmark_out_format --benchmark_format ", gbench,
      "--gbench-json -o FILE" },
    { " --benchmark_repetitions ", gbench, "--launches N of `harness run`" },
    { " --benchmark_min_time ", gbench, "--min-time TIME of `harness run`" },
    { " --benchmark-json ", pytest, "--json, or `harness import FILE` for a file of its own" },
    { " --benchmark-compare --benchmark-compare-fail ", pytest,
      "`harness compare --baseline REF`; exit status 1 is a regression" },
    { " --benchmark-save --benchmark-autosave ", pytest,
      "not needed: each run is in the history; `harness baseline save NAME` names it" },
    { " bench benchmark time ", nobody, "`harness run`" },
    { " ls list-benchmarks ", nobody, "`harness list`" },
    { " diff cmp ", nobody, "`harness compare`" },
    { " log show runs ", nobody, "`harness history`" },
    { " check ci ", nobody, "`harness gate`" },
    { " blame ", nobody, "`harness bisect`" },
    { " html dashboard ", nobody, "`harness report`, or `harness serve`" },
};

static const struct foreign_option *find_foreign_option(const char *word)
{
    char padded[64];

    snprintf(padded, sizeof(padded), " %.*s ", (int)strcspn(word, "="), word);
    for (size_t i = 0; i < sizeof(foreign_options) / sizeof(foreign_options[0]); i++)
        if (strstr(foreign_options[i].words, padded))
            return &foreign_options[i];
    return NULL;
}

static bool is_others_program(const char *word)
{
    char first[256];
    struct error ignored;

    snprintf(first, sizeof(first), "%.*s", (int)strcspn(word, " "), word);
    char *program = command_find_program(first, &ignored);
    free(program);
    return program != NULL;
}

static bool says_foreign_option(const struct error *err, const char *before, const char *word)
{
    size_t length = strlen(before);

    return strncmp(err->message, before, length) == 0 &&
           strncmp(err->message + length, word, strlen(word)) == 0;
}

void foreign_options_hint(const char *word, struct error *err)
{
    bool option = says_foreign_option(err, "unknown option ", word),
         command = says_foreign_option(err, "there is no command \"", word);
    const struct foreign_option *known = option || command ? find_foreign_option(word) : NULL;
    size_t length = strlen(err->message);
    char *end = err->message + length;

    if (known && *known->whose)
        snprintf(end, sizeof(err->message) - length, "\n%.*s is an option of %s; here it is %s",
                 (int)strcspn(word, "="), word, known->whose, known->here);
    else if (known)
        snprintf(end, sizeof(err->message) - length, "\nmaybe %s is meant", known->here);
    else if (command && is_others_program(word))
        snprintf(end, sizeof(err->message) - length,
                 "\nto time a program: harness run -- %s; two of them in turn: harness compare -- "
                 "%s --versus OTHER",
                 word, word);
}
