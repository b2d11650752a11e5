/* SPDX-License-Identifier: MIT */
/*
 * A file of asv's results: {"result_columns": ["result", "params", ...], "results": {NAME: [...]}}.
 * Each list has a value for each combination of the parameters, the last one moving fastest. What
 * is measured stands in the name: time_*, timeraw_* are seconds, mem_* and peakmem_* bytes.
 */
#include "importers/base/import_base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PARAMETERS_MOST = 16 };

/* The columns that are read. */
enum asv_column {
    ASV_RESULT,
    ASV_PARAMS,
    ASV_STARTED,
    ASV_SAMPLES,
    ASV_NUMBER,
    ASV_LOW,
    ASV_HIGH,
    ASV_P25,
    ASV_P75,
    ASV_REPEAT,
    ASV_COLUMNS,
};

static const char *const column_names[ASV_COLUMNS] = {
    [ASV_RESULT] = "result",       [ASV_PARAMS] = "params",       [ASV_STARTED] = "started_at",
    [ASV_SAMPLES] = "samples",     [ASV_NUMBER] = "stats_number", [ASV_LOW] = "stats_ci_99_a",
    [ASV_HIGH] = "stats_ci_99_b",  [ASV_P25] = "stats_q_25",      [ASV_P75] = "stats_q_75",
    [ASV_REPEAT] = "stats_repeat",
};

struct asv {
    struct import_build *b;
    const cJSON *columns;
    const cJSON *at[ASV_COLUMNS]; /* of the combination that is read; NULL: there is none */
    const cJSON *parameter[PARAMETERS_MOST]; /* its values */
};

static enum asv_column asv_find_column(const cJSON *name)
{
    int i = 0;

    while (i < ASV_COLUMNS &&
           !(cJSON_IsString(name) && strcmp(name->valuestring, column_names[i]) == 0))
        i++;
    return (enum asv_column)i;
}

/* The last columns may be missing. */
static void asv_find_columns(struct asv *a, const cJSON *row)
{
    const cJSON *column = a->columns->child, *item = row->child;

    memset(a->at, 0, sizeof(a->at));
    for (; column && item; column = column->next, item = item->next) {
        enum asv_column i = asv_find_column(column);
        if (i < ASV_COLUMNS)
            a->at[i] = item;
    }
}

/* Of params: 1 without any; -1: they are too many. */
static int asv_first_combination(struct asv *a)
{
    const cJSON *list;
    double nr = 1;
    int i = 0;

    cJSON_ArrayForEach(list, a->at[ASV_PARAMS])
    {
        if (i == PARAMETERS_MOST)
            return -1;
        a->parameter[i++] = list->child;
        nr *= cJSON_GetArraySize(list);
    }
    for (i = 0; i < ASV_COLUMNS; i++)
        if (i != ASV_PARAMS && i != ASV_STARTED)
            a->at[i] = cJSON_IsArray(a->at[i]) ? a->at[i]->child : NULL;
    return nr <= IMPORT_CASES_MOST ? (int)nr : -1;
}

/* The last parameter moves on, and the one before it where that comes to its end. */
static void asv_next_combination(struct asv *a)
{
    int nr = cJSON_GetArraySize(a->at[ASV_PARAMS]);

    for (int i = 0; i < ASV_COLUMNS; i++)
        if (a->at[i] && i != ASV_PARAMS && i != ASV_STARTED)
            a->at[i] = a->at[i]->next;
    while (nr-- > 0) {
        a->parameter[nr] = a->parameter[nr]->next;
        if (a->parameter[nr])
            return;
        a->parameter[nr] = cJSON_GetArrayItem(a->at[ASV_PARAMS], nr)->child;
    }
}

/* "'quick'" is the text quick. */
static void asv_parameter_text(const cJSON *item, char text[100])
{
    const char *from = cJSON_IsString(item) ? item->valuestring : "?";
    size_t length = strlen(from);
    bool quoted = length >= 2 && from[0] == '\'' && from[length - 1] == '\'';

    snprintf(text, 100, "%.*s", (int)(quoted ? length - 2 : length), from + quoted);
}

static void asv_make_name(const struct asv *a, const char *text, struct import_name *name)
{
    int nr = cJSON_GetArraySize(a->at[ASV_PARAMS]);
    char value[100], key[24];

    import_name_init(name, text);
    for (int i = 0; i < nr; i++) {
        asv_parameter_text(a->parameter[i], value);
        snprintf(key, sizeof(key), "param%d", i + 1);
        import_name_parameter(name, key, value);
    }
}

/* "sort.Suite.time_sort": what stands behind the last dot says what it is. Of asv's own name, for
 * parameters may have dots. */
static const char *asv_method(const char *text)
{
    const char *dot = strrchr(text, '.');

    return dot ? dot + 1 : text;
}

static int asv_read_samples(struct asv *a, struct import_case *c)
{
    const cJSON *item;
    double iterations, value;

    if (!import_value(a->at[ASV_NUMBER], &iterations) || iterations < 1)
        iterations = 1;
    cJSON_ArrayForEach(item, a->at[ASV_SAMPLES])
    {
        if (!import_value(item, &value))
            return import_refuse(a->b, item, "a sample is no finite number");
        if (import_time(a->b, c, item, value * 1e9, iterations))
            return -1;
    }
    return 0;
}

static void asv_keep_statistics(struct asv *a, struct import_case *c)
{
    static const struct {
        enum asv_column column;
        const char *name;
    } rows[] = { { ASV_LOW, "summary_lower_ns" },
                 { ASV_HIGH, "summary_upper_ns" },
                 { ASV_P25, "summary_p25_ns" },
                 { ASV_P75, "summary_p75_ns" } };
    double value;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (import_value(a->at[rows[i].column], &value))
            import_beside(a->b, c, rows[i].name, value * 1e9);
    if (import_value(a->at[ASV_REPEAT], &value))
        import_beside(a->b, c, "summary_samples", value);
}

/* null is a failure, NaN a benchmark that said it cannot run here. */
static int asv_read_value(struct asv *a, struct import_case *c, const char *method)
{
    const cJSON *item = a->at[ASV_RESULT];
    double value;

    if (!import_value(item, &value)) {
        bool nan = cJSON_IsString(item);
        import_fail(c, nan ? OUTCOME_UNSUPPORTED : OUTCOME_FAILED, nan ? "skipped" : "failed");
        return 0;
    }
    if (strncmp(method, "time", 4) == 0) {
        if (asv_read_samples(a, c))
            return -1;
        if (c->times.nr > 0)
            return 0;
        asv_keep_statistics(a, c);
        return import_statistic(a->b, c, item, value * 1e9);
    }
    bool memory = strncmp(method, "mem", 3) == 0 || strncmp(method, "peakmem", 7) == 0;
    if (memory)
        import_beside(a->b, c, "memory_bytes", value);
    else
        import_main_number(a->b, c, "value", "value", "", value);
    import_timeless(c);
    return 0;
}

/* When it was measured: "date" is that of the commit. */
static void asv_read_start(struct asv *a)
{
    double ms;

    if (import_value(a->at[ASV_STARTED], &ms) && ms > 0 && ms < 2.5e14 &&
        (a->b->run->started_ms == 0 || ms < (double)a->b->run->started_ms))
        a->b->run->started_ms = (int64_t)ms;
}

static int asv_read_benchmark(void *context, const cJSON *row)
{
    struct asv *a = context;
    struct import_name name;

    if (!cJSON_IsArray(row))
        return import_refuse(a->b, row, "\"%.80s\" is no list", row->string);
    asv_find_columns(a, row);
    asv_read_start(a);
    int nr = asv_first_combination(a);
    if (nr < 0)
        return import_crowded(a->b);
    for (; nr > 0; nr--, asv_next_combination(a)) {
        asv_make_name(a, row->string, &name);
        struct import_case *c = import_case(a->b, &name);
        if (a->b->crowded)
            return import_crowded(a->b);
        import_note_again(a->b, c);
        if (asv_read_value(a, c, asv_method(row->string)))
            return -1;
    }
    return 0;
}

static void asv_read_machine(struct import_build *b, const cJSON *params)
{
    struct machine *m = &b->run->machine;

    IMPORT_COPY(m->cpu, params, "cpu");
    import_processors(m, import_optional(params, "num_cpu"));
    import_fact_of(b, "host", params, "machine");
    import_fact_of(b, "system", params, "os");
    import_fact_of(b, "python", params, "python");
}

static int asv_parse(struct import_build *b)
{
    const cJSON *root = b->source.root, *results = import_member(root, "results");
    struct asv a = { .b = b };

    b->clock = "asv";
    b->statistic = "the median";
    if (import_list(b, root, "result_columns", &a.columns))
        return -1;
    if (!cJSON_IsObject(results))
        return import_refuse(b, root, "\"results\" is missing or no object");
    import_commit(b, json_string(root, "commit_hash", ""));
    asv_read_machine(b, import_member(root, "params"));
    import_fact_of(b, "environment", root, "env_name");
    return import_each(b, results, NULL, asv_read_benchmark, &a);
}

const struct import_format_row import_asv = { .signs = { "result_columns results" },
                                              .parse = asv_parse };
