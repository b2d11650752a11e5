/* SPDX-License-Identifier: MIT */
#include "cli/render/verdict_list.h"

#include "base/json.h"
#include "base/text.h"
#include "reporters/verdict_json.h"
#include "store/verdicts.h"
#include "terminal/terminal.h"
#include "text/escape.h"
#include "text/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void comparison_line(const struct store_comparison *c, struct strbuf *out)
{
    char when[TEXT_UNIT_SIZE];

    strbuf_addf(out, "%5" PRId64 "  %s  rule %d  exit %-2d  ", c->id,
                text_timestamp(c->decided_ms, when), c->rule, c->exit_status);
    escape_plain(out, c->base);
    strbuf_adds(out, " → ");
    escape_plain(out, c->head);
    strbuf_addc(out, '\n');
}

/* A kept JSON text as it is. -1 if it is none: what we print must be JSON. */
static int add_kept_json(cJSON *json, const char *name, const char *text, struct error *err)
{
    cJSON *kept = json_parse(text, strlen(text), name, err);

    if (!kept)
        return -1;
    cJSON_Delete(kept);
    cJSON_AddRawToObject(json, name, text);
    return 0;
}

/* NULL on error. */
static cJSON *comparison_head_json(const struct store_comparison *c, struct error *err)
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
    json_add_int(json, "exit_status", c->exit_status);
    if (add_kept_json(json, "settings", c->settings, err) == 0)
        return json;
    error_prefix(err, "comparison %" PRId64, c->id);
    cJSON_Delete(json);
    return NULL;
}

static int print_verdicts(cJSON *json, const struct strbuf *text, struct error *err)
{
    return json ? output_json(json, NULL, err) : output_page(text, NULL, err);
}

int verdict_list(struct store *store, size_t limit, bool json, struct error *err)
{
    struct store_comparisons list = { 0 };
    cJSON *array = json ? cJSON_CreateArray() : NULL;
    struct strbuf text;
    int rc = store_comparison_list(store, limit, &list, err);

    strbuf_init(&text);
    for (size_t i = 0; rc == 0 && i < list.nr; i++) {
        cJSON *item = json ? comparison_head_json(&list.items[i], err) : NULL;
        if (item)
            cJSON_AddItemToArray(array, item);
        else if (json)
            rc = -1;
        else
            comparison_line(&list.items[i], &text);
    }
    if (list.nr == 0)
        strbuf_adds(&text, "no verdicts yet; `harness compare --baseline REF` records them\n");
    if (rc == 0)
        rc = print_verdicts(array, &text, err);
    else
        cJSON_Delete(array);
    strbuf_release(&text);
    store_comparisons_release(&list);
    return rc;
}

/* ---- one of them ---- */

static const struct table_column columns[] = {
    { "verdict", TABLE_LEFT, TABLE_FIRM, 0 },        { "benchmark", TABLE_LEFT, TABLE_NAME, 0 },
    { "metric", TABLE_LEFT, TABLE_FIRM, 2 },         { "change", TABLE_RIGHT, TABLE_FIRM, 1 },
    { "90 % interval", TABLE_RIGHT, TABLE_FIRM, 4 }, { "", TABLE_LEFT, TABLE_FIRM, 3 },
};

static int name_kept_row(const struct store_comparison *c, const struct store_verdict *v,
                         struct error *err)
{
    return error_prefix(err, "comparison %" PRId64 ", %s (%s)", c->id, v->key, v->metric);
}

static int add_kept_row(struct table *t, const struct store_verdict *v, struct error *err)
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

static int kept_comparison_text(const struct store_comparison *c, struct strbuf *out,
                                struct error *err)
{
    struct table t;
    int rc = 0;

    comparison_line(c, out);
    strbuf_addc(out, '\n');
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; rc == 0 && i < c->nr; i++)
        if (add_kept_row(&t, &c->items[i], err))
            rc = name_kept_row(c, &c->items[i], err);
    table_text(&t, terminal_width(), terminal_colour(), out);
    table_release(&t);
    return rc;
}

/* NULL on error. */
static cJSON *kept_comparison_json(const struct store_comparison *c, struct error *err)
{
    cJSON *json = comparison_head_json(c, err),
          *rows = json ? cJSON_AddArrayToObject(json, "rows") : NULL;

    for (size_t i = 0; json && i < c->nr; i++) {
        const struct store_verdict *v = &c->items[i];
        cJSON *row = cJSON_CreateObject();
        json_add_string(row, "key", v->key);
        json_add_string(row, "machine", v->machine);
        json_add_string(row, "metric", v->metric);
        json_add_string(row, "verdict", v->verdict);
        cJSON_AddItemToArray(rows, row);
        if (add_kept_json(row, "result", v->result, err) == 0 &&
            add_kept_json(row, "evidence", v->evidence, err) == 0)
            continue;
        name_kept_row(c, v, err);
        cJSON_Delete(json);
        return NULL;
    }
    return json;
}

int verdict_show(struct store *store, const char *id, bool json, struct error *err)
{
    struct store_comparison c = { 0 };
    cJSON *shown = NULL;
    struct strbuf text;
    int64_t number;

    if (text_parse_int(id, 1, INT64_MAX, "the number of a comparison", &number, err))
        return -1;
    strbuf_init(&text);
    int rc = store_comparison_load(store, number, &c, err);
    if (rc == 0 && !json)
        rc = kept_comparison_text(&c, &text, err);
    if (rc == 0 && json)
        rc = (shown = kept_comparison_json(&c, err)) ? 0 : -1;
    if (rc == 0)
        rc = print_verdicts(shown, &text, err);
    strbuf_release(&text);
    store_comparison_release(&c);
    return rc;
}
