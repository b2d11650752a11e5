/* SPDX-License-Identifier: MIT */
/* Raw samples as text, in the order measured; nothing where only a summary was kept. */
#include "base/array.h"
#include "base/json.h"
#include "page/figure_thin.h"
#include "page/page.h"
#include "page/page_parts.h"

#include <stdlib.h>
#include <string.h>

/* A measurement of the run, with the page's number of its benchmark. */
struct part {
    int benchmark;
    size_t order;
    const struct record *record;
};

struct parts {
    struct part *items;
    size_t nr, capacity;
};

static bool samples_has(const struct measurement *m)
{
    return m->outcome == OUTCOME_OK && m->nr_samples > 0 && m->batch > 0 && !m->thinned;
}

static int samples_order(const void *x, const void *y)
{
    const struct part *a = x, *b = y;
    int order = (a->benchmark > b->benchmark) - (a->benchmark < b->benchmark);

    if (!order)
        order = a->record->launch_seq - b->record->launch_seq;
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

static void samples_add_launch(const struct measurement *m, size_t most, struct page_samples *count,
                               struct strbuf *out)
{
    size_t kept = most && most < m->nr_samples ? most : m->nr_samples;

    strbuf_addc(out, '[');
    for (size_t i = 0; i < kept; i++) {
        strbuf_adds(out, i ? "," : "");
        page_number(out, (double)m->samples[thin_index(i, m->nr_samples, kept)] / m->batch);
    }
    strbuf_addc(out, ']');
    count->of += m->nr_samples;
    count->kept += kept;
}

/* What else is known of the first launch's measurement. */
static void samples_add_facts(const struct measurement *m, struct strbuf *out)
{
    const struct {
        const char *key;
        double value;
    } rows[] = {
        { "warmups", m->warmups },
        { "tolerance", m->tolerance },
        { "max_error", m->max_error },
        { "checked", m->checked },
        { "flops", m->flops },
        { "bytes", m->bytes },
        { "footprint", (double)m->footprint },
    };

    strbuf_addf(out, ",\"facts\":{\"stop\":\"%s\"", stop_rule_name(m->stop));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        strbuf_addf(out, ",\"%s\":", rows[i].key);
        page_number(out, rows[i].value);
    }
    strbuf_addc(out, '}');
}

/* The measurements of one benchmark in one run, nr > 0. */
static void samples_add_benchmark(const struct part *parts, size_t nr, size_t most, bool facts,
                                  struct page_samples *total, struct strbuf *out)
{
    struct page_samples count = { 0 };

    strbuf_addf(out, "{\"batch\":%u,\"launches\":[", parts[0].record->m.batch);
    for (size_t i = 0; i < nr; i++) {
        strbuf_adds(out, i ? "," : "");
        samples_add_launch(&parts[i].record->m, most, &count, out);
    }
    strbuf_addf(out, "],\"of\":%zu,\"kept\":%zu,\"clock\":", count.of, count.kept);
    json_take_script(cJSON_CreateString(parts[0].record->m.clock), out);
    strbuf_adds(out, ",\"started_ms\":[");
    for (size_t i = 0; i < nr; i++)
        strbuf_addf(out, "%s%lld", i ? "," : "", (long long)parts[i].record->m.started_ms);
    strbuf_addc(out, ']');
    if (facts)
        samples_add_facts(&parts[0].record->m, out);
    strbuf_addc(out, '}');
    total->of += count.of;
    total->kept += count.kept;
}

static void samples_collect(const struct records *records, int run, const char *key,
                            const struct page *page, struct parts *parts)
{
    for (size_t i = 0; i < records->nr; i++) {
        const struct record *r = &records->items[i];
        if (r->run != run || !samples_has(&r->m) || (key && strcmp(r->m.bench.key, key) != 0))
            continue;
        int benchmark = page ? page_find_benchmark(page, r->m.bench.key) : 0;
        if (benchmark >= 0)
            *array_push(parts) = (struct part) { benchmark, i, r };
    }
    if (parts->nr)
        qsort(parts->items, parts->nr, sizeof(*parts->items), samples_order);
}

bool page_samples_add(const struct records *records, int run, const char *key, size_t most,
                      struct page_samples *count, struct strbuf *out)
{
    struct parts parts = { 0 };

    samples_collect(records, run, key, NULL, &parts);
    bool found = parts.nr > 0;
    if (found)
        samples_add_benchmark(parts.items, parts.nr, most, true, count, out);
    array_release(&parts);
    return found;
}

void page_samples_of_run(const struct page *page, int run, size_t most, struct page_samples *count,
                         struct strbuf *out)
{
    const struct page_run *r = &page->runs[run];
    struct parts parts = { 0 };
    const char *comma = "";

    if (r->records)
        samples_collect(r->records, r->index, NULL, page, &parts);
    for (size_t at = 0, end; at < parts.nr; at = end) {
        for (end = at + 1;
             end < parts.nr && parts.items[end].benchmark == parts.items[at].benchmark;)
            end++;
        strbuf_addf(out, "%s\"%d:%d\":", comma, run, parts.items[at].benchmark);
        samples_add_benchmark(&parts.items[at], end - at, most, most == 0, count, out);
        comma = ",";
    }
    array_release(&parts);
}

bool page_run_has_samples(const struct page *page, int run)
{
    const struct page_run *r = &page->runs[run];

    for (size_t i = 0; r->records && i < r->records->nr; i++) {
        const struct record *record = &r->records->items[i];
        if (record->run == r->index && samples_has(&record->m) &&
            page_find_benchmark(page, record->m.bench.key) >= 0)
            return true;
    }
    return false;
}
