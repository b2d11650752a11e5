/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/text.h"
#include "core/names.h"
#include "store/read.h"

#include <stdio.h>
#include <stdlib.h>

static int count_outcomes(struct store *s, struct store_listed *listed, struct error *err)
{
    static const char *const text =
        "SELECT m.outcome, count(*) FROM launch l "
        "JOIN measurement m ON m.launch = l.id "
        "WHERE l.run = ? GROUP BY m.outcome";
    struct sql_query q;
    int rc;

    if (sql_open(&q, s, text, err))
        return -1;
    sql_bind_int(&q, listed->run.id);
    while ((rc = sql_step(&q, err)) > 0) {
        const char *name = sql_text(&q);
        int outcome = name ? outcome_find(name) : -1;
        if (outcome >= 0)
            listed->outcomes[outcome] = sql_int(&q);
    }
    sql_close(&q);
    return rc;
}

static int count_launches(struct store *s, struct store_listed *listed, struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, "SELECT count(*) FROM launch WHERE run = ?", err))
        return -1;
    sql_bind_int(&q, listed->run.id);
    int rc = sql_step(&q, err);
    if (rc > 0)
        listed->launches = sql_int(&q);
    sql_close(&q);
    return rc < 0 ? -1 : 0;
}

int store_list_runs(struct store *s, const char *machine_class, size_t limit,
                    struct store_listing *out, struct error *err)
{
    static const char *const tail =
        "WHERE (?1 IS NULL OR m.class = ?1) ORDER BY r.started_ms DESC, r.id DESC LIMIT ?2";
    struct sql_query q;
    int rc;

    if (open_runs(s, tail, &q, err))
        return -1;
    sql_bind_text(&q, machine_class);
    sql_bind_int(&q, limit ? (int64_t)limit : -1);
    while ((rc = sql_step(&q, err)) > 0) {
        struct store_listed *listed = array_push(out);
        if ((rc = read_run(&q, &listed->run, err)) < 0 ||
            (rc = count_launches(s, listed, err)) < 0 || (rc = count_outcomes(s, listed, err)) < 0)
            break;
    }
    sql_close(&q);
    return rc;
}

void store_listing_release(struct store_listing *listing)
{
    for (size_t i = 0; i < listing->nr; i++)
        run_release(&listing->items[i].run);
    array_release(listing);
}

char *read_words(struct sql_query *q)
{
    const char *text = sql_text(q);
    char *words = memory_string(text ? text : "");

    name_mend(words);
    return words;
}

int read_name_list(struct store *s, const char *query, const char *title, struct strbuf *out,
                   struct error *err)
{
    struct sql_query q;
    size_t nr = 0;
    int rc;

    if (sql_open(&q, s, query, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        char *name = read_words(&q);
        if (nr++ < READ_SHOWN_MAX)
            strbuf_addf(out, "%s%s%.100s", nr == 1 ? ". " : ", ", nr == 1 ? title : "", name);
        free(name);
    }
    sql_close(&q);
    if (nr > READ_SHOWN_MAX)
        strbuf_addf(out, " and %zu more", nr - READ_SHOWN_MAX);
    return rc;
}

int read_nearest_name(struct store *s, const char *query, const char *word,
                      char nearest[STORE_NAME_SIZE], struct error *err)
{
    struct string_list names = { .nr = 0 };
    struct sql_query q;
    int rc;

    nearest[0] = '\0';
    if (sql_open(&q, s, query, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        char *name = read_words(&q);
        string_list_add(&names, name);
        free(name);
    }
    sql_close(&q);
    *array_push(&names) = NULL; /* ends the list for text_nearest() */
    names.nr--;
    const char *found = text_nearest(word, (const char *const *)names.items);
    if (found)
        snprintf(nearest, STORE_NAME_SIZE, "%s", found);
    string_list_release(&names);
    return rc;
}
