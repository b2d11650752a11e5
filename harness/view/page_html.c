/* SPDX-License-Identifier: MIT */
/* The document: a template with three places, and how data are written so that no name in them can
 * be anything but data. */
#include "base/base64.h"
#include "base/gzip.h"
#include "base/json.h"
#include "base/resource.h"
#include "output/escape.h"
#include "view/page.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Appends a JSON text as json_text() makes it, valid and without line separators. What would end
 * the element around it can only stand inside of its strings. */
static void add_safe(struct strbuf *out, const char *json)
{
    for (const char *at; (at = strchr(json, '<')); json = at + 1) {
        strbuf_add(out, json, (size_t)(at - json));
        strbuf_adds(out, "\\u003c");
    }
    strbuf_adds(out, json);
}

void page_json_take(cJSON *json, struct strbuf *out)
{
    char *text = json_take_text(json);

    add_safe(out, *text ? text : "null");
    cJSON_free(text);
}

void page_pack(struct strbuf *out, const char *json, size_t length)
{
    struct strbuf packed;

    strbuf_init(&packed);
    gzip_add(&packed, json, length, GZIP_USUAL);
    base64_add(out, packed.data, packed.length);
    strbuf_release(&packed);
}

const char *page_template(struct error *err)
{
    const struct resource *page = resource_find("web/page.html");

    if (page)
        return page->data;
    error_set(err,
              "this harness was built without its page, because npm was not there or could "
              "not fetch what the page is made of. Install nodejs and npm (ci/setup.sh "
              "--tests does), then configure with -DHARNESS_WEB=ON, which says what fails, "
              "and build again. Until then `harness plot` draws the same figures as "
              "pictures, and `harness report --md` writes the numbers as Markdown");
    return NULL;
}

static void add_block(struct strbuf *out, const char *type, const char *id, const char *text)
{
    if (!text)
        return;
    strbuf_addf(out, "<script type=\"%s\" id=\"harness-%s\">", type, id);
    strbuf_adds(out, text);
    strbuf_adds(out, "</script>\n");
}

typedef void place_fn(const struct page_document *document, struct strbuf *out);

static void add_title(const struct page_document *document, struct strbuf *out)
{
    escape_xml(out, document->title);
}

static void add_connect(const struct page_document *document, struct strbuf *out)
{
    strbuf_adds(out, document->live ? "'self'" : "'none'");
}

static void add_data(const struct page_document *document, struct strbuf *out)
{
    add_block(out, "application/json", "core", document->core);
    add_block(out, "text/plain", "table", document->table);
    add_block(out, "text/plain", "figures", document->figures);
    add_block(out, "text/plain", "samples", document->samples);
}

static const struct {
    const char *name;
    place_fn *fill;
} places[] = {
    { "{{title}}", add_title },
    { "{{connect}}", add_connect },
    { "{{data}}", add_data },
};

enum { NR_PLACES = sizeof(places) / sizeof(places[0]) };

static int check_places(const char *html, struct error *err)
{
    for (size_t i = 0; i < NR_PLACES; i++) {
        const char *first = strstr(html, places[i].name);
        if (!first || strstr(first + 1, places[i].name))
            return error_set(err, "the page's template must have %s once; it has it %s",
                             places[i].name, first ? "more often" : "nowhere");
    }
    return 0;
}

int page_html(const char *html, const struct page_document *document, struct strbuf *out,
              struct error *err)
{
    if (check_places(html, err))
        return -1;
    for (;;) { /* What was filled in is not looked at again: it may hold such words, too. */
        const char *next = NULL;
        size_t which = 0;
        for (size_t i = 0; i < NR_PLACES; i++) {
            const char *at = strstr(html, places[i].name);
            if (at && (!next || at < next)) {
                next = at;
                which = i;
            }
        }
        if (!next)
            break;
        strbuf_add(out, html, (size_t)(next - html));
        places[which].fill(document, out);
        html = next + strlen(places[which].name);
    }
    strbuf_adds(out, html);
    return 0;
}
