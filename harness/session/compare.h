/* SPDX-License-Identifier: MIT */
/*
 * One comparison of two sides: found in the history, or measured now in turn (two programs that are
 * there, two plugins, or two commits that are built first); decided, and recorded.
 *
 *     struct compared c = { .store = store };
 *     compare_request_check(&request, &c.rule, err) || compare_sides_find(&request, &c, err) ||
 *         compare_sides_decide(&request, &c, err)
 *     ... c.comparison of c.base and c.head ...
 *     compared_release(&c);
 */
#ifndef HARNESS_SESSION_COMPARE_H
#define HARNESS_SESSION_COMPARE_H

#include "session/history_file.h"
#include "session/measure/floors.h"
#include "session/measure/number_options.h"
#include "session/measure/workload.h"
#include "session/selftest_kept.h"
#include "session/verdict_record.h"
#include "verdict/compare.h"

/* What is asked for, as options say it; members that are NULL, 0 or false mean the usual. */
struct compare_request {
    const char *baseline, *head;   /* REFs */
    struct number_options numbers; /* metrics, and numbers that benches or commands print */
    struct string_list deltas;
    double q;
    bool any_machine, no_record;
    char **filters; /* of what is shown, as `what.models`; where it is measured now, what to
                     * measure */
    size_t nr_filters;
    /* What is measured now, instead of found in the history. */
    bool build;   /* both REFs */
    bool benches; /* a project's own (session/bench): they may print numbers, and their results may
                   * bring metrics that nobody knows before */
    const char *baseline_bin, *head_bin, *baseline_plugin, *build_command, *build_program, *label;
    const char *builds; /* the folder of builds */
    struct workload_options what;
    int64_t blocks;
    struct measuring measuring;
};

/* How it is to be decided; the settings borrow from the rest and from the request. */
struct compare_rule {
    struct compare_settings settings;
    struct number_specs numbers; /* that are asked for */
    struct string_list judged;   /* metrics; none: the usual one */
    const char *metrics[COMPARE_METRICS_MAX + 1];
    struct floors floors;
    struct placements placements;
};

/* Set `store`, zero the rest. */
struct compared {
    struct store *store;       /* STORE_WRITE where it measures or records, else STORE_READ */
    const char *cannot_record; /* why verdicts cannot be recorded there; NULL: they can */
    struct history_side base, head;
    struct comparison comparison;
    int interrupted; /* the signal that ended measuring; 0: none */
    struct compare_rule rule;
    struct store_acceptances accepted;
};

bool compare_request_measures(const struct compare_request *r);
/* The name of an option that says how to measure, if one is given beside those that ask for it
 * (--build, --baseline-bin, --head-bin, --baseline-plugin); else NULL. */
const char *compare_request_option(const struct compare_request *r);
/* Makes the rule. An error where options are given that do not go together, before anything is
 * opened, built or measured. */
int compare_request_check(struct compare_request *r, struct compare_rule *rule, struct error *err);

/* The second half of that alone. compare_rule_release() whatever the result. */
int compare_request_rule(struct compare_request *r, struct compare_rule *rule, struct error *err);
/* Where there are `numbers`: once the history is open, and before anything is measured. */
int compare_rule_declare(struct compare_rule *rule, struct error *err);
void compare_rule_release(struct compare_rule *rule);

/* Fills the sides. -1, too, where the baseline is a known name with nothing to compare with:
 * c->base.nothing. */
int compare_sides_find(const struct compare_request *r, struct compared *c, struct error *err);
/* Decides, with what earlier runs, acceptances and self-tests say, and records the verdicts. What
 * is shown of them is chosen last. */
int compare_sides_decide(const struct compare_request *r, struct compared *c, struct error *err);
void compared_release(struct compared *c);

#endif
