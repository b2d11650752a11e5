/* SPDX-License-Identifier: MIT */
#include "cli/render/comment_commands.h"

#include "base/json.h"
#include "core/device.h"
#include "session/bench/bench_ab.h"
#include "session/builds/git.h"
#include "session/builds/repository.h"
#include "text/escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMIT_DIGITS = 12 };

/* What the commands that measure again have in common. */
struct again {
    const struct compare_comment *job;
    const char *from, *to; /* commits */
    const struct compare_row *worst;
    const cJSON *settings; /* of the head's run */
};

static void add_option_of(struct strbuf *text, const char *name, const cJSON *object,
                          const char *member)
{
    const char *value = json_string(object, member, NULL);

    if (value && *value)
        escape_shell_option(text, name, value);
}

/* Where the history is not the one that is found by itself. (What measures again needs none.) */
static void add_db_option(struct strbuf *text, const char *given)
{
    const char *db = given ? given : getenv("HARNESS_DB");

    if (db && *db)
        escape_shell_option(text, "--db", db);
}

static void add_command(struct comment_commands *out, const char *what, struct strbuf *text)
{
    out->items[out->nr++] = (struct comment_command) { what, strbuf_detach(text) };
}

/* ---- from the history ---- */

/* A number is the surest name of a run; a file has none. What was measured just now is its run. */
static void add_side_option(struct strbuf *text, const char *name, const struct history_side *side,
                            const char *ref, bool measured)
{
    int64_t id = side->runs.nr == 1                       ? side->runs.ids[0]
                 : measured && side->records.nr_runs == 1 ? side->records.runs[0].id
                                                          : 0;

    if (id > 0)
        strbuf_addf(text, " %s %" PRId64, name, id);
    else if (ref)
        escape_shell_option(text, name, ref);
}

static void add_delta_options(struct strbuf *text, const struct compare_settings *settings)
{
    static const struct compare_settings usual = COMPARE_DEFAULTS;
    struct strbuf floor;

    if (settings->for_all && settings->delta != usual.delta)
        strbuf_addf(text, " --delta %.6g%%", settings->delta * 100);
    strbuf_init(&floor);
    for (size_t i = 0; i < settings->nr_floors; i++) {
        strbuf_clear(&floor);
        strbuf_addf(&floor, "%s=%.6g%%", settings->floors[i].pattern,
                    settings->floors[i].delta * 100);
        escape_shell_option(text, "--delta", floor.data);
    }
    strbuf_release(&floor);
}

static void add_stored_command(const struct compare_comment *job, struct comment_commands *out)
{
    const struct compare_request *asked = job->request;
    const struct compared *c = job->compared;
    bool measured = compare_request_measures(asked);
    struct strbuf text;

    strbuf_init(&text);
    strbuf_adds(&text, "harness compare");
    add_side_option(&text, "--baseline", &c->base, asked->baseline, measured);
    add_side_option(&text, "--head", &c->head, asked->head, measured);
    bool for_all = false;
    for (size_t i = 0; i < c->rule.judged.nr; i++) {
        const char *metric = c->rule.judged.items[i];
        escape_shell_option(&text, "--metric", metric);
        for_all |= compare_asked_id(metric) == metric;
    }
    if (c->comparison.settings.rest_by_usual && for_all)
        escape_shell_option(&text, "--metric", COMPARE_USUAL_METRIC);
    add_delta_options(&text, &c->comparison.settings);
    if (asked->q > 0)
        strbuf_addf(&text, " --fdr %.6g", asked->q);
    if (asked->any_machine)
        strbuf_adds(&text, " --any-machine");
    add_db_option(&text, job->db);
    for (size_t i = 0; !measured && i < asked->nr_filters; i++) {
        strbuf_addc(&text, ' ');
        escape_shell(&text, asked->filters[i]);
    }
    add_command(out, "from the same history", &text);
}

/* ---- measured again ---- */

/* The commit of all runs of a side; NULL where there is no such, or more was in the tree. */
static const char *clean_commit_of(const struct records *r)
{
    for (size_t i = 0; i < r->nr_runs; i++) {
        const struct build *b = &r->runs[i].build;
        size_t digits = strspn(b->commit, "0123456789abcdef");
        if (b->dirty || digits < COMMIT_DIGITS_MIN || b->commit[digits] ||
            strcmp(b->commit, r->runs[0].build.commit) != 0)
            return NULL;
    }
    return r->nr_runs ? r->runs[0].build.commit : NULL;
}

static bool is_commit_here(const char *commit)
{
    struct git_commit ignored;
    struct error why;

    return git_resolve(commit, &ignored, &why) == 0;
}

static void add_commit_option(struct strbuf *text, const char *name, const char *commit)
{
    strbuf_addf(text, " %s %.*s", name, COMMIT_DIGITS, commit);
}

static void add_key_argument(struct strbuf *text, const struct compare_row *row)
{
    strbuf_addc(text, ' ');
    escape_shell(text, row->item->bench->key);
}

/* In "[BENCH:]NAME=...". */
static const char *name_in_spec(const char *asked)
{
    size_t of = strcspn(asked, ":=");

    return asked[of] == ':' ? asked + of + 1 : asked;
}

/* How programs were asked for a number of their own. False: none was, their
 * results brought it. */
static bool add_number_options(const struct again *a, const struct number_kind *kind,
                               struct strbuf *text)
{
    const cJSON *gate = cJSON_GetObjectItemCaseSensitive(a->settings, BENCH_SETTINGS), *item;
    size_t length = strlen(kind->name), from = text->length;

    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(gate, "metrics"))
    {
        const char *asked = json_string(item, "metric", ""), *name = name_in_spec(asked);
        if (strncmp(name, kind->name, length) == 0 && name[length] == '=')
            escape_shell_option(text, "--metric", asked);
    }
    return text->length > from;
}

static void add_way_option(struct strbuf *text, const char *option, const char *name,
                           const char *value)
{
    struct strbuf both;

    strbuf_init(&both);
    strbuf_addf(&both, "%s=%s", name, value);
    escape_shell_option(text, option, both.data);
    strbuf_release(&both);
}

/* Is one of several programs asked for what the others are not? Then all has to be said again, or
 * a program that prints nothing else would be looked at for results. */
static bool asks_one_program(const struct again *a)
{
    const cJSON *gate = cJSON_GetObjectItemCaseSensitive(a->settings, BENCH_SETTINGS), *item;

    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(gate, "metrics"))
    {
        const char *asked = json_string(item, "metric", "");
        if (name_in_spec(asked) != asked)
            return true;
    }
    return false;
}

/* What is only kept, where all has to be said. */
static void add_unjudged_numbers(const struct again *a, struct strbuf *text)
{
    const cJSON *gate = cJSON_GetObjectItemCaseSensitive(a->settings, BENCH_SETTINGS), *item;

    if (!asks_one_program(a))
        return;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(gate, "metrics"))
    {
        const char *asked = json_string(item, "metric", ""), *start = name_in_spec(asked);
        char name[NUMBER_NAME_SIZE];
        if (strcmp(json_string(item, "better", ""), better_name(BETTER_NONE)) != 0)
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(start, "="), start);
        escape_shell_option(text, "--metric", asked);
        add_way_option(text, "--better", name, better_name(BETTER_NONE));
    }
}

/* False: no program is asked to print it, so its name says it all. */
static bool add_printed_options(const struct again *a, const struct metric *metric,
                                struct strbuf *text)
{
    const struct number_kind *kind = metric->number;

    if (!kind || !add_number_options(a, kind, text))
        return false;
    if (kind->unit[0])
        add_way_option(text, "--unit", kind->name, kind->unit);
    add_way_option(text, "--better", kind->name, better_name(kind->better));
    return true;
}

static void add_metric_options(const struct again *a, const struct metric *metric,
                               struct strbuf *text)
{
    if (!add_printed_options(a, metric, text))
        escape_shell_option(text, "--metric", metric->id);
}

/* As it was asked for: of all benchmarks, or of some. */
static void add_asked_options(const struct again *a, const struct metric *metric,
                              struct strbuf *text)
{
    const char *const *asked = a->job->compared->comparison.settings.metrics;

    if (add_printed_options(a, metric, text))
        return;
    for (; *asked; asked++)
        if (metric_find(compare_asked_id(*asked), NULL) == metric)
            escape_shell_option(text, "--metric", *asked);
}

/* What was compared, where that is not the usual, which is what the rest is compared by. */
static void add_all_metrics(const struct again *a, struct strbuf *text)
{
    const struct comparison *c = &a->job->compared->comparison;
    const struct metric *metrics[COMPARE_METRICS_MAX];
    size_t nr = c->settings.metrics ? comparison_metrics(c, metrics) : 0;

    for (size_t i = 0; i < nr; i++)
        add_asked_options(a, metrics[i], text);
    add_unjudged_numbers(a, text);
}

/* By the project's own benchmarks. False: they cannot be told, or are not to be shown. */
static bool add_bench_options(const struct again *a, struct strbuf *text)
{
    const cJSON *gate = cJSON_GetObjectItemCaseSensitive(a->settings, BENCH_SETTINGS);
    const cJSON *benches = cJSON_GetObjectItemCaseSensitive(gate, "bench"), *bench;
    size_t from = text->length;

    cJSON_ArrayForEach(bench, benches)
    {
        if (cJSON_IsString(bench))
            escape_shell_option(text, "--bench", bench->valuestring);
    }
    bool there = text->length > from;
    cJSON_ArrayForEach(bench, cJSON_GetObjectItemCaseSensitive(gate, "better"))
    {
        if (cJSON_IsString(bench))
            escape_shell_option(text, "--better", bench->valuestring);
    }
    add_option_of(text, "--format", gate, "format");
    add_option_of(text, "--build-command", gate, "build_command");
    return there && !strstr(text->data + from, "***"); /* a secret was hidden there */
}

/* By harness's own kernels: the key is of a device, so that is told where it is not the usual one.
 */
static bool add_kernel_options(const struct again *a, struct strbuf *text)
{
    const struct compare_request *asked = a->job->request;
    const char *device = json_string(a->settings, "device", DEVICE_SPEC_USUAL);

    if (!repository_measures(a->worst->item->bench))
        return false;
    if (strcmp(device, DEVICE_SPEC_USUAL) != 0)
        escape_shell_option(text, "--device", device);
    if (asked->build_command)
        escape_shell_option(text, "--build-command", asked->build_command);
    if (asked->build_program)
        escape_shell_option(text, "--build-program", asked->build_program);
    return true;
}

/* The change measured again, and the search for its commit. */
static void add_again_commands(const struct again *a, struct comment_commands *out)
{
    bool gates = cJSON_HasObjectItem(a->settings, BENCH_SETTINGS);
    const struct metric *metric = a->worst->item->metric;
    struct strbuf options, text;

    strbuf_init(&options);
    if (!(gates ? add_bench_options(a, &options) : add_kernel_options(a, &options))) {
        strbuf_release(&options);
        return;
    }
    strbuf_init(&text);
    strbuf_adds(&text, gates ? "harness gate" : "harness compare --build");
    add_commit_option(&text, gates ? "--base" : "--baseline", a->from);
    add_commit_option(&text, "--head", a->to);
    strbuf_adds(&text, options.data);
    add_all_metrics(a, &text);
    add_key_argument(&text, a->worst);
    add_command(out, "the largest change measured again, both commits built and in turn", &text);
    if (a->worst->verdict == VERDICT_REGRESSED) {
        strbuf_init(&text);
        strbuf_adds(&text, "harness bisect");
        add_commit_option(&text, "--good", a->from);
        add_commit_option(&text, "--bad", a->to);
        strbuf_adds(&text, options.data);
        if (asks_one_program(a))
            add_all_metrics(a, &text);
        else if (strcmp(metric->id, COMPARE_USUAL_METRIC) != 0)
            add_metric_options(a, metric, &text);
        add_key_argument(&text, a->worst);
        add_command(out, "which commit did it", &text);
    }
    strbuf_release(&options);
}

/* Of the newest of the head's runs; NULL where it has none that can be read. */
static cJSON *head_settings(const struct records *head)
{
    const char *text = head->nr_runs ? head->runs[head->nr_runs - 1].settings : NULL;
    struct error ignored;

    return text ? json_parse(text, strlen(text), "settings", &ignored) : NULL;
}

void comment_commands_make(const struct compare_comment *job, struct comment_commands *out)
{
    const struct compared *c = job->compared;
    const struct compare_row **changes;
    size_t nr = comment_changes(&c->comparison, &changes);
    struct again a = {
        .job = job,
        .from = clean_commit_of(&c->base.records),
        .to = clean_commit_of(&c->head.records),
        .worst = nr ? changes[0] : NULL,
    };

    *out = (struct comment_commands) { .nr = 0 };
    add_stored_command(job, out);
    if (a.worst && a.from && a.to && strcmp(a.from, a.to) != 0 && is_commit_here(a.from) &&
        is_commit_here(a.to)) {
        cJSON *settings = head_settings(&c->head.records);
        a.settings = settings;
        add_again_commands(&a, out);
        cJSON_Delete(settings);
    }
    free(changes);
}

void comment_commands_release(struct comment_commands *commands)
{
    for (size_t i = 0; i < commands->nr; i++)
        free((char *)commands->items[i].text);
    commands->nr = 0;
}
