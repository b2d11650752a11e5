/* SPDX-License-Identifier: MIT */
/*
 * One comparison of two sides: found in the history, or measured now in turn (two programs that are
 * there, two plugins, or two commits that are built first); decided, and recorded.
 *
 *     struct compared c = { .store = store };
 *     compare_request_check(&request, &c.rule, err) || compare_sides_find(&request, &c, err) ||
 *         compare_sides_decide(&request, &c, err)
 *     compare_sides_explain(&request, &c)
 *     ... c.comparison of c.base and c.head ...
 *     compared_release(&c);
 */
#ifndef HARNESS_SESSION_COMPARE_COMPARE_H
#define HARNESS_SESSION_COMPARE_COMPARE_H

#include "session/explain/explain_comparison.h"
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
    bool run;     /* the new side alone, and before: options say how, and `head` is that run */
    bool build;   /* both REFs */
    bool benches; /* a project's own (session/bench): they may print numbers, and their results may
                   * bring metrics that nobody knows before */
    const char *baseline_bin, *head_bin, *baseline_plugin, *baseline_python;
    const char *build_command, *build_program, *label;
    const char *builds; /* the folder of builds */
    bool changed;       /* leave out what the change from base to head cannot reach, as their builds
                         * tell (session/bench/reach.h) ... */
    const char *changed_map; /* ... and this file */
    struct workload_options what;
    bool tuned; /* where `run` asks for one: with the settings that `harness tune` kept */
    int64_t blocks;
    struct measuring measuring;
    bool explain;          /* why what got slower did so */
    double explain_budget; /* s; EXPLAIN_BUDGET */
    char measured[24];     /* where `run` asks for one: the number of that run */
};

/* How it is to be decided; the settings borrow from the rest and from the request. */
struct compare_rule {
    struct compare_settings settings;
    struct number_specs numbers; /* that are asked for */
    struct string_list judged;   /* metrics; none: the usual one */
    const char *metrics[COMPARE_ASKED_MAX + 1];
    struct floors floors;
    struct placements placements;
};

/* What was measured now, kept so that it can be measured again. */
struct compared_programs {
    bool is_there;
    struct workload workload;
    struct guests old;            /* what the base measures in place of --plugin */
    char *path[AB_SIDES];         /* of the programs; owned, NULL: this one */
    const char *binary[AB_SIDES]; /* with the machine code of each side; NULL: this program */
};

/* Set `store`, zero the rest. Leave it where it is. */
struct compared {
    struct store *store;       /* STORE_WRITE where it measures or records, else STORE_READ; NULL:
                                * there is no history, and both sides are files */
    const char *cannot_record; /* why verdicts cannot be recorded there; NULL: they can */
    struct history_side base, head;
    struct comparison comparison;
    int interrupted; /* the signal that ended measuring; 0: none */
    char *left_out;  /* what the change cannot reach, a sentence; NULL or "": nothing is left out */
    bool idle;       /* that is everything: nothing was measured, and nothing can be decided */
    struct compare_rule rule;
    struct store_acceptances accepted;
    struct compared_programs programs; /* empty where nothing was measured */
    struct explanations explanations;
};

bool compare_request_measures(const struct compare_request *r);
/* The plugin or the function that is the old side, as it was given; NULL: none is. */
const char *compare_request_old_guest(const struct compare_request *r);
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
/* Of several programs one may print no number that is judged: unless metrics were asked for by
 * name and for all, it is judged by what is usual. -1: those are too many together. */
int compare_rule_heed_rest(struct compare_rule *rule, struct error *err);
void compare_rule_release(struct compare_rule *rule);

/* Is the base a file that is there? It is read once, behind the measuring: a pipe holds it once. */
bool compare_base_is_file(const struct compare_request *r);
/* Where r->run asks for it, before the sides are looked for: measures the new side, and makes that
 * run r->head. A baseline that is not there is refused before. */
int compare_head_measure(struct compare_request *r, struct store *store, struct error *err);
/* Fills the sides. -1, too, where the baseline is a known name with nothing to compare with:
 * c->base.nothing. */
int compare_sides_find(const struct compare_request *r, struct compared *c, struct error *err);
/* Decides, with what earlier runs, acceptances and self-tests say, and records the verdicts. What
 * is shown of them is chosen last. */
int compare_sides_decide(const struct compare_request *r, struct compared *c, struct error *err);
/* Fills c->explanations, where that was asked for. A verdict is worth more than its causes: what
 * goes wrong here is noted. */
void compare_sides_explain(const struct compare_request *r, struct compared *c);
void compared_release(struct compared *c);

#endif
