/* SPDX-License-Identifier: MIT */
/* What can stand on an axis, and its value for one benchmark. */
#include "chart/base/chart_base.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "core/device_label.h"
#include "metrics/expression.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A parameter is a dim of the benchmark where `get` is NULL or gives NaN. */
struct chart_parameter {
    const char *name, *label, *base;
    double factor;
    double (*get)(const struct chart_item *item);
    enum quantity quantity;
    bool of_run; /* the same for all benchmarks of a run */
};

#define MODEL_GETTER(member)                                                                       \
    static double model_##member(const struct chart_item *item)                                    \
    {                                                                                              \
        return item->model ? (double)item->model->member : NAN;                                    \
    }
MODEL_GETTER(layers)
MODEL_GETTER(heads)
MODEL_GETTER(width)
MODEL_GETTER(block)
MODEL_GETTER(parameters)
MODEL_GETTER(flops_per_token)

static double work_flops(const struct chart_item *item)
{
    return item->summary->m->flops;
}

static double work_bytes(const struct chart_item *item)
{
    return item->summary->m->bytes;
}

static double tensors_footprint(const struct chart_item *item)
{
    return item->summary->m->footprint > 0 ? (double)item->summary->m->footprint : NAN;
}

static double device_threads(const struct chart_item *item)
{
    int nr = device_label_of(item->bench->device).threads;

    return nr > 0 ? (double)nr : (double)NAN;
}

static double chart_metric_launches(const struct chart_item *item)
{
    return (double)item->summary->nr_launches;
}

/* A number among the settings with which the run sampled. */
static double sampling_setting(const struct chart_item *item, const char *key)
{
    if (!item->of || !item->of->settings)
        return NAN;
    cJSON *settings = cJSON_Parse(item->of->settings);
    double value = json_number(cJSON_GetObjectItem(settings, "sampling"), key, NAN);
    cJSON_Delete(settings);
    return value;
}

static double min_time(const struct chart_item *item)
{
    return sampling_setting(item, "min_time");
}

static double max_time(const struct chart_item *item)
{
    return sampling_setting(item, "max_time");
}

static double warmup_time(const struct chart_item *item)
{
    return sampling_setting(item, "warmup");
}

/* A kernel with a new dim: its name here too (a test compares). */
static const struct chart_parameter parameters[] = {
    { "batch", "batch", "", 1, NULL, QUANTITY_PLAIN, false },
    { "seq", "sequence length", "", 1, NULL, QUANTITY_PLAIN, false },
    { "m", "m", "", 1, NULL, QUANTITY_PLAIN, false },
    { "n", "n", "", 1, NULL, QUANTITY_PLAIN, false },
    { "k", "k", "", 1, NULL, QUANTITY_PLAIN, false },
    { "headdim", "width of a head", "", 1, NULL, QUANTITY_PLAIN, false },
    { "vocab", "vocabulary", "", 1, NULL, QUANTITY_PLAIN, false },
    { "new", "new tokens", "", 1, NULL, QUANTITY_PLAIN, false },
    { "calls", "calls", "", 1, NULL, QUANTITY_PLAIN, false },
    { "depth", "depth of scopes", "", 1, NULL, QUANTITY_PLAIN, false },
    { "width", "width", "", 1, model_width, QUANTITY_PLAIN, false },
    { "heads", "heads", "", 1, model_heads, QUANTITY_PLAIN, false },
    { "layers", "layers", "", 1, model_layers, QUANTITY_PLAIN, false },
    { "block", "block", "", 1, model_block, QUANTITY_PLAIN, false },
    { "parameters", "parameters", "", 1, model_parameters, QUANTITY_PLAIN, false },
    { "flops_per_token", "FLOPs per token", "", 1, model_flops_per_token, QUANTITY_PLAIN, false },
    { "flops", "work", "FLOP", 1, work_flops, QUANTITY_PLAIN, false },
    { "bytes", "compulsory traffic", "", 1, work_bytes, QUANTITY_BYTES, false },
    { "footprint", "size of the tensors", "", 1, tensors_footprint, QUANTITY_BYTES, false },
    { "threads", "threads", "", 1, device_threads, QUANTITY_PLAIN, false },
    { "launches", "launches", "", 1, chart_metric_launches, QUANTITY_PLAIN, true },
    { "min_time", "least sampling time", "", 1e9, min_time, QUANTITY_TIME, true },
    { "max_time", "longest sampling time", "", 1e9, max_time, QUANTITY_TIME, true },
    { "warmup", "warm-up", "", 1e9, warmup_time, QUANTITY_TIME, true },
};

enum { NR_PARAMETERS = sizeof(parameters) / sizeof(parameters[0]) };

static const char dim_prefix[] = "dim_";

/* Any dim: "dim_n" where "n" alone is a metric, "dim_tile" where nobody knows of tiles. */
static const struct chart_parameter any_dim = { "", "", "", 1, NULL, QUANTITY_PLAIN, false };

/* The dim's own name, or NULL where the word does not begin like one. */
static const char *dim_named(const char *word)
{
    size_t length = sizeof(dim_prefix) - 1;

    return strncmp(word, dim_prefix, length) == 0 && word[length] ? word + length : NULL;
}

static const struct chart_parameter *parameter_find(const char *name)
{
    for (size_t i = 0; i < NR_PARAMETERS; i++)
        if (strcmp(parameters[i].name, name) == 0)
            return &parameters[i];
    return dim_named(name) ? &any_dim : NULL;
}

static double parameter_value(const struct chart_parameter *p, const char *name,
                              const struct chart_item *item)
{
    double dim = (double)benchmark_name_dim(item->bench, name, -1);

    return dim >= 0 ? dim : p->get ? p->get(item) : (double)NAN;
}

static const char *const group_words[] = { "kernel", "variant", "math", "device", "cache",
                                           "fill",   "model",   "run",  NULL };

static bool chart_metric_is_group_word(const char *text)
{
    for (size_t i = 0; group_words[i]; i++)
        if (strcmp(group_words[i], text) == 0)
            return true;
    return false;
}

/* The model of a forward pass, for all others the whole kernel. */
static void model_text(const struct chart_item *item, char text[GROUP_SIZE])
{
    snprintf(text, GROUP_SIZE, "%s", item->model ? item->model->name : item->bench->kernel);
}

char *chart_group_of(const struct chart_item *item, const struct chart *chart, const char *group,
                     char text[GROUP_SIZE])
{
    const struct benchmark_name *b = item->bench;
    const struct {
        const char *word, *text;
    } rows[] = {
        { "kernel", b->kernel },
        { "variant", b->variant },
        { "math", b->math },
        { "device", b->device },
        { "cache", b->cache },
        { "fill", benchmark_name_fill(b) },
        { "run", chart_run_name(chart, item->run) },
    };

    snprintf(text, GROUP_SIZE, "%s n/a", group);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].word, group) == 0)
            snprintf(text, GROUP_SIZE, "%s", rows[i].text);
    if (strcmp(group, "model") == 0)
        model_text(item, text);
    int64_t dim = benchmark_name_dim(b, group, -1);
    if (dim >= 0)
        snprintf(text, GROUP_SIZE, "%s=%lld", group, (long long)dim);
    return text;
}

/* The words that can be said: metrics, parameters, groups. NULL-ended; free() it. */
static const char **chart_metric_all_words(bool metrics, bool groups)
{
    size_t nr = 0, nr_metrics = 0;

    while (metrics && metric_at(nr_metrics))
        nr_metrics++;
    const char **words = memory_zeroed(
        nr_metrics + NR_PARAMETERS + sizeof(group_words) / sizeof(group_words[0]), sizeof(*words));
    for (size_t i = 0; i < nr_metrics; i++)
        words[nr++] = metric_at(i)->id;
    for (size_t i = 0; i < NR_PARAMETERS; i++)
        words[nr++] = parameters[i].name;
    for (size_t i = 0; groups && group_words[i]; i++)
        words[nr++] = group_words[i];
    return words;
}

static int unknown_word(const char *word, const char *what, bool metrics, bool groups,
                        struct error *err)
{
    const char **words = chart_metric_all_words(metrics, groups);
    const char *nearest = text_nearest(word, words);
    struct strbuf list;

    strbuf_init(&list);
    for (size_t i = 0; words[i] && !nearest; i++)
        strbuf_addf(&list, "%s%s", i ? ", " : "", words[i]);
    if (nearest)
        error_set(err, "\"%.60s\" is no %s; did you mean \"%s\"?", word, what, nearest);
    else
        error_set(err, "\"%.60s\" is no %s; there are %.700s", word, what, list.data);
    strbuf_release(&list);
    free(words);
    return -1;
}

int chart_group_check(const char *group, struct error *err)
{
    return chart_metric_is_group_word(group) || (parameter_find(group) && !dim_named(group))
               ? 0
               : unknown_word(group, "way to group", false, true, err);
}

struct chart_metric chart_metric_of(const struct metric *metric)
{
    struct chart_metric m = {
        .metric = metric,
        .label = metric->label,
        .direction = metric->direction,
        .quantity = metric->quantity,
        .base = metric->base,
        .factor = metric->factor,
    };

    snprintf(m.name, sizeof(m.name), "%s", metric->id);
    return m;
}

/* Notes the first name that an expression cannot have. */
static bool chart_metric_is_known(void *context, const char *name)
{
    char *unknown = context;

    if (metric_find(name, NULL) || parameter_find(name))
        return true;
    snprintf(unknown, EXPRESSION_NAME_SIZE, "%s", name);
    return false;
}

static int init_expression(struct chart_metric *m, const char *text, struct error *err)
{
    char unknown[EXPRESSION_NAME_SIZE] = "";

    m->expression = expression_parse(text, chart_metric_is_known, unknown, err);
    if (!m->expression)
        return unknown[0] ? unknown_word(unknown, "metric or parameter", true, false, err) : -1;
    m->text = memory_string(text);
    m->label = m->text;
    return 0;
}

int chart_metric_init(struct chart_metric *m, const char *text, struct error *err)
{
    const struct metric *metric = metric_find(text, NULL);

    if (metric) {
        *m = chart_metric_of(metric);
        return 0;
    }
    *m = (struct chart_metric) { .label = "", .direction = NO_DIRECTION, .base = "", .factor = 1 };
    snprintf(m->name, sizeof(m->name), "%s", text);
    m->parameter = parameter_find(text);
    m->category = !m->parameter && chart_metric_is_group_word(text);
    if (m->parameter) {
        if (m->parameter == &any_dim)
            snprintf(m->name, sizeof(m->name), "%s", dim_named(text));
        m->text = memory_string(m->parameter == &any_dim ? m->name : m->parameter->label);
        m->label = m->text;
        m->quantity = m->parameter->quantity;
        m->base = m->parameter->base;
        m->factor = m->parameter->factor;
    } else if (m->category) {
        m->text = memory_string(text);
        m->label = m->text;
    } else if (expression_is_plain(text)) {
        return unknown_word(text, "metric or parameter", true, true, err);
    } else {
        return init_expression(m, text, err);
    }
    return 0;
}

bool chart_metric_is_of_run(const struct chart_metric *m)
{
    return m->parameter && m->parameter->of_run;
}

struct chart_metric chart_metric_chosen(const char *text, const char *otherwise)
{
    struct chart_metric m;
    struct error ignored; /* whoever read the preset has seen it */

    if (chart_metric_init(&m, text ? text : otherwise, &ignored))
        m = chart_metric_of(metric_find("p50", NULL));
    return m;
}

void chart_metric_release(struct chart_metric *m)
{
    expression_free(m->expression);
    free(m->text);
    m->expression = NULL;
    m->text = NULL;
}

struct named_value {
    const struct chart_item *item;
    const struct metric_context *context;
};

static double value_by_name(void *context, const char *name)
{
    const struct named_value *v = context;
    const struct metric *metric = metric_find(name, NULL);
    const struct chart_parameter *parameter = parameter_find(name);

    if (metric)
        return metric_value(metric, v->item->summary, v->context).value;
    return parameter ? parameter_value(parameter, dim_named(name) ? dim_named(name) : name, v->item)
                     : (double)NAN;
}

static struct chart_value metric_range(const struct chart_metric *metric, const struct summary *s,
                                       const struct metric_context *context)
{
    struct metric_value v = metric_value(metric->metric, s, context);
    struct chart_value value = { v.value * metric->factor, NAN, NAN, v.few };

    if (metric->metric->kind == METRIC_FACT || s->n < 2) /* one sample has no spread */
        return value;
    double p5 = stats_quantile(s->sorted, s->n, 0.05), p50 = stats_quantile(s->sorted, s->n, 0.5);
    double p95 = stats_quantile(s->sorted, s->n, 0.95);
    if (metric->metric->kind == METRIC_LATENCY) {
        value.low = p5;
        value.high = p95;
    } else { /* a slow sample is a low rate */
        value.low = value.value * p50 / p95;
        value.high = value.value * p50 / p5;
    }
    return value;
}

struct chart_value chart_value_of(const struct chart_metric *metric, const struct chart_item *item,
                                  const struct metric_context *context)
{
    struct named_value named = { item, item->context ? item->context : context };

    if (metric->metric)
        return metric_range(metric, item->summary, named.context);
    double value = metric->parameter ? parameter_value(metric->parameter, metric->name, item)
                   : metric->expression
                       ? expression_value(metric->expression, value_by_name, &named)
                       : NAN;
    return (struct chart_value) { value * metric->factor, NAN, NAN, false };
}

double chart_value_at(const struct chart_items *items, const struct chart_metric *metric,
                      size_t item)
{
    return chart_value_of(metric, &items->items[item], &items->context).value;
}

void chart_items_require(struct chart_items *items, const struct chart_metric *metric)
{
    size_t kept = 0;

    for (size_t i = 0; i < items->nr; i++)
        if (isfinite(chart_value_at(items, metric, i)))
            items->items[kept++] = items->items[i];
    items->nr = kept;
}

struct range chart_range(const struct chart_items *items, const struct chart_metric *metric)
{
    struct range range = RANGE_NONE;

    for (size_t i = 0; i < items->nr; i++)
        range_include(&range, chart_value_at(items, metric, i));
    return range;
}

char *chart_text(const struct chart_metric *m, double value, char text[QUANTITY_TEXT_SIZE])
{
    return quantity_unit_text(m->quantity, m->base, value, text);
}

void chart_axis(struct axis *axis, const struct chart_metric *m, const char *label,
                enum axis_scale scale)
{
    axis_set(axis, label ? label : m->label, m->quantity, m->base, scale);
}
