/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/array.h"
#include "base/json.h"
#include "cli/shared_options.h"
#include "session/series_file.h"
#include "terminal/terminal.h"
#include "trend/changepoint.h"

#include <math.h>
#include <stdio.h>

struct detect_options {
    bool json, fail;
    double level;
    int64_t min_segment;
};

static cJSON *interval_to_json(const struct interval *interval)
{
    cJSON *pair = cJSON_CreateArray();
    double limits[] = { interval->low, interval->high };

    for (size_t i = 0; i < 2; i++)
        cJSON_AddItemToArray(pair, isfinite(limits[i]) ? cJSON_CreateNumber(limits[i])
                                                       : cJSON_CreateNull());
    return pair;
}

static cJSON *step_to_json(const struct changepoint *step)
{
    struct interval position = { (double)step->low, (double)step->high };
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "index", (int64_t)step->index);
    cJSON_AddItemToObject(json, "interval", interval_to_json(&position));
    json_add_number(json, "before", step->before);
    json_add_number(json, "after", step->after);
    json_add_number(json, "change", step->after - step->before);
    cJSON_AddItemToObject(json, "change_interval", interval_to_json(&step->change));
    json_add_number(json, "p", step->p);
    json_add_int(json, "named_with", (int64_t)step->named);
    return json;
}

static cJSON *withdrawn_to_json(const struct withdrawn_step *step)
{
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "index", (int64_t)step->index);
    json_add_number(json, "before", step->before);
    json_add_number(json, "after", step->after);
    json_add_int(json, "named_with", (int64_t)step->named);
    json_add_int(json, "gone_with", (int64_t)step->gone);
    json_add_string(json, "reason", step_end_words(step->why));
    return json;
}

static cJSON *watch_to_json(const struct watch *watch)
{
    cJSON *json = watch->found ? cJSON_CreateObject() : cJSON_CreateNull();

    if (!watch->found)
        return json;
    json_add_int(json, "index", (int64_t)watch->index);
    json_add_number(json, "before", watch->before);
    json_add_number(json, "after", watch->after);
    json_add_number(json, "p", watch->p);
    return json;
}

static cJSON *drift_to_json(const struct drift *drift)
{
    cJSON *json = drift->found ? cJSON_CreateObject() : cJSON_CreateNull();

    if (!drift->found)
        return json;
    json_add_number(json, "per_point", drift->per_point);
    cJSON_AddItemToObject(json, "interval", interval_to_json(&drift->slope));
    json_add_number(json, "total", drift->total);
    json_add_number(json, "p", drift->p);
    return json;
}

static cJSON *modes_to_json(const struct modes *modes)
{
    cJSON *json = modes->visits ? cJSON_CreateObject() : cJSON_CreateNull();

    if (!modes->visits)
        return json;
    json_add_number(json, "low", modes->low);
    json_add_number(json, "high", modes->high);
    json_add_int(json, "visits", (int64_t)modes->visits);
    json_add_number(json, "points", modes->usual);
    return json;
}

static int print_json(const struct changes *changes, size_t n, bool too_short, struct error *err)
{
    cJSON *json = cJSON_CreateObject();
    cJSON *steps = cJSON_AddArrayToObject(json, "change_points");

    for (size_t i = 0; i < changes->nr; i++)
        cJSON_AddItemToArray(steps, step_to_json(&changes->items[i]));
    cJSON_AddItemToObject(json, "drift", drift_to_json(&changes->drift));
    cJSON_AddItemToObject(json, "modes", modes_to_json(&changes->modes));
    cJSON_AddItemToObject(json, "watch", watch_to_json(&changes->watch));
    json_add_number(json, "detectable", changes->detectable);
    cJSON *gone = cJSON_AddArrayToObject(json, "withdrawn");
    for (size_t i = 0; i < changes->withdrawn.nr; i++)
        cJSON_AddItemToArray(gone, withdrawn_to_json(&changes->withdrawn.items[i]));
    json_add_int(json, "n", (int64_t)n);
    if (too_short)
        cJSON_AddTrueToObject(json, "too_short");
    json_add_number(json, "noise", changes->noise);
    json_add_number(json, "correlation", changes->correlation);
    json_add_number(json, "p", changes->p);
    return output_json(json, NULL, err);
}

/* "p < 0.0001": no simulation reaches further. */
static const char *print_p(double p, char text[32])
{
    if (p < 1e-4)
        return "p < 0.0001";
    snprintf(text, 32, "p = %.2g", p);
    return text;
}

/* What the points of today leave open of a step that was clear when it was named. */
static void print_open(const struct changepoint *s, size_t n)
{
    bool place = changepoint_place_is_open(s, n), size = changepoint_size_is_open(s);

    if (place || size)
        terminal_print("  %s now: the noise of all points leaves %s open\n",
                       place && size ? "neither place nor size is sure"
                       : place       ? "the place is not sure"
                                     : "the size is not sure",
                       place && size ? "both" : "it");
}

static void print_step(const struct changepoint *s, size_t n)
{
    bool open = changepoint_place_is_open(s, n) || changepoint_size_is_open(s);
    struct strbuf line; /* whole: a terminal breaks it where it is too long */
    char p[32];

    strbuf_init(&line);
    terminal_add(&line, "step at %zu", s->index);
    if (s->high > s->low)
        terminal_add(&line, " (%zu to %zu)", s->low, s->high);
    terminal_add(&line, ": %.5g -> %.5g, %+.4g", s->before, s->after, s->after - s->before);
    if (isfinite(s->change.low) && isfinite(s->change.high) && s->change.high > s->change.low)
        terminal_add(&line, " (%+.4g to %+.4g)", s->change.low, s->change.high);
    if (open)
        terminal_add(&line, ", named with %zu points, in its clearest night %s", s->named,
                     print_p(s->p, p));
    else
        terminal_add(&line, ", %s, named with %zu points", print_p(s->p, p), s->named);
    terminal_print("%s\n", line.data);
    strbuf_release(&line);
    print_open(s, n);
}

static void print_withdrawn(const struct withdrawn_step *step)
{
    terminal_print("withdrawn: step at %zu, named with %zu points, gone with %zu: %s\n",
                   step->index, step->named, step->gone, step_end_words(step->why));
}

static void print_watch(const struct watch *w)
{
    char p[32];

    if (w->found)
        terminal_print(
            "watch: %.5g -> %.5g at %zu, not sure enough to be named (%s of this night "
            "alone): look again when there are more points\n",
            w->before, w->after, w->index, print_p(w->p, p));
}

/* Why nobody knows how large a step would have been named. */
static const char *why_unknown(const struct changes *c, size_t n)
{
    enum { FEW = 2 * CHANGEPOINT_DETECTABLE_AFTER };

    if (c->modes.visits)
        return "not known beside two modes";
    if (c->drift.found)
        return "not known beside a drift";
    if (c->detectable == 0)
        return "any, there is no noise";
    return n <= FEW ? "not known with so few points" : "not known, the points wander";
}

/* "no change" says little where nobody knows what would have been one. */
static void print_detectable(const struct changes *c, size_t n)
{
    if (isfinite(c->detectable) && c->detectable > 0)
        terminal_print(
            "a step of %.3g, %d points before the end, would have been named 4 times "
            "in 5\n",
            c->detectable, CHANGEPOINT_DETECTABLE_AFTER);
    else if (c->nr == 0)
        terminal_print("how large a step would have been named: %s\n", why_unknown(c, n));
}

/* Not "no change" beside one that was named before, or that may be. */
static void print_nothing(const struct changes *c, double level)
{
    const char *what = c->watch.found    ? "no step that is sure"
                       : c->withdrawn.nr ? "no step that still stands"
                                         : "no change";

    terminal_print("%s at the level %g %%\n", what, 100 * level);
}

static void print_modes(const struct modes *m)
{
    if (m->visits)
        terminal_print(
            "two modes: %.5g and %.5g, %zu visits of %.3g points in the mean; a switch between "
            "them is no step\n",
            m->low, m->high, m->visits, m->usual);
}

static void print_text(const struct changes *changes, size_t n, double level)
{
    const struct drift *d = &changes->drift;
    char p[32];

    for (size_t i = 0; i < changes->nr; i++)
        print_step(&changes->items[i], n);
    if (d->found)
        terminal_print("drift: %+.4g a point (%+.4g to %+.4g), %+.4g over the series, %s\n",
                       d->per_point, d->slope.low, d->slope.high, d->total, print_p(d->p, p));
    if (changes->nr == 0 && !d->found)
        print_nothing(changes, level);
    for (size_t i = 0; i < changes->withdrawn.nr; i++)
        print_withdrawn(&changes->withdrawn.items[i]);
    print_watch(&changes->watch);
    print_detectable(changes, n);
    print_modes(&changes->modes);
    terminal_print("%zu point%s, noise %.4g, correlation %.2f\n", n, n == 1 ? "" : "s",
                   changes->noise, changes->correlation);
}

/* Says what was found; the exit status. */
static int report_changes(const struct changes *changes, size_t n,
                          const struct changepoint_settings *settings,
                          const struct detect_options *o, struct error *err)
{
    size_t least = 2 * settings->min_segment;
    bool too_short = n < least;

    if (!o->json && too_short)
        terminal_print("too short (%zu point%s; under %zu)\n", n, n == 1 ? "" : "s", least);
    else if (!o->json)
        print_text(changes, n, settings->level);
    else if (print_json(changes, n, too_short, err))
        return -1;
    if (too_short)
        return EXIT_UNDECIDED;
    return o->fail && changes->nr > 0 ? EXIT_REGRESSION : EXIT_SAME;
}

static int run_detect(int argc, char **argv, void *options, struct error *err)
{
    const struct detect_options *o = options;
    struct changepoint_settings settings = CHANGEPOINT_DEFAULTS;
    struct series_values series = ARRAY_EMPTY;
    struct changes changes = { .p = 1 };
    int rc = -1;

    if (argc < 1)
        return error_set(err, "detect needs a file, or - for standard input");
    if (command_no_more(argc, argv, 1, err))
        return -1;
    if (o->level >= 0.5)
        return error_set(err, "--level must be below 50 %%, not %g %%", 100 * o->level);
    if (o->level > 0)
        settings.level = o->level;
    if (o->min_segment)
        settings.min_segment = (size_t)o->min_segment;
    if (series_read(argv[0], &series, err) ||
        changes_find(series.items, series.nr, &settings, &changes, err))
        goto out;
    rc = report_changes(&changes, series.nr, &settings, o, err);
out:
    changes_release(&changes);
    array_release(&series);
    return rc;
}

static const struct option_row rows[] = {
    OPTION_ROW("level", 0, OPTION_FRACTION, struct detect_options, level, "SHARE",
               "share of unchanged series that may show a step (default 5%)"),
    OPTION_RANGE_ROW("min-segment", 0, OPTION_INT, struct detect_options, min_segment, 2, 1000000,
                     "N", "points that make a level (default 5)"),
    OPTION_ROW("fail", 0, OPTION_FLAG, struct detect_options, fail, NULL,
               "exit status 1 if there is a step"),
    JSON_ROW(struct detect_options, json),
    OPTION_END,
};

extern const struct command cmd_detect;
const struct command cmd_detect = {
    .name = "detect",
    .arguments = "FILE",
    .summary = "steps and drift in any series of numbers",
    .details =
        "FILE is a JSON array, {\"values\": [...]} or lines whose last column counts; - reads\n"
        "standard input. Points are counted from 0; a step is the first point of a new level.\n"
        "Intervals are 95 % intervals of the position and of the size. p is corrected for the\n"
        "search over all positions and for correlated noise.\n"
        "\n"
        "  harness detect nightly.csv\n"
        "  harness detect --json --level 1% series.json\n"
        "\n"
        "Exit status: 0, or 1 with --fail and a step; 77 where the series is too short for two\n"
        "levels; 2 usage or failure.",
    .options = rows,
    .options_size = sizeof(struct detect_options),
    .run = run_detect,
};
