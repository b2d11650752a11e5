/* SPDX-License-Identifier: MIT */
/*
 * Measurements of a run beside which the machine itself was slower: the probe, the same work in as
 * many threads, took longer there than in the quiet tenth of the run. On a virtual machine two
 * processors may be one core for a minute, at all of their processor time; nothing else tells.
 */
#ifndef HARNESS_VERDICT_MACHINE_PROBE_H
#define HARNESS_VERDICT_MACHINE_PROBE_H

#include "base/strbuf.h"
#include "core/record.h"

#include <stddef.h>

/* So many times the quiet time of the probe: between the 10 % by which it differs of itself and the
 * factor of two of a shared core. */
#define MACHINE_PROBE_LIMIT 1.25

struct slow_machine {
    size_t probed, disturbed; /* measurements that have a probe; those above the limit */
    double worst;             /* the slowest probe, in quiet times; NaN if none was probed */
};

/* Of run `run`, an index into records->runs. */
void machine_probe_find_slow(const struct records *records, int run, struct slow_machine *d);

/* What the machine could do beside a measurement, for comparisons: the time of its probe, longer by
 * the share of the span for which its threads were ready and had no processor, where switches hit
 * at least one sample in MACHINE_PROBE_HITS. The probe lasts 3 ms, and may fall between two waits.
 * NaN where there is no probe of that name. */
enum { MACHINE_PROBE_HITS = 2 };
double machine_probe_time(const struct measurement *m, const char *probe_name);
/* The probe that both sides of a comparison have: TELEMETRY_MACHINE or TELEMETRY_MACHINE_OLD. */
const char *machine_probe_name(const struct records *base, const struct records *head);

/* What was measured again for it, as the measurements tell (launch/disturbed.h). */
struct machine_probe_repeats {
    size_t measured, repeated;      /* measurements that can tell; those that were made again */
    size_t tries;                   /* so often, all together */
    size_t machine, waited, stolen; /* of these, for which part of the rule */
    size_t left;                    /* measurements that stayed disturbed all the same */
};

/* Of run `run`; -1: of all. */
void machine_probe_repeats_count(const struct records *records, int run,
                                 struct machine_probe_repeats *r);
/* "12 of 120 measurements were made again, 14 tries (machine slower 10, waiting for a processor 3,
 * time stolen by the host 1); 2 stayed disturbed"; nothing where there is nothing to tell. */
void machine_probe_repeats_words(const struct machine_probe_repeats *r, struct strbuf *out);

#endif
