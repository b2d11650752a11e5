/* SPDX-License-Identifier: MIT */
/* What speaks against the code as the reason: the machine moved, or the sides are of two kinds. */
#include "base/text.h"
#include "reporters/comment/comment_parts.h"
#include "text/escape.h"
#include "verdict/differences.h"

#include <math.h>
#include <string.h>

enum { NAMES_SHOWN = 4 };

/* What is compared, and so differs in every pull request. */
static bool is_meant(const struct difference *d)
{
    static const char *const names[] = { "commit", "branch", "harness", "uncommitted changes" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(d->name, names[i]) == 0)
            return true;
    return d->weather;
}

static void begin(struct strbuf *text)
{
    strbuf_adds(text, text->length ? "; " : "");
}

static void add_shift(const struct comparison *c, struct strbuf *text)
{
    char shift[TEXT_UNIT_SIZE];

    if (c->shifted) {
        begin(text);
        strbuf_addf(text, "all benchmarks moved together by %s",
                    text_percent(c->common_shift, shift));
    }
    if (fabs(log1p(c->probe_shift)) > log1p(c->settings.delta)) {
        begin(text);
        strbuf_addf(text, "the machine itself moved, its probe took %s time",
                    text_percent(c->probe_shift, shift));
    }
}

/* "base and head differ in compiler, flags and 2 more" */
static void add_differences(const struct comment *k, struct strbuf *text)
{
    const struct run *base = comment_newest(k->o->base), *head = comment_newest(k->o->head);
    struct differences d;
    size_t nr = 0;

    if (!base || !head)
        return;
    differences_find(base, head, &d);
    for (size_t i = 0; i < d.nr; i++) {
        if (is_meant(&d.items[i]) || nr++ >= NAMES_SHOWN)
            continue;
        if (nr == 1)
            begin(text);
        strbuf_adds(text, nr == 1 ? "base and head also differ in " : ", ");
        strbuf_addf(text, "%.60s", d.items[i].name);
    }
    if (nr > NAMES_SHOWN)
        strbuf_addf(text, " and %zu more", nr - NAMES_SHOWN);
    differences_release(&d);
}

void comment_doubts(const struct comment *k)
{
    struct strbuf text;

    strbuf_init(&text);
    add_shift(k->c, &text);
    add_differences(k, &text);
    if (text.length) {
        strbuf_adds(k->out, "Mind that ");
        escape_markdown(k->out, text.data);
        strbuf_adds(k->out, ".\n\n");
    }
    strbuf_release(&text);
}
