/* SPDX-License-Identifier: MIT */
#include "session/bisect_job.h"

#include "base/array.h"
#include "base/memory.h"
#include "session/verdict_record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is tracked under this key, of this metric or, NULL, of any; NULL: nothing. What became
 * broken is so whatever the metric. */
static const struct bisect_tracked *tracked_of_key(const struct bisect_job *job, const char *key,
                                                   const struct metric *metric)
{
    for (size_t i = 0; i < job->tracked.nr; i++) {
        const struct bisect_tracked *one = &job->tracked.items[i];
        if (strcmp(one->key, key) == 0 &&
            (!metric || one->metric == metric || one->verdict == VERDICT_BROKEN))
            return one;
    }
    return NULL;
}

/* A row without a time is of no metric in particular. */
static const struct bisect_tracked *tracked_of_row(const struct bisect_job *job,
                                                   const struct compare_row *row)
{
    bool both = row->base.outcome == OUTCOME_OK && row->head.outcome == OUTCOME_OK;

    return tracked_of_key(job, row->item->bench->key, both ? row->item->metric : NULL);
}

/* The benchmark is not there, or does not work on either side: no evidence could tell more. */
static bool is_silent_verdict(enum verdict verdict)
{
    return verdict == VERDICT_FAILING || verdict == VERDICT_NEW || verdict == VERDICT_MISSING;
}

/* What a row says in a step, and whether it can say anything. What became broken is asked for its
 * result, not for its time; what got slower may break on the way, and then its time is not known.
 */
static enum bisect_answer row_answer(const struct bisect_tracked *tracked,
                                     const struct compare_row *row, bool *silent)
{
    bool both = row->base.outcome == OUTCOME_OK && row->head.outcome == OUTCOME_OK;

    *silent = is_silent_verdict(row->verdict);
    if (!tracked || row->verdict == VERDICT_BROKEN) {
        *silent |= tracked && tracked->verdict != VERDICT_BROKEN;
        return *silent ? BISECT_UNTOLD : bisect_read(row, 0);
    }
    if (tracked->verdict == VERDICT_BROKEN) {
        *silent = !both;
        return both ? BISECT_NOT_WORSE : BISECT_UNTOLD;
    }
    return bisect_read(row, tracked->floor);
}

static void add_bisect_look(const struct compare_row *row, struct bisect_trial *trial)
{
    struct bisect_look *look = array_push(&trial->looks);

    *look = (struct bisect_look) {
        .metric = row->item->metric,
        .verdict = row->verdict,
        .change = row->change,
        .interval = row->interval,
        .worse = row->worse,
    };
    snprintf(look->key, sizeof(look->key), "%s", row->item->bench->key);
}

bool bisect_job_answer(const struct bisect_job *job, const struct comparison *c,
                       struct bisect_trial *trial)
{
    size_t count[BISECT_UNTOLD + 1] = { 0 }, silences = 0;

    for (size_t i = 0; i < c->nr; i++) {
        const struct compare_row *row = &c->rows[i];
        const struct bisect_tracked *tracked = tracked_of_row(job, row);
        bool silent;
        if (job->tracked.nr > 0 && !tracked)
            continue; /* another metric of a benchmark that is looked at */
        enum bisect_answer one = row_answer(tracked, row, &silent);
        silences += silent;
        count[one] += !silent;
        add_bisect_look(row, trial);
    }
    trial->answer = count[BISECT_WORSE]    ? BISECT_WORSE
                    : count[BISECT_UNTOLD] ? BISECT_UNTOLD
                                           : BISECT_NOT_WORSE;
    if (count[BISECT_WORSE] || count[BISECT_UNTOLD])
        return true;
    /* Of what is tracked, the one that is silent may be the one that matters. */
    return count[BISECT_NOT_WORSE] > 0 && (job->tracked.nr == 0 || silences == 0);
}

static const double floor_max = 5; /* a floor must stay below 10 */

const struct git_commit *bisect_job_commit(const struct bisect_job *job, size_t place)
{
    return place == 0 ? &job->good : &job->range.items[place - 1];
}

/* Builds a place once. */
static int ensure_built(struct bisect_job *job, size_t place, struct error *err)
{
    struct built *built = &job->built[place];

    if (built->program || built->complaint)
        return 0;
    return builds_make(bisect_job_commit(job, place)->hash, &job->recipe, built, err);
}

/* The place is out, or the search is over where it is one of the ends. */
static int give_up_place(struct bisect_job *job, struct bisect_trial *trial, size_t place,
                         const char *why, struct error *err)
{
    if (place == 0 || place == job->search.nr)
        return error_set(err, "the %s commit %.7s cannot be measured: %s", place ? "bad" : "good",
                         bisect_job_commit(job, place)->hash, why);
    trial->measured = false;
    trial->place = place;
    trial->complaint = memory_string(why);
    bisect_unbuilt(&job->search, place);
    return 0;
}

/* Whether both can be measured, as far as building tells; else one is given up. */
static int ensure_both_built(struct bisect_job *job, struct bisect_trial *trial, struct error *err)
{
    const size_t places[] = { trial->question.from, trial->question.to };

    for (size_t i = 0; i < 2; i++) {
        const struct built *built = &job->built[places[i]];
        if (ensure_built(job, places[i], err))
            return -1;
        if (!built->program)
            return give_up_place(job, trial, places[i], built->complaint, err);
    }
    trial->measured = true;
    return 0;
}

/* Half of the change that is surely there, as a factor above 1; `row` is regressed. */
static double floor_of_steps(const struct compare_row *row)
{
    bool up = row->item->metric->direction == LOWER_IS_BETTER;
    double factor = up ? 1 + row->interval.low : 1 / (1 + row->interval.high);
    double half = sqrt(factor) - 1;

    if (!(half > row->delta)) /* also where it is not a number */
        return row->delta;
    return half < floor_max ? half : floor_max;
}

/* A floor of a comparison is that of a benchmark, so the finest of its metrics counts. */
static void share_tracked_floors(struct bisect_job *job)
{
    struct bisect_tracked *all = job->tracked.items;

    for (size_t i = 0; i < job->tracked.nr; i++)
        for (size_t j = 0; j < job->tracked.nr; j++)
            if (strcmp(all[i].key, all[j].key) == 0 && all[j].floor < all[i].floor)
                all[i].floor = all[j].floor;
}

static void cut_down_benches(struct bisect_job *job)
{
    for (size_t i = 0; i < job->tracked.nr; i++)
        *array_push(&job->keys) = job->tracked.items[i].key;
    job->bench.filters = job->keys.items;
    job->bench.nr_filters = job->keys.nr;
}

/* From here on only what got worse is measured. */
static void cut_down_workload(struct bisect_job *job)
{
    struct workload *workload = job->workload;
    size_t kept = 0;

    if (job->bench.benches) {
        cut_down_benches(job);
        return;
    }
    for (size_t i = 0; i < workload->list.nr; i++) {
        struct benchmark_name name;
        benchmark_name_of(&workload->list.items[i], &workload->device, &name);
        if (tracked_of_key(job, name.key, NULL))
            workload->list.items[kept++] = workload->list.items[i];
    }
    workload->list.nr = kept;
}

/* Each once: there may be more rows than metrics can be asked for. */
static void push_tracked_metric(struct bisect_job *job, const char *id)
{
    for (size_t i = 0; i < job->metrics.nr; i++)
        if (strcmp(job->metrics.items[i], id) == 0)
            return;
    *array_push(&job->metrics) = id;
}

/* Whatever the others say is not asked for any more. What became broken is a row of any of them. */
static void cut_down_metrics(struct bisect_job *job)
{
    struct compare_settings *settings = &job->request.compare;

    for (size_t i = 0; i < job->tracked.nr; i++)
        if (job->tracked.items[i].verdict == VERDICT_BROKEN)
            return;
    if (!settings->metrics || settings->rest_by_usual)
        return;
    for (size_t i = 0; i < job->tracked.nr; i++)
        push_tracked_metric(job, job->tracked.items[i].metric->id);
    *array_push(&job->metrics) = NULL;
    settings->metrics = job->metrics.items;
}

/* What the first comparison that found something found. */
static void track_worse(struct bisect_job *job, const struct comparison *c)
{
    for (size_t i = 0; i < c->nr; i++) {
        const struct compare_row *row = &c->rows[i];
        if (row->verdict != VERDICT_REGRESSED && row->verdict != VERDICT_BROKEN)
            continue;
        struct bisect_tracked *tracked = array_push(&job->tracked);
        snprintf(tracked->key, sizeof(tracked->key), "%s", row->item->bench->key);
        tracked->metric = row->item->metric;
        tracked->verdict = row->verdict;
        tracked->change = row->change;
        tracked->interval = row->interval;
        tracked->floor = floor_of_steps(row);
    }
    share_tracked_floors(job);
    for (size_t i = 0; i < job->request.compare.nr_floors; i++)
        *array_push(&job->floors) = job->request.compare.floors[i];
    for (size_t i = 0; i < job->tracked.nr; i++)
        *array_push(&job->floors) =
            (struct compare_floor) { job->tracked.items[i].key, job->tracked.items[i].floor };
    job->request.compare.floors = job->floors.items;
    job->request.compare.nr_floors = job->floors.nr;
    cut_down_workload(job);
    cut_down_metrics(job);
}

static void record_trial(const struct bisect_job *job, const struct ab_session *s)
{
    struct verdict_sides sides = { s->what[AB_BASE], s->what[AB_HEAD], &s->records[AB_BASE],
                                   &s->records[AB_HEAD] };

    verdict_keep(job->store, &sides, &s->comparison, job->request.measuring.sink);
}

/* An error that is one program's fault: it speaks another protocol, say. */
static int blame_program(struct bisect_job *job, struct bisect_trial *trial, struct error *err)
{
    const size_t places[] = { trial->question.to, trial->question.from };

    for (size_t i = 0; i < 2; i++) {
        const char *program = job->built[places[i]].program;
        struct error why = *err;
        if (strncmp(why.message, program, strlen(program)) == 0)
            return give_up_place(job, trial, places[i], why.message, err);
    }
    return -1;
}

/* What a side said of a benchmark that it did not measure: that it does not know its parameter. */
static const char *said_of(const struct records *r, const char *key)
{
    for (size_t i = 0; i < r->nr; i++) {
        const struct measurement *m = &r->items[i].m;
        if (m->outcome == OUTCOME_UNSUPPORTED && m->message && strcmp(m->bench.key, key) == 0)
            return m->message;
    }
    return NULL;
}

/* Nothing that is looked for can be measured on both sides: which side is to blame? */
static int blame_rows(struct bisect_job *job, struct bisect_trial *trial,
                      const struct ab_session *session, struct error *err)
{
    const struct comparison *c = &session->comparison;
    const struct compare_row *row = c->nr ? &c->rows[0] : NULL;
    bool base_works = row && row->base.outcome == OUTCOME_OK && row->base.launches > 0;
    size_t place = base_works ? trial->question.to : trial->question.from;
    const struct records *side = &session->records[base_works ? AB_HEAD : AB_BASE];
    const char *why = row ? said_of(side, row->item->bench->key) : NULL;

    if (!why)
        why = row && row->why[0] ? row->why : "none of the benchmarks can run there";
    return give_up_place(job, trial, place, why, err);
}

static int conclude_trial(struct bisect_job *job, struct bisect_trial *trial,
                          const struct ab_session *session, struct error *err)
{
    trial->blocks = session->blocks;
    trial->seconds = session->seconds;
    record_trial(job, session);
    if (!bisect_job_answer(job, &session->comparison, trial))
        return blame_rows(job, trial, session, err);
    if (trial->answer == BISECT_WORSE && job->tracked.nr == 0)
        track_worse(job, &session->comparison);
    return 0;
}

static int measure_places(struct bisect_job *job, const struct built *const sides[AB_SIDES],
                          char names[AB_SIDES][GIT_HASH_SIZE], struct ab_session *session,
                          struct error *err)
{
    struct ab_request *r = &job->request;
    struct bench_ab_request *bench = &job->bench;

    if (!bench->benches) {
        r->workload = job->workload;
        r->store = job->store;
        for (int i = 0; i < AB_SIDES; i++)
            r->side[i] = (struct ab_request_side) { .program = sides[i]->program,
                                                    .name = names[i],
                                                    .commit = sides[i]->commit };
        return ab_session_run(r, session, err);
    }
    for (int i = 0; i < AB_SIDES; i++) {
        bench->side[i] = sides[i];
        bench->name[i] = names[i];
    }
    bench->store = job->store;
    bench->compare = r->compare;
    bench->label = r->label;
    bench->measuring = r->measuring;
    bench->blocks_max = r->blocks_max;
    return bench_ab_run(bench, session, err);
}

/* Measures the two places in turn. 1: interrupted. */
static int compare_places(struct bisect_job *job, struct bisect_trial *trial, struct error *err)
{
    const size_t places[AB_SIDES] = { trial->question.from, trial->question.to };
    const struct built *sides[AB_SIDES];
    char names[AB_SIDES][GIT_HASH_SIZE];
    struct ab_session session;

    for (int i = 0; i < AB_SIDES; i++) {
        sides[i] = &job->built[places[i]];
        snprintf(names[i], sizeof(names[i]), "%.7s", sides[i]->commit);
    }
    int rc = measure_places(job, sides, names, &session, err);
    if (rc == 0) {
        rc = session.end == AB_INTERRUPTED ? 1 : conclude_trial(job, trial, &session, err);
    } else if (job->bench.benches && job->bench.failed >= 0) {
        struct error why = *err;
        rc = give_up_place(job, trial, places[job->bench.failed], why.message, err);
    } else if (!job->bench.benches) {
        rc = blame_program(job, trial, err);
    }
    ab_session_release(&session);
    return rc;
}

static void bisect_trial_release(struct bisect_trial *trial)
{
    free(trial->complaint);
    array_release(&trial->looks);
}

int bisect_job_step(struct bisect_job *job, struct bisect_question question, struct error *err)
{
    struct bisect_trial trial = { .question = question };

    if (!job->built)
        job->built = memory_zeroed(job->search.nr + 1, sizeof(*job->built));
    int rc = ensure_both_built(job, &trial, err);
    if (rc == 0 && trial.measured)
        rc = compare_places(job, &trial, err);
    if (rc) {
        bisect_trial_release(&trial);
        return measuring_interrupted(&job->request.measuring) ? 1 : rc;
    }
    if (trial.measured)
        bisect_tell(&job->search, question, trial.answer);
    trial.left = bisect_left(&job->search);
    *array_push(&job->trials) = trial;
    return 0;
}

/* How much worse, as a factor's log; the smaller, the better. */
static double look_harm(const struct bisect_look *look)
{
    double size = fabs(log1p(look->change));

    if (look->verdict == VERDICT_BROKEN)
        return INFINITY;
    if (isnan(size))
        return -INFINITY;
    return look->worse ? size : -size;
}

const struct bisect_look *bisect_worst(const struct bisect_trial *trial)
{
    const struct bisect_look *worst = trial->looks.nr ? trial->looks.items : NULL;

    for (size_t i = 1; i < trial->looks.nr; i++)
        if (look_harm(&trial->looks.items[i]) > look_harm(worst))
            worst = &trial->looks.items[i];
    return worst;
}

const struct bisect_trial *bisect_job_trial(const struct bisect_job *job,
                                            struct bisect_question question)
{
    for (size_t i = job->trials.nr; i-- > 0;) {
        const struct bisect_question *q = &job->trials.items[i].question;
        if (job->trials.items[i].measured && q->from == question.from && q->to == question.to)
            return &job->trials.items[i];
    }
    return NULL;
}

const struct bisect_trial *bisect_job_evidence(const struct bisect_job *job, size_t place)
{
    const struct bisect_trial *trial =
        bisect_job_trial(job, (struct bisect_question) { place - 1, place });

    return trial ? trial : bisect_job_trial(job, (struct bisect_question) { 0, place });
}

void bisect_job_release(struct bisect_job *job)
{
    for (size_t i = 0; job->built && i <= job->search.nr; i++)
        built_release(&job->built[i]);
    for (size_t i = 0; i < job->trials.nr; i++)
        bisect_trial_release(&job->trials.items[i]);
    free(job->built);
    array_release(&job->tracked);
    array_release(&job->keys);
    array_release(&job->metrics);
    array_release(&job->floors);
    array_release(&job->trials);
    bisect_release(&job->search);
    git_range_release(&job->range);
}
