/* SPDX-License-Identifier: MIT */
/*
 * The interpreter as a process of its own, with guest.py in it: started, asked, ended. What it runs
 * is a stranger's code. It gets an empty standard input, descriptor 3 to answer through, those of
 * the tensors, and no other; its standard output goes nowhere, of its standard error the end is
 * kept. It stays in the process group of the launch, so that whoever ends that ends it, too.
 */
#ifndef HARNESS_PLUGIN_PYTHON_PROCESS_H
#define HARNESS_PLUGIN_PYTHON_PROCESS_H

#include "base/error.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <sys/types.h>

/* The first of the descriptors that it gets; the others follow. */
enum { PYTHON_CHANNEL = 3, PYTHON_FILES = 4 };

struct python_process {
    const char *who; /* for messages: the interpreter as it was given; borrowed */
    pid_t pid;       /* 0: there is none */
    int channel;     /* -1: it is closed */
    int words;       /* what it said to its standard error, a file without a name */
    struct strbuf said;
};

/* What it executes: tensors.py, cuda_tensors.py and guest.py, as one. */
void python_program(struct strbuf *text);
/* Gives it `nr` descriptors, copies of `files`. python_process_stop() whatever the result. */
int python_process_start(struct python_process *p, const char *interpreter, const int *files,
                         size_t nr, struct error *err);
/* Sends a line, without its end, and waits for the one that answers; it is what follows the "+" and
 * stays until the next. -1 with its reason, or how it ended; CALL_UNSUPPORTED of core/kernel.h
 * where it says that it is not to be had here. */
int python_process_ask(struct python_process *p, const char *line, const char **answer,
                       struct error *err);
/* The same with a file beside the line: that process gets a descriptor of it. */
int python_process_hand(struct python_process *p, const char *line, int file, const char **answer,
                        struct error *err);
void python_process_stop(struct python_process *p);

#endif
