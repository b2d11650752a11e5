/* SPDX-License-Identifier: MIT */
/* text/escape.h, text/textwidth.h: names of strangers on their way into other languages. */
#include "fuzz.h"

#include "base/clean.h"
#include "base/utf8.h"
#include "text/escape.h"
#include "text/textwidth.h"

#include <stdlib.h>
#include <string.h>

typedef void escape_fn(struct strbuf *out, const char *text);

static void check(const char *text, const char *never)
{
    uint32_t code;

    for (size_t length; *text; text += length) {
        length = utf8_decode(text, &code);
        FUZZ_CHECK(length > 0 && code >= ' ' && code != 0x7f);
        FUZZ_CHECK(!strchr(never, *text));
    }
}

static void escape(escape_fn *by, const char *text, const char *never)
{
    struct strbuf out;

    strbuf_init(&out);
    by(&out, text);
    check(out.data, never);
    FUZZ_CHECK(clean_is(out.data));
    clean_columns(out.data);
    strbuf_release(&out);
}

static void lines(const char *text)
{
    for (size_t length; *text; text += length) {
        length = text_line(text, 12, 40);
        FUZZ_CHECK(length > 0 && length <= strlen(text));
    }
}

FUZZ_TARGET(escape)
{
    char *text = fuzz_text(data, size);

    escape(escape_plain, text, "");
    escape(escape_gnuplot, text, "");
    escape(escape_gnuplot_tick, text, "");
    escape(escape_markdown, text, "<>|`");
    escape(escape_xml, text, "<>\"");
    escape(escape_csv, text, "");
    escape(escape_shell, text, "");
    escape(escape_openmetrics, text, "\n");
    utf8_mend(text);
    text_width(text, 12, false);
    free(text_elide(text, 12, 60));
    lines(text);
    free(text);
}
