/* SPDX-License-Identifier: MIT */
#include "cli/bisect_report.h"

#include "base/json.h"

static void add_commit(cJSON *object, const struct git_commit *commit)
{
    json_add_string(object, "commit", commit->hash);
    json_add_string(object, "title", commit->title);
}

static void add_commit_as(cJSON *object, const char *key, const struct git_commit *commit)
{
    add_commit(cJSON_AddObjectToObject(object, key), commit);
}

static void add_change(cJSON *object, double change, struct interval interval)
{
    json_add_number(object, "change", change);
    cJSON *limits = cJSON_AddObjectToObject(object, "interval");
    json_add_number(limits, "low", interval.low);
    json_add_number(limits, "high", interval.high);
}

static void add_verdict(cJSON *object, const char *key, enum verdict verdict, double change,
                        struct interval interval)
{
    json_add_string(object, "key", key);
    json_add_string(object, "verdict", verdict_name(verdict));
    add_change(object, change, interval);
}

static cJSON *add_object(cJSON *array)
{
    cJSON *object = cJSON_CreateObject();

    cJSON_AddItemToArray(array, object);
    return object;
}

static void add_tracked(const struct bisect_job *job, cJSON *json)
{
    cJSON *array = cJSON_AddArrayToObject(json, "tracked");

    for (size_t i = 0; i < job->tracked.nr; i++) {
        const struct bisect_tracked *tracked = &job->tracked.items[i];
        cJSON *object = add_object(array);
        add_verdict(object, tracked->key, tracked->verdict, tracked->change, tracked->interval);
        json_add_number(object, "floor", tracked->floor);
    }
}

static void add_looks(const struct bisect_trial *trial, cJSON *json)
{
    cJSON *array = cJSON_AddArrayToObject(json, "benchmarks");

    for (size_t i = 0; i < trial->looks.nr; i++) {
        const struct bisect_look *look = &trial->looks.items[i];
        add_verdict(add_object(array), look->key, look->verdict, look->change, look->interval);
    }
}

static void add_step(const struct bisect_job *job, const struct bisect_trial *trial, cJSON *json)
{
    static const char *const answers[] = {
        [BISECT_WORSE] = "worse",
        [BISECT_NOT_WORSE] = "not_worse",
        [BISECT_UNTOLD] = "cannot_tell",
    };

    add_commit_as(json, "commit",
                  bisect_job_commit(job, trial->measured ? trial->question.to : trial->place));
    if (trial->measured)
        add_commit_as(json, "against", bisect_job_commit(job, trial->question.from));
    json_add_string(json, "answer", trial->measured ? answers[trial->answer] : "left_out");
    json_add_string(json, "complaint", trial->complaint);
    json_add_int(json, "blocks", trial->blocks);
    json_add_number(json, "seconds", trial->seconds);
    json_add_number(json, "left", trial->left);
    add_looks(trial, json);
}

static int add_culprit(const struct bisect_job *job, size_t place, cJSON *json, struct error *err)
{
    const struct git_commit *commit = bisect_job_commit(job, place);
    const struct bisect_trial *trial = bisect_job_evidence(job, place);
    const struct bisect_look *look = trial ? bisect_worst(trial) : NULL;
    struct git_details details;

    if (git_details(commit->hash, &details, err))
        return -1;
    cJSON *culprit = cJSON_AddObjectToObject(json, "culprit");
    add_commit(culprit, commit);
    json_add_string(culprit, "author", details.author);
    json_add_int(culprit, "date_ms", details.date_ms);
    json_add_string(culprit, "message", details.message);
    json_add_int(culprit, "parents", (int64_t)details.parents);
    if (look) {
        add_change(culprit, look->change, look->interval);
        json_add_string(culprit, "key", look->key);
    }
    git_details_release(&details);
    return 0;
}

static void add_candidates(const struct bisect_job *job, const struct bisect_range *range,
                           cJSON *json)
{
    cJSON *array = cJSON_AddArrayToObject(json, "candidates");

    json_add_number(json, "confidence", range->confidence);
    for (size_t place = range->first; place <= range->last; place++)
        add_commit(add_object(array), bisect_job_commit(job, place));
}

static const char *result_name(enum bisect_state state, bool one)
{
    if (state == BISECT_FOUND)
        return one ? "found" : "range";
    return state == BISECT_NOTHING ? "nothing" : "cannot_tell";
}

cJSON *bisect_to_json(const struct bisect_job *job, enum bisect_state state, struct error *err)
{
    struct bisect_range range = bisect_range(&job->search);
    int status = bisect_exit_status(job, state);
    bool one = status == 0;
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "schema_version", 1);
    add_commit_as(json, "good", &job->good);
    add_commit_as(json, "bad", bisect_job_commit(job, job->range.nr));
    json_add_string(json, "metric",
                    job->request.compare.metrics ? job->request.compare.metrics[0] : "p50");
    json_add_int(json, "commits", (int64_t)job->range.nr);
    json_add_int(json, "commits_by_merges", (int64_t)job->range.side);
    add_tracked(job, json);
    cJSON *steps = cJSON_AddArrayToObject(json, "steps");
    for (size_t i = 0; i < job->trials.nr; i++)
        add_step(job, &job->trials.items[i], add_object(steps));
    json_add_string(json, "result", result_name(state, one));
    if (state != BISECT_NOTHING && job->tracked.nr)
        add_candidates(job, &range, json);
    if (one && add_culprit(job, range.first, json, err)) {
        cJSON_Delete(json);
        return NULL;
    }
    json_add_int(json, "exit_status", status);
    return json;
}
