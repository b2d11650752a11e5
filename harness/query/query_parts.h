/* SPDX-License-Identifier: MIT */
/* Inside query/ only: one term of a condition, on its way from the parser into SQL. */
#ifndef HARNESS_QUERY_QUERY_PARTS_H
#define HARNESS_QUERY_QUERY_PARTS_H

#include "query/query.h"

enum query_operator { QUERY_EQ, QUERY_NE, QUERY_LT, QUERY_LE, QUERY_GT, QUERY_GE, QUERY_OPERATORS };

struct query_value {
    char text[QUERY_VALUE_MAX + 1];
    size_t at; /* byte of the condition */
};

enum { QUERY_VALUES_MAX = 32 };

struct query_term {
    char field[64];
    size_t at;
    enum query_operator op;
    size_t op_at;
    struct query_value values[QUERY_VALUES_MAX];
    size_t nr;
};

const char *query_operator_name(enum query_operator op); /* "<=" */

/* Appends the term's SQL and bindings. On -1 *at is the byte where the mistake is. */
int query_term_add(struct query *q, const struct query_term *test, size_t *at, struct error *err);

/* The nearest of the fields, and of the names in `more` (NULL-ended; may be NULL); NULL if none is
 * near. */
const char *query_nearest_field(const char *word, const char *const *more);

#endif
