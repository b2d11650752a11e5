/* SPDX-License-Identifier: MIT */
/* The grammar of conditions: a recursive descent that writes SQL as it reads. */
#include "query/query_parts.h"

#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct parser {
    const char *text;
    size_t at; /* next byte */
    struct query *q;
    int depth;
    size_t tests;
    size_t wrong; /* byte of the first mistake */
    struct error *err;
};

static int parse_or(struct parser *p);

#define mistake(p, where, ...) ((p)->wrong = (where), error_set((p)->err, __VA_ARGS__))

/* Characters up to a byte, from 1: all bytes but those that continue one. */
static size_t column_of(const char *text, size_t at)
{
    size_t column = 1;

    for (size_t i = 0; i < at && text[i]; i++)
        column += ((unsigned char)text[i] & 0xc0) != 0x80;
    return column;
}

static void skip_spaces(struct parser *p)
{
    p->at += strspn(p->text + p->at, " \t\r\n");
}

/* Bytes of the word at `from`; UTF-8 is part of words. */
static size_t word_length(const char *from)
{
    return strcspn(from, " \t\r\n()\"',<>=!");
}

static bool at_word(struct parser *p, const char *word)
{
    skip_spaces(p);
    size_t length = word_length(p->text + p->at);

    return length == strlen(word) && strncasecmp(p->text + p->at, word, length) == 0;
}

static bool take_word(struct parser *p, const char *word)
{
    if (!at_word(p, word))
        return false;
    p->at += strlen(word);
    return true;
}

static bool take_character(struct parser *p, char c)
{
    skip_spaces(p);
    if (p->text[p->at] != c)
        return false;
    p->at++;
    return true;
}

/* What stands at the mistake, for messages: "end" or the next word or sign. */
static const char *next_text(const struct parser *p, size_t at, char out[32])
{
    const char *from = p->text + at;
    size_t length = word_length(from);

    if (!*from)
        snprintf(out, 32, "the end");
    else
        snprintf(out, 32, "\"%.*s\"", (int)(length == 0 ? 1 : length < 24 ? length : 24), from);
    return out;
}

static int parse_field(struct parser *p, struct query_term *test)
{
    char next[32];

    skip_spaces(p);
    size_t length = word_length(p->text + p->at);
    test->at = p->at;
    if (length == 0 || at_word(p, "and") || at_word(p, "or"))
        return mistake(p, p->at, "here a field such as kernel or batch is missing, there is %s",
                       next_text(p, p->at, next));
    if (length >= sizeof(test->field))
        return mistake(p, p->at, "no field has so long a name");
    snprintf(test->field, sizeof(test->field), "%.*s", (int)length, p->text + p->at);
    p->at += length;
    return 0;
}

static int parse_operator(struct parser *p, struct query_term *test)
{
    /* Longer ones first. */
    static const enum query_operator order[] = { QUERY_NE, QUERY_LE, QUERY_GE,
                                                 QUERY_EQ, QUERY_LT, QUERY_GT };
    char next[32];

    skip_spaces(p);
    test->op_at = p->at;
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        const char *name = query_operator_name(order[i]);
        if (strncmp(p->text + p->at, name, strlen(name)) != 0)
            continue;
        test->op = order[i];
        p->at += strlen(name);
        return 0;
    }
    return mistake(p, p->at, "after \"%s\" one of = != < <= > >= is missing, there is %s",
                   test->field, next_text(p, p->at, next));
}

static int too_long(struct parser *p, size_t at)
{
    return mistake(p, at, "this value is longer than %d bytes", QUERY_VALUE_MAX);
}

static int parse_quoted(struct parser *p, struct query_value *value)
{
    size_t start = p->at, length = 0;
    char quote = p->text[p->at++];

    for (; p->text[p->at] != quote; p->at++) {
        const char *c = p->text + p->at;
        if (*c == '\\' && c[1] && strchr("\"'\\", c[1])) {
            p->at++;
            c++;
        }
        if (!*c)
            return mistake(p, start, "this text does not end: a %c is missing", quote);
        if (length == QUERY_VALUE_MAX)
            return too_long(p, start);
        value->text[length++] = *c;
    }
    p->at++;
    value->text[length] = '\0';
    return 0;
}

static int parse_value(struct parser *p, struct query_term *test)
{
    char next[32];

    skip_spaces(p);
    if (test->nr == QUERY_VALUES_MAX)
        return mistake(p, p->at, "more than %d values in one test", QUERY_VALUES_MAX);
    struct query_value *value = &test->values[test->nr++];
    value->at = p->at;
    if (p->text[p->at] == '"' || p->text[p->at] == '\'')
        return parse_quoted(p, value);
    size_t length = word_length(p->text + p->at);
    if (length == 0)
        return mistake(p, p->at, "here a value is missing, there is %s", next_text(p, p->at, next));
    if (length > QUERY_VALUE_MAX)
        return too_long(p, p->at);
    snprintf(value->text, sizeof(value->text), "%.*s", (int)length, p->text + p->at);
    p->at += length;
    return 0;
}

static int parse_test_into(struct parser *p, struct query_term *test)
{
    if (++p->tests > QUERY_TESTS_MAX)
        return mistake(p, p->at, "more than %d tests in one condition", QUERY_TESTS_MAX);
    if (parse_field(p, test) || parse_operator(p, test))
        return -1;
    do {
        if (parse_value(p, test))
            return -1;
    } while (take_character(p, ','));
    return query_term_add(p->q, test, &p->wrong, p->err);
}

static int parse_test(struct parser *p)
{
    struct query_term *test = memory_zeroed(1, sizeof(*test));
    int rc = parse_test_into(p, test);

    free(test);
    return rc;
}

static int parse_bracket(struct parser *p)
{
    size_t open = p->at - 1;

    if (parse_or(p))
        return -1;
    if (!take_character(p, ')'))
        return mistake(p, p->text[p->at] ? p->at : open, "a ) is missing for the ( at column %zu",
                       column_of(p->text, open));
    return 0;
}

static int parse_not(struct parser *p)
{
    int rc;

    if (++p->depth > QUERY_DEPTH_MAX)
        return mistake(p, p->at, "more than %d brackets inside each other", QUERY_DEPTH_MAX);
    if (take_word(p, "not")) {
        strbuf_adds(&p->q->sql, "NOT ");
        rc = parse_not(p);
    } else if (take_character(p, '(')) {
        rc = parse_bracket(p);
    } else {
        rc = parse_test(p);
    }
    p->depth--;
    return rc;
}

/* A row of `part` joined by `word`, in brackets. */
static int parse_joined(struct parser *p, const char *word, const char *sql,
                        int (*part)(struct parser *))
{
    strbuf_addc(&p->q->sql, '(');
    if (part(p))
        return -1;
    while (take_word(p, word)) {
        strbuf_adds(&p->q->sql, sql);
        if (part(p))
            return -1;
    }
    strbuf_addc(&p->q->sql, ')');
    return 0;
}

static int parse_and(struct parser *p)
{
    return parse_joined(p, "and", " AND ", parse_not);
}

static int parse_or(struct parser *p)
{
    return parse_joined(p, "or", " OR ", parse_and);
}

static int parse_all(struct parser *p)
{
    char next[32];

    for (const char *c = p->text; *c; c++)
        if ((unsigned char)*c < ' ' && !strchr("\t\r\n", *c))
            return mistake(p, (size_t)(c - p->text), "a control character");
    skip_spaces(p);
    if (!p->text[p->at])
        return 0;
    if (parse_or(p))
        return -1;
    skip_spaces(p);
    if (p->text[p->at])
        return mistake(p, p->at, "here \"and\", \"or\" or the end is missing, there is %s",
                       next_text(p, p->at, next));
    return 0;
}

int query_parse(struct query *q, const char *text, size_t *column, struct error *err)
{
    struct parser p = { .text = text ? text : "", .q = q, .err = err };

    *q = (struct query) { .nr_bindings = 0 };
    strbuf_init(&q->sql);
    *column = 1;
    if (strlen(p.text) > QUERY_LENGTH_MAX)
        return error_set(err, "the condition is longer than %d bytes", QUERY_LENGTH_MAX);
    if (parse_all(&p) == 0) {
        for (size_t i = 0; i < q->nr_dims; i++)
            q->dims[i].column = column_of(p.text, q->dims[i].column);
        return 0;
    }
    *column = column_of(p.text, p.wrong);
    return error_prefix(err, "column %zu", *column);
}

void query_release(struct query *q)
{
    for (size_t i = 0; i < q->nr_bindings; i++)
        free(q->bindings[i].text);
    free(q->bindings);
    free(q->dims);
    if (q->sql.data)
        strbuf_release(&q->sql);
    *q = (struct query) { .nr_bindings = 0 };
}
