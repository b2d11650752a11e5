/* SPDX-License-Identifier: MIT */
/* base/options.h: a command line, an argument a line, against a table with every type of option. */
#include "fuzz.h"

#include "base/options.h"

#include <stdbool.h>
#include <string.h>

enum { ARGUMENTS = 64 };

struct all {
    bool flag;
    const char *string;
    struct string_list strings, texts;
    int64_t whole;
    struct int_list list;
    double number, duration, share;
    struct option_rest rest;
};

static const struct option_row rows[] = {
    OPTION_ROW("flag", 'f', OPTION_FLAG, struct all, flag, NULL, "help"),
    OPTION_ROW("db", 0, OPTION_STRING, struct all, string, "FILE", "help"),
    OPTION_ROW("variant", 'v', OPTION_STRINGS, struct all, strings, "NAME,...", "help"),
    OPTION_ROW("plugin", 0, OPTION_TEXTS, struct all, texts, "FILE", "help"),
    OPTION_RANGE_ROW("launches", 'l', OPTION_INT, struct all, whole, 1, 1000, "N", "help"),
    OPTION_RANGE_ROW("batch", 'b', OPTION_INTS, struct all, list, 1, 1 << 20, "LIST", "help"),
    OPTION_RANGE_ROW("power", 0, OPTION_DOUBLE, struct all, number, 0, 10, "X", "help"),
    OPTION_ROW("budget", 0, OPTION_DURATION, struct all, duration, "TIME", "help"),
    OPTION_ROW("delta", 0, OPTION_FRACTION, struct all, share, "SHARE", "help"),
    OPTION_ROW("", 0, OPTION_REST, struct all, rest, "COMMAND", "help"),
    OPTION_END,
};

FUZZ_TARGET(options)
{
    char *text = fuzz_text(data, size), *rest = text, *line, *argv[ARGUMENTS + 1] = { NULL };
    struct all all = { .whole = 1 };
    struct error err;
    int argc = 0;

    while (argc < ARGUMENTS && (line = strsep(&rest, "\n")))
        argv[argc++] = line;
    int given = argc;
    if (options_parse(rows, &all, &argc, argv, &err) == 0) {
        FUZZ_CHECK(argc >= 0 && argc + all.rest.argc <= given);
        FUZZ_CHECK(all.whole >= 1 && all.whole <= 1000);
        FUZZ_CHECK(all.number >= 0 && all.number <= 10 && all.share >= 0 && all.duration >= 0);
    }
    options_release(rows, &all);
    free(text);
}
