/* SPDX-License-Identifier: MIT */
/* Where and how both sides were measured, and what differs. */
#include "base/text.h"
#include "metrics/run_rows.h"
#include "reporters/comment/comment_parts.h"
#include "text/escape.h"
#include "text/table.h"
#include "verdict/differences.h"

static void add_fact(struct strbuf *out, const char *name, const char *value)
{
    if (!value[0])
        return;
    strbuf_addf(out, ", %s ", name);
    escape_markdown(out, value);
}

/* "- Base: 3 runs, the newest of TIME, commit ..., on CPU" */
static void add_side(const struct comment *k, const char *name, const struct records *records,
                     const struct run *run)
{
    char when[TEXT_UNIT_SIZE];

    strbuf_addf(k->out, "- %s: %zu run%s of %s", name, records->nr_runs,
                records->nr_runs == 1 ? "" : "s, the newest",
                text_timestamp(run->started_ms, when));
    add_fact(k->out, "suite", run->suite);
    add_fact(k->out, "label", run->label);
    add_fact(k->out, "commit", run->build.commit);
    if (run->build.dirty)
        strbuf_adds(k->out, " with uncommitted changes");
    add_fact(k->out, "branch", run->build.branch);
    add_fact(k->out, "on", run->machine.cpu);
    add_fact(k->out, "and", run->machine.gpu);
    add_fact(k->out, "built by", run->build.compiler);
    add_fact(k->out, "with", run->build.flags);
    strbuf_addc(k->out, '\n');
}

static void add_differences(const struct comment *k, const struct run *base, const struct run *head)
{
    static const struct table_column columns[] = {
        { .title = "what differs" },
        { .title = "base" },
        { .title = "head" },
    };
    struct differences d;
    struct table t;

    differences_find(base, head, &d);
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < d.nr; i++) {
        if (d.items[i].weather)
            continue;
        table_row(&t);
        table_cell(&t, TABLE_PLAIN, "%.100s", d.items[i].name);
        table_cell(&t, TABLE_PLAIN, "%.300s", d.items[i].base ? d.items[i].base : "(not told)");
        table_cell(&t, TABLE_PLAIN, "%.300s", d.items[i].head ? d.items[i].head : "(not told)");
    }
    strbuf_addc(k->out, '\n');
    if (t.nr)
        table_markdown(&t, k->out);
    else
        strbuf_adds(k->out, "Machine, build, environment and settings are the same.\n");
    table_release(&t);
    differences_release(&d);
}

void comment_environment(const struct comment *k)
{
    const struct run *base = comment_newest(k->o->base), *head = comment_newest(k->o->head);

    if (!k->level->environment || (!base && !head && k->c->nr_notes == 0))
        return;
    comment_open(k, "How it was measured, and what differs");
    if (base)
        add_side(k, "Base", k->o->base, base);
    if (head)
        add_side(k, "Head", k->o->head, head);
    if (base && head)
        add_differences(k, base, head);
    for (size_t i = 0; i < k->c->nr_notes; i++) {
        strbuf_adds(k->out, i ? "- " : base || head ? "\n- " : "- ");
        escape_markdown(k->out, k->c->notes[i]);
        strbuf_addc(k->out, '\n');
    }
    comment_close(k);
}
