/* SPDX-License-Identifier: MIT */
/* Is it the same run? What two files hold of it, held against each other. */
#include "base/json.h"
#include "history/merge_parts.h"
#include "store/rows.h"
#include "store/samples.h"

#include <stdlib.h>

static struct merge_item *push(struct merge_content *content)
{
    content->items =
        array_grow(content->items, content->nr, &content->capacity, sizeof(*content->items));
    return &content->items[content->nr++];
}

/* The benchmark counts by its key: numbers differ from file to file. Behind the table's columns: */
enum { KEY = 1, FACTS, BEHIND_FACTS = 4 /* numbers, nr_samples, telemetry, samples */ };

static int open_measurements(struct store *s, struct sql_query *q, struct error *err)
{
    struct strbuf sql;

    strbuf_init(&sql);
    strbuf_adds(&sql, "SELECT m.id, b.key");
    table_add_columns(&table_measurement, "m", &sql);
    strbuf_adds(&sql,
                ", m.numbers, m.nr_samples, m.telemetry, m.samples FROM measurement m "
                "JOIN benchmark b ON b.id = m.benchmark WHERE m.launch = ? ORDER BY m.id");
    int rc = sql_open(q, s, sql.data, err);
    strbuf_release(&sql);
    return rc;
}

static uint64_t hash_telemetry(struct store *s, const struct sql_query *q, bool as_read, int column,
                               uint64_t hash)
{
    struct measurement m = { .nr_samples = 0 };
    struct error ignored; /* what cannot be read is as it is */
    int rc = as_read ? read_measurement(s, sqlite3_column_int64(q->stmt, 0), &m, &ignored) : -1;

    if (rc == 0) {
        char *text = telemetry_text(&m);
        hash = rows_hash_text(hash, text);
        cJSON_free(text);
    } else {
        hash = rows_hash(hash, q, column, column + 1);
    }
    measurement_release(&m);
    return hash;
}

static struct merge_item item_of(struct store *s, const struct sql_query *q, int64_t seq,
                                 bool as_read)
{
    int end = sqlite3_column_count(q->stmt), behind = end - BEHIND_FACTS, samples = end - 1;
    const void *blob = sqlite3_column_blob(q->stmt, samples);
    uint64_t facts = rows_hash(ROWS_HASH_BEGIN, q, KEY, FACTS);

    facts = rows_hash_table(&table_measurement, facts, q, FACTS);
    facts = rows_hash(facts, q, behind, behind + 2);
    return (struct merge_item) {
        .seq = seq,
        .facts = hash_telemetry(s, q, as_read, samples - 1, facts),
        .samples = rows_hash(ROWS_HASH_BEGIN, q, samples, end),
        .thinned = samples_are_thin(blob, (size_t)sqlite3_column_bytes(q->stmt, samples)),
    };
}

static int add_measurements(struct store *s, int64_t launch, int64_t seq, bool as_read,
                            struct merge_content *out, struct error *err)
{
    struct sql_query q;
    int rc;

    if (open_measurements(s, &q, err))
        return -1;
    sql_bind_int(&q, launch);
    while ((rc = sql_step(&q, err)) > 0)
        *push(out) = item_of(s, &q, seq, as_read);
    sql_close(&q);
    return rc;
}

int merge_content_read(struct store *s, int64_t run_id, bool as_read, struct merge_content *out,
                       struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, s, "SELECT id, seq FROM launch WHERE run = ? ORDER BY seq", err))
        return -1;
    sql_bind_int(&q, run_id);
    while ((rc = sql_step(&q, err)) > 0) {
        int64_t launch = sql_int(&q), seq = sql_int(&q);
        *push(out) = (struct merge_item) { .seq = seq, .is_launch = true };
        if ((rc = add_measurements(s, launch, seq, as_read, out, err)) < 0)
            break;
    }
    sql_close(&q);
    return rc;
}

void merge_content_release(struct merge_content *content)
{
    array_release(content);
}

static bool same_item(const struct merge_item *a, const struct merge_item *b)
{
    return a->seq == b->seq && a->is_launch == b->is_launch && a->facts == b->facts &&
           (a->samples == b->samples || a->thinned || b->thinned);
}

/* What is measured again comes into a launch that has ended, behind the beginning of later ones: so
 * each launch of `part` has the first of what that launch has in `whole`. */
bool merge_content_begins(const struct merge_content *whole, const struct merge_content *part)
{
    size_t at = 0;

    for (size_t i = 0; i < part->nr; i++) {
        const struct merge_item *item = &part->items[i];
        while (item->is_launch && at < whole->nr && whole->items[at].seq < item->seq)
            at++;
        if (at == whole->nr || !same_item(&whole->items[at++], item))
            return false;
    }
    return true;
}
