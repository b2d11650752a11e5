/* SPDX-License-Identifier: MIT */
#include "cli/verdict_list.h"

#include "base/json.h"
#include "base/text.h"
#include "cli/terminal.h"
#include "output/escape.h"
#include "output/table.h"
#include "output/verdict_json.h"
#include "store/verdicts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void head_line(const struct store_comparison *c, struct strbuf *out)
{
    char when[TEXT_UNIT_SIZE];

    strbuf_addf(out, "%5" PRId64 "  %s  rule %d  exit %-2d  ", c->id,
                text_timestamp(c->decided_ms, when), c->rule, c->exit_status);
    escape_plain(out, c->base);
    strbuf_adds(out, " → ");
    escape_plain(out, c->head);
    strbuf_addc(out, '\n');
}

static cJSON *head_to_json(const struct store_comparison *c)
{
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "id", c->id);
    json_add_string(json, "uuid", c->uuid);
    json_add_int(json, "decided_ms", c->decided_ms);
    json_add_int(json, "rule", c->rule);
    json_add_string(json, "version", c->version);
    json_add_string(json, "base", c->base);
    json_add_string(json, "head", c->head);
    json_add_string(json, "base_commit", c->base_commit);
    json_add_string(json, "head_commit", c->head_commit);
    cJSON_AddRawToObject(json, "settings", c->settings);
    json_add_int(json, "exit_status", c->exit_status);
    return json;
}

static int print(cJSON *json, const struct strbuf *text, struct error *err)
{
    return json ? output_json(json, NULL, err) : output_text(text, NULL, err);
}

int verdict_list(struct store *store, size_t limit, bool json, struct error *err)
{
    struct store_comparisons list = { 0 };
    cJSON *array = json ? cJSON_CreateArray() : NULL;
    struct strbuf text;
    int rc = store_comparison_list(store, limit, &list, err);

    strbuf_init(&text);
    for (size_t i = 0; i < list.nr; i++) {
        if (json)
            cJSON_AddItemToArray(array, head_to_json(&list.items[i]));
        else
            head_line(&list.items[i], &text);
    }
    if (list.nr == 0)
        strbuf_adds(&text, "no verdicts yet; `harness compare --baseline REF` records them\n");
    if (rc == 0)
        rc = print(array, &text, err);
    else
        cJSON_Delete(array);
    strbuf_release(&text);
    store_comparisons_release(&list);
    return rc;
}

/* ---- one of them ---- */

static const struct table_column columns[] = {
    { "verdict", TABLE_LEFT, false },        { "benchmark", TABLE_LEFT, true },
    { "metric", TABLE_LEFT, false },         { "change", TABLE_RIGHT, false },
    { "90 % interval", TABLE_RIGHT, false }, { "", TABLE_LEFT, false },
};

static int add_line(struct table *t, const struct store_verdict *v, struct error *err)
{
    char change[TEXT_UNIT_SIZE];
    struct kept_result result;

    if (kept_result_read(v->result, &result, err))
        return -1;
    table_row(t);
    table_cell(t, TABLE_PLAIN, "%s", v->verdict);
    table_cell(t, TABLE_PLAIN, "%s", v->key);
    table_cell(t, TABLE_PLAIN, "%s", v->metric);
    table_cell(t, TABLE_PLAIN, "%s",
               isfinite(result.change) ? text_percent(result.change, change) : "");
    table_interval(t, &result.interval);
    table_cell(t, TABLE_PLAIN, "%s", result.accepted ? "accepted" : "");
    return 0;
}

static int show_text(const struct store_comparison *c, struct strbuf *out, struct error *err)
{
    struct table t;
    int rc = 0;

    head_line(c, out);
    strbuf_addc(out, '\n');
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; rc == 0 && i < c->nr; i++)
        rc = add_line(&t, &c->items[i], err);
    table_text(&t, terminal_width(), terminal_colour(), out);
    table_release(&t);
    return rc;
}

static cJSON *show_json(const struct store_comparison *c)
{
    cJSON *json = head_to_json(c), *rows = cJSON_AddArrayToObject(json, "rows");

    for (size_t i = 0; i < c->nr; i++) {
        const struct store_verdict *v = &c->items[i];
        cJSON *row = cJSON_CreateObject();
        json_add_string(row, "key", v->key);
        json_add_string(row, "machine", v->machine);
        json_add_string(row, "metric", v->metric);
        json_add_string(row, "verdict", v->verdict);
        cJSON_AddRawToObject(row, "result", v->result);
        cJSON_AddRawToObject(row, "evidence", v->evidence);
        cJSON_AddItemToArray(rows, row);
    }
    return json;
}

int verdict_show(struct store *store, const char *id, bool json, struct error *err)
{
    struct store_comparison c = { 0 };
    struct strbuf text;
    int64_t number;

    if (text_parse_int(id, 1, INT64_MAX, "the number of a comparison", &number, err))
        return -1;
    strbuf_init(&text);
    int rc = store_comparison_load(store, number, &c, err);
    if (rc == 0 && !json)
        rc = show_text(&c, &text, err);
    if (rc == 0)
        rc = print(json ? show_json(&c) : NULL, &text, err);
    strbuf_release(&text);
    store_comparison_release(&c);
    return rc;
}
