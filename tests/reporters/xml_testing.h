/* SPDX-License-Identifier: MIT */
/*
 * A strict reader of the XML that the program writes: tags nest, attributes are quoted and unique,
 * text has no bare & or <. It calls back at each start and end of an element.
 */
#ifndef HARNESS_TESTS_XML_TESTING_H
#define HARNESS_TESTS_XML_TESTING_H

#include "testing.h"

#include <stdbool.h>
#include <stdlib.h>

enum { XML_ATTRIBUTES_MAX = 16, XML_DEPTH_MAX = 32, XML_NAME_SIZE = 32 };

struct xml_element {
    char name[XML_NAME_SIZE];
    char *attributes[XML_ATTRIBUTES_MAX][2]; /* name and value, as written */
    size_t nr;
};

struct xml_reader {
    char open[XML_DEPTH_MAX][XML_NAME_SIZE];
    size_t depth, elements;
    /* `depth` elements are open around it; may be NULL. */
    void (*begin)(struct xml_reader *r, const struct xml_element *e);
    void *context;
};

static inline const char *xml_attribute(const struct xml_element *e, const char *name)
{
    for (size_t i = 0; i < e->nr; i++)
        if (strcmp(e->attributes[i][0], name) == 0)
            return e->attributes[i][1];
    return NULL;
}

static inline void xml_check_text(const char *text, size_t length)
{
    static const char *const entities[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#", NULL };

    for (size_t i = 0; i < length; i++) {
        bool known = false;
        if (strncmp(text + i, "]]>", 3) == 0)
            fail_msg("XML text ends a CDATA section: %.60s", text + i);
        for (const char *const *e = entities; *e; e++)
            known |= strncmp(text + i, *e, strlen(*e)) == 0;
        if ((text[i] == '&' && !known) || text[i] == '<' ||
            ((unsigned char)text[i] < ' ' && !strchr("\n\t", text[i])))
            fail_msg("XML text is broken at: %.60s", text + i);
    }
}

static inline const char *xml_read_name(const char *at, char name[XML_NAME_SIZE])
{
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:");

    assert_in_range(length, 1, XML_NAME_SIZE - 1);
    memcpy(name, at, length);
    name[length] = '\0';
    return at + length;
}

static inline const char *xml_read_attribute(const char *at, struct xml_element *e)
{
    char name[XML_NAME_SIZE];

    at = xml_read_name(at, name);
    assert_null(xml_attribute(e, name));
    at += strspn(at, " ");
    assert_true(*at++ == '=');
    at += strspn(at, " ");
    assert_true(*at == '"' || *at == '\'');
    size_t length = strcspn(at + 1, *at == '"' ? "\"" : "'");
    xml_check_text(at + 1, length);
    assert_true(e->nr < XML_ATTRIBUTES_MAX);
    e->attributes[e->nr][0] = strdup(name);
    e->attributes[e->nr++][1] = strndup(at + 1, length);
    return at + length + 2;
}

/* `at` is behind the "<". */
static inline const char *xml_read_tag(struct xml_reader *r, const char *at)
{
    struct xml_element e = { .nr = 0 };

    at = xml_read_name(at, e.name);
    while (strspn(at, " \n\t")) {
        at += strspn(at, " \n\t");
        if (*at != '/' && *at != '>')
            at = xml_read_attribute(at, &e);
    }
    r->elements++;
    if (r->begin)
        r->begin(r, &e);
    if (*at == '/') {
        at++;
    } else {
        assert_true(r->depth < XML_DEPTH_MAX);
        memcpy(r->open[r->depth++], e.name, XML_NAME_SIZE);
    }
    assert_true(*at == '>');
    for (size_t i = 0; i < e.nr; i++) {
        free(e.attributes[i][0]);
        free(e.attributes[i][1]);
    }
    return at + 1;
}

static inline const char *xml_read_end(struct xml_reader *r, const char *at)
{
    char name[XML_NAME_SIZE];

    at = xml_read_name(at, name);
    assert_true(r->depth > 0 && *at == '>');
    assert_string_equal(r->open[--r->depth], name);
    return at + 1;
}

static inline void xml_read(struct xml_reader *r, const char *text)
{
    const char *end = strstr(text, "?>");

    assert_true(strncmp(text, "<?xml ", 6) == 0 && end);
    for (text = end + 2; *text;) {
        size_t length = strcspn(text, "<");
        xml_check_text(text, length);
        text += length;
        if (strncmp(text, "<!", 2) == 0) /* a comment or a document type, which only gnuplot has */
            text = strchr(text, '>') + 1;
        else if (strncmp(text, "</", 2) == 0)
            text = xml_read_end(r, text + 2);
        else if (*text)
            text = xml_read_tag(r, text + 1);
    }
    assert_int_equal(r->depth, 0);
    assert_true(r->elements > 0);
}

#endif
