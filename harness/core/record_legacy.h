/* SPDX-License-Identifier: MIT */
/*
 * Facts that records of before schema 5 of the history do not state: a run said in its label and
 * settings what kind it was, a forward pass in its name how many tokens it works on. Here is the
 * one place that knows how, for JSON that lacks the members: baseline files, exports, the output of
 * an older program that is measured beside this one. Rows of a history get the same by
 * store/facts.sql. Both can go once no file of before is left to be read.
 */
#ifndef HARNESS_CORE_RECORD_LEGACY_H
#define HARNESS_CORE_RECORD_LEGACY_H

#include "core/record.h"

/* Sets kind, ab and shard from the label and the settings. */
void legacy_run_facts(struct run *run);
/* Tokens of one launch; NaN where it is no forward pass. */
double legacy_tokens(const struct benchmark_name *bench);

#endif
