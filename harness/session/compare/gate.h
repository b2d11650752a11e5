/* SPDX-License-Identifier: MIT */
/*
 * What a pull request runs: its head against the commit that it branched off, both built and
 * measured in turn now, by benchmarks of the project (session/bench) or, without any, by harness's
 * own kernels (`compare --build`).
 *
 *     struct gate g = { .request = &request };
 *     gate_begin(&g, err)                         the commits; nothing is built
 *     if (g.nothing) ...                          the head has nothing that the base lacks
 *     gate_measure(&g, &compared, err)            builds and measures
 *     if (!compared.idle) compare_sides_decide(&request.compare, &compared, err)
 *     gate_release(&g)
 */
#ifndef HARNESS_SESSION_COMPARE_GATE_H
#define HARNESS_SESSION_COMPARE_GATE_H

#include "session/bench/bench_ab.h"
#include "session/bench/reach.h"
#include "session/builds/gate_event.h"
#include "session/builds/git.h"
#include "session/compare/compare.h"

struct gate_request {
    struct compare_request compare; /* how it is decided; what of our own kernels is measured.
                                     * gate_begin() fills in the sides */
    struct bench_list benches;
    enum import_format format;
    const char *base, *head; /* REFs; NULL: what the forge says, else the main branch and HEAD */
};

struct gate {
    struct gate_request *request;
    struct gate_event event;
    struct git_commit base, head, fork; /* fork: what is measured as the base */
    bool nothing;                       /* the change is closed, or the head adds nothing */
    struct built built[AB_SIDES];
    struct reach reach; /* of benches, where compare.changed */
};

int gate_begin(struct gate *g, struct error *err);
/* Fills the sides of `c`, whose store and rule are there. -1, too, where a build or a benchmark
 * fails. An interrupt is told by c->interrupted. */
int gate_measure(struct gate *g, struct compared *c, struct error *err);
/* What a gate ends with where the comparison ends with `status`: a change of which nobody can tell
 * passes, unless `fail_on` is "undecided"; NULL is "regression". */
int gate_exit_status(const char *fail_on, int status);
void gate_release(struct gate *g);

#endif
