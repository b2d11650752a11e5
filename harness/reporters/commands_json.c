/* SPDX-License-Identifier: MIT */
/* commands_report_json(); docs/formats/comparison.md has the form. */
#include "reporters/commands_report.h"

#include "base/json.h"
#include "reporters/compare_json.h"

static void add_numbers_json(const struct commands_report *r, const struct command_result *result,
                             cJSON *json)
{
    cJSON *numbers = r->nr_numbers ? cJSON_AddObjectToObject(json, "numbers") : NULL;

    for (size_t i = 0; i < r->nr_numbers; i++) {
        cJSON *number = cJSON_AddObjectToObject(numbers, r->numbers[i]->name);
        json_add_string(number, "unit", r->numbers[i]->unit);
        json_add_string(number, "better", better_name(r->numbers[i]->better));
        json_add_number(number, "value", result->numbers[i]);
    }
}

/* The first metric's alone, so that who compares one thing reads one thing; then the others. */
static void add_rows_json(const struct commands_report *r, const struct command_result *result,
                          cJSON *json)
{
    cJSON *further = NULL;
    struct strbuf sentence;

    strbuf_init(&sentence);
    if (result->rows[0]) {
        commands_report_sentence(r, result, result->rows[0], &sentence);
        json_add_string(json, "sentence", sentence.data);
        cJSON_AddItemToObject(json, "comparison", compare_row_to_json(result->rows[0]));
    }
    for (size_t i = 1; i < r->nr_metrics; i++) {
        if (!result->rows[i])
            continue;
        further = further ? further : cJSON_AddArrayToObject(json, "further");
        cJSON *one = cJSON_CreateObject();
        strbuf_clear(&sentence);
        commands_report_sentence(r, result, result->rows[i], &sentence);
        json_add_string(one, "sentence", sentence.data);
        cJSON_AddItemToObject(one, "comparison", compare_row_to_json(result->rows[i]));
        cJSON_AddItemToArray(further, one);
    }
    strbuf_release(&sentence);
}

static cJSON *result_to_json(const struct commands_report *r, const struct command_result *result)
{
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "command", (int64_t)result->command);
    json_add_string(json, "setting", result->setting);
    json_add_string(json, "key", result->key);
    if (result->run)
        json_add_int(json, "run", result->run);
    cJSON_AddStringToObject(json, "outcome", outcome_name(result->outcome));
    json_add_string(json, "message", result->message);
    json_add_int(json, "runs", (int64_t)result->runs);
    json_add_number(json, "median_ns", result->median);
    json_add_number(json, "mean_ns", result->mean);
    json_add_number(json, "min_ns", result->min);
    json_add_number(json, "max_ns", result->max);
    json_add_number(json, "user_ms", result->user_ms);
    json_add_number(json, "system_ms", result->system_ms);
    json_add_number(json, "max_rss_bytes", result->rss);
    add_numbers_json(r, result, json);
    add_rows_json(r, result, json);
    return json;
}

static void add_metrics_json(const struct commands_report *r, cJSON *json)
{
    json_add_string(json, "metric", r->nr_metrics ? r->metrics[0]->id : NULL);
    cJSON *array = cJSON_AddArrayToObject(json, "metrics");
    for (size_t i = 0; i < r->nr_metrics; i++)
        cJSON_AddItemToArray(array, cJSON_CreateString(r->metrics[i]->id));
}

cJSON *commands_report_json(const struct commands_report *r)
{
    cJSON *json = cJSON_CreateObject(), *array;

    cJSON_AddNumberToObject(json, "schema_version", 1);
    add_metrics_json(r, json);
    json_add_number(json, "delta", r->delta);
    json_add_number(json, "fdr", r->q);
    json_add_int(json, "rule", COMPARE_RULE);
    json_add_number(json, "seconds", r->seconds);
    json_add_string(json, "end", r->end);
    json_add_int(json, "exit_status", r->exit_status);
    array = cJSON_AddArrayToObject(json, "commands");
    for (size_t i = 0; i < r->nr_commands; i++) {
        const struct string_list *argv = &r->commands[i].argv;
        cJSON *command = cJSON_CreateObject();
        json_add_string(command, "name", r->commands[i].name);
        json_add_strings(command, "argv", argv->items, argv->nr);
        cJSON_AddItemToArray(array, command);
    }
    array = cJSON_AddArrayToObject(json, "results");
    for (size_t i = 0; i < r->nr; i++)
        cJSON_AddItemToArray(array, result_to_json(r, &r->results[i]));
    return json;
}
