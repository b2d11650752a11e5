/* SPDX-License-Identifier: MIT */
#include "session/compare/compare.h"

#include <string.h>

/* All but the metrics that are not known yet: the history or what is measured may bring them, and
 * if it does not, the comparison says so. */
static int check_known_metrics(const struct compare_settings *settings, struct error *err)
{
    const char *known[COMPARE_ASKED_MAX + 1] = { NULL };
    struct compare_settings now = *settings;
    size_t nr = 0;

    for (const char *const *id = settings->metrics; id && *id; id++)
        if (metric_find(compare_asked_id(*id), NULL))
            known[nr++] = *id;
    now.metrics = nr > 0 ? known : NULL;
    return compare_check_settings(&now, err);
}

static void point_at_judged(struct compare_rule *rule)
{
    for (size_t i = 0; i < rule->judged.nr; i++)
        rule->metrics[i] = rule->judged.items[i];
    rule->settings.metrics = rule->judged.nr > 0 ? rule->metrics : NULL;
}

/* Where nothing is to be printed, --better is of numbers in the results of benches. */
static int judge_by_options(const struct compare_request *r, struct compare_rule *rule,
                            struct error *err)
{
    struct number_options asked = r->numbers;

    if (r->benches && !number_options_print(&r->numbers)) {
        if (number_check_ways(&asked.betters, err))
            return -1;
        asked.betters = (struct string_list) { NULL, 0, 0 };
    }
    if (number_options_judged(&asked, &rule->numbers, &rule->judged, err))
        return -1;
    return r->benches ? 0 : number_specs_check_of(&rule->numbers, err);
}

static bool is_judged_number(const struct number_specs *numbers, const char *asked)
{
    for (size_t i = 0; i < numbers->nr; i++)
        if (strcmp(numbers->items[i].name, compare_asked_id(asked)) == 0)
            return true;
    return false;
}

/* A metric by its name, and not for all. */
static bool names_some_benchmarks(const struct compare_rule *rule)
{
    for (size_t i = 0; i < rule->judged.nr; i++) {
        const char *asked = rule->judged.items[i];
        if (compare_asked_id(asked) > asked && !is_judged_number(&rule->numbers, asked))
            return true;
    }
    return false;
}

static int count_judged(const struct compare_rule *rule)
{
    int nr = 0;

    for (size_t i = 0; i < rule->judged.nr; i++) {
        const char *id = compare_asked_id(rule->judged.items[i]);
        size_t j = 0;
        while (j < i && strcmp(compare_asked_id(rule->judged.items[j]), id) != 0)
            j++;
        nr += j == i;
    }
    return nr;
}

int compare_rule_heed_rest(struct compare_rule *rule, struct error *err)
{
    for (size_t i = 0; i < rule->judged.nr; i++) {
        const char *asked = rule->judged.items[i];
        if (compare_asked_id(asked) == asked && !is_judged_number(&rule->numbers, asked))
            return 0;
    }
    rule->settings.rest_by_usual = rule->judged.nr > 0;
    if (count_judged(rule) < COMPARE_METRICS_MAX)
        return 0;
    return error_set(err,
                     "--metric: at most %d at a time, the time of the other benches among them",
                     COMPARE_METRICS_MAX);
}

int compare_request_rule(struct compare_request *r, struct compare_rule *rule, struct error *err)
{
    rule->settings = (struct compare_settings)COMPARE_DEFAULTS;
    rule->settings.any_machine = r->any_machine;
    if (r->q > 0)
        rule->settings.q = r->q;
    if (judge_by_options(r, rule, err))
        return -1;
    if (rule->judged.nr > COMPARE_ASKED_MAX)
        return error_set(err, "--metric: at most %d at a time", COMPARE_ASKED_MAX);
    point_at_judged(rule);
    if (names_some_benchmarks(rule) && compare_rule_heed_rest(rule, err))
        return -1;
    if (floors_parse(&r->deltas, &rule->floors, &rule->settings, err))
        return -1;
    if (compare_request_measures(r) && !r->benches && rule->numbers.nr == 0)
        return measuring_check_counted(rule->settings.metrics, err)
                   ? -1
                   : compare_check_settings(&rule->settings, err);
    return check_known_metrics(&rule->settings, err);
}

int compare_rule_declare(struct compare_rule *rule, struct error *err)
{
    if (number_specs_declare(&rule->numbers, &rule->judged, err))
        return -1;
    point_at_judged(rule);
    return 0;
}

void compare_rule_release(struct compare_rule *rule)
{
    number_specs_release(&rule->numbers);
    string_list_release(&rule->judged);
    floors_release(&rule->floors);
    placements_release(&rule->placements);
}
