/* SPDX-License-Identifier: MIT */
/* Inside timeline/: a rule of advice, and what they share. */
#ifndef HARNESS_TIMELINE_ADVICE_RULES_H
#define HARNESS_TIMELINE_ADVICE_RULES_H

#include "timeline/timeline_advice.h"

struct advice_rule {
    const char *name, *looks_at;
    double threshold; /* `value` of the advice from which on it is given */
    /* Adds what is at or above the threshold; nothing without evidence. */
    void (*find)(const struct advice_rule *rule, const struct advice_evidence *evidence,
                 struct advice_list *list);
    enum timeline_part part; /* of the rules on the split ... */
    const char *words;       /* ... behind the share */
};

/* A fresh one, with name and threshold of the rule; the caller writes the text. */
struct advice *advice_add(const struct advice_rule *rule, const char *operation, double value,
                          double weight, struct advice_list *list);

enum { ADVICE_SHARE_SIZE = 16 };
/* "61 %", below ten "3.2 %". */
char *advice_share(double share, char text[ADVICE_SHARE_SIZE]);

/* Rules on operations against roofs (advice_roofs.c) and on threads (advice_threads.c). */
void advice_at_limit(const struct advice_rule *rule, const struct advice_evidence *evidence,
                     struct advice_list *list);
void advice_below_roof(const struct advice_rule *rule, const struct advice_evidence *evidence,
                       struct advice_list *list);
void advice_above_roof(const struct advice_rule *rule, const struct advice_evidence *evidence,
                       struct advice_list *list);
void advice_imbalance(const struct advice_rule *rule, const struct advice_evidence *evidence,
                      struct advice_list *list);

#endif
