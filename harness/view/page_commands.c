/* SPDX-License-Identifier: MIT */
/*
 * What to type to get the same again. Command lines are for a POSIX shell, SQL for the history.
 * The page puts words of its own in the places {figure}, {file}, {run}, {uuid} and {key}: a
 * figure's id, the file of a saved configuration, a run's number or uuid, a benchmark's key, each
 * quoted as the text around it wants.
 */
#include "base/json.h"
#include "base/resource.h"
#include "view/page.h"
#include "view/page_parts.h"

#include <string.h>

enum { KEYS_MOST = 40 };

/* A word of a shell's command line. */
static void add_word(struct strbuf *out, const char *text)
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

static void add_option(struct strbuf *out, const char *option, const char *value)
{
    if (!value || !*value)
        return;
    strbuf_addf(out, " %s", option);
    add_word(out, value);
}

static void add_number(struct strbuf *out, const struct page *page, int run)
{
    if (run >= 0 && page->runs[run].run->id > 0)
        strbuf_addf(out, " %lld", (long long)page->runs[run].run->id);
}

/* Is the base one of the runs that were asked for? */
static bool asked_for_base(const struct page *page)
{
    const struct view *view = page->view;

    for (size_t i = 0; i < view->nr_runs; i++)
        if (page_find_run(page, &view->records.runs[view->runs[i]]) == page->base)
            return true;
    return false;
}

static void add_baseline(struct strbuf *out, const struct page *page)
{
    const char *ref = page->options.baseline;

    if (page->base < 0)
        return;
    strbuf_adds(out, " --baseline");
    if (ref && (page->options.nr_refs || page->view->base.nr_runs != 1))
        add_word(out, ref);
    else if (page->options.nr_refs)
        add_word(out, page->options.refs[0]);
    else
        add_number(out, page, page->base);
}

/* "harness plot 12 --baseline main": the same runs again. */
static void add_view(struct strbuf *out, const struct page *page, const char *command)
{
    const struct view *view = page->view;

    strbuf_addf(out, "harness %s", command);
    for (size_t i = 0; i < page->options.nr_refs; i++)
        add_word(out, page->options.refs[i]);
    for (size_t i = 0; !page->options.nr_refs && i < view->nr_runs; i++)
        add_number(out, page, page_find_run(page, &view->records.runs[view->runs[i]]));
    if (!asked_for_base(page))
        add_baseline(out, page);
    add_option(out, "--db", page->options.history);
}

/* One folder that brings both sides has no names for them. */
static bool has_two_names(const struct page *page)
{
    return page->options.nr_refs != 1 || page->options.baseline;
}

static void add_compare(struct strbuf *out, const struct page *page)
{
    strbuf_adds(out, "harness compare");
    add_baseline(out, page);
    strbuf_adds(out, " --head");
    if (page->options.nr_refs)
        add_word(out, page->options.refs[page->options.nr_refs - 1]);
    else
        add_number(out, page, page->head);
    add_option(out, "--db", page->options.history);
    strbuf_adds(out, " {key}");
}

static bool is_known_suite(const char *suite)
{
    struct strbuf name;

    strbuf_init(&name);
    strbuf_addf(&name, "suites/%s.json", suite);
    bool known = *suite && resource_find(name.data);
    strbuf_release(&name);
    return known;
}

/* Where and how it sampled, as far as that is no default of a suite. */
static void add_settings(struct strbuf *out, const struct page_run *run, bool suite)
{
    cJSON *settings = run->run->settings ? cJSON_Parse(run->run->settings) : NULL;
    const cJSON *sampling = cJSON_GetObjectItemCaseSensitive(settings, "sampling");
    int64_t launches = json_int(settings, "launches", 0);
    int64_t iterations = json_int(sampling, "iterations", 0);
    double seconds = json_number(sampling, "max_time", 0);

    add_option(out, "--device", json_string(settings, "device", NULL));
    if (launches > 0)
        strbuf_addf(out, " --launches %lld", (long long)launches);
    if (iterations > 0)
        strbuf_addf(out, " --iterations %lld", (long long)iterations);
    else if (!suite && seconds > 0)
        strbuf_addf(out, " --max-time %gs", seconds);
    if (suite)
        add_option(out, "--shard", json_string(settings, "shard", NULL));
    cJSON_Delete(settings);
}

/* The same sweep: the suite, or else each benchmark by its key. False where that is too long. */
static bool add_sweep(struct strbuf *out, const struct page_run *run)
{
    bool suite = is_known_suite(run->run->suite);
    bool possible = suite || (run->values->nr > 0 && run->values->nr <= KEYS_MOST);

    strbuf_adds(out, "harness run");
    if (suite)
        add_option(out, "--suite", run->run->suite);
    for (size_t i = 0; !suite && possible && i < run->values->nr; i++)
        add_word(out, run->values->items[i].key);
    add_settings(out, run, suite);
    return possible;
}

static const char own_history[] = ".harness/history.db";

static const char samples_sql[] =
    "SELECT l.seq AS launch, m.batch, m.nr_samples, hex(m.samples) AS samples "
    "FROM measurement m JOIN launch l ON l.id = m.launch JOIN run r ON r.id = l.run "
    "JOIN benchmark b ON b.id = m.benchmark "
    "WHERE r.uuid = '{uuid}' AND b.key = '{key}' ORDER BY l.seq, m.id;";

/* Takes the text. */
static void add_text(cJSON *json, const char *key, struct strbuf *text)
{
    cJSON_AddStringToObject(json, key, text->data);
    strbuf_clear(text);
}

static void add_history(cJSON *json, const char *db, struct strbuf *text)
{
    strbuf_adds(text, "harness history show {run}");
    add_option(text, "--db", db);
    add_text(json, "show", text);
    cJSON_AddStringToObject(json, "samples", samples_sql);
    cJSON_AddStringToObject(json, "history", *db ? db : own_history);
}

cJSON *page_commands(const struct page *page)
{
    cJSON *json = cJSON_CreateObject();
    struct strbuf text;

    if (page->head < 0)
        return json;
    strbuf_init(&text);
    add_view(&text, page, "plot");
    strbuf_adds(&text, " --only {figure}");
    add_text(json, "plot", &text);
    add_view(&text, page, "plot");
    strbuf_adds(&text, " --config {file}");
    add_text(json, "config", &text);
    add_view(&text, page, "report");
    add_text(json, "report", &text);
    if (page->base >= 0 && has_two_names(page)) {
        add_compare(&text, page);
        add_text(json, "compare", &text);
    }
    if (add_sweep(&text, &page->runs[page->head]))
        cJSON_AddStringToObject(json, "run", text.data);
    strbuf_clear(&text);
    strbuf_adds(&text, "harness run {key}");
    add_settings(&text, &page->runs[page->head], false);
    add_text(json, "run_one", &text);
    if (page->options.history)
        add_history(json, page->options.history, &text);
    strbuf_release(&text);
    return json;
}
