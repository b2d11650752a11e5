/* SPDX-License-Identifier: MIT */
/*
 * Verdicts as they are kept: what a rule was given and what it made of it, as JSON text and back.
 * Every number comes back as the same double, so that a replay decides on what was decided on.
 *
 * Evidence of a row, one JSON object; a member that says nothing is left out:
 *
 *     {"design":"launches","vendor":true,"base":SIDE,"head":SIDE,
 *      "earlier":SIDE}
 *     SIDE: {"values":[...],"occasions":[...],"inner":[...],"probe":[...],
 *            "failures":0,"negatives":0,"outcome":"OK","message":"...","present":false}
 *
 * `values` are the metric of each launch, in its unit and in the order measured; the next three go
 * beside them. Left out: `occasions` if all are 0, `inner` if none is known, `probe` if none was
 * probed, `failures` and `negatives` 0, `outcome` OK, `present` true. A NaN is null.
 *
 * `earlier` has one value a run before the base: its mean, and as `inner` the variance of that; the
 * runs are below COMPARE_EARLIER_MAX. Left out if there are none.
 *
 * `occasions`, runs or blocks of a side, are numbered from 0 to KEPT_RUN_MAX at most: rules
 * count up to the largest, so a damaged file must not name one that is out of all proportion.
 */
#ifndef HARNESS_REPORTERS_VERDICT_JSON_H
#define HARNESS_REPORTERS_VERDICT_JSON_H

#include "verdict/compare.h"

enum { KEPT_RUN_MAX = 65535 };

/* free() the texts. */
char *evidence_text(const struct compare_item *item);
/* What was made of it: a row of reporters/compare_json.h. */
char *result_text(const struct compare_row *row);
char *settings_text(const struct compare_settings *settings);

/* Items read back, with all that they borrow. */
struct kept_items {
    struct compare_item *items;
    size_t nr, capacity;
    char **texts; /* names and messages; each stays where it is */
    size_t nr_texts, texts_capacity;
};

/* Adds the item of one kept row: `key`, `machine` and `metric` as they are in the record. -1 if
 * the text is no evidence, or of a metric or design that this harness does not know. */
int kept_items_add(struct kept_items *kept, const char *key, const char *machine,
                   const char *metric, const char *evidence, struct error *err);
/* Hands the items over, for compare_decide(); what they borrow stays with `kept`. */
struct compare_item *kept_items_take(struct kept_items *kept);
/* The how manieth was added, wherever the item is by now. */
size_t kept_items_index(const struct compare_item *item);
void kept_items_release(struct kept_items *kept);

struct kept_settings {
    struct compare_settings settings; /* borrows the rest */
    struct cJSON *json;
    const char **metrics;
    struct compare_floor *floors;
    struct compare_placement *placements;
};

int kept_settings_init(struct kept_settings *kept, const char *text, struct error *err);
void kept_settings_release(struct kept_settings *kept);

/* What was made of a row, as far as others than the rule need it. */
struct kept_result {
    double change;            /* NaN: none */
    struct interval interval; /* NaN limits: none */
    bool worse, accepted;
};

int kept_result_read(const char *text, struct kept_result *out, struct error *err);

#endif
