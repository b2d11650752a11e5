/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include "base/clean.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void error_record(struct error *err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    clean_print_lines(err->message, sizeof(err->message), format, args);
    va_end(args);
}

void error_record_prefix(struct error *err, const char *format, ...)
{
    struct error old = *err;
    va_list args;

    va_start(args, format);
    clean_print_lines(err->message, sizeof(err->message), format, args);
    va_end(args);

    size_t used = strlen(err->message);
    snprintf(err->message + used, sizeof(err->message) - used, ": %s", old.message);
}
