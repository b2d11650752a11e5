/* SPDX-License-Identifier: MIT */
/*
 * Numbers for CTest: elements <CTestMeasurement type="numeric/double" name="...">, a line each,
 * which ctest takes out of what a test prints, keeps in Test.xml and sends to CDash. Names:
 *
 *   "p50 KEY (ns)", p95, p99    of the head, launches pooled; p95 and p99 are left out where the
 *                               samples are too few to carry them
 *   "change METRIC KEY (%)"     of each row that has both sides; above 0 is more of the metric
 */
#ifndef HARNESS_REPORTERS_CTEST_H
#define HARNESS_REPORTERS_CTEST_H

#include "base/strbuf.h"
#include "core/record.h"
#include "verdict/compare.h"

#include <stddef.h>

struct ctest_options {
    const char *const *filters; /* of keys, as compare_show() takes them; borrowed */
    size_t nr_filters;          /* 0: all */
};

/* Appends the elements. `c` may be NULL: there was nothing to compare with. */
void ctest_write(const struct records *head, const struct comparison *c,
                 const struct ctest_options *options, struct strbuf *out);

#endif
