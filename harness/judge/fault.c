/* SPDX-License-Identifier: MIT */
#include "judge/fault.h"

#include <stdarg.h>
#include <stdio.h>

const char *fault_name(enum fault_kind kind)
{
    static const char *const names[FAULT_NR] = {
        [FAULT_NONE] = "none",       [FAULT_WRONG] = "wrong",     [FAULT_UNWRITTEN] = "unwritten",
        [FAULT_STALE] = "stale",     [FAULT_LATE] = "late",       [FAULT_PRECISION] = "precision",
        [FAULT_INPUTS] = "inputs",   [FAULT_OUTSIDE] = "outside", [FAULT_AWAKE] = "awake",
        [FAULT_CALL] = "call",       [FAULT_ENDED] = "ended",     [FAULT_HANGS] = "hangs",
        [FAULT_SYMBOLS] = "symbols", [FAULT_FAILED] = "failed",   [FAULT_ARITHMETIC] = "arithmetic",
    };

    return names[kind];
}

bool fault_has_size(enum fault_kind kind)
{
    return kind != FAULT_NONE && kind != FAULT_SYMBOLS && kind != FAULT_ARITHMETIC;
}

int fault_set(struct fault *f, enum fault_kind kind, const char *format, ...)
{
    va_list arguments;

    if (f->kind != FAULT_NONE)
        return -1;
    f->kind = kind;
    va_start(arguments, format);
    vsnprintf(f->words, sizeof(f->words), format, arguments);
    va_end(arguments);
    return -1;
}

/* ---- what cannot be found ---- */

const struct beyond_reach reach_files = {
    "files",
    "the kernel has no Landlock: what its user may write to, so may the variant, as root "
    "the system's files and what a reference loads"
};

static const struct beyond_reach none[] = { { NULL, NULL } };

const struct beyond_reach *reach_beyond(enum device_kind kind)
{
    const struct device_lending *lending = device_lending_of(kind);

    return lending && lending->beyond ? lending->beyond : none;
}
