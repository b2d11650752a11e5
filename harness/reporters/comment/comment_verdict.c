/* SPDX-License-Identifier: MIT */
/* The head of the comment: what came out, in words. */
#include "base/memory.h"
#include "base/text.h"
#include "reporters/comment/comment_parts.h"
#include "reporters/compare_words.h"
#include "stats/stats.h"
#include "text/escape.h"
#include "verdict/differences.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_SHOWN = 4 }; /* what base and head differ in */

enum { NAME_SHOWN = 300, COMMIT_SHOWN = 10, COMMIT_NAMED = 7, ADDRESS_MAX = 1000 }; /* bytes */

/* A row is a benchmark where one metric is compared. */
static const char *rows_word(const struct comparison *c)
{
    const struct metric *metrics[COMPARE_METRICS_MAX];

    if (comparison_metrics(c, metrics) > 1)
        return c->nr == 1 ? "comparison" : "comparisons";
    return c->nr == 1 ? "benchmark" : "benchmarks";
}

static void add_alarms(const struct comment *k, size_t broken, size_t worse)
{
    if (broken)
        strbuf_addf(k->out, "✗ %zu broken%s", broken, worse ? ", " : "");
    if (worse)
        strbuf_addf(k->out, "▲ %zu %s", worse, comparison_alarm_word(k->c, VERDICT_REGRESSED));
    strbuf_addf(k->out, " of %zu %s", k->c->nr, rows_word(k->c));
}

/* "? 3 of 60 benchmarks undecided, 1 failing, 2 faster, none shown to be slower". */
static void add_open(const struct comment *k, const enum verdict *open, size_t nr)
{
    const struct comparison *c = k->c;
    bool any = false;

    for (size_t i = 0; i < nr; i++) {
        if (c->count[open[i]] == 0)
            continue;
        if (any)
            strbuf_addf(k->out, ", %zu %s", c->count[open[i]], verdict_name(open[i]));
        else
            strbuf_addf(k->out, "? %zu of %zu %s %s", c->count[open[i]], c->nr, rows_word(c),
                        verdict_name(open[i]));
        any = true;
    }
    if (c->count[VERDICT_IMPROVED])
        strbuf_addf(k->out, ", %zu %s", c->count[VERDICT_IMPROVED],
                    comparison_word(c, VERDICT_IMPROVED));
    strbuf_addf(k->out, ", none shown to be %s", comparison_word(c, VERDICT_REGRESSED));
}

/* No alarm is no proof: as long as something is not decided, or has no time to decide from, the
 * title says that first, and never looks like a pass. */
static void add_calm(const struct comment *k)
{
    static const enum verdict open[] = { VERDICT_UNDECIDED, VERDICT_FAILING, VERDICT_MISSING };
    const struct comparison *c = k->c;
    const char *worse = comparison_word(c, VERDICT_REGRESSED);

    if (c->count[VERDICT_UNDECIDED] + c->count[VERDICT_FAILING] + c->count[VERDICT_MISSING])
        add_open(k, open, sizeof(open) / sizeof(open[0]));
    else if (c->count[VERDICT_IMPROVED])
        strbuf_addf(k->out, "▼ %zu %s, nothing %s", c->count[VERDICT_IMPROVED],
                    comparison_word(c, VERDICT_IMPROVED), worse);
    else
        strbuf_addf(k->out, "● Nothing %s", worse);
    strbuf_adds(k->out, c->accepted ? " beyond what is accepted" : "");
}

static void add_title(const struct comment *k)
{
    const struct comparison *c = k->c;
    size_t broken = comparison_alarms(c, VERDICT_BROKEN),
           worse = comparison_alarms(c, VERDICT_REGRESSED);

    strbuf_adds(k->out, "### ");
    if (broken || worse)
        add_alarms(k, broken, worse);
    else if (c->nr == 0)
        strbuf_adds(k->out, "? Nothing to compare");
    else if (c->exit_status == EXIT_UNDECIDED)
        strbuf_adds(k->out, "? Cannot tell: nothing is decided");
    else
        add_calm(k);
    strbuf_adds(k->out, "\n\n");
}

/* What a mail shows of itself before it is opened. */
static void add_worst(const struct comment *k)
{
    const struct compare_row *row = k->nr_changes ? k->changes[0] : NULL;
    char text[QUANTITY_TEXT_SIZE];

    if (!row || row->verdict != VERDICT_REGRESSED || row->accepted)
        return;
    strbuf_adds(k->out, "Worst: **");
    escape_markdown(k->out, comment_label(k, row));
    strbuf_adds(k->out, "**");
    if (*compare_change(row, text)) /* none where the base has 0 */
        strbuf_adds(k->out, ", ");
    compare_firm(k->out, text);
    strbuf_adds(k->out, " (");
    compare_firm(k->out, compare_value(row, row->base.value, text));
    strbuf_adds(k->out, " → ");
    compare_firm(k->out, compare_value(row, row->head.value, text));
    strbuf_adds(k->out, ").\n\n");
}

/* What "undecided" leaves open: the median of the changes that were found 4 times in 5. */
static void add_blindness(const struct comment *k)
{
    const struct comparison *c = k->c;
    double *found = memory_zeroed(c->nr + 1, sizeof(*found));
    char figures[TEXT_UNIT_SIZE];
    size_t nr = 0;

    for (size_t i = 0; i < c->nr; i++)
        if (c->rows[i].verdict == VERDICT_UNDECIDED && !isnan(c->rows[i].detectable))
            found[nr++] = c->rows[i].detectable;
    double typical = stats_median(found, nr);
    free(found);
    if (nr == 0)
        return;
    if (isfinite(typical))
        strbuf_addf(
            k->out,
            " In the undecided, changes for the worse below about %s\u00a0%% may hide; more "
            "launches find smaller ones.",
            text_figures(100 * typical, 2, figures));
    else
        strbuf_adds(k->out,
                    " In the undecided, a change of any size may hide; measure with more "
                    "launches.");
}

/* "2 slower, 1 faster, 41 the same, 3 undecided of 47; chance alone would give 0.1 alarms" */
static void add_counts(const struct comment *k)
{
    static const enum verdict order[] = { VERDICT_BROKEN,  VERDICT_REGRESSED, VERDICT_IMPROVED,
                                          VERDICT_FIXED,   VERDICT_SAME,      VERDICT_UNDECIDED,
                                          VERDICT_FAILING, VERDICT_MISSING,   VERDICT_NEW };
    const struct comparison *c = k->c;
    const char *comma = "";

    if (c->nr == 0)
        return;
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if (c->count[order[i]] == 0)
            continue;
        strbuf_addf(k->out, "%s%zu %s", comma, c->count[order[i]], comparison_word(c, order[i]));
        comma = ", ";
    }
    strbuf_addf(k->out, " of %zu", c->nr);
    if (c->accepted)
        strbuf_addf(k->out, "; %zu accepted", c->accepted);
    if (c->family)
        strbuf_addf(k->out, "; chance alone would give %.2g alarms at most", c->chance);
    strbuf_adds(k->out, ".");
    add_blindness(k);
    strbuf_adds(k->out, "\n\n");
}

/* ---- doubts ---- */

/* What is compared, and so differs in every pull request. */
static bool is_meant(const struct difference *d)
{
    static const char *const names[] = { "commit", "branch", "harness", "uncommitted changes" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(d->name, names[i]) == 0)
            return true;
    return d->weather;
}

static void begin_doubt(struct strbuf *text)
{
    strbuf_adds(text, text->length ? "; " : "");
}

static void add_shift(const struct comparison *c, struct strbuf *text)
{
    char shift[TEXT_UNIT_SIZE];

    if (c->shifted) {
        begin_doubt(text);
        strbuf_addf(text, "all benchmarks moved together by %s",
                    text_percent(c->common_shift, shift));
    }
    if (fabs(log1p(c->probe_shift)) > log1p(c->settings.delta)) {
        begin_doubt(text);
        strbuf_addf(text, "the machine itself moved, its probe took %s time",
                    text_percent(c->probe_shift, shift));
    }
}

/* "base and head differ in compiler, flags and 2 more" */
static void add_differences(const struct comment *k, struct strbuf *text)
{
    const struct run *base = comment_newest(k->o->base), *head = comment_newest(k->o->head);
    struct differences d;
    size_t nr = 0;

    if (!base || !head)
        return;
    differences_find(base, head, &d);
    for (size_t i = 0; i < d.nr; i++) {
        if (is_meant(&d.items[i]) || nr++ >= NAMES_SHOWN)
            continue;
        if (nr == 1)
            begin_doubt(text);
        strbuf_adds(text, nr == 1 ? "base and head also differ in " : ", ");
        strbuf_addf(text, "%.60s", d.items[i].name);
    }
    if (nr > NAMES_SHOWN)
        strbuf_addf(text, " and %zu more", nr - NAMES_SHOWN);
    differences_release(&d);
}

/* What speaks against the code as the reason: the machine moved, or the sides are of two kinds. */
static void add_doubts(const struct comment *k)
{
    struct strbuf text;

    strbuf_init(&text);
    add_shift(k->c, &text);
    add_differences(k, &text);
    if (text.length) {
        strbuf_adds(k->out, "Mind that ");
        escape_markdown(k->out, text.data);
        strbuf_adds(k->out, ".\n\n");
    }
    strbuf_release(&text);
}

/* ---- sides ---- */

static bool names_commit(const char *name, const struct build *build)
{
    char digits[COMMIT_NAMED + 1];

    snprintf(digits, sizeof(digits), "%.*s", COMMIT_NAMED, build->commit);
    return strstr(name, digits) != NULL;
}

/* Of hexadecimal digits alone, so that it can stand in an address. */
static bool is_hash(const char *commit)
{
    return commit[0] && strspn(commit, "0123456789abcdef") == strlen(commit);
}

/* ", commit 3f2a91c04d": a link where a forge shows it; where the name has it, the link alone. */
static void add_commit(const struct comment *k, const struct build *build, bool named)
{
    char digits[COMMIT_SHOWN + 1], address[COMMIT_SIZE + ADDRESS_MAX];
    bool linked = k->o->commits && is_hash(build->commit);

    if (named && !linked)
        return;
    snprintf(digits, sizeof(digits), "%.*s", COMMIT_SHOWN, build->commit);
    strbuf_adds(k->out, ", commit ");
    if (linked) {
        snprintf(address, sizeof(address), "%s%s", k->o->commits, build->commit);
        comment_link(k, digits, address);
    } else {
        escape_markdown(k->out, digits);
    }
    strbuf_adds(k->out, build->dirty && !named ? " with uncommitted changes" : "");
}

/* "Base: run 3, commit 3f2a91c04d with uncommitted changes. ". Names of runs have an end; who calls
 * this with others still gets a comment that fits. */
static void add_side_name(const struct comment *k, const char *title, const char *name,
                          const struct records *records)
{
    const struct run *run = comment_newest(records);
    char cut[NAME_SHOWN + 1];

    snprintf(cut, sizeof(cut), "%s", name);
    strbuf_addf(k->out, "%s: ", title);
    escape_markdown(k->out, cut);
    strbuf_adds(k->out, strlen(name) > NAME_SHOWN ? "…" : "");
    if (run && run->build.commit[0])
        add_commit(k, &run->build, names_commit(name, &run->build));
    strbuf_adds(k->out, ". ");
}

static void add_sides(const struct comment *k)
{
    const struct metric *metrics[COMPARE_METRICS_MAX];
    size_t nr = comparison_metrics(k->c, metrics);
    char common[512];

    if (k->o->base_name && k->o->head_name) {
        add_side_name(k, "Base", k->o->base_name, k->o->base);
        add_side_name(k, "Head", k->o->head_name, k->o->head);
    }
    strbuf_adds(k->out, "Compared: ");
    for (size_t i = 0; i < nr; i++)
        strbuf_addf(k->out, "%s%s", i ? ", " : "", metrics[i]->label);
    strbuf_addf(k->out, "; ±%.3g %% does not matter%s.", k->c->settings.delta * 100,
                k->c->settings.nr_floors ? " but where told otherwise" : "");
    compare_common(k->c, common, sizeof(common));
    if (common[0]) {
        strbuf_adds(k->out, " All benchmarks: ");
        escape_markdown(k->out, common);
        strbuf_addc(k->out, '.');
    }
    strbuf_adds(k->out, "\n\n");
}

void comment_verdict(const struct comment *k)
{
    add_title(k);
    add_worst(k);
    add_counts(k);
    add_doubts(k);
    add_sides(k);
}

/* What is missing has a dash for a sign, and so has the list. */
static void add_bullet(const struct comment *k, enum verdict verdict)
{
    const char *sign = verdict_look(verdict)->sign;

    strbuf_adds(k->out, "- ");
    if (*sign != '-')
        strbuf_addf(k->out, "%s ", sign);
}

static void add_broken(const struct comment *k, enum verdict verdict)
{
    size_t nr = 0;

    for (size_t i = 0; i < k->c->nr && nr < k->level->broken; i++) {
        const struct compare_row *row = &k->c->rows[i];
        if (row->verdict != verdict)
            continue;
        nr++;
        add_bullet(k, verdict);
        strbuf_addf(k->out, "%s: ", verdict_name(verdict));
        escape_markdown(k->out, k->labels[i]);
        strbuf_adds(k->out, row->why[0] ? ": " : "");
        escape_markdown(k->out, row->why);
        if (row->accepted) {
            strbuf_adds(k->out, " (accepted: ");
            escape_markdown(k->out, row->accepted);
            strbuf_adds(k->out, ")");
        }
        strbuf_addc(k->out, '\n');
    }
    if (nr == k->c->count[verdict])
        return;
    add_bullet(k, verdict);
    strbuf_addf(k->out, "%zu %s%s\n", k->c->count[verdict] - nr, nr ? "more " : "",
                verdict_name(verdict));
}

void comment_broken(const struct comment *k)
{
    static const enum verdict order[] = { VERDICT_BROKEN, VERDICT_MISSING, VERDICT_FAILING,
                                          VERDICT_FIXED };
    size_t before = k->out->length;

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        add_broken(k, order[i]);
    if (k->out->length > before)
        strbuf_addc(k->out, '\n');
}
