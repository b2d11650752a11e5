/* SPDX-License-Identifier: MIT */
/*
 * The kernels that every iteration of a program launches, by name: what counters, which know
 * launches by their order alone (cupti/counters.h), are told apart by.
 */
#ifndef HARNESS_GPUTRACE_KERNEL_SEQUENCE_H
#define HARNESS_GPUTRACE_KERNEL_SEQUENCE_H

#include "gputrace/activity.h"

struct kernel_sequence {
    char **items; /* names, in the order of their launches; owned */
    size_t nr, capacity;
};

/* Of a list that holds `iterations` iterations and nothing else. Empty where it does not repeat
 * itself so often, or lacks records. Release it. */
void kernel_sequence_of(const struct activity_list *list, size_t iterations,
                        struct kernel_sequence *sequence);
void kernel_sequence_release(struct kernel_sequence *sequence);

#endif
