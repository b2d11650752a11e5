/* SPDX-License-Identifier: MIT */
#include "terminal/interrupt.h"

#include <stddef.h>

/* Mutable and global: a signal handler can reach nothing else. */
static volatile sig_atomic_t interrupted;

static void on_interrupt_signal(int number)
{
    interrupted = number;
}

const volatile sig_atomic_t *interrupt_watch(void)
{
    struct sigaction action = { .sa_handler = on_interrupt_signal, .sa_flags = (int)SA_RESETHAND };

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &interrupted;
}

int interrupt_signal(void)
{
    return (int)interrupted;
}
