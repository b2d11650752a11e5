/* SPDX-License-Identifier: MIT */
#include "overview/overview.h"

#include "base/array.h"
#include "base/text.h"
#include "overview/overview_parts.h"
#include "reporters/compare_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *overview_tone_name(enum overview_tone tone)
{
    static const char *const names[OVERVIEW_TONES] = { "plain", "good", "open", "bad" };

    return names[tone];
}

const char *overview_sign(enum overview_tone tone)
{
    static const char *const signs[OVERVIEW_TONES] = { "●", "▼", "?", "▲" };

    return signs[tone];
}

/* ---- the answer ---- */

static const char *overview_benchmarks(size_t nr)
{
    return nr == 1 ? "benchmark" : "benchmarks";
}

static void overview_say_alarms(const struct comparison *c, size_t worse, size_t broken,
                                struct strbuf *out)
{
    if (worse)
        strbuf_addf(out, "%zu of %zu %s got %s", worse, c->nr, overview_benchmarks(c->nr),
                    comparison_alarm_word(c, VERDICT_REGRESSED));
    if (broken)
        strbuf_addf(out, "%s%zu%s broke", worse ? " and " : "", broken,
                    worse         ? ""
                    : broken == 1 ? " benchmark"
                                  : " benchmarks");
}

/* No alarm is no proof: what is open comes first, and never looks like a pass. */
static enum overview_tone overview_say_calm(const struct comparison *c, struct strbuf *out)
{
    const char *worse = comparison_word(c, VERDICT_REGRESSED);
    size_t open =
        c->count[VERDICT_UNDECIDED] + c->count[VERDICT_FAILING] + c->count[VERDICT_MISSING];
    size_t better = c->count[VERDICT_IMPROVED];

    if (open) {
        strbuf_addf(out, "Nothing is shown to be %s, and %zu of %zu %s %s open", worse, open, c->nr,
                    overview_benchmarks(c->nr), open == 1 ? "is" : "are");
        return OVERVIEW_OPEN;
    }
    strbuf_addf(out, "Nothing got %s", worse);
    if (better)
        strbuf_addf(out, ", and %zu of %zu %s got faster", better, c->nr,
                    overview_benchmarks(c->nr));
    strbuf_adds(out, c->accepted ? " beyond what is accepted" : "");
    return better ? OVERVIEW_GOOD : OVERVIEW_PLAIN;
}

/* A branch has its slashes; of a file the last part says enough. */
static const char *overview_short_name(const char *label)
{
    const char *slash = strrchr(label, '/'), *dot = strrchr(label, '.');

    return slash && dot && strcmp(dot, ".json") == 0 ? slash + 1 : label;
}

static bool overview_is_number(const char *label)
{
    return label[strspn(label, "0123456789")] == '\0';
}

static enum overview_tone overview_say_compared(const struct overview_input *in, struct strbuf *out)
{
    const struct comparison *c = in->comparison;
    size_t worse = comparison_alarms(c, VERDICT_REGRESSED);
    size_t broken = comparison_alarms(c, VERDICT_BROKEN);
    enum overview_tone tone = OVERVIEW_BAD;

    if (c->nr == 0) {
        strbuf_adds(out, "Nothing to compare: base and head share no benchmark.");
        return OVERVIEW_OPEN;
    }
    if (worse || broken) {
        overview_say_alarms(c, worse, broken, out);
    } else if (c->exit_status == EXIT_UNDECIDED) {
        strbuf_addf(out, "Cannot tell whether it got %s: nothing is decided",
                    comparison_word(c, VERDICT_REGRESSED));
        tone = OVERVIEW_OPEN;
    } else {
        tone = overview_say_calm(c, out);
    }
    if (in->base_label && in->base_label[0])
        strbuf_addf(out, " against %s%.60s", overview_is_number(in->base_label) ? "run " : "",
                    overview_short_name(in->base_label));
    strbuf_addc(out, '.');
    return tone;
}

/* Results that are no results. */
static size_t overview_count_outcome(const struct overview_making *m, enum outcome outcome)
{
    size_t nr = 0;

    for (size_t i = 0; i < m->rows.nr; i++)
        nr += m->rows.items[i].summary.n == 0 && m->rows.items[i].summary.m->outcome == outcome;
    return nr;
}

/* What is wrong or failed comes before how fast anything is; false: nothing is. */
static bool overview_say_broken(const struct overview_making *m, struct strbuf *out)
{
    size_t wrong = overview_count_outcome(m, OUTCOME_WRONG);
    size_t failed = overview_count_outcome(m, OUTCOME_FAILED);

    if (!wrong && !failed)
        return false;
    if (wrong)
        strbuf_addf(out, "%zu of %zu %s %s wrong results", wrong, m->rows.nr,
                    overview_benchmarks(m->rows.nr), wrong == 1 ? "has" : "have");
    if (failed)
        strbuf_addf(out, wrong ? " and %zu failed" : "%zu of %zu benchmarks failed", failed,
                    m->rows.nr);
    strbuf_addc(out, '.');
    return true;
}

/* Without a base the history answers; without one of those nothing does. */
static enum overview_tone overview_say_alone(const struct overview_making *m, struct strbuf *out)
{
    const struct trends *t = m->input->trends;

    if (overview_say_broken(m, out))
        return OVERVIEW_BAD;
    if (m->out->slower) {
        strbuf_addf(out, "%zu of %zu %s got slower over the history.", m->out->slower, m->nr_trends,
                    overview_benchmarks(m->nr_trends));
        return OVERVIEW_BAD;
    }
    if (t && t->family) {
        strbuf_addf(out, "Nothing got slower for good in %zu runs.", t->records->nr_runs);
        return OVERVIEW_PLAIN;
    }
    strbuf_addf(out, "Nothing to compare with yet: %zu %s measured, and no base.", m->rows.nr,
                overview_benchmarks(m->rows.nr));
    return OVERVIEW_OPEN;
}

/* "2 slower, 1 faster, 41 the same, 3 undecided of 47" */
static void overview_say_counts(const struct comparison *c, struct strbuf *out)
{
    static const enum verdict order[] = { VERDICT_BROKEN,  VERDICT_REGRESSED, VERDICT_IMPROVED,
                                          VERDICT_FIXED,   VERDICT_SAME,      VERDICT_UNDECIDED,
                                          VERDICT_FAILING, VERDICT_MISSING,   VERDICT_NEW };
    size_t begin = out->length;

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        if (c->count[order[i]])
            strbuf_addf(out, "%s%zu %s", out->length > begin ? ", " : "", c->count[order[i]],
                        comparison_word(c, order[i]));
    strbuf_addf(out, " of %zu at ±%.3g %%", c->nr, 100 * c->settings.delta);
    if (c->accepted)
        strbuf_addf(out, "; %zu accepted", c->accepted);
    if (c->family)
        strbuf_addf(out, "; chance alone would give %.2g alarms at most", c->chance);
    strbuf_addc(out, '.');
}

/* What the history adds: from when on, and what stands slower in it. */
static void overview_say_past(const struct overview_making *m, struct strbuf *out)
{
    const struct trends *t = m->input->trends;
    bool counted = !m->input->comparison && !overview_count_outcome(m, OUTCOME_WRONG) &&
                   !overview_count_outcome(m, OUTCOME_FAILED); /* by the verdict */
    char first[TEXT_UNIT_SIZE];

    if (!t || t->family == 0 || t->records->nr_runs == 0)
        return;
    text_timestamp(t->records->runs[0].started_ms, first);
    strbuf_addf(out, "%zu runs since %.10s: ", t->records->nr_runs, first);
    if (m->out->slower && counted)
        strbuf_adds(out, "what got slower still is");
    else if (m->out->slower)
        strbuf_addf(out, "%zu of %zu %s got slower and still %s", m->out->slower, m->nr_trends,
                    overview_benchmarks(m->nr_trends), m->out->slower == 1 ? "is" : "are");
    else
        strbuf_adds(out, "nothing that got slower still stands");
    overview_say_slowest(m, out);
    strbuf_addc(out, '.');
}

static void overview_answer(const struct overview_making *m)
{
    struct strbuf verdict, counts, past;

    strbuf_init(&verdict);
    strbuf_init(&counts);
    strbuf_init(&past);
    m->out->slower = overview_count_slower(m);
    if (m->input->comparison) {
        m->out->tone = overview_say_compared(m->input, &verdict);
        if (m->input->comparison->nr)
            overview_say_counts(m->input->comparison, &counts);
    } else {
        m->out->tone = overview_say_alone(m, &verdict);
    }
    overview_say_past(m, &past);
    m->out->verdict = strbuf_detach(&verdict);
    m->out->counts = strbuf_detach(&counts);
    m->out->past = strbuf_detach(&past);
}

void overview_make(const struct overview_input *input, struct overview *out)
{
    struct overview_making m = { .input = input, .out = out };

    *out = (struct overview) { 0 };
    if (input->run < 0) {
        out->verdict = memory_string("There is no finished run to show.");
        out->counts = memory_string("");
        out->past = memory_string("");
        out->tone = OVERVIEW_OPEN;
        return;
    }
    m.head = &input->records->runs[input->run];
    overview_index(&m);
    overview_answer(&m);
    overview_add_scores(&m);
    overview_find_change(&m);
    overview_add_health(&m);
    free(m.by_key);
    free(m.trends);
    run_rows_release(&m.rows);
}

static void overview_release_change(struct overview_change *change)
{
    free(change->label);
    free(change->title);
    free(change->values);
    free(change->since);
    free(change->note);
    free(change->points);
}

void overview_release(struct overview *overview)
{
    for (size_t i = 0; i < overview->nr_scores; i++)
        free(overview->scores[i].name);
    for (size_t i = 0; i < overview->nr_facts; i++)
        free(overview->facts[i].text);
    overview_release_change(&overview->change);
    free(overview->scores);
    free(overview->facts);
    free(overview->verdict);
    free(overview->counts);
    free(overview->past);
    *overview = (struct overview) { 0 };
}
