/* SPDX-License-Identifier: MIT */
#include "store/annotations.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "store/schema.h"
#include "store/sql.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int store_annotation_check(const char *text, const char *what, struct error *err)
{
    size_t length = strlen(text);
    uint32_t code;

    if (text[strspn(text, " \t")] == '\0')
        return error_set(err, "%s says something: the text is empty", what);
    if (length > ANNOTATION_LENGTH_MAX)
        return error_set(err, "%s has at most %d bytes, not %zu", what, ANNOTATION_LENGTH_MAX,
                         length);
    for (const char *p = text; *p;) {
        size_t bytes = utf8_decode(p, &code);
        if (bytes == 0)
            return error_set(err, "%s is text in UTF-8", what);
        if ((code < ' ' && code != '\t') || code == 0x7f)
            return error_set(err, "%s is one line of text", what);
        p += bytes;
    }
    return 0;
}

static int insert_annotation(struct store *s, int64_t run_id, int64_t written_ms, const char *text,
                             struct error *err)
{
    struct sql_query q;
    int64_t found = 0;

    if (sql_open(&q, s, "SELECT count(*) FROM run WHERE id = ?", err))
        return -1;
    sql_bind_int(&q, run_id);
    int rc = sql_step(&q, err);
    if (rc > 0)
        found = sql_int(&q);
    sql_close(&q);
    if (rc < 0)
        return -1;
    if (!found)
        return error_set(err, "%s: there is no run %" PRId64, s->path, run_id);
    if (sql_open(&q, s, "INSERT OR IGNORE INTO annotation (run, written_ms, text) VALUES (?, ?, ?)",
                 err))
        return -1;
    sql_bind_int(&q, run_id);
    sql_bind_int(&q, written_ms);
    sql_bind_text(&q, text);
    return sql_run(&q, err);
}

int store_annotate(struct store *s, int64_t run_id, int64_t written_ms, const char *text,
                   struct error *err)
{
    if (store_annotation_check(text, "an annotation", err) || sql_begin_lasting(s, err))
        return -1;
    return sql_end(s, insert_annotation(s, run_id, written_ms, text, err), err);
}

int store_annotation_list(struct store *s, int64_t run_id, struct store_annotations *out,
                          struct error *err)
{
    struct sql_query q;
    int rc;

    if (s->version < SCHEMA_ANNOTATIONS)
        return 0;
    if (sql_open(&q, s,
                 "SELECT run, written_ms, text FROM annotation WHERE ?1 = 0 OR run = ?1 "
                 "ORDER BY run, written_ms, id",
                 err))
        return -1;
    sql_bind_int(&q, run_id);
    while ((rc = sql_step(&q, err)) > 0) {
        struct store_annotation *a = array_push(out);
        a->run = sql_int(&q);
        a->written_ms = sql_int(&q);
        const char *text = sql_text(&q);
        a->text = memory_string(text ? text : "");
        utf8_mend(a->text);
    }
    sql_close(&q);
    return rc;
}

void store_annotations_release(struct store_annotations *list)
{
    for (size_t i = 0; i < list->nr; i++)
        free(list->items[i].text);
    array_release(list);
}
