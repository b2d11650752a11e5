/* SPDX-License-Identifier: MIT */
/* What came out of the runs of commands, as the rows of a report. */
#include "session/compare/compare_commands.h"

#include "base/memory.h"
#include "command/command_words.h"
#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "threads=2,compiler=gcc" */
static char *setting_text(const struct commands_compared *c, const struct benchmark *b)
{
    const struct command_spec *spec = &c->workload.guests.command;
    struct strbuf text;

    strbuf_init(&text);
    for (size_t i = 0; i < spec->dims.nr; i++)
        strbuf_addf(&text, "%s%s={%s}", text.length ? "," : "", spec->dims.items[i],
                    spec->dims.items[i]);
    for (size_t i = 0; i < spec->texts.nr; i++)
        strbuf_addf(&text, "%s%s={%s}", text.length ? "," : "", spec->texts.items[i].name,
                    spec->texts.items[i].name);
    char *filled =
        command_fill_all(c->workload.guests.command_guest, b->variant, &b->shape, text.data);
    strbuf_release(&text);
    return filled;
}

struct command_result *commands_add_result(struct commands_compared *c, size_t command,
                                           const struct benchmark *b)
{
    struct commands_report *r = &c->report;
    r->results = array_grow(r->results, r->nr, &r->capacity, sizeof(*r->results));
    struct command_result *result = &r->results[r->nr++];
    struct benchmark_name name;

    benchmark_name_of(b, &c->workload.device, &name);
    *result = (struct command_result) {
        .command = command,
        .setting = setting_text(c, b),
        .outcome = OUTCOME_UNSUPPORTED,
        .median = NAN,
        .mean = NAN,
        .min = NAN,
        .max = NAN,
        .user_ms = NAN,
        .system_ms = NAN,
        .rss = NAN,
    };
    for (size_t i = 0; i < NUMBERS_MAX; i++)
        result->numbers[i] = NAN;
    snprintf(result->key, sizeof(result->key), "%s", name.key);
    return result;
}

/* Of all launches of one command. */
struct pooled {
    ARRAY(double) times;
    double user, system, rss; /* sums over runs, but for rss */
    ARRAY(double) numbers[NUMBERS_MAX];
};

static double add_known(double sum, double value, double weight)
{
    return isfinite(value) ? sum + value * weight : sum;
}

static void pool_numbers(const struct commands_report *r, struct pooled *pool,
                         const struct measurement *m)
{
    for (size_t i = 0; i < r->nr_numbers; i++) {
        const struct number *number = measurement_number(m, r->numbers[i]);
        for (size_t v = 0; number && v < number->nr; v++)
            *array_push(&pool->numbers[i]) = number->values[v];
    }
}

static void describe_numbers(const struct commands_report *r, struct command_result *result,
                             struct pooled *pool)
{
    for (size_t i = 0; i < r->nr_numbers; i++) {
        const size_t nr = pool->numbers[i].nr;
        if (nr > 0) {
            stats_sort(pool->numbers[i].items, nr);
            result->numbers[i] = stats_quantile(pool->numbers[i].items, nr, 0.5);
        }
        array_release(&pool->numbers[i]);
    }
}

static void pool_measurement(struct pooled *pool, const struct measurement *m)
{
    double nr = (double)m->nr_samples, rss = measurement_telemetry(m, "command_max_rss_bytes");

    for (size_t i = 0; i < m->nr_samples; i++)
        *array_push(&pool->times) = (double)m->samples[i];
    pool->user = add_known(pool->user, measurement_telemetry(m, "command_user_ms"), nr);
    pool->system = add_known(pool->system, measurement_telemetry(m, "command_system_ms"), nr);
    if (isfinite(rss) && !(pool->rss > rss))
        pool->rss = rss;
}

static void describe_times(struct command_result *result, struct pooled *pool)
{
    size_t nr = pool->times.nr;

    result->runs = nr;
    if (nr == 0)
        return;
    stats_sort(pool->times.items, nr);
    result->median = stats_quantile(pool->times.items, nr, 0.5);
    result->mean = 0;
    for (size_t i = 0; i < nr; i++)
        result->mean += pool->times.items[i] / (double)nr;
    result->min = pool->times.items[0];
    result->max = pool->times.items[nr - 1];
    result->user_ms = pool->user / (double)nr;
    result->system_ms = pool->system / (double)nr;
    result->rss = pool->rss;
}

/* False where an interrupt came before anything of it. */
static bool describe_result(const struct commands_report *r, struct command_result *result,
                            const struct records *records)
{
    struct pooled pool = { .rss = NAN };
    bool any = false;

    result->run = records->nr_runs ? records->runs[0].id : 0;
    for (size_t i = 0; i < records->nr; i++) {
        const struct measurement *m = &records->items[i].m;
        if (strcmp(m->bench.key, result->key) != 0)
            continue;
        any = true;
        if (m->outcome == OUTCOME_OK && result->outcome == OUTCOME_UNSUPPORTED)
            result->outcome = OUTCOME_OK;
        if (m->outcome != OUTCOME_OK && !result->message) {
            result->outcome = m->outcome;
            result->message = memory_string(m->message);
        }
        pool_measurement(&pool, m);
        pool_numbers(r, &pool, m);
    }
    describe_times(result, &pool);
    describe_numbers(r, result, &pool);
    array_release(&pool.times);
    return any;
}

static const struct compare_row *find_command_row(const struct comparison *c, const char *key,
                                                  const struct metric *metric)
{
    for (size_t i = 0; i < c->nr; i++)
        if (c->rows[i].item->metric == metric && strcmp(c->rows[i].item->bench->key, key) == 0)
            return &c->rows[i];
    return NULL;
}

/* The middle of the launches' medians, which is what the change is of. */
static void show_side(const struct commands_report *r, const struct metric *metric,
                      const struct compare_side *side, struct command_result *result)
{
    if (!isfinite(side->value))
        return;
    if (strcmp(metric->id, "p50") == 0)
        result->median = side->value;
    for (size_t i = 0; i < r->nr_numbers; i++)
        if (metric->number == r->numbers[i])
            result->numbers[i] = side->value;
}

static void add_changes(const struct commands_report *r, struct ab_session *s,
                        struct command_result *base, struct command_result *result)
{
    const struct comparison *c = ab_session_comparison(s, (int)result->command);

    for (size_t i = 0; i < r->nr_metrics; i++) {
        const struct compare_row *row = find_command_row(c, result->key, r->metrics[i]);
        result->rows[i] = row;
        if (!row)
            continue;
        show_side(r, r->metrics[i], &row->base, base);
        show_side(r, r->metrics[i], &row->head, result);
    }
}

void commands_describe_session(struct commands_compared *c, struct ab_session *s,
                               const struct benchmark_list *list)
{
    for (size_t b = 0; b < list->nr; b++) {
        size_t first = c->report.nr;
        for (size_t i = 0; i < c->nr; i++) {
            struct command_result *result = commands_add_result(c, i, &list->items[b]);
            if (!describe_result(&c->report, result, &s->records[i])) {
                free(result->setting);
                c->report.nr--;
                continue;
            }
            struct command_result *base = &c->report.results[first];
            if (i > 0 && base->command == 0)
                add_changes(&c->report, s, base, result);
        }
    }
}
