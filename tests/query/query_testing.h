/* SPDX-License-Identifier: MIT */
/* What nobody should type into a condition, and how it is quoted there. */
#ifndef HARNESS_TESTS_QUERY_TESTING_H
#define HARNESS_TESTS_QUERY_TESTING_H

#include "test_store.h"

#include "query/query.h"

static const char *const hostile[] = {
    "'; DROP TABLE run; --",
    "\" OR 1=1 --",
    "x') OR ('1'='1",
    "a]b[c*?",
    "%s%n",
    "?1 ?2 ?",
    "\\",
    "'",
    "\"",
    "\xff\xfe",
    "select",
    "NULL",
    ");",
    "/* */",
    "|| char(59) ||",
};

static inline void add_quoted(struct strbuf *out, const char *text)
{
    strbuf_addc(out, '"');
    for (; *text; text++) {
        if (strchr("\"'\\", *text))
            strbuf_addc(out, '\\');
        strbuf_addc(out, *text);
    }
    strbuf_addc(out, '"');
}

#endif
