/* SPDX-License-Identifier: MIT */
#include "base/digest.h"
#include "base/text.h"
#include "output/import_parts.h"

#include <stdio.h>
#include <string.h>

static void add_cache(struct strbuf *out, const char *name, int64_t bytes)
{
    if (bytes > 0)
        strbuf_addf(out, " %s %lldk", name, (long long)(bytes >> 10));
}

/* Not the host's name: runners of a CI system have a new one each day, and are alike. */
static void describe(const struct machine *m, struct strbuf *out)
{
    strbuf_addf(out, "%s %s", m->cpu, m->gpu);
    if (m->threads > 0)
        strbuf_addf(out, " %dc", m->threads);
    add_cache(out, "l1", m->l1d);
    add_cache(out, "l2", m->l2);
    add_cache(out, "l3", m->l3);
}

void import_machine_name(struct machine *m)
{
    struct strbuf text;
    struct digest digest;
    char id[DIGEST_TEXT_SIZE];

    strbuf_init(&text);
    describe(m, &text);
    if (m->class_name[0] == '\0')
        text_slug(text.data, m->class_name, sizeof(m->class_name));
    if (m->class_name[0] == '\0')
        snprintf(m->class_name, sizeof(m->class_name), "unknown");
    if (m->cpu[0] == '\0')
        snprintf(m->cpu, sizeof(m->cpu), "unknown processor");
    digest_init(&digest);
    digest_add_text(&digest, text.data);
    digest_add_text(&digest, m->class_name);
    digest_text(&digest, id);
    snprintf(m->id, sizeof(m->id), "%.16s", id);
    strbuf_release(&text);
}

void import_machine_class(struct machine *m, const char *class_name)
{
    import_copy(m->class_name, sizeof(m->class_name), class_name);
    import_machine_name(m);
}
