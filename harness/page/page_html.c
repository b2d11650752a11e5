/* SPDX-License-Identifier: MIT */
/* The document: a template with three places, and how data are written so that no name in them can
 * be anything but data. */
#include "base/json.h"
#include "base/pack.h"
#include "base/resource.h"
#include "page/page.h"
#include "text/escape.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

static void html_add_block(struct strbuf *out, const char *type, const char *id, const char *text)
{
    if (!text)
        return;
    strbuf_addf(out, "<script type=\"%s\" id=\"harness-%s\">", type, id);
    strbuf_adds(out, text);
    strbuf_adds(out, "</script>\n");
}

typedef void place_fn(const struct page_document *document, struct strbuf *out);

static void html_add_title(const struct page_document *document, struct strbuf *out)
{
    escape_xml(out, document->title);
}

static void html_add_connect(const struct page_document *document, struct strbuf *out)
{
    strbuf_adds(out, document->live ? "'self'" : "'none'");
}

static void html_add_data(const struct page_document *document, struct strbuf *out)
{
    html_add_block(out, "application/json", "core", document->core);
    html_add_block(out, "text/plain", "table", document->table);
    html_add_block(out, "text/plain", "figures", document->figures);
    html_add_block(out, "text/plain", "samples", document->samples);
    html_add_block(out, "text/plain", "trace", document->trace);
}

static const struct {
    const char *name;
    place_fn *fill;
} places[] = {
    { "{{title}}", html_add_title },
    { "{{connect}}", html_add_connect },
    { "{{data}}", html_add_data },
};

enum { NR_PLACES = sizeof(places) / sizeof(places[0]) };

static int html_check_places(const char *html, struct error *err)
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
    if (html_check_places(html, err))
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
