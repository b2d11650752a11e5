/* SPDX-License-Identifier: MIT */
#include "cli/render/bisect_report.h"

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "text/escape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LISTED_MAX = 20, CHANGE_SIZE = 64 };

static const char *bisect_answer_name(const struct bisect_trial *trial)
{
    static const char *const names[] = {
        [BISECT_WORSE] = "worse",
        [BISECT_NOT_WORSE] = "not worse",
        [BISECT_UNTOLD] = "cannot tell",
    };

    return trial->measured ? names[trial->answer] : "left out";
}

/* "+10.1 % (+9.0 to +11.2 %)", "broken", or nothing. */
static const char *bisect_change_text(const struct bisect_look *look, char text[CHANGE_SIZE])
{
    char change[TEXT_UNIT_SIZE], range[TEXT_UNIT_SIZE];

    text[0] = '\0';
    if (look && isfinite(look->change) && isfinite(look->interval.low) &&
        isfinite(look->interval.high))
        snprintf(text, CHANGE_SIZE, "%s (%s)", text_percent(look->change, change),
                 text_percent_range(look->interval.low, look->interval.high, range));
    else if (look && isfinite(look->change))
        text_percent(look->change, text);
    else if (look)
        snprintf(text, CHANGE_SIZE, "%s", verdict_name(look->verdict));
    return text;
}

static void add_bisect_commit(const struct git_commit *commit, struct strbuf *out)
{
    strbuf_addf(out, "%.7s  ", commit->hash);
    escape_plain(out, commit->title);
}

void bisect_report_head(const struct bisect_job *job, struct strbuf *out)
{
    size_t nr = job->range.nr;

    strbuf_adds(out, "good  ");
    add_bisect_commit(&job->good, out);
    strbuf_adds(out, "\nbad   ");
    add_bisect_commit(bisect_job_commit(job, nr), out);
    strbuf_addf(out, "\n%zu commit%s after the good one", nr, nr == 1 ? "" : "s");
    if (job->range.side)
        strbuf_addf(out,
                    ", along first parents; %zu more came in by merges and count as the merge\n",
                    job->range.side);
    else
        strbuf_addc(out, '\n');
    strbuf_addf(out, "\n%4s  %-7s  %-7s  %-11s  %-26s  %4s  %s\n", "step", "commit", "against",
                "answer", "change", "left", "title");
}

void bisect_report_step(const struct bisect_job *job, struct strbuf *out)
{
    const struct bisect_trial *trial = &job->trials.items[job->trials.nr - 1];
    size_t place = trial->measured ? trial->question.to : trial->place;
    const struct git_commit *commit = bisect_job_commit(job, place);
    char change[CHANGE_SIZE], against[8] = "good";

    if (!trial->measured)
        against[0] = '\0';
    else if (trial->question.from > 0)
        snprintf(against, sizeof(against), "%.7s",
                 bisect_job_commit(job, trial->question.from)->hash);
    strbuf_addf(out, "%4zu  %.7s  %-7s  %-11s  %-26s  %4.0f  ", job->trials.nr, commit->hash,
                against, bisect_answer_name(trial), bisect_change_text(bisect_worst(trial), change),
                trial->left);
    escape_plain(out, commit->title);
    strbuf_addc(out, '\n');
}

static bool is_one_culprit(const struct bisect_job *job, enum bisect_state state)
{
    struct bisect_range range = bisect_range(&job->search);

    return state == BISECT_FOUND && range.first == range.last;
}

int bisect_exit_status(const struct bisect_job *job, enum bisect_state state)
{
    return is_one_culprit(job, state) ? EXIT_SAME : EXIT_UNDECIDED;
}

/* The message, indented, line by line: each is cleaned. */
static void add_commit_message(const char *message, struct strbuf *out)
{
    struct strbuf line;

    strbuf_init(&line);
    while (*message) {
        size_t length = strcspn(message, "\n");
        strbuf_clear(&line);
        strbuf_add(&line, message, length);
        strbuf_adds(out, length ? "    " : "");
        escape_plain(out, line.data);
        strbuf_addc(out, '\n');
        message += length + (message[length] != '\0');
    }
    strbuf_release(&line);
}

static void add_bisect_evidence(const struct bisect_job *job, size_t place, struct strbuf *out)
{
    const struct bisect_trial *trial = bisect_job_evidence(job, place);
    const struct bisect_look *look = trial ? bisect_worst(trial) : NULL;
    char change[CHANGE_SIZE];

    if (!look)
        return;
    strbuf_addf(out, "change  %s against %.7s, ", bisect_change_text(look, change),
                bisect_job_commit(job, trial->question.from)->hash);
    escape_plain(out, look->key);
    if (strcmp(look->metric->id, COMPARE_USUAL_METRIC) != 0)
        strbuf_addf(out, ", %s", look->metric->label);
    if (job->tracked.nr > 1)
        strbuf_addf(out, " (the worst of %zu)", job->tracked.nr);
    strbuf_addc(out, '\n');
}

static int add_bisect_culprit(const struct bisect_job *job, const struct bisect_range *range,
                              struct strbuf *out, struct error *err)
{
    const struct git_commit *commit = bisect_job_commit(job, range->first);
    char date[TEXT_UNIT_SIZE];
    struct git_details details;

    if (git_details(commit->hash, &details, err))
        return -1;
    strbuf_addf(out, "%.7s is the first that is worse, with a confidence of %.0f %%\n\n",
                commit->hash, floor(100 * range->confidence));
    strbuf_addf(out, "commit  %s\nauthor  ", commit->hash);
    escape_plain(out, details.author);
    strbuf_addf(out, "\ndate    %s\n", text_timestamp(details.date_ms, date));
    add_bisect_evidence(job, range->first, out);
    strbuf_addc(out, '\n');
    add_commit_message(details.message, out);
    strbuf_addf(out, "\n`git show %.7s` shows it", commit->hash);
    if (details.parents > 1)
        strbuf_addf(out, "; it is a merge: `git log %.7s^1..%.7s` lists what it brought",
                    commit->hash, commit->hash);
    strbuf_addc(out, '\n');
    git_details_release(&details);
    return 0;
}

/* Why a commit cannot be told from the next one, or nothing. */
static const char *why_candidate(const struct bisect_job *job, size_t place)
{
    if (job->search.unbuilt[place])
        return job->built[place].program ? "  (cannot be measured)" : "  (does not build)";
    const struct bisect_trial *trial = bisect_job_trial(job, (struct bisect_question) { 0, place });
    return trial && trial->answer == BISECT_UNTOLD ? "  (could not be told)" : "";
}

static void add_bisect_candidates(const struct bisect_job *job, const struct bisect_range *range,
                                  struct strbuf *out)
{
    for (size_t place = range->first; place <= range->last; place++) {
        if (place == range->first + LISTED_MAX) {
            strbuf_addf(out, "  ... and %zu more\n", range->last - place + 1);
            return;
        }
        strbuf_adds(out, "  ");
        add_bisect_commit(bisect_job_commit(job, place), out);
        strbuf_addf(out, "%s\n", why_candidate(job, place));
    }
}

int bisect_report_end(const struct bisect_job *job, enum bisect_state state, struct strbuf *out,
                      struct error *err)
{
    struct bisect_range range = bisect_range(&job->search);
    const char *good = job->good.hash, *bad = bisect_job_commit(job, job->range.nr)->hash;
    size_t left = range.last - range.first + 1;

    strbuf_addc(out, '\n');
    if (is_one_culprit(job, state))
        return add_bisect_culprit(job, &range, out, err);
    if (state == BISECT_NOTHING) {
        strbuf_addf(out, "%.7s is not worse than %.7s in what was measured: nothing to look for\n",
                    bad, good);
        return 0;
    }
    if (job->tracked.nr == 0) {
        strbuf_addf(out,
                    "cannot tell whether %.7s is worse than %.7s: give more --blocks or "
                    "--budget\n",
                    bad, good);
        return 0;
    }
    if (state == BISECT_FOUND)
        strbuf_addf(out,
                    "one of these %zu is the first that is worse, with a confidence of "
                    "%.0f %%\n",
                    left, floor(100 * range.confidence));
    else
        strbuf_addf(out,
                    "cannot tell which it is; one of these %zu, with a confidence of %.0f %%\n",
                    left, floor(100 * range.confidence));
    add_bisect_candidates(job, &range, out);
    return 0;
}

/* ---- JSON ---- */

static void add_commit_json(cJSON *object, const struct git_commit *commit)
{
    json_add_string(object, "commit", commit->hash);
    json_add_string(object, "title", commit->title);
}

static void add_commit_json_as(cJSON *object, const char *key, const struct git_commit *commit)
{
    add_commit_json(cJSON_AddObjectToObject(object, key), commit);
}

static void add_change_json(cJSON *object, double change, struct interval interval)
{
    json_add_number(object, "change", change);
    cJSON *limits = cJSON_AddObjectToObject(object, "interval");
    json_add_number(limits, "low", interval.low);
    json_add_number(limits, "high", interval.high);
}

static void add_verdict_json(cJSON *object, const char *key, const struct metric *metric,
                             enum verdict verdict, double change, struct interval interval)
{
    json_add_string(object, "key", key);
    json_add_string(object, "metric", metric->id);
    json_add_string(object, "verdict", verdict_name(verdict));
    add_change_json(object, change, interval);
}

static cJSON *add_json_object(cJSON *array)
{
    cJSON *object = cJSON_CreateObject();

    cJSON_AddItemToArray(array, object);
    return object;
}

static void add_tracked_json(const struct bisect_job *job, cJSON *json)
{
    cJSON *array = cJSON_AddArrayToObject(json, "tracked");

    for (size_t i = 0; i < job->tracked.nr; i++) {
        const struct bisect_tracked *tracked = &job->tracked.items[i];
        cJSON *object = add_json_object(array);
        add_verdict_json(object, tracked->key, tracked->metric, tracked->verdict, tracked->change,
                         tracked->interval);
        json_add_number(object, "floor", tracked->floor);
    }
}

static void add_looks_json(const struct bisect_trial *trial, cJSON *json)
{
    cJSON *array = cJSON_AddArrayToObject(json, "benchmarks");

    for (size_t i = 0; i < trial->looks.nr; i++) {
        const struct bisect_look *look = &trial->looks.items[i];
        add_verdict_json(add_json_object(array), look->key, look->metric, look->verdict,
                         look->change, look->interval);
    }
}

static void add_step_json(const struct bisect_job *job, const struct bisect_trial *trial,
                          cJSON *json)
{
    static const char *const answers[] = {
        [BISECT_WORSE] = "worse",
        [BISECT_NOT_WORSE] = "not_worse",
        [BISECT_UNTOLD] = "cannot_tell",
    };

    add_commit_json_as(json, "commit",
                       bisect_job_commit(job, trial->measured ? trial->question.to : trial->place));
    if (trial->measured)
        add_commit_json_as(json, "against", bisect_job_commit(job, trial->question.from));
    json_add_string(json, "answer", trial->measured ? answers[trial->answer] : "left_out");
    json_add_string(json, "complaint", trial->complaint);
    json_add_int(json, "blocks", trial->blocks);
    json_add_number(json, "seconds", trial->seconds);
    json_add_number(json, "left", trial->left);
    add_looks_json(trial, json);
}

static int add_culprit_json(const struct bisect_job *job, size_t place, cJSON *json,
                            struct error *err)
{
    const struct git_commit *commit = bisect_job_commit(job, place);
    const struct bisect_trial *trial = bisect_job_evidence(job, place);
    const struct bisect_look *look = trial ? bisect_worst(trial) : NULL;
    struct git_details details;

    if (git_details(commit->hash, &details, err))
        return -1;
    cJSON *culprit = cJSON_AddObjectToObject(json, "culprit");
    add_commit_json(culprit, commit);
    json_add_string(culprit, "author", details.author);
    json_add_int(culprit, "date_ms", details.date_ms);
    json_add_string(culprit, "message", details.message);
    json_add_int(culprit, "parents", (int64_t)details.parents);
    if (look) {
        add_change_json(culprit, look->change, look->interval);
        json_add_string(culprit, "key", look->key);
        json_add_string(culprit, "metric", look->metric->id);
    }
    git_details_release(&details);
    return 0;
}

static void add_candidates_json(const struct bisect_job *job, const struct bisect_range *range,
                                cJSON *json)
{
    cJSON *array = cJSON_AddArrayToObject(json, "candidates");

    json_add_number(json, "confidence", range->confidence);
    for (size_t place = range->first; place <= range->last; place++)
        add_commit_json(add_json_object(array), bisect_job_commit(job, place));
}

static const char *bisect_result_name(enum bisect_state state, bool one)
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
    add_commit_json_as(json, "good", &job->good);
    add_commit_json_as(json, "bad", bisect_job_commit(job, job->range.nr));
    json_add_string(json, "metric",
                    job->request.compare.metrics ? job->request.compare.metrics[0]
                                                 : COMPARE_USUAL_METRIC);
    json_add_int(json, "commits", (int64_t)job->range.nr);
    json_add_int(json, "commits_by_merges", (int64_t)job->range.side);
    add_tracked_json(job, json);
    cJSON *steps = cJSON_AddArrayToObject(json, "steps");
    for (size_t i = 0; i < job->trials.nr; i++)
        add_step_json(job, &job->trials.items[i], add_json_object(steps));
    json_add_string(json, "result", bisect_result_name(state, one));
    if (state != BISECT_NOTHING && job->tracked.nr)
        add_candidates_json(job, &range, json);
    if (one && add_culprit_json(job, range.first, json, err)) {
        cJSON_Delete(json);
        return NULL;
    }
    json_add_int(json, "exit_status", status);
    return json;
}
