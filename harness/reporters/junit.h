/* SPDX-License-Identifier: MIT */
/*
 * A comparison as JUnit XML, for CI systems that show tests. It keeps to what both common schemas
 * of the format allow (junit-10.xsd of Jenkins' xUnit plugin, JUnit.xsd of Ant as windyroad keeps
 * it), which have no properties for a single test.
 *
 *   testsuite    one a kernel; time: the sum of its tests, to the millisecond
 *     properties what is compared: base, head, metric, delta, and for each test with both sides
 *                "NAME: base", "NAME: head", "NAME: change", "NAME: interval"
 *     testcase   one a benchmark (and metric, and machine class, where there are several); time:
 *                the head's value in seconds where it is a time, else 0
 *       failure  regressed or broken, and nobody accepted it
 *       error    failing: WRONG or FAILED on both sides
 *       skipped  undecided or missing, with the reason; it has no type
 *     system-out a line a test
 */
#ifndef HARNESS_REPORTERS_JUNIT_H
#define HARNESS_REPORTERS_JUNIT_H

#include "base/strbuf.h"
#include "verdict/compare.h"

#include <stdint.h>

struct junit_options {
    const char *base_name, *head_name; /* for people; may be NULL */
    const char *machine;               /* class name; NULL or "": "unknown" */
    int64_t measured_ms;               /* of the head, since the epoch */
};

/* Appends the document. */
void junit_write(const struct comparison *c, const struct junit_options *options,
                 struct strbuf *out);

#endif
