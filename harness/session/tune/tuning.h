/* SPDX-License-Identifier: MIT */
/*
 * Races of settings. Of each variant with parameters, for each shape, device and state of the
 * caches, all settings are measured in turn: a round is one fresh process (of each device), in
 * which every setting that is still in its race is checked against the oracle and then measured
 * once, in an order drawn afresh. After each round the rule of stats/race.h says who leaves. A
 * setting that is WRONG, FAILED or UNSUPPORTED in any round is out, with its reason.
 *
 *     struct tuning t;
 *     tuning_open(&t, &request, err) || tuning_run(&t, store, err)
 *     ... t.races ...
 *     tuning_close(&t);
 *
 * What was measured is a run of the history, a trial. The winner of each race is kept in the
 * history (store/tuned.h), also where the limits ended the race before it was decided: then it is
 * the best so far, and says so. But such a one does not take the place of one that was decided.
 */
#ifndef HARNESS_SESSION_TUNE_TUNING_H
#define HARNESS_SESSION_TUNE_TUNING_H

#include "session/measure/recording.h"
#include "stats/race.h"
#include "store/tuned.h"

enum { TUNING_ROUNDS = 40, TUNING_SETTINGS_MAX = 2000 };

struct tuning_request {
    struct workload_options what; /* plugins and the parameters; of these none: the values that the
                                   * variants say themselves */
    char **filters;
    int nr_filters;
    double tolerance; /* 0: that of RACE_DEFAULTS */
    int64_t rounds;   /* at most; 0: TUNING_ROUNDS */
    const char *label;
    struct measuring measuring; /* its budget ends the race, too */
};

/* A setting in its race. */
struct tuning_runner {
    size_t which;        /* in the workload's list */
    const char *setting; /* borrowed from the guests */
    char *message;       /* why it is out; owned, NULL: it is not */
    enum outcome outcome;
    double time; /* ns, of this round; NaN: none */
};

struct tuning_race {
    struct benchmark_name bench; /* without a setting */
    struct store_tuned key;      /* what the winner holds for */
    ARRAY(struct tuning_runner) runners;
    struct race race;
    bool kept;
    char *stands; /* the setting of an earlier race that was decided, which stays kept, as this one
                   * was not; owned, NULL: there is none */
    int64_t stands_ms;
};

struct tuning {
    const struct tuning_request *request;
    struct workload_options what; /* of the request, with parameters in any case */
    struct string_list params;
    struct workload workload;
    struct benchmark_name *names; /* of the workload's list */
    struct {
        size_t race, runner;
    } * places; /* of the same */
    ARRAY(struct tuning_race) races;
    struct race_rule rule;
    struct run run;
    struct measuring measuring; /* the request's, as rounds have it */
    struct recording recording;
    enum sweep_end end;
    double seconds, timed; /* in all; within cases */
    size_t measured;       /* cases */
};

/* -1 where there is nothing to tune: no parameter, or one setting alone. It must stay where it is;
 * close it whatever the result. */
int tuning_open(struct tuning *t, const struct tuning_request *request, struct error *err);
/* Measures until each race is decided, or the limits or the user end it, and keeps the winners;
 * of an interrupted one those that were decided. */
int tuning_run(struct tuning *t, struct store *store, struct error *err);
void tuning_close(struct tuning *t);

/* Has it a right result at all, so that there is a winner? */
bool tuning_race_has_winner(const struct tuning_race *r);
/* ns: median over its rounds; NaN: it has none. */
double tuning_time(const struct tuning_race *r, size_t runner);
/* How much slower than the best the winner of an undecided race may be, at most: 0.03; NaN where
 * that is not known. Of a decided one the tolerance. */
double tuning_at_most(const struct tuning_race *r);

/* What came of it, docs/formats/commands.md. */
cJSON *tuning_to_json(const struct tuning *t);

#endif
