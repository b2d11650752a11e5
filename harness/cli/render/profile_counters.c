/* SPDX-License-Identifier: MIT */
#include "cli/render/profile_counters.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "gputrace/kernel_name.h"
#include "measure/profiling.h"
#include "terminal/terminal.h"
#include "text/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static int parse_counters(const cJSON *json, const struct measurement *m,
                          struct profile_counters *c, struct error *err)
{
    const char *reason = json_string(json, "reason", NULL);
    const struct work model = { .flops = m->flops, .bytes = m->bytes };

    if (reason) {
        error_record(&c->reason, "%s", reason);
        return 0;
    }
    if (kernel_totals_from_json(cJSON_GetObjectItemCaseSensitive(json, "counters"), &c->totals,
                                err))
        return -1;
    c->check = work_compare(model, kernel_totals_work(&c->totals), NULL, NULL);
    return 0;
}

int profile_counters_take(const char *folder, const struct benchmark_name *name,
                          const struct measurement *m, struct profile_counters *counters,
                          struct error *err)
{
    char *path = profiling_counters_file(folder, name);
    cJSON *json = json_parse_file(path, FILE_SETTINGS_MOST, err);

    *counters = (struct profile_counters) { .reason = { "" } };
    int rc = json ? parse_counters(json, m, counters, err) : -1;
    if (json && rc)
        error_record_prefix(err, "%s", path);
    cJSON_Delete(json);
    unlink(path);
    free(path);
    return rc;
}

void profile_counters_release(struct profile_counters *counters)
{
    kernel_totals_release(&counters->totals);
}

/* ---- for people ---- */

static const struct table_column columns[] = {
    { .title = "kernel", .fit = TABLE_NAME },        { .title = "launches", .align = TABLE_RIGHT },
    { .title = "DRAM bytes", .align = TABLE_RIGHT }, { .title = "FLOPs", .align = TABLE_RIGHT },
    { .title = "FLOP/byte", .align = TABLE_RIGHT },
};

static int kernels_by_bytes(const void *a_, const void *b_)
{
    const struct kernel_total *a = *(const struct kernel_total *const *)a_;
    const struct kernel_total *b = *(const struct kernel_total *const *)b_;
    double x = isnan(a->work.bytes) ? -1 : a->work.bytes;
    double y = isnan(b->work.bytes) ? -1 : b->work.bytes;

    if (x != y)
        return x < y ? 1 : -1;
    return (a > b) - (a < b); /* both lie in one array */
}

static void add_counters_row(const struct kernel_total *k, struct table *t)
{
    char text[TEXT_UNIT_SIZE], name[KERNEL_NAME_SIZE];

    table_row(t);
    table_cell(t, TABLE_PLAIN, "%s",
               k->name[0] ? kernel_name_short(k->name, name) : "(all kernels)");
    table_cell(t, TABLE_PLAIN, "%s", text_figures(k->launches, 6, text));
    table_cell(t, TABLE_PLAIN, "%s", text_bytes(k->work.bytes, text));
    table_cell(t, TABLE_PLAIN, "%s", text_rate(k->work.flops, "FLOP", text));
    if (k->work.bytes > 0 && isfinite(k->work.flops))
        table_cell(t, TABLE_PLAIN, "%s", text_figures(k->work.flops / k->work.bytes, 4, text));
}

static void print_counted_kernels(const struct kernel_totals *totals, size_t top,
                                  struct strbuf *out)
{
    const struct kernel_total **sorted = memory_zeroed(totals->nr + 1, sizeof(*sorted));
    struct table t;

    for (size_t i = 0; i < totals->nr; i++)
        sorted[i] = &totals->items[i];
    qsort(sorted, totals->nr, sizeof(*sorted), kernels_by_bytes);
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < totals->nr && i < top; i++)
        add_counters_row(sorted[i], &t);
    table_text(&t, terminal_width(), terminal_colour(), out);
    table_release(&t);
    free(sorted);
}

static void print_work_ratio(const struct work_ratio *r, const char *what, const char *words,
                             struct strbuf *out)
{
    char text[TEXT_UNIT_SIZE];

    if (r->verdict == WORK_UNKNOWN)
        strbuf_addf(out, "%s: %s\n", what, words);
    else
        strbuf_addf(out, "%s: %s of the work model: %s\n", what, text_figures(r->ratio, 3, text),
                    words);
}

void profile_counters_print(const struct profile_counters *c, size_t top, struct strbuf *out)
{
    if (c->reason.message[0])
        return;
    strbuf_addf(out, "\nHardware counters, an iteration (mean of %d, each kernel replayed alone)\n",
                c->totals.iterations);
    print_counted_kernels(&c->totals, top, out);
    if (c->totals.dropped) {
        strbuf_addf(out,
                    "%" PRIu64
                    " launches were not counted, for lack of room: the sums say nothing "
                    "of the work model\n",
                    c->totals.dropped);
        return;
    }
    print_work_ratio(&c->check.bytes, "Bytes", work_bytes_words(c->check.bytes.verdict), out);
    print_work_ratio(&c->check.flops, "FLOPs", work_flops_words(c->check.flops.verdict), out);
}

/* ---- for programs ---- */

static cJSON *work_ratio_json(const struct work_ratio *r)
{
    cJSON *json = cJSON_CreateObject();

    json_add_number(json, "modelled", r->modelled);
    json_add_number(json, "counted", r->counted);
    json_add_number(json, "ratio", r->ratio);
    cJSON_AddStringToObject(json, "verdict", work_verdict_name(r->verdict));
    return json;
}

cJSON *profile_counters_to_json(const struct profile_counters *c)
{
    cJSON *json;

    if (c->reason.message[0]) {
        json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "reason", c->reason.message);
        return json;
    }
    json = kernel_totals_to_json(&c->totals);
    cJSON_AddItemToObject(json, "bytes", work_ratio_json(&c->check.bytes));
    cJSON_AddItemToObject(json, "flops", work_ratio_json(&c->check.flops));
    return json;
}
