/* SPDX-License-Identifier: MIT */
#include "cli/bisect_job.h"

#include "base/array.h"
#include "base/memory.h"
#include "cli/verdict_record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static int give_up(struct bisect_job *job, struct bisect_trial *trial, size_t place,
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
static int ensure_both(struct bisect_job *job, struct bisect_trial *trial, struct error *err)
{
    const size_t places[] = { trial->question.from, trial->question.to };

    for (size_t i = 0; i < 2; i++) {
        const struct built *built = &job->built[places[i]];
        if (ensure_built(job, places[i], err))
            return -1;
        if (!built->program)
            return give_up(job, trial, places[i], built->complaint, err);
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

/* From here on only what got worse is measured. */
static void cut_down(struct bisect_job *job)
{
    struct choice *choice = job->choice;
    size_t kept = 0;

    for (size_t i = 0; i < choice->list.nr; i++) {
        struct benchmark_name name;
        benchmark_name_of(&choice->list.items[i], &choice->device, &name);
        if (bisect_job_tracked(job, name.key))
            choice->list.items[kept++] = choice->list.items[i];
    }
    choice->list.nr = kept;
}

/* What the first comparison that found something found. */
static void track(struct bisect_job *job, const struct comparison *c)
{
    for (size_t i = 0; i < c->nr; i++) {
        const struct compare_row *row = &c->rows[i];
        if (row->verdict != VERDICT_REGRESSED && row->verdict != VERDICT_BROKEN)
            continue;
        struct bisect_tracked *tracked = array_push(&job->tracked);
        snprintf(tracked->key, sizeof(tracked->key), "%s", row->item->bench->key);
        tracked->verdict = row->verdict;
        tracked->change = row->change;
        tracked->interval = row->interval;
        tracked->floor = floor_of_steps(row);
    }
    for (size_t i = 0; i < job->request.compare.nr_floors; i++)
        *array_push(&job->floors) = job->request.compare.floors[i];
    for (size_t i = 0; i < job->tracked.nr; i++)
        *array_push(&job->floors) =
            (struct compare_floor) { job->tracked.items[i].key, job->tracked.items[i].floor };
    job->request.compare.floors = job->floors.items;
    job->request.compare.nr_floors = job->floors.nr;
    cut_down(job);
}

static int keep_record(const struct bisect_job *job, const struct ab_session *s, struct error *err)
{
    struct verdict_sides sides = { s->what[AB_BASE], s->what[AB_HEAD], &s->records[AB_BASE],
                                   &s->records[AB_HEAD] };
    int64_t id;

    return s->comparison.nr ? verdict_add(job->store, &sides, &s->comparison, &id, err) : 0;
}

/* An error that is one program's fault: it speaks another protocol, say. */
static int blame(struct bisect_job *job, struct bisect_trial *trial, struct error *err)
{
    const size_t places[] = { trial->question.to, trial->question.from };

    for (size_t i = 0; i < 2; i++) {
        const char *program = job->built[places[i]].program;
        struct error why = *err;
        if (strncmp(why.message, program, strlen(program)) == 0)
            return give_up(job, trial, places[i], why.message, err);
    }
    return -1;
}

/* Nothing that is looked for can be measured on both sides: which side is to blame? */
static int blame_rows(struct bisect_job *job, struct bisect_trial *trial,
                      const struct comparison *c, struct error *err)
{
    const struct compare_row *row = c->nr ? &c->rows[0] : NULL;
    bool base_works = row && row->base.outcome == OUTCOME_OK && row->base.launches > 0;
    size_t place = base_works ? trial->question.to : trial->question.from;

    return give_up(job, trial, place,
                   row && row->why[0] ? row->why : "none of the benchmarks can run there", err);
}

static int conclude(struct bisect_job *job, struct bisect_trial *trial,
                    const struct ab_session *session, struct error *err)
{
    trial->blocks = session->blocks;
    trial->seconds = session->seconds;
    if (keep_record(job, session, err))
        return -1;
    if (!bisect_job_answer(job, &session->comparison, trial))
        return blame_rows(job, trial, &session->comparison, err);
    if (trial->answer == BISECT_WORSE && job->tracked.nr == 0)
        track(job, &session->comparison);
    return 0;
}

/* Measures the two places in turn. 1: interrupted. */
static int compare(struct bisect_job *job, struct bisect_trial *trial, struct error *err)
{
    const size_t places[AB_SIDES] = { trial->question.from, trial->question.to };
    char names[AB_SIDES][GIT_HASH_SIZE];
    struct ab_session session;

    job->request.choice = job->choice;
    job->request.store = job->store;
    job->request.interrupted = job->interrupted;
    for (int i = 0; i < AB_SIDES; i++) {
        const struct built *built = &job->built[places[i]];
        snprintf(names[i], sizeof(names[i]), "%.7s", built->commit);
        job->request.side[i] = (struct ab_request_side) {
            .program = built->program,
            .name = names[i],
            .commit = built->commit,
        };
    }
    int rc = ab_session_run(&job->request, &session, err);
    if (rc == 0)
        rc = session.end == AB_INTERRUPTED ? 1 : conclude(job, trial, &session, err);
    else
        rc = blame(job, trial, err);
    ab_session_release(&session);
    return rc;
}

static void trial_release(struct bisect_trial *trial)
{
    free(trial->complaint);
    array_release(&trial->looks);
}

int bisect_job_step(struct bisect_job *job, struct bisect_question question, struct error *err)
{
    struct bisect_trial trial = { .question = question };

    if (!job->built)
        job->built = memory_zeroed(job->search.nr + 1, sizeof(*job->built));
    int rc = ensure_both(job, &trial, err);
    if (rc == 0 && trial.measured)
        rc = compare(job, &trial, err);
    if (rc) {
        trial_release(&trial);
        return job->interrupted && *job->interrupted ? 1 : rc;
    }
    if (trial.measured)
        bisect_tell(&job->search, question, trial.answer);
    trial.left = bisect_left(&job->search);
    *array_push(&job->trials) = trial;
    return 0;
}

/* How much worse, as a factor's log; the smaller, the better. */
static double harm(const struct bisect_look *look)
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
        if (harm(&trial->looks.items[i]) > harm(worst))
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
        trial_release(&job->trials.items[i]);
    free(job->built);
    array_release(&job->tracked);
    array_release(&job->floors);
    array_release(&job->trials);
    bisect_release(&job->search);
    git_range_release(&job->range);
}
