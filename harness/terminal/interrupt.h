/* SPDX-License-Identifier: MIT */
/* Ctrl+C and SIGTERM end a sweep at the next safe point; what is finished is kept. */
#ifndef HARNESS_TERMINAL_INTERRUPT_H
#define HARNESS_TERMINAL_INTERRUPT_H

#include <signal.h>

/* Installs the handlers and gives the flag that they set. A second signal kills as usual. */
const volatile sig_atomic_t *interrupt_watch(void);
/* The signal that came since; 0: none, or none is watched. */
int interrupt_signal(void);

#endif
