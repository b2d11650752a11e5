/* SPDX-License-Identifier: MIT */
#include "cli/bisect_report.h"

#include "base/text.h"
#include "cli/command.h"
#include "output/escape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LISTED_MAX = 20, CHANGE_SIZE = 64 };

static const char *answer_name(const struct bisect_trial *trial)
{
    static const char *const names[] = {
        [BISECT_WORSE] = "worse",
        [BISECT_NOT_WORSE] = "not worse",
        [BISECT_UNTOLD] = "cannot tell",
    };

    return trial->measured ? names[trial->answer] : "left out";
}

/* "+10.1 % (+9.0 to +11.2 %)", "broken", or nothing. */
static const char *change_text(const struct bisect_look *look, char text[CHANGE_SIZE])
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

static void add_commit(const struct git_commit *commit, struct strbuf *out)
{
    strbuf_addf(out, "%.7s  ", commit->hash);
    escape_plain(out, commit->title);
}

void bisect_report_head(const struct bisect_job *job, struct strbuf *out)
{
    size_t nr = job->range.nr;

    strbuf_adds(out, "good  ");
    add_commit(&job->good, out);
    strbuf_adds(out, "\nbad   ");
    add_commit(bisect_job_commit(job, nr), out);
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
                against, answer_name(trial), change_text(bisect_worst(trial), change), trial->left);
    escape_plain(out, commit->title);
    strbuf_addc(out, '\n');
}

static bool is_one(const struct bisect_job *job, enum bisect_state state)
{
    struct bisect_range range = bisect_range(&job->search);

    return state == BISECT_FOUND && range.first == range.last;
}

int bisect_exit_status(const struct bisect_job *job, enum bisect_state state)
{
    return is_one(job, state) ? EXIT_SAME : EXIT_UNDECIDED;
}

/* The message, indented, line by line: each is cleaned. */
static void add_message(const char *message, struct strbuf *out)
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

static void add_evidence(const struct bisect_job *job, size_t place, struct strbuf *out)
{
    const struct bisect_trial *trial = bisect_job_evidence(job, place);
    const struct bisect_look *look = trial ? bisect_worst(trial) : NULL;
    char change[CHANGE_SIZE];

    if (!look)
        return;
    strbuf_addf(out, "change  %s against %.7s, ", change_text(look, change),
                bisect_job_commit(job, trial->question.from)->hash);
    escape_plain(out, look->key);
    if (job->tracked.nr > 1)
        strbuf_addf(out, " (the worst of %zu)", job->tracked.nr);
    strbuf_addc(out, '\n');
}

static int add_culprit(const struct bisect_job *job, const struct bisect_range *range,
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
    add_evidence(job, range->first, out);
    strbuf_addc(out, '\n');
    add_message(details.message, out);
    strbuf_addf(out, "\n`git show %.7s` shows it", commit->hash);
    if (details.parents > 1)
        strbuf_addf(out, "; it is a merge: `git log %.7s^1..%.7s` lists what it brought",
                    commit->hash, commit->hash);
    strbuf_addc(out, '\n');
    git_details_release(&details);
    return 0;
}

/* Why a commit cannot be told from the next one, or nothing. */
static const char *why_not(const struct bisect_job *job, size_t place)
{
    if (job->search.unbuilt[place])
        return job->built[place].program ? "  (cannot be measured)" : "  (does not build)";
    const struct bisect_trial *trial = bisect_job_trial(job, (struct bisect_question) { 0, place });
    return trial && trial->answer == BISECT_UNTOLD ? "  (could not be told)" : "";
}

static void add_candidates(const struct bisect_job *job, const struct bisect_range *range,
                           struct strbuf *out)
{
    for (size_t place = range->first; place <= range->last; place++) {
        if (place == range->first + LISTED_MAX) {
            strbuf_addf(out, "  ... and %zu more\n", range->last - place + 1);
            return;
        }
        strbuf_adds(out, "  ");
        add_commit(bisect_job_commit(job, place), out);
        strbuf_addf(out, "%s\n", why_not(job, place));
    }
}

int bisect_report_end(const struct bisect_job *job, enum bisect_state state, struct strbuf *out,
                      struct error *err)
{
    struct bisect_range range = bisect_range(&job->search);
    const char *good = job->good.hash, *bad = bisect_job_commit(job, job->range.nr)->hash;
    size_t left = range.last - range.first + 1;

    strbuf_addc(out, '\n');
    if (is_one(job, state))
        return add_culprit(job, &range, out, err);
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
    add_candidates(job, &range, out);
    return 0;
}
