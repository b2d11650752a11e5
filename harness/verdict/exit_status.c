/* SPDX-License-Identifier: MIT */
/* What a comparison's verdicts come to: how many of each, and the exit status. */
#include "verdict/exit_status.h"

#include "verdict/compare.h"

#include <string.h>

bool compare_row_is_alarm(const struct compare_row *row)
{
    return (row->verdict == VERDICT_REGRESSED || row->verdict == VERDICT_BROKEN) && !row->accepted;
}

size_t comparison_alarms(const struct comparison *c, enum verdict verdict)
{
    size_t nr = 0;

    for (size_t i = 0; i < c->nr; i++)
        nr += c->rows[i].verdict == verdict && compare_row_is_alarm(&c->rows[i]);
    return nr;
}

void compare_count(struct comparison *c)
{
    size_t alarms = 0;

    memset(c->count, 0, sizeof(c->count));
    for (size_t i = 0; i < c->nr; i++) {
        c->count[c->rows[i].verdict]++;
        alarms += compare_row_is_alarm(&c->rows[i]);
    }
    c->accepted = c->count[VERDICT_REGRESSED] + c->count[VERDICT_BROKEN] - alarms;
    size_t decided =
        c->count[VERDICT_SAME] + c->count[VERDICT_IMPROVED] + c->count[VERDICT_FIXED] + c->accepted;
    if (alarms > 0)
        c->exit_status = EXIT_REGRESSION;
    else
        c->exit_status = decided > 0 ? EXIT_SAME : EXIT_UNDECIDED;
}
