/* SPDX-License-Identifier: MIT */
/* Exit statuses of the program: what a command found. CTest shows 77 as skipped. */
#ifndef HARNESS_VERDICT_EXIT_STATUS_H
#define HARNESS_VERDICT_EXIT_STATUS_H

enum exit_status {
    EXIT_SAME = 0,       /* done; no regression */
    EXIT_REGRESSION = 1, /* something got slower or broke */
    EXIT_USAGE = 2,      /* bad input, or the tool failed */
    EXIT_UNDECIDED = 77, /* cannot tell, or nothing to compare with */
};

#endif
