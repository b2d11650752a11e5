/* SPDX-License-Identifier: MIT */
#include "session/measure/number_options.h"

#include "chart/base/chart_base.h"
#include "metrics/metric.h"

#include <stdio.h>
#include <string.h>

const char *number_options_given(const struct number_options *o)
{
    return o->metrics.nr ? "--metric" : o->units.nr ? "--unit" : o->betters.nr ? "--better" : NULL;
}

static struct number_spec *number_spec_find(struct number_specs *specs, const char *name,
                                            size_t length)
{
    for (size_t i = 0; i < specs->nr; i++)
        if (strlen(specs->items[i].name) == length &&
            strncmp(specs->items[i].name, name, length) == 0)
            return &specs->items[i];
    return NULL;
}

static int number_set_unit(struct number_spec *spec, const char *unit, struct error *err)
{
    if (number_check_unit(unit, err))
        return -1;
    snprintf(spec->unit, sizeof(spec->unit), "%s", unit);
    return 0;
}

static int number_set_better(struct number_spec *spec, const char *word, struct error *err)
{
    int better = better_find(word);

    if (better < 0)
        return error_set(err, "\"%.40s\" is not lower, higher or none", word);
    spec->better = (enum better)better;
    return 0;
}

/* "[NAME=]VALUE". What stands before an equals sign is a name: units have none. */
static int number_apply(struct number_specs *specs, const char *text,
                        int (*set)(struct number_spec *, const char *, struct error *),
                        struct error *err)
{
    const char *equals = strchr(text, '=');
    struct number_spec *one =
        equals ? number_spec_find(specs, text, (size_t)(equals - text)) : NULL;

    if (equals && !one)
        return error_set(err, "\"%.*s\" is no metric of a --metric", (int)(equals - text), text);
    if (one)
        return set(one, equals + 1, err);
    for (size_t i = 0; i < specs->nr; i++)
        if (set(&specs->items[i], text, err))
            return -1;
    return 0;
}

/* First what holds for all, so that the order of options does not matter. */
static int number_apply_all(struct number_specs *specs, const struct string_list *texts,
                            const char *option,
                            int (*set)(struct number_spec *, const char *, struct error *),
                            struct error *err)
{
    for (int named = 0; named < 2; named++)
        for (size_t i = 0; i < texts->nr; i++)
            if ((strchr(texts->items[i], '=') != NULL) == named &&
                number_apply(specs, texts->items[i], set, err))
                return error_prefix(err, "%s", option);
    return 0;
}

/* A word that presets, expressions and --metric know means one thing. */
static int number_check_word(const char *name, struct error *err)
{
    const struct metric *metric = metric_find(name, NULL);
    struct chart_metric word;
    struct error unknown;

    if (metric && metric->number)
        return 0;
    if (chart_metric_init(&word, name, &unknown))
        return 0;
    chart_metric_release(&word);
    return error_set(err,
                     "\"%s\" means something here already (%s): give the metric another name, "
                     "such as my_%s",
                     name, metric ? metric->label : "a parameter", name);
}

static int number_check_better(const struct number_specs *specs, struct error *err)
{
    for (size_t i = 0; i < specs->nr; i++)
        if (specs->items[i].better == BETTER_NR)
            return error_set(err,
                             "which %s is better? Give --better higher, --better lower, or, where "
                             "it is only to be kept and shown, --better none; --better %s=lower "
                             "for one of several",
                             specs->items[i].name, specs->items[i].name);
    return 0;
}

int number_options_parse(const struct number_options *o, struct number_specs *specs,
                         struct error *err)
{
    for (size_t i = 0; i < o->metrics.nr; i++) {
        struct number_spec *spec = array_push(specs);
        if (number_spec_parse(o->metrics.items[i], spec, err) || number_check_word(spec->name, err))
            return error_prefix(err, "--metric");
        spec->better = BETTER_NR; /* nobody said */
    }
    if (specs->nr == 0 && number_options_given(o))
        return error_set(err, "%s is of a metric: give --metric NAME=/PATTERN/",
                         number_options_given(o));
    return number_apply_all(specs, &o->units, "--unit", number_set_unit, err) ||
                   number_apply_all(specs, &o->betters, "--better", number_set_better, err) ||
                   number_check_better(specs, err)
               ? -1
               : 0;
}

int number_specs_agree(const struct number_specs *specs, struct error *err)
{
    const struct number_kind *k;

    for (size_t i = 0; i < specs->nr; i++) {
        const struct number_spec *spec = &specs->items[i];
        bool named = false, same = false;
        const struct number_kind *other = NULL;
        for (size_t n = 0; (k = number_kind_at(n)); n++) {
            if (strcmp(k->name, spec->name) != 0)
                continue;
            named = true;
            other = k;
            same |= strcmp(k->unit, spec->unit) == 0 && k->better == spec->better;
        }
        if (named && !same)
            return error_set(err,
                             "--metric: this history has %s with the unit \"%s\" and --better %s; "
                             "say the same, or give this one another name",
                             spec->name, other->unit, better_name(other->better));
    }
    return 0;
}
