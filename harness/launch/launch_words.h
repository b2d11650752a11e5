/* SPDX-License-Identifier: MIT */
/*
 * What a measuring process says, taken at its word only where it is its own code that speaks. The
 * process runs kernels of strangers, who may write to any descriptor, at any time: each line begins
 * with a secret, lines have a largest size, and come in one order. What differs is never a result.
 */
#ifndef HARNESS_LAUNCH_LAUNCH_WORDS_H
#define HARNESS_LAUNCH_LAUNCH_WORDS_H

#include "base/strbuf.h"
#include "launch/launch.h"
#include "process/memory_watch.h"

enum {
    LAUNCH_LINE_MIN = 1 << 20, /* bytes of a line, without its samples */
    LAUNCH_LINE_MAX = 256 << 20,
};

struct launch_words {
    const struct case_sink *sink;
    struct roof *roofs; /* where ROOFS_MAX of them have room; NULL: the job does not ask */
    const struct launch_secret *secrets; /* of each case, and behind these of the process */
    size_t wanted;                       /* cases */
    size_t most;                         /* bytes of a line: launch_words_most() */
    bool loads;                          /* code of plugins, before the first case */
    bool stranger; /* another program, which may be too old to know of secrets */

    bool greeted, framed; /* the first line has come; it had a secret */
    size_t done;
    long current;  /* the case in hand; -1: none */
    bool answered; /* all that the job asked for */
    int nr_roofs;
    uint64_t since; /* ns, core/clock.h: when the last word came that tells of progress */
    char said[LAUNCH_SAID_SIZE]; /* what was not acceptable; "": all was */
    struct strbuf line;          /* the beginning of one; strbuf_init() and strbuf_release() it */
};

/* The longest line that a process can have to say for this job: so many samples of 24 bytes, a
 * hundredfold where operations are told, and at most LAUNCH_LINE_MAX. */
size_t launch_words_most(const struct job *job);
/* Takes what came. -1 where the sink failed; where the words are not acceptable, `said` tells, and
 * there is nothing more to take. */
int launch_words_take(struct launch_words *w, const char *block, size_t nr, struct error *err);

/* ---- what it may take until then (launch_limits.c) ---- */

/* Behind the greeting plugins are loaded, and between cases what these have left may do as it
 * likes. */
bool launch_is_loading(const struct launch_words *w);
/* Sets r->end where words, time or memory say that the process is to be killed, with what was
 * allowed and held. One that has answered is ending by itself. */
void launch_mind_limits(const struct launch_words *w, const struct launch_limits *limits,
                        struct memory_watch *memory, pid_t guard, struct launch_result *r);

#endif
