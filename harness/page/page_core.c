/* SPDX-License-Identifier: MIT */
/* The block that is read first: runs, benchmarks, metrics, verdicts, and what figures there are. */
#include "base/json.h"
#include "chart/chapter.h"
#include "page/page.h"
#include "page/page_parts.h"
#include "reporters/compare_json.h"
#include "reporters/explain_report.h"
#include "reporters/system_table.h"
#include "reporters/trend/trend_json.h"
#include "verdict/differences.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void core_add_index(cJSON *json, const char *key, int index)
{
    if (index < 0)
        cJSON_AddNullToObject(json, key);
    else
        cJSON_AddNumberToObject(json, key, index);
}

static cJSON *core_run(const struct page *page, size_t index)
{
    const struct page_run *r = &page->runs[index];
    cJSON *json = run_to_json(r->run);

    json_add_int(json, "id", r->run->id);
    cJSON_AddStringToObject(json, "name", r->name);
    json_add_string(json, "commit", r->run->build.commit);
    json_add_string(json, "branch", r->run->build.branch);
    cJSON_AddBoolToObject(json, "dirty", r->run->build.dirty);
    cJSON_AddNumberToObject(json, "epoch", r->epoch);
    return json;
}

static void core_add_runs(const struct page *page, cJSON *core)
{
    const struct view *view = page->view;
    cJSON *runs = cJSON_AddArrayToObject(core, "runs");

    for (size_t i = 0; i < page->nr_runs; i++)
        cJSON_AddItemToArray(runs, core_run(page, i));
    core_add_index(core, "head", page->head);
    core_add_index(core, "base", page->base);
    cJSON *selected = cJSON_AddArrayToObject(core, "selected");
    for (size_t i = 0; i < view->nr_runs; i++)
        cJSON_AddItemToArray(
            selected, cJSON_CreateNumber(page_find_run(page, &view->records.runs[view->runs[i]])));
}

static void core_add_model(const struct view *view, const struct benchmark_name *bench, cJSON *json)
{
    for (size_t i = 0; i < view->nr_models; i++)
        if (plot_model_has(&view->models[i], bench)) {
            cJSON_AddStringToObject(json, "model", view->models[i].name);
            cJSON_AddNumberToObject(json, "parameters", view->models[i].parameters);
            return;
        }
}

static void core_add_benchmarks(const struct page *page, cJSON *core)
{
    cJSON *benchmarks = cJSON_AddArrayToObject(core, "benchmarks");

    for (size_t i = 0; i < page->nr_benchmarks; i++) {
        const struct page_benchmark *b = &page->benchmarks[i];
        cJSON *json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "key", b->name.key);
        cJSON_AddStringToObject(json, "label", b->label);
        cJSON_AddStringToObject(json, "kernel", b->name.kernel);
        core_add_model(page->view, &b->name, json);
        json_add_string(json, "variant", b->name.variant);
        json_add_string(json, "math", b->name.math);
        json_add_string(json, "device", b->name.device);
        json_add_string(json, "cache", b->name.cache);
        json_add_string(json, "fill", benchmark_name_fill(&b->name));
        cJSON *dims = cJSON_AddObjectToObject(json, "dims");
        for (int d = 0; d < b->name.nr_dims; d++)
            json_add_int(dims, b->name.dims[d].name, b->name.dims[d].value);
        cJSON_AddBoolToObject(json, "vendor", b->vendor);
        cJSON_AddItemToArray(benchmarks, json);
    }
}

static void core_add_metrics(const struct page *page, cJSON *core)
{
    static const char *const directions[] = {
        [LOWER_IS_BETTER] = "lower",
        [HIGHER_IS_BETTER] = "higher",
        [NO_DIRECTION] = "none",
    };
    static const char *const kinds[] = {
        [METRIC_LATENCY] = "latency",
        [METRIC_RATE] = "rate",
        [METRIC_FACT] = "fact",
    };
    cJSON *metrics = cJSON_AddArrayToObject(core, "metrics");

    for (size_t i = 0; i < page->nr_metrics; i++) {
        if (!page->has[i])
            continue;
        const struct metric *metric = metric_at(i);
        struct chart_metric shown = chart_metric_of(metric);
        cJSON *json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "id", metric->id);
        cJSON_AddStringToObject(json, "label", metric->label);
        cJSON_AddStringToObject(json, "unit", metric->unit);
        cJSON_AddStringToObject(json, "quantity", quantity_name(shown.quantity));
        cJSON_AddStringToObject(json, "base", shown.base);
        json_add_number(json, "factor", shown.factor);
        cJSON_AddStringToObject(json, "direction", directions[metric->direction]);
        cJSON_AddStringToObject(json, "kind", kinds[metric->kind]);
        cJSON_AddItemToArray(metrics, json);
    }
}

static int core_order_numbers(const void *x, const void *y)
{
    const int64_t *a = x, *b = y;

    return (*a > *b) - (*a < *b);
}

/* The values that one dim takes, each once. */
static void core_add_values(const struct page *page, const char *dim, cJSON *values)
{
    struct int_list list = { 0 };

    for (size_t i = 0; i < page->nr_benchmarks; i++) {
        const struct benchmark_name *name = &page->benchmarks[i].name;
        for (int d = 0; d < name->nr_dims; d++)
            if (strcmp(name->dims[d].name, dim) == 0)
                *array_push(&list) = name->dims[d].value;
    }
    if (list.nr)
        qsort(list.items, list.nr, sizeof(*list.items), core_order_numbers);
    for (size_t i = 0; i < list.nr; i++)
        if (i == 0 || list.items[i] != list.items[i - 1])
            cJSON_AddItemToArray(values, cJSON_CreateNumber((double)list.items[i]));
    array_release(&list);
}

static bool core_has_parameter(const cJSON *parameters, const char *dim)
{
    const cJSON *parameter;

    cJSON_ArrayForEach(parameter, parameters)
    {
        if (strcmp(json_string(parameter, "name", ""), dim) == 0)
            return true;
    }
    return false;
}

/* Every dim that some benchmark has, in the order in which they come. */
static void core_add_parameters(const struct page *page, cJSON *core)
{
    cJSON *parameters = cJSON_AddArrayToObject(core, "parameters");

    for (size_t i = 0; i < page->nr_benchmarks; i++) {
        const struct benchmark_name *name = &page->benchmarks[i].name;
        for (int d = 0; d < name->nr_dims; d++) {
            if (core_has_parameter(parameters, name->dims[d].name))
                continue;
            cJSON *json = cJSON_CreateObject();
            cJSON_AddItemToArray(parameters, json);
            cJSON_AddStringToObject(json, "name", name->dims[d].name);
            core_add_values(page, name->dims[d].name, cJSON_AddArrayToObject(json, "values"));
        }
    }
}

/* As the repository here knows the commits. */
static cJSON *core_known_trends(const struct page *page)
{
    struct trends trends = *page->view->trends;

    trends.settings.repository = page->options.repository;
    return trends_to_json(&trends, true);
}

static void core_add_verdicts(const struct page *page, cJSON *core)
{
    const struct view *view = page->view;
    cJSON *comparison = NULL, *trends = NULL;

    if (view->compared) {
        comparison = compare_to_json(&view->comparison, view->base_what, view->head_what);
        if (view->causes.items.nr)
            cJSON_AddItemToObject(comparison, "explanations", explain_json(&view->causes));
    } else if (view->base_what[0]) { /* why the base that was asked for is none */
        json_add_string(core, "no_base", view->base_what);
    }
    if (view->trends)
        trends = core_known_trends(page);
    cJSON_AddItemToObject(core, "comparison", comparison ? comparison : cJSON_CreateNull());
    cJSON_AddItemToObject(core, "trends", trends ? trends : cJSON_CreateNull());
}

static void core_add_differences(const struct page *page, cJSON *core)
{
    cJSON *array = cJSON_AddArrayToObject(core, "differences");
    struct differences found;

    if (page->base < 0 || page->head < 0)
        return;
    differences_find(page->runs[page->base].run, page->runs[page->head].run, &found);
    for (size_t i = 0; i < found.nr; i++) {
        const struct difference *d = &found.items[i];
        cJSON *json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "name", d->name);
        json_add_string(json, "base", d->base);
        json_add_string(json, "head", d->head);
        if (d->weather)
            cJSON_AddTrueToObject(json, "weather");
        cJSON_AddItemToArray(array, json);
    }
    differences_release(&found);
}

static void core_add_fact(void *context, const char *name, const char *value)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "name", name);
    cJSON_AddStringToObject(json, "value", value);
    cJSON_AddItemToArray(context, json);
}

static void core_add_figures(const struct page_figures *figures, cJSON *core)
{
    cJSON *array = cJSON_AddArrayToObject(core, "figures");

    for (size_t i = 0; figures && i < figures->nr; i++) {
        const struct page_figure *f = &figures->items[i];
        cJSON *json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "id", f->preset->name);
        cJSON_AddStringToObject(json, "title", f->preset->title);
        json_add_string(json, "description", f->preset->description);
        json_add_string(json, "how", f->preset->how);
        cJSON_AddStringToObject(json, "section", f->preset->section);
        cJSON_AddStringToObject(json, "chapter", chapter_of(f->preset));
        json_add_string(json, "alt", f->alt);
        json_add_string(json, "reason", f->reason);
        cJSON_AddItemToObject(json, "preset", preset_to_json(f->preset));
        cJSON_AddItemToArray(array, json);
    }
}

void page_title(const struct page *page, struct strbuf *out)
{
    const struct view *view = page->view;

    if (page->options.title)
        strbuf_adds(out, page->options.title);
    else if (view->compared)
        strbuf_addf(out, "%s against %s", view->head_what, view->base_what);
    else if (page->head >= 0)
        strbuf_addf(out, "%s%s%s", page->runs[page->head].run->suite,
                    page->runs[page->head].run->suite[0] ? ": " : "", page->runs[page->head].name);
    else if (view->profile)
        strbuf_addf(out, "%s%s%s", view->profile->name, view->profile_base ? " against " : "",
                    view->profile_base ? view->profile_base->name : "");
    else
        strbuf_adds(out, "No run");
}

cJSON *page_core(const struct page *page, const struct page_figures *figures)
{
    cJSON *core = cJSON_CreateObject();
    struct strbuf title;

    strbuf_init(&title);
    page_title(page, &title);
    cJSON_AddNumberToObject(core, "schema_version", 1);
    cJSON_AddStringToObject(core, "mode", page->options.live ? "serve" : "report");
    json_add_string(core, "generator", page->options.generator);
    json_add_int(core, "created_ms", page->options.created_ms);
    cJSON_AddStringToObject(core, "title", title.data);
    core_add_runs(page, core);
    core_add_benchmarks(page, core);
    core_add_metrics(page, core);
    core_add_parameters(page, core);
    core_add_verdicts(page, core);
    cJSON_AddItemToObject(core, "overview", page_overview(page));
    core_add_differences(page, core);
    cJSON *profile = page_profile(page->view);
    cJSON_AddItemToObject(core, "profile", profile ? profile : cJSON_CreateNull());
    cJSON *facts = cJSON_AddArrayToObject(core, "system");
    if (page->head >= 0)
        system_facts(page->runs[page->head].run, core_add_fact, facts);
    core_add_figures(figures, core);
    cJSON_AddItemToObject(core, "commands", page_commands(page));
    cJSON *notes = cJSON_AddArrayToObject(core, "notes");
    for (size_t i = 0; i < page->options.nr_notes; i++)
        cJSON_AddItemToArray(notes, cJSON_CreateString(page->options.notes[i]));
    strbuf_release(&title);
    return core;
}
