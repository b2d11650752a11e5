/* SPDX-License-Identifier: MIT */
/*
 * What to type to get the same again. Command lines are for a POSIX shell, SQL for the history.
 * The page puts words of its own in the places {figure}, {file}, {run}, {uuid} and {key}: a
 * figure's id, the file of a saved configuration, a run's number or uuid, a benchmark's key, each
 * quoted as the text around it wants.
 */
#include "base/json.h"
#include "base/resource.h"
#include "page/page.h"
#include "page/page_parts.h"

#include <string.h>

enum { KEYS_MOST = 40 };

/* A word of a shell's command line. */
static void command_add_word(struct strbuf *out, const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+@%";

    strbuf_addc(out, ' ');
    if (*text && strspn(text, plain) == strlen(text)) {
        strbuf_adds(out, text);
        return;
    }
    strbuf_addc(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            strbuf_adds(out, "'\\''");
        else
            strbuf_addc(out, *text);
    }
    strbuf_addc(out, '\'');
}

static void command_add_option(struct strbuf *out, const char *option, const char *value)
{
    if (!value || !*value)
        return;
    strbuf_addf(out, " %s", option);
    command_add_word(out, value);
}

/* Each behind an option of its own. */
static void command_add_each(struct strbuf *out, const char *option,
                             const struct string_list *values)
{
    for (size_t i = 0; i < values->nr; i++)
        command_add_option(out, option, values->items[i]);
}

/* All in one word, with commas between. */
static void command_add_list(struct strbuf *out, const char *option,
                             const struct string_list *values)
{
    struct strbuf text;

    strbuf_init(&text);
    for (size_t i = 0; i < values->nr; i++)
        strbuf_addf(&text, "%s%s", i ? "," : "", values->items[i]);
    command_add_option(out, option, text.data);
    strbuf_release(&text);
}

static void command_add_delta(struct strbuf *out, double delta)
{
    if (delta > 0)
        strbuf_addf(out, " --delta %.10g", delta);
}

static const struct page_asked *command_asked(const struct page *page)
{
    static const struct page_asked nothing;

    return page->options.asked ? page->options.asked : &nothing;
}

/* What each command that shows runs is asked for, whichever it is. */
static void command_add_asked(struct strbuf *out, const struct page *page)
{
    const struct page_asked *asked = command_asked(page);

    command_add_each(out, "--filter", &asked->filters);
    command_add_delta(out, asked->delta);
    command_add_option(out, "--group-by", asked->group_by);
    command_add_list(out, "--preset", &asked->presets);
}

static void command_add_run(struct strbuf *out, const struct page *page, int run)
{
    if (run >= 0 && page->runs[run].run->id > 0)
        strbuf_addf(out, " %lld", (long long)page->runs[run].run->id);
}

/* Is the base one of the runs that were asked for? */
static bool command_asked_for_base(const struct page *page)
{
    const struct view *view = page->view;

    for (size_t i = 0; i < view->nr_runs; i++)
        if (page_find_run(page, &view->records.runs[view->runs[i]]) == page->base)
            return true;
    return false;
}

static void command_add_baseline(struct strbuf *out, const struct page *page)
{
    const char *ref = page->options.baseline;

    if (page->base < 0)
        return;
    strbuf_adds(out, " --baseline");
    if (ref && (page->options.nr_refs || page->view->base.nr_runs != 1))
        command_add_word(out, ref);
    else if (page->options.nr_refs)
        command_add_word(out, page->options.refs[0]);
    else
        command_add_run(out, page, page->base);
}

/* "harness plot 12 --baseline main --filter gemm": the same of the same runs again. */
static void command_add_view(struct strbuf *out, const struct page *page, const char *command)
{
    const struct view *view = page->view;

    strbuf_addf(out, "harness %s", command);
    for (size_t i = 0; i < page->options.nr_refs; i++)
        command_add_word(out, page->options.refs[i]);
    for (size_t i = 0; !page->options.nr_refs && i < view->nr_runs; i++)
        command_add_run(out, page, page_find_run(page, &view->records.runs[view->runs[i]]));
    if (!command_asked_for_base(page))
        command_add_baseline(out, page);
    command_add_asked(out, page);
    command_add_option(out, "--db", page->options.history);
}

/* One folder that brings both sides has no names for them. */
static bool command_has_two_names(const struct page *page)
{
    return page->options.nr_refs != 1 || page->options.baseline;
}

/* `harness compare` reads no configuration: what was decided by is said wherever it came from. */
static double command_own_delta(const struct page *page)
{
    const struct compare_settings usual = COMPARE_DEFAULTS;
    const struct view *view = page->view;

    return view->compared && view->comparison.settings.delta != usual.delta
               ? view->comparison.settings.delta
               : 0;
}

static void command_add_compare(struct strbuf *out, const struct page *page)
{
    strbuf_adds(out, "harness compare");
    command_add_baseline(out, page);
    strbuf_adds(out, " --head");
    if (page->options.nr_refs)
        command_add_word(out, page->options.refs[page->options.nr_refs - 1]);
    else
        command_add_run(out, page, page->head);
    command_add_delta(out, command_own_delta(page));
    command_add_option(out, "--db", page->options.history);
    strbuf_adds(out, " {key}");
}

static bool command_knows_suite(const char *suite)
{
    struct strbuf name;

    strbuf_init(&name);
    strbuf_addf(&name, "suites/%s.json", suite);
    bool known = *suite && resource_find(name.data);
    strbuf_release(&name);
    return known;
}

/* Where and how it sampled, as far as that is no default of a suite. */
static void command_add_settings(struct strbuf *out, const struct page_run *run, bool suite)
{
    cJSON *settings = run->run->settings ? cJSON_Parse(run->run->settings) : NULL;
    const cJSON *sampling = cJSON_GetObjectItemCaseSensitive(settings, "sampling");
    int64_t launches = json_int(settings, "launches", 0);
    int64_t iterations = json_int(sampling, "iterations", 0);
    double seconds = json_number(sampling, "max_time", 0);

    command_add_option(out, "--device", json_string(settings, "device", NULL));
    if (launches > 0)
        strbuf_addf(out, " --launches %lld", (long long)launches);
    if (iterations > 0)
        strbuf_addf(out, " --iterations %lld", (long long)iterations);
    else if (!suite && seconds > 0)
        strbuf_addf(out, " --max-time %gs", seconds);
    if (suite && run->run->shard.count)
        strbuf_addf(out, " --shard %u/%u", run->run->shard.index, run->run->shard.count);
    cJSON_Delete(settings);
}

/* The same sweep: the suite, or else each benchmark by its key. False where that is too long. */
static bool command_add_sweep(struct strbuf *out, const struct page_run *run)
{
    bool suite = command_knows_suite(run->run->suite);
    bool possible = suite || (run->values->nr > 0 && run->values->nr <= KEYS_MOST);

    strbuf_adds(out, "harness run");
    if (suite)
        command_add_option(out, "--suite", run->run->suite);
    for (size_t i = 0; !suite && possible && i < run->values->nr; i++)
        command_add_word(out, run->values->items[i].key);
    command_add_settings(out, run, suite);
    return possible;
}

static const char own_history[] = ".harness/history.db";

static const char samples_sql[] =
    "SELECT l.seq AS launch, m.batch, m.nr_samples, hex(m.samples) AS samples "
    "FROM measurement m JOIN launch l ON l.id = m.launch JOIN run r ON r.id = l.run "
    "JOIN benchmark b ON b.id = m.benchmark "
    "WHERE r.uuid = '{uuid}' AND b.key = '{key}' ORDER BY l.seq, m.id;";

/* Takes the text. */
static void commands_add(cJSON *json, const char *key, struct strbuf *text)
{
    cJSON_AddStringToObject(json, key, text->data);
    strbuf_clear(text);
}

static void commands_add_history(cJSON *json, const char *db, struct strbuf *text)
{
    strbuf_adds(text, "harness history show {run}");
    command_add_option(text, "--db", db);
    commands_add(json, "show", text);
    cJSON_AddStringToObject(json, "samples", samples_sql);
    cJSON_AddStringToObject(json, "history", *db ? db : own_history);
}

/* `plot` draws a profile alone and takes words for figures then: these have runs, and so none. */
static void commands_add_views(cJSON *json, const struct page *page, struct strbuf *text)
{
    const struct page_asked *asked = command_asked(page);

    command_add_view(text, page, "plot");
    command_add_option(text, "--config", asked->config);
    strbuf_adds(text, " --only {figure}");
    commands_add(json, "plot", text);
    command_add_view(text, page, "plot");
    strbuf_adds(text, " --config {file}");
    commands_add(json, "config", text);
    command_add_view(text, page, "report");
    command_add_option(text, "--config", asked->config);
    command_add_list(text, "--profile", &asked->profiles);
    commands_add(json, "report", text);
}

/* For command lines that the page makes itself. */
static void commands_add_options(cJSON *json, const struct page *page, struct strbuf *text)
{
    command_add_asked(text, page);
    if (text->length)
        cJSON_AddStringToObject(json, "options", text->data + 1);
    strbuf_clear(text);
}

cJSON *page_commands(const struct page *page)
{
    cJSON *json = cJSON_CreateObject();
    struct strbuf text;

    if (page->head < 0)
        return json;
    strbuf_init(&text);
    commands_add_views(json, page, &text);
    commands_add_options(json, page, &text);
    if (page->base >= 0 && command_has_two_names(page)) {
        command_add_compare(&text, page);
        commands_add(json, "compare", &text);
    }
    if (command_add_sweep(&text, &page->runs[page->head]))
        cJSON_AddStringToObject(json, "run", text.data);
    strbuf_clear(&text);
    strbuf_adds(&text, "harness run {key}");
    command_add_settings(&text, &page->runs[page->head], false);
    commands_add(json, "run_one", &text);
    if (page->options.history)
        commands_add_history(json, page->options.history, &text);
    strbuf_release(&text);
    return json;
}
