/* SPDX-License-Identifier: MIT */
#include "output/system_table.h"

#include "base/json.h"
#include "base/text.h"
#include "output/table.h"

static const struct table_column columns[] = {
    { "fact", TABLE_LEFT, false },
    { "value", TABLE_LEFT, true },
};

static void add(struct table *t, const char *fact, const char *value)
{
    if (!value || !*value)
        return;
    table_row(t);
    table_cell(t, TABLE_PLAIN, "%s", fact);
    table_cell(t, TABLE_PLAIN, "%s", value);
}

static void add_bytes(struct table *t, const char *fact, int64_t bytes)
{
    char text[TEXT_UNIT_SIZE];

    if (bytes > 0)
        add(t, fact, text_bytes((double)bytes, text));
}

static void add_machine(struct table *t, const struct machine *m)
{
    add(t, "machine", m->class_name);
    add(t, "CPU", m->cpu);
    if (m->cores > 0) {
        table_row(t);
        table_cell(t, TABLE_PLAIN, "cores");
        table_cell(t, TABLE_PLAIN, "%d (%d threads)", m->cores, m->threads);
    }
    add(t, "instruction set", m->isa);
    add_bytes(t, "L1 data cache", m->l1d);
    add_bytes(t, "L2 cache", m->l2);
    add_bytes(t, "L3 cache", m->l3);
    add_bytes(t, "memory", m->memory);
    add(t, "GPU", m->gpu);
}

static void add_build(struct table *t, const struct build *b)
{
    add(t, "harness", b->version);
    add(t, "commit", b->commit);
    if (b->commit[0])
        add(t, "tree", b->dirty ? "dirty: it had uncommitted changes" : "clean");
    add(t, "branch", b->branch);
    add(t, "compiler", b->compiler);
    add(t, "flags", b->flags);
    add(t, "build type", b->build_type);
}

/* The environment is an object of facts; those that are neither text nor number print as JSON. */
static void add_environment(struct table *t, const char *environment)
{
    cJSON *json = environment ? cJSON_Parse(environment) : NULL;
    const cJSON *member;

    cJSON_ArrayForEach(member, json)
    {
        char *text = cJSON_IsString(member) ? NULL : cJSON_PrintUnformatted(member);
        if (!cJSON_IsNull(member))
            add(t, member->string, text ? text : member->valuestring);
        cJSON_free(text);
    }
    cJSON_Delete(json);
}

void system_table(const struct run *run, bool markdown, struct strbuf *out)
{
    struct table t;
    char when[TEXT_UNIT_SIZE];

    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    add(&t, "started", run->started_ms > 0 ? text_timestamp(run->started_ms, when) : "");
    add_machine(&t, &run->machine);
    add_build(&t, &run->build);
    add_environment(&t, run->environment);
    if (markdown)
        table_markdown(&t, out);
    else
        table_text(&t, 0, false, out);
    table_release(&t);
}
