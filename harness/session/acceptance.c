/* SPDX-License-Identifier: MIT */
#include "session/acceptance.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"
#include "core/clock.h"
#include "reporters/verdict_json.h"
#include "session/builds/git.h"
#include "store/verdicts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is accepted of a verdict: NaN for one that is broken. */
struct finding {
    const struct store_comparison *comparison; /* with this row alone */
    const struct store_verdict *verdict;
    struct kept_result result;
    double change;
};

char *acceptance_author(const char *given)
{
    const char *const ask[] = { "config", "user.name", NULL }, *user = getenv("USER");
    struct error ignored;
    struct strbuf name;

    if (given)
        return memory_string(given);
    strbuf_init(&name);
    if (git_try(ask, &name, &ignored) != 0 || name.length == 0) {
        strbuf_clear(&name);
        strbuf_adds(&name, user ? user : "");
    }
    return strbuf_detach(&name);
}

/* "+8%", "-0.08": a change for the worse of this metric. */
static int parse_accepted_change(const char *text, const struct metric *metric, double *change,
                                 struct error *err)
{
    double sign = *text == '-' ? -1 : 1, worse = metric->direction == HIGHER_IS_BETTER ? -1 : 1;

    if (text_parse_fraction(text + (*text == '-' || *text == '+'), "--change", change, err))
        return -1;
    *change *= sign;
    if (*change * worse > 0)
        return 0;
    return error_set(err,
                     "--change %s: for %s that is no change for the worse, and only such a "
                     "change needs to be accepted",
                     text, metric->label);
}

static bool is_verdict(const struct store_verdict *v, enum verdict verdict)
{
    return strcmp(v->verdict, verdict_name(verdict)) == 0;
}

/* 0: to be accepted. 1: it is no alarm; err says so. */
static int examine_verdict(const struct accept_request *request, const struct store_comparison *c,
                           struct finding *f, struct error *err)
{
    const struct store_verdict *v = &c->items[0];
    bool broken = is_verdict(v, VERDICT_BROKEN), regressed = is_verdict(v, VERDICT_REGRESSED);

    *f = (struct finding) { .comparison = c, .verdict = v };
    if (kept_result_read(v->result, &f->result, err))
        return -1;
    /* A change from 0 is kept as no number (JSON has none for it). */
    f->change = broken ? NAN : isnan(f->result.change) ? INFINITY : f->result.change;
    if (!broken && !regressed)
        error_set(err,
                  "%s (%s): its newest verdict, in comparison %" PRId64
                  " (%s to %s), is %s; "
                  "only what regressed or broke can be accepted",
                  v->key, v->metric, c->id, c->base, c->head, v->verdict);
    else if (f->result.accepted && !request->change)
        error_set(err, "%s (%s): was accepted already; see `harness baseline accepted`", v->key,
                  v->metric);
    else
        return 0;
    return 1;
}

static bool is_equal_acceptance(const struct acceptance *a, const struct acceptance *b)
{
    return strcmp(a->key, b->key) == 0 && strcmp(a->metric, b->metric) == 0 &&
           strcmp(a->machine, b->machine) == 0 && strcmp(a->commit, b->commit) == 0 &&
           a->seen_ms == b->seen_ms &&
           (a->change == b->change || (isnan(a->change) && isnan(b->change)));
}

static const struct acceptance *find_equal_acceptance(const struct accepting *batch,
                                                      const struct acceptance *a)
{
    for (size_t i = 0; i < batch->earlier.nr; i++)
        if (is_equal_acceptance(&batch->earlier.items[i], a))
            return &batch->earlier.items[i];
    return NULL;
}

/* 1: an equal one is there; err says so. */
static int add_acceptance(struct accepting *batch, const struct accept_request *request,
                          struct acceptance a, double seen, struct error *err)
{
    const struct metric *metric = metric_find(a.metric, err);

    if (!metric)
        return -1;
    if (request->change && isnan(a.change))
        return error_set(err, "%s is broken, not slower: there is no --change to accept", a.key);
    if (request->change && parse_accepted_change(request->change, metric, &a.change, err))
        return -1;
    a.reason = batch->reason;
    a.author = batch->author;
    a.accepted_ms = clock_epoch_ms();
    const struct acceptance *equal = find_equal_acceptance(batch, &a);
    if (equal) {
        error_set(err, "%s (%s): the same was accepted already, as %" PRId64, a.key, a.metric,
                  equal->id);
        return 1;
    }
    *array_push(&batch->items) = a;
    *array_push(&batch->seen) = seen;
    return 0;
}

static int add_finding(struct accepting *batch, const struct accept_request *request,
                       const struct finding *f, struct error *err)
{
    const struct acceptance a = {
        .key = f->verdict->key,
        .metric = f->verdict->metric,
        .machine = f->verdict->machine,
        .commit = f->comparison->head_commit,
        .change = f->change,
        .seen_ms = f->comparison->head_ms,
    };
    int rc = add_acceptance(batch, request, a, f->result.change, err);

    batch->again += rc == 1;
    batch->verdicts += rc == 0;
    return rc;
}

/* Where none is to be accepted, err says of the last one why. */
static int gather_findings(struct accepting *batch, const struct accept_request *request,
                           struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < batch->found.nr; i++) {
        struct finding f;
        rc = examine_verdict(request, &batch->found.items[i], &f, err);
        if (rc == 0)
            rc = add_finding(batch, request, &f, err);
    }
    return rc < 0 ? -1 : 0;
}

/* ---- steps of the history ---- */

/* 1: it is larger than --change, or an equal acceptance is there; err says so. */
static int add_step(struct accepting *batch, const struct accept_request *request,
                    const struct trend_card *card, struct error *err)
{
    const struct trends *t = &batch->history.trends;
    const struct acceptance a = trend_card_accept(t, card);
    double change = card->change;

    if (request->change && parse_accepted_change(request->change, t->settings.metric, &change, err))
        return -1;
    if (request->change && !trend_card_within(card, change)) {
        error_set(err, "--change %s: %s (%s) has a step of %+.1f %%, which is more",
                  request->change, a.key, a.metric, 100 * card->change);
        return 1;
    }
    return add_acceptance(batch, request, a, card->change, err);
}

static int add_standing_steps(struct accepting *batch, const struct accept_request *request,
                              struct error *err)
{
    size_t nr;
    struct trend_card *cards = trends_cards(&batch->history.trends, &nr);
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < nr; i++) {
        struct error why;
        if (!cards[i].step || cards[i].rank != TREND_REGRESSION)
            continue;
        batch->steps++;
        rc = add_step(batch, request, &cards[i], &why);
        if (rc)
            *err = why;
    }
    free(cards);
    return rc < 0 ? -1 : 0;
}

/* The steps that `harness trend` still tells. Nights are compared with none, so there no verdict
 * speaks of them. Where one does, it is what was looked at, and no reason for other changes. */
static int gather_steps(struct store *store, const struct accept_request *request,
                        struct accepting *batch, struct error *err)
{
    static const struct trend_scope all = { .since = INT64_MIN };
    struct error no_direction;
    const struct trend_settings settings = {
        .metric = trend_metric(request->metric ? request->metric : "p50", &no_direction),
        .fdr = TREND_FDR,
        .accepted = batch->earlier.items,
        .nr_accepted = batch->earlier.nr,
        .filters = &request->key,
        .nr_filters = 1,
    };

    if (!settings.metric) /* it does not get worse */
        return 0;
    if (trend_history_load(store, &all, &settings, &batch->history, err) ||
        trend_history_find(&batch->history, &settings, err))
        return -1;
    return add_standing_steps(batch, request, err);
}

/* ---- both ---- */

/* err says why the last verdict or step was none to accept. */
static int refuse_nothing(struct store *store, const struct accept_request *request,
                          const struct accepting *batch, struct error *err)
{
    if (batch->found.nr == 1 || batch->steps)
        return -1;
    if (batch->found.nr == 0)
        return error_set(
            err,
            "%s: no verdict of \"%s\"%s%s has been recorded, and no step of it stands; "
            "`harness compare --baseline REF` records verdicts, `harness trend` tells "
            "steps",
            store_path(store), request->key, request->metric ? " on " : "",
            request->metric ? request->metric : "");
    return error_set(err,
                     "%zu newest verdicts fit \"%s\", and none of them is regressed or broken "
                     "without being accepted",
                     batch->found.nr, request->key);
}

/* Looks at all before anything is written. */
static int gather_all(struct store *store, const struct accept_request *request,
                      struct accepting *batch, struct error *err)
{
    batch->author = acceptance_author(request->author);
    batch->reason = memory_string(request->reason);
    if (store_verdict_newest(store, &request->key, 1, request->metric, &batch->found, err) ||
        store_acceptance_list(store, NULL, &batch->earlier, err) ||
        gather_findings(batch, request, err) ||
        (batch->items.nr == 0 && gather_steps(store, request, batch, err)))
        return -1;
    return batch->items.nr ? 0 : refuse_nothing(store, request, batch, err);
}

int accept_run(struct store *store, const struct accept_request *request, struct accepting *batch,
               struct error *err)
{
    if (!request->reason || !*request->reason)
        return error_set(err, "say why with --reason TEXT, for those who find the change later");
    const struct metric *metric = request->metric ? metric_find(request->metric, err) : NULL;
    if (request->metric && !metric)
        return -1;
    struct accept_request of_id = *request; /* verdicts are kept by it, whatever its alias */
    of_id.metric = metric ? metric->id : NULL;
    if (gather_all(store, &of_id, batch, err))
        return -1;
    return store_acceptance_add(store, batch->items.items, batch->items.nr, err);
}

void accepting_release(struct accepting *batch)
{
    array_release(&batch->items);
    array_release(&batch->seen);
    store_acceptances_release(&batch->earlier);
    store_comparisons_release(&batch->found);
    trend_history_release(&batch->history);
    free(batch->author);
    free(batch->reason);
}
