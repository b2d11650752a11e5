/* SPDX-License-Identifier: MIT */
#include "cli/bisect_job.h"

#include <stdio.h>
#include <string.h>

const struct bisect_tracked *bisect_job_tracked(const struct bisect_job *job, const char *key)
{
    for (size_t i = 0; i < job->tracked.nr; i++)
        if (strcmp(job->tracked.items[i].key, key) == 0)
            return &job->tracked.items[i];
    return NULL;
}

/* The benchmark is not there, or does not work on either side: no evidence could tell more. */
static bool is_silent(enum verdict verdict)
{
    return verdict == VERDICT_FAILING || verdict == VERDICT_NEW || verdict == VERDICT_MISSING;
}

/* What a row says in a step, and whether it can say anything. What became broken is asked for its
 * result, not for its time; what got slower may break on the way, and then its time is not known.
 */
static enum bisect_answer answer_of(const struct bisect_tracked *tracked,
                                    const struct compare_row *row, bool *silent)
{
    bool both = row->base.outcome == OUTCOME_OK && row->head.outcome == OUTCOME_OK;

    *silent = is_silent(row->verdict);
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

static void add_look(const struct compare_row *row, struct bisect_trial *trial)
{
    struct bisect_look *look = array_push(&trial->looks);

    *look = (struct bisect_look) {
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
        bool silent;
        enum bisect_answer one =
            answer_of(bisect_job_tracked(job, row->item->bench->key), row, &silent);
        silences += silent;
        count[one] += !silent;
        add_look(row, trial);
    }
    trial->answer = count[BISECT_WORSE]    ? BISECT_WORSE
                    : count[BISECT_UNTOLD] ? BISECT_UNTOLD
                                           : BISECT_NOT_WORSE;
    if (count[BISECT_WORSE] || count[BISECT_UNTOLD])
        return true;
    /* Of what is tracked, the one that is silent may be the one that matters. */
    return count[BISECT_NOT_WORSE] > 0 && (job->tracked.nr == 0 || silences == 0);
}
