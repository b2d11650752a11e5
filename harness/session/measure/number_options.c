/* SPDX-License-Identifier: MIT */
#include "session/measure/number_options.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "chart/base/chart_base.h"
#include "metrics/metric.h"
#include "verdict/compare.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *number_options_given(const struct number_options *o)
{
    return o->metrics.nr ? "--metric" : o->units.nr ? "--unit" : o->betters.nr ? "--better" : NULL;
}

static bool is_number_called(const struct number_spec *spec, const char *name, size_t length)
{
    return strlen(spec->name) == length && strncmp(spec->name, name, length) == 0;
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

/* "[NAME=]VALUE". What stands before an equals sign is a name: units have none. Of several programs
 * that print a metric all mean the same by it. */
static int number_apply(struct number_specs *specs, const char *text,
                        int (*set)(struct number_spec *, const char *, struct error *),
                        struct error *err)
{
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : 0, nr = 0;

    for (size_t i = 0; i < specs->nr; i++) {
        if (equals && !is_number_called(&specs->items[i], text, length))
            continue;
        if (set(&specs->items[i], equals ? equals + 1 : text, err))
            return -1;
        nr++;
    }
    if (equals && nr == 0)
        return error_set(err, "\"%.*s\" is no metric of a --metric", (int)length, text);
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

bool number_is_word(const char *name)
{
    const struct metric *metric = metric_find(name, NULL);
    struct chart_metric word;
    struct error unknown;

    if (metric && metric->number)
        return false;
    if (chart_metric_init(&word, name, &unknown))
        return false;
    chart_metric_release(&word);
    return true;
}

int number_check_ways(const struct string_list *texts, struct error *err)
{
    for (size_t i = 0; i < texts->nr; i++) {
        const char *equals = strrchr(texts->items[i], '=');
        if (better_find(equals ? equals + 1 : texts->items[i]) < 0 || equals == texts->items[i])
            return error_set(err, "--better: \"%.60s\" is not [NAME=]lower, higher or none",
                             texts->items[i]);
    }
    return 0;
}

/* One word means one thing. */
static int number_check_word(const char *name, struct error *err)
{
    const struct metric *metric = metric_find(name, NULL);

    if (!number_is_word(name))
        return 0;
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

static int number_add_spec(const char *text, struct number_specs *specs, struct error *err)
{
    struct number_spec *spec = array_push(specs);

    if (number_spec_parse(text, spec, err) || number_check_word(spec->name, err))
        return error_prefix(err, "--metric");
    spec->better = BETTER_NR; /* nobody said */
    return 0;
}

/* Units and directions, once the specs are there. */
static int number_describe_specs(const struct number_options *o, struct number_specs *specs,
                                 struct error *err)
{
    const char *given = o->units.nr ? "--unit" : o->betters.nr ? "--better" : NULL;

    if (specs->nr == 0 && given)
        return error_set(err, "%s is of a metric: give --metric NAME=/PATTERN/", given);
    return number_apply_all(specs, &o->units, "--unit", number_set_unit, err) ||
                   number_apply_all(specs, &o->betters, "--better", number_set_better, err) ||
                   number_check_better(specs, err)
               ? -1
               : 0;
}

int number_specs_check_of(const struct number_specs *specs, struct error *err)
{
    for (size_t i = 0; i < specs->nr; i++)
        if (specs->items[i].of[0])
            return error_set(err,
                             "--metric %s:%s=...: a name before the \":\" is that of a bench, it "
                             "goes with --bench 'NAME: COMMAND'",
                             specs->items[i].of, specs->items[i].name);
    return 0;
}

int number_options_parse(const struct number_options *o, struct number_specs *specs,
                         struct error *err)
{
    for (size_t i = 0; i < o->metrics.nr; i++)
        if (number_add_spec(o->metrics.items[i], specs, err))
            return -1;
    return number_specs_check_of(specs, err) || number_describe_specs(o, specs, err) ? -1 : 0;
}

/* ---- beside names of metrics ---- */

/* Filters on benchmarks have equals signs, too: "sort/arg=64:p50". */
static bool number_is_spec(const char *text)
{
    const char *equals = strrchr(text, '=');

    return strstr(text, "=/") || strstr(text, "=$") || (equals && !strchr(equals, ':'));
}

bool number_options_print(const struct number_options *o)
{
    for (size_t i = 0; i < o->metrics.nr; i++)
        if (number_is_spec(o->metrics.items[i]))
            return true;
    return false;
}

/* "[OF:]NAME". */
static char *number_asked(const char *of, size_t length, const char *name)
{
    struct strbuf text;

    strbuf_init(&text);
    if (length)
        strbuf_addf(&text, "%.*s:", (int)length, of);
    strbuf_adds(&text, name);
    return strbuf_detach(&text);
}

/* Several programs may print one metric. */
static void number_add_judged(struct string_list *judged, const struct number_spec *spec)
{
    char *asked = number_asked(spec->of, strlen(spec->of), spec->name);
    bool known = false;

    for (size_t i = 0; i < judged->nr; i++)
        known |= strcmp(judged->items[i], asked) == 0;
    if (!known)
        string_list_add(judged, asked);
    free(asked);
}

/* "a:p50,b:memory" is not what was meant: one filter is before all names of an option. */
static int number_check_filter(const char *text, size_t length, struct error *err)
{
    const char *comma = memchr(text, ',', length), *colon = comma;

    if (length == 0)
        return error_set(err,
                         "--metric: before the \":\" of \"%.80s\" stands the name of a bench, or "
                         "a filter on benchmarks",
                         text);
    while (colon && colon > text && (isalnum((unsigned char)colon[-1]) || colon[-1] == '_'))
        colon--;
    if (!comma || colon == text || colon[-1] != ':')
        return 0;
    return error_set(err,
                     "--metric: what stands before a \":\" holds for all names behind it; give "
                     "--metric %.*s --metric %s",
                     (int)(comma - text), text, comma + 1);
}

/* "p50,memory": commas part them, but not within "rate (Mops/s, higher)". */
static int number_add_names(const char *text, struct string_list *judged, struct error *err)
{
    const char *names = compare_asked_id(text);
    size_t of = names > text ? (size_t)(names - text) - 1 : 0;

    if (names > text && number_check_filter(text, of, err))
        return -1;
    for (const char *from = names; *from;) {
        size_t length = strcspn(from, ",(");
        if (from[length] == '(')
            length += strcspn(from + length, ")");
        length += strcspn(from + length, ",");
        char name[sizeof(((struct number_kind *)NULL)->id)];
        snprintf(name, sizeof(name), "%.*s", (int)length, from);
        from += length + (from[length] == ',');
        if (!name[0] || (!*from && from[-1] == ','))
            return error_set(err, "--metric: an empty name in \"%.80s\"", text);
        char *asked = number_asked(text, of, name);
        string_list_add(judged, asked);
        free(asked);
    }
    return *names ? 0 : error_set(err, "--metric: an empty name");
}

int number_options_judged(const struct number_options *o, struct number_specs *specs,
                          struct string_list *judged, struct error *err)
{
    size_t nth = 0;

    for (size_t i = 0; i < o->metrics.nr; i++)
        if (number_is_spec(o->metrics.items[i]) && number_add_spec(o->metrics.items[i], specs, err))
            return -1;
    if (number_describe_specs(o, specs, err) || number_specs_check(specs, err))
        return -1;
    for (size_t i = 0; i < o->metrics.nr; i++) {
        const struct number_spec *spec =
            number_is_spec(o->metrics.items[i]) ? &specs->items[nth++] : NULL;
        if (!spec && number_add_names(o->metrics.items[i], judged, err))
            return -1;
        if (spec && spec->better != BETTER_NONE)
            number_add_judged(judged, spec);
    }
    return 0;
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

static void number_rename(struct string_list *asked, const char *from, const char *to)
{
    for (size_t i = 0; i < asked->nr; i++) {
        char *text = asked->items[i];
        const char *name = compare_asked_id(text);
        if (strcmp(name, from) != 0)
            continue;
        asked->items[i] = number_asked(text, name > text ? (size_t)(name - text) - 1 : 0, to);
        free(text);
    }
}

int number_specs_declare(const struct number_specs *specs, struct string_list *judged,
                         struct error *err)
{
    if (number_specs_agree(specs, err))
        return -1;
    for (size_t i = 0; i < specs->nr; i++) {
        const struct number_spec *spec = &specs->items[i];
        const struct number_kind *kind = number_kind_of(spec->name, spec->unit, spec->better, err);
        if (!kind)
            return -1;
        if (strcmp(kind->id, spec->name) != 0)
            number_rename(judged, spec->name, kind->id);
    }
    return 0;
}
