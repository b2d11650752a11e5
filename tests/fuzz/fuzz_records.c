/* SPDX-License-Identifier: MIT */
/* core/record.h: runs as JSON: saved baselines, `run --json`, what a launch tells its parent. */
#include "fuzz_records.h"

#include "base/json.h"
#include "base/strbuf.h"
#include "fuzz.h"
#include "reporters/export.h"
#include "reporters/openmetrics.h"
#include "reporters/run_table.h"

#include <stdlib.h>
#include <string.h>

static void export(const struct records *records)
{
    struct strbuf out;

    strbuf_init(&out);
    export_csv(records, &out);
    if (records->nr_runs > 0) {
        openmetrics_add(records, -1, &out);
        prometheus_add(records, -1, &out);
        markdown_report(records, -1, &out);
        cJSON_Delete(export_json(records, -1));
        cJSON_Delete(export_gbench(records, -1, "harness"));
    }
    strbuf_release(&out);
}

void fuzz_use_records(const struct records *records)
{
    char *text = json_take_text(records_to_json(records)), *again;
    struct records back = { 0 };
    struct error err;
    cJSON *json = json_parse(text, strlen(text), "records", &err);

    FUZZ_OK(json ? records_from_json(json, &back, &err) : -1, &err);
    again = json_take_text(records_to_json(&back));
    FUZZ_CHECK(strcmp(text, again) == 0);
    export(&back);
    records_release(&back);
    cJSON_Delete(json);
    free(text);
    free(again);
}

FUZZ_TARGET(records)
{
    struct records records = { 0 };
    struct error err;
    cJSON *json = json_parse((const char *)data, size, "text", &err);

    if (json && records_from_json(json, &records, &err) == 0)
        fuzz_use_records(&records);
    records_release(&records);
    cJSON_Delete(json);
}
