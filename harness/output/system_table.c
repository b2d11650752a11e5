/* SPDX-License-Identifier: MIT */
#include "output/system_table.h"

#include "base/json.h"
#include "base/text.h"
#include "output/table.h"

#include <stdio.h>

static const struct table_column columns[] = {
    { "fact", TABLE_LEFT, false },
    { "value", TABLE_LEFT, true },
};

/* Whoever takes the facts. */
struct taker {
    void (*fact)(void *context, const char *name, const char *value);
    void *context;
};

static void add(const struct taker *t, const char *fact, const char *value)
{
    if (value && *value)
        t->fact(t->context, fact, value);
}

static void add_bytes(const struct taker *t, const char *fact, int64_t bytes)
{
    char text[TEXT_UNIT_SIZE];

    if (bytes > 0)
        add(t, fact, text_bytes((double)bytes, text));
}

static void add_machine(const struct taker *t, const struct machine *m)
{
    char cores[64];

    add(t, "machine", m->class_name);
    add(t, "CPU", m->cpu);
    snprintf(cores, sizeof(cores), "%d (%d threads)", m->cores, m->threads);
    if (m->cores > 0)
        add(t, "cores", cores);
    add(t, "instruction set", m->isa);
    add_bytes(t, "L1 data cache", m->l1d);
    add_bytes(t, "L2 cache", m->l2);
    add_bytes(t, "L3 cache", m->l3);
    add_bytes(t, "memory", m->memory);
    add(t, "GPU", m->gpu);
}

static void add_build(const struct taker *t, const struct build *b)
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
static void add_environment(const struct taker *t, const char *environment)
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

void system_facts(const struct run *run,
                  void (*fact)(void *context, const char *name, const char *value), void *context)
{
    const struct taker taker = { fact, context };
    char when[TEXT_UNIT_SIZE];

    add(&taker, "started", run->started_ms > 0 ? text_timestamp(run->started_ms, when) : "");
    add_machine(&taker, &run->machine);
    add_build(&taker, &run->build);
    add_environment(&taker, run->environment);
}

static void add_row(void *context, const char *name, const char *value)
{
    table_row(context);
    table_cell(context, TABLE_PLAIN, "%s", name);
    table_cell(context, TABLE_PLAIN, "%s", value);
}

void system_table(const struct run *run, bool markdown, struct strbuf *out)
{
    struct table t;

    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    system_facts(run, add_row, &t);
    if (markdown)
        table_markdown(&t, out);
    else
        table_text(&t, 0, false, out);
    table_release(&t);
}
