/* SPDX-License-Identifier: MIT */
/* What a request asks to see: its query as numbers, checked. */
#ifndef HARNESS_SERVE_PARAMETERS_H
#define HARNESS_SERVE_PARAMETERS_H

#include "base/strbuf.h"
#include "http/http.h"
#include "serve/serve.h"

#include <stddef.h>
#include <stdint.h>

enum {
    PARAMETERS_LIMIT = 100, /* runs in the list, if nothing else is said */
    PARAMETERS_LIMIT_MAX = 500,
};

/* run=3,7 & base=2 & where=... & from=900 & limit=50 */
struct parameters {
    int64_t runs[SERVE_RUNS_MAX]; /* none: the newest that fits */
    size_t nr_runs;
    int64_t base;      /* 0: the server's own choice, -1: none */
    const char *where; /* "" for all; borrowed from the request */
    int64_t from;      /* the list begins with this run; 0: the newest */
    size_t limit;
};

/* Names of the parameters, NULL-ended, with `more` (may be NULL) for those of one endpoint. */
int parameters_parse(const struct http_request *request, const char *const *more,
                     struct parameters *parameters, struct error *err);
/* The same for whatever means the same. */
void parameters_name(const struct parameters *parameters, struct strbuf *out);

#endif
